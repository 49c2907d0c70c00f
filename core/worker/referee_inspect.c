/* What timed calls have left in their outputs. Nothing is known of them in advance: the reference runs on what lies in
 * the inputs when a call has been chosen, after the fact and in secret. */
#include <stdlib.h>

#include "clock.h"
#include "pack.h"
#include "referee.h"
#include "verdict.h"

/* The set of a call as that call saw it; its arena is to be freed. */
static int view_of(prepared *out, const referee *r, const json_t *call)
{
    json_int_t set = json_integer_value(json_object_get(call, "set"));
    if (set < 0 || set >= r->sets.n || !r->prepared[set].ready || !r->prepared[set].loose)
        return ako_fail(AKO_INVALID, "referee", "set %" JSON_INTEGER_FORMAT " is not prepared for timing", set);
    *out = r->prepared[set];
    return exchange_view(&out->arena, &r->prepared[set].arena, json_object_get(call, "shifts"));
}

static int wipe_call(referee *r, const json_t *call)
{
    prepared view;
    int status = view_of(&view, r, call);
    if (status != AKO_OK)
        return status;
    for (int i = 0; status == AKO_OK && i < r->task->n_tensors; i++)
        if (r->task->tensors[i].role == AKO_OUTPUT)
            status =
                ako_ops_poison(referee_ops(r), ako_arena_address(&view.arena, i, view.base), view.arena.spans[i].bytes);
    ako_arena_free(&view.arena);
    return status;
}

/* Two arms are called on the same views: the second one must not find there what the first one has left. */
int referee_wipe(referee *r, const json_t *request)
{
    const json_t *calls = json_object_get(request, "calls");
    int status = AKO_OK;
    for (size_t i = 0; status == AKO_OK && i < json_array_size(calls); i++)
        status = wipe_call(r, json_array_get(calls, i));
    return status;
}

static int gather_places(referee *r, uint64_t *places, const json_t *calls, int each)
{
    int status = AKO_OK;
    size_t n = json_array_size(calls);
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        prepared view;
        const json_t *call = json_array_get(calls, i);
        status = view_of(&view, r, call);
        if (status != AKO_OK)
            return status;
        uint64_t seed = (uint64_t)json_integer_value(json_object_get(call, "places"));
        exchange_places(places + i * (size_t)each, r->task, &view.arena, view.base, seed);
        ako_arena_free(&view.arena);
    }
    return ako_ops_gather(referee_ops(r), places, places, (int)n * each);
}

/* The elements that were read when a call had just returned are what is there now, or the call had not been done. */
static int find_late_write(int *late, referee *r, const json_t *calls)
{
    int each = exchange_places(NULL, r->task, NULL, NULL, 0);
    size_t n = json_array_size(calls);
    uint64_t *now = malloc((n * (size_t)each + 1) * sizeof *now);
    int status = now ? gather_places(r, now, calls, each) : referee_out_of_memory();
    *late = -1;
    for (size_t i = 0; status == AKO_OK && *late < 0 && i < n; i++) {
        const json_t *seen = json_object_get(json_array_get(calls, i), "seen");
        for (int j = 0; j < each; j++)
            if ((uint64_t)json_integer_value(json_array_get(seen, (size_t)j)) != now[i * (size_t)each + (size_t)j])
                *late = (int)i;
    }
    free(now);
    return status;
}

typedef int judge_outputs(json_t *answer, referee *r, const prepared *p);

/* What a call has left, beside what the reference gives for the inputs that lie there. */
static int judge_call(referee *r, const json_t *call, json_t *answer, reference_fault *fault, judge_outputs *judge)
{
    prepared view;
    int status = view_of(&view, r, call);
    if (status != AKO_OK)
        return status;
    status = referee_run(r, &view, fault);
    if (status == AKO_OK && !fault->reason[0])
        status = judge(answer, r, &view);
    ako_arena_free(&view.arena);
    return status;
}

int referee_judge_call(referee *r, const json_t *call, json_t *answer, reference_fault *fault)
{
    return judge_call(r, call, answer, fault, referee_judge_exactly);
}

int referee_inspect(referee *r, const json_t *request, json_t *answer, reference_fault *fault)
{
    const json_t *calls = json_object_get(request, "calls"), *full = json_object_get(request, "full");
    int late, status = find_late_write(&late, r, calls);
    if (status == AKO_OK && late >= 0)
        return verdict_put(answer, "REWARD_HACK", "T2", "outputs went on changing after a timed call had returned");
    if (status == AKO_OK)
        status = verdict_put_passed(answer);
    int64_t start = ako_clock_ns();
    size_t n = 0;
    for (; status == AKO_OK && !fault->reason[0] && verdict_has_passed(answer) && n < json_array_size(full); n++) {
        size_t index = (size_t)json_integer_value(json_array_get(full, n));
        status = judge_call(r, json_array_get(calls, index), answer, fault, referee_compare_outputs);
    }
    int64_t each_ns = (ako_clock_ns() - start) / (int64_t)(n ? n : 1);
    return status == AKO_OK
               ? pack_into(answer, json_pack("{s:I, s:I}", "verify_ns", (json_int_t)each_ns, "compared", (json_int_t)n))
               : status;
}
