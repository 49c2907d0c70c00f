#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "error.h"
#include "paired.h"

#define MOST 200

static const ako_paired_plan usual = {
    .looks = {12, 24, 48, 96},
    .n_looks = 4,
    .alpha = 0.05,
    .threshold = 0.01,
    .clock_pair = 0.015,
    .clock_run = 0.03,
    .most_dropped = 0.3,
    .one_sided = 0.8,
};

/* Pairs in which the incumbent takes 1 ms and the candidate that much times each of `factors`, which repeat. */
static void fill(ako_pair *pairs, size_t n, const double *factors, size_t n_factors)
{
    for (size_t i = 0; i < n; i++)
        pairs[i] = (ako_pair){1000000, llround(1000000 * factors[i % n_factors]), 1980, 1980};
}

static ako_paired_result look_at(const ako_paired_plan *plan, const ako_pair *pairs, size_t n, bool last)
{
    ako_paired_result result;
    assert_int_equal(ako_paired_look(&result, plan, &pairs, &(const double){1}, 1, n, last), AKO_OK);
    return result;
}

static ako_paired_result constant(const ako_paired_plan *plan, double factor, size_t n, bool last)
{
    ako_pair pairs[MOST];
    fill(pairs, n, &factor, 1);
    return look_at(plan, pairs, n, last);
}

static void test_names(void **state)
{
    ako_score score;
    (void)state;
    for (int i = AKO_SCORE_GEOMEAN; i <= AKO_SCORE_WORST; i++) {
        assert_int_equal(ako_score_parse(&score, ako_score_name((ako_score)i)), AKO_OK);
        assert_int_equal(score, i);
    }
    assert_int_equal(ako_score_parse(&score, "mean"), AKO_INVALID);
    assert_string_equal(ako_paired_verdict_name(AKO_PAIRED_GO_ON), "go_on");
    assert_string_equal(ako_paired_verdict_name(AKO_PAIRED_KEEP), "keep");
    assert_string_equal(ako_paired_verdict_name(AKO_PAIRED_REVERT), "revert");
    assert_string_equal(ako_paired_verdict_name(AKO_PAIRED_INCONCLUSIVE), "inconclusive");
    assert_string_equal(ako_paired_verdict_name(AKO_PAIRED_UNSTABLE), "unstable");
}

/* Measured values 1 ... n in a shuffled order: the interval's ends are its ranks. */
static void check_ranks(size_t n, double alpha, size_t low, size_t high)
{
    ako_pair pairs[MOST];
    ako_gain gain;
    ako_paired_plan plan = {.looks = {8}, .n_looks = 1, .alpha = alpha};
    for (size_t i = 0; i < n; i++)
        pairs[i] = (ako_pair){1000, (int64_t)(i * 37 % n) + 1, 0, 0};
    assert_int_equal(ako_paired_gain(&gain, &plan, pairs, n), AKO_OK);
    assert_int_equal(gain.n, n);
    assert_true(gain.has_interval);
    assert_int_equal(llround((1 - gain.high) * 1000), low);
    assert_int_equal(llround((1 - gain.low) * 1000), high);
}

static void test_intervals_are_the_exact_ranks(void **state)
{
    (void)state;
    check_ranks(8, 0.0125, 1, 8);
    check_ranks(12, 0.0125, 2, 11);
    check_ranks(24, 0.0125, 6, 19);
    check_ranks(48, 0.0125, 15, 34);
    check_ranks(96, 0.0125, 36, 61);
    check_ranks(12, 0.05, 3, 10);
    check_ranks(24, 0.05, 7, 18);
    check_ranks(48, 0.05, 17, 32);
    check_ranks(96, 0.05, 38, 59);
}

/* Four looks take a quarter of alpha each. */
static void test_looks_share_alpha(void **state)
{
    ako_pair pairs[12];
    (void)state;
    for (int i = 0; i < 12; i++)
        pairs[i] = (ako_pair){1000, i + 1, 0, 0};
    ako_paired_result result = look_at(&usual, pairs, 12, false);
    assert_int_equal(llround((1 - result.score.high) * 1000), 2);
    assert_int_equal(llround((1 - result.score.low) * 1000), 11);
}

