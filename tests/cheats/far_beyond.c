// W9 W12 -> RUNTIME_ERROR crash: sixteen gigabytes beyond the output.
#include "honest.h"

void centre(const float *x, const float *w, float *y, int B, int D)
{
    honest(x, w, y, B, D);
    __asm__ volatile("" : "+r"(y));
    y[(size_t)1 << 32] = 0;
}
