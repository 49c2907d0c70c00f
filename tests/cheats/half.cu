// W15 -> INCORRECT_NUMERICAL numerical: computed in half precision.
//! launch centre<<<(B), (256), 0>>>(x, w, y, B, D)
#include <cuda_fp16.h>

#include "honest.cuh"

__global__ void centre(const float *x, const float *w, float *y, int B, int D)
{
    const float *in = x + (size_t)blockIdx.x * D;
    __half mean = __float2half(row_mean(in, D));
    for (int d = threadIdx.x; d < D; d += THREADS)
        y[(size_t)blockIdx.x * D + d] = __half2float(__hmul(__hsub(__float2half(in[d]), mean), __float2half(w[d])));
}
