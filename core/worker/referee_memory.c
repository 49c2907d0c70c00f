#include <stdlib.h>

#include "error.h"
#include "referee.h"

#define GPU_ROOM ((uint64_t)3 << 28) /* for the context and the flush buffer of a candidate */
#define FEW 3                        /* processes, below which a screening makes no sense */
#define GPU_ROOM_FOR_SETS ((uint64_t)1 << 30)
#define CPU_ROOM_FOR_SETS ((uint64_t)1 << 26)
#define LARGE_SET ((uint64_t)64 << 20) /* whose calls take so long that samples have few of them */
#define SETS_FOR_LONG_CALLS 5
#define SET_ALIGNMENT ((uint64_t)2 << 20) /* as cudaMalloc has large blocks */

bool referee_runs_away(const referee *r)
{
    return ako_lane_place(r->reference->lane) != r->place;
}

/* Numbered like the tensors; inputs belong to the exported block. An inout tensor starts from the input's content. */
static int add_outputs(ako_arena *out, const ako_task *task, int workload)
{
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < task->n_tensors; i++) {
        const ako_tensor_spec *tensor = &task->tensors[i];
        if (tensor->role == AKO_INPUT)
            status = ako_arena_add_absent(out, tensor->name);
        else
            status = ako_arena_add(out, tensor->name, tensor->dtype,
                                   ako_shape_count(&task->workloads[workload].shapes[i]), tensor->role == AKO_INOUT);
    }
    return status;
}

static int add_scratch(ako_arena *out, const ako_unit *unit, int workload)
{
    const ako_unit_workload *w = &unit->workloads[workload];
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < w->n_scratch; i++)
        status =
            ako_arena_add(out, w->scratch[i].name, w->scratch[i].dtype, ako_shape_count(&w->scratch[i].shape), false);
    return status;
}

int referee_golden_arena(ako_arena *out, const referee *r, int workload)
{
    *out = (ako_arena){0};
    int status = add_outputs(out, r->task, workload);
    if (status == AKO_OK && !referee_runs_away(r))
        status = add_scratch(out, r->reference, workload);
    if (status != AKO_OK)
        ako_arena_free(out);
    return status;
}

typedef struct needs {
    uint64_t set, golden, away;
} needs;

static void raise_to(uint64_t *most, ako_arena *arena)
{
    if (arena->bytes > *most)
        *most = arena->bytes;
    ako_arena_free(arena);
}

static int find_needs(needs *out, const referee *r)
{
    int status = AKO_OK;
    *out = (needs){0};
    for (int w = 0; status == AKO_OK && w < r->task->n_workloads; w++) {
        ako_arena arena;
        for (int i = 0; status == AKO_OK && i < r->n_units; i++) {
            status = ako_arena_of_workload(&arena, r->task, r->units[i], w);
            if (status == AKO_OK)
                raise_to(&out->set, &arena);
        }
        if (status == AKO_OK)
            status = referee_golden_arena(&arena, r, w);
        if (status == AKO_OK)
            raise_to(&out->golden, &arena);
        if (status == AKO_OK && referee_runs_away(r)) {
            status = ako_arena_of_workload(&arena, r->task, r->reference, w);
            if (status == AKO_OK)
                raise_to(&out->away, &arena);
        }
    }
    return status;
}

/* A sample calls on each set once, so that all of its outputs can be looked at; small problems have room for many sets.
 * Without a second one every call sees the same addresses. */
static int sets_wanted(const referee *r, const needs *n)
{
    uint64_t room = r->place == AKO_GPU ? GPU_ROOM_FOR_SETS : CPU_ROOM_FOR_SETS, most = room / (n->set + 1);
    int useful = n->set > LARGE_SET ? SETS_FOR_LONG_CALLS : EXCHANGE_SETS;
    return most < 2 ? 2 : most < (uint64_t)useful ? (int)most : useful;
}

static bool is_enough(const ako_memory *block, uint64_t bytes)
{
    return bytes == 0 || (block && ako_memory_bytes(block) >= bytes);
}

static bool fits(const referee *r, const needs *n)
{
    return r->sets.n > 0 && ako_memory_place(r->sets.block) == r->place && r->sets.stride >= n->set &&
           (r->place == AKO_CPU || r->room_for >= r->processes) && is_enough(r->golden, n->golden) &&
           r->sets.n >= (r->sets_failed ? 1 : sets_wanted(r, n)) &&
           (n->away == 0 || (is_enough(r->away, n->away) && ako_memory_place(r->away) != r->place));
}

