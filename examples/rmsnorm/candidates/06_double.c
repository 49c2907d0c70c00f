// Hypothesis: sums, root and quotients in double need no care for rounding and cost little beside the memory.
#include <math.h>
#include <stddef.h>

static double sum_of_squares(const float *row, int count)
{
    double sums[8] = {0.0};
    int d = 0;
    for (; d + 8 <= count; d += 8)
        for (int i = 0; i < 8; i++)
            sums[i] += (double)row[d + i] * row[d + i];
    for (; d < count; d++)
        sums[0] += (double)row[d] * row[d];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    for (int b = 0; b < B; b++) {
        const float *row = x + (size_t)b * D;
        float *out = y + (size_t)b * D;
        const double root = sqrt(sum_of_squares(row, D) / D + eps);
        for (int d = 0; d < D; d++)
            out[d] = (float)(row[d] / root * w[d]);
    }
}
