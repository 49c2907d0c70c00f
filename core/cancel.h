/* A process-wide wish to stop, set by a signal handler. Core functions that wait look at it and give AKO_CANCELLED. */
#ifndef AKO_CANCEL_H
#define AKO_CANCEL_H

#include <stdbool.h>

void ako_cancel_request(void); /* async-signal-safe */
void ako_cancel_clear(void);
bool ako_cancel_requested(void);

#endif