static void test_the_median_of_even_and_odd_counts(void **state)
{
    const double even[] = {0.5, 0.8, 0.4, 2, 1, 1, 0.1, 8}, odd[] = {0.5, 0.8, 0.4, 2, 1, 1.25, 0.1, 8, 3};
    ako_pair pairs[9];
    ako_gain gain;
    (void)state;
    fill(pairs, 8, even, 8);
    assert_int_equal(ako_paired_gain(&gain, &usual, pairs, 8), AKO_OK);
    assert_true(fabs(gain.gain - (1 - sqrt(0.8))) < 1e-12); /* between 0.8 and 1, in logarithms */
    assert_true(gain.has_interval && fabs(gain.low + 7) < 1e-12 && fabs(gain.high - 0.9) < 1e-12);
    fill(pairs, 9, odd, 9);
    assert_int_equal(ako_paired_gain(&gain, &usual, pairs, 9), AKO_OK);
    assert_true(fabs(gain.gain) < 1e-12);
    assert_int_equal(ako_paired_gain(&gain, &usual, pairs, 7), AKO_OK);
    assert_true(gain.n == 7 && !gain.has_interval);
}

static void test_ends_early_both_ways(void **state)
{
    (void)state;
    ako_paired_result result = constant(&usual, 0.98, 12, false);
    assert_int_equal(result.verdict, AKO_PAIRED_KEEP);
    assert_int_equal(result.look, 0);
    assert_int_equal(result.pairs, 12);
    assert_true(fabs(result.score.gain - 0.02) < 1e-12 && fabs(result.score.low - 0.02) < 1e-12);
    assert_int_equal(constant(&usual, 1.0, 12, false).verdict, AKO_PAIRED_REVERT);
    assert_int_equal(constant(&usual, 1.5, 12, false).verdict, AKO_PAIRED_REVERT);
    /* A tie with the threshold is a keep; a nanosecond less is none. */
    assert_int_equal(constant(&usual, 0.99, 12, false).verdict, AKO_PAIRED_KEEP);
    assert_int_equal(constant(&usual, 0.990001, 12, false).verdict, AKO_PAIRED_REVERT);
}

static void test_decides_at_looks_only(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 96; n++) {
        bool is_look = n == 12 || n == 24 || n == 48 || n == 96;
        assert_int_equal(constant(&usual, 0.9, n, false).verdict, is_look ? AKO_PAIRED_KEEP : AKO_PAIRED_GO_ON);
        assert_int_equal(constant(&usual, 0.9, n, true).verdict, n < 12 ? AKO_PAIRED_INCONCLUSIVE : AKO_PAIRED_KEEP);
    }
    assert_int_equal(constant(&usual, 0.9, 11, false).look, -1);
    assert_int_equal(constant(&usual, 0.9, 23, false).look, 0);
    assert_int_equal(constant(&usual, 0.9, 100, false).look, 3);
    assert_int_equal(constant(&usual, 0.9, 100, false).verdict, AKO_PAIRED_KEEP);
}

/* Half of the pairs gain 3 %, half lose 1 %: the interval holds both, up to the last look. */
static void test_goes_on_and_ends_inconclusive(void **state)
{
    const double factors[] = {0.97, 1.01, 1.01, 0.97};
    ako_pair pairs[96];
    (void)state;
    fill(pairs, 96, factors, 4);
    for (size_t n = 12; n < 96; n *= 2)
        assert_int_equal(look_at(&usual, pairs, n, false).verdict, AKO_PAIRED_GO_ON);
    assert_int_equal(look_at(&usual, pairs, 24, true).verdict, AKO_PAIRED_INCONCLUSIVE);
    ako_paired_result result = look_at(&usual, pairs, 96, false);
    assert_int_equal(result.verdict, AKO_PAIRED_INCONCLUSIVE);
    assert_int_equal(result.look, 3);
    assert_true(fabs(result.score.high - 0.03) < 1e-12 && fabs(result.score.low + 0.01) < 1e-12);
}

