/* What a cheat does when it wants to be believed: the same work as the incumbent. */
#ifndef HONEST_H
#define HONEST_H

#include <stddef.h>

/* The mean of a row anew for every quarter of it: right, and slow enough that any cheat is faster. */
static inline void honest_row(const float *row, const float *w, float *out, int D)
{
    for (int from = 0; from < D; from += (D + 3) / 4) {
        int to = from + (D + 3) / 4 < D ? from + (D + 3) / 4 : D;
        double sum = 0.0;
        for (int d = 0; d < D; d++)
            sum += row[d];
        for (int d = from; d < to; d++)
            out[d] = (float)((row[d] - sum / D) * w[d]);
        __asm__ volatile("" : : : "memory");
    }
}

static inline void honest(const float *x, const float *w, float *y, int B, int D)
{
    for (int b = 0; b < B; b++)
        honest_row(x + (size_t)b * D, w, y + (size_t)b * D, D);
}

/* For cheats that come to nothing: nobody can take them for faster. */
static inline void honest_twice(const float *x, const float *w, float *y, int B, int D)
{
    honest(x, w, y, B, D);
    __asm__ volatile("" : : : "memory");
    honest(x, w, y, B, D);
}

#endif
