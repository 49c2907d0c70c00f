#include "trial.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "device_json.h"
#include "error.h"
#include "lock_holder.h"
#include "pack.h"
#include "surroundings.h"

#define LOCK_LIMIT_NS INT64_C(600000000000) /* for one and the same turn of somebody else's */
#define LOCK_SLICE_NS INT64_C(100000000)
#define WAIT_REPORT_NS INT64_C(2000000000)

int trial_list_workloads(trial *t)
{
    t->workloads = json_array();
    for (int w = 0; w < t->ev->task->n_workloads; w++)
        json_array_append_new(t->workloads, json_pack("{s:s}", "id", t->ev->task->workloads[w].id));
    if (!t->workloads || json_object_set_new(t->answer, "workloads", t->workloads) != 0)
        return ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    return AKO_OK;
}

/* The build first: the contexts, the buffers and the reference come up while it runs. */
static int start_everything(trial *t)
{
    int status = build_start(t->ev, &t->build, t->unit, t->limits.build_ns);
    if (status == AKO_OK && t->incumbent)
        status = build_start(t->ev, &t->incumbent_build, t->incumbent, t->limits.build_ns);
    if (status != AKO_OK || !(t->wants_check || t->wants_time))
        return status;
    status = referee_start(t->ev);
    if (status == AKO_OK)
        status = trial_ask_memory(t);
    if (status == AKO_OK)
        status = arm_start(t->ev, t->own, t->unit->lane);
    if (status == AKO_OK && t->incumbent)
        status = arm_start(t->ev, ARM_INCUMBENT, t->incumbent->lane);
    return status;
}

/* Who is waited for, since when, and when that was last said. */
typedef struct waiting {
    char holder[200];
    int64_t since_ns, said_ns;
} waiting;

/* Takes a note of the holder; false when it has been the same for too long. Others that have their turns first may be
 * many. */
static bool is_worth_waiting(waiting *w, const char *holder)
{
    int64_t now = ako_clock_ns();
    if (strncmp(w->holder, holder, sizeof w->holder - 1) != 0) {
        snprintf(w->holder, sizeof w->holder, "%.199s", holder);
        w->since_ns = now;
    }
    return now - w->since_ns <= LOCK_LIMIT_NS;
}

/* Says now and then who holds the device. */
static void report_wait(evaluator *ev, waiting *w)
{
    if (w->said_ns && ako_clock_ns() - w->said_ns < WAIT_REPORT_NS)
        return;
    w->said_ns = ako_clock_ns();
    evaluator_say(ev, "wait", w->holder);
}

/* Held by somebody else it is waited for; that time is in no budget. A candidate that was loaded would hold it for
 * ever.
 */
int trial_take_lock(trial *t, ako_lock **lock)
{
    const char *name = ako_lane_place(t->unit->lane) == AKO_GPU ? t->ev->device.uuid : t->ev->cpu.uuid;
    waiting w = {0};
    for (;;) {
        int status = ako_lock_take(lock, name, ako_clock_ns() + LOCK_SLICE_NS);
        if (status == AKO_OK)
            return AKO_OK;
        if (status == AKO_BUSY && ako_lock_is_held_below(name))
            return trial_end(t, "REWARD_HACK", "lock", "%s", "took the device's lock for itself");
        if (status != AKO_BUSY || !is_worth_waiting(&w, ako_error_last()->message))
            return trial_end(t, "INFRA", ako_status_name(status), "the device is not free: %s",
                             ako_error_last()->message);
        report_wait(t->ev, &w);
        status = evaluator_listen(t->ev);
        if (status != AKO_OK)
            return status;
    }
}

static int check_and_time(trial *t)
{
    ako_lock *lock = NULL;
    int64_t asked = ako_clock_ns();
    int status = trial_take_lock(t, &lock);
    int64_t start = ako_clock_ns(), began_at = ako_clock_wall_ns();
    t->wait_cost_ns = start - asked;
    if (status == AKO_OK && !t->ended)
        status = surroundings_before(t);
    if (status == AKO_OK && !t->ended && t->wants_check)
        status = trial_check(t);
    int64_t checked = ako_clock_ns();
    t->check_cost_ns = checked - start;
    if (status == AKO_OK && !t->ended && t->wants_time)
        status = trial_time(t);
    t->time_cost_ns = ako_clock_ns() - checked;
    if (status == AKO_OK && lock)
        status = surroundings_after(t);
    arms_kill(t->ev); /* before the lock goes: the end of a context is work for the device too */
    if (status == AKO_OK && lock)
        status = pack_into(t->answer,
                           json_pack("{s:[I, I]}", "timed_at", (json_int_t)began_at, (json_int_t)ako_clock_wall_ns()));
    ako_lock_release(lock);
    return status;
}

static int run_steps(trial *t)
{
    trial_begin_step(t, "build", t->limits.build_ns);
    int status = start_everything(t);
    if (status != AKO_OK)
        return status == AKO_CANCELLED || status == AKO_EOF
                   ? status
                   : trial_end(t, "INFRA", ako_status_name(status), "%s", ako_error_last()->message);
    status = trial_build(t);
    t->build_cost_ns = ako_clock_ns() - t->started_ns;
    if (status != AKO_OK || t->ended || !(t->wants_check || t->wants_time))
        return status;
    status = trial_load(t);
    if (status == AKO_OK && !t->ended)
        status = check_and_time(t);
    arms_kill(t->ev);
    return status;
}

static json_t *pack_state(const ako_device_props *device)
{
    ako_device_state state;
    ako_json *value = NULL;
    if (ako_device_state_get(&state, device) != AKO_OK)
        return json_pack("{s:s}", "unavailable", ako_error_last()->message);
    return ako_device_state_json(&value, &state) == AKO_OK ? value : NULL;
}

static int finish(trial *t)
{
    int status = t->ended ? AKO_OK : trial_end(t, "PASSED", "", "%s", "");
    if (status == AKO_OK)
        status =
            pack_into(t->answer,
                      json_pack("{s:{s:I, s:I, s:I, s:I, s:I}, s:o}", "costs_ns", "build", (json_int_t)t->build_cost_ns,
                                "wait", (json_int_t)t->wait_cost_ns, "check", (json_int_t)t->check_cost_ns, "time",
                                (json_int_t)t->time_cost_ns, "total", (json_int_t)(ako_clock_ns() - t->started_ns),
                                "device_state", pack_state(&t->ev->device)));
    return status;
}

void trial_stop_workers(evaluator *ev)
{
    if (child_owes_answer(&ev->referee))
        child_kill(&ev->referee);
    arms_kill(ev);
}

int trial_run(evaluator *ev, const json_t *request, json_t *answer)
{
    trial t = {.ev = ev, .answer = answer, .own = ARM_CANDIDATE, .started_ns = ako_clock_ns()};
    int status = trial_read(&t, request);
    if (status == AKO_OK)
        status = trial_list_workloads(&t);
    if (status == AKO_OK)
        status = run_steps(&t);
    if (status == AKO_CANCELLED || status == AKO_EOF)
        trial_stop_workers(ev);
    if (status == AKO_OK)
        status = finish(&t);
    build_drop(&t.build);
    build_drop(&t.incumbent_build);
    if (t.unit && status == AKO_OK) /* a spare for the next trial, whose context comes up while that one builds */
        arm_start(ev, ARM_CANDIDATE, t.unit->lane);
    if (t.incumbent && status == AKO_OK)
        arm_start(ev, ARM_INCUMBENT, t.incumbent->lane);
    ako_unit_free(t.incumbent);
    ako_unit_free(t.unit);
    json_decref(t.own_error);
    return status;
}
