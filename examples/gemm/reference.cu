// The tensor cores through wmma: each block fills 64 x 64 tiles of both operands, then multiplies them.
//! launch gemm<<<(ceil_div(N, 64), ceil_div(M, 64)), (128), 0>>>(x, w, y, M, N, K)

// Four warps, each 32 x 32 outputs in fragments of 16 x 16. K must be a multiple of 8.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

#define TILE 64
#define TILE_K 64
#define PITCH (TILE_K + 8)

__device__ void load(__nv_bfloat16 (*tile)[PITCH], const __nv_bfloat16 *from, int first, int limit, int k0, int K)
{
#pragma unroll
    for (int i = 0; i < TILE * TILE_K / 8 / 128; i++) {
        const int at = threadIdx.x + i * 128, row = at / (TILE_K / 8), k = at % (TILE_K / 8) * 8;
        const bool inside = first + row < limit && k0 + k < K;
        const uint4 *source = (const uint4 *)(from + (size_t)(first + row) * K + k0 + k);
        *(uint4 *)&tile[row][k] = inside ? *source : make_uint4(0, 0, 0, 0);
    }
}

__global__ void __launch_bounds__(128) gemm(const __nv_bfloat16 *__restrict__ x, const __nv_bfloat16 *__restrict__ w,
                                            __nv_bfloat16 *__restrict__ y, int M, int N, int K)
{
    __shared__ __align__(128) __nv_bfloat16 tile_x[TILE][PITCH], tile_w[TILE][PITCH];
    __shared__ __align__(128) float out[TILE][TILE + 4];
    const int m0 = blockIdx.y * TILE, n0 = blockIdx.x * TILE, warp = threadIdx.x / 32;
    const int row = warp / 2 * 32, column = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++)
        wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        load(tile_x, x, m0, M, k0, K);
        load(tile_w, w, n0, N, k0, K);
        __syncthreads();
        for (int k = 0; k < TILE_K; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(a[i], &tile_x[row + 16 * i][k], PITCH);
                wmma::load_matrix_sync(b[i], &tile_w[column + 16 * i][k], PITCH);
            }
            for (int i = 0; i < 4; i++)
                wmma::mma_sync(sum[i / 2][i % 2], a[i / 2], b[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(&out[row + 16 * (i / 2)][column + 16 * (i % 2)], sum[i / 2][i % 2], TILE + 4,
                                wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += 128) {
        const int m = m0 + i / TILE, n = n0 + i % TILE;
        if (m < M && n < N)
            y[(size_t)m * N + n] = __float2bfloat16_rn(out[i / TILE][i % TILE]);
    }
}
