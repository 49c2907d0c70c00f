/* The second clock, looked at closely before a candidate is kept: both arms make the same calls one after another, each
 * on a set and a view of its own, with nothing between them, and the evaluator's own clock says how long that takes.
 * Work that samples do not show (a slowed clock, work done ahead, in a pause, on another thread or stream) shows here,
 * for there is nowhere else to do it. Caches are warmer than in the samples, so an honest call is no slower. What a
 * request costs beside its calls is taken from the incumbent's. */
#include <stdio.h>

#include "error.h"
#include "sample.h"

#define TURNS 10                     /* the least of them counts: a busy machine can only lengthen one */
#define ATTEMPTS 3                   /* before it is called impossible */
#define ENOUGH_NS INT64_C(300000000) /* with long calls fewer turns do, of which a hiccup is a smaller part */
#define LONG_NS 20e6                 /* of calls so long two in a request do */
#define LONGEST_NS 1e9               /* longer calls: what a request takes says as much (series.c) */
#define SHARE 0.9                    /* of what calls take by our clock must be in their samples */
#define SHARE_ON_GPU 0.8             /* the same where clocks move more */
#define HOT_SHARE 0.25               /* the same for samples of which each has the data of the one before */
#define OWN_SHARE 0.25               /* the same by what the candidate says of the very calls that our clock sees */
#define JITTER 0.25                  /* of what a request costs beside its calls */
#define LAUNCHES 1.0                 /* the same on a GPU, where several kernels cost more to launch than one */

/* Calls of one arm, in ns a call. */
typedef struct cost {
    double took, stated;
} cost;

static int take(trial *t, arm which, int workload, rotation *r, batch *b, cost *least)
{
    series s = {0};
    int status = sample_take(t, which, workload, r, b, 0, "auto", 0, &s, NULL);
    if (status == AKO_OK && !t->ended) {
        double took = (double)s.timed_ns / b->n;
        if (least->took == 0 || took < least->took)
            *least = (cost){.took = took, .stated = series_mean(&s)};
    }
    series_free(&s);
    return status;
}

/* Whoever comes second finds the data warmer, so they change about. */
static int take_turn(trial *t, int workload, rotation *r, int turn, int launches, cost least[ARMS_OF_A_PAIR])
{
    batch b = {0};
    int status = batch_new(&b, t, r, launches);
    b.back_to_back = true;
    for (int a = 0; status == AKO_OK && !t->ended && a < ARMS_OF_A_PAIR; a++) {
        arm which = turn % 2 ? ARMS_OF_A_PAIR - 1 - a : a;
        status = take(t, which, workload, r, &b, &least[which]);
    }
    batch_free(&b);
    return status;
}

/* Every turn has contents of its own, made while the candidate stands still: of what it may have worked out before, in
 * one slow call, nothing is left to be looked up. */
static int take_turns(trial *t, int workload, rotation *r, int launches, cost least[ARMS_OF_A_PAIR])
{
    int status = AKO_OK;
    double spent = 0;
    for (int i = 0; status == AKO_OK && !t->ended && i < TURNS && (i < 2 || spent < (double)ENOUGH_NS); i++) {
        turn_give(t->ev, ARM_INCUMBENT);
        if (i > 0)
            status = rotation_prepare(t, r, workload);
        if (status == AKO_OK && !t->ended)
            status = take_turn(t, workload, r, i, launches, least);
        spent += (least[0].took + least[1].took) * launches;
    }
    return status;
}

/* What calls take may have grown with a machine that is busy, or by caches that are colder than those of the samples;
 * the incumbent's calls show by how much. */
static double stretch(const cost *incumbent, double incumbent_ns)
{
    return incumbent_ns > 0 && incumbent->stated > incumbent_ns ? incumbent->stated / incumbent_ns : 1;
}

/* The candidate's calls by our clock alone, in ns; at least, for what lies beside calls is known from the incumbent's,
 * and may be more by a share of it. */
static double at_least_ns(const cost least[ARMS_OF_A_PAIR], double share)
{
    double beside = least[ARM_INCUMBENT].took - least[ARM_INCUMBENT].stated;
    return least[ARM_CANDIDATE].took - (beside > 0 ? beside : 0) * (1 + share);
}

static double true_ns(const trial *t, const cost least[ARMS_OF_A_PAIR])
{
    return at_least_ns(least, ako_lane_place(t->unit->lane) == AKO_GPU ? LAUNCHES : JITTER);
}

/* A claim from samples that a busy CPU made long says little about calls at a quiet moment: what the candidate's clock
 * says of these calls themselves must bear it out, if only roughly. */
static bool is_borne_out(const trial *t, const cost least[ARMS_OF_A_PAIR])
{
    return ako_lane_place(t->unit->lane) == AKO_GPU ||
           at_least_ns(least, 2 * JITTER) * OWN_SHARE <= least[ARM_CANDIDATE].stated;
}

static bool is_possible(const trial *t, const cost least[ARMS_OF_A_PAIR], double claimed_ns, double incumbent_ns)
{
    double share = ako_lane_place(t->unit->lane) == AKO_GPU ? SHARE_ON_GPU : SHARE;
    share = (t->timing.flush ? share : HOT_SHARE) / stretch(&least[ARM_INCUMBENT], incumbent_ns);
    return true_ns(t, least) * share <= claimed_ns && is_borne_out(t, least);
}

static int refuse(trial *t, int workload, const cost least[ARMS_OF_A_PAIR], double claimed_ns)
{
    char reason[240];
    if (!is_borne_out(t, least) && least[ARM_CANDIDATE].stated < claimed_ns)
        claimed_ns = least[ARM_CANDIDATE].stated;
    snprintf(reason, sizeof reason,
             "calls one after another take %.4g us each by the evaluator's clock, more than the %.4g us of the samples",
             true_ns(t, least) / 1e3, claimed_ns / 1e3);
    return trial_end_workload(t, workload, "UNTRUSTED_TIMING", "T4", reason);
}

static int take_attempt(trial *t, int workload, int launches, cost least[ARMS_OF_A_PAIR])
{
    rotation r = {0};
    bool flush = t->timing.flush;
    t->timing.flush = true; /* a view for each call */
    int status = rotation_prepare(t, &r, workload);
    if (status == AKO_OK && !t->ended)
        status = take_turns(t, workload, &r, launches, least);
    if (status == AKO_OK && !t->ended)
        status = sample_check_sets(t, &r, workload);
    t->timing.flush = flush;
    rotation_free(&r);
    return status;
}

int audit(trial *t, int workload, double claimed_ns, double incumbent_ns)
{
    cost least[ARMS_OF_A_PAIR] = {{0}};
    int launches = incumbent_ns > LONG_NS && t->n_sets > 2 ? 2 : t->n_sets;
    if (incumbent_ns > LONGEST_NS)
        return AKO_OK;
    for (int i = 0; i < ATTEMPTS; i++) {
        int status = take_attempt(t, workload, launches, least);
        if (status != AKO_OK || t->ended || is_possible(t, least, claimed_ns, incumbent_ns))
            return status;
    }
    return refuse(t, workload, least, claimed_ns);
}
