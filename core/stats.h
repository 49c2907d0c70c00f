/* Order statistics of samples. Formulas: quantile by linear interpolation (Hyndman & Fan type 7); the interval for the
 * median is the exact rank interval, from rank r to n+1-r with r the largest integer with 2 P(Bin(n,1/2) <= r-1) <=
 * alpha. */
#ifndef AKO_STATS_H
#define AKO_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ako_summary {
    size_t n;
    int64_t min, max;
    double mean, std; /* sample deviation, n-1; 0 for n < 2 */
    double median, p95;
    bool has_ci; /* false when n is too small for alpha */
    int64_t ci_low, ci_high;
    int64_t step; /* of the clock: the least difference of two samples, larger than what rounding makes of one; or 0 */
} ako_summary;

/* Summarises n >= 1 samples (ns); they are sorted in a copy. AKO_INVALID for n = 0 or alpha outside (0, 1). */
int ako_stats_summary(ako_summary *out, const int64_t *samples, size_t n, double alpha);

/* q in [0, 1] over sorted values. */
double ako_stats_quantile(const double *sorted, size_t n, double q);

/* The rank r above (1-based), or 0 when n is too small; *error is the true two-sided error of that interval (0 without
 * one). */
size_t ako_stats_rank(size_t n, double alpha, double *error);

/* Geometric mean of n >= 1 positive values. */
double ako_stats_geomean(const double *values, size_t n);

#endif
