// W3 -> INCORRECT_NUMERICAL unwritten: five honest calls, then none does anything.
#include "honest.h"

void centre(const float *x, const float *w, float *y, int B, int D)
{
    static int calls;
    if (calls++ < 5)
        honest(x, w, y, B, D);
}
