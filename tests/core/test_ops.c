/* Poison, hashes and comparisons, the same tests on both places, and the two places against each other. */
#include "places.h"

#include <math.h>
#include <string.h>

#include "ops_backend.h"

static void test_poison_is_found_and_counted(void **state)
{
    fixture *f = need(state);
    const unsigned char zero = 0;
    uint64_t count;
    int64_t offset;
    assert_int_equal(ako_ops_poison(f->ops, block(f, 0), ROOM), AKO_OK);
    const size_t places[] = {0, 1, 7, 8, 1000, 524287, 800003, 1000001};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t start = places[i] / 3;
        assert_int_equal(ako_ops_upload(f->ops, block(f, 0) + places[i], &zero, 1), AKO_OK);
        assert_int_equal(ako_ops_find_other(f->ops, &offset, block(f, 0) + start, AKO_POISON, 1000002 - start), AKO_OK);
        assert_int_equal(offset, places[i] - start);
        assert_int_equal(ako_ops_find_other(f->ops, &offset, block(f, 0) + start, AKO_POISON, places[i] - start),
                         AKO_OK);
        assert_int_equal(offset, -1);
        for (size_t size = 1; size <= 8; size *= 2) {
            assert_int_equal(ako_ops_count_poisoned(f->ops, &count, block(f, 0), ROOM / size, size), AKO_OK);
            assert_int_equal(count, ROOM / size - 1);
        }
        assert_int_equal(ako_ops_poison(f->ops, block(f, 0) + places[i], 1), AKO_OK);
    }
    assert_int_equal(ako_ops_count_poisoned(f->ops, &count, block(f, 0), 1, 3), AKO_INVALID);
}

static void test_hash_sees_every_byte_its_place_and_the_length(void **state)
{
    fixture *f = need(state);
    size_t n = 4099;
    fill(f, 0, AKO_U8, n, (ako_fill){AKO_FILL_UNIFORM, 0, 255, 1, 0});
    unsigned char *bytes = host_copy(f, 0, n);
    uint64_t hash = hash_of(f, 0, n);
    for (size_t i = 0; i < n; i += 97) {
        unsigned char changed = bytes[i] ^ 0x10;
        ako_ops_upload(f->ops, block(f, 0) + i, &changed, 1);
        assert_true(hash_of(f, 0, n) != hash);
        ako_ops_upload(f->ops, block(f, 0) + i, &bytes[i], 1);
    }
    assert_true(hash_of(f, 0, n) == hash);
    ako_ops_upload(f->ops, block(f, 0), bytes + 8, 8);
    ako_ops_upload(f->ops, block(f, 0) + 8, bytes, 8);
    assert_true(hash_of(f, 0, n) != hash);
    ako_ops_upload(f->ops, block(f, 0) + 17, bytes, n);
    assert_true(hash_of(f, 17, n) == hash);
    fill(f, 0, AKO_U8, 64, (ako_fill){AKO_FILL_CONSTANT, 0, 0, 0, 0});
    assert_true(hash_of(f, 0, 8) != hash_of(f, 0, 9) && hash_of(f, 0, 0) != hash_of(f, 0, 1));
    free(bytes);
}

static ako_comparison compare(const fixture *f, ako_dtype dtype, const void *got, const void *expected, size_t n,
                              ako_tolerance tolerance)
{
    ako_comparison c;
    size_t bytes = n * ako_dtype_size(dtype);
    assert_int_equal(ako_ops_upload(f->ops, block(f, 0), got, bytes), AKO_OK);
    assert_int_equal(ako_ops_upload(f->ops, block(f, 1), expected, bytes), AKO_OK);
    assert_int_equal(ako_ops_compare(f->ops, &c, block(f, 0), block(f, 1), dtype, n, &tolerance), AKO_OK);
    return c;
}

static ako_comparison compare_f32(const fixture *f, float got, float expected, ako_tolerance tolerance)
{
    return compare(f, AKO_F32, &got, &expected, 1, tolerance);
}

