// Hypothesis: four squares a step have no need for a loop over the rest.
#include <math.h>
#include <stddef.h>

void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    for (int b = 0; b < B; b++) {
        const float *row = x + (size_t)b * D;
        float *out = y + (size_t)b * D;
        float sum = 0.0f;
        for (int d = 0; d + 4 <= D; d += 4)
            sum += row[d] * row[d] + row[d + 1] * row[d + 1] + row[d + 2] * row[d + 2] + row[d + 3] * row[d + 3];
        for (int d = 0; d < D; d++)
            out[d] = row[d] / sqrtf(sum / (float)D + eps) * w[d];
    }
}
