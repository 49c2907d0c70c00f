#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "exchange.h"
#include "reader.h"
#include "timing.h"
#include "trial.h"

#define MAX_SEEDS 1000
#define MAX_FORMS 16
#define MAX_PAIRS 10000

static int read_steps(trial *t, const ako_reader *request)
{
    const char **steps;
    int n, status = ako_read_strings(&steps, &n, request, "steps", 3);
    if (status == AKO_OK && n == 0)
        status = ako_reader_fail(request, "steps", "at least one of build, check, time is needed");
    for (int i = 0; status == AKO_OK && i < n; i++) {
        t->wants_check = t->wants_check || strcmp(steps[i], "check") == 0;
        t->wants_time = t->wants_time || strcmp(steps[i], "time") == 0;
        if (strcmp(steps[i], "check") != 0 && strcmp(steps[i], "time") != 0 && strcmp(steps[i], "build") != 0)
            status = ako_reader_fail(request, "steps", "'%s' is none of build, check, time", steps[i]);
    }
    free(steps);
    return status;
}

static int read_limits(trial_limits *out, const ako_reader *request)
{
    const json_t *object = NULL;
    ako_reader reader;
    int status = ako_read_object(&object, request, "limits", AKO_OPTIONAL);
    if (status != AKO_OK || !object)
        return status;
    status = ako_reader_init(&reader, object, "trial.limits");
    if (status == AKO_OK)
        status = ako_read_integer(&out->build_ns, &reader, "build", 0, INT64_MAX / 4, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&out->check_ns, &reader, "check", 0, INT64_MAX / 4, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&out->time_ns, &reader, "time", 0, INT64_MAX / 4, AKO_OPTIONAL);
    return status;
}

