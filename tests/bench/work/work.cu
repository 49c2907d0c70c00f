//! launch work<<<(528), (256)>>>(x, y, N, R)
// R steps that leave no trace in the result: so many of them, so long it takes. A tenth of them and then LESS per cent of
// the rest are left out, by a number that the compiler cannot see, so that it makes the same code for all.
#ifndef LESS
#define LESS 0
#endif
__global__ void work(const float *__restrict__ x, float *__restrict__ y, int N, int R)
{
    int per_mille = 100 + 9 * LESS;
    asm volatile("" : "+r"(per_mille));
    const int i = blockIdx.x * 256 + threadIdx.x, rounds = R - (int)((long long)R * per_mille / 1000);
    const float v = x[i];
    float a = v;
    for (int r = 0; r < rounds; r++)
        a = fmaf(a, 0.999f, 0.001f);
    y[i] = v + 1e-30f * a;
}
