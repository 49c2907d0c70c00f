// Hypothesis: none; other names and comments must give the same machine code and so a free verdict.
#include <math.h>
#include <stddef.h>

void rmsnorm(const float *x, const float *w, float *y, int B, int D, float eps)
{
    for (int b = 0; b < B; b++) {
        const float *in = x + (size_t)b * D;
        float *out = y + (size_t)b * D;
        float total = 0.0f;
        for (int i = 0; i < D; i++)
            total += in[i] * in[i];
        for (int i = 0; i < D; i++)
            out[i] = in[i] / sqrtf(total / (float)D + eps) * w[i];
    }
}