static int read_form(const ako_reader *parent, const json_t *list, size_t i)
{
    ako_reader form;
    int64_t seed;
    bool is_signed;
    double times = 1;
    int status = ako_reader_item(&form, parent, "wider", list, i);
    if (status == AKO_OK)
        status = ako_read_integer(&seed, &form, "seed", INT64_MIN, INT64_MAX, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_bool(&is_signed, &form, "signed", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_real(&times, &form, "times", AKO_OPTIONAL);
    return status == AKO_OK && !(times > 0 && times < 1e30) ? ako_reader_fail(&form, "times", "must be positive")
                                                            : status;
}

int trial_read_wider(const json_t **out, const ako_reader *reader)
{
    size_t n = 0;
    int status = ako_read_array(out, &n, reader, "wider", MAX_FORMS, AKO_OPTIONAL);
    for (size_t i = 0; status == AKO_OK && i < n; i++)
        status = read_form(reader, *out, i);
    return status;
}

static int read_check(trial *t, const ako_reader *request)
{
    const json_t *object = NULL;
    ako_reader reader;
    size_t n = 0;
    if (!t->wants_check)
        return AKO_OK;
    int status = ako_read_object(&object, request, "check", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_reader_init(&reader, object, "trial.check");
    if (status == AKO_OK)
        status = ako_read_array(&t->seeds, &n, &reader, "seeds", MAX_SEEDS, AKO_REQUIRED);
    if (status == AKO_OK && n == 0)
        status = ako_reader_fail(&reader, "seeds", "at least one is needed");
    for (size_t i = 0; status == AKO_OK && i < n; i++)
        if (!json_is_integer(json_array_get(t->seeds, i)))
            status = ako_reader_fail(&reader, "seeds", "element %zu is no integer", i);
    return status == AKO_OK ? trial_read_wider(&t->wider, &reader) : status;
}

static int read_timing_numbers(trial_timing *out, const ako_reader *reader)
{
    int64_t warmup = 3, launches = 100;
    int status = ako_read_integer(&warmup, reader, "warmup", 0, AKO_WATCHED - EXCHANGE_SETS, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&launches, reader, "launches", 1, 100000, AKO_OPTIONAL);
    int64_t most = launches, least = 2, long_launches = launches;
    if (status == AKO_OK)
        status = ako_read_integer(&most, reader, "most", launches, 1000000, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&least, reader, "proof_least", 1, 100000, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_real(&out->proof_share, reader, "proof_share", AKO_OPTIONAL);
    if (status == AKO_OK && !(out->proof_share >= 0 && out->proof_share <= 10))
        status = ako_reader_fail(reader, "proof_share", "must lie between 0 and 10");
    if (status == AKO_OK)
        status = ako_read_integer(&out->budget_ns, reader, "budget", 0, INT64_MAX / 4, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&out->long_ns, reader, "long", 0, INT64_MAX / 4, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&long_launches, reader, "long_launches", 1, 100000, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_real(&out->alpha, reader, "alpha", AKO_OPTIONAL);
    if (status == AKO_OK && !(out->alpha > 0 && out->alpha < 1))
        status = ako_reader_fail(reader, "alpha", "must lie between 0 and 1");
    out->warmup = (int)warmup;
    out->launches = (int)launches;
    out->most = (int)most;
    out->long_launches = (int)(long_launches < launches ? long_launches : launches);
    out->proof_least = (int)least;
    return status;
}

static int read_looks(ako_paired_plan *plan, const ako_reader *reader)
{
    const json_t *looks = NULL;
    size_t n = 0;
    int status = ako_read_array(&looks, &n, reader, "looks", AKO_LOOKS, AKO_REQUIRED);
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        json_int_t pairs = json_integer_value(json_array_get(looks, i));
        if (pairs < 1 || pairs > MAX_PAIRS)
            return ako_reader_fail(reader, "looks", "element %zu is no number of pairs from 1 to %d", i, MAX_PAIRS);
        plan->looks[i] = (int)pairs;
    }
    plan->n_looks = (int)n;
    return status;
}

static int read_shares(trial_pairs *out, const ako_reader *reader)
{
    ako_paired_plan *plan = &out->plan;
    const struct {
        const char *name;
        double *value;
    } members[] = {{"alpha", &plan->alpha},
                   {"threshold", &plan->threshold},
                   {"clock_pair", &plan->clock_pair},
                   {"clock_run", &plan->clock_run},
                   {"most_dropped", &plan->most_dropped},
                   {"one_sided", &plan->one_sided},
                   {"order_effect", &plan->order_effect},
                   {"correlation", &plan->correlation},
                   {"hopeless", &out->hopeless}};
    int status = AKO_OK;
    for (size_t i = 0; status == AKO_OK && i < sizeof members / sizeof *members; i++)
        status = ako_read_real(members[i].value, reader, members[i].name, AKO_OPTIONAL);
    return status;
}

static int read_pairs(trial_pairs *out, const ako_reader *timing)
{
    const json_t *object = NULL;
    const char *score = "geomean";
    ako_reader reader;
    *out = (trial_pairs){.plan = {.alpha = 0.05}};
    int status = ako_read_object(&object, timing, "pairs", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_reader_init(&reader, object, "trial.time.pairs");
    if (status == AKO_OK)
        status = read_looks(&out->plan, &reader);
    if (status == AKO_OK)
        status = read_shares(out, &reader);
    if (status == AKO_OK)
        status = ako_read_bool(&out->plan.strict, &reader, "strict", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&out->budget_ns, &reader, "budget", 0, INT64_MAX / 4, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_string(&score, &reader, "score", AKO_OPTIONAL);
    if (status == AKO_OK &&
        (ako_score_parse(&out->plan.score, score) != AKO_OK || ako_paired_plan_check(&out->plan) != AKO_OK))
        status = ako_reader_fail(&reader, NULL, "%s", ako_error_last()->message);
    return status;
}

static int read_timing(trial *t, const ako_reader *request)
{
    const json_t *object = NULL;
    ako_reader reader;
    ako_timer_kind kind;
    trial_timing *out = &t->timing;
    *out = (trial_timing){.flush = true, .timer = "auto", .alpha = 0.05, .proof_share = 0.15};
    if (!t->wants_time)
        return AKO_OK;
    int status = ako_read_object(&object, request, "time", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_reader_init(&reader, object, "trial.time");
    if (status == AKO_OK)
        status = read_timing_numbers(out, &reader);
    if (status == AKO_OK)
        status = ako_read_bool(&out->flush, &reader, "flush", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_bool(&out->reference, &reader, "reference", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_bool(&out->compiled, &reader, "compiled", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_text(out->timer, sizeof out->timer, &reader, "timer", AKO_OPTIONAL);
    if (status == AKO_OK && ako_timer_kind_parse(&kind, out->timer) != AKO_OK)
        status = ako_reader_fail(&reader, "timer", "%s", ako_error_last()->message);
    return status == AKO_OK && t->incumbent ? read_pairs(&t->pairs, &reader) : status;
}

static int read_incumbent(trial *t, const json_t *request)
{
    json_t *unit = json_object_get(request, "incumbent");
    return unit && t->wants_time ? trial_read_unit(&t->incumbent, t, unit, "trial.incumbent") : AKO_OK;
}

int trial_read_unit(ako_unit **out, const trial *t, json_t *unit, const char *where)
{
    int status = ako_unit_parse(out, t->ev->task, unit, where);
    if (status == AKO_OK && (*out)->n_sources == 0)
        status = ako_fail(AKO_INVALID, "evaluator", "%s.sources: at least one is needed", where);
    if (status == AKO_OK && ako_lane_place((*out)->lane) == AKO_GPU && t->ev->device.place != AKO_GPU)
        status = ako_fail(AKO_UNAVAILABLE, "evaluator", "a solution of lane %s needs a GPU, and the device is the CPU",
                          ako_lane_name((*out)->lane));
    return status;
}

int trial_read_plan(trial *t, const json_t *request, const char *where)
{
    ako_reader reader;
    int status = ako_reader_init(&reader, request, where);
    if (status == AKO_OK)
        status = read_limits(&t->limits, &reader);
    if (status == AKO_OK)
        status = read_check(t, &reader);
    return status == AKO_OK ? read_timing(t, &reader) : status;
}

int trial_read(trial *t, const json_t *request)
{
    ako_reader reader;
    int status = ako_reader_init(&reader, request, "trial");
    if (status == AKO_OK)
        status = read_steps(t, &reader);
    if (status == AKO_OK)
        status = read_incumbent(t, request);
    if (status == AKO_OK)
        status = trial_read_plan(t, request, "trial");
    if (status == AKO_OK)
        status = trial_read_unit(&t->unit, t, json_object_get(request, "unit"), "trial.unit");
    if (status == AKO_OK && t->incumbent && ako_lane_place(t->incumbent->lane) != ako_lane_place(t->unit->lane))
        status = ako_fail(AKO_INVALID, "evaluator", "candidate and incumbent run on different kinds of devices");
    t->is_control = status == AKO_OK && t->incumbent && json_equal(t->incumbent->json, t->unit->json);
    return status;
}
