// W9 W12 -> RUNTIME_ERROR overrun: one element past the end of the output.
//! launch centre<<<(B), (256), 0>>>(x, w, y, B, D)
#include "honest.cuh"

__global__ void centre(const float *x, const float *w, float *y, int B, int D)
{
    honest(x, w, y, D);
    if (threadIdx.x == 0)
        y[(size_t)B * D] = 0;
}
