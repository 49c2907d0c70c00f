#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "reader.h"
#include "screen.h"

#define MOST_ROUNDS 1000

static int read_rounds(screen_plan *plan, const ako_reader *reader)
{
    const json_t *list = NULL;
    size_t n = 0;
    int status = ako_read_array(&list, &n, reader, "rounds", AKO_LOOKS, AKO_REQUIRED);
    if (status == AKO_OK && n == 0)
        status = ako_reader_fail(reader, "rounds", "at least one is needed");
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        json_int_t rounds = json_integer_value(json_array_get(list, i));
        if (rounds < 1 || rounds > MOST_ROUNDS || (i > 0 && rounds <= plan->rounds[i - 1]))
            return ako_reader_fail(reader, "rounds", "element %zu is no number from 1 to %d above the one before", i,
                                   MOST_ROUNDS);
        plan->rounds[i] = (int)rounds;
    }
    plan->n_rounds = (int)n;
    return status;
}

static int read_numbers(screen_plan *plan, const ako_reader *reader)
{
    int64_t keep = 2, most = 16;
    *plan = (screen_plan){.share = 0.5};
    int status = read_rounds(plan, reader);
    if (status == AKO_OK)
        status = ako_read_real(&plan->hopeless, reader, "hopeless", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_real(&plan->share, reader, "share", AKO_OPTIONAL);
    if (status == AKO_OK && !(plan->share > 0 && plan->share < 1))
        status = ako_reader_fail(reader, "share", "must lie between 0 and 1");
    if (status == AKO_OK)
        status = ako_read_integer(&most, reader, "most", 2, ARMS - ARM_CANDIDATE, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&keep, reader, "keep", 1, SCREEN_UNITS, AKO_OPTIONAL);
    plan->most = (int)most;
    plan->keep = keep < most ? (int)keep : (int)most - 1;
    return status;
}

static int read_plan(screening *s, const json_t *request)
{
    const json_t *object = NULL;
    ako_reader reader;
    int status = trial_read_plan(&s->base, request, "screen");
    if (status == AKO_OK)
        status = ako_reader_init(&reader, json_object_get(request, "time"), "screen.time");
    if (status == AKO_OK)
        status = ako_read_object(&object, &reader, "screen", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_reader_init(&reader, object, "screen.time.screen");
    return status == AKO_OK ? read_numbers(&s->plan, &reader) : status;
}

/* Each has the numbers of all. */
static int read_entrant(screening *s, entrant *e, json_t *unit, int index)
{
    char where[64];
    snprintf(where, sizeof where, "screen.units[%d]", index);
    e->trial = s->base;
    e->trial.incumbent = NULL;
    e->trial.unit = NULL;
    e->trial.unit_index = index + 1; /* the incumbent is the first of the referee's units */
    e->trial.answer = json_object();
    e->same_as = SAME_AS_NOBODY;
    e->left = "";
    int status = trial_read_unit(&e->trial.unit, &s->base, unit, where);
    if (status == AKO_OK && ako_lane_place(e->trial.unit->lane) != ako_lane_place(s->base.incumbent->lane))
        status = ako_fail(AKO_INVALID, "evaluator", "%s runs on another kind of device than the incumbent", where);
    return status == AKO_OK ? trial_list_workloads(&e->trial) : status;
}

static int read_units(screening *s, const json_t *request)
{
    ako_reader reader;
    const json_t *units = NULL;
    size_t n = 0;
    int status = ako_reader_init(&reader, request, "screen");
    if (status == AKO_OK)
        status = ako_read_array(&units, &n, &reader, "units", SCREEN_UNITS, AKO_REQUIRED);
    if (status == AKO_OK && n == 0)
        status = ako_reader_fail(&reader, "units", "at least one is needed");
    s->entrants = status == AKO_OK ? calloc(n, sizeof *s->entrants) : NULL;
    if (status == AKO_OK && !s->entrants)
        status = ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        s->n++;
        status = read_entrant(s, &s->entrants[i], json_array_get(units, i), (int)i);
    }
    return status;
}

int screen_read(screening *s, const json_t *request)
{
    s->base.wants_check = s->base.wants_time = true;
    int status = read_plan(s, request);
    if (status == AKO_OK)
        status =
            trial_read_unit(&s->base.incumbent, &s->base, json_object_get(request, "incumbent"), "screen.incumbent");
    s->base.unit = s->base.incumbent;
    return status == AKO_OK ? read_units(s, request) : status;
}