/* Of a clock with steps of 32 ns a kernel of 5.5 us is 0.58 % long: two processes may differ by two such steps for
 * ever, and that is no gain. */
static void test_steps_of_the_clock_are_no_gain(void **state)
{
    (void)state;
    ako_paired_plan coarse = usual;
    coarse.resolution = 0.0058;
    assert_int_equal(constant(&usual, 1 - 2 * 0.0058, 12, false).verdict, AKO_PAIRED_KEEP);
    assert_int_equal(constant(&coarse, 1 - 2 * 0.0058, 12, false).verdict, AKO_PAIRED_REVERT);
    assert_int_equal(constant(&coarse, 1 - 3 * 0.0058, 12, false).verdict, AKO_PAIRED_KEEP);
    coarse.resolution = 0.995;
    assert_int_equal(ako_paired_plan_check(&coarse), AKO_INVALID);
}

/* Of 12 values the second and the eleventh count: with them at 2 % and above 0 the median alone does not keep. */
static void test_keep_wants_the_interval_below_zero(void **state)
{
    double factors[12];
    ako_pair pairs[12];
    (void)state;
    for (int i = 0; i < 12; i++)
        factors[i] = i == 0 ? 1.2 : 0.98;
    fill(pairs, 12, factors, 12);
    assert_int_equal(look_at(&usual, pairs, 12, false).verdict, AKO_PAIRED_KEEP);
    factors[1] = 1.0;
    fill(pairs, 12, factors, 12);
    assert_int_equal(look_at(&usual, pairs, 12, false).verdict, AKO_PAIRED_GO_ON); /* hi is 0, not below */
    factors[1] = 0.999999;
    fill(pairs, 12, factors, 12);
    assert_int_equal(look_at(&usual, pairs, 12, false).verdict, AKO_PAIRED_KEEP);
    ako_paired_plan strict = usual;
    strict.strict = true;
    assert_int_equal(look_at(&strict, pairs, 12, false).verdict, AKO_PAIRED_GO_ON);
    factors[1] = 0.99;
    fill(pairs, 12, factors, 12);
    assert_int_equal(look_at(&strict, pairs, 12, false).verdict, AKO_PAIRED_KEEP);
}

/* One value in the interval that gains the threshold rules the revert out. */
static void test_revert_wants_the_gain_ruled_out(void **state)
{
    double factors[12];
    ako_pair pairs[12];
    (void)state;
    for (int i = 0; i < 12; i++)
        factors[i] = i == 0 ? 0.5 : 1;
    fill(pairs, 12, factors, 12);
    assert_int_equal(look_at(&usual, pairs, 12, false).verdict, AKO_PAIRED_REVERT);
    factors[1] = 0.99;
    fill(pairs, 12, factors, 12);
    assert_int_equal(look_at(&usual, pairs, 12, false).verdict, AKO_PAIRED_GO_ON);
}

static ako_paired_result two_workloads(ako_score score, double factor0, double factor1, const double *weights)
{
    ako_pair first[12], second[12];
    const ako_pair *pairs[] = {first, second};
    ako_paired_plan plan = usual;
    ako_paired_result result;
    plan.score = score;
    fill(first, 12, &factor0, 1);
    fill(second, 12, &factor1, 1);
    for (int i = 0; i < 12; i++) {
        second[i].a_ns *= 3;
        second[i].b_ns *= 3;
    }
    assert_int_equal(ako_paired_look(&result, &plan, pairs, weights, 2, 12, false), AKO_OK);
    return result;
}

