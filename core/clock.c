#include "clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "cancel.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t ako_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t ako_clock_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t ako_clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

void ako_clock_sleep_ns(int64_t ns)
{
    struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR && !ako_cancel_requested())
        ;
}

int ako_clock_poll_ms(int64_t deadline_ns)
{
    if (deadline_ns == 0)
        return -1;
    int64_t left = deadline_ns - ako_clock_ns();
    if (left <= 0)
        return 0;
    int64_t ms = (left + 999999) / 1000000;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

void ako_clock_date(char out[AKO_DATE_SIZE], int64_t wall_ns)
{
    int64_t ms = wall_ns / 1000000 - (wall_ns % 1000000 < 0);
    time_t seconds = (time_t)(ms / 1000 - (ms % 1000 < 0));
    struct tm t;
    gmtime_r(&seconds, &t);
    size_t n = strftime(out, AKO_DATE_SIZE, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(out + n, AKO_DATE_SIZE - n, ".%03dZ", (int)(ms - (int64_t)seconds * 1000));
}
