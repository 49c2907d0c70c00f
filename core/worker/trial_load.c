#include "error.h"
#include "exchange.h"
#include "trial.h"

#define START_LIMIT_NS INT64_C(120000000000)

int trial_ask_memory(trial *t)
{
    return child_send(&t->ev->referee, "memory", json_pack("{s:o}", "unit", unit_without_sources(t->unit)), NULL, 0);
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

static json_t *load_request(const trial *t, const json_t *memory)
{
    return json_pack("{s:o, s:o, s:O, s:O, s:O, s:O}", "task", task_without_sources(t->ev), "unit",
                     unit_without_sources(t->unit), "path", json_object_get(t->build.output, "path"), "lowered",
                     json_object_get(t->build.output, "lowered"), "bytes", json_object_get(memory, "bytes"), "handles",
                     json_object_get(memory, "handles"));
}

static int load_candidate(trial *t, const json_t *memory, const int *fds, int n_fds)
{
    json_t *reply;
    if (t->wants_check)
        trial_begin_step(t, "check", t->limits.check_ns);
    else
        trial_begin_step(t, "time", t->limits.time_ns);
    int status = trial_ask_candidate(t, &reply, "load", load_request(t, memory), fds, n_fds, -1);
    json_decref(reply);
    return status;
}

int trial_load(trial *t)
{
    json_t *memory;
    int fds[EXCHANGE_SETS];
    trial_begin_step(t, "start", START_LIMIT_NS);
    int status = trial_settle_referee(t, &memory);
    t->n_sets = (int)json_array_size(json_object_get(memory, "handles"));
    int n_fds = exchange_take(fds, t->ev->referee.wire, memory);
    if (status == AKO_OK && !t->ended)
        status = trial_hand_over_reference(t);
    if (status == AKO_OK && !t->ended)
        status = trial_settle_candidate(t);
    if (status == AKO_OK && !t->ended)
        status = load_candidate(t, memory, fds, n_fds);
    exchange_close(fds, n_fds);
    json_decref(memory);
    return status;
}
