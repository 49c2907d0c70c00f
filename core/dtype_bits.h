/* Element types and their conversions, by integer arithmetic on bit patterns: compiled as C11 into libako and as CUDA
 * into the kernels of core/gpu/ops.cu, so that both sides give the same bits. Everybody else includes dtype.h. */
#ifndef AKO_DTYPE_BITS_H
#define AKO_DTYPE_BITS_H

#ifdef __CUDACC__
#define AKO_SHARED static __device__ __forceinline__
#define AKO_SHARED_CALL static __device__ __noinline__ /* large and seldom: one copy compiles faster than ten */
#else
#define AKO_SHARED static inline
#define AKO_SHARED_CALL static inline
#endif

#ifdef __CUDACC_RTC__ /* NVRTC has no system headers */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
#endif

/* name, size in bytes, kind: 'f' float, 'i' signed, 'u' unsigned, 'b' bool */
#define AKO_DTYPE_LIST(X)       \
    X(F64, "f64", 8, 'f')       \
    X(F32, "f32", 4, 'f')       \
    X(F16, "f16", 2, 'f')       \
    X(BF16, "bf16", 2, 'f')     \
    X(F8E4M3, "f8e4m3", 1, 'f') \
    X(F8E5M2, "f8e5m2", 1, 'f') \
    X(I64, "i64", 8, 'i')       \
    X(I32, "i32", 4, 'i')       \
    X(I16, "i16", 2, 'i')       \
    X(I8, "i8", 1, 'i')         \
    X(U64, "u64", 8, 'u')       \
    X(U32, "u32", 4, 'u')       \
    X(U16, "u16", 2, 'u')       \
    X(U8, "u8", 1, 'u')         \
    X(BOOL, "bool", 1, 'b')

/* Floats first, then signed, then unsigned: the tests for a kind rely on it. */
typedef enum ako_dtype {
#define AKO_DTYPE_ENUM(id, name, size, kind) AKO_##id,
    AKO_DTYPE_LIST(AKO_DTYPE_ENUM)
#undef AKO_DTYPE_ENUM
        AKO_DTYPE_COUNT
} ako_dtype;

AKO_SHARED uint32_t ako_bits_of_f32(float value)
{
#ifdef __CUDACC__
    return __float_as_uint(value);
#else
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
#endif
}

