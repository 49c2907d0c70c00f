#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "error.h"
#include "stats.h"

static void check_rank(size_t n, double alpha, size_t rank, double percent)
{
    double error;
    assert_int_equal(ako_stats_rank(n, alpha, &error), rank);
    assert_true(fabs(100 * error - percent) <= 0.005);
}

static void test_ranks_are_the_exact_ones(void **state)
{
    (void)state;
    check_rank(12, 0.0125, 2, 0.63);
    check_rank(24, 0.0125, 6, 0.66);
    check_rank(48, 0.0125, 15, 0.55);
    check_rank(96, 0.0125, 36, 1.03);
    check_rank(12, 0.05, 3, 3.86);
    check_rank(24, 0.05, 7, 2.27);
    check_rank(48, 0.05, 17, 2.93);
    check_rank(96, 0.05, 38, 3.15);
}

static void test_an_interval_needs_enough_samples(void **state)
{
    double error;
    (void)state;
    assert_int_equal(ako_stats_rank(0, 0.05, &error), 0);
    assert_int_equal(ako_stats_rank(5, 0.05, &error), 0);
    assert_int_equal(ako_stats_rank(6, 0.05, &error), 1);
    assert_true(error == 2.0 / 64);
    assert_int_equal(ako_stats_rank(7, 0.0125, &error), 0);
    assert_int_equal(ako_stats_rank(8, 0.0125, &error), 1);
    assert_true(error == 2.0 / 256);
}

/* P(Bin(n, 1/2) <= k) by Pascal's triangle in integers. */
static uint64_t lower_sum(unsigned n, unsigned k)
{
    uint64_t row[41] = {1}, sum = 0;
    for (unsigned i = 1; i <= n; i++) {
        for (unsigned j = i; j > 0; j--)
            row[j] += row[j - 1];
    }
    for (unsigned j = 0; j <= k; j++)
        sum += row[j];
    return sum;
}

static void test_ranks_agree_with_integer_sums(void **state)
{
    const double alphas[] = {0.5, 0.1, 0.05, 0.0125, 0.001, 1e-6};
    (void)state;
    for (unsigned n = 1; n <= 40; n++) {
        for (size_t a = 0; a < sizeof alphas / sizeof *alphas; a++) {
            double error, all = ldexp(1, (int)n);
            unsigned rank = 0;
            while (rank < n && 2 * (double)lower_sum(n, rank) <= alphas[a] * all)
                rank++;
            assert_int_equal(ako_stats_rank(n, alphas[a], &error), rank);
            assert_true(fabs(error - (rank ? 2 * (double)lower_sum(n, rank - 1) / all : 0)) < 1e-12);
        }
    }
}

static void test_large_counts_follow_the_normal_approximation(void **state)
{
    (void)state;
    for (size_t n = 100000; n <= 10000000; n *= 10) {
        double error, expected = (double)n / 2 - 1.959964 * sqrt((double)n) / 2;
        size_t rank = ako_stats_rank(n, 0.05, &error);
        assert_true(fabs((double)rank - expected) < 2);
        assert_true(error <= 0.05 && error > 0.049);
    }
}

static void test_quantiles_interpolate(void **state)
{
    const double values[] = {1, 2, 4, 8};
    (void)state;
    assert_true(ako_stats_quantile(values, 4, 0) == 1);
    assert_true(ako_stats_quantile(values, 4, 0.5) == 3);
    assert_true(ako_stats_quantile(values, 4, 0.75) == 5);
    assert_true(ako_stats_quantile(values, 4, 1) == 8);
    assert_true(ako_stats_quantile(values, 1, 0.3) == 1);
}

static void test_summary(void **state)
{
    const int64_t samples[] = {30, 10, 20, 50, 40, 70, 60, 80};
    ako_summary s;
    (void)state;
    assert_int_equal(ako_stats_summary(&s, samples, 8, 0.05), AKO_OK);
    assert_int_equal(s.n, 8);
    assert_int_equal(s.min, 10);
    assert_int_equal(s.max, 80);
    assert_true(s.mean == 45 && s.median == 45);
    assert_true(fabs(s.std - sqrt(600)) < 1e-12);
    assert_true(fabs(s.p95 - 76.5) < 1e-12);
    assert_true(s.has_ci);
    assert_int_equal(s.ci_low, 10);
    assert_int_equal(s.ci_high, 80);
    assert_int_equal(samples[0], 30);
}

static void test_summary_of_one_and_of_none(void **state)
{
    const int64_t sample = INT64_C(9007199254740992);
    ako_summary s;
    (void)state;
    assert_int_equal(ako_stats_summary(&s, &sample, 1, 0.05), AKO_OK);
    assert_true(s.std == 0 && !s.has_ci && s.median == 9007199254740992.0);
    assert_int_equal(ako_stats_summary(&s, &sample, 0, 0.05), AKO_INVALID);
    assert_int_equal(ako_stats_summary(&s, &sample, 1, 0), AKO_INVALID);
    assert_int_equal(ako_stats_summary(&s, &sample, 1, 1), AKO_INVALID);
    assert_int_equal(ako_stats_summary(&s, &sample, 1, NAN), AKO_INVALID);
}

/* As CUPTI gives them: steps of 32, of which the conversion to ns leaves some one longer or shorter. */
static void test_a_step_of_the_clock_is_no_rounding(void **state)
{
    const int64_t coarse[] = {5504, 5473, 5536, 5472, 5505, 5504, 5568}, same[] = {5504, 5504, 5505},
                  fine[] = {9, 1, 4};
    ako_summary s;
    (void)state;
    assert_int_equal(ako_stats_summary(&s, coarse, 7, 0.05), AKO_OK);
    assert_int_equal(s.step, 31);
    assert_int_equal(ako_stats_summary(&s, same, 3, 0.05), AKO_OK);
    assert_int_equal(s.step, 0);
    assert_int_equal(ako_stats_summary(&s, fine, 3, 0.05), AKO_OK);
    assert_int_equal(s.step, 3);
}

static void test_geometric_mean(void **state)
{
    const double values[] = {0.5, 2, 8};
    (void)state;
    assert_true(fabs(ako_stats_geomean(values, 3) - 2) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_are_the_exact_ones),
        cmocka_unit_test(test_an_interval_needs_enough_samples),
        cmocka_unit_test(test_ranks_agree_with_integer_sums),
        cmocka_unit_test(test_large_counts_follow_the_normal_approximation),
        cmocka_unit_test(test_quantiles_interpolate),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_summary_of_one_and_of_none),
        cmocka_unit_test(test_a_step_of_the_clock_is_no_rounding),
        cmocka_unit_test(test_geometric_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
