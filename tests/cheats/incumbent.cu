//! launch centre<<<(B), (256), 0>>>(x, w, y, B, D)
#include "honest.cuh"

/* The mean twice: right, and slow enough that any cheat is faster. */
__global__ void centre(const float *x, const float *w, float *y, int B, int D)
{
    __shared__ float first;
    float mean = row_mean(x + (size_t)blockIdx.x * D, D);
    if (threadIdx.x == 0)
        *(volatile float *)&first = mean;
    honest(x, w, y, D);
}
