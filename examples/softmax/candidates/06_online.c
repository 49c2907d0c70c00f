// Hypothesis: maximum and sum fit in one pass (online softmax), as they do on a GPU.
#include <math.h>
#include <stddef.h>

void softmax(const float *x, float *y, int R, int N)
{
    for (int r = 0; r < R; r++) {
        const float *row = x + (size_t)r * N;
        float largest = row[0], sum = 1.0f;
        for (int i = 1; i < N; i++) {
            const float next = row[i] > largest ? row[i] : largest;
            sum = sum * expf(largest - next) + expf(row[i] - next);
            largest = next;
        }
        for (int i = 0; i < N; i++)
            y[(size_t)r * N + i] = expf(row[i] - largest) / sum;
    }
}
