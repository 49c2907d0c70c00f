#include "exchange.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "pack.h"
#include "philox.h"
#include "reader.h"
#include "timing.h"

#define PLACES 16

ako_place exchange_place(const char *name)
{
    return strcmp(name, "gpu") == 0 ? AKO_GPU : AKO_CPU;
}

const char *exchange_place_name(ako_place place)
{
    return place == AKO_GPU ? "gpu" : "cpu";
}

void **exchange_addresses(const ako_arena *arena, void *base)
{
    void **addresses = calloc((size_t)arena->n + 1, sizeof *addresses);
    for (int i = 0; addresses && i < arena->n; i++)
        addresses[i] = arena->spans[i].present ? ako_arena_address(arena, i, base) : NULL;
    return addresses;
}

int exchange_view(ako_arena *out, const ako_arena *arena, const json_t *shifts)
{
    *out = *arena;
    out->capacity = arena->n;
    out->spans = malloc(((size_t)arena->n + 1) * sizeof *out->spans);
    if (!out->spans)
        return ako_fail(AKO_NOMEM, "worker", "out of memory");
    memcpy(out->spans, arena->spans, (size_t)arena->n * sizeof *out->spans);
    for (int i = 0; i < arena->n; i++) {
        json_int_t shift = json_integer_value(json_array_get(shifts, (size_t)i));
        if (arena->spans[i].slack > 0 && shift > 0 && shift < AKO_SHIFTS)
            out->spans[i].offset += (uint64_t)shift * AKO_SHIFT;
    }
    return AKO_OK;
}

/* All the outputs' places together stay well below what a plan can watch. */
static int places_each(const ako_task *task)
{
    int outputs = 0;
    for (int i = 0; i < task->n_tensors; i++)
        outputs += task->tensors[i].role != AKO_INPUT;
    int most = AKO_WATCHED / EXCHANGE_SETS / (outputs ? outputs : 1);
    return most < PLACES ? most : PLACES;
}

int exchange_places(uint64_t *out, const ako_task *task, const ako_arena *view, void *base, uint64_t seed)
{
    int n = 0, each = places_each(task);
    for (int i = 0; i < task->n_tensors; i++) {
        if (task->tensors[i].role == AKO_INPUT)
            continue;
        for (int j = 0; out && j < each; j++) {
            uint32_t words[4];
            const ako_span *span = &view->spans[i];
            size_t size = ako_dtype_size(span->dtype);
            ako_random_words(words, seed, (uint32_t)i, (uint64_t)j);
            uint64_t index = span->count ? ((uint64_t)words[1] << 32 | words[0]) % span->count : 0;
            out[n + j] = ako_place_of((char *)ako_arena_address(view, i, base) + index * size, span->count ? size : 0);
        }
        n += each;
    }
    return n;
}

int exchange_lower(ako_unit *unit, const json_t *lowered)
{
    size_t n = json_array_size(lowered);
    if (n == 0)
        return AKO_OK;
    const char **names = calloc(n, sizeof *names);
    if (!names)
        return ako_fail(AKO_NOMEM, "worker", "out of memory");
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(lowered, i));
        names[i] = name ? name : "";
    }
    int status = ako_unit_lower(unit, names, (int)n);
    free(names);
    return status;
}

void *exchange_base(const exchange_sets *sets, int set)
{
    return (char *)ako_memory_base(sets->block) + (uint64_t)set * sets->stride;
}

int exchange_export(json_t *answer, int *fd, const exchange_sets *sets)
{
    char handle[129];
    int status = ako_memory_export(sets->block, handle, fd);
    return status == AKO_OK ? pack_into(answer, json_pack("{s:i, s:I, s:s}", "sets", sets->n, "stride",
                                                          (json_int_t)sets->stride, "handle", handle))
                            : status;
}

int exchange_take(ako_wire *wire, const json_t *message)
{
    const json_t *handle = json_object_get(message, "handle");
    return json_is_string(handle) && json_string_length(handle) == 0 ? ako_wire_take_fd(wire) : -1;
}

int exchange_import(exchange_sets *out, const json_t *message, ako_wire *wire, ako_place place)
{
    ako_reader reader;
    const char *handle = NULL;
    int64_t n = 0, stride = 0;
    int status = ako_reader_init(&reader, message, "sets");
    *out = (exchange_sets){0};
    if (status == AKO_OK)
        status = ako_read_integer(&n, &reader, "sets", 1, EXCHANGE_SETS, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_integer(&stride, &reader, "stride", 1, INT64_MAX / EXCHANGE_SETS, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_string(&handle, &reader, "handle", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_memory_import(&out->block, place, (uint64_t)(n * stride), handle, ako_wire_take_fd(wire));
    if (status == AKO_OK) {
        out->n = (int)n;
        out->stride = (uint64_t)stride;
    }
    return status;
}

void exchange_free(exchange_sets *sets)
{
    ako_memory_free(sets->block);
    *sets = (exchange_sets){0};
}
