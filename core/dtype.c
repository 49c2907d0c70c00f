#include "dtype.h"

#include "error.h"

static const struct {
    const char *name;
    size_t size;
    char kind;
} dtypes[] = {
#define AKO_DTYPE_ROW(id, name, size, kind) {name, size, kind},
    AKO_DTYPE_LIST(AKO_DTYPE_ROW)
#undef AKO_DTYPE_ROW
};

/* Names that other libraries use, given as the answer to them. */
static const struct {
    const char *foreign;
    ako_dtype dtype;
} foreign_names[] = {
    {"double", AKO_F64},
    {"float64", AKO_F64},
    {"float", AKO_F32},
    {"float32", AKO_F32},
    {"fp32", AKO_F32},
    {"half", AKO_F16},
    {"float16", AKO_F16},
    {"fp16", AKO_F16},
    {"bfloat16", AKO_BF16},
    {"float8_e4m3fn", AKO_F8E4M3},
    {"float8_e5m2", AKO_F8E5M2},
    {"int64", AKO_I64},
    {"long", AKO_I64},
    {"int32", AKO_I32},
    {"int", AKO_I32},
    {"int16", AKO_I16},
    {"int8", AKO_I8},
    {"uint64", AKO_U64},
    {"uint32", AKO_U32},
    {"uint16", AKO_U16},
    {"uint8", AKO_U8},
    {"boolean", AKO_BOOL},
};

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein distance of two names; what is behind the 31st byte does not count. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[32], n = strnlen(b, 31), m = strnlen(a, 31);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smallest(row[j] + 1, row[j - 1] + 1, substituted);
        }
    }
    return row[n];
}

static const char *nearest_name(const char *name)
{
    for (size_t i = 0; i < sizeof foreign_names / sizeof *foreign_names; i++) {
        if (strcmp(name, foreign_names[i].foreign) == 0)
            return dtypes[foreign_names[i].dtype].name;
    }
    const char *nearest = dtypes[0].name;
    size_t least = SIZE_MAX;
    for (int d = 0; d < AKO_DTYPE_COUNT; d++) {
        size_t distance = edit_distance(name, dtypes[d].name);
        if (distance < least) {
            least = distance;
            nearest = dtypes[d].name;
        }
    }
    return nearest;
}

int ako_dtype_parse(ako_dtype *out, const char *name)
{
    for (int d = 0; d < AKO_DTYPE_COUNT; d++) {
        if (strcmp(name, dtypes[d].name) == 0) {
            *out = (ako_dtype)d;
            return AKO_OK;
        }
    }
    return ako_fail(AKO_INVALID, "dtype", "unknown dtype \"%.40s\": did you mean \"%s\"?", name, nearest_name(name));
}

const char *ako_dtype_name(ako_dtype dtype)
{
    return dtypes[dtype].name;
}

size_t ako_dtype_size(ako_dtype dtype)
{
    return dtypes[dtype].size;
}

char ako_dtype_kind(ako_dtype dtype)
{
    return dtypes[dtype].kind;
}

float ako_f16_to_f32(uint16_t bits)
{
    return ako_widen_f16(bits);
}

float ako_bf16_to_f32(uint16_t bits)
{
    return ako_widen_bf16(bits);
}

float ako_f8e4m3_to_f32(uint8_t bits)
{
    return ako_widen_f8e4m3(bits);
}

float ako_f8e5m2_to_f32(uint8_t bits)
{
    return ako_widen_f8e5m2(bits);
}

uint16_t ako_f32_to_f16(float value)
{
    return (uint16_t)ako_narrow_f16(value);
}

uint16_t ako_f32_to_bf16(float value)
{
    return (uint16_t)ako_narrow_bf16(value);
}

uint8_t ako_f32_to_f8e4m3(float value, bool saturate)
{
    return (uint8_t)ako_narrow_f8e4m3(value, saturate);
}

uint8_t ako_f32_to_f8e5m2(float value, bool saturate)
{
    return (uint8_t)ako_narrow_f8e5m2(value, saturate);
}

/* Elements are copied by memcpy, since a buffer may lie at any address; all machines in question are little-endian. */
uint64_t ako_dtype_load_bits(ako_dtype dtype, const void *base, size_t index)
{
    uint64_t bits = 0;
    size_t size = dtypes[dtype].size;
    memcpy(&bits, (const char *)base + index * size, size);
    return bits;
}

void ako_dtype_store_bits(ako_dtype dtype, void *base, size_t index, uint64_t bits)
{
    size_t size = dtypes[dtype].size;
    memcpy((char *)base + index * size, &bits, size);
}

double ako_dtype_load(ako_dtype dtype, const void *base, size_t index)
{
    uint64_t bits = ako_dtype_load_bits(dtype, base, index);
    if (dtypes[dtype].kind == 'f')
        return ako_decode_float(dtype, bits);
    return dtypes[dtype].kind == 'i' ? (double)ako_extend_integer(dtype, bits) : (double)bits;
}

void ako_dtype_store(ako_dtype dtype, void *base, size_t index, double value)
{
    ako_dtype_store_bits(dtype, base, index, ako_encode(dtype, value));
}
