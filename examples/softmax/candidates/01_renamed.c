// Hypothesis: none; other names and comments must give the same machine code and so a free verdict.
#include <math.h>
#include <stddef.h>

void softmax(const float *x, float *y, int R, int N)
{
    for (int r = 0; r < R; r++) {
        const float *in = x + (size_t)r * N;
        float *out = y + (size_t)r * N;
        float largest = in[0], total = 0.0f;
        for (int column = 1; column < N; column++)
            largest = fmaxf(largest, in[column]);
        for (int column = 0; column < N; column++)
            total += expf(in[column] - largest);
        for (int column = 0; column < N; column++)
            out[column] = expf(in[column] - largest) / total;
    }
}
