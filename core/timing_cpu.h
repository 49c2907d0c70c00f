/* The CPU half of timing: calls by the wall clock. */
#ifndef AKO_TIMING_CPU_H
#define AKO_TIMING_CPU_H

#include "timing.h"

typedef struct ako_cpu_timer ako_cpu_timer;

int ako_cpu_timer_new(ako_cpu_timer **out);
void ako_cpu_timer_free(ako_cpu_timer *timer);
int ako_cpu_timer_run(ako_cpu_timer *timer, ako_runner *runner, void *const *const *sets, int n_sets,
                      const ako_time_plan *plan, ako_time_result *out);

#endif
