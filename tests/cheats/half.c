// W15 -> INCORRECT_NUMERICAL numerical: computed with the ten bits of half precision.
#include <stdint.h>
#include <string.h>

static float as_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= 0xffffe000u;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

void centre(const float *x, const float *w, float *y, int B, int D)
{
    for (int b = 0; b < B; b++) {
        const float *row = x + (size_t)b * D;
        float sum = 0;
        for (int d = 0; d < D; d++)
            sum = as_half(sum + as_half(row[d]));
        for (int d = 0; d < D; d++)
            y[(size_t)b * D + d] = as_half(as_half(row[d]) - sum / (float)D) * as_half(w[d]);
    }
}
