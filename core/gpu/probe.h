/* Small kernels of ours between the calls of a plan: the SM clock, a pause that hides launches, and the reading of
 * watched places in stream order. */
#ifndef AKO_PROBE_H
#define AKO_PROBE_H

#include "cudart.h"
#include "timing.h"

typedef struct ako_probe ako_probe;

int ako_probe_new(ako_probe **out, const ako_cudart_api *cuda);
void ako_probe_free(ako_probe *probe);

/* Before the calls: takes the plan's places, NULL for none. */
int ako_probe_begin(ako_probe *probe, const ako_watch *watch, int launches);

/* Enqueues a spin of some 16 us: `end` 0 before the first call, 1 behind the last. */
int ako_probe_clock(ako_probe *probe, int end);
int ako_probe_pause(ako_probe *probe, uint64_t ns); /* a spin that is read by nobody */
#define AKO_PAUSE_NS UINT64_C(16000)                /* as long as the enqueueing of a few launches */

/* Enqueues the reading of call's places. */
int ako_probe_look(ako_probe *probe, int call);

/* After the calls, the device being idle: fills the watch, gives the mean SM clock in MHz. */
int ako_probe_end(ako_probe *probe, int *mhz, int calls);

#endif
