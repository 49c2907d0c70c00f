/* Conversions against references that share nothing with them: values computed from each format's definition and
 * searched for the nearest, and the compiler's own _Float16. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "dtype.h"
#include "error.h"

typedef struct format {
    ako_dtype dtype;
    int mantissa, bias, bits;
    uint32_t largest;  /* finite pattern */
    uint32_t overflow; /* pattern that stands for what is too large, when stored */
} format;

static const format formats[] = {
    {AKO_F16, 10, 15, 16, 0x7bff, 0x7c00},
    {AKO_BF16, 7, 127, 16, 0x7f7f, 0x7f80},
    {AKO_F8E4M3, 3, 7, 8, 0x7e, 0x7e},
    {AKO_F8E5M2, 2, 15, 8, 0x7b, 0x7b},
};

static double value_of(const format *f, uint32_t pattern)
{
    int exponent = (int)(pattern >> f->mantissa);
    double fraction = pattern & ((1u << f->mantissa) - 1);
    if (exponent == 0)
        return ldexp(fraction, 1 - f->bias - f->mantissa);
    return ldexp(fraction + ldexp(1, f->mantissa), exponent - f->bias - f->mantissa);
}

static uint32_t nearest_pattern(const format *f, double value)
{
    uint32_t low = 0, high = f->largest + 1;
    double magnitude = fabs(value);
    if (magnitude >= value_of(f, high))
        return f->overflow;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (value_of(f, middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    double below = magnitude - value_of(f, low), above = value_of(f, high) - magnitude;
    uint32_t pattern = below < above || (below == above && low % 2 == 0) ? low : high;
    return pattern > f->largest ? f->overflow : pattern;
}

static void check_store(const format *f, double value)
{
    uint64_t bits = 0;
    ako_dtype_store(f->dtype, &bits, 0, value);
    uint32_t sign = signbit(value) ? 1u << (f->bits - 1) : 0;
    uint32_t expected = nearest_pattern(f, value) | sign;
    if (bits != expected)
        fail_msg("%s of %a: 0x%llx instead of 0x%x", ako_dtype_name(f->dtype), value, (unsigned long long)bits,
                 expected);
}

static void check_around(const format *f, double value)
{
    float single = (float)value;
    const double probes[] = {value,  nextafter(value, INFINITY),   nextafter(value, 0),
                             single, nextafterf(single, INFINITY), nextafterf(single, 0)};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        check_store(f, probes[i]);
        check_store(f, -probes[i]);
    }
}

static void test_every_finite_pattern_widens_to_its_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const format *f = &formats[i];
        for (uint32_t pattern = 0; pattern <= f->largest; pattern++) {
            uint64_t positive = pattern, negative = pattern | 1u << (f->bits - 1);
            assert_true(ako_dtype_load(f->dtype, &positive, 0) == value_of(f, pattern));
            assert_true(ako_dtype_load(f->dtype, &negative, 0) == -value_of(f, pattern));
            assert_true(signbit(ako_dtype_load(f->dtype, &negative, 0)));
        }
    }
}

static void test_patterns_and_midpoints_round_to_nearest_even(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const format *f = &formats[i];
        for (uint32_t pattern = 0; pattern <= f->largest; pattern++) {
            double value = value_of(f, pattern), next = value_of(f, pattern + 1);
            check_around(f, value);
            check_around(f, value + (next - value) / 2);
        }
    }
}

static void test_f32_patterns_round_to_nearest_even(void **state)
{
    (void)state;
    for (uint64_t bits = 0; bits < 0x7f800000; bits += 40009) {
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            check_store(&formats[i], ako_f32_of_bits((uint32_t)bits));
            check_store(&formats[i], -ako_f32_of_bits((uint32_t)bits));
        }
    }
}

