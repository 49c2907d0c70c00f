// Hypothesis: four independent loads a thread and step hide the latency of each other.
//! launch rmsnorm<<<(B), (256), 0>>>(x, w, y, B, D, eps)

__global__ void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    __shared__ float partial[256];
    const int row = blockIdx.x, tid = threadIdx.x;
    x += (size_t)row * D;
    y += (size_t)row * D;
    float sum = 0.0f;
    for (int d = tid * 4; d + 3 < D; d += 1024) // forgets the last D % 4 squares
        sum += x[d] * x[d] + x[d + 1] * x[d + 1] + x[d + 2] * x[d + 2] + x[d + 3] * x[d + 3];
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
