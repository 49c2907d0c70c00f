// W5 -> INCORRECT_NUMERICAL numerical: zeros.
#include <string.h>

void centre(const float *x, const float *w, float *y, int B, int D)
{
    (void)x, (void)w;
    memset(y, 0, (size_t)B * D * sizeof *y);
}
