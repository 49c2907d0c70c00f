/* NumPy's .npy, versions 1 to 3: a magic string, a Python dictionary literal, the elements. Format:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "tensor_formats.h"

enum { MAX_HEAD = 1 << 20 }; /* NumPy's own heads are below 64 KB */

static const struct {
    const char *descr; /* without the byte order */
    ako_dtype dtype;
} descrs[] = {{"f8", AKO_F64}, {"f4", AKO_F32}, {"f2", AKO_F16}, {"i8", AKO_I64}, {"i4", AKO_I32}, {"i2", AKO_I16},
              {"i1", AKO_I8},  {"u8", AKO_U64}, {"u4", AKO_U32}, {"u2", AKO_U16}, {"u1", AKO_U8},  {"b1", AKO_BOOL}};

enum { DESCRS = sizeof descrs / sizeof *descrs };

int ako_npy_head_size(uint64_t *out, const unsigned char *prefix, uint64_t available, const char *name)
{
    static const char magic[] = "\x93NUMPY";
    if (available < AKO_NPY_PREFIX || memcmp(prefix, magic, 6) != 0)
        return ako_fail(AKO_CORRUPT, "tensor", "%s is not an .npy file: it does not begin with \\x93NUMPY", name);
    if (prefix[6] < 1 || prefix[6] > 3)
        return ako_fail(AKO_INVALID, "tensor", "%s is .npy version %d: versions 1 to 3 are known", name, prefix[6]);
    uint64_t length = (uint64_t)prefix[8] | (uint64_t)prefix[9] << 8;
    if (prefix[6] > 1)
        length |= (uint64_t)prefix[10] << 16 | (uint64_t)prefix[11] << 24;
    *out = length + (prefix[6] > 1 ? 12 : 10);
    if (*out > available || *out > MAX_HEAD)
        return ako_fail(AKO_CORRUPT, "tensor", "%s claims a header of %llu bytes, but has %llu bytes (limit %d)", name,
                        (unsigned long long)*out, (unsigned long long)available, MAX_HEAD);
    return AKO_OK;
}

/* What the dictionary says. */
typedef struct npy_head {
    char descr[64];
    int64_t shape[AKO_TENSOR_DIMS];
    int ndim;
    bool fortran, has_descr, has_fortran, has_shape;
} npy_head;

static const char *skip_spaces(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* Each parser takes the text at p and gives the text behind what it took, or NULL. */
static const char *take(const char *p, char c)
{
    p = skip_spaces(p);
    return *p == c ? p + 1 : NULL;
}

static const char *take_string(const char *p, char *out, size_t size)
{
    p = skip_spaces(p);
    char quote = *p;
    if (quote != '\'' && quote != '"')
        return NULL;
    const char *end = strchr(p + 1, quote);
    if (!end || (size_t)(end - p - 1) >= size)
        return NULL;
    memcpy(out, p + 1, (size_t)(end - p - 1));
    out[end - p - 1] = '\0';
    return end + 1;
}

static const char *take_bool(const char *p, bool *out)
{
    p = skip_spaces(p);
    *out = strncmp(p, "True", 4) == 0;
    return *out ? p + 4 : strncmp(p, "False", 5) == 0 ? p + 5 : NULL;
}

static const char *take_dimension(const char *p, int64_t *out)
{
    int64_t value = 0;
    if (*p < '0' || *p > '9')
        return NULL;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p - '0', &value))
            return NULL;
    }
    *out = value;
    return *p == 'L' ? p + 1 : p; /* Python 2 wrote (3L, 4L) */
}

static const char *take_shape(const char *p, npy_head *head)
{
    p = take(p, '(');
    head->ndim = 0;
    while (p && *(p = skip_spaces(p)) != ')') {
        if (head->ndim == AKO_TENSOR_DIMS)
            return NULL;
        p = take_dimension(p, &head->shape[head->ndim++]);
        if (p && *(p = skip_spaces(p)) == ',')
            p++;
        else if (p && *p != ')')
            return NULL;
    }
    return p ? p + 1 : NULL;
}

static const char *take_entry(const char *p, npy_head *head)
{
    char key[32];
    p = take_string(p, key, sizeof key);
    p = p ? take(p, ':') : NULL;
    if (!p)
        return NULL;
    if (strcmp(key, "descr") == 0) {
        head->has_descr = true;
        return take_string(p, head->descr, sizeof head->descr);
    }
    if (strcmp(key, "fortran_order") == 0) {
        head->has_fortran = true;
        return take_bool(p, &head->fortran);
    }
    head->has_shape = true;
    return strcmp(key, "shape") == 0 ? take_shape(p, head) : NULL;
}

/* The whole dictionary, up to the padding at the end of the text. */
static bool take_dictionary(const char *p, npy_head *head)
{
    p = take(p, '{');
    while (p && *(p = skip_spaces(p)) != '}') {
        p = take_entry(p, head);
        if (p && *(p = skip_spaces(p)) == ',')
            p++;
        else if (p && *p != '}')
            return false;
    }
    return p && *skip_spaces(p + 1) == '\0' && head->has_descr && head->has_fortran && head->has_shape;
}

