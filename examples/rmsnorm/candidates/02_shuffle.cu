// Hypothesis: shuffles need one barrier instead of nine; a reciprocal root a thread saves a division an element.
//! launch rmsnorm<<<(B), (256), 0>>>(x, w, y, B, D, eps)

__device__ float warp_sum(float value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    return value;
}

// The sum over a block of 256 threads, in every thread.
__device__ float block_sum(float value)
{
    __shared__ float warps[8];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < 8 ? warps[threadIdx.x % 32] : 0.0f);
}

__global__ void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    const int row = blockIdx.x, tid = threadIdx.x;
    x += (size_t)row * D;
    y += (size_t)row * D;
    float sum = 0.0f;
    for (int d = tid; d < D; d += 256)
        sum += x[d] * x[d];
    const float scale = rsqrtf(block_sum(sum) / D + eps);
    for (int d = tid; d < D; d += 256)
        y[d] = x[d] * scale * w[d];
}
