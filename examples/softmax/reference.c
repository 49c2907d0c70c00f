// Exponentials are kept in the output, summed in double, and then scaled.
#include <math.h>
#include <stddef.h>

void softmax(const float *x, float *y, int R, int N)
{
    for (int r = 0; r < R; r++) {
        const float *row = x + (size_t)r * N;
        float *out = y + (size_t)r * N;
        float largest = row[0];
        double sum = 0.0;
        for (int i = 1; i < N; i++)
            largest = row[i] > largest ? row[i] : largest;
        for (int i = 0; i < N; i++) {
            out[i] = expf(row[i] - largest);
            sum += out[i];
        }
        const float scale = (float)(1.0 / sum);
        for (int i = 0; i < N; i++)
            out[i] *= scale;
    }
}
