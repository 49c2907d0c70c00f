//! launch stream<<<(ceil_div(N, 4096)), (256)>>>(x, y, N)
__global__ void stream(const float4 *__restrict__ x, float4 *__restrict__ y, int N)
{
    const int first = blockIdx.x * 1024 + threadIdx.x;
    float4 v[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        v[i] = x[first + i * 256];
#pragma unroll
    for (int i = 0; i < 4; i++)
        y[first + i * 256] = make_float4(2 * v[i].x, 2 * v[i].y, 2 * v[i].z, 2 * v[i].w);
}
