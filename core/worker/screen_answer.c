#include <stdio.h>

#include "error.h"
#include "pack.h"
#include "screen.h"
#include "verdict.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* A gain of 0.5, half the time, is a speed-up of 2. */
static double speedup(double gain)
{
    return 1 / (1 - gain);
}

static void describe(char *out, size_t size, const entrant *e)
{
    out[0] = '\0';
    if (e->left[0] == 'h')
        snprintf(out, size, "%.1f times as slow as the best at its first launches", e->times_slower);
}

/* One that the end of the screening came for says why; one that is the same as another has what that one has. */
static int end_entrant(screening *s, entrant *e)
{
    const json_t *end = s->base.answer;
    char reason[200];
    if (e->trial.ended)
        return AKO_OK;
    if (e->same_as >= 0) {
        const json_t *other = s->entrants[e->same_as].trial.answer;
        return trial_end(&e->trial, text_of(other, "status"), text_of(other, "code"), "%s", text_of(other, "reason"));
    }
    if (s->base.ended && !e->left[0]) {
        e->left = "failed";
        return trial_end(&e->trial, text_of(end, "status"), text_of(end, "code"), "%s", text_of(end, "reason"));
    }
    describe(reason, sizeof reason, e);
    return trial_end(&e->trial, "PASSED", "", "%s", reason);
}

static json_t *column(const entrant *e, int workload, bool incumbent)
{
    json_t *list = json_array();
    for (int i = 0; list && i < e->rounds; i++) {
        const ako_pair *p = &e->pairs[workload][i];
        json_array_append_new(list, json_integer((json_int_t)(incumbent ? p->a_ns : p->b_ns)));
    }
    return list;
}

static int put_rounds(const entrant *e)
{
    int status = AKO_OK;
    for (size_t w = 0; status == AKO_OK && e->rounds > 0 && w < json_array_size(e->trial.workloads); w++)
        status = pack_into(json_array_get(e->trial.workloads, w),
                           json_pack("{s:{s:o, s:o}}", "screen", "candidate_ns", column(e, (int)w, false),
                                     "incumbent_ns", column(e, (int)w, true)));
    return status;
}

static json_t *speedup_of(const entrant *e)
{
    if (e->times_slower > 0)
        return json_real(1 / e->times_slower);
    return e->rounds > 0 ? json_real(speedup(e->gain.gain)) : json_null();
}

static json_t *interval_of(const entrant *e)
{
    bool known = e->rounds > 0 && e->gain.has_interval;
    return known ? json_pack("[f, f]", speedup(e->gain.low), speedup(e->gain.high)) : json_null();
}

static int put_entrant(json_t *list, screening *s, entrant *e)
{
    int status = end_entrant(s, e);
    if (status == AKO_OK)
        status = put_rounds(e);
    if (status == AKO_OK)
        status = pack_into(e->trial.answer,
                           json_pack("{s:s, s:i, s:o, s:o, s:o}", "left", e->left, "rounds", e->rounds, "speedup",
                                     speedup_of(e), "interval", interval_of(e), "same_as",
                                     e->same_as == SAME_AS_NOBODY ? json_null() : json_integer(e->same_as)));
    if (status == AKO_OK && json_array_append(list, e->trial.answer) != 0)
        status = ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    return status;
}

int screen_answer(screening *s, json_t *answer)
{
    json_t *list = json_array();
    int status = s->base.ended ? AKO_OK : trial_end(&s->base, "PASSED", "", "%s", "");
    bool ended = !verdict_has_passed(s->base.answer);
    s->base.ended = ended;
    for (int i = 0; status == AKO_OK && i < s->n; i++)
        status = put_entrant(list, s, &s->entrants[i]);
    return status == AKO_OK ? pack_into(answer, json_pack("{s:o}", "candidates", list)) : status;
}
