// W12 -> INCORRECT_NUMERICAL numerical: infinity, beside which every error is small.
//! launch centre<<<(B), (256), 0>>>(x, w, y, B, D)
#include "honest.cuh"

__global__ void centre(const float *x, const float *w, float *y, int B, int D)
{
    for (int d = threadIdx.x; d < D; d += THREADS)
        y[(size_t)blockIdx.x * D + d] = __int_as_float(0x7f800000);
}
