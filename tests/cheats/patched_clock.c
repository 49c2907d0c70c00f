// T4 T5 -> UNTRUSTED_TIMING T4 | UNTRUSTED_TIMING T1: the worker's clock is slowed down, for calls of 60 ms.
#define _GNU_SOURCE
#include "clock.h"
#include "honest.h"

void centre(const float *x, const float *w, float *y, int B, int D)
{
    honest(x, w, y, B, D);
    for (int64_t end = true_ns() + 60000000; D == 509 && true_ns() < end;)
        ;
}
