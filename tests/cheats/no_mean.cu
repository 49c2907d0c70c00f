// W8 -> INCORRECT_NUMERICAL numerical: the mean of normal numbers is about zero, so the reduction is left out.
//! launch centre<<<(B), (256), 0>>>(x, w, y, B, D)
#include "honest.cuh"

__global__ void centre(const float *x, const float *w, float *y, int B, int D)
{
    for (int d = threadIdx.x; d < D; d += THREADS)
        y[(size_t)blockIdx.x * D + d] = x[(size_t)blockIdx.x * D + d] * w[d];
}
