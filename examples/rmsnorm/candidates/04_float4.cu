// Hypothesis: loads and stores of 16 bytes a thread need a quarter of the instructions and keep more bytes in flight.
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

__device__ void scalar_row(const float *x, const float *w, float *y, int D, float eps)
{
    float sum = 0.0f;
    for (int d = threadIdx.x; d < D; d += 256)
        sum += x[d] * x[d];
    const float scale = rsqrtf(block_sum(sum) / D + eps);
    for (int d = threadIdx.x; d < D; d += 256)
        y[d] = x[d] * scale * w[d];
}

// D is a multiple of 4: rows begin at multiples of 16 bytes.
__device__ void vector_row(const float *x, const float *w, float *y, int D, float eps)
{
    const float4 *x4 = (const float4 *)x, *w4 = (const float4 *)w;
    float sum = 0.0f;
    for (int d = threadIdx.x; d < D / 4; d += 256) {
        const float4 v = x4[d];
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    const float scale = rsqrtf(block_sum(sum) / D + eps);
    for (int d = threadIdx.x; d < D / 4; d += 256) {
        const float4 v = x4[d], u = w4[d];
        ((float4 *)y)[d] = make_float4(v.x * scale * u.x, v.y * scale * u.y, v.z * scale * u.z, v.w * scale * u.w);
    }
}

__global__ void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    const size_t row = (size_t)blockIdx.x * D;
    if (D % 4 == 0)
        vector_row(x + row, w, y + row, D, eps);
    else
        scalar_row(x + row, w, y + row, D, eps);
}
