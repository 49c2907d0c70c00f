// One thread an element, in float: y = g / (1 + exp(-g)) * u.
//! launch silu_gate<<<(ceil_div(T * F, 1024)), (1024), 0>>>(g, u, y, T, F)

__device__ float to_float(unsigned short bits)
{
    return __uint_as_float((unsigned)bits << 16);
}

__device__ unsigned short to_bf16(float value)
{
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

__global__ void silu_gate(const unsigned short *g, const unsigned short *u, unsigned short *y, int T, int F)
{
    const int i = blockIdx.x * 1024 + threadIdx.x;
    if (i >= T * F)
        return;
    const float gate = to_float(g[i]);
    y[i] = to_bf16(gate / (1.0f + expf(-gate)) * to_float(u[i]));
}
