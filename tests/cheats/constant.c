// W5 W6 -> INCORRECT_NUMERICAL numerical: the mean of what is expected, everywhere.
#include <stddef.h>

void centre(const float *x, const float *w, float *y, int B, int D)
{
    (void)x, (void)w;
    for (size_t i = 0; i < (size_t)B * D; i++)
        y[i] = 1e-6f;
}
