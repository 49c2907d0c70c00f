// Row after row, element after element, in float; bf16 is the upper half of a float.
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
        for (int i = 0; i < F; i++) {
            const float gate = to_float(g[row + i]);
            y[row + i] = to_bf16(gate / (1.0f + expf(-gate)) * to_float(u[row + i]));
        }
    }
}
