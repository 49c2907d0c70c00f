// Hypothesis: products of a whole warpgroup from swizzled shared memory (wgmma) keep the tensor cores busy.
//! launch gemm<<<(max(ceil_div(M, 128) * ceil_div(N, 256), ceil_div(N, 32))), (256), 197632>>>(x, w, y, M, N, K)

// Prefill: a block owns 128 x 256 outputs, each of its two warpgroups 64 x 256. Decode (M up to 64), where reading w is
// all that matters: 64 x 32 outputs, each warpgroup half of k, so that more blocks share the reading. K goes by in
// blocks of 64 (rows of 128 bytes, the width of the swizzle) filled by cp.async. K must be a multiple of 8.
typedef unsigned short bf16;
typedef unsigned long long u64;

#define TILE_K 64
#define ROW_BYTES (TILE_K * 2)
#define SHARED_BYTES 196608 // of the stages
#define GROUP 16            // rows of blocks that run side by side and share their w tiles through L2

// Sixteen bytes of global memory, or of zeros, to shared memory.
__device__ __forceinline__ void copy16(unsigned to, const bf16 *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}

// Copies ROWS rows of 64 elements. Chunk c of row r goes to c ^ (r % 8): the 128-byte swizzle that wgmma expects.
template <int ROWS>
__device__ __forceinline__ void copy_tile(unsigned to, const bf16 *from, int first, int limit, int k, int K)
{
    const int row = threadIdx.x / 8, chunk = threadIdx.x % 8;
    const unsigned at = to + row * ROW_BYTES + ((chunk ^ (row % 8)) << 4);
    const int column = k + chunk * 8;
    const bf16 *source = from + (u64)(first + row) * K + column;
#pragma unroll
    for (int i = 0; i < ROWS / 32; i++) {
        const bool inside = first + row + 32 * i < limit && column < K;
        copy16(at + i * 32 * ROW_BYTES, inside ? source + (u64)(32 * i) * K : from, inside);
    }
}

// Rows of 128 bytes, groups of 8 rows 1024 bytes apart, 128-byte swizzle (1 in bits 62 and 63).
__device__ __forceinline__ u64 descriptor(unsigned address)
{
    return (u64)((address & 0x3ffff) >> 4) | 1ull << 16 | (u64)(1024 >> 4) << 32 | 1ull << 62;
}

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)

// d (64 x 256 over a warpgroup) = a b^T, plus d when it accumulates.
__device__ __forceinline__ void multiply(float (&d)[128], u64 a, u64 b, int accumulate)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
                 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
                 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"
                 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"
                 "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"
                 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"
                 "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127},"
                 "%128, %129, p, 1, 1, 0, 0;\n}\n"
                 : D16(0), D16(16), D16(32), D16(48), D16(64), D16(80), D16(96), D16(112)
                 : "l"(a), "l"(b), "r"(accumulate));
}

// The same for 64 x 32.
__device__ __forceinline__ void multiply(float (&d)[16], u64 a, u64 b, int accumulate)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {"
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},"
                 "%16, %17, p, 1, 1, 0, 0;\n}\n"
                 : D16(0)
                 : "l"(a), "l"(b), "r"(accumulate));
}

// Two floats as bf16, the first in the low half.
__device__ __forceinline__ unsigned pack(float low, float high)
{
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// A warp's 16 x COLUMNS outputs go through shared memory, so that rows leave in pieces of 16 bytes a lane.
template <int COLUMNS>
__device__ __forceinline__ void store(const float (&d)[COLUMNS / 2], char *out, bf16 *y, int row0, int column0, int M,
                                      int N)
{
    const int pitch = COLUMNS * 2 + 16; // the 16 keep the banks apart
    const int lane = threadIdx.x % 32, pieces = COLUMNS / 8, column = column0 + lane % pieces * 8;
    char *mine = out + lane / 4 * pitch + lane % 4 * 4;
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; j++) {
        *(unsigned *)(mine + j * 16) = pack(d[j * 4], d[j * 4 + 1]);
        *(unsigned *)(mine + j * 16 + 8 * pitch) = pack(d[j * 4 + 2], d[j * 4 + 3]);
    }
    __syncwarp();
    for (int r = lane / pieces; r < 16 && row0 + r < M; r += 32 / pieces) {
        const char *from = out + r * pitch + lane % pieces * 16;
        bf16 *to = y + (u64)(row0 + r) * N + column;
        if (N % 8 == 0 && column < N)
            *(uint4 *)to = *(const uint4 *)from;
        else
            for (int i = 0; i < 8 && column + i < N; i++)
                to[i] = ((const bf16 *)from)[i];
    }
}

