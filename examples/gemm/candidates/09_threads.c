// Hypothesis: columns do not depend on each other, so every core takes a share of them.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define LANES 8
#define MOST_THREADS 64
#define LEAST_WORK 4000000 // products a thread, several times the work that starting one costs
#define BLOCK 4            // rows of x, and rows of w, at once
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef uint32_t words __attribute__((vector_size(4 * LANES)));
typedef uint16_t halves __attribute__((vector_size(2 * LANES)));

// Rounds to nearest even; the values here are finite.
static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Up to LANES elements widened; what is missing is zero.
static inline void load(floats *v, const uint16_t *from, int count)
{
    halves bits = {0};
    memcpy(&bits, from, count >= LANES ? sizeof bits : (size_t)count * sizeof *from);
    *v = (floats)(__builtin_convertvector(bits, words) << 16);
}

static inline void step(floats (*sums)[BLOCK], const uint16_t *const *a, const uint16_t *const *b, int rows, int k,
                        int count)
{
    floats right[BLOCK], left;
    for (int j = 0; j < BLOCK; j++)
        load(&right[j], b[j] + k, count);
    for (int i = 0; i < rows; i++) {
        load(&left, a[i] + k, count);
        for (int j = 0; j < BLOCK; j++)
            sums[i][j] += left * right[j];
    }
}

// Outputs [i][j] = a[i] . b[j]. `rows` is a constant where this is inlined, so that the sums stay in registers.
static inline __attribute__((always_inline)) void block(float (*out)[BLOCK], const uint16_t *const *a,
                                                        const uint16_t *const *b, int rows, int K)
{
    floats sums[BLOCK][BLOCK] = {{{0.0f}}};
    int k = 0;
    for (; k + LANES <= K; k += LANES)
        step(sums, a, b, rows, k, LANES);
    if (k < K)
        step(sums, a, b, rows, k, K - k);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < BLOCK; j++) {
            out[i][j] = 0.0f;
            for (int lane = 0; lane < LANES; lane++)
                out[i][j] += sums[i][j][lane];
        }
}

struct problem {
    const uint16_t *x, *w;
    uint16_t *y;
    int M, N, K;
};

// Rows m .. m + BLOCK - 1 and columns n .. n + BLOCK - 1, as far as they exist: a row or column that does not exist is
// computed as the last one, and not stored.
static void outputs(const struct problem *p, int m, int n)
{
    const uint16_t *a[BLOCK], *b[BLOCK];
    float out[BLOCK][BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        a[i] = p->x + (size_t)(m + i < p->M ? m + i : p->M - 1) * (size_t)p->K;
        b[i] = p->w + (size_t)(n + i < p->N ? n + i : p->N - 1) * (size_t)p->K;
    }
    if (m + 1 == p->M)
        block(out, a, b, 1, p->K);
    else
        block(out, a, b, BLOCK, p->K);
    for (int i = 0; i < BLOCK && m + i < p->M; i++)
        for (int j = 0; j < BLOCK && n + j < p->N; j++)
            p->y[(size_t)(m + i) * (size_t)p->N + (size_t)(n + j)] = to_bf16(out[i][j]);
}

// Columns first .. last - 1. The rows of x are small and stay in the cache; w goes by once.
static void columns(const struct problem *p, int first, int last)
{
    for (int n = first; n < last; n += BLOCK)
        for (int m = 0; m < p->M; m += BLOCK)
            outputs(p, m, n);
}

struct share {
    const struct problem *problem;
    int first, last; // columns first .. last - 1
    pthread_t thread;
    int started;
};

static void *run(void *argument)
{
    const struct share *s = argument;
    columns(s->problem, s->first, s->last);
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

void gemm(const uint16_t *x, const uint16_t *w, uint16_t *y, int M, int N, int K)
{
    const struct problem p = {x, w, y, M, N, K};
    struct share shares[MOST_THREADS];
    const int count = thread_count((long)M * N * K);
    for (int i = 0; i < count; i++)
        shares[i] = (struct share){
            .problem = &p, .first = (int)((long)N * i / count), .last = (int)((long)N * (i + 1) / count)};
    for (int i = 1; i < count; i++)
        shares[i].started = pthread_create(&shares[i].thread, NULL, run, &shares[i]) == 0;
    for (int i = 0; i < count; i++)
        if (!shares[i].started)
            run(&shares[i]);
    for (int i = 1; i < count; i++)
        if (shares[i].started)
            pthread_join(shares[i].thread, NULL);
}
