#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "error.h"
#include "noise.h"
#include "paired.h"
#include "stats.h"

#define SEED 20
#define LAUNCHES 200000
#define TRIALS 1000
#define BASE_NS 1000000

static double series[LAUNCHES];

static void fill(ako_noise_model model)
{
    ako_noise noise;
    ako_noise_start(&noise, model, SEED, 0);
    for (size_t i = 0; i < LAUNCHES; i++)
        series[i] = ako_noise_next(&noise);
}

static double mean(void)
{
    double sum = 0;
    for (size_t i = 0; i < LAUNCHES; i++)
        sum += series[i];
    return sum / LAUNCHES;
}

static double covariance(size_t lag)
{
    double sum = 0, middle = mean();
    for (size_t i = lag; i < LAUNCHES; i++)
        sum += (series[i] - middle) * (series[i - lag] - middle);
    return sum / LAUNCHES;
}

static void assert_close(double got, double want, double share)
{
    if (fabs(got - want) > share * fabs(want))
        fail_msg("%g is not %g, by %g %%", got, want, 100 * share);
}

/* Mean and variance of spikes in so many of the launches: the exponential distribution's second moment is 2 mean^2. */
static double spikes_mean(double white, double chance)
{
    return chance * 5 * white;
}

static double spikes_variance(double white, double chance)
{
    return chance * 2 * 25 * white * white - pow(spikes_mean(white, chance), 2);
}

static void test_names(void **state)
{
    ako_noise_model model;
    (void)state;
    for (int i = 0; i < AKO_NOISE_MODELS; i++) {
        assert_int_equal(ako_noise_parse(&model, ako_noise_name((ako_noise_model)i)), AKO_OK);
        assert_int_equal(model, i);
    }
    assert_int_equal(ako_noise_parse(&model, "loud"), AKO_INVALID);
}

static void test_quiet_is_white_with_spikes(void **state)
{
    (void)state;
    fill(AKO_NOISE_QUIET);
    assert_close(mean(), spikes_mean(0.004, 0.02), 0.05);
    assert_close(covariance(0), 0.004 * 0.004 + spikes_variance(0.004, 0.02), 0.03);
    assert_true(fabs(covariance(1)) < 0.01 * covariance(0));
    double below = 0;
    for (size_t i = 0; i < LAUNCHES; i++)
        below += series[i] < -0.004;
    assert_close(below / LAUNCHES, 0.98 * 0.158655, 0.02); /* one deviation, where no spike is */
}

static void test_drift_fades_slowly(void **state)
{
    const double drift = 0.006 * 0.006;
    (void)state;
    fill(AKO_NOISE_DRIFT);
    assert_close(covariance(0), drift + 0.004 * 0.004 + spikes_variance(0.004, 0.02), 0.05);
    assert_close(covariance(1), drift * 0.98, 0.05);
    assert_close(covariance(50), drift * pow(0.98, 50), 0.15);
    assert_true(fabs(covariance(1000)) < 0.1 * drift);
}

/* Other tenants' level lasts for a hundred launches in the mean. */
static void check_steps(ako_noise_model model, double white, double drift, double steps, double spikes)
{
    fill(model);
    assert_close(covariance(0), white * white + spikes_variance(white, spikes) + drift * drift + steps * steps, 0.05);
    assert_close(covariance(1), drift * drift * 0.98 + steps * steps * 0.99, 0.05);
    assert_close(covariance(100), drift * drift * pow(0.98, 100) + steps * steps * pow(0.99, 100), 0.15);
}

static void test_other_tenants_come_and_go(void **state)
{
    (void)state;
    check_steps(AKO_NOISE_SHARED, 0.01, 0.015, 0.02, 0.05);
    check_steps(AKO_NOISE_NOISY, 0.03, 0.03, 0.05, 0.15);
}

