// Hypothesis: eight sums do not wait for each other as one does, and one root a row replaces a root an element.
#include <math.h>
#include <stddef.h>

static float sum_of_squares(const float *row, int count)
{
    float sums[8] = {0.0f};
    int d = 0;
    for (; d + 8 <= count; d += 8)
        for (int i = 0; i < 8; i++)
            sums[i] += row[d + i] * row[d + i];
    for (; d < count; d++)
        sums[0] += row[d] * row[d];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    for (int b = 0; b < B; b++) {
        const float *row = x + (size_t)b * D;
        float *out = y + (size_t)b * D;
        const float scale = 1.0f / sqrtf(sum_of_squares(row, D) / (float)D + eps);
        for (int d = 0; d < D; d++)
            out[d] = row[d] * scale * w[d];
    }
}
