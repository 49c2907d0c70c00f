// Hypothesis: none; other names and comments must give the same machine code and so a free verdict.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static float wn(uint16_t bits)
{
    const uint32_t w = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &w, sizeof value);
    return value;
}

// Rounds to nearest even; the values here are finite.
static uint16_t narrow(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void silu_gate(const uint16_t *g, const uint16_t *u, uint16_t *y, int T, int F)
{
    for (int t = 0; t < T; t++) {
        const size_t start = (size_t)t * (size_t)F;
        for (int i = 0; i < F; i++) {
            const double z = wn(g[start + i]);
            y[start + i] = narrow((float)(z / (1.0 + exp(-z)) * wn(u[start + i])));
        }
    }
}
