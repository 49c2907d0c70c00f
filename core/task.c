#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "unit.h"
#include "unit_parts.h"

#define MAX_TENSORS 128
#define MAX_WORKLOADS 4096
#define MAX_ELEMENTS ((uint64_t)1 << 44)

uint64_t ako_shape_count(const ako_shape *shape)
{
    uint64_t count = 1;
    for (int i = 0; i < shape->rank; i++)
        count *= (uint64_t)shape->dims[i];
    return count;
}

int ako_shape_parse(ako_shape *out, const ako_json *list, const ako_reader *reader, const char *key)
{
    if (!json_is_array(list) || json_array_size(list) > AKO_MAX_RANK)
        return ako_reader_fail(reader, key, "expected a shape, an array of at most %d sizes", AKO_MAX_RANK);
    uint64_t count = 1;
    out->rank = (int)json_array_size(list);
    for (int i = 0; i < out->rank; i++) {
        const json_t *size = json_array_get(list, (size_t)i);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return ako_reader_fail(reader, key, "size %d is not an integer of at least 0", i);
        out->dims[i] = json_integer_value(size);
        if (out->dims[i] && count > MAX_ELEMENTS / (uint64_t)out->dims[i])
            return ako_reader_fail(reader, key, "more than 2^44 elements");
        count *= (uint64_t)out->dims[i];
    }
    return AKO_OK;
}

int ako_dtype_member(ako_dtype *out, const ako_reader *reader)
{
    const char *name = NULL;
    int status = ako_read_string(&name, reader, "dtype", AKO_REQUIRED);
    if (status == AKO_OK && ako_dtype_parse(out, name) != AKO_OK)
        status = ako_reader_fail(reader, "dtype", "%s", ako_error_last()->message);
    return status;
}

static int choose(int *out, const char *word, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return *out = i, 1;
    return 0;
}

static int parse_role(ako_tensor_spec *tensor, const ako_reader *reader)
{
    static const char *const words[] = {"input", "output", "inout"};
    const char *word = "input";
    int role = 0, status = ako_read_string(&word, reader, "role", AKO_OPTIONAL);
    if (status == AKO_OK && !choose(&role, word, words, 3))
        status = ako_reader_fail(reader, "role", "'%s' is none of input, output, inout", word);
    tensor->role = (ako_role)role;
    return status;
}

