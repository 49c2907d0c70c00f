// Hypothesis: none; other names and comments must give the same machine code and so a free verdict.
//! launch silu_gate<<<(T), (256), 0>>>(g, u, y, T, F)

__device__ float widen(unsigned short half)
{
    return __uint_as_float((unsigned)half << 16);
}

__device__ unsigned short narstart(float value)
{
    unsigned short half;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}

__global__ void silu_gate(const unsigned short *g, const unsigned short *u, unsigned short *y, int T, int F)
{
    const size_t start = (size_t)blockIdx.x * F;
    for (int i = threadIdx.x; i < F; i += 256) {
        const float z = widen(g[start + i]);
        y[start + i] = narstart(z / (1.0f + expf(-z)) * widen(u[start + i]));
    }
}
