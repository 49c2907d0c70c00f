// W1 T11 -> INCORRECT_NUMERICAL unwritten: only the first call does its work.
#include "honest.h"

void centre(const float *x, const float *w, float *y, int B, int D)
{
    static int calls;
    if (calls++ == 0)
        honest(x, w, y, B, D);
}
