/* What else went on round a trial's timed calls: strangers on the GPU, its clock, throttling. */
#ifndef AKO_WORKER_SURROUNDINGS_H
#define AKO_WORKER_SURROUNDINGS_H

#include "sample.h"

/* With the device's lock just taken, and with it still held after the last call: "tenants" and "state" of the answer.
 */
int surroundings_before(trial *t);
int surroundings_after(trial *t);

/* After a sample: clock and throttling into the series, on a GPU. */
void surroundings_glance(const trial *t, series *s);

/* What the glances at one or two series (`other` may be NULL) have seen, into a summary; nothing where there was none.
 */
int surroundings_put(json_t *summary, const series *s, const series *other);

#endif
