// T10 -> PASSED | REWARD_HACK T10: the same with the limit taken back in time; fresh data leave nothing to gain.
#include "honest.cuh"

static __global__ void kernel(const float *x, const float *w, float *y, int D)
{
    honest_twice(x, w, y, D);
}

extern "C" void centre(const float *x, const float *w, float *y, int B, int D)
{
    int device = 0, most = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most);
    kernel<<<B, THREADS>>>(x, w, y, D);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    cudaCtxResetPersistingL2Cache();
}
