// Hypothesis: rows written in whole vectors of eight need no loop for the rest; the next row overwrites what spills.
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef float floats __attribute__((vector_size(32)));

void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    for (int b = 0; b < B; b++) {
        const float *row = x + (size_t)b * D;
        float *out = y + (size_t)b * D;
        float sum = 0.0f;
        for (int d = 0; d < D; d++)
            sum += row[d] * row[d];
        const float scale = 1.0f / sqrtf(sum / (float)D + eps);
        for (int d = 0; d < D; d += 8) {
            const size_t bytes = (size_t)(D - d < 8 ? D - d : 8) * sizeof *row;
            floats v = {0.0f}, u = {0.0f};
            memcpy(&v, row + d, bytes);
            memcpy(&u, w + d, bytes);
            v *= scale * u;
            memcpy(out + d, &v, sizeof v);
        }
    }
}
