#include "outside.h"

#include <stdlib.h>

#include "stats.h"

#define ERROR_ALLOWED 0.01
#define LEAST_SEEN 0.5 /* of the claimed saving */
#define MOST_NOISE 2.0 /* in savings: with more, chance alone hides half of one */
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

static double claimed_ns(const ako_outside *pair)
{
    return (double)(pair->incumbent_ns - pair->candidate_ns);
}

/* What of a claim the outer clock does not see. */
static double hidden_ns(const ako_outside *pair)
{
    return claimed_ns(pair) - (double)(pair->incumbent_took_ns - pair->candidate_took_ns);
}

static double beside_ns(const ako_outside *pair)
{
    return (double)(pair->incumbent_took_ns - pair->incumbent_ns);
}

/* By how much requests of the incumbent that follow one another differ beside their samples, the outermost `rank`
 * left out on both sides. The candidate has no part in them. */
static double width_of_noise(double *room, const ako_outside *pairs, size_t n, size_t rank)
{
    for (size_t i = 1; i < n; i++)
        room[i - 1] = beside_ns(&pairs[i]) - beside_ns(&pairs[i - 1]);
    qsort(room, n - 1, sizeof *room, by_value);
    return room[n - 1 - rank] - room[rank - 1];
}

bool ako_outside_denies(const ako_outside *pairs, size_t n, double least_ns)
{
    double error, *room = malloc((n + 1) * sizeof *room);
    size_t rank = ako_stats_rank(n, ERROR_ALLOWED, &error);
    bool denied = false;
    if (room && rank > 0) {
        for (size_t i = 0; i < n; i++)
            room[i] = claimed_ns(&pairs[i]);
        qsort(room, n, sizeof *room, by_value);
        double saving = median(room, n);
        bool loud = saving > 0 && saving >= least_ns && width_of_noise(room, pairs, n, rank) <= MOST_NOISE * saving;
        for (size_t i = 0; i < n; i++)
            room[i] = hidden_ns(&pairs[i]);
        qsort(room, n, sizeof *room, by_value);
        denied = loud && room[rank - 1] > (1 - LEAST_SEEN) * saving;
    }
    free(room);
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
