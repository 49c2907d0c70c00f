#include <string.h>

#include "clock.h"
#include "error.h"
#include "screen.h"

/* Starts the next build, and first waits for the oldest when every builder is at work. */
static int start_next(screening *s, int *oldest, int next)
{
    for (;;) {
        trial *t = &s->entrants[next].trial;
        int status = build_start(s->ev, &t->build, t->unit, t->limits.build_ns);
        if (status != AKO_BUSY || *oldest == next)
            return status;
        entrant *e = &s->entrants[(*oldest)++];
        status = screen_settle(s, e, trial_await_solution(&e->trial));
        if (status != AKO_OK)
            return status;
        evaluator_progress(s->ev, "build", *oldest, s->n);
    }
}

static int build_all(screening *s)
{
    int oldest = 0, status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < s->n; i++) {
        trial_begin_step(&s->entrants[i].trial, "build", s->base.limits.build_ns);
        status = start_next(s, &oldest, i);
    }
    for (; status == AKO_OK && oldest < s->n; oldest++) {
        entrant *e = &s->entrants[oldest];
        status = screen_settle(s, e, trial_await_solution(&e->trial));
        evaluator_progress(s->ev, "build", oldest + 1, s->n);
    }
    return status;
}

static const char *hash_of(const build_job *build)
{
    const char *hash = json_string_value(json_object_get(json_object_get(build->output, "report"), "hash"));
    return hash ? hash : "";
}

/* Equal binaries, started alike. */
static bool is_same(const build_job *a, const ako_unit *unit_a, const build_job *b, const ako_unit *unit_b)
{
    return hash_of(a)[0] && strcmp(hash_of(a), hash_of(b)) == 0 && unit_a->lane == unit_b->lane &&
           json_equal(json_object_get(unit_a->json, "workloads"), json_object_get(unit_b->json, "workloads"));
}

static void find_same(screening *s, int index)
{
    entrant *e = &s->entrants[index];
    const trial *t = &e->trial;
    bool is_complete = !ako_lane_is_python(t->unit->lane); /* else what it loads may have changed since */
    if (is_complete && is_same(&t->build, t->unit, &s->base.incumbent_build, s->base.incumbent))
        e->same_as = SAME_AS_INCUMBENT;
    for (int i = 0; e->same_as == SAME_AS_NOBODY && i < index; i++) {
        const trial *other = &s->entrants[i].trial;
        if (s->entrants[i].same_as == SAME_AS_NOBODY && is_same(&t->build, t->unit, &other->build, other->unit))
            e->same_as = i;
    }
    if (e->same_as != SAME_AS_NOBODY)
        screen_leave(e, "same");
}

/* Of those that are to run, once it is known which these are. */
static int build_extensions(screening *s)
{
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && !s->base.ended && i < s->n; i++) {
        entrant *e = &s->entrants[i];
        if (screen_is_live(e))
            find_same(s, i);
        if (screen_is_live(e))
            status = screen_settle(s, e, trial_build_extensions(&e->trial));
        if (json_object_get(e->trial.build.output, "extensions"))
            evaluator_progress(s->ev, "extensions", i + 1, s->n);
    }
    return status;
}

int screen_build(screening *s)
{
    int status = build_all(s);
    if (status == AKO_OK)
        status = trial_await_incumbent(&s->base);
    if (status == AKO_OK && !s->base.ended)
        status = trial_await_reference(&s->base);
    return status == AKO_OK && !s->base.ended ? build_extensions(s) : status;
}
