// Hypothesis: elements do not depend on each other, so every core takes a share of them.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define LANES 8
#define MOST_THREADS 64
#define LEAST_WORK 786432 // elements a thread, ten times the work that starting one costs
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef uint32_t words __attribute__((vector_size(4 * LANES)));
typedef uint16_t halves __attribute__((vector_size(2 * LANES)));

static inline void clamp(floats *v, float low, float high)
{
    const floats lowest = (floats){0} + low, highest = (floats){0} + high;
    const ints above = *v > lowest;
    *v = (floats)(((ints)*v & above) | ((ints)lowest & ~above));
    const ints below = *v < highest;
    *v = (floats)(((ints)*v & below) | ((ints)highest & ~below));
}

// v := exp(v), relative error below 2e-7 within -87 .. 87 and the value at the end beyond: 2^n exp(f) with n whole and
// |f| <= ln(2) / 2, and a Taylor series for the latter.
static inline void exponential(floats *v)
{
    const floats magic = (floats){0} + 12582912.0f; // 1.5 * 2^23: adding it rounds
    clamp(v, -87.0f, 87.0f);
    const floats n = *v * 1.44269504f + magic - magic;
    const floats f = *v - n * 0.693145752f - n * 1.42860677e-6f; // ln(2) in two parts
    floats p = f * (1.0f / 720) + 1.0f / 120;
    p = p * f + 1.0f / 24;
    p = p * f + 1.0f / 6;
    p = p * f + 0.5f;
    p = p * f + 1.0f;
    p = p * f + 1.0f;
    *v = (floats)((ints)p + (__builtin_convertvector(n, ints) << 23));
}

static inline void load(floats *v, const uint16_t *from)
{
    halves bits;
    memcpy(&bits, from, sizeof bits);
    *v = (floats)(__builtin_convertvector(bits, words) << 16);
}

static inline void store(uint16_t *to, const floats *v)
{
    const words bits = (words)*v;
    const halves rounded = __builtin_convertvector((bits + 0x7fff + (bits >> 16 & 1)) >> 16, halves);
    memcpy(to, &rounded, sizeof rounded);
}

static inline void eight(const uint16_t *g, const uint16_t *u, uint16_t *y)
{
    floats gate, up;
    load(&gate, g);
    load(&up, u);
    floats e = -gate;
    exponential(&e);
    e = gate * up / (1.0f + e);
    store(y, &e);
}

static void silu_gates(const uint16_t *restrict g, const uint16_t *restrict u, uint16_t *restrict y, size_t count)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        eight(g + i, u + i, y + i);
    if (i == count)
        return;
    uint16_t gates[LANES] = {0}, ups[LANES] = {0}, out[LANES];
    memcpy(gates, g + i, (count - i) * sizeof *g);
    memcpy(ups, u + i, (count - i) * sizeof *u);
    eight(gates, ups, out);
    memcpy(y + i, out, (count - i) * sizeof *y);
}

struct share {
    const uint16_t *g, *u;
    uint16_t *y;
    size_t first, last; // elements first .. last - 1
    pthread_t thread;
    int started;
};

static void *run(void *argument)
{
    const struct share *s = argument;
    silu_gates(s->g + s->first, s->u + s->first, s->y + s->first, s->last - s->first);
    return NULL;
}

static int thread_count(long work)
{
    const long useful = work / LEAST_WORK;
    if (useful < 2)
        return 1; // without asking for the cores, which costs microseconds
    const long cores = sysconf(_SC_NPROCESSORS_ONLN), count = cores < useful ? cores : useful;
    return (int)(count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : count);
}

void silu_gate(const uint16_t *g, const uint16_t *u, uint16_t *y, int T, int F)
{
    struct share shares[MOST_THREADS];
    const size_t all = (size_t)T * (size_t)F;
    const int count = thread_count((long)all);
    for (int i = 0; i < count; i++)
        shares[i] = (struct share){.g = g,
                                   .u = u,
                                   .y = y,
                                   .first = all * (size_t)i / (size_t)count,
                                   .last = all * (size_t)(i + 1) / (size_t)count};
    for (int i = 1; i < count; i++)
        shares[i].started = pthread_create(&shares[i].thread, NULL, run, &shares[i]) == 0;
    for (int i = 0; i < count; i++)
        if (!shares[i].started)
            run(&shares[i]);
    for (int i = 1; i < count; i++)
        if (shares[i].started)
            pthread_join(shares[i].thread, NULL);
}
