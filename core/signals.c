#include "signals.h"

#include <pthread.h>
#include <stddef.h>

void ako_signals_hold(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void ako_signals_let(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}
