// Hypothesis: a row held in registers is read once; four loads of 16 bytes in flight a thread fill the memory.
//! launch rmsnorm<<<(B), (256), 0>>>(x, w, y, B, D, eps)

#define THREADS 256
#define VECTORS 4 // a thread holds up to 4 float4: rows of up to 4096

__device__ float warp_sum(float value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    return value;
}

__device__ float block_sum(float value)
{
    __shared__ float warps[THREADS / 32];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < THREADS / 32 ? warps[threadIdx.x % 32] : 0.0f);
}

// Rows of any length, read twice.
__device__ void long_row(const float *x, const float *w, float *y, int D, float eps)
{
    float sum = 0.0f;
    for (int d = threadIdx.x; d < D; d += THREADS)
        sum += x[d] * x[d];
    const float scale = rsqrtf(block_sum(sum) / D + eps);
    for (int d = threadIdx.x; d < D; d += THREADS)
        y[d] = x[d] * scale * w[d];
}

// D is a multiple of 4 and at most 4 * THREADS * VECTORS.
__device__ void short_row(const float4 *x, const float4 *w, float4 *y, int D, float eps)
{
    float4 v[VECTORS];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        const int d = threadIdx.x + i * THREADS;
        v[i] = d < D / 4 ? x[d] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
        sum += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
    const float scale = rsqrtf(block_sum(sum) / D + eps);
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        const int d = threadIdx.x + i * THREADS;
        if (d >= D / 4)
            return;
        const float4 u = w[d];
        const float4 out = {v[i].x * scale * u.x, v[i].y * scale * u.y, v[i].z * scale * u.z, v[i].w * scale * u.w};
        y[d] = out;
    }
}

__global__ void __launch_bounds__(THREADS, 6)
    rmsnorm(const float *__restrict__ x, const float *__restrict__ w, float *__restrict__ y, int B, int D, float eps)
{
    const size_t row = (size_t)blockIdx.x * D;
    if (D % 4 == 0 && D <= 4 * THREADS * VECTORS)
        short_row((const float4 *)(x + row), (const float4 *)w, (float4 *)(y + row), D, eps);
    else
        long_row(x + row, w, y + row, D, eps);
}
