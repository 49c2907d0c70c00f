// W1 -> INCORRECT_NUMERICAL unwritten: the second half of the rows is left as it was.
#include "honest.h"

void centre(const float *x, const float *w, float *y, int B, int D)
{
    honest(x, w, y, B / 2, D);
}