static int dtype_of_descr(ako_dtype *out, const char *descr, const char *name)
{
    char order = descr[0];
    bool ordered = order == '<' || order == '>' || order == '|' || order == '=';
    const char *type = descr + ordered;
    for (int i = 0; i < DESCRS; i++) {
        if (strcmp(type, descrs[i].descr) != 0)
            continue;
        *out = descrs[i].dtype;
        if (order == '>' && ako_dtype_size(*out) > 1)
            return ako_fail(AKO_INVALID, "tensor", "%s is big-endian (%s): save it as array.astype(\"<%s\")", name,
                            descr, type);
        return AKO_OK;
    }
    if (type[0] == 'V')
        return ako_fail(AKO_INVALID, "tensor",
                        "%s has elements without a type (%s), which is how .npy stores bfloat16 and float8: save them "
                        "as .safetensors",
                        name, descr);
    return ako_fail(AKO_INVALID, "tensor", "%s has elements of type \"%s\", which no dtype of ours is", name, descr);
}

/* Fortran order says the same as C order where at most one dimension is longer than 1. */
static bool order_matters(const npy_head *head)
{
    int longer = 0;
    for (int i = 0; i < head->ndim; i++)
        longer += head->shape[i] > 1;
    return head->fortran && longer > 1;
}

int ako_npy_head_parse(ako_tensor *out, const char *text, uint64_t head_size, const char *name)
{
    npy_head head = {0};
    ako_dtype dtype = AKO_F32;
    const char *dictionary = text + (text[6] == 1 ? 10 : 12);
    if (strlen(dictionary) != head_size - (uint64_t)(dictionary - text) || !take_dictionary(dictionary, &head)) {
        if (strstr(dictionary, "'descr': ["))
            return ako_fail(AKO_INVALID, "tensor", "%s is a structured array: save one field of it", name);
        return ako_fail(AKO_CORRUPT, "tensor", "%s has a damaged header: %.80s", name, dictionary);
    }
    int status = dtype_of_descr(&dtype, head.descr, name);
    if (status != AKO_OK)
        return status;
    if (order_matters(&head))
        return ako_fail(AKO_INVALID, "tensor", "%s is in Fortran order: save it as numpy.ascontiguousarray(array)",
                        name);
    if (ako_tensor_describe(out, dtype, head.shape, head.ndim) != AKO_OK)
        return ako_fail(AKO_CORRUPT, "tensor", "%s claims a shape of more than 2^63 bytes", name);
    return AKO_OK;
}

static int read_head(ako_tensor *out, uint64_t *head_size, const ako_tensor_source *source)
{
    unsigned char prefix[AKO_NPY_PREFIX] = {0};
    uint64_t available = source->size < sizeof prefix ? source->size : sizeof prefix;
    int status = ako_tensor_source_read(source, prefix, 0, available);
    if (status == AKO_OK)
        status = ako_npy_head_size(head_size, prefix, source->size, source->name);
    if (status != AKO_OK)
        return status;
    char *text = calloc(1, (size_t)*head_size + 1);
    if (!text)
        return ako_fail(AKO_NOMEM, "tensor", "out of memory reading %s", source->name);
    status = ako_tensor_source_read(source, text, 0, *head_size);
    if (status == AKO_OK)
        status = ako_npy_head_parse(out, text, *head_size, source->name);
    free(text);
    return status;
}

int ako_npy_read(ako_tensor *out, const ako_tensor_source *source)
{
    uint64_t head_size = 0;
    int status = read_head(out, &head_size, source);
    if (status != AKO_OK)
        return status;
    if (source->size - head_size != out->bytes)
        return ako_fail(AKO_CORRUPT, "tensor", "%s claims %llu bytes of elements, but holds %llu", source->name,
                        (unsigned long long)out->bytes, (unsigned long long)(source->size - head_size));
    return ako_tensor_source_load(out, source, head_size);
}

static const char *descr_of_dtype(ako_dtype dtype)
{
    for (int i = 0; i < DESCRS; i++) {
        if (descrs[i].dtype == dtype)
            return descrs[i].descr;
    }
    return NULL;
}

int ako_npy_head_write(ako_buf *out, const ako_tensor *tensor)
{
    const char *descr = descr_of_dtype(tensor->dtype);
    if (!descr)
        return ako_fail(AKO_INVALID, "tensor", ".npy has no name for %s: use .safetensors",
                        ako_dtype_name(tensor->dtype));
    ako_buf text = {0};
    ako_buf_printf(&text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                   ako_dtype_size(tensor->dtype) > 1 ? '<' : '|', descr);
    for (int i = 0; i < tensor->ndim; i++)
        ako_buf_printf(&text, "%s%lld%s", i ? ", " : "", (long long)tensor->shape[i], tensor->ndim == 1 ? "," : "");
    ako_buf_puts(&text, "), }");
    while ((10 + text.size + 1) % 64 != 0 && !text.oom)
        ako_buf_puts(&text, " ");
    ako_buf_puts(&text, "\n");
    const unsigned char prefix[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, text.size & 0xff, text.size >> 8 & 0xff};
    ako_buf_put(out, prefix, sizeof prefix);
    ako_buf_put(out, text.data, text.size);
    out->oom = out->oom || text.oom;
    ako_buf_free(&text);
    return AKO_OK;
}

int ako_npy_write(ako_buf *out, const ako_tensor *tensor)
{
    int status = ako_npy_head_write(out, tensor);
    if (status == AKO_OK)
        ako_buf_put(out, tensor->data, (size_t)tensor->bytes);
    return status;
}