// Outputs m0 .. m0 + TILE_M - 1, n0 .. n0 + TILE_N - 1. A stage holds SPLIT blocks of k; with a SPLIT of 2 each
// warpgroup multiplies one of them, else each has 64 rows of x.
template <int TILE_M, int TILE_N, int SPLIT>
__device__ __forceinline__ void tile(unsigned base, char *shared, const bf16 *x, const bf16 *w, bf16 *y, int m0, int n0,
                                     int M, int N, int K)
{
    const int part = (TILE_M + TILE_N) * ROW_BYTES; // x and w for one block of k
    const int stages = SHARED_BYTES / (SPLIT * part), ahead = stages - 2;
    const int steps = (K + SPLIT * TILE_K - 1) / (SPLIT * TILE_K), warpgroup = threadIdx.x / 128;
    float d[TILE_N / 2];

    auto fill = [&](int step) {
#pragma unroll
        for (int i = 0; i < SPLIT; i++) {
            const unsigned to = base + step % stages * SPLIT * part + i * part;
            const int k = (step * SPLIT + i) * TILE_K;
            copy_tile<TILE_M>(to, x, m0, M, k, K);
            copy_tile<TILE_N>(to + TILE_M * ROW_BYTES, w, n0, N, k, K);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int step = 0; step < ahead; step++)
        fill(step);
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(ahead - 1) : "memory");
        // The copies were ordinary writes; wgmma reads through the other proxy.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        const unsigned stage = base + step % stages * SPLIT * part + (SPLIT == 2 ? warpgroup * part : 0);
        const u64 a = descriptor(stage + (SPLIT == 1 ? warpgroup * 64 * ROW_BYTES : 0));
        const u64 b = descriptor(stage + TILE_M * ROW_BYTES);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < TILE_K / 16; i++) // 16 elements are 32 bytes, 2 in the descriptor's units
            multiply(d, a + i * 2, b + i * 2, step + i != 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        fill(step + ahead); // both warpgroups were done with this stage's last content before the barrier above
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    const int warp = threadIdx.x / 32, pitch = TILE_N * 2 + 16;
    if (SPLIT == 1) {
        store<TILE_N>(d, shared + warp * 16 * pitch, y, m0 + warp * 16, n0, M, N);
        return;
    }
    float *sums = (float *)shared + threadIdx.x % 128;
    if (warpgroup == 1)
#pragma unroll
        for (int i = 0; i < TILE_N / 2; i++)
            sums[i * 128] = d[i];
    __syncthreads();
    if (warpgroup == 1)
        return;
#pragma unroll
    for (int i = 0; i < TILE_N / 2; i++)
        d[i] += sums[i * 128];
    store<TILE_N>(d, shared + TILE_N / 2 * 512 + warp * 16 * pitch, y, m0 + warp * 16, n0, M, N);
}

__global__ void __launch_bounds__(256, 1)
    gemm(const bf16 *__restrict__ x, const bf16 *__restrict__ w, bf16 *__restrict__ y, int M, int N, int K)
{
    extern __shared__ char raw[];
    const unsigned start = (unsigned)__cvta_generic_to_shared(raw);
    const unsigned base = (start + 1023) & ~1023u; // the swizzle repeats every 1024 bytes
    char *shared = raw + (base - start);
    if (M <= 64) {
        tile<64, 32, 2>(base, shared, x, w, y, 0, blockIdx.x * 32, M, N, K);
        return;
    }
    const int tiles_m = (M + 127) / 128, tiles_n = (N + 255) / 256;
    const int group = blockIdx.x / (GROUP * tiles_n), within = blockIdx.x % (GROUP * tiles_n);
    const int group_rows = min(GROUP, tiles_m - group * GROUP);
    if (group_rows <= 0 || within / group_rows >= tiles_n)
        return; // more blocks than tiles: the grid is also large enough for decode
    tile<128, 256, 1>(base, shared, x, w, y, (group * GROUP + within % group_rows) * 128, within / group_rows * 256, M,
                      N, K);
}
