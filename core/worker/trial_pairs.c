/* The paired decision: candidate and incumbent in turn, in processes of their own, on the same buffers and the same
 * views of them. Each look starts with fresh contents. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "error.h"
#include "outside.h"
#include "pack.h"
#include "sample.h"
#include "stats.h"
#include "surroundings.h"

#define COARSEST 0.5    /* steps of the clock: more is no measurement */
#define FLUSH_SHARE 0.2 /* of what lies beside the incumbent's calls: a busy memory gives 0.5, no flush 0.01 */

typedef struct comparison {
    trial *t;
    int n_workloads, most;  /* most: pairs of the last look */
    size_t done;            /* pairs measured of each workload */
    ako_pair **pairs;       /* [workload][pair] */
    ako_outside **outsides; /* likewise */
    int *launches;          /* of a sample, by workload; 0: not known yet */
    double *weights;
    series (*series)[ARMS_OF_A_PAIR]; /* [workload] */
    int64_t pairs_ns;                 /* wall time of the pairs so far, without what comes before them */
    bool hopeless;
    bool spent; /* the budget ended it */
} comparison;

static int allocate(comparison *c, trial *t)
{
    size_t n = (size_t)t->ev->task->n_workloads;
    const ako_paired_plan *plan = &t->pairs.plan;
    *c = (comparison){.t = t, .n_workloads = (int)n, .most = plan->looks[plan->n_looks - 1]};
    c->pairs = calloc(n, sizeof *c->pairs);
    c->outsides = calloc(n, sizeof *c->outsides);
    c->launches = calloc(n, sizeof *c->launches);
    c->weights = calloc(n, sizeof *c->weights);
    c->series = calloc(n, sizeof *c->series);
    bool good = c->pairs && c->outsides && c->launches && c->weights && c->series;
    for (size_t w = 0; good && w < n; w++) {
        c->pairs[w] = calloc((size_t)c->most, sizeof **c->pairs);
        c->outsides[w] = calloc((size_t)c->most, sizeof **c->outsides);
        c->weights[w] = t->ev->task->workloads[w].weight;
        good = c->pairs[w] && c->outsides[w];
    }
    return good ? AKO_OK : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
}

static void release(comparison *c)
{
    for (int w = 0; w < c->n_workloads; w++) {
        if (c->pairs)
            free(c->pairs[w]);
        if (c->outsides)
            free(c->outsides[w]);
        for (int a = 0; c->series && a < ARMS_OF_A_PAIR; a++)
            series_free(&c->series[w][a]);
    }
    free(c->pairs);
    free(c->outsides);
    free(c->launches);
    free(c->weights);
    free(c->series);
}

/* One sample of each arm that counts for nothing but its duration: both are warm afterwards. */
static int warm_up(comparison *c, rotation *r, int workload)
{
    trial *t = c->t;
    int64_t least = 0;
    int status = AKO_OK;
    for (int a = 0; status == AKO_OK && !t->ended && a < ARMS_OF_A_PAIR; a++) {
        batch b = {0};
        series discarded = {0};
        sample s = {0};
        status = batch_new(&b, t, r, t->n_sets);
        b.discarded = true;
        if (status == AKO_OK)
            status = sample_take(t, a, workload, r, &b, t->timing.warmup, "auto", 0, &discarded, &s);
        least = a == 0 || s.median_ns < least ? s.median_ns : least;
        series_free(&discarded);
        batch_free(&b);
    }
    c->launches[workload] = sample_launches(t, least);
    return status;
}

/* Even pairs have the incumbent first, odd ones the candidate. */
static arm arm_of_turn(size_t i, int turn)
{
    return (i % 2 == 0) == (turn == 0) ? ARM_INCUMBENT : ARM_CANDIDATE;
}

static int take_pair(comparison *c, rotation *r, int workload, size_t i, int expected)
{
    trial *t = c->t;
    batch b = {0};
    sample taken[ARMS_OF_A_PAIR] = {{.keep_seen = true}, {.keep_seen = true}};
    int status = batch_new(&b, t, r, c->launches[workload]);
    for (int turn = 0; status == AKO_OK && !t->ended && turn < ARMS_OF_A_PAIR; turn++) {
        arm which = arm_of_turn(i, turn);
        status =
            sample_take(t, which, workload, r, &b, 0, "auto", expected, &c->series[workload][which], &taken[which]);
    }
    if (status == AKO_OK && !t->ended)
        status = arms_compare(t, &(two_turns){.first = arm_of_turn(i, 0),
                                              .last = arm_of_turn(i, 1),
                                              .workload = workload,
                                              .batch = &b,
                                              .taken = taken});
    c->pairs[workload][i] = (ako_pair){.a_ns = taken[ARM_INCUMBENT].median_ns,
                                       .b_ns = taken[ARM_CANDIDATE].median_ns,
                                       .a_mhz = taken[ARM_INCUMBENT].mhz,
                                       .b_mhz = taken[ARM_CANDIDATE].mhz};
    c->outsides[workload][i] = (ako_outside){.candidate_ns = taken[ARM_CANDIDATE].sum_ns,
                                             .incumbent_ns = taken[ARM_INCUMBENT].sum_ns,
                                             .candidate_took_ns = taken[ARM_CANDIDATE].took_ns,
                                             .incumbent_took_ns = taken[ARM_INCUMBENT].took_ns};
    for (int a = 0; a < ARMS_OF_A_PAIR; a++)
        json_decref(taken[a].seen);
    batch_free(&b);
    return status;
}

