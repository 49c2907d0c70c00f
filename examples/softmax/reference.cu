// One block a row, the row read three times: the largest element, the sum of exponentials, the quotients.
//! launch softmax<<<(R), (512), 0>>>(x, y, R, N)

// Every thread's value combined by `larger` (maximum) or sum, in every thread.
__device__ float combine(float value, bool larger)
{
    __shared__ float partial[512];
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = 256; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const float other = partial[threadIdx.x + half];
            partial[threadIdx.x] = larger ? fmaxf(partial[threadIdx.x], other) : partial[threadIdx.x] + other;
        }
        __syncthreads();
    }
    value = partial[0];
    __syncthreads();
    return value;
}

__global__ void softmax(const float *x, float *y, int R, int N)
{
    x += (size_t)blockIdx.x * N;
    y += (size_t)blockIdx.x * N;
    float largest = x[0], sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += 512)
        largest = fmaxf(largest, x[i]);
    largest = combine(largest, true);
    for (int i = threadIdx.x; i < N; i += 512)
        sum += expf(x[i] - largest);
    sum = combine(sum, false);
    for (int i = threadIdx.x; i < N; i += 512)
        y[i] = expf(x[i] - largest) / sum;
}
