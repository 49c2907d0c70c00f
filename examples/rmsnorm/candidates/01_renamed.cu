// Hypothesis: none; other names and comments must give the same machine code and so a free verdict.
//! launch rmsnorm<<<(B), (256), 0>>>(x, w, y, B, D, eps)

__global__ void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    __shared__ float squares[256];
    /* the row of this block */ const int row = blockIdx.x, thread = threadIdx.x;
    x += (size_t)row * D;
    y += (size_t)row * D;
    float sum = 0.0f;
    for (int d = thread; d < D; d += 256)
        sum += x[d] * x[d];
    squares[thread] = sum;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (thread < width)
            squares[thread] += squares[thread + width];
        __syncthreads();
    }
    for (int d = thread; d < D; d += 256)
        y[d] = x[d] / sqrtf(squares[0] / D + eps) * w[d];
}
