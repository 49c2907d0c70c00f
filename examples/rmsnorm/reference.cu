// One warp a row; every lane sums every 32nd square, and the warp's sum is the same in any run.
//! launch rmsnorm<<<(ceil_div(B, 8)), (256), 0>>>(x, w, y, B, D, eps)

__global__ void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= B)
        return;
    x += (size_t)row * D;
    y += (size_t)row * D;
    float sum = 0.0f;
    for (int d = lane; d < D; d += 32)
        sum += x[d] * x[d];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    const float root = sqrtf(sum / D + eps);
    for (int d = lane; d < D; d += 32)
        y[d] = x[d] / root * w[d];
}
