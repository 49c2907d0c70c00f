// W8 -> INCORRECT_NUMERICAL numerical: the mean of normal numbers is about zero, so the reduction is left out.
#include <stddef.h>

void centre(const float *x, const float *w, float *y, int B, int D)
{
    for (size_t i = 0; i < (size_t)B * D; i++)
        y[i] = x[i] * w[i % (size_t)D];
}
