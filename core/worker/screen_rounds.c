#include <math.h>
#include <stdlib.h>

#include "error.h"
#include "screen.h"

static void forget_those_that_left(field *f)
{
    int n = 0;
    for (int i = 0; i < f->n; i++)
        if (screen_is_live(f->live[i]))
            f->live[n++] = f->live[i];
    f->n = n;
}

/* New contents once the views may run out. */
static int renew(field *f, rotation *r, int workload)
{
    trial *t = &f->screening->base;
    if (r->step && rotation_has(r, 4)) /* a batch and a warm-up, twice */
        return AKO_OK;
    return rotation_prepare(t, r, workload);
}

/* Whose fault damaged buffers are is known only when one candidate alone has run on them: which is so here. */
static int check_alone(field *f, entrant *e, rotation *r, int workload)
{
    screening *s = f->screening;
    int status = screen_settle(s, e, sample_check_sets(&e->trial, r, workload));
    return status == AKO_OK && !s->base.ended ? rotation_prepare(&s->base, r, workload) : status;
}

/* A sample that counts for nothing but its duration, on contents of its own. */
static int try_out(field *f, trial *t, rotation *r, int workload, int64_t *ns)
{
    batch b = {0};
    series discarded = {0};
    sample taken = {0};
    int status = renew(f, r, workload);
    if (status == AKO_OK && !f->screening->base.ended)
        status = batch_new(&b, t, r, t->n_sets);
    b.discarded = true;
    if (status == AKO_OK && !f->screening->base.ended)
        status = sample_take(t, t->own, workload, r, &b, t->timing.warmup, "auto", 0, &discarded, &taken);
    *ns = taken.median_ns;
    series_free(&discarded);
    batch_free(&b);
    return status;
}

/* Twice in a row, so that one hiccup condemns nobody. */
static int drop_if_hopeless(field *f, entrant *e, rotation *r, int workload, int64_t incumbent_ns)
{
    screening *s = f->screening;
    double most = s->plan.hopeless * (double)incumbent_ns;
    int64_t again = 0;
    if (most <= 0 || (double)e->first_ns[workload] <= most)
        return AKO_OK;
    int status = screen_settle(s, e, try_out(f, &e->trial, r, workload, &again));
    if (status != AKO_OK || s->base.ended || !screen_is_live(e) || (double)again <= most)
        return status;
    e->times_slower = (double)(again < e->first_ns[workload] ? again : e->first_ns[workload]) / (double)incumbent_ns;
    screen_leave(e, "hopeless");
    return AKO_OK;
}

/* The better of two: a hiccup of the incumbent's would make nobody hopeless. */
static int try_incumbent(field *f, rotation *r, int workload, int64_t *ns)
{
    trial *t = &f->screening->base;
    int64_t again = 0;
    int status = try_out(f, t, r, workload, ns);
    if (status == AKO_OK && !t->ended)
        status = try_out(f, t, r, workload, &again);
    *ns = again > 0 && again < *ns ? again : *ns;
    return status;
}

/* Everybody's first launches: all are warm afterwards, and what is far too slow or damages its buffers is gone. */
static int warm_up(field *f, rotation *r, int workload)
{
    screening *s = f->screening;
    int64_t incumbent_ns = 0, least;
    int status = try_incumbent(f, r, workload, &incumbent_ns);
    least = incumbent_ns;
    for (int i = 0; status == AKO_OK && !s->base.ended && i < f->n; i++) {
        entrant *e = f->live[i];
        status = screen_settle(s, e, try_out(f, &e->trial, r, workload, &e->first_ns[workload]));
        if (status == AKO_OK && !s->base.ended && screen_is_live(e))
            status = drop_if_hopeless(f, e, r, workload, incumbent_ns);
        if (status == AKO_OK && !s->base.ended && screen_is_live(e))
            status = check_alone(f, e, r, workload);
        else if (status == AKO_OK && !s->base.ended)
            status = rotation_prepare(&s->base, r, workload);
        if (screen_is_live(e) && e->first_ns[workload] < least)
            least = e->first_ns[workload];
    }
    f->launches[workload] = sample_launches(&s->base, least);
    forget_those_that_left(f);
    return status;
}

