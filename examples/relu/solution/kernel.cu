// Four elements in 16 bytes, twice a thread; the elements after the last four are for the first block.
//! launch relu<<<(ceil_div(N, 2048)), (256), 0>>>(x, y, N)

__device__ float4 relu4(float4 v)
{
    return make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
}

__global__ void relu(const float4 *__restrict__ x, float4 *__restrict__ y, int N)
{
    const int first = blockIdx.x * 512 + threadIdx.x, tail = N / 4 * 4 + threadIdx.x;
#pragma unroll
    for (int at = first; at < first + 512; at += 256)
        if (at < N / 4)
            y[at] = relu4(x[at]);
    if (blockIdx.x == 0 && tail < N)
        ((float *)y)[tail] = fmaxf(((const float *)x)[tail], 0.0f);
}
