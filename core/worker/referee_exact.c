/* A reference in Python that is itself imprecise (a convolution in TF32, a variance that cancels) is no measure for a
 * solution that is better. Where the two differ, the same model in fp64 says which of them is off: a result that is
 * within the tolerance of that answer is right, and so is one that is no worse than the reference is. The evaluator
 * asks for it apart (trial_exact.c). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "pack.h"
#include "referee.h"
#include "told.h"

typedef struct answers {
    prepared exact;    /* the set, with the answer in fp64 as its golden, rounded to the dtypes of the outputs */
    ako_memory *kept;  /* where the reference's own answer lies meanwhile; NULL: it lay apart */
    const void *own;   /* that answer */
    bool in_common;    /* the own answer belongs where the exact one lies now */
    bool poisoned;     /* what fp64 has done to the device is beyond repair */
    char why_not[700]; /* there is no answer in fp64; "": there is */
} answers;

static void give_up(answers *a, const char *why)
{
    snprintf(a->why_not, sizeof a->why_not, "%.690s", why);
}

/* The own answer is moved out of the way of the other. */
static int move_own(answers *a, referee *r, const prepared *p)
{
    a->own = p->golden;
    a->in_common = p->golden == ako_memory_base(r->golden);
    if (!a->in_common)
        return AKO_OK;
    if (ako_memory_new(&a->kept, r->place, p->golden_arena.bytes) != AKO_OK) {
        give_up(a, ako_error_last()->message);
        return AKO_OK;
    }
    a->own = ako_memory_base(a->kept);
    return ako_ops_copy(referee_ops(r), ako_memory_base(a->kept), p->golden, p->golden_arena.bytes);
}

static int run_exactly(answers *a, referee *r, const prepared *p)
{
    reference_fault fault = {0};
    a->exact = *p;
    int status = referee_bind(r, p->workload, &fault);
    if (status == AKO_OK && !fault.reason[0] && choose_variant("exact") != AKO_OK)
        give_up(a, ako_error_last()->message);
    if (status == AKO_OK && !fault.reason[0] && !a->why_not[0])
        status = referee_run(r, &a->exact, &fault);
    choose_variant("");
    if (fault.reason[0])
        give_up(a, fault.reason);
    a->poisoned = fault.poisoned;
    return status;
}

static int make(answers *a, referee *r, const prepared *p)
{
    *a = (answers){0};
    int status = move_own(a, r, p);
    return status == AKO_OK && !a->why_not[0] ? run_exactly(a, r, p) : status;
}

/* Everything is as it was. */
static int put_back(answers *a, referee *r, const prepared *p)
{
    int status = AKO_OK;
    if (a->kept && a->in_common && !a->poisoned)
        status = ako_ops_copy(referee_ops(r), p->golden, a->own, p->golden_arena.bytes);
    ako_memory_free(a->kept);
    return status;
}

static int compare(ako_comparison *out, referee *r, const answers *a, int tensor, const void *got,
                   const ako_tolerance *tolerance)
{
    const ako_span *span = &a->exact.golden_arena.spans[tensor];
    return ako_ops_compare(referee_ops(r), out, got, ako_arena_address(&a->exact.golden_arena, tensor, a->exact.golden),
                           span->dtype, span->count, tolerance);
}

static const void *own_answer(const answers *a, int tensor)
{
    return ako_arena_address(&a->exact.golden_arena, tensor, (void *)a->own);
}

#define LEVELS 16    /* doublings of the tolerance */
#define ALIGNMENT 16 /* of what a GPU compares */

static bool is_within(const ako_comparison *solution, const ako_comparison *reference, double factor)
{
    return (double)solution->mismatches <= factor * (double)reference->mismatches &&
           solution->max_abs <= factor * reference->max_abs && solution->nan_got <= reference->nan_got &&
           solution->inf_got <= reference->inf_got && !solution->all_zero;
}

static ako_tolerance widened(ako_tolerance tolerance, double times)
{
    tolerance.atol *= times;
    tolerance.rtol *= times;
    return tolerance;
}

/* Whatever distance one looks at, there are no more of the solution's elements beyond it than of the reference's,
 * `exact` times and from so many times as far: one element that is far off excuses no other. */
static int has_no_longer_tail(bool *out, referee *r, const answers *a, int tensor)
{
    const ako_tolerance *tolerance = &r->task->tolerance;
    const void *got = ako_arena_address(&a->exact.arena, tensor, a->exact.base);
    ako_comparison solution, reference = {.mismatches = 1};
    int status = AKO_OK;
    *out = true;
    for (int i = 1; status == AKO_OK && *out && reference.mismatches > 0 && i <= LEVELS; i++) {
        ako_tolerance near = widened(*tolerance, (double)(1 << i)), far = widened(near, tolerance->exact);
        status = compare(&reference, r, a, tensor, own_answer(a, tensor), &near);
        if (status == AKO_OK)
            status = compare(&solution, r, a, tensor, got, &far);
        *out = status == AKO_OK && (double)solution.mismatches <= tolerance->exact * (double)reference.mismatches;
    }
    return status;
}

/* A model that computes something else in fp64, or draws other numbers, is no measure: the reference is then so far off
 * that the right numbers at other places, which are no answer at all, would be as near. */
