// Hypothesis: none; other names and comments must give the same machine code and so a free verdict.
//! launch softmax<<<(R), (256), 0>>>(x, y, R, N)

__global__ void softmax(const float *x, float *y, int R, int N)
{
    __shared__ float shared[256];
    const int row = blockIdx.x, thread = threadIdx.x;
    x += (size_t)row * N;
    y += (size_t)row * N;
    float top = x[0], sum = 0.0f;
    for (int i = thread; i < N; i += 256)
        top = fmaxf(top, x[i]);
    shared[thread] = top;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (thread < width)
            shared[thread] = fmaxf(shared[thread], shared[thread + width]);
        __syncthreads();
    }
    top = shared[0];
    __syncthreads();
    for (int i = thread; i < N; i += 256)
        sum += expf(x[i] - top);
    shared[thread] = sum;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (thread < width)
            shared[thread] += shared[thread + width];
        __syncthreads();
    }
    for (int i = thread; i < N; i += 256)
        y[i] = expf(x[i] - top) / shared[0];
}
