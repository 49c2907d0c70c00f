#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "unit_parts.h"

#define MAX_SOURCES 256
#define MAX_STRINGS 1024
#define MAX_SCRATCH 64
#define MAX_CALLS 1024
#define MAX_ARGS 256

static bool is_safe_name(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && name[0] != '/' && strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0 &&
           !strstr(name, "/../") && (n < 3 || strcmp(name + n - 3, "/..") != 0);
}

static int parse_source(ako_source *out, const ako_reader *reader)
{
    int status = ako_read_string(&out->name, reader, "name", AKO_REQUIRED);
    if (status == AKO_OK && !is_safe_name(out->name))
        status = ako_reader_fail(reader, "name", "'%s' must be relative and stay inside its folder", out->name);
    if (status == AKO_OK)
        status = ako_read_string(&out->text, reader, "text", AKO_REQUIRED);
    if (status == AKO_OK)
        out->size = json_string_length(json_object_get(reader->object, "text"));
    return status;
}

static int parse_sources(ako_unit *unit, const ako_reader *reader)
{
    const json_t *list;
    size_t n;
    int status = ako_read_array(&list, &n, reader, "sources", MAX_SOURCES, AKO_OPTIONAL);
    if (status != AKO_OK || n == 0)
        return status;
    unit->sources = calloc(n, sizeof *unit->sources);
    if (!unit->sources)
        return ako_fail(AKO_NOMEM, "unit", "out of memory");
    unit->n_sources = (int)n;
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        ako_reader item;
        status = ako_reader_item(&item, reader, "sources", list, i);
        if (status == AKO_OK)
            status = parse_source(&unit->sources[i], &item);
    }
    return status;
}

static int parse_scratch(ako_unit_workload *workload, const ako_task *task, const ako_reader *reader)
{
    const json_t *list;
    size_t n;
    int status = ako_read_array(&list, &n, reader, "scratch", MAX_SCRATCH, AKO_OPTIONAL);
    if (status != AKO_OK || n == 0)
        return status;
    workload->scratch = calloc(n, sizeof *workload->scratch);
    if (!workload->scratch)
        return ako_fail(AKO_NOMEM, "unit", "out of memory");
    workload->n_scratch = (int)n;
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        ako_scratch *scratch = &workload->scratch[i];
        ako_reader item;
        status = ako_reader_item(&item, reader, "scratch", list, i);
        if (status == AKO_OK)
            status = ako_read_text(scratch->name, sizeof scratch->name, &item, "name", AKO_REQUIRED);
        for (int k = 0; status == AKO_OK && k < task->n_tensors; k++)
            if (strcmp(task->tensors[k].name, scratch->name) == 0)
                status = ako_reader_fail(&item, "name", "'%s' is a tensor of the task", scratch->name);
        if (status == AKO_OK)
            status = ako_dtype_member(&scratch->dtype, &item);
        if (status == AKO_OK)
            status = ako_shape_parse(&scratch->shape, json_object_get(item.object, "shape"), &item, "shape");
    }
    return status;
}

static int buffer_index(const ako_task *task, const ako_unit_workload *workload, const char *name)
{
    for (int i = 0; i < task->n_tensors; i++)
        if (strcmp(task->tensors[i].name, name) == 0)
            return i;
    for (int i = 0; i < workload->n_scratch; i++)
        if (strcmp(workload->scratch[i].name, name) == 0)
            return task->n_tensors + i;
    return -1;
}

static int parse_pointer(ako_arg *arg, const ako_task *task, const ako_unit_workload *workload,
                         const ako_reader *reader)
{
    const char *name = NULL;
    int status = ako_read_string(&name, reader, "tensor", AKO_REQUIRED);
    if (status != AKO_OK)
        return status;
    arg->kind = AKO_ARG_POINTER;
    arg->size = (int)sizeof(void *);
    arg->buffer = buffer_index(task, workload, name);
    snprintf(arg->name, sizeof arg->name, "%s", name);
    return arg->buffer < 0 ? ako_reader_fail(reader, "tensor", "there is no tensor or scratch '%s'", name) : AKO_OK;
}

static int parse_integer(ako_arg *arg, const ako_reader *reader, const char *key, int size)
{
    int64_t value = 0;
    int64_t low = size == 4 ? INT32_MIN : INT64_MIN, high = size == 4 ? INT32_MAX : INT64_MAX;
    int status = ako_read_integer(&value, reader, key, low, high, AKO_REQUIRED);
    arg->kind = size == 4 ? AKO_ARG_I32 : AKO_ARG_I64;
    arg->size = size;
    memcpy(arg->bits, &value, (size_t)size); /* little-endian hosts only, like everything CUDA */
    return status;
}

