// Hypothesis: eight sums do not wait for each other as one does.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static float to_float(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

// Rounds to nearest even; the values here are finite.
static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void gemm(const uint16_t *x, const uint16_t *w, uint16_t *y, int M, int N, int K)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            const uint16_t *a = x + (size_t)m * (size_t)K, *b = w + (size_t)n * (size_t)K;
            float sums[8] = {0.0f};
            int k = 0;
            for (; k + 8 <= K; k += 8)
                for (int i = 0; i < 8; i++)
                    sums[i] += to_float(a[k + i]) * to_float(b[k + i]);
            for (; k < K; k++)
                sums[0] += to_float(a[k]) * to_float(b[k]);
            for (int i = 1; i < 8; i++)
                sums[0] += sums[i];
            y[(size_t)m * (size_t)N + (size_t)n] = to_bf16(sums[0]);
        }
}