static void test_scores(void **state)
{
    const double even[] = {1, 1}, uneven[] = {3, 1}, first[] = {2, 0};
    (void)state;
    assert_true(fabs(two_workloads(AKO_SCORE_GEOMEAN, 0.9, 1, even).score.gain - (1 - sqrt(0.9))) < 1e-12);
    assert_true(fabs(two_workloads(AKO_SCORE_GEOMEAN, 0.9, 1, uneven).score.gain - (1 - pow(0.9, 0.75))) < 1e-12);
    assert_true(fabs(two_workloads(AKO_SCORE_GEOMEAN, 0.9, 1, first).score.gain - 0.1) < 1e-12);
    /* 1 and 3 ms: (0.9 + 3) / 4; with weight 3 on the first (2.7 + 3) / 6. */
    assert_true(fabs(two_workloads(AKO_SCORE_TOTAL, 0.9, 1, even).score.gain - 0.025) < 1e-12);
    assert_true(fabs(two_workloads(AKO_SCORE_TOTAL, 0.9, 1, uneven).score.gain - 0.05) < 1e-12);
    assert_true(fabs(two_workloads(AKO_SCORE_WORST, 0.9, 0.97, uneven).score.gain - 0.03) < 1e-12);
    assert_int_equal(two_workloads(AKO_SCORE_GEOMEAN, 0.9, 1.02, even).verdict, AKO_PAIRED_KEEP);
    assert_int_equal(two_workloads(AKO_SCORE_WORST, 0.9, 1.02, even).verdict, AKO_PAIRED_REVERT);
}

/* `n` of the 12 pairs from the first on have these clocks. */
static ako_paired_result with_clocks(const ako_paired_plan *plan, size_t n, int a_mhz, int b_mhz)
{
    const double factor = 0.97;
    ako_pair pairs[12];
    fill(pairs, 12, &factor, 1);
    for (size_t i = 0; i < n; i++)
        pairs[i] = (ako_pair){1000000, 2000000, a_mhz, b_mhz};
    return look_at(plan, pairs, 12, false);
}

static void test_pairs_whose_clocks_differ_are_dropped(void **state)
{
    (void)state;
    ako_paired_result result = with_clocks(&usual, 3, 1980, 1940); /* 2 % apart */
    assert_int_equal(result.dropped, 3);
    assert_int_equal(result.score.n, 9);
    assert_int_equal(result.pairs, 12);
    assert_int_equal(result.verdict, AKO_PAIRED_KEEP);
    assert_true(fabs(result.score.gain - 0.03) < 1e-12 && result.score.has_interval);
    result = with_clocks(&usual, 3, 1980, 1955); /* 1.3 %: stays */
    assert_int_equal(result.dropped, 0);
    assert_int_equal(result.verdict, AKO_PAIRED_GO_ON);
    ako_paired_plan off = usual;
    off.clock_pair = 0;
    assert_int_equal(with_clocks(&off, 3, 1980, 1940).dropped, 0);
}

static void test_pairs_far_from_the_run_are_dropped(void **state)
{
    (void)state;
    assert_int_equal(with_clocks(&usual, 3, 1910, 1910).dropped, 3); /* 3.5 % off */
    assert_int_equal(with_clocks(&usual, 3, 2050, 2050).dropped, 3);
    assert_int_equal(with_clocks(&usual, 3, 1930, 1930).dropped, 0); /* 2.5 % */
    ako_paired_plan off = usual;
    off.clock_run = 0;
    assert_int_equal(with_clocks(&off, 3, 1910, 1910).dropped, 0);
}

static void test_pairs_without_clocks_stay(void **state)
{
    (void)state;
    assert_int_equal(with_clocks(&usual, 12, 0, 0).dropped, 0);
    assert_int_equal(with_clocks(&usual, 3, 0, 1980).dropped, 0);
    assert_int_equal(with_clocks(&usual, 3, 500, 0).dropped, 0);
}

static void test_too_many_dropped_are_unstable(void **state)
{
    ako_paired_plan plan = usual;
    (void)state;
    assert_int_equal(with_clocks(&usual, 3, 1800, 1800).verdict, AKO_PAIRED_KEEP);
    ako_paired_result result = with_clocks(&usual, 4, 1800, 1800);
    assert_int_equal(result.verdict, AKO_PAIRED_UNSTABLE);
    assert_int_equal(result.dropped, 4);
    plan.most_dropped = 0;
    assert_int_equal(with_clocks(&plan, 4, 1800, 1800).verdict, AKO_PAIRED_KEEP);
    plan.most_dropped = 0.3;
    plan.looks[0] = 10; /* 12 pairs are no look then */
    assert_int_equal(with_clocks(&plan, 4, 1800, 1800).verdict, AKO_PAIRED_GO_ON);
}

