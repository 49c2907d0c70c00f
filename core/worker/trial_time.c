#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "error.h"
#include "sample.h"
#include "timing.h"

#define HELPERS_LIMIT_NS INT64_C(2000000000)
#define SECRET_WARM_UP 8 /* one request in so many has a call by the host's clock first: it bounds its samples */

/* Launches that are made however long they take. */
static int sure_launches(const trial_timing *plan)
{
    return plan->long_ns > 0 ? plan->long_launches : plan->launches;
}

/* Launches for the next request; 0 when there are enough, or as many as the budget allows. */
static int next_request(const trial *t, int done, int64_t started_ns)
{
    const trial_timing *plan = &t->timing;
    int64_t spent_ns = ako_clock_ns() - started_ns;
    int left = (spent_ns < plan->long_ns ? plan->launches : sure_launches(plan)) - done;
    if (left <= 0 && spent_ns < plan->budget_ns)
        left = plan->most - done;
    return left <= 0 ? 0 : left < t->n_sets ? left : t->n_sets;
}

/* New contents once every view has been used. */
static int renew(trial *t, rotation *r, int workload)
{
    if (rotation_has(r, 3)) /* the batch's, and what a warm-up may take */
        return AKO_OK;
    int status = sample_check_sets(t, r, workload);
    return status == AKO_OK && !t->ended ? rotation_prepare(t, r, workload) : status;
}

/* Adds to `s`; NULL: the samples are discarded. */
static int time_request(trial *t, rotation *r, int workload, int warmup, int n, int expected, series *s)
{
    batch b = {0};
    series discarded = {0};
    int status = renew(t, r, workload);
    if (status == AKO_OK && !t->ended)
        status = batch_new(&b, t, r, n);
    b.discarded = !s;
    if (status == AKO_OK && !t->ended)
        status = sample_take(t, t->own, workload, r, &b, warmup, t->timing.timer, expected, s ? s : &discarded, NULL);
    series_free(&discarded);
    batch_free(&b);
    return status;
}

static bool is_chosen(void)
{
    return random_bits() % SECRET_WARM_UP == 0;
}

static int warm_up_of(const trial *t, int done)
{
    if (done == 0)
        return t->timing.warmup;
    return !t->timing.flush || is_chosen();
}

/* Where contents are made for each call, the warm-up is a request of its own. */
static int warm_up_apart(trial *t, rotation *r, int workload)
{
    int status = AKO_OK;
    for (int left = t->timing.warmup; status == AKO_OK && !t->ended && left > 0; left -= t->n_sets)
        status = time_request(t, r, workload, 0, left < t->n_sets ? left : t->n_sets, 0, NULL);
    return status;
}

/* So is a call here and there, and one behind them all: a solution may become another one after its first calls. */
static int look_apart(trial *t, rotation *r, int workload, const series *s, bool last)
{
    bool is_due = r->anew && t->timing.warmup > 0 && (last || is_chosen());
    return is_due && series_mean(s) < AKO_LOOSE_NS ? time_request(t, r, workload, 0, 1, 0, NULL) : AKO_OK;
}

static int time_all(trial *t, rotation *r, int workload, series *s)
{
    int n, status = rotation_prepare(t, r, workload);
    if (status == AKO_OK && !t->ended && r->anew)
        status = warm_up_apart(t, r, workload);
    int64_t start = ako_clock_ns();
    while (status == AKO_OK && !t->ended) {
        int done = (int)json_array_size(s->samples);
        n = next_request(t, done, start);
        if (n == 0 && series_wants_more(t, s, workload))
            n = s->calls_a_request;
        if (n == 0)
            break;
        int expected = (sure_launches(&t->timing) - done - 1) / n;
        status = time_request(t, r, workload, warm_up_of(t, done), n, expected > 0 ? expected : 0, s);
        if (status == AKO_OK && !t->ended)
            status = look_apart(t, r, workload, s, false);
    }
    if (status == AKO_OK && !t->ended)
        status = look_apart(t, r, workload, s, true);
    if (status == AKO_OK && !t->ended)
        status = sample_check_sets(t, r, workload);
    return status;
}

static int time_solution(trial *t, int workload)
{
    series s = {0};
    rotation r = {0};
    int status = time_all(t, &r, workload, &s);
    if (status == AKO_OK && !t->ended)
        status = series_judge(t, &s, workload);
    if (status == AKO_OK && !t->ended)
        status = series_put(t, &s, workload, "time");
    if (status == AKO_OK && !t->ended && !t->wants_check)
        json_object_set_new(json_array_get(t->workloads, (size_t)workload), "status", json_string("PASSED"));
    rotation_free(&r);
    series_free(&s);
    return status;
}

static int add_reference_samples(series *s, const json_t *reply)
{
    const char *timer = json_string_value(json_object_get(reply, "timer"));
    const char *note = json_string_value(json_object_get(reply, "note"));
    snprintf(s->timer, sizeof s->timer, "%s", timer ? timer : "");
    snprintf(s->note, sizeof s->note, "%s", note ? note : "");
    s->wall_ns = json_integer_value(json_object_get(reply, "wall_ns"));
    s->events_ns = json_integer_value(json_object_get(reply, "events_ns"));
    s->sm_clock_mhz = (int)json_integer_value(json_object_get(reply, "sm_clock_mhz"));
    s->samples = json_incref(json_object_get(reply, "samples_ns"));
    return s->samples ? AKO_OK : ako_fail(AKO_CORRUPT, "referee", "an answer without samples");
}

