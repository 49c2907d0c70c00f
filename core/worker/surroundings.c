#include "surroundings.h"

#include <stdio.h>
#include <string.h>

#include "error.h"
#include "nvml.h"
#include "pack.h"

static bool is_on_gpu(const trial *t)
{
    return ako_lane_place(t->unit->lane) == AKO_GPU;
}

/* One that owes an answer may still be on its way to a context, or be stuck. */
static int add_settled(int *pids, int n, const ako_child *child)
{
    if (child_is_running(child) && !child_owes_answer(child))
        pids[n++] = (int)child->pid;
    return n;
}

static int processes_on_gpu(int *pids, const evaluator *ev)
{
    int n = add_settled(pids, 0, &ev->referee);
    for (int a = 0; a < ARMS; a++)
        if (ev->arms[a].place == AKO_GPU)
            n = add_settled(pids, n, &ev->arms[a].child);
    return n;
}

static json_t *read_strangers(json_t **note, const trial *t)
{
    int pids[ARMS + 1];
    ako_device_tenants tenants = {.strangers = -1, .note = "of a CPU there is no list of processes"};
    if (is_on_gpu(t))
        ako_device_tenants_get(&tenants, &t->ev->device, pids, processes_on_gpu(pids, t->ev));
    *note = tenants.note[0] ? pack_text(tenants.note, strlen(tenants.note)) : NULL;
    return tenants.strangers >= 0 ? json_integer(tenants.strangers) : json_null();
}

static json_t *read_state(const trial *t)
{
    ako_device_pulse pulse;
    char text[256];
    if (!is_on_gpu(t) || ako_device_pulse_get(&pulse, &t->ev->device) != AKO_OK)
        return json_null();
    ako_nvml_throttle_text(text, sizeof text, pulse.throttle_reasons);
    return json_pack("{s:o, s:I, s:s}", "sm_clock_mhz",
                     pulse.sm_clock_mhz >= 0 ? json_integer(pulse.sm_clock_mhz) : json_null(), "throttle_reasons",
                     (json_int_t)pulse.throttle_reasons, "throttle", text);
}

/* Several looks of one kind, in a screening: the most strangers that were seen. */
static int look(trial *t, const char *when)
{
    json_t *note = NULL, *tenants = json_object_get(t->answer, "tenants"), *state = json_object_get(t->answer, "state");
    const json_t *seen = json_object_get(tenants, when);
    json_t *now = read_strangers(&note, t);
    bool more = !json_is_integer(seen) || json_integer_value(now) > json_integer_value(seen);
    int status = more ? pack_into(tenants, json_pack("{s:O}", when, now)) : AKO_OK;
    json_decref(now);
    if (status == AKO_OK && note)
        status = pack_into(tenants, json_pack("{s:O}", "note", note));
    json_decref(note);
    return status == AKO_OK ? pack_into(state, json_pack("{s:o}", when, read_state(t))) : status;
}

int surroundings_before(trial *t)
{
    int status = AKO_OK;
    if (!json_object_get(t->answer, "tenants"))
        status = pack_into(t->answer, json_pack("{s:{s:n, s:n, s:s}, s:{s:n, s:n}}", "tenants", "before", "after",
                                                "note", "", "state", "before", "after"));
    return status == AKO_OK ? look(t, "before") : status;
}

int surroundings_after(trial *t)
{
    return json_object_get(t->answer, "tenants") ? look(t, "after") : AKO_OK;
}

void surroundings_glance(const trial *t, series *s)
{
    ako_device_pulse pulse;
    glances *g = &s->glances;
    if (!is_on_gpu(t) || ako_device_pulse_get(&pulse, &t->ev->device) != AKO_OK)
        return;
    g->n++;
    g->throttle_reasons |= pulse.throttle_reasons;
    if (pulse.sm_clock_mhz <= 0)
        return;
    g->least_mhz = g->least_mhz == 0 || pulse.sm_clock_mhz < g->least_mhz ? pulse.sm_clock_mhz : g->least_mhz;
    g->most_mhz = pulse.sm_clock_mhz > g->most_mhz ? pulse.sm_clock_mhz : g->most_mhz;
}

static glances both(const glances *a, const glances *b)
{
    glances all = *a;
    all.n += b->n;
    all.throttle_reasons |= b->throttle_reasons;
    if (b->least_mhz > 0 && (a->least_mhz == 0 || b->least_mhz < a->least_mhz))
        all.least_mhz = b->least_mhz;
    all.most_mhz = b->most_mhz > a->most_mhz ? b->most_mhz : a->most_mhz;
    return all;
}

int surroundings_put(json_t *summary, const series *s, const series *other)
{
    glances all = other ? both(&s->glances, &other->glances) : s->glances;
    char text[256];
    if (all.n == 0)
        return AKO_OK;
    ako_nvml_throttle_text(text, sizeof text, all.throttle_reasons);
    int status = pack_into(
        summary, json_pack("{s:s, s:I}", "throttle", text, "throttle_reasons", (json_int_t)all.throttle_reasons));
    if (status == AKO_OK && all.most_mhz > 0)
        status = pack_into(
            summary, json_pack("{s:i, s:i}", "sm_clock_min_mhz", all.least_mhz, "sm_clock_max_mhz", all.most_mhz));
    return status;
}
