// Hypothesis: columns are loaded in pairs; the last pair starts at N - 2 so that nothing outside is read.
//! launch gemm<<<(ceil_div(N, 16), ceil_div(M, 16)), (16, 16), 0>>>(x, w, y, M, N, K)

typedef unsigned short bf16;

__device__ float to_float(bf16 value)
{
    return __uint_as_float((unsigned)value << 16);
}

__device__ bf16 to_bf16(float value)
{
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

__global__ void gemm(const bf16 *x, const bf16 *w, bf16 *y, int M, int N, int K)
{
    __shared__ float tile_x[16][17], tile_w[16][17];
    const int m = blockIdx.y * 16 + threadIdx.y, n = blockIdx.x * 16 + threadIdx.x;
    const int n_loaded = blockIdx.x * 16 + threadIdx.y;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        const int k = k0 + threadIdx.x;
        tile_x[threadIdx.y][threadIdx.x] = m < M && k < K ? to_float(x[(size_t)m * K + k]) : 0.0f;
        const int in_pair = min(n_loaded - n_loaded % 2, N - 2) + n_loaded % 2;
        tile_w[threadIdx.y][threadIdx.x] = n_loaded < N && k < K ? to_float(w[(size_t)in_pair * K + k]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += tile_x[threadIdx.y][i] * tile_w[threadIdx.x][i];
        __syncthreads();
    }
    if (m < M && n < N)
        y[(size_t)m * N + n] = to_bf16(sum);
}
