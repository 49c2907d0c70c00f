#include "exchange.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "pack.h"
#include "reader.h"

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

int exchange_export(json_t *answer, int *fds, int *n_fds, const exchange_sets *sets)
{
    json_t *handles = json_array();
    int status = handles ? AKO_OK : ako_fail(AKO_NOMEM, "worker", "out of memory");
    *n_fds = 0;
    for (int s = 0; status == AKO_OK && s < sets->n; s++) {
        char handle[129];
        int fd = -1;
        status = ako_memory_export(sets->blocks[s], handle, &fd);
        if (status == AKO_OK && fd >= 0)
            fds[(*n_fds)++] = fd;
        if (status == AKO_OK && json_array_append_new(handles, json_string(handle)) != 0)
            status = ako_fail(AKO_NOMEM, "worker", "out of memory");
    }
    if (status != AKO_OK) {
        json_decref(handles);
        return status;
    }
    return pack_into(
        answer, json_pack("{s:I, s:o}", "bytes", (json_int_t)ako_memory_bytes(sets->blocks[0]), "handles", handles));
}

int exchange_take(int fds[EXCHANGE_SETS], ako_wire *wire, const json_t *message)
{
    const json_t *handles = json_object_get(message, "handles");
    int n = 0;
    for (size_t i = 0; i < json_array_size(handles) && n < EXCHANGE_SETS; i++)
        if (json_string_length(json_array_get(handles, i)) == 0)
            fds[n++] = ako_wire_take_fd(wire);
    return n;
}

void exchange_close(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

int exchange_import(exchange_sets *out, const json_t *message, ako_wire *wire, ako_place place)
{
    ako_reader reader;
    const char **handles = NULL;
    int64_t bytes = 0;
    int n = 0, status = ako_reader_init(&reader, message, "sets");
    *out = (exchange_sets){0};
    if (status == AKO_OK)
        status = ako_read_integer(&bytes, &reader, "bytes", 1, INT64_MAX, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_strings(&handles, &n, &reader, "handles", EXCHANGE_SETS);
    for (int s = 0; status == AKO_OK && s < n; s++) {
        status = ako_memory_import(&out->blocks[s], place, (uint64_t)bytes, handles[s], ako_wire_take_fd(wire));
        out->n += status == AKO_OK;
    }
    free(handles);
    return status;
}

void exchange_free(exchange_sets *sets)
{
    for (int s = 0; s < sets->n; s++)
        ako_memory_free(sets->blocks[s]);
    *sets = (exchange_sets){0};
}