static int parse_scalar(ako_arg *arg, const ako_reader *reader)
{
    ako_dtype dtype = AKO_F32;
    double value = 0;
    int status = ako_dtype_member(&dtype, reader);
    if (status == AKO_OK)
        status = ako_read_real(&value, reader, "scalar", AKO_REQUIRED);
    if (status != AKO_OK)
        return status;
    const json_t *number = json_object_get(reader->object, "scalar");
    arg->kind = AKO_ARG_SCALAR;
    arg->dtype = (char)dtype;
    arg->size = (int)ako_dtype_size(dtype);
    if (dtype == AKO_I64 && json_is_integer(number)) /* a double would round it */
        memcpy(arg->bits, &(int64_t){json_integer_value(number)}, 8);
    else
        ako_dtype_store(dtype, arg->bits, 0, value);
    return AKO_OK;
}

static int parse_arg(ako_arg *arg, const ako_task *task, const ako_unit_workload *workload, const ako_reader *reader)
{
    int status = ako_read_text(arg->name, sizeof arg->name, reader, "name", AKO_OPTIONAL);
    if (status != AKO_OK)
        return status;
    if (json_object_get(reader->object, "tensor"))
        return parse_pointer(arg, task, workload, reader);
    if (json_object_get(reader->object, "i32"))
        return parse_integer(arg, reader, "i32", 4);
    if (json_object_get(reader->object, "i64"))
        return parse_integer(arg, reader, "i64", 8);
    if (json_object_get(reader->object, "scalar"))
        return parse_scalar(arg, reader);
    return ako_reader_fail(reader, NULL, "expected one of tensor, i32, i64, scalar");
}

static int parse_args(ako_call *call, const ako_task *task, const ako_unit_workload *workload, const ako_reader *reader)
{
    const json_t *list;
    size_t n;
    int status = ako_read_array(&list, &n, reader, "args", MAX_ARGS, AKO_REQUIRED);
    if (status != AKO_OK || n == 0)
        return status;
    call->args = calloc(n, sizeof *call->args);
    if (!call->args)
        return ako_fail(AKO_NOMEM, "unit", "out of memory");
    call->n_args = (int)n;
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        ako_reader item;
        status = ako_reader_item(&item, reader, "args", list, i);
        if (status == AKO_OK)
            status = parse_arg(&call->args[i], task, workload, &item);
    }
    return status;
}

/* Three sizes, 1 where absent. Zeros stay: bind knows how to say what is wrong with them. */
static int parse_geometry(unsigned out[3], const ako_reader *reader, const char *key)
{
    const json_t *list;
    size_t n;
    int status = ako_read_array(&list, &n, reader, key, 3, AKO_OPTIONAL);
    out[0] = out[1] = out[2] = 1;
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        const json_t *size = json_array_get(list, i);
        if (!json_is_integer(size) || json_integer_value(size) < 0 || json_integer_value(size) > UINT32_MAX)
            return ako_reader_fail(reader, key, "element %zu is no size", i);
        out[i] = (unsigned)json_integer_value(size);
    }
    return status;
}

static int parse_symbol(ako_call *call, const ako_unit *unit, const ako_reader *reader)
{
    int status = ako_read_text(call->symbol, sizeof call->symbol, reader, "symbol", AKO_REQUIRED);
    if (status != AKO_OK)
        return status;
    snprintf(call->label, sizeof call->label, "%.255s", call->symbol);
    if (unit->lane != AKO_LANE_CUDA)
        return AKO_OK;
    for (int i = 0; i < unit->n_names; i++)
        if (strcmp(unit->names[i], call->symbol) == 0)
            return AKO_OK;
    return ako_reader_fail(reader, "symbol", "'%s' is not among the unit's names", call->symbol);
}

static int parse_call(ako_call *call, const ako_unit *unit, const ako_task *task, const ako_unit_workload *workload,
                      const ako_reader *reader)
{
    int64_t line = 0, shared = 0;
    int status = parse_symbol(call, unit, reader);
    if (status == AKO_OK)
        status = ako_read_integer(&line, reader, "line", 0, INT32_MAX, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&shared, reader, "shared", 0, INT32_MAX, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = parse_geometry(call->grid, reader, "grid");
    if (status == AKO_OK)
        status = parse_geometry(call->block, reader, "block");
    if (status == AKO_OK)
        status = parse_geometry(call->cluster, reader, "cluster");
    if (status == AKO_OK)
        status = parse_args(call, task, workload, reader);
    call->line = (int)line;
    call->shared_bytes = (unsigned)shared;
    return status;
}

static int parse_workload(ako_unit_workload *workload, const ako_unit *unit, const ako_task *task,
                          const ako_reader *reader)
{
    const json_t *list;
    size_t n;
    int status = parse_scratch(workload, task, reader);
    if (status == AKO_OK)
        status = ako_read_array(&list, &n, reader, "calls", MAX_CALLS, AKO_REQUIRED);
    if (status != AKO_OK)
        return status;
    if (n == 0 || (n != 1 && unit->lane != AKO_LANE_CUDA))
        return ako_reader_fail(reader, "calls", n == 0 ? "at least one is needed" : "this lane takes exactly one");
    workload->calls = calloc(n, sizeof *workload->calls);
    if (!workload->calls)
        return ako_fail(AKO_NOMEM, "unit", "out of memory");
    workload->n_calls = (int)n;
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        ako_reader item;
        status = ako_reader_item(&item, reader, "calls", list, i);
        if (status == AKO_OK)
            status = parse_call(&workload->calls[i], unit, task, workload, &item);
    }
    return status;
}

