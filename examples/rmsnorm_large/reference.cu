// A block owns 128 columns (4 a thread) of one image; its 8 warps share the 64 channels, 8 each, held in registers.
//! launch rmsnorm_large<<<(H * W / 128, B), (256), 0>>>(x, y, C, H, W, eps)

#define WARPS 8
#define HELD 8 // channels a warp: C is WARPS * HELD = 64; H * W is a multiple of 128

__global__ void __launch_bounds__(WARPS * 32)
    rmsnorm_large(const float4 *__restrict__ x, float4 *__restrict__ y, int C, int H, int W, float eps)
{
    __shared__ float4 partial[WARPS][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t plane = (size_t)H * W / 4; // float4 from a channel to the next
    const size_t at = (blockIdx.y * (size_t)C + warp * HELD) * plane + blockIdx.x * 32 + lane;
    float4 v[HELD], sum = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int c = 0; c < HELD; c++)
        v[c] = __ldcs(x + at + c * plane);
#pragma unroll
    for (int c = 0; c < HELD; c++) {
        sum.x += v[c].x * v[c].x;
        sum.y += v[c].y * v[c].y;
        sum.z += v[c].z * v[c].z;
        sum.w += v[c].w * v[c].w;
    }
    partial[warp][lane] = sum;
    __syncthreads();
    sum = partial[0][lane];
#pragma unroll
    for (int i = 1; i < WARPS; i++) {
        const float4 p = partial[i][lane];
        sum.x += p.x, sum.y += p.y, sum.z += p.z, sum.w += p.w;
    }
    sum.x = rsqrtf(sum.x / C + eps);
    sum.y = rsqrtf(sum.y / C + eps);
    sum.z = rsqrtf(sum.z / C + eps);
    sum.w = rsqrtf(sum.w / C + eps);
#pragma unroll
    for (int c = 0; c < HELD; c++)
        __stcs(y + at + c * plane, make_float4(v[c].x * sum.x, v[c].y * sum.y, v[c].z * sum.z, v[c].w * sum.w));
}