static void test_seed_and_stream_name_the_launches(void **state)
{
    ako_noise noise;
    int64_t first[50], again[50], other[50];
    (void)state;
    ako_noise_start(&noise, AKO_NOISE_NOISY, 1, 2);
    ako_noise_launches(&noise, BASE_NS, first, 50);
    ako_noise_start(&noise, AKO_NOISE_NOISY, 1, 2);
    ako_noise_launches(&noise, BASE_NS, again, 20);
    ako_noise_launches(&noise, BASE_NS, again + 20, 30);
    assert_memory_equal(first, again, sizeof first);
    for (uint32_t i = 0; i < 2; i++) {
        ako_noise_start(&noise, AKO_NOISE_NOISY, 1 + i, 3 - i);
        ako_noise_launches(&noise, BASE_NS, other, 50);
        for (size_t k = 0; k < 50; k++)
            assert_int_not_equal(first[k], other[k]);
    }
}

/* Pairs take their samples from one series, the first arm first in even pairs. */
static void test_pairs_take_turns(void **state)
{
    ako_noise noise;
    int64_t launches[12], a[2], b[2];
    (void)state;
    ako_noise_start(&noise, AKO_NOISE_SHARED, SEED, 0);
    ako_noise_launches(&noise, BASE_NS, launches, 12);
    ako_noise_start(&noise, AKO_NOISE_SHARED, SEED, 0);
    assert_int_equal(ako_noise_pairs(&noise, BASE_NS, BASE_NS, 3, a, b, 2), AKO_OK);
    const int64_t got[] = {a[0], b[0], b[1], a[1]};
    for (size_t i = 0; i < 4; i++) {
        ako_summary summary;
        assert_int_equal(ako_stats_summary(&summary, launches + 3 * i, 3, 0.5), AKO_OK);
        assert_int_equal(got[i], (int64_t)summary.median);
    }
    assert_int_equal(ako_noise_pairs(&noise, BASE_NS, BASE_NS, 0, a, b, 2), AKO_INVALID);
    assert_int_equal(ako_noise_pairs(&noise, BASE_NS, BASE_NS, AKO_NOISE_SAMPLE + 1, a, b, 2), AKO_INVALID);
}

