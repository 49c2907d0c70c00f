#include <unistd.h>

#include "error.h"
#include "exchange.h"
#include "trial.h"

#define START_LIMIT_NS INT64_C(120000000000)

int trial_ask_memory(trial *t)
{
    json_t *units = json_pack("[o]", unit_without_sources(t->unit));
    if (t->incumbent)
        json_array_append_new(units, unit_without_sources(t->incumbent));
    return trial_ask_memory_for(t, units, ARMS_OF_A_PAIR);
}

int trial_ask_memory_for(trial *t, json_t *units, int processes)
{
    int status =
        child_send(&t->ev->referee, "memory", json_pack("{s:o, s:i}", "units", units, "processes", processes), NULL, 0);
    if (status == AKO_OK && t->wants_time) /* long before it is needed: a timer takes its time to make */
        status = child_send(&t->ev->referee, "timer", json_object(), NULL, 0);
    return status;
}

/* The reference as built; the referee keeps it from trial to trial. */
int trial_hand_over_reference(trial *t)
{
    if (t->ev->referee_has_reference)
        return AKO_OK;
    const json_t *build = t->ev->reference_build.output;
    json_t *reply;
    int status = trial_ask_referee(
        t, &reply, "reference",
        json_pack("{s:O, s:O}", "path", json_object_get(build, "path"), "lowered", json_object_get(build, "lowered")),
        -1);
    json_decref(reply);
    t->ev->referee_has_reference = status == AKO_OK && !t->ended;
    return status;
}

static json_t *load_request(const trial *t, const ako_unit *unit, const build_job *build, const json_t *memory)
{
    return json_pack("{s:o, s:o, s:O, s:O, s:O, s:O, s:O, s:O*}", "task", task_without_sources(t->ev), "unit",
                     unit_without_sources(unit), "path", json_object_get(build->output, "path"), "lowered",
                     json_object_get(build->output, "lowered"), "sets", json_object_get(memory, "sets"), "stride",
                     json_object_get(memory, "stride"), "handle", json_object_get(memory, "handle"), "extensions",
                     json_object_get(build->output, "extensions"));
}

int trial_load_arm(trial *t, arm which, const json_t *memory, int fd)
{
    json_t *reply = NULL;
    const ako_unit *unit = which == ARM_INCUMBENT ? t->incumbent : t->unit;
    const build_job *build = which == ARM_INCUMBENT ? &t->incumbent_build : &t->build;
    int status = trial_settle_arm(t, which);
    if (status == AKO_OK && !t->ended)
        status = trial_ask_arm(t, which, &reply, "load", load_request(t, unit, build, memory), fd, -1);
    json_decref(reply);
    return status;
}

int trial_take_memory(trial *t, json_t **memory, int *fd)
{
    trial_begin_step(t, "start", START_LIMIT_NS);
    int status = trial_settle_referee(t, memory);
    t->n_sets = (int)json_integer_value(json_object_get(*memory, "sets"));
    *fd = exchange_take(t->ev->referee.wire, *memory);
    return status == AKO_OK && !t->ended ? trial_hand_over_reference(t) : status;
}

/* Its answer is awaited once the candidate has loaded too: mapping a large block takes its time. */
static int ask_incumbent_to_load(trial *t, const json_t *memory, int fd)
{
    int status = trial_settle_arm(t, ARM_INCUMBENT);
    return status == AKO_OK && !t->ended
               ? child_send(&t->ev->arms[ARM_INCUMBENT].child, "load",
                            load_request(t, t->incumbent, &t->incumbent_build, memory), &fd, fd >= 0)
               : status;
}

int trial_load(trial *t)
{
    json_t *memory = NULL;
    int fd = -1, status = trial_take_memory(t, &memory, &fd);
    if (status == AKO_OK && !t->ended)
        status = trial_settle_arm(t, t->own);
    if (status == AKO_OK && !t->ended && t->incumbent)
        status = ask_incumbent_to_load(t, memory, fd);
    if (status == AKO_OK && !t->ended) {
        trial_begin_step(t, t->wants_check ? "check" : "time", t->wants_check ? t->limits.check_ns : t->limits.time_ns);
        status = trial_load_arm(t, t->own, memory, fd);
    }
    if (status == AKO_OK && !t->ended && t->incumbent)
        status = trial_settle_arm(t, ARM_INCUMBENT);
    if (fd >= 0)
        close(fd);
    json_decref(memory);
    return status;
}