static void test_predicates_differ_where_they_should(void **state)
{
    fixture *f = need(state);
    ako_tolerance ref = {.predicate = AKO_ALLCLOSE_REF, .rtol = 0.1, .ratio_required = 1};
    ako_tolerance out = {.predicate = AKO_ALLCLOSE_OUT, .rtol = 0.1, .ratio_required = 1};
    ako_tolerance both = {.predicate = AKO_ABS_AND_REL, .atol = 1, .rtol = 0.1, .ratio_required = 1};
    assert_false(compare_f32(f, 11.05f, 10, ref).passed);
    assert_true(compare_f32(f, 11.05f, 10, out).passed);
    assert_true(compare_f32(f, 10.5f, 10, both).passed);
    assert_true(compare_f32(f, 101.5f, 100, both).passed);
    assert_true(compare_f32(f, 0.9f, 0, both).passed);
    assert_false(compare_f32(f, 12, 10, both).passed);
    ref.atol = 0.0625;
    assert_true(compare_f32(f, 0.0625f, 0, ref).passed);
    assert_false(compare_f32(f, 0.0626f, 0, ref).passed);
}

static void test_ratio_and_cap(void **state)
{
    fixture *f = need(state);
    float got[100], expected[100];
    for (int i = 0; i < 100; i++)
        got[i] = expected[i] = 1;
    got[7] = 1.5f;
    ako_tolerance t = {.predicate = AKO_RATIO_CAP, .atol = 0.1, .ratio_required = 0.99};
    assert_true(compare(f, AKO_F32, got, expected, 100, t).passed);
    t.cap = 0.4;
    assert_false(compare(f, AKO_F32, got, expected, 100, t).passed);
    t.cap = 0;
    got[8] = 2;
    assert_false(compare(f, AKO_F32, got, expected, 100, t).passed);
    got[7] = INFINITY;
    got[8] = 1;
    ako_comparison c = compare(f, AKO_F32, got, expected, 100, t);
    assert_false(c.passed);
    assert_int_equal(c.inf_got, 1);
    memset(got, 0, sizeof got);
    t.atol = 2;
    c = compare(f, AKO_F32, got, expected, 100, t);
    assert_true(c.all_zero && c.mismatches == 0);
    assert_false(c.passed);
}

static void test_nan_and_infinity(void **state)
{
    fixture *f = need(state);
    ako_tolerance t = {.predicate = AKO_ALLCLOSE_REF, .atol = 1e30, .ratio_required = 1};
    assert_false(compare_f32(f, NAN, NAN, t).passed);
    assert_false(compare_f32(f, INFINITY, INFINITY, t).passed);
    t.equal_nan = t.equal_inf = true;
    assert_true(compare_f32(f, NAN, NAN, t).passed);
    assert_true(compare_f32(f, -INFINITY, -INFINITY, t).passed);
    assert_false(compare_f32(f, INFINITY, -INFINITY, t).passed);
    assert_false(compare_f32(f, INFINITY, NAN, t).passed);
    assert_false(compare_f32(f, 1, NAN, t).passed);
    assert_false(compare_f32(f, NAN, 1, t).passed);
    ako_comparison c = compare_f32(f, INFINITY, 1, t);
    assert_false(c.passed);
    assert_true(c.max_abs == 0 && c.inf_got == 1 && c.inf_expected == 0);
    const double far[2] = {1.7e308, 1}, away[2] = {-1.7e308, 1};
    c = compare(f, AKO_F64, far, away, 2, t);
    assert_int_equal(c.mismatches, 1);
    assert_true(isfinite(c.max_abs) && isfinite(c.max_rel));
}

