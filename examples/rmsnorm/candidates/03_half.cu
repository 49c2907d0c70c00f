// Hypothesis: half as many blocks do half as much work.
//! launch rmsnorm<<<(ceil_div(B, 2)), (256), 0>>>(x, w, y, B, D, eps)

__global__ void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    __shared__ float partial[256];
    const int row = blockIdx.x, tid = threadIdx.x;
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