AKO_SHARED float ako_f32_of_bits(uint32_t bits)
{
#ifdef __CUDACC__
    return __uint_as_float(bits);
#else
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

AKO_SHARED uint64_t ako_bits_of_f64(double value)
{
#ifdef __CUDACC__
    return (uint64_t)__double_as_longlong(value);
#else
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
#endif
}

AKO_SHARED double ako_f64_of_bits(uint64_t bits)
{
#ifdef __CUDACC__
    return __longlong_as_double((long long)bits);
#else
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

AKO_SHARED int ako_is_float(ako_dtype dtype)
{
    return dtype <= AKO_F8E5M2;
}

AKO_SHARED int ako_is_signed(ako_dtype dtype)
{
    return dtype <= AKO_I8;
}

/* One multiplication and one addition, each rounded: never fused. The host is compiled with -ffp-contract=off. */
AKO_SHARED float ako_mul_add_f32(float a, float b, float c)
{
#ifdef __CUDACC__
    return __fadd_rn(__fmul_rn(a, b), c);
#else
    return a * b + c;
#endif
}

AKO_SHARED double ako_mul_add_f64(double a, double b, double c)
{
#ifdef __CUDACC__
    return __dadd_rn(__dmul_rn(a, b), c);
#else
    return a * b + c;
#endif
}

/* Shifts right, rounding to nearest, ties to even. 0 < shift. */
AKO_SHARED uint32_t ako_round_shift(uint32_t value, int shift)
{
    if (shift > 25)
        return 0;
    return (value + (1u << (shift - 1)) - 1 + ((value >> shift) & 1)) >> shift;
}

/* A finite |value| below 2^128 given as f32 bits, in a format of `mantissa` bits and the exponent bias `bias` < 127.
 * What is too large for the format comes back as a pattern beyond its largest finite one, at most 0x7fff. */
AKO_SHARED uint32_t ako_narrow_magnitude(uint32_t magnitude, int mantissa, int bias)
{
    int exponent = (int)(magnitude >> 23) - 127 + bias;
    if (exponent >= 32)
        return 0x7fff;
    if (exponent >= 1)
        return ako_round_shift(magnitude - ((uint32_t)(127 - bias) << 23), 23 - mantissa);
    return ako_round_shift((magnitude & 0x7fffff) | 0x800000, 23 - mantissa + 1 - exponent);
}

/* The other way, for a finite pattern without sign. */
AKO_SHARED float ako_widen_magnitude(uint32_t pattern, int mantissa, int bias)
{
    if (pattern >> mantissa)
        return ako_f32_of_bits((pattern << (23 - mantissa)) + ((uint32_t)(127 - bias) << 23));
    return (float)pattern * ako_f32_of_bits((uint32_t)(127 + 1 - bias - mantissa) << 23);
}

AKO_SHARED float ako_with_sign(float magnitude, uint32_t sign)
{
    return ako_f32_of_bits(ako_bits_of_f32(magnitude) | sign << 31);
}

AKO_SHARED float ako_widen_f16(uint32_t bits)
{
    uint32_t pattern = bits & 0x7fff, sign = bits >> 15;
    if (pattern >= 0x7c00)
        return ako_f32_of_bits(sign << 31 | 0x7f800000 | (pattern & 0x3ff) << 13);
    return ako_with_sign(ako_widen_magnitude(pattern, 10, 15), sign);
}

AKO_SHARED float ako_widen_bf16(uint32_t bits)
{
    return ako_f32_of_bits(bits << 16);
}

AKO_SHARED float ako_widen_f8e4m3(uint32_t bits)
{
    uint32_t pattern = bits & 0x7f, sign = bits >> 7;
    if (pattern == 0x7f)
        return ako_f32_of_bits(sign << 31 | 0x7fc00000);
    return ako_with_sign(ako_widen_magnitude(pattern, 3, 7), sign);
}

AKO_SHARED float ako_widen_f8e5m2(uint32_t bits)
{
    return ako_widen_f16(bits << 8);
}

AKO_SHARED uint32_t ako_narrow_f16(float value)
{
    uint32_t bits = ako_bits_of_f32(value), magnitude = bits & 0x7fffffff, sign = bits >> 31 << 15;
    if (magnitude > 0x7f800000)
        return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
    uint32_t pattern = ako_narrow_magnitude(magnitude, 10, 15);
    return sign | (pattern > 0x7c00 ? 0x7c00 : pattern);
}

AKO_SHARED uint32_t ako_narrow_bf16(float value)
{
    uint32_t bits = ako_bits_of_f32(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return bits >> 16 | 0x40;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

AKO_SHARED uint32_t ako_narrow_f8e4m3(float value, int saturate)
{
    uint32_t bits = ako_bits_of_f32(value), magnitude = bits & 0x7fffffff, sign = bits >> 31 << 7;
    if (magnitude > 0x7f800000)
        return sign | 0x7f;
    uint32_t pattern = ako_narrow_magnitude(magnitude, 3, 7);
    if (pattern > 0x7e)
        pattern = saturate ? 0x7e : 0x7f;
    return sign | pattern;
}

AKO_SHARED uint32_t ako_narrow_f8e5m2(float value, int saturate)
{
    uint32_t bits = ako_bits_of_f32(value), magnitude = bits & 0x7fffffff, sign = bits >> 31 << 7;
    if (magnitude > 0x7f800000)
        return sign | 0x7e;
    uint32_t pattern = ako_narrow_magnitude(magnitude, 2, 15);
    if (pattern > 0x7b)
        pattern = saturate ? 0x7b : 0x7c;
    return sign | pattern;
}

/* The f32 next to `value` with an odd last bit where it is not exact: rounding that once more, to a format at least
 * two bits narrower, equals rounding `value` itself (Boldo and Melquiond 2008). */
AKO_SHARED float ako_round_to_odd(double value)
{
    float nearest = (float)value;
    uint32_t bits = ako_bits_of_f32(nearest);
    double error = value - (double)nearest;
    if (!(error < 0 || error > 0) || (bits & 1))
        return nearest;
    int away = (value < 0) == (error < 0); /* the exact value lies on the far side of `nearest`, seen from zero */
    if ((bits & 0x7fffffff) == 0)
        return ako_f32_of_bits((value < 0 ? 0x80000000u : 0) | 1);
    return ako_f32_of_bits(away ? bits + 1 : bits - 1);
}

/* Rounds half to even and clamps to [low, high]; NaN gives 0. */
AKO_SHARED int64_t ako_round_signed(double value, int64_t low, int64_t high)
{
    double rounded = rint(value);
    if (rounded >= (double)high)
        return high;
    if (rounded > (double)low)
        return (int64_t)rounded;
    return rounded <= (double)low ? low : 0;
}

AKO_SHARED uint64_t ako_round_unsigned(double value, uint64_t high)
{
    double rounded = rint(value);
    if (rounded >= (double)high)
        return high;
    return rounded > 0 ? (uint64_t)rounded : 0;
}

/* An f32 rounded to one of the float dtypes other than f64, as its bit pattern. Overflow of fp8 saturates. */
AKO_SHARED_CALL uint32_t ako_narrow_f32(ako_dtype dtype, float value)
{
    switch (dtype) {
    case AKO_F16:
        return ako_narrow_f16(value);
    case AKO_BF16:
        return ako_narrow_bf16(value);
    case AKO_F8E4M3:
        return ako_narrow_f8e4m3(value, 1);
    case AKO_F8E5M2:
        return ako_narrow_f8e5m2(value, 1);
    default:
        return ako_bits_of_f32(value);
    }
}

/* `value` in `dtype` as its bit pattern: rounded, fp8 saturated, integers clamped, bool true unless zero. */
AKO_SHARED_CALL uint64_t ako_encode(ako_dtype dtype, double value)
{
    switch (dtype) {
    case AKO_F64:
        return ako_bits_of_f64(value);
    case AKO_F32:
        return ako_bits_of_f32((float)value);
    case AKO_I64:
        return (uint64_t)ako_round_signed(value, -0x7fffffffffffffff - 1, 0x7fffffffffffffff);
    case AKO_I32:
        return (uint32_t)ako_round_signed(value, -0x7fffffff - 1, 0x7fffffff);
    case AKO_I16:
        return (uint16_t)ako_round_signed(value, -0x8000, 0x7fff);
    case AKO_I8:
        return (uint8_t)ako_round_signed(value, -0x80, 0x7f);
    case AKO_U64:
        return ako_round_unsigned(value, 0xffffffffffffffff);
    case AKO_U32:
        return ako_round_unsigned(value, 0xffffffff);
    case AKO_U16:
        return ako_round_unsigned(value, 0xffff);
    case AKO_U8:
        return ako_round_unsigned(value, 0xff);
    case AKO_BOOL:
        return !(value <= 0 && value >= 0);
    default:
        return ako_narrow_f32(dtype, ako_round_to_odd(value));
    }
}

/* The value behind the bit pattern of a float dtype. */
AKO_SHARED double ako_decode_float(ako_dtype dtype, uint64_t bits)
{
    switch (dtype) {
    case AKO_F64:
        return ako_f64_of_bits(bits);
    case AKO_F16:
        return (double)ako_widen_f16((uint32_t)bits);
    case AKO_BF16:
        return (double)ako_widen_bf16((uint32_t)bits);
    case AKO_F8E4M3:
        return (double)ako_widen_f8e4m3((uint32_t)bits);
    case AKO_F8E5M2:
        return (double)ako_widen_f8e5m2((uint32_t)bits);
    default:
        return (double)ako_f32_of_bits((uint32_t)bits);
    }
}

/* The bit pattern of an integer dtype, extended to 64 bits by its sign where it has one. */
AKO_SHARED int64_t ako_extend_integer(ako_dtype dtype, uint64_t bits)
{
    switch (dtype) {
    case AKO_I32:
        return (int32_t)(uint32_t)bits;
    case AKO_I16:
        return (int16_t)(uint16_t)bits;
    case AKO_I8:
        return (int8_t)(uint8_t)bits;
    default:
        return (int64_t)bits;
    }
}

#endif
