#include "cancel.h"

#include <signal.h>

static volatile sig_atomic_t requested;

void ako_cancel_request(void)
{
    requested = 1;
}

void ako_cancel_clear(void)
{
    requested = 0;
}

bool ako_cancel_requested(void)
{
    return requested != 0;
}
