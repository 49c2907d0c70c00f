/* Two arms that were called on the same views must have left the same in the watched places, as far as twice the
 * tolerance goes: each may be off by it. That costs nothing, and finds what the few calls compared in full might miss.
 * Where an answer in fp64 counts, too, each may also be off by as much as the reference is. */
#include <string.h>

#include "error.h"
#include "sample.h"
#include "timing.h"

typedef struct values {
    unsigned char got[8 * AKO_WATCHED], expected[8 * AKO_WATCHED];
    size_t n;
} values;

static void unpack(values *v, const json_t *a, const json_t *b, size_t from, size_t each, size_t size)
{
    v->n = 0;
    for (size_t j = from; j < from + each; j++, v->n++) {
        uint64_t x = (uint64_t)json_integer_value(json_array_get(a, j));
        uint64_t y = (uint64_t)json_integer_value(json_array_get(b, j));
        memcpy(v->expected + v->n * size, &x, size); /* little-endian, as the bits were taken */
        memcpy(v->got + v->n * size, &y, size);
    }
}

static ako_tolerance twice(const ako_tolerance *tolerance, double own_error)
{
    ako_tolerance loose = *tolerance;
    loose.atol = 2 * (loose.atol + loose.exact * own_error);
    loose.rtol *= 2;
    loose.cap = loose.ratio_required = 0;
    loose.equal_nan = loose.equal_inf = true;
    return loose;
}

/* Some places of an honest result may be off where the task allows that; a few are no proof then. */
static bool is_suspicious(const ako_comparison *c, const ako_tolerance *tolerance)
{
    double allowed = (1 - tolerance->ratio_required) * (double)c->count;
    return (double)c->mismatches > allowed + (double)c->count / 4;
}

static int compare_call(bool *agree, const trial *t, int workload, const json_t *a, const json_t *b)
{
    const ako_task *task = t->ev->task;
    size_t at = 0, all = json_array_size(a), outputs = 0;
    int status = AKO_OK;
    *agree = json_array_size(b) == all;
    for (int i = 0; i < task->n_tensors; i++)
        outputs += task->tensors[i].role != AKO_INPUT;
    size_t each = outputs ? all / outputs : 0;
    for (int i = 0; status == AKO_OK && *agree && i < task->n_tensors; i++) {
        values v;
        ako_comparison c;
        ako_tolerance loose =
            twice(&task->tolerance, json_real_value(json_array_get(t->own_error, (size_t)i))); /* 0: not known */
        if (task->tensors[i].role == AKO_INPUT)
            continue;
        unpack(&v, a, b, at, each, ako_dtype_size(task->tensors[i].dtype));
        at += each;
        if (ako_shape_count(&task->workloads[workload].shapes[i]) == 0)
            continue;
        status = ako_ops_compare(t->ev->cpu_ops, &c, v.got, v.expected, task->tensors[i].dtype, v.n, &loose);
        *agree = status != AKO_OK || !is_suspicious(&c, &task->tolerance);
    }
    return status;
}

/* The first call behind which they left different things, by what is known of the reference; -1: there is none. */
static int find(int *call, const trial *t, const two_turns *turns)
{
    const json_t *a = turns->taken[ARM_INCUMBENT].seen, *b = turns->taken[ARM_CANDIDATE].seen;
    bool agree = true;
    int status = AKO_OK;
    *call = -1;
    for (size_t i = 0; status == AKO_OK && agree && i < json_array_size(a); i++) {
        status = compare_call(&agree, t, turns->workload, json_array_get(a, i), json_array_get(b, i));
        *call = status == AKO_OK && !agree ? (int)i : -1;
    }
    return status;
}

/* The model in fp64 is asked last, and once: it takes long, and a referee that does not come back from it says no more,
 * so that by then the reference's own word must be known. */
static int settle(trial *t, const two_turns *turns, int call)
{
    json_t *verdict = NULL, *one = json_copy(json_array_get(turns->batch->calls, (size_t)call));
    int still = call;
    json_object_set(one, "seen", json_array_get(turns->taken[turns->last].seen, (size_t)call));
    int status = sample_look_back(&verdict, t, turns->workload, one);
    if (status == AKO_OK && !t->ended)
        status = trial_learn_own_error(t, verdict, json_pack("{s:O}", "call", one));
    if (status == AKO_OK && !t->ended)
        status = find(&still, t, turns);
    if (status == AKO_OK && !t->ended && still == call)
        status = sample_blame(t, turns, verdict);
    json_decref(verdict);
    json_decref(one);
    return status == AKO_OK && !t->ended && still >= 0 ? settle(t, turns, still) : status;
}

int arms_compare(trial *t, const two_turns *turns)
{
    int call = -1, status = t->ev->cpu_ops ? AKO_OK : ako_ops_new(&t->ev->cpu_ops, AKO_CPU);
    if (status == AKO_OK)
        status = find(&call, t, turns);
    return status == AKO_OK && call >= 0 ? settle(t, turns, call) : status;
}
