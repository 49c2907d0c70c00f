/* A plan of timed launches as candidate and referee carry it out. */
#ifndef AKO_WORKER_TIMED_H
#define AKO_WORKER_TIMED_H

#include <jansson.h>

#include "timing.h"

/* Runs the plan of `request` ("warmup", "launches", "flush", "loose", "timer", "budget") and adds raw samples, "timer",
 * "note", "events_ns", "wall_ns", "wall_min_ns", "sm_clock_mhz", "loose_ns" and "carve_out" to `answer`, and with a
 * watch "seen", a list a call. */
int timed_run(json_t *answer, const json_t *request, ako_timer *timer, ako_runner *runner, void *const *const *sets,
              int n_sets, const ako_watch *watch);

#endif