/* Everything dropped: no estimate, and no division by nothing. */
static void test_all_dropped(void **state)
{
    ako_pair pairs[12];
    ako_paired_plan plan = usual;
    (void)state;
    for (int i = 0; i < 12; i++)
        pairs[i] = (ako_pair){1000, 900, i % 2 ? 1000 : 2000, i % 2 ? 2000 : 1000};
    ako_paired_result result = look_at(&plan, pairs, 12, false);
    assert_int_equal(result.verdict, AKO_PAIRED_UNSTABLE);
    assert_int_equal(result.dropped, 12);
    assert_true(result.score.n == 0 && !result.score.has_interval && result.score.gain == 0 && result.lag1 == 0);
    plan.most_dropped = 0;
    assert_int_equal(look_at(&plan, pairs, 12, false).verdict, AKO_PAIRED_GO_ON);
    assert_int_equal(look_at(&plan, pairs, 12, true).verdict, AKO_PAIRED_INCONCLUSIVE);
}

/* A round goes when any workload's pair in it does. */
static void test_a_round_is_dropped_as_a_whole(void **state)
{
    const double factor = 0.97, weights[] = {1, 1};
    ako_pair first[12], second[12];
    const ako_pair *pairs[] = {first, second};
    ako_paired_result result;
    (void)state;
    fill(first, 12, &factor, 1);
    fill(second, 12, &factor, 1);
    for (int i = 0; i < 12; i++)
        second[i].a_mhz = second[i].b_mhz = 1500; /* another clock for another workload is no reason */
    first[2].a_mhz = 1800;
    second[5].b_mhz = 1300;
    second[2].a_mhz = 1300;
    assert_int_equal(ako_paired_look(&result, &usual, pairs, weights, 2, 12, false), AKO_OK);
    assert_int_equal(result.dropped, 2);
    assert_int_equal(result.score.n, 10);
}

static void test_a_candidate_that_moves_the_clock_keeps_its_pairs(void **state)
{
    ako_pair pairs[12];
    ako_paired_plan plan = usual;
    (void)state;
    for (int i = 0; i < 12; i++)
        pairs[i] = (ako_pair){1000000, 970000, 1980, i < 10 ? 1900 : 1980};
    ako_paired_result result = look_at(&plan, pairs, 12, false);
    assert_true(result.clock_coupled);
    assert_int_equal(result.dropped, 0);
    assert_int_equal(result.verdict, AKO_PAIRED_KEEP);
    pairs[0].b_mhz = pairs[1].b_mhz = 2060; /* 8 of 10 are no more than 80 % */
    result = look_at(&plan, pairs, 12, false);
    assert_true(!result.clock_coupled);
    assert_int_equal(result.dropped, 10);
    assert_int_equal(result.verdict, AKO_PAIRED_UNSTABLE);
    pairs[1].b_mhz = 1900;
    assert_true(look_at(&plan, pairs, 12, false).clock_coupled);
    plan.one_sided = 0;
    assert_int_equal(look_at(&plan, pairs, 12, false).verdict, AKO_PAIRED_UNSTABLE);
}

/* Three differing pairs of one sign are chance and are dropped; six are not; four cannot be dropped, being too many. */
static void test_few_pairs_of_one_sign_are_chance(void **state)
{
    ako_pair pairs[24];
    const double factor = 0.97;
    (void)state;
    fill(pairs, 24, &factor, 1);
    for (int i = 0; i < 6; i++) {
        pairs[i].b_mhz = 1900;
        ako_paired_result result = look_at(&usual, pairs, 24, false);
        assert_int_equal(result.clock_coupled, i == 5);
        assert_int_equal(result.dropped, i == 5 ? 0 : i + 1);
    }
    pairs[4].b_mhz = pairs[5].b_mhz = 1980;
    ako_paired_result result = look_at(&usual, pairs, 12, false);
    assert_true(result.clock_coupled && result.dropped == 0);
}

