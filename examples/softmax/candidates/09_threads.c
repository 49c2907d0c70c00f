// Hypothesis: rows do not depend on each other, so every core takes a share of them.
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define LANES 8
#define MOST_THREADS 64
#define LEAST_WORK 393216 // elements a thread, ten times the work that starting one costs
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

struct share {
    const float *x;
    float *y;
    int first, last, N; // rows first .. last - 1
    pthread_t thread;
    int started;
};

static void *run(void *argument)
{
    const struct share *s = argument;
    for (int r = s->first; r < s->last; r++)
        softmax_row(s->y + (size_t)r * s->N, s->x + (size_t)r * s->N, s->N);
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

void softmax(const float *x, float *y, int R, int N)
{
    struct share shares[MOST_THREADS];
    const int count = thread_count((long)R * N);
    for (int i = 0; i < count; i++)
        shares[i] = (struct share){
            .x = x, .y = y, .N = N, .first = (int)((long)R * i / count), .last = (int)((long)R * (i + 1) / count)};
    for (int i = 1; i < count; i++)
        shares[i].started = pthread_create(&shares[i].thread, NULL, run, &shares[i]) == 0;
    for (int i = 0; i < count; i++)
        if (!shares[i].started)
            run(&shares[i]);
    for (int i = 1; i < count; i++)
        if (shares[i].started)
            pthread_join(shares[i].thread, NULL);
}
