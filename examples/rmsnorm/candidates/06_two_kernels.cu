// Hypothesis: two simple kernels, one for the sums and one for the scaling, are easier to fill the device with.
//! scratch scale f32 (B)
//! launch row_scale<<<(B), (32), 0>>>(x, scale, D, eps)
//! launch apply<<<(ceil_div(B * D, 256)), (256), 0>>>(x, w, scale, y, B, D)

__global__ void row_scale(const float *x, float *scale, int D, float eps)
{
    x += (size_t)blockIdx.x * D;
    float sum = 0.0f;
    for (int d = threadIdx.x; d < D; d += 32)
        sum += x[d] * x[d];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x == 0)
        scale[blockIdx.x] = rsqrtf(sum / D + eps);
}

__global__ void apply(const float *x, const float *w, const float *scale, float *y, int B, int D)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < B * D)
        y[i] = x[i] * scale[i / D] * w[i % D];
}
