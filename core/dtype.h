/* Element types and exact conversions. */
#ifndef AKO_DTYPE_H
#define AKO_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype_bits.h" /* AKO_DTYPE_LIST and the enum ako_dtype */

int ako_dtype_parse(ako_dtype *out, const char *name); /* AKO_INVALID names the nearest known dtype */
const char *ako_dtype_name(ako_dtype dtype);
size_t ako_dtype_size(ako_dtype dtype);
char ako_dtype_kind(ako_dtype dtype);

/* Scalar conversions by bit pattern; to narrow types round to nearest even. f8e4m3 is the OCP "fn" form: no infinity,
 * NaN 0x7f/0xff, overflow (infinity too) saturates to 448 only where `saturate`, else NaN; f8e5m2 overflow is infinity
 * or, where `saturate`, 57344. NaN stays NaN and keeps its sign. */
float ako_f16_to_f32(uint16_t bits);
float ako_bf16_to_f32(uint16_t bits);
float ako_f8e4m3_to_f32(uint8_t bits);
float ako_f8e5m2_to_f32(uint8_t bits);
uint16_t ako_f32_to_f16(float value);
uint16_t ako_f32_to_bf16(float value);
uint8_t ako_f32_to_f8e4m3(float value, bool saturate);
uint8_t ako_f32_to_f8e5m2(float value, bool saturate);

/* Element `index` of a buffer as its bit pattern, zero-extended to 64 bits, and back. */
uint64_t ako_dtype_load_bits(ako_dtype dtype, const void *base, size_t index);
void ako_dtype_store_bits(ako_dtype dtype, void *base, size_t index, uint64_t bits);

/* Element `index` of a buffer as a double (i64/u64 beyond 2^53 are rounded) and back (rounded once, half to even; fp8
 * saturated; integers clamped, NaN becoming 0; bool 1 unless zero). */
double ako_dtype_load(ako_dtype dtype, const void *base, size_t index);
void ako_dtype_store(ako_dtype dtype, void *base, size_t index, double value);

#endif
