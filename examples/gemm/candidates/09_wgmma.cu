// Hypothesis: products of a whole warpgroup from swizzled shared memory (wgmma) keep the tensor cores busy.
//! launch gemm<<<(ceil_div(M, 128) * ceil_div(N, 256)), (256), 197632>>>(x, w, y, M, N, K)

// A block owns 128 x 256 outputs, each of its two warpgroups 64 x 256. K goes by in blocks of 64 (rows of 128 bytes,
// the width of the swizzle) through four stages filled by cp.async. K must be a multiple of 8.
typedef unsigned short bf16;
typedef unsigned long long u64;

#define STAGES 4
#define AHEAD 2 // stages that are being filled: two others are being read, by products that are not yet waited for
#define TILE_M 128
#define TILE_N 256
#define TILE_K 64
#define STAGE_BYTES ((TILE_M + TILE_N) * TILE_K * 2)
#define GROUP 16                    // rows of blocks that run side by side and share their w tiles through L2
#define OUT_PITCH (TILE_N * 2 + 16) // bytes of a row of outputs in shared memory; the 16 keep the banks apart

// Sixteen bytes of global memory, or of zeros, to shared memory.
__device__ __forceinline__ void copy16(unsigned to, const bf16 *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}

// Copies `rows` rows of 64 elements. Chunk c of row r goes to c ^ (r % 8): the 128-byte swizzle that wgmma expects.
template <int ROWS>
__device__ __forceinline__ void copy_tile(unsigned to, const bf16 *from, int first, int limit, int k, int K)
{
    const int row = threadIdx.x / 8, chunk = threadIdx.x % 8;
    const unsigned at = to + row * 128 + ((chunk ^ (row % 8)) << 4);
    const int column = k + chunk * 8;
    const bf16 *source = from + (u64)(first + row) * K + column;
#pragma unroll
    for (int i = 0; i < ROWS / 32; i++) {
        const bool inside = first + row + 32 * i < limit && column < K;
        copy16(at + i * 32 * 128, inside ? source + (u64)(32 * i) * K : from, inside);
    }
}

// Rows of 128 bytes, groups of 8 rows 1024 bytes apart, 128-byte swizzle (1 in bits 62 and 63).
__device__ __forceinline__ u64 descriptor(unsigned address)
{
    return (u64)((address & 0x3ffff) >> 4) | 1ull << 16 | (u64)(1024 >> 4) << 32 | 1ull << 62;
}

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)

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

// Two floats as bf16, the first in the low half.
__device__ __forceinline__ unsigned pack(float low, float high)
{
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// A warp's 16 x 256 outputs go through shared memory, so that rows leave in pieces of 16 bytes a lane.
__device__ __forceinline__ void store(const float (&d)[128], char *out, bf16 *y, int row0, int column0, int M, int N)
{
    const int lane = threadIdx.x % 32;
    char *mine = out + lane / 4 * OUT_PITCH + lane % 4 * 4;
#pragma unroll
    for (int j = 0; j < 32; j++) {
        *(unsigned *)(mine + j * 16) = pack(d[j * 4], d[j * 4 + 1]);
        *(unsigned *)(mine + j * 16 + 8 * OUT_PITCH) = pack(d[j * 4 + 2], d[j * 4 + 3]);
    }
    __syncwarp();
    const int column = column0 + lane * 8;
    for (int r = 0; r < 16 && row0 + r < M; r++) {
        const char *from = out + r * OUT_PITCH + lane * 16;
        bf16 *to = y + (u64)(row0 + r) * N + column;
        if (N % 8 == 0 && column < N)
            *(uint4 *)to = *(const uint4 *)from;
        else
            for (int i = 0; i < 8 && column + i < N; i++)
                to[i] = ((const bf16 *)from)[i];
    }
}

__global__ void __launch_bounds__(256, 1)
    gemm(const bf16 *__restrict__ x, const bf16 *__restrict__ w, bf16 *__restrict__ y, int M, int N, int K)
{
    extern __shared__ char raw[];
    const unsigned start = (unsigned)__cvta_generic_to_shared(raw);
    const unsigned base = (start + 1023) & ~1023u; // the swizzle repeats every 1024 bytes
    const int tiles_m = (M + TILE_M - 1) / TILE_M, tiles_n = (N + TILE_N - 1) / TILE_N;
    const int group = blockIdx.x / (GROUP * tiles_n), within = blockIdx.x % (GROUP * tiles_n);
    const int group_rows = min(GROUP, tiles_m - group * GROUP);
    const int m0 = (group * GROUP + within % group_rows) * TILE_M, n0 = within / group_rows * TILE_N;
    const int blocks = (K + TILE_K - 1) / TILE_K, warpgroup = threadIdx.x / 128;
    float d[128];

    for (int s = 0; s < AHEAD; s++) {
        const unsigned stage = base + s * STAGE_BYTES;
        copy_tile<TILE_M>(stage, x, m0, M, s * TILE_K, K);
        copy_tile<TILE_N>(stage + TILE_M * 128, w, n0, N, s * TILE_K, K);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int k = 0; k < blocks; k++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
        // The copies were ordinary writes; wgmma reads through the other proxy.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        const unsigned stage = base + k % STAGES * STAGE_BYTES;
        const u64 a = descriptor(stage + warpgroup * 64 * 128), b = descriptor(stage + TILE_M * 128);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < TILE_K / 16; i++) // 16 elements are 32 bytes, 2 in the descriptor's units
            multiply(d, a + i * 2, b + i * 2, k + i != 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        // Both warpgroups were done with stage k - 2 before the barrier above: it can be filled again.
        const unsigned next = base + (k + AHEAD) % STAGES * STAGE_BYTES;
        copy_tile<TILE_M>(next, x, m0, M, (k + AHEAD) * TILE_K, K);
        copy_tile<TILE_N>(next + TILE_M * 128, w, n0, N, (k + AHEAD) * TILE_K, K);
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    const int warp = threadIdx.x / 32;
    store(d, raw + (base - start) + warp * 16 * OUT_PITCH, y, m0 + warp * 16, n0, M, N);
}