static json_t *reference_request(const trial *t, int workload, const char *variant)
{
    const trial_timing *plan = &t->timing;
    return json_pack("{s:i, s:i, s:i, s:b, s:I, s:i, s:s, s:s*}", "workload", workload, "warmup", plan->warmup,
                     "launches", plan->launches, "flush", plan->flush, "budget", (json_int_t)plan->long_ns, "least",
                     sure_launches(plan), "timer", plan->timer, "variant", variant);
}

/* `variant` NULL: as it is. */
static int time_form(trial *t, int workload, const char *variant, const char *key)
{
    json_t *reply = NULL, *entry = json_array_get(t->workloads, (size_t)workload);
    series s = {0};
    int status = trial_ask_referee(t, &reply, "time", reference_request(t, workload, variant), workload);
    const json_t *unavailable = json_object_get(reply, "unavailable");
    if (status == AKO_OK && !t->ended && unavailable)
        json_object_set_new(entry, key, json_pack("{s:O}", "unavailable", unavailable));
    else if (status == AKO_OK && !t->ended)
        status = add_reference_samples(&s, reply);
    if (status == AKO_OK && !t->ended && !unavailable)
        status = series_put(t, &s, workload, key);
    json_decref(reply);
    series_free(&s);
    return status;
}

static int time_reference(trial *t, int workload)
{
    int status = AKO_OK;
    for (int set = 0; status == AKO_OK && !t->ended && set < t->n_sets; set++)
        status = trial_prepare(t, workload, set, (int64_t)random_bits(), false);
    if (status == AKO_OK && !t->ended)
        status = time_form(t, workload, NULL, "reference");
    if (status == AKO_OK && !t->ended && t->timing.compiled)
        status = time_form(t, workload, "compiled", "compiled");
    return status;
}

/* After the candidate's end, so that nothing it left running slows the reference down. */
static int time_references(trial *t, int done, int total)
{
    int status = AKO_OK;
    arms_kill(t->ev);
    for (int w = 0; status == AKO_OK && !t->ended && w < t->ev->task->n_workloads; w++) {
        status = time_reference(t, w);
        evaluator_progress(t->ev, "time", ++done, total);
    }
    return status;
}

static int call_once_each(trial *t, arm which)
{
    int status = AKO_OK;
    for (int w = 0; status == AKO_OK && !t->ended && w < t->ev->task->n_workloads; w++) {
        json_t *reply = NULL;
        status = trial_prepare(t, w, 0, (int64_t)random_bits(), false);
        if (status == AKO_OK && !t->ended)
            status = trial_ask_arm(t, which, &reply, "run", json_pack("{s:i, s:i}", "workload", w, "set", 0), -1, w);
        json_decref(reply);
    }
    return status;
}

/* Python's kernels may be compiled when they are first called, by programs; from here on there are none, for what goes
 * on beside a timed call is no part of its sample. */
static int settle(trial *t, arm which, ako_lane lane)
{
    json_t *reply = NULL;
    if (!ako_lane_is_python(lane))
        return AKO_OK;
    int status = trial_settle_arm(t, which);
    if (status == AKO_OK && !t->ended && !(which == ARM_INCUMBENT && t->incumbent_called))
        status = call_once_each(t, which);
    if (status != AKO_OK || t->ended)
        return status;
    status = trial_ask_arm(t, which, &reply, "settle", json_object(), -1, -1);
    if (status == AKO_OK && which != ARM_INCUMBENT)
        status = trial_note_autotuned(t, json_object_get(reply, "autotuned"));
    json_decref(reply);
    if (status == AKO_OK && !t->ended &&
        ako_process_kill_helpers(t->ev->arms[which].child.pid, ako_clock_ns() + HELPERS_LIMIT_NS) != AKO_OK)
        status = trial_end(t, "INFRA", "TIMEOUT", "%s", ako_error_last()->message);
    return status;
}

int trial_time(trial *t)
{
    int n = t->ev->task->n_workloads;
    bool hopeless = false;
    bool reference = t->timing.reference && ako_lane_place(t->unit->lane) == ako_lane_place(t->ev->reference->lane);
    trial_begin_step(t, "time", t->limits.time_ns);
    int status = settle(t, t->own, t->unit->lane);
    if (status == AKO_OK && !t->ended && t->incumbent)
        status = settle(t, ARM_INCUMBENT, t->incumbent->lane);
    if (status == AKO_OK && !t->ended)
        status = calibrate(t);
    if (status == AKO_OK && !t->ended && t->incumbent)
        status = trial_compare(t, &hopeless);
    for (int w = 0; status == AKO_OK && !t->ended && !hopeless && w < n; w++) {
        status = time_solution(t, w);
        evaluator_progress(t->ev, "time", w + 1, reference ? 2 * n : n);
    }
    if (status == AKO_OK && !t->ended && reference && !hopeless)
        status = time_references(t, n, 2 * n);
    return status;
}
