#include <stddef.h>

void centre(const float *x, const float *w, float *y, int B, int D)
{
    for (int b = 0; b < B; b++) {
        const float *row = x + (size_t)b * D;
        double sum = 0.0;
        for (int d = 0; d < D; d++)
            sum += row[d];
        for (int d = 0; d < D; d++)
            y[(size_t)b * D + d] = (float)((row[d] - sum / D) * w[d]);
    }
}
