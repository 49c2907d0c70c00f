// Hypothesis: a polynomial exponential in vectors of eight takes the time of one call of expf for all eight.
#include <math.h>
#include <stddef.h>
#include <string.h>

#define LANES 8
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef int ints __attribute__((vector_size(4 * LANES)));

// v := exp(v) for v <= 0, relative error below 2e-7; 2^n exp(f) with n whole and |f| <= ln(2) / 2, and a Taylor series
// for the latter. Below -87 it stays at exp(-87).
static inline void exponential(floats *v)
{
    const floats lowest = (floats){0} - 87.0f, magic = (floats){0} + 12582912.0f; // 1.5 * 2^23: adding it rounds
    const ints high = *v > lowest;
    const floats x = (floats)(((ints)*v & high) | ((ints)lowest & ~high));
    const floats n = x * 1.44269504f + magic - magic;
    const floats f = x - n * 0.693145752f - n * 1.42860677e-6f; // ln(2) in two parts
    floats p = f * (1.0f / 5040) + 1.0f / 720;
    p = p * f + 1.0f / 120;
    p = p * f + 1.0f / 24;
    p = p * f + 1.0f / 6;
    p = p * f + 0.5f;
    p = p * f + 1.0f;
    p = p * f + 1.0f;
    *v = (floats)((ints)p + (__builtin_convertvector(n, ints) << 23));
}

// Loads up to LANES elements; what is missing is -infinity.
static inline void load(floats *v, const float *from, int count)
{
    *v = (floats){0} - INFINITY;
    memcpy(v, from, count >= LANES ? sizeof *v : (size_t)count * sizeof *from);
}

static inline void store(float *to, const floats *v, int count)
{
    memcpy(to, v, count >= LANES ? sizeof *v : (size_t)count * sizeof *to);
}

static float largest_of(const float *row, int count)
{
    floats v, largest;
    load(&largest, row, count);
    for (int i = LANES; i < count; i += LANES) {
        load(&v, row + i, count - i);
        const ints more = v > largest;
        largest = (floats)(((ints)v & more) | ((ints)largest & ~more));
    }
    float result = largest[0];
    for (int i = 1; i < LANES; i++)
        result = largest[i] > result ? largest[i] : result;
    return result;
}

// Stores the exponentials of up to LANES elements and adds them to sums; a lane with no element adds exp(-87).
static inline void eight(float *out, floats *sums, const float *row, float largest, int count)
{
    floats v;
    load(&v, row, count);
    v -= largest;
    exponential(&v);
    store(out, &v, count);
    *sums += v;
}

static void softmax_row(float *restrict out, const float *restrict row, int count)
{
    const float largest = largest_of(row, count);
    floats sums = {0.0f};
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        eight(out + i, &sums, row + i, largest, LANES);
    if (i < count)
        eight(out + i, &sums, row + i, largest, count - i);
    float sum = 0.0f;
    for (int lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    const float scale = 1.0f / sum;
    for (i = 0; i < count; i++)
        out[i] *= scale;
}

void softmax(const float *x, float *y, int R, int N)
{
    for (int r = 0; r < R; r++)
        softmax_row(y + (size_t)r * N, x + (size_t)r * N, N);
}