/* Twice in a row, so that one hiccup condemns nobody. */
static bool is_hopeless(const comparison *c, int workload, size_t i)
{
    double most = c->t->pairs.hopeless;
    const ako_pair *p = c->pairs[workload];
    return most > 0 && i == 1 && (double)p[0].b_ns > most * (double)p[0].a_ns &&
           (double)p[1].b_ns > most * (double)p[1].a_ns;
}

static int take_pairs(comparison *c, int workload, size_t until)
{
    trial *t = c->t;
    rotation r = {0};
    int status = rotation_prepare(t, &r, workload);
    if (status == AKO_OK && !t->ended && c->launches[workload] == 0)
        status = warm_up(c, &r, workload);
    int64_t start = ako_clock_ns();
    for (size_t i = c->done; status == AKO_OK && !t->ended && !c->hopeless && i < until; i++) {
        status = take_pair(c, &r, workload, i, (int)(until - i - 1));
        c->hopeless = is_hopeless(c, workload, i);
    }
    c->pairs_ns += ako_clock_ns() - start;
    if (status == AKO_OK && !t->ended)
        status = sample_check_sets(t, &r, workload);
    rotation_free(&r);
    return status;
}

/* Whether the time that is left does not suffice for `more` pairs as those so far. */
static bool is_beyond_budget(const comparison *c, int more)
{
    int64_t each = c->done ? c->pairs_ns / (int64_t)c->done : 0;
    return c->t->pairs.budget_ns > 0 && c->pairs_ns + each * more > c->t->pairs.budget_ns;
}

/* What one step of the arms' clock makes of the median: a gain no larger than that may be none. */
static double step_share(const comparison *c, int workload)
{
    double share = 0;
    for (int a = 0; a < ARMS_OF_A_PAIR; a++) {
        double own = series_step_share(c->t, &c->series[workload][a]);
        share = own > share ? own : share;
    }
    return share;
}

/* Of the score: by the workloads' weights, for the worst of them the largest. */
static double resolution(const comparison *c)
{
    double sum = 0, weights = 0, most = 0;
    for (int w = 0; w < c->n_workloads; w++) {
        double share = step_share(c, w);
        sum += c->weights[w] * share;
        weights += c->weights[w];
        most = share > most ? share : most;
    }
    double share = c->t->pairs.plan.score == AKO_SCORE_WORST || weights <= 0 ? most : sum / weights;
    return share < COARSEST ? share : COARSEST;
}

static int look(comparison *c, ako_paired_result *result, int index)
{
    ako_paired_plan *plan = &c->t->pairs.plan;
    bool last = index + 1 == plan->n_looks;
    plan->resolution = resolution(c);
    c->spent = !last && is_beyond_budget(c, plan->looks[index + 1] - plan->looks[index]);
    last = last || c->spent;
    return ako_paired_look(result, plan, (const ako_pair *const *)c->pairs, c->weights, c->n_workloads, c->done, last);
}

static int decide(comparison *c, ako_paired_result *result)
{
    trial *t = c->t;
    const ako_paired_plan *plan = &t->pairs.plan;
    int status = AKO_OK;
    for (int i = 0; i < plan->n_looks && result->verdict == AKO_PAIRED_GO_ON; i++) {
        for (int w = 0; status == AKO_OK && !t->ended && !c->hopeless && w < c->n_workloads; w++)
            status = take_pairs(c, w, (size_t)plan->looks[i]);
        if (status != AKO_OK || t->ended || c->hopeless)
            return status;
        c->done = (size_t)plan->looks[i];
        status = look(c, result, i);
        if (status != AKO_OK)
            return status;
        evaluator_progress(t->ev, "pairs", (int)c->done, c->most);
    }
    return status;
}

static json_t *pack_interval(const ako_gain *gain)
{
    return gain->has_interval ? json_pack("[f, f]", gain->low, gain->high) : json_null();
}

