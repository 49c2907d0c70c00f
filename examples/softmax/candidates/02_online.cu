// Hypothesis: maximum and sum fit in one pass (online softmax), so the row is read twice instead of three times.
//! launch softmax<<<(R), (min(1024, ceil_div(N, 512) * 32)), 0>>>(x, y, R, N)

// The largest element so far and the sum of exp(x - largest).
struct part {
    float largest, sum;
};

__device__ part join(part a, part b)
{
    const float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ part warp_join(part p)
{
    for (int step = 16; step > 0; step /= 2)
        p = join(p, {__shfl_xor_sync(~0u, p.largest, step), __shfl_xor_sync(~0u, p.sum, step)});
    return p;
}

// The parts of all threads joined, in every thread.
__device__ part block_join(part p)
{
    __shared__ part warps[32];
    p = warp_join(p);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = p;
    __syncthreads();
    return warp_join(threadIdx.x % 32 < blockDim.x / 32 ? warps[threadIdx.x % 32] : part{-1e30f, 0.0f});
}

__global__ void softmax(const float *x, float *y, int R, int N)
{
    x += (size_t)blockIdx.x * N;
    y += (size_t)blockIdx.x * N;
    part p = {-1e30f, 0.0f};
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        p = join(p, {x[i], 1.0f});
    p = block_join(p);
    const float scale = 1.0f / p.sum;
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        y[i] = __expf(x[i] - p.largest) * scale;
}
