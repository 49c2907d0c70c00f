#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "pack.h"
#include "referee.h"
#include "verdict.h"

int referee_describe_overrun(char *out, size_t size, const ako_arena *arena, ako_ops *ops, void *base)
{
    ako_overrun overrun;
    int status = ako_arena_check(&overrun, arena, ops, base);
    out[0] = '\0';
    if (status == AKO_OK && overrun.name)
        snprintf(out, size, "wrote %s '%s' (first at its %s %" PRIu64 " bytes)",
                 overrun.before ? "before the start of" : "past the end of", overrun.name,
                 overrun.before ? "start -" : "end +", overrun.distance);
    return status;
}

/* Sets *changed to the first input that is not what it was, else -1. */
static int find_changed_input(int *changed, referee *r, const prepared *p)
{
    *changed = -1;
    uint64_t *now = calloc((size_t)r->task->n_tensors, sizeof *now);
    int status = now ? referee_hash(r, p, now) : referee_out_of_memory();
    for (int i = 0; status == AKO_OK && *changed < 0 && i < r->task->n_tensors; i++)
        if (now[i] != p->hashes[i])
            *changed = i;
    free(now);
    return status;
}

static json_t *pack_first(const ako_comparison *c)
{
    json_t *list = json_array();
    for (int i = 0; list && i < c->n_first; i++)
        json_array_append_new(list, json_pack("{s:I, s:o, s:o}", "index", (json_int_t)c->first[i].index, "expected",
                                              pack_real(c->first[i].expected), "got", pack_real(c->first[i].got)));
    return list;
}

static int add_figures(json_t *answer, const char *tensor, const ako_comparison *c)
{
    return pack_into(answer, json_pack("{s:s, s:o, s:o, s:I, s:I, s:o, s:o}", "tensor", tensor, "max_abs",
                                       pack_real(c->max_abs), "max_rel", pack_real(c->max_rel), "mismatch",
                                       (json_int_t)c->mismatches, "count", (json_int_t)c->count, "ratio",
                                       pack_real(c->ratio), "first", pack_first(c)));
}

/* A golden that no output could match proves nothing about the candidate. */
static bool is_golden_unusable(const ako_comparison *c, const ako_tolerance *tolerance)
{
    return (c->nan_expected > 0 && !tolerance->equal_nan) || (c->inf_expected > 0 && !tolerance->equal_inf);
}

static int blame_reference(json_t *answer, const ako_comparison *c, const char *tensor)
{
    char reason[300];
    snprintf(reason, sizeof reason,
             "the reference gives %" PRIu64 " NaN and %" PRIu64 " infinite values in '%s', which the tolerance forbids",
             c->nan_expected, c->inf_expected, tensor);
    return verdict_put(answer, "INVALID_REFERENCE", "golden", reason);
}

static void describe_mismatch(char *out, size_t size, const ako_comparison *c, const char *tensor)
{
    int n =
        snprintf(out, size, "%" PRIu64 " of %" PRIu64 " elements of '%s' are wrong", c->mismatches, c->count, tensor);
    if (n < 0 || (size_t)n >= size)
        return;
    if (c->all_zero)
        snprintf(out + n, size - (size_t)n, ": all are zero");
    else if (c->n_first > 0)
        snprintf(out + n, size - (size_t)n,
                 ", the first at %" PRIu64 ": expected %.9g, got %.9g (largest error %.3g%s)", c->first[0].index,
                 c->first[0].expected, c->first[0].got, c->max_abs, c->nan_got > 0 ? ", NaN among them" : "");
}

static int blame_candidate(json_t *answer, referee *r, const prepared *p, int i, const ako_comparison *c)
{
    const ako_span *span = &p->arena.spans[i];
    uint64_t left = 0, in_golden = 0;
    size_t size = ako_dtype_size(span->dtype);
    char reason[400];
    int status =
        ako_ops_count_poisoned(referee_ops(r), &left, ako_arena_address(&p->arena, i, p->base), span->count, size);
    /* Where the right answer happens to look like poison it says nothing about what was written. */
    if (status == AKO_OK && left > 0)
        status = ako_ops_count_poisoned(referee_ops(r), &in_golden, ako_arena_address(&p->golden_arena, i, p->golden),
                                        span->count, size);
    if (status != AKO_OK)
        return status;
    bool unwritten = left > in_golden && r->task->tensors[i].role == AKO_OUTPUT;
    if (unwritten)
        snprintf(reason, sizeof reason, "%" PRIu64 " of %" PRIu64 " elements of '%s' were never written",
                 left - in_golden, span->count, span->name);
    else
        describe_mismatch(reason, sizeof reason, c, span->name);
    return verdict_put(answer, "INCORRECT_NUMERICAL", unwritten ? "unwritten" : "numerical", reason);
}

/* Compares every output; reports the first that fails, else the one with the largest error. */
int referee_compare_outputs(json_t *answer, referee *r, const prepared *p)
{
    double worst = -1;
    int status = verdict_put_passed(answer);
    for (int i = 0; status == AKO_OK && i < r->task->n_tensors; i++) {
        ako_comparison c;
        const ako_span *span = &p->arena.spans[i];
        if (r->task->tensors[i].role == AKO_INPUT)
            continue;
        status = ako_ops_compare(referee_ops(r), &c, ako_arena_address(&p->arena, i, p->base),
                                 ako_arena_address(&p->golden_arena, i, p->golden), span->dtype, span->count,
                                 &r->task->tolerance);
        bool unusable = status == AKO_OK && is_golden_unusable(&c, &r->task->tolerance);
        if (status == AKO_OK && (c.max_abs > worst || !c.passed || unusable))
            status = add_figures(answer, span->name, &c);
        worst = c.max_abs > worst ? c.max_abs : worst;
        if (status == AKO_OK && unusable)
            return blame_reference(answer, &c, span->name);
        if (status == AKO_OK && !c.passed)
            return blame_candidate(answer, r, p, i, &c);
    }
    return status;
}

int referee_verify_intact(referee *r, const prepared *p, json_t *answer)
{
    char text[300], reason[400];
    int changed = -1;
    int status = referee_describe_overrun(text, sizeof text, &p->arena, referee_ops(r), p->base);
    if (status == AKO_OK && text[0])
        return verdict_put(answer, "RUNTIME_ERROR", "overrun", text);
    if (status == AKO_OK)
        status = find_changed_input(&changed, r, p);
    if (status != AKO_OK || changed < 0)
        return status == AKO_OK ? verdict_put_passed(answer) : status;
    snprintf(reason, sizeof reason, "changed its input '%s'", r->task->tensors[changed].name);
    return verdict_put(answer, "REWARD_HACK", "W4", reason);
}

int referee_verify(referee *r, const prepared *p, json_t *answer)
{
    int status = referee_verify_intact(r, p, answer);
    return status == AKO_OK && verdict_has_passed(answer) ? referee_compare_outputs(answer, r, p) : status;
}