static void test_integers_are_compared_exactly(void **state)
{
    fixture *f = need(state);
    ako_tolerance exact = {.predicate = AKO_ALLCLOSE_REF, .ratio_required = 1};
    const int64_t got = INT64_MAX, expected = INT64_MAX - 1, least = INT64_MIN;
    ako_comparison c = compare(f, AKO_I64, &got, &expected, 1, exact);
    assert_false(c.passed);
    assert_true(c.max_abs == 1);
    c = compare(f, AKO_I64, &got, &least, 1, exact);
    assert_true(c.max_abs == 0x1p64 && c.max_rel == 2);
    ako_tolerance one = {.predicate = AKO_ALLCLOSE_REF, .atol = 1, .ratio_required = 1};
    assert_true(compare(f, AKO_I64, &got, &expected, 1, one).passed);
    const uint64_t large = UINT64_MAX, zero = 0;
    assert_false(compare(f, AKO_U64, &large, &zero, 1, one).passed);
    const uint8_t other_true = 255, true_ = 1;
    assert_false(compare(f, AKO_BOOL, &other_true, &true_, 1, exact).passed);
    const int8_t minus = -1, plus = 1;
    c = compare(f, AKO_I8, &minus, &plus, 1, one);
    assert_true(c.max_abs == 2 && c.first[0].got == -1 && c.first[0].expected == 1);
}

static void test_first_mismatches_come_in_order(void **state)
{
    fixture *f = need(state);
    size_t n = ROOM / 4;
    ako_comparison c;
    ako_tolerance t = {.predicate = AKO_ALLCLOSE_REF, .atol = 0.5, .ratio_required = 1};
    fill(f, 0, AKO_F32, n, (ako_fill){AKO_FILL_CONSTANT, 1, 0, 0, 0});
    fill(f, 1, AKO_F32, n, (ako_fill){AKO_FILL_CONSTANT, 1, 0, 0, 0});
    const size_t places[] = {3, 64, 65, 1023, 70000, 131072, 131073, 200000, 200001, 262143};
    for (size_t i = 0; i < 10; i++) {
        float value = (float)(10 + i);
        ako_ops_upload(f->ops, block(f, 0) + 4 * places[i], &value, 4);
    }
    assert_int_equal(ako_ops_compare(f->ops, &c, block(f, 0), block(f, 1), AKO_F32, n, &t), AKO_OK);
    assert_int_equal(c.mismatches, 10);
    assert_int_equal(c.n_first, AKO_MISMATCHES);
    for (size_t i = 0; i < AKO_MISMATCHES; i++) {
        assert_int_equal(c.first[i].index, places[i]);
        assert_true(c.first[i].got == 10 + (double)i && c.first[i].expected == 1);
    }
    assert_true(c.max_abs == 18 && c.max_rel == 18);
    assert_true(c.ratio == (double)(n - 10) / (double)n);
    fill(f, 1, AKO_F32, n, (ako_fill){AKO_FILL_CONSTANT, 0, 0, 0, 0});
    assert_int_equal(ako_ops_compare(f->ops, &c, block(f, 0), block(f, 1), AKO_F32, n, &t), AKO_OK);
    assert_int_equal(c.mismatches, n);
    assert_int_equal(c.first[7].index, 7);
}

static void test_nothing_compares_equal_to_nothing(void **state)
{
    fixture *f = need(state);
    ako_comparison c;
    ako_tolerance t = {.predicate = AKO_RATIO_CAP, .ratio_required = 1};
    assert_int_equal(ako_ops_compare(f->ops, &c, NULL, NULL, AKO_F32, 0, &t), AKO_OK);
    assert_true(c.passed && c.ratio == 1 && c.count == 0 && c.n_first == 0);
    t.atol = -1;
    assert_int_equal(ako_ops_compare(f->ops, &c, NULL, NULL, AKO_F32, 0, &t), AKO_INVALID);
}

static void test_kernels_compile_for_chips_that_are_not_here(void **state)
{
    static const char *const chips[] = {"sm_80", "sm_90"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        ako_buf cubin = {0};
        int status = ako_ops_gpu_build(&cubin, chips[i]);
        if (status == AKO_UNAVAILABLE)
            skip();
        if (status != AKO_OK)
            fail_msg("%s", ako_error_last()->message);
        assert_memory_equal(cubin.data,
                            "\x7f"
                            "ELF",
                            4);
        ako_buf_free(&cubin);
    }
}

static void test_predicate_names(void **state)
{
    ako_predicate p;
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ako_predicate_parse(&p, ako_predicate_name((ako_predicate)i)), AKO_OK);
        assert_int_equal(p, i);
    }
    assert_int_equal(ako_predicate_parse(&p, "allclose"), AKO_OK);
    assert_int_equal(p, AKO_ALLCLOSE_REF);
    assert_int_equal(ako_predicate_parse(&p, "close"), AKO_INVALID);
}

