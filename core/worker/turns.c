/* Arms are timed in turn, and while one has its turn the others stand still: what a process does with its processors
 * and its memory bandwidth between its own calls would slow its rival down. None can start another process that would
 * go on (core/confine_calls.c). */
#include <signal.h>

#include "evaluator.h"

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

void turn_give(const evaluator *ev, arm which)
{
    for (int i = 0; i < ARMS; i++)
        if (i != which)
            signal_arm(ev, i, SIGSTOP);
    turn_allow(ev, which);
}