static void append(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *out, size_t size, const char *format, ...)
{
    va_list args;
    size_t used = strlen(out);
    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

/* Faster by x % means, here as everywhere, that the speed-up is 1 + x/100. */
static double percent(double gain)
{
    return 100 * (1 / (1 - gain) - 1);
}

/* A threshold is a share of the time, and is shown in the unit of what it is held against. */
static void append_threshold(char *out, size_t size, const ako_paired_plan *plan)
{
    double shown = percent(plan->threshold + plan->resolution);
    append(out, size, ", threshold %.*g %%", shown < 10 ? 2 : 3, shown);
    if (plan->resolution >= 0.1 * plan->threshold)
        append(out, size, " (%.2g %% of it a step of the clock)", 100 * plan->resolution);
}

static void describe(char *out, size_t size, const comparison *c, const ako_paired_result *r)
{
    const ako_paired_plan *plan = &c->t->pairs.plan;
    const ako_gain *g = &r->score;
    out[0] = '\0';
    if (r->verdict == AKO_PAIRED_UNSTABLE) {
        append(out, size, "%zu of %zu pairs were taken at clocks that differ", r->dropped, r->pairs);
        return;
    }
    append(out, size, "%.2f %% %s", fabs(percent(g->gain)), g->gain >= 0 ? "faster" : "slower");
    if (g->has_interval)
        append(out, size, ", interval %.2f..%.2f %%", percent(g->low), percent(g->high));
    append(out, size, ", %zu pairs", r->pairs);
    if (r->verdict == AKO_PAIRED_KEEP)
        return;
    append_threshold(out, size, plan);
    if (r->verdict == AKO_PAIRED_INCONCLUSIVE && c->spent)
        append(out, size, "; ended after %zu of %d pairs by the %.3g s for them", r->pairs, c->most,
               (double)c->t->pairs.budget_ns / 1e9);
    if (r->verdict == AKO_PAIRED_INCONCLUSIVE && r->correlated)
        append(out, size, "; neighbouring pairs are alike, which needs twice as many");
}

static int put_result(comparison *c, const ako_paired_result *r)
{
    char reason[400];
    describe(reason, sizeof reason, c, r);
    return pack_into(c->t->answer,
                     json_pack("{s:{s:s, s:s, s:i, s:i, s:i, s:f, s:o, s:f, s:b, s:b, s:b, s:f, s:s}}", "paired",
                               "verdict", ako_paired_verdict_name(r->verdict), "reason", reason, "look", r->look,
                               "pairs", (int)r->pairs, "dropped", (int)r->dropped, "gain", r->score.gain, "interval",
                               pack_interval(&r->score), "threshold",
                               c->t->pairs.plan.threshold + c->t->pairs.plan.resolution, "order_effect",
                               r->order_effect, "clock_coupled", r->clock_coupled, "correlated", r->correlated, "lag1",
                               r->lag1, "timer", c->series[0][ARM_CANDIDATE].timer));
}

static json_t *column(const comparison *c, int workload, arm which, bool clock)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->done; i++) {
        const ako_pair *p = &c->pairs[workload][i];
        int64_t value =
            clock ? (which == ARM_INCUMBENT ? p->a_mhz : p->b_mhz) : (which == ARM_INCUMBENT ? p->a_ns : p->b_ns);
        json_array_append_new(list, json_integer((json_int_t)value));
    }
    return list;
}

static int put_workload(comparison *c, int workload)
{
    ako_gain gain;
    const series *s = c->series[workload];
    int status = ako_paired_gain(&gain, &c->t->pairs.plan, c->pairs[workload], c->done);
    return status == AKO_OK
               ? pack_into(json_array_get(c->t->workloads, (size_t)workload),
                           json_pack("{s:{s:i, s:f, s:o, s:i, s:o, s:o, s:o, s:o, s:O, s:O, s:i, s:I, s:I}}", "paired",
                                     "n", (int)gain.n, "gain", gain.gain, "interval", pack_interval(&gain), "launches",
                                     c->launches[workload], "candidate_ns", column(c, workload, ARM_CANDIDATE, false),
                                     "incumbent_ns", column(c, workload, ARM_INCUMBENT, false), "candidate_mhz",
                                     column(c, workload, ARM_CANDIDATE, true), "incumbent_mhz",
                                     column(c, workload, ARM_INCUMBENT, true), "candidate_samples_ns",
                                     s[ARM_CANDIDATE].samples, "incumbent_samples_ns", s[ARM_INCUMBENT].samples,
                                     "verified", s[ARM_CANDIDATE].verified, "request_ns",
                                     (json_int_t)(s[ARM_CANDIDATE].timed_ns + s[ARM_INCUMBENT].timed_ns), "proof_ns",
                                     (json_int_t)(s[ARM_CANDIDATE].proof_ns + s[ARM_INCUMBENT].proof_ns)))
               : status;
}

