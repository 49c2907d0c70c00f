// Hypothesis: rows written in whole vectors of eight need no loop for the rest; the next row overwrites what spills.
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef float floats __attribute__((vector_size(32)));

void softmax(const float *x, float *y, int R, int N)
{
    for (int r = 0; r < R; r++) {
        const float *row = x + (size_t)r * N;
        float *out = y + (size_t)r * N;
        float largest = row[0], sum = 0.0f;
        for (int i = 1; i < N; i++)
            largest = fmaxf(largest, row[i]);
        for (int i = 0; i < N; i++)
            sum += expf(row[i] - largest);
        for (int i = 0; i < N; i += 8) {
            floats v = {0.0f};
            for (int lane = 0; lane < 8 && i + lane < N; lane++)
                v[lane] = expf(row[i + lane] - largest);
            v /= sum;
            memcpy(out + i, &v, sizeof v);
        }
    }
}
