/* Handlers of signals are code of others, which runs between ours: with all signals held back there is none. A fault of
 * one's own then ends the process, whatever handler there is for it. */
#ifndef AKO_SIGNALS_H
#define AKO_SIGNALS_H

#include <signal.h>

void ako_signals_hold(sigset_t *before); /* of this thread; *before: what ako_signals_let needs */
void ako_signals_let(const sigset_t *before);

#endif
