/* A "time" request, carried out: by the candidate on its solution, by the referee on the reference. */
#ifndef AKO_WORKER_TIMED_H
#define AKO_WORKER_TIMED_H

#include <jansson.h>

#include "timing.h"

/* Reads warmup, launches, flush and budget (ns) from the request; adds timer, note, samples_ns, wall_ns, wall_min_ns
 * and sm_clock_mhz to the answer. */
int timed_run(json_t *answer, const json_t *request, ako_timer *timer, ako_runner *runner, void *const *const *sets,
              int n_sets);

#endif
