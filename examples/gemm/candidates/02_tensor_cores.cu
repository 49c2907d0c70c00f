// Hypothesis: tensor cores do the products of 64 x 64 tiles, while the next tiles are on their way to registers.
//! launch gemm<<<(ceil_div(N, 64), ceil_div(M, 64)), (128), 0>>>(x, w, y, M, N, K)

// Four warps, each 32 x 32 outputs in fragments of 16 x 16. K must be a multiple of 8.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

#define TILE 64
#define TILE_K 32
#define PITCH (TILE_K + 8)

// A thread's share of a tile of 64 rows: 16 bytes in row i / 4, and in the row 32 below it; zeros outside.
__device__ void fetch(uint4 (&held)[2], const __nv_bfloat16 *from, int first, int limit, int k0, int K)
{
    const int row = first + threadIdx.x / 4, k = k0 + threadIdx.x % 4 * 8;
    for (int i = 0; i < 2; i++) {
        const bool inside = row + 32 * i < limit && k < K;
        held[i] = inside ? *(const uint4 *)(from + (size_t)(row + 32 * i) * K + k) : make_uint4(0, 0, 0, 0);
    }
}

__device__ void put(__nv_bfloat16 (*tile)[PITCH], const uint4 (&held)[2])
{
    for (int i = 0; i < 2; i++)
        *(uint4 *)&tile[threadIdx.x / 4 + 32 * i][threadIdx.x % 4 * 8] = held[i];
}

__global__ void __launch_bounds__(128)
    gemm(const __nv_bfloat16 *x, const __nv_bfloat16 *w, __nv_bfloat16 *y, int M, int N, int K)
{
    __shared__ __align__(128) __nv_bfloat16 tile_x[TILE][PITCH], tile_w[TILE][PITCH];
    __shared__ __align__(128) float out[TILE][TILE + 4];
    const int m0 = blockIdx.y * TILE, n0 = blockIdx.x * TILE, warp = threadIdx.x / 32;
    const int row = warp / 2 * 32, column = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++)
        wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    uint4 next_x[2], next_w[2];
    fetch(next_x, x, m0, M, 0, K);
    fetch(next_w, w, n0, N, 0, K);
    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        put(tile_x, next_x);
        put(tile_w, next_w);
        __syncthreads();
        fetch(next_x, x, m0, M, k0 + TILE_K, K);
        fetch(next_w, w, n0, N, k0 + TILE_K, K);
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
