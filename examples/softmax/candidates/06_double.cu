// Hypothesis: sums in double need no care for the order, and the memory is slower than the arithmetic anyway.
//! launch softmax<<<(R), (256), 0>>>(x, y, R, N)

__global__ void softmax(const float *x, float *y, int R, int N)
{
    __shared__ double partial[256];
    const int row = blockIdx.x, tid = threadIdx.x;
    x += (size_t)row * N;
    y += (size_t)row * N;
    double largest = x[0], sum = 0.0;
    for (int i = tid; i < N; i += 256)
        largest = fmax(largest, (double)x[i]);
    partial[tid] = largest;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (tid < half)
            partial[tid] = fmax(partial[tid], partial[tid + half]);
        __syncthreads();
    }
    largest = partial[0];
    __syncthreads();
    for (int i = tid; i < N; i += 256)
        sum += exp(x[i] - largest);
    partial[tid] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (tid < half)
            partial[tid] += partial[tid + half];
        __syncthreads();
    }
    for (int i = tid; i < N; i += 256)
        y[i] = (float)(exp(x[i] - largest) / partial[0]);
}
