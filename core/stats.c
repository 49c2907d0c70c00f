#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* Where quantile q of n sorted values lies: between values `index` and `index` + 1, `fraction` of the way. */
typedef struct position {
    size_t index;
    double fraction;
} position;

static position quantile_position(size_t n, double q)
{
    double place = q * (double)(n - 1);
    size_t index = place > 0 ? (size_t)place : 0;
    if (index >= n - 1)
        return (position){n - 1, 0};
    return (position){index, place - (double)index};
}

double ako_stats_quantile(const double *sorted, size_t n, double q)
{
    position p = quantile_position(n, q);
    double low = sorted[p.index];
    return p.fraction > 0 ? low + p.fraction * (sorted[p.index + 1] - low) : low;
}

static double quantile_of_integers(const int64_t *sorted, size_t n, double q)
{
    position p = quantile_position(n, q);
    double low = (double)sorted[p.index];
    return p.fraction > 0 ? low + p.fraction * ((double)sorted[p.index + 1] - low) : low;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void mean_and_std(ako_summary *out, const int64_t *samples, size_t n)
{
    long double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += (long double)samples[i];
    long double mean = sum / (long double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((long double)samples[i] - mean) * ((long double)samples[i] - mean);
    out->mean = (double)mean;
    out->std = n < 2 ? 0 : (double)sqrtl(squares / (long double)(n - 1));
}

#define ROUNDING 2 /* CUPTI counts in steps of 32 ns and converts them, which now and then leaves one more or less */

static int64_t least_step(const int64_t *sorted, size_t n)
{
    int64_t step = 0;
    for (size_t i = 1; i < n; i++) {
        int64_t difference = sorted[i] - sorted[i - 1];
        step = difference > ROUNDING && (step == 0 || difference < step) ? difference : step;
    }
    return step;
}

int ako_stats_summary(ako_summary *out, const int64_t *samples, size_t n, double alpha)
{
    if (n == 0)
        return ako_fail(AKO_INVALID, "stats", "there are no samples to summarise");
    if (!(alpha > 0 && alpha < 1))
        return ako_fail(AKO_INVALID, "stats", "alpha %g is not between 0 and 1", alpha);
    int64_t *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return ako_fail(AKO_NOMEM, "stats", "out of memory for %zu samples", n);
    memcpy(sorted, samples, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    *out = (ako_summary){.n = n, .min = sorted[0], .max = sorted[n - 1]};
    mean_and_std(out, sorted, n);
    out->median = quantile_of_integers(sorted, n, 0.5);
    out->p95 = quantile_of_integers(sorted, n, 0.95);
    double error;
    size_t rank = ako_stats_rank(n, alpha, &error);
    out->has_ci = rank > 0;
    out->ci_low = rank ? sorted[rank - 1] : sorted[0];
    out->ci_high = rank ? sorted[n - rank] : sorted[n - 1];
    out->step = least_step(sorted, n);
    free(sorted);
    return AKO_OK;
}

/* Binomial coefficients of n relative to the largest, which lies at n / 2 rounded down: walks down from there until
 * they vanish or end. Gives the lowest k, its coefficient, and the sum over all k. */
static size_t lowest_term(size_t n, long double *term, long double *total)
{
    size_t k = n / 2;
    long double t = 1, sum = 1;
    while (k > 0) {
        long double next = t * (long double)k / (long double)(n - k + 1);
        if (next < 1e-4900L)
            break;
        t = next;
        sum += t;
        k--;
    }
    *term = t;
    *total = n % 2 ? 2 * sum : 2 * sum - 1;
    return k;
}

size_t ako_stats_rank(size_t n, double alpha, double *error)
{
    *error = 0;
    if (n == 0)
        return 0;
    long double term, total, tail = 0;
    size_t rank = lowest_term(n, &term, &total);
    for (size_t k = rank; k < n; k++) {
        tail += term;
        if (2 * tail > (long double)alpha * total)
            break;
        *error = (double)(2 * tail / total);
        rank = k + 1;
        term *= (long double)(n - k) / (long double)(k + 1);
    }
    return rank;
}

double ako_stats_geomean(const double *values, size_t n)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += logl((long double)values[i]);
    return (double)expl(sum / (long double)n);
}