static int parse_workloads(ako_unit *unit, const ako_task *task, const ako_reader *reader)
{
    const json_t *list;
    size_t n;
    int status = ako_read_array(&list, &n, reader, "workloads", (size_t)task->n_workloads, AKO_REQUIRED);
    if (status == AKO_OK && n != (size_t)task->n_workloads)
        status = ako_reader_fail(reader, "workloads", "%zu, but the task has %d", n, task->n_workloads);
    if (status != AKO_OK)
        return status;
    unit->workloads = calloc(n, sizeof *unit->workloads);
    if (!unit->workloads)
        return ako_fail(AKO_NOMEM, "unit", "out of memory");
    unit->n_workloads = (int)n;
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        ako_reader item;
        status = ako_reader_item(&item, reader, "workloads", list, i);
        if (status == AKO_OK)
            status = parse_workload(&unit->workloads[i], unit, task, &item);
    }
    return status;
}

static int parse_members(ako_unit *unit, const ako_task *task, const ako_reader *reader)
{
    const char *lane = NULL;
    int status = ako_read_string(&lane, reader, "lane", AKO_REQUIRED);
    if (status == AKO_OK && ako_lane_parse(&unit->lane, lane) != AKO_OK)
        status = ako_reader_fail(reader, "lane", "%s", ako_error_last()->message);
    if (status == AKO_OK)
        status = parse_sources(unit, reader);
    if (status == AKO_OK)
        status = ako_read_strings(&unit->names, &unit->n_names, reader, "names", MAX_STRINGS);
    if (status == AKO_OK)
        status = ako_read_strings(&unit->defines, &unit->n_defines, reader, "defines", MAX_STRINGS);
    if (status == AKO_OK && unit->n_defines % 2 != 0)
        status = ako_reader_fail(reader, "defines", "expected pairs of name and value");
    if (status == AKO_OK)
        status = ako_read_strings(&unit->options, &unit->n_options, reader, "options", MAX_STRINGS);
    if (status == AKO_OK && task)
        status = parse_workloads(unit, task, reader);
    return status;
}

int ako_unit_parse(ako_unit **out, const ako_task *task, ako_json *json, const char *where)
{
    ako_reader reader;
    *out = NULL;
    int status = ako_reader_init(&reader, json, where);
    if (status != AKO_OK)
        return status;
    ako_unit *unit = calloc(1, sizeof *unit);
    if (!unit)
        return ako_fail(AKO_NOMEM, "unit", "out of memory");
    unit->json = json_incref(json);
    status = parse_members(unit, task, &reader);
    if (status != AKO_OK) {
        ako_unit_free(unit);
        return status;
    }
    *out = unit;
    return AKO_OK;
}

static void free_workload(ako_unit_workload *workload)
{
    for (int i = 0; i < workload->n_calls; i++)
        free(workload->calls[i].args);
    free(workload->calls);
    free(workload->scratch);
}

void ako_unit_free(ako_unit *unit)
{
    if (!unit)
        return;
    for (int i = 0; i < unit->n_workloads; i++)
        free_workload(&unit->workloads[i]);
    free(unit->workloads);
    free(unit->sources);
    free(unit->names);
    free(unit->defines);
    free(unit->options);
    json_decref(unit->json);
    free(unit);
}

static const char *lowered_name(const ako_unit *unit, const char *const *lowered, const char *label)
{
    for (int i = 0; i < unit->n_names; i++)
        if (strcmp(unit->names[i], label) == 0)
            return lowered[i];
    return NULL;
}

static int lower_call(ako_call *call, const ako_unit *unit, const char *const *lowered)
{
    const char *symbol = lowered_name(unit, lowered, call->symbol);
    if (!symbol)
        return ako_fail(AKO_INVALID, "unit", "the compiler gave no symbol for '%s'", call->label);
    if (strlen(symbol) >= sizeof call->symbol)
        return ako_fail(AKO_LIMIT, "unit", "the symbol of '%s' is too long", call->label);
    snprintf(call->symbol, sizeof call->symbol, "%s", symbol);
    return AKO_OK;
}

int ako_unit_lower(ako_unit *unit, const char *const *lowered, int n)
{
    if (n == 0)
        return AKO_OK;
    if (n != unit->n_names)
        return ako_fail(AKO_INVALID, "unit", "%d lowered names for %d kernels", n, unit->n_names);
    int status = AKO_OK;
    for (int w = 0; w < unit->n_workloads; w++)
        for (int c = 0; status == AKO_OK && c < unit->workloads[w].n_calls; c++)
            status = lower_call(&unit->workloads[w].calls[c], unit, lowered);
    return status;
}
