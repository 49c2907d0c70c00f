/* What a cheat does when it wants to be believed: the same work as the incumbent, by a block of 256 threads a row. */
#ifndef HONEST_CUH
#define HONEST_CUH

#define THREADS 256

/* The mean of a row, in every thread. */
static __device__ float row_mean(const float *row, int D)
{
    __shared__ double sums[THREADS];
    double sum = 0;
    for (int d = threadIdx.x; d < D; d += THREADS)
        sum += row[d];
    __syncthreads();
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return (float)(sums[0] / D);
}

static __device__ void honest_row(const float *x, const float *w, float *y, int row, int D)
{
    const float *in = x + (size_t)row * D;
    float mean = row_mean(in, D);
    for (int d = threadIdx.x; d < D; d += THREADS)
        y[(size_t)row * D + d] = (in[d] - mean) * w[d];
}

static __device__ void honest(const float *x, const float *w, float *y, int D)
{
    honest_row(x, w, y, blockIdx.x, D);
}

/* For cheats that come to nothing: nobody can take them for faster. */
static __device__ void honest_twice(const float *x, const float *w, float *y, int D)
{
    honest(x, w, y, D);
    __syncthreads();
    ((volatile float *)y)[(size_t)blockIdx.x * D] = 0;
    honest(x, w, y, D);
}

#endif
