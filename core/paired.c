#include "paired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "stats.h"

static const char *const score_names[] = {"geomean", "total", "worst"};
static const char *const verdict_names[] = {"go_on", "keep", "revert", "inconclusive", "unstable"};

int ako_score_parse(ako_score *out, const char *name)
{
    for (size_t i = 0; i < sizeof score_names / sizeof *score_names; i++) {
        if (strcmp(score_names[i], name) == 0) {
            *out = (ako_score)i;
            return AKO_OK;
        }
    }
    return ako_fail(AKO_INVALID, "paired", "unknown score '%s': geomean, total or worst", name);
}

const char *ako_score_name(ako_score score)
{
    return score_names[score];
}

const char *ako_paired_verdict_name(ako_paired_verdict verdict)
{
    return verdict_names[verdict];
}

static int check_looks(const ako_paired_plan *plan)
{
    if (plan->n_looks < 1 || plan->n_looks > AKO_LOOKS)
        return ako_fail(AKO_INVALID, "paired", "%d looks: there are 1 to %d", plan->n_looks, AKO_LOOKS);
    for (int i = 0; i < plan->n_looks; i++) {
        if (plan->looks[i] <= (i > 0 ? plan->looks[i - 1] : 0))
            return ako_fail(AKO_INVALID, "paired", "looks: %d pairs at look %d are not more than before it",
                            plan->looks[i], i + 1);
    }
    return AKO_OK;
}

int ako_paired_plan_check(const ako_paired_plan *plan)
{
    const struct {
        const char *name;
        double value;
    } shares[] = {
        {"clock_pair", plan->clock_pair}, {"clock_run", plan->clock_run},       {"most_dropped", plan->most_dropped},
        {"one_sided", plan->one_sided},   {"order_effect", plan->order_effect}, {"correlation", plan->correlation},
    };
    int status = check_looks(plan);
    if (status != AKO_OK)
        return status;
    if (!(plan->alpha > 0 && plan->alpha < 1))
        return ako_fail(AKO_INVALID, "paired", "alpha %g is not between 0 and 1", plan->alpha);
    if (!(plan->threshold >= 0 && plan->threshold < 1))
        return ako_fail(AKO_INVALID, "paired", "threshold %g is not a share from 0 to below 1", plan->threshold);
    if (!(plan->resolution >= 0 && plan->threshold + plan->resolution < 1))
        return ako_fail(AKO_INVALID, "paired", "steps of %g of a sample are too coarse a clock", plan->resolution);
    if ((unsigned)plan->score > AKO_SCORE_WORST)
        return ako_fail(AKO_INVALID, "paired", "unknown score %d", (int)plan->score);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        if (!(shares[i].value >= 0 && shares[i].value <= 1))
            return ako_fail(AKO_INVALID, "paired", "%s %g is not a share from 0 to 1", shares[i].name, shares[i].value);
    }
    return AKO_OK;
}

/* What has been measured, and room to judge it. */
typedef struct rounds {
    const ako_paired_plan *plan;
    const ako_pair *const *pairs;
    const double *weights;
    int n_workloads;
    size_t n;
    bool *dropped;  /* by round */
    double *d;      /* of the rounds that are left, in order */
    double *sorted; /* room for 2 n values */
    size_t left;
} rounds;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return ako_stats_quantile(values, n, 0.5);
}

static bool has_clocks(const ako_pair *pair)
{
    return pair->a_mhz > 0 && pair->b_mhz > 0;
}

/* Whether the two clocks are further apart than `share` of their mean: -1 when the candidate's is the lower one. */
static int differs(const ako_pair *pair, double share)
{
    double gap = pair->b_mhz - pair->a_mhz, mean = (pair->a_mhz + pair->b_mhz) / 2.0;
    if (share <= 0 || !has_clocks(pair) || fabs(gap) <= share * mean)
        return 0;
    return gap < 0 ? -1 : 1;
}

static double median_clock(const rounds *r, const ako_pair *pairs)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (has_clocks(&pairs[i])) {
            r->sorted[n++] = pairs[i].a_mhz;
            r->sorted[n++] = pairs[i].b_mhz;
        }
    }
    return n > 0 ? median(r->sorted, n) : 0;
}

static bool is_far(const ako_pair *pair, double clock, double share)
{
    if (share <= 0 || !has_clocks(pair))
        return false;
    return fabs(pair->a_mhz - clock) > share * clock || fabs(pair->b_mhz - clock) > share * clock;
}

static bool too_many(const rounds *r, size_t dropped)
{
    return r->plan->most_dropped > 0 && (double)dropped > r->plan->most_dropped * (double)r->n;
}