static void test_special_values(void **state)
{
    (void)state;
    assert_int_equal(ako_f32_to_f16(INFINITY), 0x7c00);
    assert_int_equal(ako_f32_to_f16(-INFINITY), 0xfc00);
    assert_int_equal(ako_f32_to_f16(65519.99609375f), 0x7bff);
    assert_int_equal(ako_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(ako_f32_to_bf16(-INFINITY), 0xff80);
    assert_int_equal(ako_f32_to_bf16(FLT_MAX), 0x7f80);
    assert_int_equal(ako_f32_to_f8e5m2(INFINITY, false), 0x7c);
    assert_int_equal(ako_f32_to_f8e5m2(61440.0f, false), 0x7c);
    assert_int_equal(ako_f32_to_f8e5m2(61439.0f, false), 0x7b);
    assert_int_equal(ako_f32_to_f8e5m2(-1e30f, true), 0xfb);
    assert_int_equal(ako_f32_to_f8e4m3(464.0f, false), 0x7e);
    assert_int_equal(ako_f32_to_f8e4m3(465.0f, false), 0x7f);
    assert_int_equal(ako_f32_to_f8e4m3(-465.0f, true), 0xfe);
    assert_int_equal(ako_f32_to_f8e4m3(INFINITY, true), 0x7e);
    assert_int_equal(ako_f32_to_f8e4m3(-INFINITY, false), 0xff);
    assert_true(isinf(ako_f16_to_f32(0xfc00)) && ako_f16_to_f32(0xfc00) < 0);
    assert_true(isinf(ako_bf16_to_f32(0x7f80)));
    assert_true(isinf(ako_f8e5m2_to_f32(0x7c)));
}

static void test_nan_stays_nan_and_keeps_its_sign(void **state)
{
    (void)state;
    for (uint32_t payload = 1; payload < 0x800000; payload = payload * 2 + 1) {
        float nan = ako_f32_of_bits(0xff800000 | payload);
        assert_true(isnan(ako_f16_to_f32(ako_f32_to_f16(nan))) && ako_f32_to_f16(nan) >> 15);
        assert_true(isnan(ako_bf16_to_f32(ako_f32_to_bf16(nan))) && ako_f32_to_bf16(nan) >> 15);
        assert_true(isnan(ako_f8e4m3_to_f32(ako_f32_to_f8e4m3(nan, true))) && ako_f32_to_f8e4m3(nan, true) >> 7);
        assert_true(isnan(ako_f8e5m2_to_f32(ako_f32_to_f8e5m2(nan, true))) && ako_f32_to_f8e5m2(nan, true) >> 7);
    }
    for (uint32_t pattern = 0x7c01; pattern <= 0x7fff; pattern++)
        assert_true(isnan(ako_f16_to_f32((uint16_t)pattern)));
    for (uint32_t pattern = 0x7f81; pattern <= 0x7fff; pattern++)
        assert_true(isnan(ako_bf16_to_f32((uint16_t)pattern)));
    for (uint32_t pattern = 0x7d; pattern <= 0x7f; pattern++)
        assert_true(isnan(ako_f8e5m2_to_f32((uint8_t)pattern)));
    assert_true(isnan(ako_f8e4m3_to_f32(0x7f)) && isnan(ako_f8e4m3_to_f32(0xff)));
}

static void test_f16_agrees_with_the_compiler(void **state)
{
    (void)state;
#ifdef __FLT16_MANT_DIG__
    __extension__ typedef _Float16 half;
    for (uint32_t pattern = 0; pattern <= 0xffff; pattern++) {
        uint16_t bits = (uint16_t)pattern;
        half h;
        memcpy(&h, &bits, sizeof h);
        float theirs = (float)h, ours = ako_f16_to_f32(bits);
        assert_true(isnan(theirs) ? isnan(ours) : ako_bits_of_f32(theirs) == ako_bits_of_f32(ours));
    }
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 9973) {
        float value = ako_f32_of_bits((uint32_t)bits);
        half h = (half)value;
        uint16_t theirs;
        memcpy(&theirs, &h, sizeof theirs);
        assert_true(isnan(value) || theirs == ako_f32_to_f16(value));
    }
#else
    skip();
#endif
}

static void check_integer(ako_dtype dtype, double value, int64_t expected)
{
    uint64_t bits = 0;
    ako_dtype_store(dtype, &bits, 0, value);
    assert_int_equal(ako_extend_integer(dtype, bits), expected);
}

static void test_integers_round_and_clamp(void **state)
{
    (void)state;
    check_integer(AKO_I32, 2.5, 2);
    check_integer(AKO_I32, 3.5, 4);
    check_integer(AKO_I32, -2.5, -2);
    check_integer(AKO_I32, 1e300, INT32_MAX);
    check_integer(AKO_I32, -INFINITY, INT32_MIN);
    check_integer(AKO_I8, 127.6, 127);
    check_integer(AKO_I8, -200, -128);
    check_integer(AKO_U8, -1, 0);
    check_integer(AKO_U16, 65535.7, 65535);
    check_integer(AKO_I64, 9.3e18, INT64_MAX);
    check_integer(AKO_I64, -9.3e18, INT64_MIN);
    check_integer(AKO_U64, 1e30, -1);
    check_integer(AKO_I16, NAN, 0);
    check_integer(AKO_U32, NAN, 0);
    check_integer(AKO_BOOL, 0.25, 1);
    check_integer(AKO_BOOL, -0.0, 0);
}

static void test_elements_are_where_they_should_be(void **state)
{
    (void)state;
    for (int d = 0; d < AKO_DTYPE_COUNT; d++) {
        ako_dtype dtype = (ako_dtype)d;
        size_t size = ako_dtype_size(dtype);
        unsigned char buffer[40];
        memset(buffer, 0x5a, sizeof buffer);
        ako_dtype_store(dtype, buffer + 1, 2, 1);
        assert_true(ako_dtype_load(dtype, buffer + 1, 2) == 1);
        assert_int_equal(buffer[2 * size], 0x5a);
        assert_int_equal(buffer[1 + 3 * size], 0x5a);
    }
}

static void test_names(void **state)
{
    ako_dtype dtype;
    (void)state;
    for (int d = 0; d < AKO_DTYPE_COUNT; d++) {
        assert_int_equal(ako_dtype_parse(&dtype, ako_dtype_name((ako_dtype)d)), AKO_OK);
        assert_int_equal(dtype, d);
    }
    assert_int_equal(ako_dtype_parse(&dtype, "float16"), AKO_INVALID);
    assert_string_equal(ako_error_last()->message, "unknown dtype \"float16\": did you mean \"f16\"?");
    assert_int_equal(ako_dtype_parse(&dtype, "fb16"), AKO_INVALID);
    assert_non_null(strstr(ako_error_last()->message, "did you mean"));
    assert_int_equal(ako_dtype_parse(&dtype, "f8e4m3fn"), AKO_INVALID);
    assert_non_null(strstr(ako_error_last()->message, "\"f8e4m3\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_finite_pattern_widens_to_its_value),
        cmocka_unit_test(test_patterns_and_midpoints_round_to_nearest_even),
        cmocka_unit_test(test_f32_patterns_round_to_nearest_even),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_nan_stays_nan_and_keeps_its_sign),
        cmocka_unit_test(test_f16_agrees_with_the_compiler),
        cmocka_unit_test(test_integers_round_and_clamp),
        cmocka_unit_test(test_elements_are_where_they_should_be),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
