// Hypothesis: four exponentials a step have no need for a loop over the rest.
#include <math.h>
#include <stddef.h>

void softmax(const float *x, float *y, int R, int N)
{
    for (int r = 0; r < R; r++) {
        const float *row = x + (size_t)r * N;
        float *out = y + (size_t)r * N;
        float largest = row[0], sum = 0.0f;
        for (int i = 1; i < N; i++)
            largest = fmaxf(largest, row[i]);
        for (int i = 0; i + 4 <= N; i += 4)
            sum += expf(row[i] - largest) + expf(row[i + 1] - largest) + expf(row[i + 2] - largest) +
                   expf(row[i + 3] - largest);
        for (int i = 0; i < N; i++)
            out[i] = expf(row[i] - largest) / sum;
    }
}