/* Whether the candidate itself moves the clock on this workload: its differing pairs have one sign. A few pairs with
 * one sign are chance, so either a sign test must say that they are not, or they are too many to be dropped. */
static bool moves_clock(const rounds *r, const ako_pair *pairs)
{
    const ako_paired_plan *plan = r->plan;
    size_t lower = 0, higher = 0;
    for (size_t i = 0; i < r->n; i++) {
        int sign = differs(&pairs[i], plan->clock_pair);
        lower += sign < 0;
        higher += sign > 0;
    }
    size_t all = lower + higher, most = lower > higher ? lower : higher;
    if (plan->one_sided <= 0 || all == 0 || (double)most <= plan->one_sided * (double)all)
        return false;
    double error;
    return all - most < ako_stats_rank(all, plan->alpha, &error) || too_many(r, all);
}

/* Marks the rounds that this workload's clocks drop. True when the candidate moves the clock. */
static bool drop_by_clock(rounds *r, const ako_pair *pairs)
{
    const ako_paired_plan *plan = r->plan;
    double clock = median_clock(r, pairs);
    bool coupled = moves_clock(r, pairs);
    for (size_t i = 0; i < r->n; i++) {
        if (differs(&pairs[i], plan->clock_pair) != 0)
            r->dropped[i] |= !coupled;
        else
            r->dropped[i] |= is_far(&pairs[i], clock, plan->clock_run);
    }
    return coupled;
}

static double log_ratio(const ako_pair *pair)
{
    return log((double)pair->b_ns / (double)pair->a_ns);
}

/* D of round i: the workloads' log ratios as one. */
static double score_of(const rounds *r, size_t i)
{
    double logs = 0, weights = 0, a = 0, b = 0, worst = -INFINITY;
    for (int w = 0; w < r->n_workloads; w++) {
        const ako_pair *pair = &r->pairs[w][i];
        double weight = r->weights[w], d = log_ratio(pair);
        logs += weight * d;
        weights += weight;
        a += weight * (double)pair->a_ns;
        b += weight * (double)pair->b_ns;
        if (d > worst)
            worst = d;
    }
    if (r->n_workloads == 1 || r->plan->score == AKO_SCORE_WORST)
        return worst;
    return r->plan->score == AKO_SCORE_TOTAL ? log(b / a) : logs / weights;
}

static void compute_d(rounds *r)
{
    r->left = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (!r->dropped[i])
            r->d[r->left++] = score_of(r, i);
    }
}

static double lag1(const double *d, size_t n)
{
    double rest = 0, squares = 0, products = 0;
    for (size_t i = 1; i < n; i++)
        rest += d[i] - d[0];
    double mean = n > 0 ? d[0] + rest / (double)n : 0; /* of equal values exactly theirs, which leaves squares of 0 */
    for (size_t i = 0; i < n; i++) {
        squares += (d[i] - mean) * (d[i] - mean);
        if (i > 0)
            products += (d[i] - mean) * (d[i - 1] - mean);
    }
    return squares > 0 ? products / squares : 0;
}

/* How far the medians of the rounds that began with A and of those that began with B are apart. */
static double order_effect(const rounds *r)
{
    double medians[2];
    for (size_t order = 0; order < 2; order++) {
        size_t n = 0, left = 0;
        for (size_t i = 0; i < r->n; i++) {
            if (r->dropped[i])
                continue;
            if (i % 2 == order)
                r->sorted[n++] = r->d[left];
            left++;
        }
        if (n == 0)
            return 0;
        medians[order] = median(r->sorted, n);
    }
    return fabs(medians[0] - medians[1]);
}

typedef struct estimate {
    double median, low, high; /* of D */
    bool has_interval;
} estimate;

/* The median of D and its rank interval. Of correlated values n tell as much as n / 2 independent ones, so that the
 * interval is then as wide as that of n / 2: the same quantiles. */
static estimate estimate_of(const rounds *r, bool correlated)
{
    estimate e = {0};
    size_t n = r->left;
    if (n == 0)
        return e;
    memcpy(r->sorted, r->d, n * sizeof *r->d);
    e.median = median(r->sorted, n);
    double error, alpha = r->plan->alpha / r->plan->n_looks;
    size_t rank = ako_stats_rank(correlated ? n / 2 : n, alpha, &error);
    if (rank == 0)
        return e;
    if (correlated)
        rank = rank * (n + 1) / (n / 2 + 1);
    e.has_interval = true;
    e.low = r->sorted[rank - 1];
    e.high = r->sorted[n - rank];
    return e;
}

