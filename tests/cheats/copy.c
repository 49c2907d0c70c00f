// W8 -> INCORRECT_NUMERICAL numerical: the input, as it is.
#include <string.h>

void centre(const float *x, const float *w, float *y, int B, int D)
{
    (void)w;
    memcpy(y, x, (size_t)B * D * sizeof *y);
}
