#include "arena.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

#define ALIGNMENT 256u
#define ZONE_MIN 4096u
#define ZONE_MAX ((uint64_t)1 << 20)
#define BLOCK_MAX ((uint64_t)1 << 60)

static uint64_t align_up(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Large buffers are overrun by whole rows, so their zones grow with them. */
static uint64_t zone_of(uint64_t bytes)
{
    uint64_t zone = align_up(bytes / 64);
    return zone < ZONE_MIN ? ZONE_MIN : zone > ZONE_MAX ? ZONE_MAX : zone;
}

static int append(ako_arena *arena, const ako_span *span)
{
    if (arena->n == arena->capacity) {
        int capacity = arena->capacity ? 2 * arena->capacity : 16;
        ako_span *grown = realloc(arena->spans, (size_t)capacity * sizeof *grown);
        if (!grown)
            return ako_fail(AKO_NOMEM, "arena", "out of memory");
        arena->spans = grown;
        arena->capacity = capacity;
    }
    arena->spans[arena->n++] = *span;
    return AKO_OK;
}

int ako_arena_add(ako_arena *arena, const char *name, ako_dtype dtype, uint64_t count, bool filled)
{
    uint64_t size = ako_dtype_size(dtype);
    if (count > BLOCK_MAX / 4 / size || arena->bytes > BLOCK_MAX / 4)
        return ako_fail(AKO_LIMIT, "arena", "'%s' has too many elements", name);
    ako_span span = {.name = name, .dtype = dtype, .present = true, .filled = filled, .count = count};
    span.bytes = count * size;
    span.offset = align_up(arena->bytes + zone_of(span.bytes));
    int status = append(arena, &span);
    if (status == AKO_OK)
        arena->bytes = align_up(span.offset + span.bytes + zone_of(span.bytes));
    return status;
}

int ako_arena_add_absent(ako_arena *arena, const char *name)
{
    return append(arena, &(ako_span){.name = name});
}

void ako_arena_free(ako_arena *arena)
{
    free(arena->spans);
    *arena = (ako_arena){0};
}

int ako_arena_of_workload(ako_arena *out, const ako_task *task, const ako_unit *unit, int workload)
{
    int status = AKO_OK;
    *out = (ako_arena){0};
    for (int i = 0; status == AKO_OK && i < task->n_tensors; i++) {
        const ako_tensor_spec *tensor = &task->tensors[i];
        uint64_t count = ako_shape_count(&task->workloads[workload].shapes[i]);
        status = ako_arena_add(out, tensor->name, tensor->dtype, count, tensor->role != AKO_OUTPUT);
    }
    const ako_unit_workload *own = &unit->workloads[workload];
    for (int i = 0; status == AKO_OK && i < own->n_scratch; i++) {
        const ako_scratch *scratch = &own->scratch[i];
        status = ako_arena_add(out, scratch->name, scratch->dtype, ako_shape_count(&scratch->shape), false);
    }
    if (status != AKO_OK)
        ako_arena_free(out);
    return status;
}

void *ako_arena_address(const ako_arena *arena, int span, void *base)
{
    return (char *)base + arena->spans[span].offset;
}

static int poison_range(ako_ops *ops, void *base, uint64_t from, uint64_t to)
{
    return to > from ? ako_ops_poison(ops, (char *)base + from, to - from) : AKO_OK;
}

int ako_arena_poison(const ako_arena *arena, ako_ops *ops, void *base)
{
    uint64_t from = 0;
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < arena->n; i++) {
        const ako_span *span = &arena->spans[i];
        if (!span->present || !span->filled)
            continue;
        status = poison_range(ops, base, from, span->offset);
        from = span->offset + span->bytes;
    }
    return status == AKO_OK ? poison_range(ops, base, from, arena->bytes) : status;
}

/* Whose buffer was overrun by a touched byte at `at`, between `left` (NULL: the block's start) and `right`. */
static void name_overrun(ako_overrun *out, const ako_span *left, const ako_span *right, uint64_t at)
{
    if (!left || (right && at + zone_of(right->bytes) >= right->offset))
        *out = (ako_overrun){.name = right->name, .before = true, .distance = right->offset - at};
    else
        *out = (ako_overrun){.name = left->name, .distance = at - left->offset - left->bytes};
}

static int check_gap(ako_overrun *out, const ako_span *left, const ako_span *right, uint64_t end, ako_ops *ops,
                     void *base)
{
    uint64_t from = left ? left->offset + left->bytes : 0, to = right ? right->offset : end;
    int64_t offset = -1;
    int status = ako_ops_find_unpoisoned(ops, &offset, (char *)base + from, to - from);
    if (status == AKO_OK && offset >= 0)
        name_overrun(out, left, right, from + (uint64_t)offset);
    return status;
}

int ako_arena_check(ako_overrun *out, const ako_arena *arena, ako_ops *ops, void *base)
{
    const ako_span *left = NULL;
    int status = AKO_OK;
    *out = (ako_overrun){0};
    for (int i = 0; status == AKO_OK && !out->name && i < arena->n; i++) {
        if (!arena->spans[i].present)
            continue;
        status = check_gap(out, left, &arena->spans[i], arena->bytes, ops, base);
        left = &arena->spans[i];
    }
    if (status == AKO_OK && !out->name && left)
        status = check_gap(out, left, NULL, arena->bytes, ops, base);
    return status;
}
