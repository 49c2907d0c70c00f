/* .safetensors: the length of a JSON object, the object, the elements. Format:
 * https://github.com/huggingface/safetensors#format */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "json.h"
#include "tensor_formats.h"

enum { MAX_HEAD = 100 << 20 }; /* the limit of the format's own reader */

static const struct {
    const char *name;
    ako_dtype dtype;
} names[] = {{"F64", AKO_F64},        {"F32", AKO_F32}, {"F16", AKO_F16}, {"BF16", AKO_BF16}, {"F8_E4M3", AKO_F8E4M3},
             {"F8_E5M2", AKO_F8E5M2}, {"I64", AKO_I64}, {"I32", AKO_I32}, {"I16", AKO_I16},   {"I8", AKO_I8},
             {"U64", AKO_U64},        {"U32", AKO_U32}, {"U16", AKO_U16}, {"U8", AKO_U8},     {"BOOL", AKO_BOOL}};

enum { NAMES = sizeof names / sizeof *names };

/* Where a tensor lies behind the head. */
typedef struct extent {
    uint64_t begin, end;
} extent;

static int by_begin(const void *a, const void *b)
{
    const extent *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static int read_extent(extent *out, const json_t *entry, const char *name, const char *file)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        return ako_fail(AKO_CORRUPT, "tensor", "%s: tensor %.80s has no valid data_offsets", file, name);
    *out = (extent){(uint64_t)json_integer_value(begin), (uint64_t)json_integer_value(end)};
    return AKO_OK;
}

/* The tensors must cover the data from begin to end, without overlap and without holes. */
static int check_cover(extent *extents, size_t n, uint64_t data_size, const char *file)
{
    uint64_t reached = 0;
    qsort(extents, n, sizeof *extents, by_begin);
    for (size_t i = 0; i < n; i++) {
        if (extents[i].begin != reached)
            return ako_fail(AKO_CORRUPT, "tensor",
                            "%s: a tensor begins at byte %llu of the data, the one before it "
                            "ends at byte %llu",
                            file, (unsigned long long)extents[i].begin, (unsigned long long)reached);
        reached = extents[i].end;
    }
    if (reached != data_size)
        return ako_fail(AKO_CORRUPT, "tensor", "%s: the tensors need %llu bytes of data, but it holds %llu", file,
                        (unsigned long long)reached, (unsigned long long)data_size);
    return AKO_OK;
}

static bool is_metadata(const char *key)
{
    return strcmp(key, "__metadata__") == 0;
}

static int check_extents(json_t *head, uint64_t data_size, const char *file)
{
    size_t n = 0;
    const char *key;
    json_t *entry;
    extent *extents = malloc((json_object_size(head) + 1) * sizeof *extents);
    if (!extents)
        return ako_fail(AKO_NOMEM, "tensor", "out of memory reading %s", file);
    int status = AKO_OK;
    json_object_foreach(head, key, entry)
    {
        if (status == AKO_OK && !is_metadata(key))
            status = read_extent(&extents[n++], entry, key, file);
    }
    if (status == AKO_OK)
        status = check_cover(extents, n, data_size, file);
    free(extents);
    return status;
}

static int describe(ako_tensor *out, const json_t *entry, const char *name, const char *file)
{
    int64_t shape[AKO_TENSOR_DIMS];
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    const json_t *dimensions = json_object_get(entry, "shape");
    size_t ndim = json_array_size(dimensions);
    int known = 0;
    while (type && known < NAMES && strcmp(type, names[known].name) != 0)
        known++;
    if (!type || !json_is_array(dimensions))
        return ako_fail(AKO_CORRUPT, "tensor", "%s: tensor %.80s has no dtype or shape", file, name);
    if (known == NAMES || ndim > AKO_TENSOR_DIMS)
        return ako_fail(AKO_INVALID, "tensor", "%s: tensor %.80s has dtype %.40s and %zu dimensions: not supported",
                        file, name, type, ndim);
    for (size_t i = 0; i < ndim; i++) {
        const json_t *d = json_array_get(dimensions, i);
        shape[i] = json_is_integer(d) ? json_integer_value(d) : -1;
    }
    if (ako_tensor_describe(out, names[known].dtype, shape, (int)ndim) != AKO_OK)
        return ako_fail(AKO_CORRUPT, "tensor", "%s: tensor %.80s has an impossible shape", file, name);
    return AKO_OK;
}

/* The tensor called `member`, or the only one. */
static int choose(const char **name, const json_t **entry, json_t *head, const char *member, const char *file)
{
    const char *key;
    json_t *value;
    size_t n = 0;
    *entry = NULL;
    json_object_foreach(head, key, value)
    {
        if (is_metadata(key))
            continue;
        n++;
        if (!member || strcmp(key, member) == 0) {
            *name = key;
            *entry = value;
        }
    }
    if (member && !*entry)
        return ako_fail(AKO_NOTFOUND, "tensor", "%s has no tensor \"%.80s\" among its %zu", file, member, n);
    if (!*entry || (!member && n != 1))
        return ako_fail(AKO_INVALID, "tensor", "%s has %zu tensors: name the one that is meant", file, n);
    return AKO_OK;
}

