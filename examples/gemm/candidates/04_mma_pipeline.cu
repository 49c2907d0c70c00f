// Hypothesis: cp.async in three stages hides the loads; ldmatrix and mma.sync read without bank conflicts.
//! launch gemm<<<(ceil_div(N, 128), ceil_div(M, 128)), (256), 98304>>>(x, w, y, M, N, K)

// A block owns 128 x 128 outputs, each of its 2 x 4 warps 64 x 32. K must be a multiple of 8.
typedef unsigned short bf16;
typedef unsigned long long u64;

#define TILE 128
#define TILE_K 64
#define STAGES 3
#define TILE_BYTES (TILE * TILE_K * 2)

// Byte offset of chunk `chunk` (16 bytes) of row `row` in a tile with rows of 128 bytes, spread over the banks.
__device__ __forceinline__ unsigned place(int row, int chunk)
{
    return row * 128 + ((chunk ^ (row % 8)) << 4);
}

__device__ __forceinline__ void copy_tile(unsigned to, const bf16 *from, int first, int limit, int k, int K)
{
    const int row = threadIdx.x / 8, chunk = threadIdx.x % 8, column = k + chunk * 8;
#pragma unroll
    for (int r = row; r < TILE; r += 32) {
        const bool inside = first + r < limit && column < K;
        const bf16 *source = inside ? from + (u64)(first + r) * K + column : from;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + place(r, chunk)), "l"(source),
                     "r"(inside ? 16 : 0)
                     : "memory");
    }
}

// Four 8 x 8 matrices; lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void load4(unsigned (&r)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void multiply_tile(float (&d)[4][4][4], unsigned tile_x, unsigned tile_w, int row,
                                              int column)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < TILE_K / 16; k++) {
        unsigned a[4][4], b[2][4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            load4(a[i], tile_x + place(row + i * 16 + lane % 16, k * 2 + lane / 16));
#pragma unroll
        for (int j = 0; j < 2; j++)
            load4(b[j], tile_w + place(column + j * 16 + lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                multiply(d[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
}

__device__ __forceinline__ void store_pair(bf16 *y, int row, int column, int M, int N, float left, float right)
{
    if (row >= M || column >= N)
        return;
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(right), "f"(left));
    bf16 *to = y + (u64)row * N + column;
    if (N % 2 == 0) {
        *(unsigned *)to = both;
        return;
    }
    to[0] = (bf16)both;
    if (column + 1 < N)
        to[1] = (bf16)(both >> 16);
}

__global__ void __launch_bounds__(256, 2)
    gemm(const bf16 *__restrict__ x, const bf16 *__restrict__ w, bf16 *__restrict__ y, int M, int N, int K)
{
    extern __shared__ __align__(128) char shared[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    const int m0 = blockIdx.y * TILE, n0 = blockIdx.x * TILE, blocks = (K + TILE_K - 1) / TILE_K;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 4 * 64, column = warp % 4 * 32;
    float d[4][4][4] = {};

    for (int s = 0; s < STAGES - 1; s++) {
        copy_tile(base + s * 2 * TILE_BYTES, x, m0, M, s * TILE_K, K);
        copy_tile(base + s * 2 * TILE_BYTES + TILE_BYTES, w, n0, N, s * TILE_K, K);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int k = 0; k < blocks; k++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        const int ahead = k + STAGES - 1;
        const unsigned next = base + ahead % STAGES * 2 * TILE_BYTES, stage = base + k % STAGES * 2 * TILE_BYTES;
        copy_tile(next, x, m0, M, ahead * TILE_K, K);
        copy_tile(next + TILE_BYTES, w, n0, N, ahead * TILE_K, K);
        asm volatile("cp.async.commit_group;" ::: "memory");
        multiply_tile(d, stage, stage + TILE_BYTES, row, column);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int r = m0 + row + i * 16 + lane / 4, c = n0 + column + j * 8 + lane % 4 * 2;
            store_pair(y, r, c, M, N, d[i][j][0], d[i][j][1]);
            store_pair(y, r + 8, c, M, N, d[i][j][2], d[i][j][3]);
        }
}
