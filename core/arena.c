#include "arena.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

#define ALIGNMENT 256u
#define ZONE_MIN 4096u
#define ZONE_MAX ((uint64_t)1 << 20)
#define BLOCK_MAX ((uint64_t)1 << 60)

/* Red zones of what a kernel writes: large in every float dtype, and nothing that arithmetic with NaN leaves. */
#define ZONE_WRITTEN 0x7f
#define ZONE_SCRATCH 0x7e

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

static int add(ako_arena *arena, const char *name, ako_dtype dtype, uint64_t count, bool filled, uint64_t slack)
{
    uint64_t size = ako_dtype_size(dtype);
    if (count > BLOCK_MAX / 4 / size || arena->bytes > BLOCK_MAX / 4)
        return ako_fail(AKO_LIMIT, "arena", "'%s' has too many elements", name);
    ako_span span = {.name = name,
                     .dtype = dtype,
                     .present = true,
                     .filled = filled,
                     .zone = filled ? AKO_POISON : ZONE_WRITTEN,
                     .count = count,
                     .slack = slack};
    span.bytes = span.room = count * size;
    span.offset = align_up(arena->bytes + zone_of(span.bytes));
    int status = append(arena, &span);
    if (status == AKO_OK)
        arena->bytes = align_up(span.offset + span.bytes + slack + zone_of(span.bytes));
    return status;
}

int ako_arena_add(ako_arena *arena, const char *name, ako_dtype dtype, uint64_t count, bool filled)
{
    return add(arena, name, dtype, count, filled, 0);
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

/* Content that is as good from any of its elements on. */
static uint64_t slack_of(const ako_tensor_spec *tensor)
{
    ako_fill_kind kind = tensor->fill.kind;
    bool shiftable =
        tensor->role == AKO_OUTPUT || (!tensor->file[0] && kind != AKO_FILL_ARANGE && kind != AKO_FILL_PROBLEM);
    return shiftable ? (uint64_t)(AKO_SHIFTS - 1) * AKO_SHIFT : 0;
}

int ako_arena_of_workload(ako_arena *out, const ako_task *task, const ako_unit *unit, int workload)
{
    int status = AKO_OK;
    *out = (ako_arena){0};
    for (int i = 0; status == AKO_OK && i < task->n_tensors; i++) {
        const ako_tensor_spec *tensor = &task->tensors[i];
        uint64_t count = ako_shape_count(&task->workloads[workload].shapes[i]);
        status = add(out, tensor->name, tensor->dtype, count, tensor->role != AKO_OUTPUT, slack_of(tensor));
        if (status == AKO_OK && tensor->role == AKO_INOUT)
            out->spans[out->n - 1].zone = ZONE_WRITTEN;
    }
    const ako_unit_workload *own = &unit->workloads[workload];
    for (int i = 0; status == AKO_OK && i < own->n_scratch; i++) {
        const ako_scratch *scratch = &own->scratch[i];
        status = ako_arena_add(out, scratch->name, scratch->dtype, ako_shape_count(&scratch->shape), false);
        if (status == AKO_OK)
            out->spans[out->n - 1].zone = ZONE_SCRATCH;
    }
    if (status != AKO_OK)
        ako_arena_free(out);
    return status;
}

void ako_arena_loosen(ako_arena *arena, int n)
{
    arena->n = n;
    for (int i = 0; i < n; i++)
        arena->spans[i].room = arena->spans[i].bytes + arena->spans[i].slack;
}

void *ako_arena_address(const ako_arena *arena, int span, void *base)
{
    return (char *)base + arena->spans[span].offset;
}

static uint64_t zone_start(const ako_span *span)
{
    return span->offset - zone_of(span->bytes);
}

static uint64_t zone_end(const ako_span *span)
{
    return align_up(span->offset + span->bytes + span->slack + zone_of(span->bytes));
}

/* A run of bytes to be set alike; neighbours join, since each one that is set costs a call to the device. */
typedef struct stretch {
    ako_ops *ops;
    char *base;
    uint64_t from, to;
    unsigned char byte;
} stretch;

static int flush(const stretch *s)
{
    return s->to > s->from ? ako_ops_set(s->ops, s->base + s->from, s->byte, s->to - s->from) : AKO_OK;
}

static int paint(stretch *s, uint64_t from, uint64_t to, unsigned char byte)
{
    if (from == s->to && byte == s->byte) {
        s->to = to;
        return AKO_OK;
    }
    int status = flush(s);
    s->from = from;
    s->to = to;
    s->byte = byte;
    return status;
}

int ako_arena_poison(const ako_arena *arena, ako_ops *ops, void *base)
{
    stretch s = {.ops = ops, .base = base};
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && i < arena->n; i++) {
        const ako_span *span = &arena->spans[i];
        uint64_t end = span->offset + span->room;
        if (!span->present)
            continue;
        status = paint(&s, zone_start(span), span->offset, span->zone);
        if (status == AKO_OK && !span->filled)
            status = paint(&s, span->offset, end, AKO_POISON);
        if (status == AKO_OK)
            status = paint(&s, end, zone_end(span), span->zone);
    }
    return status == AKO_OK ? flush(&s) : status;
}

static int check_zone(ako_overrun *out, const ako_span *span, bool before, ako_ops *ops, const char *base)
{
    uint64_t end = span->offset + span->room;
    uint64_t from = before ? zone_start(span) : end, to = before ? span->offset : zone_end(span);
    int64_t at = -1;
    int status = ako_ops_find_other(ops, &at, base + from, span->zone, to - from);
    if (status == AKO_OK && at >= 0)
        *out = (ako_overrun){
            .name = span->name, .before = before, .distance = before ? to - from - (uint64_t)at : (uint64_t)at};
    return status;
}

int ako_arena_check(ako_overrun *out, const ako_arena *arena, ako_ops *ops, void *base)
{
    int status = AKO_OK;
    *out = (ako_overrun){0};
    for (int i = 0; status == AKO_OK && !out->name && i < arena->n; i++) {
        const ako_span *span = &arena->spans[i];
        if (!span->present)
            continue;
        status = check_zone(out, span, true, ops, base);
        if (status == AKO_OK && !out->name)
            status = check_zone(out, span, false, ops, base);
    }
    return status;
}
