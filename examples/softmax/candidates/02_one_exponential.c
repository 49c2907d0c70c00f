// Hypothesis: exponentials kept in the output are computed once, and a product with the reciprocal replaces a division.
#include <math.h>
#include <stddef.h>

void softmax(const float *x, float *y, int R, int N)
{
    for (int r = 0; r < R; r++) {
        const float *row = x + (size_t)r * N;
        float *out = y + (size_t)r * N;
        float largest = row[0], sum = 0.0f;
        for (int i = 1; i < N; i++)
            largest = row[i] > largest ? row[i] : largest;
        for (int i = 0; i < N; i++) {
            out[i] = expf(row[i] - largest);
            sum += out[i];
        }
        const float scale = 1.0f / sum;
        for (int i = 0; i < N; i++)
            out[i] *= scale;
    }
}
