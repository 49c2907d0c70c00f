// Hypothesis: none; other names and comments must give the same machine code and so a free verdict.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static float widen(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

// Rounds to nearest even; the values here are finite.
static uint16_t narrow(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void gemm(const uint16_t *x, const uint16_t *w, uint16_t *y, int M, int N, int K)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            const uint16_t *left = x + (size_t)m * (size_t)K, *right = w + (size_t)n * (size_t)K;
            float total = 0.0f;
            for (int k = 0; k < K; k++)
                total += widen(left[k]) * widen(right[k]);
            y[(size_t)m * (size_t)N + (size_t)n] = narrow(total);
        }
}