static ako_gain gain_of(const estimate *e, size_t n)
{
    ako_gain gain = {.n = n, .gain = -expm1(e->median), .has_interval = e->has_interval};
    if (e->has_interval) {
        gain.low = -expm1(e->high);
        gain.high = -expm1(e->low);
    }
    return gain;
}

static ako_paired_verdict verdict_of(const ako_paired_plan *plan, const estimate *e)
{
    double enough = log(1 - plan->threshold - plan->resolution);
    if (!e->has_interval)
        return AKO_PAIRED_GO_ON;
    if (e->median <= enough && (plan->strict ? e->high <= enough : e->high < 0))
        return AKO_PAIRED_KEEP;
    return e->low > enough ? AKO_PAIRED_REVERT : AKO_PAIRED_GO_ON;
}

static int look_reached(const ako_paired_plan *plan, size_t n)
{
    int look = -1;
    while (look + 1 < plan->n_looks && (size_t)plan->looks[look + 1] <= n)
        look++;
    return look;
}

static void judge(ako_paired_result *out, rounds *r, bool last)
{
    const ako_paired_plan *plan = r->plan;
    int look = look_reached(plan, r->n);
    bool end = last || look == plan->n_looks - 1;
    bool is_look = end || (look >= 0 && (size_t)plan->looks[look] == r->n);
    *out = (ako_paired_result){.look = look, .pairs = r->n};
    for (int w = 0; w < r->n_workloads; w++)
        out->clock_coupled |= drop_by_clock(r, r->pairs[w]);
    compute_d(r);
    out->dropped = r->n - r->left;
    out->lag1 = lag1(r->d, r->left);
    out->correlated = plan->correlation > 0 && out->lag1 > plan->correlation;
    out->order_effect = plan->order_effect > 0 && order_effect(r) > plan->order_effect;
    estimate e = estimate_of(r, out->correlated);
    out->score = gain_of(&e, r->left);
    if (look >= 0 && is_look && too_many(r, out->dropped))
        out->verdict = AKO_PAIRED_UNSTABLE;
    else if (look >= 0 && (end || (is_look && !(out->correlated && r->n / 2 < (size_t)plan->looks[0]))))
        out->verdict = verdict_of(plan, &e);
    if (out->verdict == AKO_PAIRED_GO_ON && end)
        out->verdict = AKO_PAIRED_INCONCLUSIVE;
}

static int check_pairs(const ako_pair *const *pairs, const double *weights, int n_workloads, size_t n)
{
    double sum = 0;
    if (n == 0 || n_workloads < 1)
        return ako_fail(AKO_INVALID, "paired", "there are no pairs to judge");
    for (int w = 0; w < n_workloads; w++) {
        if (!(weights[w] >= 0 && weights[w] < INFINITY))
            return ako_fail(AKO_INVALID, "paired", "the weight of workload %d is %g", w + 1, weights[w]);
        sum += weights[w];
        for (size_t i = 0; i < n; i++) {
            if (pairs[w][i].a_ns <= 0 || pairs[w][i].b_ns <= 0)
                return ako_fail(AKO_INVALID, "paired", "pair %zu of workload %d has a time that is not above 0", i + 1,
                                w + 1);
        }
    }
    if (!(sum > 0 && sum < INFINITY))
        return ako_fail(AKO_INVALID, "paired", "the weights of the workloads sum up to %g", sum);
    return AKO_OK;
}

int ako_paired_look(ako_paired_result *out, const ako_paired_plan *plan, const ako_pair *const *pairs,
                    const double *weights, int n_workloads, size_t n, bool last)
{
    int status = ako_paired_plan_check(plan);
    if (status == AKO_OK)
        status = check_pairs(pairs, weights, n_workloads, n);
    if (status != AKO_OK)
        return status;
    rounds r = {.plan = plan, .pairs = pairs, .weights = weights, .n_workloads = n_workloads, .n = n};
    r.d = malloc(3 * n * sizeof *r.d);
    r.dropped = calloc(n, sizeof *r.dropped);
    if (r.d && r.dropped) {
        r.sorted = r.d + n;
        judge(out, &r, last);
    } else {
        status = ako_fail(AKO_NOMEM, "paired", "out of memory for %zu pairs", n);
    }
    free(r.d);
    free(r.dropped);
    return status;
}

int ako_paired_gain(ako_gain *out, const ako_paired_plan *plan, const ako_pair *pairs, size_t n)
{
    ako_paired_result result;
    int status = ako_paired_look(&result, plan, &pairs, &(const double){1}, 1, n, true);
    if (status == AKO_OK)
        *out = result.score;
    return status;
}
