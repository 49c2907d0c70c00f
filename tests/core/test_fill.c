/* Random numbers and fills. */
#include "places.h"

#include <math.h>
#include <string.h>

#include "philox.h"

static void test_philox_known_answers(void **state)
{
    static const uint32_t vectors[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
         0x24126ea1},
    };
    (void)state;
    for (int i = 0; i < 3; i++) {
        uint32_t counter[4];
        memcpy(counter, vectors[i], sizeof counter);
        ako_philox4x32(counter, vectors[i][4], vectors[i][5]);
        assert_memory_equal(counter, vectors[i] + 6, sizeof counter);
    }
}

static void test_normal_inverts_the_distribution(void **state)
{
    double worst = 0;
    (void)state;
    for (uint64_t word = 0; word < 0x80000000; word += 65521) {
        double p = ((double)word + 0.5) * 0x1p-32;
        double z = (double)ako_normal_f32((uint32_t)word);
        /* One Newton step from z towards the exact quantile of the upper tail p. */
        double error = (0.5 * erfc(z / sqrt(2)) - p) / (exp(-z * z / 2) / sqrt(8 * atan(1)));
        worst = fabs(error) > worst ? fabs(error) : worst;
        assert_true(ako_normal_f32((uint32_t)word | 0x80000000) == -ako_normal_f32((uint32_t)word));
    }
    assert_true(worst < 2.5e-6);
    assert_true(ako_normal_f32(0) > 6.3f && ako_normal_f32(0) < 6.4f);
}

static void test_normal_has_its_moments(void **state)
{
    fixture *f = need(state);
    size_t n = ROOM / 4;
    fill(f, 0, AKO_F32, n, (ako_fill){AKO_FILL_NORMAL, 3, 2, 42, 0});
    float *x = host_copy(f, 0, ROOM);
    double sum = 0, squares = 0, fourth = 0;
    for (size_t i = 0; i < n; i++) {
        double z = ((double)x[i] - 3) / 2;
        sum += z;
        squares += z * z;
        fourth += z * z * z * z;
    }
    assert_true(fabs(sum / (double)n) < 5 / sqrt((double)n));
    assert_true(fabs(squares / (double)n - 1) < 5 * sqrt(2 / (double)n));
    assert_true(fabs(fourth / (double)n - 3) < 5 * sqrt(96 / (double)n));
    free(x);
}

/* Every dtype has all of [a, b) or [a, b] and nothing else. */
static void test_uniform_stays_inside_and_reaches_its_ends(void **state)
{
    fixture *f = need(state);
    for (int d = 0; d < AKO_DTYPE_COUNT; d++) {
        ako_dtype dtype = (ako_dtype)d;
        char kind = ako_dtype_kind(dtype);
        double a = kind == 'u' || kind == 'b' ? 0 : -1, b = kind == 'b' ? 1 : 3, low = 1e9, high = -1e9, sum = 0;
        size_t n = 20001;
        fill(f, 0, dtype, n, (ako_fill){AKO_FILL_UNIFORM, a, b, 7, 1});
        void *x = host_copy(f, 0, n * ako_dtype_size(dtype));
        for (size_t i = 0; i < n; i++) {
            double value = ako_dtype_load(dtype, x, i);
            low = value < low ? value : low;
            high = value > high ? value : high;
            sum += value;
        }
        assert_true(kind == 'f' ? low >= a && low < a + 0.01 : low == a);
        assert_true(kind == 'f' ? high < b && high > b - 0.6 : high == b);
        assert_true(fabs(sum / (double)n - (a + b) / 2) < 0.06);
        free(x);
    }
}

static void test_uniform_covers_whole_integer_ranges(void **state)
{
    fixture *f = need(state);
    size_t n = 4096;
    int seen_negative = 0, seen_large = 0;
    fill(f, 0, AKO_I64, n, (ako_fill){AKO_FILL_UNIFORM, -9.3e18, 9.3e18, 5, 0});
    int64_t *x = host_copy(f, 0, 8 * n);
    for (size_t i = 0; i < n; i++) {
        seen_negative += x[i] < 0;
        seen_large += x[i] > INT64_MAX / 2;
    }
    assert_in_range(seen_negative, n / 2 - 160, n / 2 + 160);
    assert_in_range(seen_large, n / 4 - 160, n / 4 + 160);
    free(x);
}

static void test_normal_of_integers_is_rounded_and_clamped(void **state)
{
    fixture *f = need(state);
    int at_limit = 0;
    fill(f, 0, AKO_I8, 1000, (ako_fill){AKO_FILL_NORMAL, 0, 1000, 1, 0});
    int8_t *x = host_copy(f, 0, 1000);
    for (int i = 0; i < 1000; i++)
        at_limit += x[i] == INT8_MIN || x[i] == INT8_MAX;
    assert_true(at_limit > 800 && at_limit < 1000);
    free(x);
}

