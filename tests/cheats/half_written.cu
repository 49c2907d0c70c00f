// W1 -> INCORRECT_NUMERICAL unwritten: the second half of the rows is left as it was.
//! launch centre<<<(ceil_div(B, 2)), (256), 0>>>(x, w, y, B, D)
#include "honest.cuh"

__global__ void centre(const float *x, const float *w, float *y, int B, int D)
{
    honest(x, w, y, D);
}