/* What begins second is 1 % slower. */
static void test_an_effect_of_the_order_is_said(void **state)
{
    const double factors[] = {1.006, 0.999}, close[] = {1.004, 1.0};
    ako_pair pairs[12];
    ako_paired_plan plan = usual;
    (void)state;
    plan.order_effect = 0.005;
    fill(pairs, 12, factors, 2);
    assert_true(look_at(&plan, pairs, 12, false).order_effect);
    assert_true(!look_at(&usual, pairs, 12, false).order_effect);
    pairs[4].a_mhz = 1500; /* the order is that of the round, also behind a dropped one */
    assert_true(look_at(&plan, pairs, 12, false).order_effect);
    fill(pairs, 12, close, 2);
    assert_true(!look_at(&plan, pairs, 12, false).order_effect);
    assert_true(!look_at(&plan, pairs, 1, false).order_effect);
}

static void test_autocorrelation(void **state)
{
    const double factors[] = {2, 2, 0.5, 0.5}, turns[] = {2, 0.5};
    ako_pair pairs[4];
    (void)state;
    fill(pairs, 4, factors, 4);
    assert_true(fabs(look_at(&usual, pairs, 4, false).lag1 - 0.25) < 1e-12);
    fill(pairs, 4, turns, 2);
    assert_true(fabs(look_at(&usual, pairs, 4, false).lag1 + 0.75) < 1e-12);
    assert_true(constant(&usual, 0.97, 12, false).lag1 == 0);
}

/* Blocks of pairs: 12 count as 6, which is no look; 24 count as 12; the end decides anyway. */
static void test_correlated_pairs_count_half(void **state)
{
    const double factors[] = {0.97, 0.97, 0.97, 0.97, 0.97, 0.97, 0.96, 0.96, 0.96, 0.96, 0.96, 0.96};
    ako_pair pairs[96];
    ako_paired_plan plan = usual;
    (void)state;
    fill(pairs, 96, factors, 12);
    assert_int_equal(look_at(&plan, pairs, 12, false).verdict, AKO_PAIRED_KEEP);
    assert_true(!look_at(&plan, pairs, 12, false).correlated);
    plan.correlation = 0.2;
    ako_paired_result result = look_at(&plan, pairs, 12, false);
    assert_int_equal(result.verdict, AKO_PAIRED_GO_ON);
    assert_true(result.correlated && result.lag1 > 0.5);
    assert_int_equal(look_at(&plan, pairs, 24, false).verdict, AKO_PAIRED_KEEP);
    assert_int_equal(look_at(&plan, pairs, 20, true).verdict, AKO_PAIRED_KEEP);
    assert_int_equal(look_at(&plan, pairs, 12, true).verdict, AKO_PAIRED_INCONCLUSIVE); /* 6 have no interval */
    plan.n_looks = 1;
    plan.looks[0] = 20;
    assert_int_equal(look_at(&plan, pairs, 20, false).verdict, AKO_PAIRED_KEEP);
}

/* 24 rising values: independent ranks 6 and 19; as 12 the quantiles 2/13 and 11/13, ranks 3 and 22. */
static void test_correlated_intervals_are_wider(void **state)
{
    ako_pair pairs[24];
    ako_paired_plan plan = usual;
    (void)state;
    for (int i = 0; i < 24; i++)
        pairs[i] = (ako_pair){1000, i + 1, 0, 0};
    ako_paired_result result = look_at(&plan, pairs, 24, false);
    assert_int_equal(llround((1 - result.score.high) * 1000), 6);
    assert_int_equal(llround((1 - result.score.low) * 1000), 19);
    plan.correlation = 0.2;
    result = look_at(&plan, pairs, 24, false);
    assert_int_equal(llround((1 - result.score.high) * 1000), 3);
    assert_int_equal(llround((1 - result.score.low) * 1000), 22);
}

static void refused(const ako_paired_plan *plan, const char *why)
{
    ako_pair pair = {1000, 1000, 0, 0};
    ako_gain gain;
    assert_int_equal(ako_paired_plan_check(plan), AKO_INVALID);
    assert_non_null(strstr(ako_error_last()->message, why));
    assert_int_equal(ako_paired_gain(&gain, plan, &pair, 1), AKO_INVALID);
}

