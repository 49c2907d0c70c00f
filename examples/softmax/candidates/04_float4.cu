// Hypothesis: loads and stores of 16 bytes a thread need a quarter of the instructions and keep more bytes in flight.
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

__device__ void scalar_row(const float *x, float *y, int N)
{
    part p = {-1e30f, 0.0f};
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        p = join(p, {x[i], 1.0f});
    p = block_join(p);
    const float scale = 1.0f / p.sum;
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        y[i] = __expf(x[i] - p.largest) * scale;
}

__device__ void vector_row(const float4 *x, float4 *y, int N)
{
    part p = {-1e30f, 0.0f};
    for (int i = threadIdx.x; i < N / 4; i += blockDim.x) {
        const float4 v = x[i];
        const float largest = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
        p = join(p, {largest,
                     __expf(v.x - largest) + __expf(v.y - largest) + __expf(v.z - largest) + __expf(v.w - largest)});
    }
    p = block_join(p);
    const float scale = 1.0f / p.sum;
    for (int i = threadIdx.x; i < N / 4; i += blockDim.x) {
        const float4 v = x[i];
        y[i] = make_float4(__expf(v.x - p.largest) * scale, __expf(v.y - p.largest) * scale,
                           __expf(v.z - p.largest) * scale, __expf(v.w - p.largest) * scale);
    }
}

__global__ void softmax(const float *x, float *y, int R, int N)
{
    const size_t row = (size_t)blockIdx.x * N;
    if (N % 4 == 0)
        vector_row((const float4 *)(x + row), (float4 *)(y + row), N);
    else
        scalar_row(x + row, y + row, N);
}
