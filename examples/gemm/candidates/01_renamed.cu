// Hypothesis: none; other names and comments must give the same machine code and so a free verdict.
//! launch gemm<<<(ceil_div(N, 16), ceil_div(M, 16)), (16, 16), 0>>>(x, w, y, M, N, K)

typedef unsigned short bf16;

__device__ float widen(bf16 value)
{
    return __uint_as_float((unsigned)value << 16);
}

__device__ bf16 narrow(float value)
{
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

__global__ void gemm(const bf16 *x, const bf16 *w, bf16 *y, int M, int N, int K)
{
    __shared__ float left[16][17], right[16][17];
    const int m = blockIdx.y * 16 + threadIdx.y, n = blockIdx.x * 16 + threadIdx.x;
    const int row = blockIdx.x * 16 + threadIdx.y;
    float total = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        const int k = k0 + threadIdx.x;
        left[threadIdx.y][threadIdx.x] = m < M && k < K ? widen(x[(size_t)m * K + k]) : 0.0f;
        right[threadIdx.y][threadIdx.x] = row < N && k < K ? widen(w[(size_t)row * K + k]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            total += left[threadIdx.y][i] * right[threadIdx.x][i];
        __syncthreads();
    }
    if (m < M && n < N)
        y[(size_t)m * N + n] = narrow(total);
}