static int is_measure(bool *out, referee *r, const answers *a, int tensor, const ako_comparison *reference)
{
    const ako_span *span = &a->exact.golden_arena.spans[tensor];
    const char *answer = ako_arena_address(&a->exact.golden_arena, tensor, a->exact.golden);
    size_t size = ako_dtype_size(span->dtype);
    uint64_t distance = span->count / 2 * size / ALIGNMENT * ALIGNMENT, compared = span->count - distance / size;
    double factor = r->task->tolerance.exact;
    ako_comparison shifted;
    *out = reference->n_first > 0 && factor * reference->max_abs < fabs(reference->first[0].expected);
    if (distance == 0) /* a few numbers, told by their size */
        return AKO_OK;
    int status = ako_ops_compare(referee_ops(r), &shifted, answer + distance, answer, span->dtype, compared,
                                 &r->task->tolerance);
    if (status != AKO_OK)
        return status;
    double wrong = (double)shifted.mismatches / (double)compared * (double)span->count; /* of all, at that rate */
    *out = wrong > factor * (double)reference->mismatches || shifted.max_abs > factor * reference->max_abs;
    return AKO_OK;
}

typedef struct judgement {
    bool right;        /* every output is, by this measure */
    double worst;      /* error of those seen so far, -1: none */
    json_t *figures;   /* of the worst */
    json_t *own_error; /* of the reference, a number a tensor; 0 where there is no measure */
} judgement;

/* Sets *right for one output; where there is no answer to measure it by, a->why_not says so. */
static int is_explained(bool *right, referee *r, answers *a, int tensor, const ako_comparison *solution,
                        const ako_comparison *reference)
{
    const ako_tolerance *tolerance = &r->task->tolerance;
    bool measure = false;
    *right = false;
    if ((solution->nan_expected > 0 && !tolerance->equal_nan) ||
        (solution->inf_expected > 0 && !tolerance->equal_inf)) {
        give_up(a, "in fp64 the model gives NaN or infinite values");
        return AKO_OK;
    }
    *right = solution->passed;
    if (*right || reference->mismatches == 0) /* a reference that is right excuses nothing */
        return AKO_OK;
    int status = is_measure(&measure, r, a, tensor, reference);
    if (status != AKO_OK)
        return status;
    if (!measure)
        give_up(a, "in fp64 the model gives another answer, which is no measure for this one");
    else if (is_within(solution, reference, tolerance->exact))
        return has_no_longer_tail(right, r, a, tensor);
    return AKO_OK;
}

static int judge_output(judgement *j, referee *r, answers *a, int tensor)
{
    ako_comparison solution, reference;
    const ako_span *span = &a->exact.arena.spans[tensor];
    bool right;
    int status = compare(&solution, r, a, tensor, ako_arena_address(&a->exact.arena, tensor, a->exact.base),
                         &r->task->tolerance);
    if (status == AKO_OK)
        status = compare(&reference, r, a, tensor, own_answer(a, tensor), &r->task->tolerance);
    if (status == AKO_OK)
        status = is_explained(&right, r, a, tensor, &solution, &reference);
    if (status != AKO_OK || a->why_not[0])
        return status;
    json_array_set_new(j->own_error, (size_t)tensor, pack_real(reference.max_abs));
    if (j->right && (solution.max_abs > j->worst || !right))
        status = pack_into(j->figures,
                           json_pack("{s:s, s:o, s:o}", "tensor", span->name, "max_abs", pack_real(solution.max_abs),
                                     "reference_max_abs", pack_real(reference.max_abs)));
    j->worst = solution.max_abs > j->worst ? solution.max_abs : j->worst;
    j->right = j->right && right;
    return status;
}

static int judge(judgement *j, referee *r, answers *a)
{
    int status = AKO_OK;
    for (int i = 0; i < r->task->n_tensors; i++)
        json_array_append_new(j->own_error, json_real(0));
    for (int i = 0; status == AKO_OK && !a->why_not[0] && i < r->task->n_tensors; i++)
        if (r->task->tensors[i].role != AKO_INPUT && a->exact.arena.spans[i].count > 0)
            status = judge_output(j, r, a, i);
    return status;
}

static int answer_with(json_t *answer, judgement *j, const answers *a)
{
    if (a->why_not[0]) {
        json_object_clear(j->figures);
        json_object_set_new(j->figures, "unavailable", pack_text(a->why_not, strlen(a->why_not)));
    }
    return pack_into(answer, json_pack("{s:b, s:b, s:O, s:O}", "right", j->right && !a->why_not[0], "poisoned",
                                       a->poisoned, "exact", j->figures, "own_error", j->own_error));
}

int referee_judge_exactly(json_t *answer, referee *r, const prepared *p)
{
    answers a = {0};
    judgement j = {.right = true, .worst = -1, .figures = json_object(), .own_error = json_array()};
    int status = j.figures && j.own_error ? AKO_OK : referee_out_of_memory();
    if (status == AKO_OK && !ako_lane_is_python(r->reference->lane))
        give_up(&a, "only a reference in Python has an answer in fp64");
    else if (status == AKO_OK)
        status = make(&a, r, p);
    if (status == AKO_OK && !a.why_not[0])
        status = judge(&j, r, &a);
    if (put_back(&a, r, p) != AKO_OK && status == AKO_OK)
        status = ako_error_last()->status;
    if (status == AKO_OK)
        status = answer_with(answer, &j, &a);
    json_decref(j.figures);
    json_decref(j.own_error);
    return status;
}