static void test_a_short_kernel_takes_at_least_a_nanosecond(void **state)
{
    ako_noise noise;
    int64_t ns[1000];
    (void)state;
    ako_noise_start(&noise, AKO_NOISE_NOISY, SEED, 0);
    ako_noise_launches(&noise, 0, ns, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(ns[i], 1);
}

/* What the rules of decision make of it: share of TRIALS that are kept, in per cent. */

static double median_of_launches(ako_noise_model model, uint32_t stream, size_t n)
{
    ako_noise noise;
    ako_summary summary;
    int64_t ns[100];
    ako_noise_start(&noise, model, SEED, stream);
    ako_noise_launches(&noise, BASE_NS, ns, n);
    assert_int_equal(ako_stats_summary(&summary, ns, n, 0.05), AKO_OK);
    return summary.median;
}

static double kept_by_medians(ako_noise_model model, size_t n)
{
    int kept = 0;
    for (uint32_t i = 0; i < TRIALS; i++)
        kept += median_of_launches(model, 2 * i, n) <= 0.99 * median_of_launches(model, 2 * i + 1, n);
    return 100.0 * kept / TRIALS;
}

static double kept_by_pairs(ako_noise_model model, double gain, double *mean_pairs)
{
    const ako_paired_plan plan = {.looks = {12, 24, 48, 96}, .n_looks = 4, .alpha = 0.05, .threshold = 0.01};
    double kept = 0, all = 0;
    for (uint32_t t = 0; t < TRIALS; t++) {
        ako_noise noise;
        ako_pair pairs[96] = {0};
        const ako_pair *workload = pairs;
        int64_t a[96], b[96];
        ako_paired_result result = {0};
        ako_noise_start(&noise, model, SEED, t);
        assert_int_equal(ako_noise_pairs(&noise, BASE_NS, llround(BASE_NS * (1 - gain)), 5, a, b, 96), AKO_OK);
        for (int i = 0; i < 96; i++)
            pairs[i] = (ako_pair){.a_ns = a[i], .b_ns = b[i]};
        for (int look = 0; look < 4 && result.verdict == AKO_PAIRED_GO_ON; look++) {
            size_t n = (size_t)plan.looks[look];
            assert_int_equal(ako_paired_look(&result, &plan, &workload, &(const double){1}, 1, n, false), AKO_OK);
        }
        kept += result.verdict == AKO_PAIRED_KEEP;
        all += (double)result.pairs;
    }
    *mean_pairs = all / TRIALS;
    return 100 * kept / TRIALS;
}

static void check_pairs(ako_noise_model model, double gain, double least, double most, double least_pairs,
                        double most_pairs)
{
    double pairs, kept = kept_by_pairs(model, gain, &pairs);
    if (kept < least || kept > most || pairs < least_pairs || pairs > most_pairs)
        fail_msg("%s, gain %g: %g %% kept, %g pairs", ako_noise_name(model), gain, kept, pairs);
}

/* The known error rates of two medians taken one after the other at 1 %: more launches do not help. */
static void test_medians_one_after_the_other_keep_noise(void **state)
{
    (void)state;
    assert_true(kept_by_medians(AKO_NOISE_QUIET, 10) == 0);
    assert_close(kept_by_medians(AKO_NOISE_DRIFT, 10), 12.6, 0.25);
    assert_close(kept_by_medians(AKO_NOISE_SHARED, 10), 38.1, 0.1);
    assert_close(kept_by_medians(AKO_NOISE_SHARED, 100), 38.0, 0.1);
    assert_close(kept_by_medians(AKO_NOISE_NOISY, 10), 43.3, 0.1);
    assert_close(kept_by_medians(AKO_NOISE_NOISY, 100), 44.2, 0.1);
}

static void test_pairs_do_not(void **state)
{
    (void)state;
    check_pairs(AKO_NOISE_QUIET, 0, 0, 0, 12, 13);
    check_pairs(AKO_NOISE_DRIFT, 0, 0, 0, 12, 13);
    check_pairs(AKO_NOISE_SHARED, 0, 0, 0.3, 20, 27);
    check_pairs(AKO_NOISE_NOISY, 0, 0, 1.5, 79, 87);
    check_pairs(AKO_NOISE_NOISY, -0.02, 0, 0, 20, 27);
}

static void test_pairs_find_true_gains(void **state)
{
    (void)state;
    check_pairs(AKO_NOISE_QUIET, 0.015, 100, 100, 12, 13);
    check_pairs(AKO_NOISE_SHARED, 0.01, 66, 78, 43, 54);
    check_pairs(AKO_NOISE_SHARED, 0.015, 99, 100, 13, 18);
    check_pairs(AKO_NOISE_NOISY, 0.005, 5, 12, 86, 93);
    check_pairs(AKO_NOISE_NOISY, 0.01, 38, 50, 79, 87);
    check_pairs(AKO_NOISE_NOISY, 0.02, 98, 100, 40, 50);
    check_pairs(AKO_NOISE_NOISY, 0.03, 99.5, 100, 20, 27);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_quiet_is_white_with_spikes),
        cmocka_unit_test(test_drift_fades_slowly),
        cmocka_unit_test(test_other_tenants_come_and_go),
        cmocka_unit_test(test_seed_and_stream_name_the_launches),
        cmocka_unit_test(test_pairs_take_turns),
        cmocka_unit_test(test_a_short_kernel_takes_at_least_a_nanosecond),
        cmocka_unit_test(test_medians_one_after_the_other_keep_noise),
        cmocka_unit_test(test_pairs_do_not),
        cmocka_unit_test(test_pairs_find_true_gains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
