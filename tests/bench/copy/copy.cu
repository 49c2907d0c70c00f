//! launch copy<<<(ceil_div(N, 4096)), (256)>>>(x, y, N)
__global__ void copy(const float4 *__restrict__ x, float4 *__restrict__ y, int N)
{
    const int first = blockIdx.x * 1024 + threadIdx.x;
    float4 v[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        v[i] = x[first + i * 256];
#pragma unroll
    for (int i = 0; i < 4; i++)
        y[first + i * 256] = v[i];
}