/* Both places fill the same bits and see the same differences. */
static void check_places_agree(ako_dtype dtype, ako_fill what)
{
    size_t n = ROOM / 8 - 3;
    ako_comparison a, b;
    ako_tolerance t = {.predicate = AKO_ALLCLOSE_REF, .atol = 0.1, .rtol = 0.1, .ratio_required = 1};
    for (int i = 0; i < 2; i++) {
        what.stream = (uint32_t)i;
        fill(&cpu, i, dtype, n, what);
        fill(&gpu, i, dtype, n, what);
    }
    void *x = host_copy(&cpu, 0, n * ako_dtype_size(dtype)), *y = host_copy(&gpu, 0, n * ako_dtype_size(dtype));
    assert_memory_equal(x, y, n * ako_dtype_size(dtype));
    assert_true(hash_of(&cpu, 0, n) == hash_of(&gpu, 0, n));
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    assert_int_equal(ako_ops_compare(cpu.ops, &a, block(&cpu, 0), block(&cpu, 1), dtype, n, &t), AKO_OK);
    assert_int_equal(ako_ops_compare(gpu.ops, &b, block(&gpu, 0), block(&gpu, 1), dtype, n, &t), AKO_OK);
    assert_true(a.mismatches == b.mismatches && a.max_abs == b.max_abs && a.max_rel == b.max_rel);
    assert_true(a.n_first == b.n_first && a.passed == b.passed);
    assert_memory_equal(a.first, b.first, sizeof a.first);
    free(x);
    free(y);
}

static void test_cpu_and_gpu_give_the_same_bits(void **state)
{
    need(state);
    assert_int_equal(open_fixture(&cpu, AKO_CPU), AKO_OK);
    for (int d = 0; d < AKO_DTYPE_COUNT; d++) {
        check_places_agree((ako_dtype)d, (ako_fill){AKO_FILL_NORMAL, 0.5, 1.5, 1234567890123, 0});
        check_places_agree((ako_dtype)d, (ako_fill){AKO_FILL_NORMAL, 0, 1e5, 3, 0});
        check_places_agree((ako_dtype)d, (ako_fill){AKO_FILL_UNIFORM, -1.7, 100.3, 42, 0});
        check_places_agree((ako_dtype)d, (ako_fill){AKO_FILL_UNIFORM, 0, 1e6, 43, 0});
        check_places_agree((ako_dtype)d, (ako_fill){AKO_FILL_ARANGE, -3, 0.37, 0, 0});
        check_places_agree((ako_dtype)d, (ako_fill){AKO_FILL_CONSTANT, 0.1, 0, 0, 0});
    }
    close_fixture(&cpu);
}

#define PLACE_TESTS                                                                                       \
    cmocka_unit_test(test_poison_is_found_and_counted),                                                   \
        cmocka_unit_test(test_hash_sees_every_byte_its_place_and_the_length),                             \
        cmocka_unit_test(test_predicates_differ_where_they_should), cmocka_unit_test(test_ratio_and_cap), \
        cmocka_unit_test(test_nan_and_infinity), cmocka_unit_test(test_integers_are_compared_exactly),    \
        cmocka_unit_test(test_first_mismatches_come_in_order),                                            \
        cmocka_unit_test(test_nothing_compares_equal_to_nothing)

int main(void)
{
    const struct CMUnitTest plain[] = {cmocka_unit_test(test_predicate_names),
                                       cmocka_unit_test(test_kernels_compile_for_chips_that_are_not_here)};
    const struct CMUnitTest on_cpu[] = {PLACE_TESTS};
    const struct CMUnitTest on_gpu[] = {PLACE_TESTS, cmocka_unit_test(test_cpu_and_gpu_give_the_same_bits)};
    return cmocka_run_group_tests_name("shared", plain, NULL, NULL) + RUN_ON_BOTH_PLACES(on_cpu, on_gpu);
}
