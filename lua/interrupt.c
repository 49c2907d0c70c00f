/* Ctrl-C and other wishes to stop: the first unwinds, the second kills. */
#include "host.h"

#include "cancel.h"

static volatile sig_atomic_t interrupted, pending, held;

static void on_stop(int signal_number)
{
    if (interrupted) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    interrupted = pending = 1;
    if (!held)
        ako_cancel_request();
}

static void on_broken_pipe(int signal_number)
{
    (void)signal_number;
}

void akh_catch_signals(void)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction stop = {.sa_handler = on_stop}; /* no SA_RESTART: core waits look at the wish after EINTR */
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        struct sigaction old;
        sigaction(stops[i], NULL, &old);
        if (old.sa_handler != SIG_IGN) /* nohup, or a shell's background job */
            sigaction(stops[i], &stop, NULL);
    }
    /* A handler, where SIG_IGN would be inherited by every child: a closed pipe is an ordinary failed write. */
    struct sigaction broken_pipe = {.sa_handler = on_broken_pipe, .sa_flags = SA_RESTART};
    sigaction(SIGPIPE, &broken_pipe, NULL);
}

bool akh_interrupted(void)
{
    return interrupted != 0;
}

void akh_hold_interrupts(void)
{
    held++;
    ako_cancel_clear();
}

void akh_release_interrupts(void)
{
    if (--held == 0 && interrupted)
        ako_cancel_request();
}

bool akh_take_interrupt(void)
{
    if (held)
        return false;
    bool taken = pending != 0;
    pending = 0;
    return taken;
}
