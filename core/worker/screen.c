/* The request "screen". */
#include "screen.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "pack.h"
#include "surroundings.h"

#define START_LIMIT_NS INT64_C(120000000000)

bool screen_is_live(const entrant *e)
{
    return !e->left[0];
}

void screen_leave(entrant *e, const char *why)
{
    e->left = why;
    if (e->trial.own < ARM_CANDIDATE)
        return;
    turn_allow(e->trial.ev, e->trial.own); /* one that stands still does not hear that it is to end */
    child_kill(&e->trial.ev->arms[e->trial.own].child);
}

int screen_settle(screening *s, entrant *e, int status)
{
    if (status != AKO_OK || !e->trial.ended)
        return status;
    const json_t *answer = e->trial.answer;
    const char *word = json_string_value(json_object_get(answer, "status"));
    screen_leave(e, "failed");
    if (child_is_running(&s->ev->referee) && strcmp(word, "INVALID_REFERENCE") != 0)
        return AKO_OK;
    return trial_end(&s->base, word, json_string_value(json_object_get(answer, "code")), "%s",
                     json_string_value(json_object_get(answer, "reason")));
}

static json_t *all_units(const screening *s)
{
    json_t *units = json_pack("[o]", unit_without_sources(s->base.incumbent));
    for (int i = 0; i < s->n; i++)
        json_array_append_new(units, unit_without_sources(s->entrants[i].trial.unit));
    return units;
}

static int processes_at_once(const screening *s)
{
    return s->n < s->plan.most ? s->n : s->plan.most;
}

/* The buffers are made while the builds run. They are the same for all, as large as the largest needs. */
static int start_everything(screening *s)
{
    trial *base = &s->base;
    trial_begin_step(base, "build", base->limits.build_ns);
    int status = build_start(s->ev, &base->incumbent_build, base->incumbent, base->limits.build_ns);
    if (status == AKO_OK)
        status = referee_start(s->ev);
    if (status == AKO_OK)
        status = trial_ask_memory_for(base, all_units(s), 1 + processes_at_once(s));
    if (status == AKO_OK)
        status = arm_start(s->ev, ARM_INCUMBENT, base->incumbent->lane);
    return status;
}

/* Contexts come up in parallel, and then each gets its code. */
static int load_field(field *f)
{
    screening *s = f->screening;
    int status = arm_start(s->ev, ARM_INCUMBENT, s->base.incumbent->lane);
    for (int i = 0; status == AKO_OK && i < f->n; i++) {
        f->live[i]->trial.own = ARM_CANDIDATE + i;
        f->live[i]->trial.n_sets = s->base.n_sets;
        status = arm_start(s->ev, f->live[i]->trial.own, f->live[i]->trial.unit->lane);
    }
    trial_begin_step(&s->base, "start", START_LIMIT_NS);
    if (status == AKO_OK)
        status = trial_load_arm(&s->base, ARM_INCUMBENT, s->memory, s->fd);
    for (int i = 0; status == AKO_OK && !s->base.ended && i < f->n; i++) {
        trial *t = &f->live[i]->trial;
        trial_begin_step(t, "start", START_LIMIT_NS);
        status = trial_settle_arm(t, t->own);
        if (status == AKO_OK && !t->ended) {
            trial_begin_step(t, "check", t->limits.check_ns);
            status = trial_load_arm(t, t->own, s->memory, s->fd);
        }
        status = screen_settle(s, f->live[i], status);
    }
    return status;
}

static int check_field(field *f)
{
    screening *s = f->screening;
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && !s->base.ended && i < f->n; i++) {
        entrant *e = f->live[i];
        if (!screen_is_live(e) || e->checked)
            continue;
        status = screen_settle(s, e, trial_check(&e->trial));
        e->checked = true;
    }
    return status;
}

