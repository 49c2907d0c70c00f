#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "referee.h"

#define SLOW_NS INT64_C(50000000) /* a reference slower than this is not run twice for one seed */

static void blame(reference_fault *fault, int status, const char *what)
{
    snprintf(fault->reason, sizeof fault->reason, "the reference %s: %.600s", what, ako_error_last()->message);
    fault->poisoned = status == AKO_CUDA;
}

int referee_bind(referee *r, int workload, reference_fault *fault)
{
    if (r->bound == workload)
        return AKO_OK;
    const ako_unit_workload *w = &r->reference->workloads[workload];
    r->bound = -1;
    int status = ako_runner_bind(r->runner, w->calls, w->n_calls);
    if (status != AKO_OK)
        blame(fault, status, "cannot be called");
    else
        r->bound = workload;
    return AKO_OK;
}

/* Between the exported block and a reference's own, one of which is on the GPU and the other on the CPU. */
static int move(referee *r, void *to, const void *from, uint64_t bytes, ako_place place_of_to)
{
    if (bytes == 0)
        return AKO_OK;
    return place_of_to == AKO_GPU ? ako_ops_upload(r->ops[AKO_GPU], to, from, bytes)
                                  : ako_ops_download(r->ops[AKO_GPU], to, from, bytes);
}

static int run(referee *r, void *const *addresses, reference_fault *fault)
{
    int status = ako_runner_call(r->runner, addresses);
    if (status != AKO_OK)
        blame(fault, status, "failed");
    return AKO_OK;
}

static int check_overrun(const ako_arena *arena, ako_ops *ops, void *base, reference_fault *fault)
{
    char text[300];
    if (fault->reason[0])
        return AKO_OK;
    int status = referee_describe_overrun(text, sizeof text, arena, ops, base);
    if (status == AKO_OK && text[0])
        snprintf(fault->reason, sizeof fault->reason, "the reference %s", text);
    return status;
}

/* Inputs are read from the exported block, everything else is the reference's own. */
static int run_in_place(referee *r, const prepared *p, reference_fault *fault)
{
    ako_ops *ops = referee_ops(r);
    void **addresses = exchange_addresses(&p->golden_arena, p->golden);
    int status = addresses ? ako_arena_poison(&p->golden_arena, ops, p->golden) : referee_out_of_memory();
    for (int i = 0; status == AKO_OK && i < r->task->n_tensors; i++) {
        void *exported = ako_arena_address(&p->arena, i, p->base);
        if (r->task->tensors[i].role == AKO_INPUT)
            addresses[i] = exported;
        else if (r->task->tensors[i].role == AKO_INOUT && p->arena.spans[i].bytes > 0)
            status = ako_ops_copy(ops, addresses[i], exported, p->arena.spans[i].bytes);
    }
    if (status == AKO_OK)
        status = run(r, addresses, fault);
    if (status == AKO_OK)
        status = check_overrun(&p->golden_arena, ops, p->golden, fault);
    free(addresses);
    return status;
}

static int bring_inputs(referee *r, const prepared *p, const ako_arena *away, void *base)
{
    ako_place place = ako_memory_place(r->away);
    int status = ako_arena_poison(away, r->ops[place], base);
    for (int i = 0; status == AKO_OK && i < r->task->n_tensors; i++)
        if (r->task->tensors[i].role != AKO_OUTPUT)
            status = move(r, ako_arena_address(away, i, base), ako_arena_address(&p->arena, i, p->base),
                          away->spans[i].bytes, place);
    return status;
}

static int fetch_outputs(referee *r, const prepared *p, const ako_arena *away, void *base)
{
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < r->task->n_tensors; i++)
        if (r->task->tensors[i].role != AKO_INPUT)
            status = move(r, ako_arena_address(&p->golden_arena, i, p->golden), ako_arena_address(away, i, base),
                          away->spans[i].bytes, r->place);
    return status;
}

/* On copies of its own, in the place where it runs. */
static int run_away(referee *r, const prepared *p, reference_fault *fault)
{
    ako_arena away;
    void *base = ako_memory_base(r->away);
    int status = ako_arena_of_workload(&away, r->task, r->reference, p->workload);
    if (status != AKO_OK)
        return status;
    void **addresses = exchange_addresses(&away, base);
    status = addresses ? bring_inputs(r, p, &away, base) : referee_out_of_memory();
    if (status == AKO_OK)
        status = run(r, addresses, fault);
    if (status == AKO_OK)
        status = check_overrun(&away, r->ops[ako_memory_place(r->away)], base, fault);
    if (status == AKO_OK && !fault->reason[0])
        status = fetch_outputs(r, p, &away, base);
    free(addresses);
    ako_arena_free(&away);
    return status;
}

