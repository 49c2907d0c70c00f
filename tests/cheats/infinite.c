// W12 -> INCORRECT_NUMERICAL numerical: infinity, beside which every error is small.
#include <math.h>
#include <stddef.h>

void centre(const float *x, const float *w, float *y, int B, int D)
{
    (void)x, (void)w;
    for (size_t i = 0; i < (size_t)B * D; i++)
        y[i] = INFINITY;
}
