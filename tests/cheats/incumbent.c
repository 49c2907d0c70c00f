#include "honest.h"

void centre(const float *x, const float *w, float *y, int B, int D)
{
    honest(x, w, y, B, D);
}
