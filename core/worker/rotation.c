#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "clock.h"
#include "error.h"
#include "sample.h"

uint64_t random_bits(void)
{
    uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        bits = (uint64_t)ako_clock_ns() * UINT64_C(0x9E3779B97F4A7C15);
    return bits;
}

bool task_has_inout(const ako_task *task)
{
    for (int i = 0; i < task->n_tensors; i++)
        if (task->tensors[i].role == AKO_INOUT)
            return true;
    return false;
}

/* Inputs that the problem's own code makes have one place in a set, and every call needs new ones. */
static bool task_is_drawn_by_problem(const ako_task *task)
{
    for (int i = 0; i < task->n_tensors; i++)
        if (task->tensors[i].role == AKO_INPUT && task->tensors[i].fill.kind == AKO_FILL_PROBLEM)
            return true;
    return false;
}

static int shuffle(rotation *r)
{
    size_t n = (size_t)r->n_sets * (size_t)r->n_tensors;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = random_bits();
        r->step[i] = (unsigned char)(bits | 1); /* odd: every shift comes once in AKO_SHIFTS views */
        r->start[i] = (unsigned char)(bits >> 8);
    }
    memset(r->used, 0, sizeof r->used);
    return AKO_OK;
}

static int allocate(rotation *r, const trial *t)
{
    size_t n = (size_t)t->n_sets * (size_t)t->ev->task->n_tensors + 1;
    *r = (rotation){.n_sets = t->n_sets,
                    .n_tensors = t->ev->task->n_tensors,
                    .anew = task_is_drawn_by_problem(t->ev->task),
                    .step = malloc(n),
                    .start = malloc(n)};
    return r->step && r->start ? AKO_OK : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
}

int rotation_prepare(trial *t, rotation *r, int workload)
{
    bool made_later = task_has_inout(t->ev->task) || task_is_drawn_by_problem(t->ev->task);
    int status = r->step ? AKO_OK : allocate(r, t);
    if (status == AKO_OK)
        status = shuffle(r);
    for (int s = 0; status == AKO_OK && !t->ended && !made_later && s < r->n_sets; s++)
        status = trial_prepare_loose(t, workload, s, (int64_t)random_bits());
    return status;
}

void rotation_free(rotation *r)
{
    free(r->step);
    free(r->start);
    *r = (rotation){0};
}

bool rotation_has(const rotation *r, int views)
{
    for (int s = 0; s < r->n_sets; s++)
        if (!r->anew && r->used[s] + views > AKO_SHIFTS)
            return false;
    return true;
}

static int make_set(trial *t, rotation *r, int workload, int set)
{
    int status = AKO_OK;
    if (r->used[set] > 1) /* by an earlier batch, not by this one alone */
        status = sample_check_set(t, workload, set);
    r->used[set] = 1;
    return status == AKO_OK && !t->ended ? trial_prepare_loose(t, workload, set, (int64_t)random_bits()) : status;
}

int rotation_make(trial *t, rotation *r, int workload, const batch *b)
{
    bool made[EXCHANGE_SETS] = {false};
    int status = AKO_OK;
    for (int i = 0; r->anew && status == AKO_OK && !t->ended && i < b->n; i++) {
        int set = (int)json_integer_value(json_object_get(json_array_get(b->calls, (size_t)i), "set"));
        if (!made[set])
            status = make_set(t, r, workload, set);
        made[set] = true;
    }
    return status;
}

static json_t *next_view(rotation *r, int set)
{
    json_t *shifts = json_array();
    int view = r->used[set]++;
    for (int i = 0; shifts && i < r->n_tensors; i++) {
        int k = set * r->n_tensors + i;
        json_array_append_new(shifts, json_integer((r->start[k] + view * r->step[k]) % AKO_SHIFTS));
    }
    return json_pack("{s:i, s:o, s:I}", "set", set, "shifts", shifts, "places", (json_int_t)(random_bits() >> 1));
}

/* Sets in a random order, so that none is always the first to be called. */
static void fresh_calls(batch *b, rotation *r)
{
    int first = (int)(random_bits() % (uint64_t)r->n_sets);
    for (int i = 0; i < b->n; i++)
        json_array_append_new(b->calls, next_view(r, (first + i) % r->n_sets));
}

static void same_calls(batch *b, rotation *r)
{
    json_t *call = next_view(r, (int)(random_bits() % (uint64_t)r->n_sets));
    for (int i = 0; i < b->n; i++)
        json_array_append(b->calls, call);
    json_decref(call);
}

static void whole_sets(batch *b)
{
    for (int i = 0; i < b->n; i++)
        json_array_append_new(b->calls, json_pack("{s:i, s:I}", "set", i, "places", (json_int_t)(random_bits() >> 1)));
}

int batch_new(batch *b, const trial *t, rotation *r, int n)
{
    bool made_for_each_call = task_has_inout(t->ev->task);
    *b = (batch){.calls = json_array(), .n = n, .seed = random_bits(), .proven = -1};
    if (made_for_each_call)
        b->proven = (int)(random_bits() % (uint64_t)n);
    if (made_for_each_call)
        whole_sets(b);
    else if (t->timing.flush)
        fresh_calls(b, r);
    else
        same_calls(b, r);
    return json_array_size(b->calls) == (size_t)n ? AKO_OK : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
}

void batch_free(batch *b)
{
    json_decref(b->calls);
    *b = (batch){0};
}