static int put_glances(comparison *c, int workload)
{
    json_t *paired = json_object_get(json_array_get(c->t->workloads, (size_t)workload), "paired");
    return surroundings_put(paired, &c->series[workload][ARM_CANDIDATE], &c->series[workload][ARM_INCUMBENT]);
}

/* Both arms' clocks are looked at; the incumbent's figure is as good a place for a cheat as the candidate's. */
static int judge_series(comparison *c)
{
    int status = AKO_OK;
    for (int w = 0; status == AKO_OK && !c->t->ended && w < c->n_workloads; w++)
        for (int a = 0; status == AKO_OK && !c->t->ended && a < ARMS_OF_A_PAIR; a++)
            status = series_judge(c->t, &c->series[w][a], w);
    for (int w = 0; status == AKO_OK && !c->t->ended && c->t->timing.flush && w < c->n_workloads; w++)
        if (ako_outside_lacks(c->outsides[w], c->done, FLUSH_SHARE))
            status = trial_end_workload(c->t, w, "UNTRUSTED_TIMING", "T10",
                                        "requests take less than the cache flushes between their calls would");
    return status;
}

/* A candidate that was given up at its first launches has their figures and no others. */
static int put_hopeless(comparison *c)
{
    const ako_pair *p = NULL;
    trial *t = c->t;
    int slow = 0, status = AKO_OK;
    for (int w = 0; w < c->n_workloads; w++)
        if (c->launches[w] > 0)
            p = &c->pairs[slow = w][1];
    if (!p)
        return AKO_OK;
    char reason[200];
    double times = (double)p->b_ns / (double)p->a_ns;
    snprintf(reason, sizeof reason, "%.1f times as slow as the best at its first launches", times);
    status = pack_into(t->answer, json_pack("{s:{s:s, s:s, s:i, s:i, s:i, s:f, s:n, s:s}}", "paired", "verdict",
                                            "revert", "reason", reason, "look", -1, "pairs", 2, "dropped", 0, "gain",
                                            1 - times, "interval", "timer", c->series[slow][ARM_CANDIDATE].timer));
    return status == AKO_OK ? series_put(t, &c->series[slow][ARM_CANDIDATE], slow, "time") : status;
}

static int median_of(double *out, const comparison *c, int workload, arm which)
{
    ako_summary sum;
    int64_t *values = malloc((c->done + 1) * sizeof *values);
    for (size_t i = 0; values && i < c->done; i++)
        values[i] = which == ARM_INCUMBENT ? c->pairs[workload][i].a_ns : c->pairs[workload][i].b_ns;
    int status = values ? ako_stats_summary(&sum, values, c->done, c->t->timing.alpha)
                        : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    *out = status == AKO_OK ? sum.median : 0;
    free(values);
    return status;
}

/* Nobody is kept by the word of a clock that the candidate's own process reads. */
static int audit_all(comparison *c)
{
    int status = AKO_OK;
    for (int w = 0; status == AKO_OK && !c->t->ended && w < c->n_workloads; w++) {
        double claimed, incumbent;
        if (ako_outside_denies(c->outsides[w], c->done, (double)c->t->ev->calibration.fixed_ns))
            return trial_end_workload(c->t, w, "UNTRUSTED_TIMING", "T4",
                                      "the evaluator's clock sees less than half of the gain that the samples claim");
        status = median_of(&claimed, c, w, ARM_CANDIDATE);
        if (status == AKO_OK)
            status = median_of(&incumbent, c, w, ARM_INCUMBENT);
        if (status == AKO_OK)
            status = audit(c->t, w, claimed, incumbent);
    }
    return status;
}

int trial_compare(trial *t, bool *hopeless)
{
    comparison c;
    ako_paired_result result = {.verdict = AKO_PAIRED_GO_ON};
    int status = allocate(&c, t);
    if (status == AKO_OK)
        status = decide(&c, &result);
    if (status == AKO_OK && !t->ended && c.hopeless)
        status = put_hopeless(&c);
    if (status == AKO_OK && !t->ended && !c.hopeless)
        status = judge_series(&c);
    if (status == AKO_OK && !t->ended && !c.hopeless && result.verdict == AKO_PAIRED_KEEP)
        status = audit_all(&c);
    if (status == AKO_OK && !t->ended && !c.hopeless)
        status = put_result(&c, &result);
    for (int w = 0; status == AKO_OK && !t->ended && !c.hopeless && w < c.n_workloads; w++)
        status = put_workload(&c, w);
    for (int w = 0; status == AKO_OK && !t->ended && !c.hopeless && w < c.n_workloads; w++)
        status = put_glances(&c, w);
    turn_allow(t->ev, ARM_INCUMBENT);
    *hopeless = c.hopeless;
    release(&c);
    return status;
}
