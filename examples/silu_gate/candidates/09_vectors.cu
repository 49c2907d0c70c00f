// Hypothesis: eight elements in 16 bytes, two such loads of each input in flight a thread, fill the memory system.
//! launch silu_gate<<<(ceil_div(T * F, 4096)), (256), 0>>>(g, u, y, T, F)

#define THREADS 256
#define VECTORS 2
#define BLOCK (THREADS * VECTORS) // vectors of 8 elements a block

__device__ float silu_gate_of(float gate, float up)
{
    return __fdividef(gate, 1.0f + __expf(-gate)) * up;
}

__device__ unsigned both(unsigned g, unsigned u)
{
    const float first = silu_gate_of(__uint_as_float(g << 16), __uint_as_float(u << 16));
    const float second = silu_gate_of(__uint_as_float(g & 0xffff0000), __uint_as_float(u & 0xffff0000));
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

__device__ uint4 eight(uint4 g, uint4 u)
{
    return make_uint4(both(g.x, u.x), both(g.y, u.y), both(g.z, u.z), both(g.w, u.w));
}

// The vectors of the last block, and the up to 7 elements after them.
__device__ void last_block(const uint4 *g, const uint4 *u, uint4 *y, int first, int count)
{
    for (int at = first; at < count / 8; at += THREADS)
        y[at] = eight(g[at], u[at]);
    const int at = count / 8 * 8 + threadIdx.x;
    if (at < count)
        ((unsigned short *)y)[at] =
            (unsigned short)both(((const unsigned short *)g)[at], ((const unsigned short *)u)[at]);
}

__global__ void __launch_bounds__(THREADS)
    silu_gate(const uint4 *__restrict__ g, const uint4 *__restrict__ u, uint4 *__restrict__ y, int T, int F)
{
    const int count = T * F, first = blockIdx.x * BLOCK + threadIdx.x;
    if (blockIdx.x == gridDim.x - 1) {
        last_block(g, u, y, first, count);
        return;
    }
    uint4 gates[VECTORS], ups[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        gates[i] = g[first + i * THREADS];
        ups[i] = u[first + i * THREADS];
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
        y[first + i * THREADS] = eight(gates[i], ups[i]);
}