static int load(ako_tensor *out, json_t *head, const ako_tensor_source *source, uint64_t data_start, const char *member)
{
    const char *name = "";
    const json_t *entry;
    extent where = {0};
    int status = check_extents(head, source->size - data_start, source->name);
    if (status == AKO_OK)
        status = choose(&name, &entry, head, member, source->name);
    if (status == AKO_OK)
        status = describe(out, entry, name, source->name);
    if (status == AKO_OK)
        status = read_extent(&where, entry, name, source->name);
    if (status != AKO_OK)
        return status;
    if (where.end - where.begin != out->bytes)
        return ako_fail(AKO_CORRUPT, "tensor", "%s: the shape of tensor %.80s needs %llu bytes, its offsets hold %llu",
                        source->name, name, (unsigned long long)out->bytes,
                        (unsigned long long)(where.end - where.begin));
    return ako_tensor_source_load(out, source, data_start + where.begin);
}

static int read_head(json_t **out, uint64_t *data_start, const ako_tensor_source *source)
{
    unsigned char prefix[8];
    uint64_t length = 0;
    int status = ako_tensor_source_read(source, prefix, 0, sizeof prefix);
    if (status != AKO_OK)
        return status;
    for (int i = 0; i < 8; i++)
        length |= (uint64_t)prefix[i] << (8 * i);
    if (length > source->size - 8 || length > MAX_HEAD)
        return ako_fail(AKO_CORRUPT, "tensor", "%s claims a header of %llu bytes, but has %llu bytes (limit %d)",
                        source->name, (unsigned long long)length, (unsigned long long)source->size, MAX_HEAD);
    char *text = malloc((size_t)length + 1);
    if (!text)
        return ako_fail(AKO_NOMEM, "tensor", "out of memory reading %s", source->name);
    status = ako_tensor_source_read(source, text, 8, length);
    if (status == AKO_OK && ako_json_parse(out, text, (size_t)length) != AKO_OK)
        status =
            ako_fail(AKO_CORRUPT, "tensor", "%s has a damaged header: %s", source->name, ako_error_last()->message);
    free(text);
    *data_start = 8 + length;
    return status;
}

int ako_safetensors_read(ako_tensor *out, const ako_tensor_source *source, const char *member)
{
    json_t *head = NULL;
    uint64_t data_start = 0;
    int status = read_head(&head, &data_start, source);
    if (status != AKO_OK)
        return status;
    if (json_is_object(head))
        status = load(out, head, source, data_start, member);
    else
        status = ako_fail(AKO_CORRUPT, "tensor", "%s has a header that is not a JSON object", source->name);
    json_decref(head);
    return status;
}

static json_t *shape_of(const ako_tensor *tensor)
{
    json_t *shape = json_array();
    for (int i = 0; i < tensor->ndim; i++)
        json_array_append_new(shape, json_integer(tensor->shape[i]));
    return shape;
}

static const char *name_of_dtype(ako_dtype dtype)
{
    int i = 0;
    while (names[i].dtype != dtype)
        i++;
    return names[i].name;
}

/* Adds one entry; false when the name is taken, reserved or not UTF-8. */
static bool add_entry(json_t *head, const ako_tensor_member *member, uint64_t begin)
{
    if (is_metadata(member->name) || json_object_get(head, member->name))
        return false;
    json_t *entry = json_pack("{s:s, s:o, s:[I,I]}", "dtype", name_of_dtype(member->tensor->dtype), "shape",
                              shape_of(member->tensor), "data_offsets", (json_int_t)begin,
                              (json_int_t)(begin + member->tensor->bytes));
    return json_object_set_new(head, member->name, entry) == 0;
}

static int write_head(ako_buf *out, json_t *head)
{
    char *text = NULL;
    int status = ako_json_dump(&text, head);
    if (status != AKO_OK)
        return status;
    uint64_t length = strlen(text), padded = (length + 7) / 8 * 8;
    for (int i = 0; i < 8; i++)
        ako_buf_put(out, &(char){(char)(padded >> (8 * i) & 0xff)}, 1);
    ako_buf_printf(out, "%s%*s", text, (int)(padded - length), "");
    free(text);
    return AKO_OK;
}

int ako_safetensors_write(ako_buf *out, const ako_tensor_member *members, int n)
{
    json_t *head = json_object();
    uint64_t begin = 0;
    int status = AKO_OK;
    for (int i = 0; i < n && status == AKO_OK; i++) {
        if (!add_entry(head, &members[i], begin))
            status = ako_fail(AKO_INVALID, "tensor",
                              "tensor %d cannot be called \"%.80s\": the name is taken, "
                              "reserved or not UTF-8",
                              i + 1, members[i].name);
        begin += members[i].tensor->bytes;
    }
    if (status == AKO_OK)
        status = write_head(out, head);
    for (int i = 0; i < n && status == AKO_OK; i++)
        ako_buf_put(out, members[i].tensor->data, (size_t)members[i].tensor->bytes);
    json_decref(head);
    return status;
}