static void forget_prepared(prepared *p)
{
    ako_arena_free(&p->arena);
    ako_arena_free(&p->golden_arena);
    free(p->hashes);
    *p = (prepared){0};
}

static void release_blocks(referee *r)
{
    exchange_free(&r->sets);
    ako_memory_free(r->golden);
    ako_memory_free(r->away);
    r->golden = r->away = NULL;
}

void referee_release(referee *r)
{
    for (int s = 0; s < EXCHANGE_SETS; s++)
        forget_prepared(&r->prepared[s]);
    release_blocks(r);
    golden_cache_clear(&r->cache);
}

static int allocate_sets(referee *r, const needs *n, int count)
{
    uint64_t stride = (n->set + SET_ALIGNMENT - 1) / SET_ALIGNMENT * SET_ALIGNMENT;
    int status = ako_memory_new(&r->sets.block, r->place, stride * (uint64_t)count);
    if (status != AKO_OK)
        return status;
    r->sets.n = count;
    r->sets.stride = stride;
    return AKO_OK;
}

/* Python's calls return tensors of their own before they are copied; the referee draws inputs, or makes a golden. */
static uint64_t room_for_python(const referee *r, const needs *n)
{
    uint64_t inputs = n->set - (n->golden < n->set ? n->golden : n->set), room = 0;
    if (ako_lane_is_python(r->reference->lane))
        room = inputs > n->golden ? inputs : n->golden;
    bool python = false;
    for (int i = 0; i < r->n_units; i++)
        python = python || ako_lane_is_python(r->units[i]->lane);
    return room + (python ? n->golden * (uint64_t)r->processes : 0);
}

/* Where there is room for the sets and more. On the GPU the candidates need some, which is held back meanwhile; on the
 * CPU memory is given out only when it is touched, so the sum of all is asked for once. */
static int allocate_with_room(referee *r, const needs *n, int count)
{
    ako_memory *room;
    uint64_t all = (uint64_t)count * n->set + n->golden + n->away;
    uint64_t contexts = GPU_ROOM * (uint64_t)r->processes + room_for_python(r, n);
    int status = ako_memory_new(&room, r->place, r->place == AKO_GPU ? contexts : all);
    if (status != AKO_OK)
        return status;
    if (r->place == AKO_CPU) {
        ako_memory_free(room);
        room = NULL;
    }
    status = ako_memory_new(&r->golden, r->place, n->golden);
    if (status == AKO_OK && n->away > 0)
        status = ako_memory_new(&r->away, ako_lane_place(r->reference->lane), n->away);
    if (status == AKO_OK)
        status = allocate_sets(r, n, count);
    if (status != AKO_OK)
        release_blocks(r);
    ako_memory_free(room);
    return status;
}

/* As many sets as there is room for. A single one, with the same addresses in every call, is made only where nothing
 * else helps. */
static int allocate_most(referee *r, const needs *n, int *count)
{
    int status, least = r->processes > FEW ? 2 : 1;
    *count = sets_wanted(r, n);
    while ((status = allocate_with_room(r, n, *count)) == AKO_NOMEM && *count > least)
        (*count)--;
    return status;
}

static bool want_fewer(referee *r)
{
    if (r->processes <= FEW)
        return false;
    r->processes = r->processes / 2 > FEW ? r->processes / 2 : FEW;
    return true;
}

/* Allocating many gigabytes takes long, so blocks are kept while they are large enough. */
int referee_allocate(referee *r)
{
    needs n;
    for (int s = 0; s < EXCHANGE_SETS; s++)
        forget_prepared(&r->prepared[s]);
    int status = find_needs(&n, r);
    if (status != AKO_OK || fits(r, &n))
        return status;
    if (r->sets.n > 0 && ako_memory_place(r->sets.block) != r->place)
        golden_cache_clear(&r->cache);
    release_blocks(r);
    int count;
    do
        status = allocate_most(r, &n, &count);
    while (status == AKO_NOMEM && want_fewer(r));
    r->sets_failed = count < sets_wanted(r, &n);
    r->room_for = r->processes;
    return status;
}