static int time_field(field *f)
{
    screening *s = f->screening;
    int n = 0;
    for (int i = 0; i < f->n; i++)
        if (screen_is_live(f->live[i]))
            f->live[n++] = f->live[i];
    f->n = n;
    trial_begin_step(&s->base, "time", s->base.limits.time_ns);
    for (int i = 0; i < n; i++)
        trial_begin_step(&f->live[i]->trial, "time", s->base.limits.time_ns);
    int status = n > 0 ? calibrate(&s->base) : AKO_OK;
    return status == AKO_OK && !s->base.ended && n > 0 ? screen_rounds(f) : status;
}

static int check_and_time(field *f)
{
    screening *s = f->screening;
    ako_lock *lock = NULL;
    int64_t asked = ako_clock_ns();
    int status = trial_take_lock(&s->base, &lock);
    int64_t start = ako_clock_ns();
    s->base.wait_cost_ns += start - asked;
    if (status == AKO_OK && !s->base.ended)
        status = surroundings_before(&s->base);
    if (status == AKO_OK && !s->base.ended)
        status = check_field(f);
    int64_t checked = ako_clock_ns();
    s->base.check_cost_ns += checked - start;
    if (status == AKO_OK && !s->base.ended)
        status = time_field(f);
    s->base.time_cost_ns += ako_clock_ns() - checked;
    if (status == AKO_OK && lock)
        status = surroundings_after(&s->base);
    arms_kill(s->ev); /* before the lock goes: the end of a context is work for the device too */
    ako_lock_release(lock);
    return status;
}

/* What an earlier field has measured of it counts no more. */
static int make_room(field *f)
{
    screening *s = f->screening;
    size_t n = (size_t)s->n_workloads;
    int most = s->plan.rounds[s->plan.n_rounds - 1];
    for (int i = 0; i < f->n; i++) {
        entrant *e = f->live[i];
        e->series = e->series ? e->series : calloc(n, sizeof *e->series);
        e->first_ns = e->first_ns ? e->first_ns : calloc(n, sizeof *e->first_ns);
        e->pairs = e->pairs ? e->pairs : calloc(n, sizeof *e->pairs);
        if (!e->series || !e->first_ns || !e->pairs)
            return ako_fail(AKO_NOMEM, "evaluator", "out of memory");
        for (size_t w = 0; w < n; w++) {
            series_free(&e->series[w]);
            e->pairs[w] = e->pairs[w] ? e->pairs[w] : calloc((size_t)most, sizeof **e->pairs);
            if (!e->pairs[w])
                return ako_fail(AKO_NOMEM, "evaluator", "out of memory");
        }
        e->rounds = 0;
    }
    return AKO_OK;
}

static int run_field(screening *s, entrant **live, int n)
{
    size_t workloads = (size_t)s->n_workloads;
    field f = {.screening = s, .live = live, .n = n};
    f.launches = calloc(workloads, sizeof *f.launches);
    f.series = calloc(workloads, sizeof *f.series);
    int status = f.launches && f.series ? make_room(&f) : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    if (status == AKO_OK)
        status = load_field(&f);
    if (status == AKO_OK && !s->base.ended)
        status = check_and_time(&f);
    arms_kill(s->ev);
    for (int i = 0; i < s->n; i++)
        s->entrants[i].trial.own = ARM_INCUMBENT; /* none */
    for (size_t w = 0; f.series && w < workloads; w++)
        series_free(&f.series[w]);
    free(f.series);
    free(f.launches);
    return status;
}

static int find_live(entrant **out, screening *s)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        if (screen_is_live(&s->entrants[i]))
            out[n++] = &s->entrants[i];
    return n;
}

/* Fields of about the same size while there are too many for one, then one of all that are left. */
static int run_fields(screening *s)
{
    entrant **live = calloc((size_t)s->n, sizeof(entrant *));
    int status = live ? AKO_OK : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    int n = live ? find_live(live, s) : 0;
    while (status == AKO_OK && !s->base.ended && n > s->plan.most) {
        int fields = (n + s->plan.most - 1) / s->plan.most;
        for (int i = 0; status == AKO_OK && !s->base.ended && i < fields; i++) {
            int from = n * i / fields, until = n * (i + 1) / fields;
            status = run_field(s, live + from, until - from);
        }
        n = find_live(live, s);
    }
    if (status == AKO_OK && !s->base.ended && n > 0)
        status = run_field(s, live, n);
    free(live);
    return status;
}

