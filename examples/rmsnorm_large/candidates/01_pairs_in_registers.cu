// Hypothesis: two pixels a thread, all 64 channels held in registers, are read once and need no barrier.
//! launch rmsnorm_large<<<(ceil_div(H * W, 512), B), (256), 0>>>(x, y, C, H, W, eps)

#define CHANNELS 64 // C; H * W is even

__global__ void __launch_bounds__(256)
    rmsnorm_large(const float2 *__restrict__ x, float2 *__restrict__ y, int C, int H, int W, float eps)
{
    const int pair = blockIdx.x * 256 + threadIdx.x, plane = H * W / 2;
    if (pair >= plane)
        return;
    x += (size_t)blockIdx.y * CHANNELS * plane + pair;
    y += (size_t)blockIdx.y * CHANNELS * plane + pair;
    float2 v[CHANNELS], sum = {0.0f, 0.0f};
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        v[c] = __ldcs(x + (size_t)c * plane);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        sum.x += v[c].x * v[c].x;
        sum.y += v[c].y * v[c].y;
    }
    const float2 scale = {rsqrtf(sum.x / CHANNELS + eps), rsqrtf(sum.y / CHANNELS + eps)};
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        __stcs(y + (size_t)c * plane, make_float2(v[c].x * scale.x, v[c].y * scale.y));
}
