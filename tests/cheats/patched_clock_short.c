// T4 T5 -> UNTRUSTED_TIMING T4 | UNTRUSTED_TIMING T1: the same for calls that are short beside the flush between them.
#define _GNU_SOURCE
#include "clock.h"
#include "honest.h"

void centre(const float *x, const float *w, float *y, int B, int D)
{
    honest(x, w, y, B, D);
}
