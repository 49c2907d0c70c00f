#include "outside.h"

#include <stdlib.h>

#include "stats.h"

#define ERROR_ALLOWED 0.01
#define LEAST_SEEN 0.5 /* of the claimed saving */
#define LEAST_PAIRS 6

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

bool ako_outside_denies(const ako_outside *pairs, size_t n, double least_ns)
{
    double error, *hidden = malloc((n + 1) * sizeof *hidden), *claimed = malloc((n + 1) * sizeof *claimed);
    size_t rank = ako_stats_rank(n, ERROR_ALLOWED, &error);
    bool denied = false;
    for (size_t i = 0; hidden && claimed && i < n; i++) {
        claimed[i] = (double)(pairs[i].incumbent_ns - pairs[i].candidate_ns);
        hidden[i] = claimed[i] - (double)(pairs[i].incumbent_took_ns - pairs[i].candidate_took_ns);
    }
    if (hidden && claimed && rank > 0) {
        qsort(hidden, n, sizeof *hidden, by_value);
        qsort(claimed, n, sizeof *claimed, by_value);
        double saving = median(claimed, n);
        denied = saving > 0 && saving >= least_ns && hidden[rank - 1] > (1 - LEAST_SEEN) * saving;
    }
    free(hidden);
    free(claimed);
    return denied;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

bool ako_outside_lacks(const ako_outside *pairs, size_t n, double share)
{
    int64_t candidate = INT64_MAX, incumbent = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        candidate = lesser(candidate, pairs[i].candidate_took_ns - pairs[i].candidate_ns);
        incumbent = lesser(incumbent, pairs[i].incumbent_took_ns - pairs[i].incumbent_ns);
    }
    return n >= LEAST_PAIRS && (double)candidate < share * (double)incumbent;
}
