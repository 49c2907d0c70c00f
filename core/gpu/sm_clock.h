/* The SM clock over a plan of launches, where NVML can say. */
#ifndef AKO_SM_CLOCK_H
#define AKO_SM_CLOCK_H

#include <stdint.h>

#define AKO_SM_CLOCKS 256

typedef struct ako_sm_clock {
    int mhz[AKO_SM_CLOCKS];
    int n;
    int64_t read_ns; /* when the last was read */
} ako_sm_clock;

/* Reads the clock of a CUDA device unless that was done a moment ago. To be called while the GPU is at work and the
 * host would wait for it anyway. */
void ako_sm_clock_read(ako_sm_clock *clock, int device);

/* MHz; 0 when there is none. Sorts the readings. */
int ako_sm_clock_median(ako_sm_clock *clock);

#endif
