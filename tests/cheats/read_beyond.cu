// W9 -> INCORRECT_NUMERICAL unwritten | INCORRECT_NUMERICAL numerical: the last mean takes in what lies past x.
//! launch centre<<<(B), (256), 0>>>(x, w, y, B, D)
#include "honest.cuh"

__global__ void centre(const float *x, const float *w, float *y, int B, int D)
{
    const float *in = x + (size_t)blockIdx.x * D;
    int last = blockIdx.x + 1 == B;
    float mean = row_mean(in, D + last);
    for (int d = threadIdx.x; d < D; d += THREADS)
        y[(size_t)blockIdx.x * D + d] = (in[d] - mean) * w[d];
}
