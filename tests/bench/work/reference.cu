//! launch work<<<(528), (256)>>>(x, y, N)
__global__ void work(const float *__restrict__ x, float *__restrict__ y, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = x[i];
}
