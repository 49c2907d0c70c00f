/* When the work of each call ran on the GPU, by CUPTI's activity records. The state is the process's: CUPTI has but one
 * place for callbacks. Kernels, copies and memsets are assigned to calls by external correlation id, on every stream,
 * never by name or by time. */
#ifndef AKO_ACTIVITY_H
#define AKO_ACTIVITY_H

#include <stdint.h>

/* Registers and enables; counted, so that several timers can share it. AKO_UNAVAILABLE says why CUPTI cannot be used.
 */
int ako_activity_start(void);
void ako_activity_stop(void);

/* Begins a batch of `n_calls` calls and forgets the one before. */
int ako_activity_begin(int n_calls);

/* Round the launches of one call, on the launching thread; `call` counts from 0. */
void ako_activity_enter(int call);
#define AKO_ACTIVITY_OURS (-1) /* work of the timer's own, which belongs to no call */
void ako_activity_leave(void);

/* Writes for each call of the batch the time from its first start to its last end. The device must be idle. `kernels`
 * is the number that each call must have, 0 when that is not known. AKO_ERROR says what was lost: records dropped or
 * missing, or work started by other threads. */
int ako_activity_collect(int64_t *spans_ns, int kernels);

/* Of a batch of one call that has been collected, with work of the timer's own on the stream just before and just
 * behind it: for how long the call's work ran while the former had not ended or the latter had begun. 0: it was in the
 * stream's order. */
int64_t ako_activity_loose(void);

#endif
