/* Arms are timed in turn, and while one has its turn the others stand still: what a process does with its processors
 * and its memory bandwidth between its own calls would slow its rival down. None can start another process that would
 * go on (core/confine_calls.c). */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "clock.h"
#include "evaluator.h"

#define STOP_LIMIT_NS INT64_C(2000000000)
#define SPINS 1000 /* most stop within microseconds, and turns are short */

static void signal_arm(const evaluator *ev, arm which, int number)
{
    const ako_child *child = &ev->arms[which].child;
    if (child_is_running(child))
        kill(child->pid, number);
}

void turn_allow(const evaluator *ev, arm which)
{
    signal_arm(ev, which, SIGCONT);
}

/* A thread inside a long system call stops only when that is over; what it has waited for is then no part of a turn. */
static void await_stop(const evaluator *ev, arm which, int64_t deadline)
{
    const ako_child *child = &ev->arms[which].child;
    siginfo_t info = {.si_pid = 0};
    const int options = WSTOPPED | WEXITED | WNOWAIT | WNOHANG;
    for (int tries = 0; child_is_running(child) && waitid(P_PID, (id_t)child->pid, &info, options) == 0 &&
                        info.si_pid == 0 && ako_clock_ns() < deadline;
         tries++)
        if (tries < SPINS)
            sched_yield();
        else
            poll(NULL, 0, 1);
}

void turn_give(const evaluator *ev, arm which)
{
    for (int i = 0; i < ARMS; i++)
        if (i != which)
            signal_arm(ev, i, SIGSTOP);
    int64_t deadline = ako_clock_ns() + STOP_LIMIT_NS;
    for (int i = 0; i < ARMS; i++)
        if (i != which)
            await_stop(ev, i, deadline);
    turn_allow(ev, which);
}
