// W1 T11 -> INCORRECT_NUMERICAL unwritten: only the first call does its work.
//! launch centre<<<(B), (256), 0>>>(x, w, y, B, D)
//! launch count<<<(1), (1), 0>>>(B)
#include "honest.cuh"

__device__ int calls;

__global__ void count(int B)
{
    calls++;
}

__global__ void centre(const float *x, const float *w, float *y, int B, int D)
{
    if (calls == 0)
        honest(x, w, y, D);
}