/* What there is room for on the device, the incumbent's process not counted, may be less than what was asked for. */
static void limit_field(screening *s)
{
    int room = (int)json_integer_value(json_object_get(s->memory, "processes")) - 1;
    if (room >= processes_at_once(s))
        return;
    s->plan.most = room > 2 ? room : 2;
    s->plan.keep = s->plan.keep < s->plan.most ? s->plan.keep : s->plan.most - 1;
}

static int run_steps(screening *s)
{
    int status = start_everything(s);
    if (status != AKO_OK)
        return status == AKO_CANCELLED || status == AKO_EOF
                   ? status
                   : trial_end(&s->base, "INFRA", ako_status_name(status), "%s", ako_error_last()->message);
    status = screen_build(s);
    s->base.build_cost_ns = ako_clock_ns() - s->base.started_ns;
    if (status == AKO_OK && !s->base.ended)
        status = trial_take_memory(&s->base, &s->memory, &s->fd);
    if (status != AKO_OK || s->base.ended)
        return status;
    limit_field(s);
    return run_fields(s);
}

static int prepare(screening *s)
{
    s->n_workloads = s->ev->task->n_workloads;
    s->weights = calloc((size_t)s->n_workloads, sizeof *s->weights);
    if (!s->weights)
        return ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    for (int w = 0; w < s->n_workloads; w++)
        s->weights[w] = s->ev->task->workloads[w].weight;
    return AKO_OK;
}

static void release_entrant(screening *s, entrant *e)
{
    for (int w = 0; w < s->n_workloads; w++) {
        if (e->series)
            series_free(&e->series[w]);
        if (e->pairs)
            free(e->pairs[w]);
    }
    free(e->series);
    free(e->pairs);
    free(e->first_ns);
    build_drop(&e->trial.build);
    ako_unit_free(e->trial.unit);
    json_decref(e->trial.answer);
}

static void release(screening *s)
{
    for (int i = 0; i < s->n; i++)
        release_entrant(s, &s->entrants[i]);
    if (s->fd >= 0)
        close(s->fd);
    json_decref(s->memory);
    build_drop(&s->base.incumbent_build);
    ako_unit_free(s->base.incumbent);
    free(s->entrants);
    free(s->weights);
}

static int finish(screening *s, json_t *answer)
{
    const trial *t = &s->base;
    int status = screen_answer(s, answer);
    if (status != AKO_OK)
        return status;
    arm_start(s->ev, ARM_CANDIDATE, t->incumbent->lane); /* spares for the trials that are likely to follow */
    arm_start(s->ev, ARM_INCUMBENT, t->incumbent->lane);
    return pack_into(answer,
                     json_pack("{s:{s:I, s:I, s:I, s:I, s:I}}", "costs_ns", "build", (json_int_t)t->build_cost_ns,
                               "wait", (json_int_t)t->wait_cost_ns, "check", (json_int_t)t->check_cost_ns, "time",
                               (json_int_t)t->time_cost_ns, "total", (json_int_t)(ako_clock_ns() - t->started_ns)));
}

int screen_run(evaluator *ev, const json_t *request, json_t *answer)
{
    screening s = {.ev = ev, .fd = -1};
    s.base = (trial){.ev = ev, .answer = answer, .own = ARM_INCUMBENT, .started_ns = ako_clock_ns()};
    int status = prepare(&s);
    if (status == AKO_OK)
        status = screen_read(&s, request);
    if (status == AKO_OK)
        status = run_steps(&s);
    if (status == AKO_CANCELLED || status == AKO_EOF)
        trial_stop_workers(ev);
    if (status == AKO_OK)
        status = finish(&s, answer);
    release(&s);
    return status;
}
