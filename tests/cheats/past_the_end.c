// W9 W12 -> RUNTIME_ERROR overrun: one element past the end of the output.
#include "honest.h"

void centre(const float *x, const float *w, float *y, int B, int D)
{
    honest(x, w, y, B, D);
    y[(size_t)B * D] = 0;
}
