#include "timed.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "pack.h"
#include "reader.h"

static int read_plan(ako_time_plan *plan, const json_t *request)
{
    ako_reader reader;
    const char *timer = "auto";
    int64_t warmup = 0, launches = 0, least = 0;
    *plan = (ako_time_plan){.flush = true};
    int status = ako_reader_init(&reader, request, "time");
    if (status == AKO_OK)
        status = ako_read_integer(&warmup, &reader, "warmup", 0, 1000000, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_integer(&launches, &reader, "launches", 1, 1000000, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_bool(&plan->flush, &reader, "flush", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_bool(&plan->loose, &reader, "loose", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&plan->budget_ns, &reader, "budget", 0, INT64_MAX, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&least, &reader, "least", 0, 1000000, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_string(&timer, &reader, "timer", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_timer_kind_parse(&plan->kind, timer);
    plan->warmup = (int)warmup;
    plan->launches = (int)launches;
    plan->least = (int)least;
    return status;
}

static json_t *pack_samples(const ako_time_result *result)
{
    json_t *list = json_array();
    for (int i = 0; list && i < result->n; i++)
        json_array_append_new(list, json_integer((json_int_t)result->samples_ns[i]));
    return list;
}

static json_t *pack_seen(const ako_watch *watch, int calls)
{
    json_t *list = json_array();
    for (int i = 0; i < calls; i++) {
        json_t *call = json_array();
        for (int j = 0; j < watch->n; j++)
            json_array_append_new(call, json_integer((json_int_t)watch->seen[i * watch->n + j]));
        json_array_append_new(list, call);
    }
    return list;
}

static int answer_with(json_t *answer, const ako_time_result *result, const ako_timer *timer, const ako_watch *watch)
{
    const char *note = ako_timer_note(timer);
    int status =
        pack_into(answer, json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:i, s:I, s:I}", "timer",
                                    ako_timer_kind_name(ako_timer_used(timer)), "note", pack_text(note, strlen(note)),
                                    "samples_ns", pack_samples(result), "events_ns", (json_int_t)result->events_ns,
                                    "wall_ns", (json_int_t)result->wall_ns, "wall_min_ns",
                                    (json_int_t)result->wall_min_ns, "sm_clock_mhz", result->sm_clock_mhz, "loose_ns",
                                    (json_int_t)result->loose_ns, "carve_out", (json_int_t)result->carve_out));
    if (status == AKO_OK && watch)
        status = pack_into(answer, json_pack("{s:o}", "seen", pack_seen(watch, result->n)));
    return status;
}

int timed_run(json_t *answer, const json_t *request, ako_timer *timer, ako_runner *runner, void *const *const *sets,
              int n_sets, const ako_watch *watch)
{
    ako_time_plan plan;
    ako_time_result result = {0};
    int status = read_plan(&plan, request);
    plan.watch = watch;
    if (status == AKO_OK)
        status = ako_timer_run(timer, runner, sets, n_sets, &plan, &result);
    if (status == AKO_OK)
        status = answer_with(answer, &result, timer, watch);
    free(result.samples_ns);
    return status;
}