/* A random order of the live ones and, as the number n, the incumbent. */
static void shuffle(int *order, int n)
{
    for (int i = 0; i <= n; i++)
        order[i] = i;
    for (int i = n; i > 0; i--) {
        int j = (int)(random_bits() % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static int take_turn(field *f, rotation *r, batch *b, int workload, int round, int who)
{
    screening *s = f->screening;
    sample taken = {0};
    int left = s->plan.rounds[s->plan.n_rounds - 1] - round - 1;
    if (who == f->n) {
        int status =
            sample_take(&s->base, ARM_INCUMBENT, workload, r, b, 0, "auto", left, &f->series[workload], &taken);
        for (int i = 0; i < f->n; i++) {
            f->live[i]->pairs[workload][round].a_ns = taken.median_ns;
            f->live[i]->pairs[workload][round].a_mhz = taken.mhz;
        }
        return status;
    }
    entrant *e = f->live[who];
    if (!screen_is_live(e))
        return AKO_OK;
    int status = screen_settle(
        s, e, sample_take(&e->trial, e->trial.own, workload, r, b, 0, "auto", left, &e->series[workload], &taken));
    e->pairs[workload][round].b_ns = taken.median_ns;
    e->pairs[workload][round].b_mhz = taken.mhz;
    return status;
}

static int take_round(field *f, rotation *r, int workload, int round)
{
    screening *s = f->screening;
    int order[ARMS], n = f->n;
    batch b = {0};
    int status = renew(f, r, workload);
    if (status == AKO_OK && !s->base.ended)
        status = batch_new(&b, &s->base, r, f->launches[workload]);
    shuffle(order, n);
    for (int i = 0; status == AKO_OK && !s->base.ended && i <= n; i++)
        status = take_turn(f, r, &b, workload, round, order[i]);
    batch_free(&b);
    return status;
}

/* Damage that only many together have done: each has a sample alone, and those that do it then are out. */
static int find_guilty(field *f, rotation *r, int workload)
{
    screening *s = f->screening;
    int guilty = 0, status = rotation_prepare(&s->base, r, workload);
    for (int i = 0; status == AKO_OK && !s->base.ended && i < f->n; i++) {
        int64_t ignored;
        entrant *e = f->live[i];
        if (!screen_is_live(e))
            continue;
        status = screen_settle(s, e, try_out(f, &e->trial, r, workload, &ignored));
        if (status == AKO_OK && !s->base.ended && screen_is_live(e))
            status = check_alone(f, e, r, workload);
        guilty += !screen_is_live(e);
    }
    if (status == AKO_OK && !s->base.ended && guilty == 0)
        status = trial_end(&s->base, "INFRA", "screen",
                           "one of the candidates has changed an input or written outside "
                           "its buffers, and it is not known which; try them one by one");
    return status;
}

/* Inputs and red zones after a stage, looked at for nobody in particular. */
static int check_sets(field *f, rotation *r, int workload)
{
    trial probe = f->screening->base;
    probe.answer = json_object();
    probe.workloads = NULL;
    int status = sample_check_sets(&probe, r, workload);
    json_decref(probe.answer);
    if (status != AKO_OK || !probe.ended)
        return status;
    return child_is_running(&f->screening->ev->referee)
               ? find_guilty(f, r, workload)
               : trial_end(&f->screening->base, "INFRA", "referee", "the referee was lost in the screening");
}

static int take_rounds(field *f, int workload, int from, int until)
{
    screening *s = f->screening;
    rotation r = {0};
    int status = rotation_prepare(&s->base, &r, workload);
    if (status == AKO_OK && !s->base.ended && f->launches[workload] == 0)
        status = warm_up(f, &r, workload);
    for (int i = from; status == AKO_OK && !s->base.ended && f->n > 0 && i < until; i++)
        status = take_round(f, &r, workload, i);
    if (status == AKO_OK && !s->base.ended && f->n > 0)
        status = check_sets(f, &r, workload);
    rotation_free(&r);
    forget_those_that_left(f);
    return status;
}

/* Both clocks, the floor, and how fast it is. */
static int judge(field *f, entrant *e, int rounds)
{
    screening *s = f->screening;
    ako_paired_plan plan = {.looks = {rounds}, .n_looks = 1, .alpha = s->base.timing.alpha, .score = AKO_SCORE_GEOMEAN};
    ako_paired_result result;
    int status = AKO_OK;
    for (int w = 0; status == AKO_OK && screen_is_live(e) && w < s->n_workloads; w++)
        status = screen_settle(s, e, series_judge(&e->trial, &e->series[w], w));
    if (status != AKO_OK || !screen_is_live(e))
        return status;
    status = ako_paired_look(&result, &plan, (const ako_pair *const *)e->pairs, s->weights, s->n_workloads,
                             (size_t)rounds, true);
    e->rounds = rounds;
    e->gain = result.score;
    return status;
}

static int judge_all(field *f, int rounds)
{
    screening *s = f->screening;
    int status = AKO_OK;
    for (int w = 0; status == AKO_OK && !s->base.ended && w < s->n_workloads; w++)
        status = series_judge(&s->base, &f->series[w], w);
    for (int i = 0; status == AKO_OK && !s->base.ended && i < f->n; i++)
        status = judge(f, f->live[i], rounds);
    forget_those_that_left(f);
    return status;
}

static int by_gain(const void *a, const void *b)
{
    double x = (*(entrant *const *)a)->gain.gain, y = (*(entrant *const *)b)->gain.gain;
    return (x < y) - (x > y);
}

/* At least one leaves, or a field might never get small. */
static void cut(field *f)
{
    const screen_plan *plan = &f->screening->plan;
    int stay = (int)ceil(plan->share * f->n);
    qsort(f->live, (size_t)f->n, sizeof(entrant *), by_gain);
    stay = stay < f->n ? stay : f->n - 1;
    stay = stay > plan->keep ? stay : plan->keep;
    for (int i = stay; i < f->n; i++)
        screen_leave(f->live[i], "slower");
    forget_those_that_left(f);
}

int screen_rounds(field *f)
{
    screening *s = f->screening;
    const screen_plan *plan = &s->plan;
    int status = AKO_OK;
    for (int stage = 0; status == AKO_OK && !s->base.ended && f->n > 0 && stage < plan->n_rounds; stage++) {
        int from = stage ? plan->rounds[stage - 1] : 0, until = plan->rounds[stage];
        for (int w = 0; status == AKO_OK && !s->base.ended && f->n > 0 && w < s->n_workloads; w++)
            status = take_rounds(f, w, from, until);
        if (status == AKO_OK && !s->base.ended && f->n > 0)
            status = judge_all(f, until);
        if (status == AKO_OK && !s->base.ended)
            cut(f);
        evaluator_progress(s->ev, "screen", until, plan->rounds[plan->n_rounds - 1]);
    }
    return status;
}