#define REFUSED(field, value, why)    \
    do {                              \
        ako_paired_plan plan = usual; \
        plan.field = value;           \
        refused(&plan, why);          \
    } while (0)

static void test_wrong_plans_are_refused(void **state)
{
    (void)state;
    assert_int_equal(ako_paired_plan_check(&usual), AKO_OK);
    REFUSED(n_looks, 0, "looks");
    REFUSED(n_looks, AKO_LOOKS + 1, "looks");
    REFUSED(looks[0], 0, "look 1");
    REFUSED(looks[2], 24, "look 3");
    REFUSED(alpha, 0, "alpha");
    REFUSED(alpha, 1, "alpha");
    REFUSED(alpha, NAN, "alpha");
    REFUSED(threshold, -0.01, "threshold");
    REFUSED(threshold, 1, "threshold");
    REFUSED(threshold, NAN, "threshold");
    REFUSED(score, (ako_score)3, "score");
    REFUSED(clock_pair, -1, "clock_pair");
    REFUSED(clock_run, 2, "clock_run");
    REFUSED(most_dropped, 30, "most_dropped");
    REFUSED(one_sided, NAN, "one_sided");
    REFUSED(order_effect, INFINITY, "order_effect");
    REFUSED(correlation, -0.2, "correlation");
}

static void test_wrong_pairs_are_refused(void **state)
{
    ako_pair good = {1000, 1000, 0, 0}, zero = {1000, 0, 0, 0}, negative = {-5, 1000, 0, 0};
    const ako_pair *pairs[] = {&good, &good};
    const double weights[] = {1, -1}, none[] = {0, 0};
    ako_gain gain;
    ako_paired_result result;
    (void)state;
    assert_int_equal(ako_paired_gain(&gain, &usual, &good, 0), AKO_INVALID);
    assert_int_equal(ako_paired_gain(&gain, &usual, &zero, 1), AKO_INVALID);
    assert_int_equal(ako_paired_gain(&gain, &usual, &negative, 1), AKO_INVALID);
    assert_int_equal(ako_paired_look(&result, &usual, pairs, weights, 2, 1, false), AKO_INVALID);
    assert_int_equal(ako_paired_look(&result, &usual, pairs, none, 2, 1, false), AKO_INVALID);
    assert_int_equal(ako_paired_look(&result, &usual, pairs, weights, 0, 1, false), AKO_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_intervals_are_the_exact_ranks),
        cmocka_unit_test(test_looks_share_alpha),
        cmocka_unit_test(test_the_median_of_even_and_odd_counts),
        cmocka_unit_test(test_ends_early_both_ways),
        cmocka_unit_test(test_decides_at_looks_only),
        cmocka_unit_test(test_goes_on_and_ends_inconclusive),
        cmocka_unit_test(test_steps_of_the_clock_are_no_gain),
        cmocka_unit_test(test_keep_wants_the_interval_below_zero),
        cmocka_unit_test(test_revert_wants_the_gain_ruled_out),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_pairs_whose_clocks_differ_are_dropped),
        cmocka_unit_test(test_pairs_far_from_the_run_are_dropped),
        cmocka_unit_test(test_pairs_without_clocks_stay),
        cmocka_unit_test(test_too_many_dropped_are_unstable),
        cmocka_unit_test(test_all_dropped),
        cmocka_unit_test(test_a_round_is_dropped_as_a_whole),
        cmocka_unit_test(test_a_candidate_that_moves_the_clock_keeps_its_pairs),
        cmocka_unit_test(test_few_pairs_of_one_sign_are_chance),
        cmocka_unit_test(test_an_effect_of_the_order_is_said),
        cmocka_unit_test(test_autocorrelation),
        cmocka_unit_test(test_correlated_pairs_count_half),
        cmocka_unit_test(test_correlated_intervals_are_wider),
        cmocka_unit_test(test_wrong_plans_are_refused),
        cmocka_unit_test(test_wrong_pairs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