/* A reference that writes into its inputs would hand another problem to the candidate. */
static int prove_inputs_kept(referee *r, const prepared *p, reference_fault *fault)
{
    if (fault->reason[0] || r->proven[p->workload] || referee_runs_away(r))
        return AKO_OK;
    uint64_t *after = calloc((size_t)r->task->n_tensors, sizeof *after);
    int status = after ? referee_hash(r, p, after) : referee_out_of_memory();
    for (int i = 0; status == AKO_OK && i < r->task->n_tensors; i++)
        if (after[i] != p->hashes[i])
            snprintf(fault->reason, sizeof fault->reason, "the reference changed its input '%s'",
                     r->task->tensors[i].name);
    free(after);
    r->proven[p->workload] = status == AKO_OK && !fault->reason[0];
    return status;
}

static golden_entry *find_entry(golden_cache *cache, const prepared *p, uint64_t seed)
{
    for (int i = 0; i < cache->n; i++) {
        golden_entry *e = &cache->entries[i];
        if (e->workload == p->workload && e->seed == seed && e->form.is_signed == p->form.is_signed &&
            e->form.times == p->form.times)
            return e;
    }
    return NULL;
}

static golden_entry *new_entry(golden_cache *cache)
{
    if (cache->n == cache->capacity) {
        int capacity = cache->capacity ? 2 * cache->capacity : 16;
        golden_entry *grown = realloc(cache->entries, (size_t)capacity * sizeof *grown);
        if (!grown)
            return NULL;
        cache->entries = grown;
        cache->capacity = capacity;
    }
    return &cache->entries[cache->n];
}

/* A quarter of the GPU's memory, or of what the host has free. */
static uint64_t cache_budget(const referee *r)
{
    if (r->place == AKO_GPU)
        return r->gpu_bytes / 4;
    long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 : 0;
}

/* Keeping a golden is a convenience: when there is no room, it is made again next time. */
static int keep(referee *r, const prepared *p, uint64_t seed)
{
    golden_cache *cache = &r->cache;
    uint64_t bytes = p->golden_arena.bytes;
    if (cache->budget == 0)
        cache->budget = cache_budget(r);
    golden_entry *entry = cache->bytes + bytes > cache->budget ? NULL : new_entry(cache);
    ako_memory *block;
    if (!entry || ako_memory_new(&block, r->place, bytes) != AKO_OK)
        return AKO_OK;
    int status = ako_ops_copy(referee_ops(r), ako_memory_base(block), p->golden, bytes);
    if (status != AKO_OK) {
        ako_memory_free(block);
        return status;
    }
    *entry = (golden_entry){.workload = p->workload, .form = p->form, .seed = seed, .block = block};
    cache->n++;
    cache->bytes += bytes;
    return AKO_OK;
}

int referee_make_golden(referee *r, prepared *p, uint64_t seed, int64_t *took_ns, reference_fault *fault)
{
    golden_entry *kept = find_entry(&r->cache, p, seed);
    *took_ns = 0;
    p->golden = ako_memory_base(kept ? kept->block : r->golden);
    if (kept)
        return AKO_OK;
    int status = referee_bind(r, p->workload, fault);
    int64_t start = ako_clock_ns();
    if (status == AKO_OK && !fault->reason[0])
        status = referee_runs_away(r) ? run_away(r, p, fault) : run_in_place(r, p, fault);
    *took_ns = ako_clock_ns() - start;
    if (status == AKO_OK)
        status = prove_inputs_kept(r, p, fault);
    if (status == AKO_OK && !fault->reason[0] && *took_ns > SLOW_NS)
        status = keep(r, p, seed);
    return status;
}

int referee_run(referee *r, prepared *p, reference_fault *fault)
{
    p->golden = ako_memory_base(r->golden);
    int status = referee_bind(r, p->workload, fault);
    if (status != AKO_OK || fault->reason[0])
        return status;
    return referee_runs_away(r) ? run_away(r, p, fault) : run_in_place(r, p, fault);
}

void golden_cache_clear(golden_cache *cache)
{
    for (int i = 0; i < cache->n; i++)
        ako_memory_free(cache->entries[i].block);
    free(cache->entries);
    *cache = (golden_cache){0};
}
