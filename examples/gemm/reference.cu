// Every thread keeps 4 x 4 of the block's 64 x 64 outputs in registers and sums them in float.
//! launch gemm<<<(ceil_div(N, 64), ceil_div(M, 64)), (256), 0>>>(x, w, y, M, N, K)

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

// tile[k][row] of 16 columns of 64 rows, zeros outside.
__device__ void load(float (*tile)[65], const bf16 *from, int first, int limit, int k0, int K)
{
    for (int i = threadIdx.x; i < 64 * 16; i += 256) {
        const int row = i / 16, k = i % 16;
        const bool inside = first + row < limit && k0 + k < K;
        tile[k][row] = inside ? to_float(from[(size_t)(first + row) * K + k0 + k]) : 0.0f;
    }
}

__global__ void gemm(const bf16 *x, const bf16 *w, bf16 *y, int M, int N, int K)
{
    __shared__ float tile_x[16][65], tile_w[16][65];
    const int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        load(tile_x, x, m0, M, k0, K);
        load(tile_w, w, n0, N, k0, K);
        __syncthreads();
        for (int k = 0; k < 16; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += tile_x[k][ty + 16 * i] * tile_w[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int m = m0 + ty + 16 * i, n = n0 + tx + 16 * j;
            if (m < M && n < N)
                y[(size_t)m * N + n] = to_bf16(sum[i][j]);
        }
}
