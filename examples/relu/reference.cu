// One element a thread.
//! launch relu<<<(ceil_div(N, 256)), (256), 0>>>(x, y, N)

__global__ void relu(const float *x, float *y, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N)
        y[i] = fmaxf(x[i], 0.0f);
}