static void test_constant_and_arange(void **state)
{
    fixture *f = need(state);
    fill(f, 0, AKO_F16, 1001, (ako_fill){AKO_FILL_CONSTANT, -0.0, 0, 0, 0});
    uint16_t *zeros = host_copy(f, 0, 2002);
    assert_int_equal(zeros[0], 0x8000);
    assert_int_equal(zeros[1000], 0x8000);
    free(zeros);
    fill(f, 0, AKO_I16, 1001, (ako_fill){AKO_FILL_ARANGE, 5, -0.5, 0, 0});
    int16_t *steps = host_copy(f, 0, 2002);
    assert_int_equal(steps[0], 5);
    assert_int_equal(steps[1], 4);
    assert_int_equal(steps[1000], -495);
    free(steps);
}

static void test_a_part_can_be_made_alone_and_streams_differ(void **state)
{
    fixture *f = need(state);
    fill(f, 0, AKO_F32, 1000, (ako_fill){AKO_FILL_NORMAL, 0, 1, 9, 3});
    fill(f, 1, AKO_F32, 501, (ako_fill){AKO_FILL_NORMAL, 0, 1, 9, 3});
    float *whole = host_copy(f, 0, 4000), *part = host_copy(f, 1, 2004);
    assert_memory_equal(whole, part, 2004);
    fill(f, 1, AKO_F32, 501, (ako_fill){AKO_FILL_NORMAL, 0, 1, 9, 4});
    free(part);
    part = host_copy(f, 1, 2004);
    assert_memory_not_equal(whole, part, 2004);
    free(whole);
    free(part);
}

static void test_a_fill_writes_only_its_elements(void **state)
{
    fixture *f = need(state);
    for (int d = 0; d < AKO_DTYPE_COUNT; d++) {
        size_t size = ako_dtype_size((ako_dtype)d), start = 8 + size, bytes = 7 * size;
        int64_t offset;
        ako_fill zero = {AKO_FILL_CONSTANT, 0, 0, 0, 0}, uniform = {AKO_FILL_UNIFORM, 0, 1, 3, 0};
        assert_int_equal(ako_ops_poison(f->ops, block(f, 0), 256), AKO_OK);
        assert_int_equal(ako_ops_fill(f->ops, block(f, 0) + start, (ako_dtype)d, 7, &uniform), AKO_OK);
        assert_int_equal(ako_ops_find_other(f->ops, &offset, block(f, 0), AKO_POISON, start), AKO_OK);
        assert_int_equal(offset, -1);
        assert_int_equal(ako_ops_fill(f->ops, block(f, 0) + start, (ako_dtype)d, 7, &zero), AKO_OK);
        assert_int_equal(
            ako_ops_find_other(f->ops, &offset, block(f, 0) + start + bytes, AKO_POISON, 256 - start - bytes), AKO_OK);
        assert_int_equal(offset, -1);
        assert_int_equal(ako_ops_find_other(f->ops, &offset, block(f, 0), AKO_POISON, 256), AKO_OK);
        assert_int_equal(offset, start);
    }
}

static void check_refused(const fixture *f, ako_dtype dtype, ako_fill what)
{
    assert_int_equal(ako_ops_fill(f->ops, block(f, 0), dtype, 1, &what), AKO_INVALID);
}

static void test_fills_that_make_no_sense_are_refused(void **state)
{
    fixture *f = need(state);
    check_refused(f, AKO_F32, (ako_fill){AKO_FILL_NORMAL, NAN, 1, 0, 0});
    check_refused(f, AKO_F32, (ako_fill){AKO_FILL_NORMAL, 1e39, 1, 0, 0});
    check_refused(f, AKO_F32, (ako_fill){AKO_FILL_UNIFORM, 1, 1, 0, 0});
    check_refused(f, AKO_I32, (ako_fill){AKO_FILL_UNIFORM, 1.2, 1.8, 0, 0});
    check_refused(f, AKO_F64, (ako_fill){AKO_FILL_UNIFORM, -1.7e308, 1.7e308, 0, 0});
}

#define PLACE_TESTS                                                                                                   \
    cmocka_unit_test(test_normal_has_its_moments), cmocka_unit_test(test_uniform_stays_inside_and_reaches_its_ends),  \
        cmocka_unit_test(test_uniform_covers_whole_integer_ranges),                                                   \
        cmocka_unit_test(test_normal_of_integers_is_rounded_and_clamped), cmocka_unit_test(test_constant_and_arange), \
        cmocka_unit_test(test_a_part_can_be_made_alone_and_streams_differ),                                           \
        cmocka_unit_test(test_a_fill_writes_only_its_elements),                                                       \
        cmocka_unit_test(test_fills_that_make_no_sense_are_refused)

int main(void)
{
    const struct CMUnitTest plain[] = {cmocka_unit_test(test_philox_known_answers),
                                       cmocka_unit_test(test_normal_inverts_the_distribution)};
    const struct CMUnitTest on_cpu[] = {PLACE_TESTS};
    const struct CMUnitTest on_gpu[] = {PLACE_TESTS};
    return cmocka_run_group_tests_name("shared", plain, NULL, NULL) + RUN_ON_BOTH_PLACES(on_cpu, on_gpu);
}