static int parse_file(ako_tensor_spec *tensor, const ako_reader *init)
{
    int status = ako_read_text(tensor->file, sizeof tensor->file, init, "file", AKO_REQUIRED);
    if (status == AKO_OK && strspn(tensor->file, "0123456789abcdef") != strlen(tensor->file))
        status = ako_reader_fail(init, "file", "expected the key of an uploaded file");
    if (status == AKO_OK)
        status = ako_read_text(tensor->format, sizeof tensor->format, init, "format", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_text(tensor->member, sizeof tensor->member, init, "member", AKO_OPTIONAL);
    return status;
}

static int parse_generator(ako_tensor_spec *tensor, const ako_reader *init)
{
    static const char *const words[] = {"normal", "uniform", "constant", "arange", "problem"};
    static const double default_b[] = {1, 1, 0, 1, 0};
    const char *word = NULL;
    int kind = 0, status = ako_read_string(&word, init, "kind", AKO_REQUIRED);
    if (status == AKO_OK && !choose(&kind, word, words, 5))
        status = ako_reader_fail(init, "kind", "'%s' is none of normal, uniform, constant, arange, problem", word);
    tensor->fill.kind = (ako_fill_kind)kind;
    tensor->fill.b = default_b[kind];
    if (status == AKO_OK)
        status = ako_read_real(&tensor->fill.a, init, "a", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_real(&tensor->fill.b, init, "b", AKO_OPTIONAL);
    return status;
}

static int parse_init(ako_tensor_spec *tensor, const ako_reader *reader)
{
    const json_t *object = NULL;
    ako_reader init;
    tensor->fill = (ako_fill){.kind = AKO_FILL_NORMAL, .b = 1};
    int status = ako_read_object(&object, reader, "init", AKO_OPTIONAL);
    if (status != AKO_OK || !object)
        return status;
    if (tensor->role == AKO_OUTPUT)
        return ako_reader_fail(reader, "init", "an output has no initial content");
    char where[sizeof init.where + 8];
    snprintf(where, sizeof where, "%s.init", reader->where);
    status = ako_reader_init(&init, object, where);
    if (status != AKO_OK)
        return status;
    return json_object_get(object, "file") ? parse_file(tensor, &init) : parse_generator(tensor, &init);
}

static int parse_tensor(ako_task *task, const ako_reader *reader)
{
    ako_tensor_spec *tensor = &task->tensors[task->n_tensors];
    int status = ako_read_text(tensor->name, sizeof tensor->name, reader, "name", AKO_REQUIRED);
    for (int i = 0; status == AKO_OK && i < task->n_tensors; i++)
        if (strcmp(task->tensors[i].name, tensor->name) == 0)
            status = ako_reader_fail(reader, "name", "there is a '%s' already", tensor->name);
    if (status == AKO_OK)
        status = ako_dtype_member(&tensor->dtype, reader);
    if (status == AKO_OK)
        status = parse_role(tensor, reader);
    if (status == AKO_OK)
        status = parse_init(tensor, reader);
    if (status == AKO_OK)
        task->n_tensors++;
    return status;
}

static int parse_tensors(ako_task *task, const ako_reader *reader)
{
    const json_t *list;
    size_t n;
    int status = ako_read_array(&list, &n, reader, "tensors", MAX_TENSORS, AKO_REQUIRED), outputs = 0;
    if (status != AKO_OK)
        return status;
    task->tensors = calloc(n + 1, sizeof *task->tensors);
    if (!task->tensors)
        return ako_fail(AKO_NOMEM, "task", "out of memory");
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        ako_reader item;
        status = ako_reader_item(&item, reader, "tensors", list, i);
        if (status == AKO_OK)
            status = parse_tensor(task, &item);
        outputs += task->tensors[i].role != AKO_INPUT;
    }
    if (status == AKO_OK && outputs == 0)
        status = ako_reader_fail(reader, "tensors", "none of them is an output");
    return status;
}

static int parse_shapes(ako_workload *workload, const ako_task *task, const ako_reader *reader)
{
    const json_t *object = NULL;
    int status = ako_read_object(&object, reader, "shapes", AKO_REQUIRED);
    workload->shapes = calloc((size_t)task->n_tensors, sizeof *workload->shapes);
    if (status == AKO_OK && !workload->shapes)
        status = ako_fail(AKO_NOMEM, "task", "out of memory");
    for (int i = 0; status == AKO_OK && i < task->n_tensors; i++) {
        char key[80];
        snprintf(key, sizeof key, "shapes.%s", task->tensors[i].name);
        const json_t *list = json_object_get(object, task->tensors[i].name);
        status =
            list ? ako_shape_parse(&workload->shapes[i], list, reader, key) : ako_reader_fail(reader, key, "missing");
    }
    return status;
}

static int parse_weight(ako_workload *workload, const ako_reader *reader)
{
    workload->weight = 1;
    int status = ako_read_real(&workload->weight, reader, "weight", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_real(&workload->bytes, reader, "bytes", AKO_OPTIONAL);
    if (status == AKO_OK && !(workload->weight >= 0))
        status = ako_reader_fail(reader, "weight", "must not be negative");
    return status;
}

static int parse_workloads(ako_task *task, const ako_reader *reader)
{
    const json_t *list;
    size_t n;
    int status = ako_read_array(&list, &n, reader, "workloads", MAX_WORKLOADS, AKO_REQUIRED);
    if (status == AKO_OK && n == 0)
        status = ako_reader_fail(reader, "workloads", "at least one is needed");
    if (status != AKO_OK)
        return status;
    task->workloads = calloc(n, sizeof *task->workloads);
    if (!task->workloads)
        return ako_fail(AKO_NOMEM, "task", "out of memory");
    task->n_workloads = (int)n;
    for (size_t i = 0; status == AKO_OK && i < n; i++) {
        ako_reader item;
        status = ako_reader_item(&item, reader, "workloads", list, i);
        if (status == AKO_OK)
            status = ako_read_string(&task->workloads[i].id, &item, "id", AKO_REQUIRED);
        if (status == AKO_OK)
            status = parse_shapes(&task->workloads[i], task, &item);
        if (status == AKO_OK)
            status = parse_weight(&task->workloads[i], &item);
    }
    return status;
}

static int parse_tolerance(ako_tolerance *out, const ako_reader *parent)
{
    const json_t *object = NULL;
    ako_reader reader;
    const char *predicate = "allclose_ref";
    *out = (ako_tolerance){.predicate = AKO_ALLCLOSE_REF, .ratio_required = 1};
    int status = ako_read_object(&object, parent, "tolerance", AKO_OPTIONAL);
    if (status != AKO_OK || !object)
        return status;
    status = ako_reader_init(&reader, object, "task.tolerance");
    if (status == AKO_OK)
        status = ako_read_string(&predicate, &reader, "predicate", AKO_OPTIONAL);
    if (status == AKO_OK && ako_predicate_parse(&out->predicate, predicate) != AKO_OK)
        status = ako_reader_fail(&reader, "predicate", "%s", ako_error_last()->message);
    const struct {
        const char *key;
        double *value;
    } reals[] = {{"atol", &out->atol},
                 {"rtol", &out->rtol},
                 {"ratio", &out->ratio_required},
                 {"cap", &out->cap},
                 {"exact", &out->exact}};
    for (size_t i = 0; status == AKO_OK && i < sizeof reals / sizeof *reals; i++) {
        status = ako_read_real(reals[i].value, &reader, reals[i].key, AKO_OPTIONAL);
        if (status == AKO_OK && *reals[i].value < 0)
            status = ako_reader_fail(&reader, reals[i].key, "must not be negative");
    }
    if (status == AKO_OK)
        status = ako_read_bool(&out->equal_nan, &reader, "equal_nan", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_bool(&out->equal_inf, &reader, "equal_inf", AKO_OPTIONAL);
    return status;
}

static int parse_members(ako_task *task, const ako_reader *reader)
{
    task->name = "task";
    int status = ako_read_string(&task->name, reader, "name", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = parse_tensors(task, reader);
    if (status == AKO_OK)
        status = parse_workloads(task, reader);
    if (status == AKO_OK)
        status = parse_tolerance(&task->tolerance, reader);
    return status;
}

int ako_task_parse(ako_task **out, ako_json *json)
{
    ako_reader reader;
    *out = NULL;
    int status = ako_reader_init(&reader, json, "task");
    if (status != AKO_OK)
        return status;
    ako_task *task = calloc(1, sizeof *task);
    if (!task)
        return ako_fail(AKO_NOMEM, "task", "out of memory");
    task->json = json_incref(json);
    status = parse_members(task, &reader);
    if (status != AKO_OK) {
        ako_task_free(task);
        return status;
    }
    *out = task;
    return AKO_OK;
}

void ako_task_free(ako_task *task)
{
    if (!task)
        return;
    for (int i = 0; i < task->n_workloads; i++)
        free(task->workloads[i].shapes);
    free(task->workloads);
    free(task->tensors);
    json_decref(task->json);
    free(task);
}
