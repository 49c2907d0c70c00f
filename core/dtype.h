/* Element types and exact conversions. */
#ifndef AKO_DTYPE_H
#define AKO_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name, size in bytes, kind: 'f' float, 'i' signed, 'u' unsigned, 'b' bool */
#define AKO_DTYPE_LIST(X)                                                                                             \
    X(F64, "f64", 8, 'f')                                                                                             \
    X(F32, "f32", 4, 'f')                                                                                             \
    X(F16, "f16", 2, 'f')                                                                                             \
    X(BF16, "bf16", 2, 'f')                                                                                           \
    X(F8E4M3, "f8e4m3", 1, 'f')                                                                                       \
    X(F8E5M2, "f8e5m2", 1, 'f')                                                                                       \
    X(I64, "i64", 8, 'i')                                                                                             \
    X(I32, "i32", 4, 'i')                                                                                             \
    X(I16, "i16", 2, 'i')                                                                                             \
    X(I8, "i8", 1, 'i')                                                                                               \
    X(U64, "u64", 8, 'u')                                                                                             \
    X(U32, "u32", 4, 'u')                                                                                             \
    X(U16, "u16", 2, 'u')                                                                                             \
    X(U8, "u8", 1, 'u')                                                                                               \
    X(BOOL, "bool", 1, 'b')

typedef enum ako_dtype {
#define AKO_DTYPE_ENUM(id, name, size, kind) AKO_##id,
    AKO_DTYPE_LIST(AKO_DTYPE_ENUM)
#undef AKO_DTYPE_ENUM
        AKO_DTYPE_COUNT
} ako_dtype;

int ako_dtype_parse(ako_dtype *out, const char *name); /* AKO_INVALID names the nearest known dtype */
const char *ako_dtype_name(ako_dtype dtype);
size_t ako_dtype_size(ako_dtype dtype);
char ako_dtype_kind(ako_dtype dtype);

/* Scalar conversions by bit pattern; to narrow types round to nearest even. f8e4m3 is the OCP "fn" form: no infinity,
 * NaN 0x7f/0xff, overflow saturates to 448 only where `saturate`, else NaN; f8e5m2 overflow is infinity or 57344. */
float ako_f16_to_f32(uint16_t bits);
float ako_bf16_to_f32(uint16_t bits);
float ako_f8e4m3_to_f32(uint8_t bits);
float ako_f8e5m2_to_f32(uint8_t bits);
uint16_t ako_f32_to_f16(float value);
uint16_t ako_f32_to_bf16(float value);
uint8_t ako_f32_to_f8e4m3(float value, bool saturate);
uint8_t ako_f32_to_f8e5m2(float value, bool saturate);

/* Element `index` of a buffer as a double (i64/u64 beyond 2^53 are rounded) and back (rounded, integers clamped). */
double ako_dtype_load(ako_dtype dtype, const void *base, size_t index);
void ako_dtype_store(ako_dtype dtype, void *base, size_t index, double value);

#endif
