/* A reference in Python that is itself imprecise (a convolution in TF32, a variance that cancels) is no measure for a
 * solution that is better. Where the two differ, the same model in fp64 says which of them is off: a result that is
 * within the tolerance of that answer is right, and so is one that is no worse than the reference is. */
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
    int status =
        a->kept && a->in_common ? ako_ops_copy(referee_ops(r), p->golden, a->own, p->golden_arena.bytes) : AKO_OK;
    ako_memory_free(a->kept);
    return status;
}

static int compare(ako_comparison *out, referee *r, const answers *a, int tensor, const void *got)
{
    const ako_span *span = &a->exact.golden_arena.spans[tensor];
    return ako_ops_compare(referee_ops(r), out, got, ako_arena_address(&a->exact.golden_arena, tensor, a->exact.golden),
                           span->dtype, span->count, &r->task->tolerance);
}

static const void *own_answer(const answers *a, int tensor)
{
    return ako_arena_address(&a->exact.golden_arena, tensor, (void *)a->own);
}

/* No more elements off, and none farther, than the reference's own, `factor` times. */
static bool is_no_worse(const ako_comparison *solution, const ako_comparison *reference, double factor)
{
    return (double)solution->mismatches <= factor * (double)reference->mismatches &&
           solution->max_abs <= factor * reference->max_abs && solution->nan_got <= reference->nan_got &&
           solution->inf_got <= reference->inf_got && !solution->all_zero;
}

/* Sets *explained when every output is right by this measure; `figures`, an object, gets those of the worst. */
static int judge(bool *explained, json_t *figures, referee *r, const answers *a)
{
    double worst = -1;
    int status = AKO_OK;
    *explained = true;
    for (int i = 0; status == AKO_OK && *explained && i < r->task->n_tensors; i++) {
        ako_comparison solution, reference;
        if (r->task->tensors[i].role == AKO_INPUT || a->exact.arena.spans[i].count == 0)
            continue;
        status = compare(&solution, r, a, i, ako_arena_address(&a->exact.arena, i, a->exact.base));
        if (status == AKO_OK)
            status = compare(&reference, r, a, i, own_answer(a, i));
        if (status != AKO_OK)
            break;
        *explained = solution.passed || is_no_worse(&solution, &reference, r->task->tolerance.exact);
        if (solution.max_abs > worst || !*explained)
            status = pack_into(figures, json_pack("{s:s, s:o, s:o}", "tensor", a->exact.arena.spans[i].name, "max_abs",
                                                  pack_real(solution.max_abs), "reference_max_abs",
                                                  pack_real(reference.max_abs)));
        worst = solution.max_abs > worst ? solution.max_abs : worst;
    }
    return status;
}

static bool is_wanted(const referee *r)
{
    return r->task->tolerance.exact > 0 && ako_lane_is_python(r->reference->lane);
}

static bool differs_in_numbers(const json_t *answer)
{
    const char *code = json_string_value(json_object_get(answer, "code"));
    return code && strcmp(code, "numerical") == 0;
}

int referee_judge_exactly(json_t *answer, referee *r, const prepared *p)
{
    answers a;
    bool explained = false;
    if (!is_wanted(r) || !differs_in_numbers(answer))
        return AKO_OK;
    json_t *figures = json_object();
    int status = figures ? make(&a, r, p) : referee_out_of_memory();
    if (status == AKO_OK && a.why_not[0])
        status = pack_into(figures, json_pack("{s:o}", "unavailable", pack_text(a.why_not, strlen(a.why_not))));
    else if (status == AKO_OK)
        status = judge(&explained, figures, r, &a);
    if (figures && put_back(&a, r, p) != AKO_OK && status == AKO_OK)
        status = ako_error_last()->status;
    if (status == AKO_OK && explained)
        status = pack_into(answer, json_pack("{s:s, s:s, s:s}", "status", "PASSED", "code", "", "reason", ""));
    if (status != AKO_OK) {
        json_decref(figures);
        return status;
    }
    return pack_into(answer, json_pack("{s:o}", "exact", figures));
}

static int pack_errors(json_t *list, referee *r, const answers *a)
{
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < r->task->n_tensors; i++) {
        ako_comparison c = {0};
        if (r->task->tensors[i].role != AKO_INPUT && a->exact.arena.spans[i].count > 0)
            status = compare(&c, r, a, i, own_answer(a, i));
        json_array_append_new(list, json_real(c.max_abs));
    }
    return status;
}

int referee_own_error(json_t *answer, referee *r, const prepared *p)
{
    answers a;
    json_t *list = json_array();
    int status = list ? AKO_OK : referee_out_of_memory();
    if (status == AKO_OK && is_wanted(r)) {
        status = make(&a, r, p);
        if (status == AKO_OK && !a.why_not[0])
            status = pack_errors(list, r, &a);
        if (put_back(&a, r, p) != AKO_OK && status == AKO_OK)
            status = ako_error_last()->status;
    }
    if (status != AKO_OK) {
        json_decref(list);
        return status;
    }
    return pack_into(answer, json_pack("{s:o}", "own_error", list));
}
