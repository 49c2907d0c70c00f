/* What the evaluator's own clock makes of gains that samples claim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "outside.h"

#define PAIRS 24
#define FLUSH_NS 6000000

/* Requests of a call that takes `incumbent` and `candidate` ns; the candidate states `stated`. `noise` ns come and go
 * on the outer clock, in a pattern without trend. */
static bool denies(int64_t incumbent, int64_t candidate, int64_t stated, int64_t noise)
{
    ako_outside pairs[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        int64_t a = noise * ((7 * i) % 13 - 6) / 6, b = noise * ((5 * i) % 11 - 5) / 5;
        pairs[i] = (ako_outside){.candidate_ns = stated,
                                 .incumbent_ns = incumbent,
                                 .candidate_took_ns = FLUSH_NS + candidate + b,
                                 .incumbent_took_ns = FLUSH_NS + incumbent + a};
    }
    return ako_outside_denies(pairs, PAIRS, 5000);
}

static void honest_gains_are_believed(void **state)
{
    (void)state;
    assert_false(denies(1000000, 600000, 600000, 0));
    assert_false(denies(1000000, 600000, 600000, 300000));
    assert_false(denies(1000000, 990000, 990000, 300000));
}

static void a_bent_clock_is_not(void **state)
{
    (void)state;
    assert_true(denies(1000000, 1000000, 600000, 0));
    assert_true(denies(1000000, 1000000, 600000, 60000));
    assert_true(denies(1000000, 900000, 500000, 0));
}

static void half_of_the_gain_must_be_seen(void **state)
{
    (void)state;
    assert_false(denies(1000000, 790000, 600000, 0));
    assert_true(denies(1000000, 810000, 600000, 0));
}

/* Requests of two processes may differ by some microseconds for no reason: small savings cannot be told from that. */
static void small_savings_are_left_alone(void **state)
{
    (void)state;
    assert_false(denies(1000000, 1000000, 996000, 0));
    assert_true(denies(1000000, 1000000, 994000, 0));
}

static void noise_and_losses_say_nothing(void **state)
{
    (void)state;
    assert_false(denies(1000000, 1000000, 990000, 3000000));
    assert_false(denies(1000000, 1200000, 1100000, 0));
    ako_outside few[4] = {
        {.candidate_ns = 1, .incumbent_ns = 1000, .candidate_took_ns = 5000, .incumbent_took_ns = 5000}};
    assert_false(ako_outside_denies(few, 1, 0));
    assert_false(ako_outside_denies(few, 0, 0));
}

/* Eleven of twelve signs agree by chance once in three hundred such trials, however small the saving: the outer clock
 * is asked only where it can hear. What the candidate's own requests take makes it no deafer. */
static void noise_of_one_sign_condemns_nobody(void **state)
{
    (void)state;
    ako_outside pairs[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        int64_t noise = 1000000 * ((7 * i) % 13);
        pairs[i] = (ako_outside){.candidate_ns = 400000,
                                 .incumbent_ns = 500000,
                                 .candidate_took_ns = 2 * FLUSH_NS + noise + 400000,
                                 .incumbent_took_ns = FLUSH_NS + noise + 500000};
    }
    assert_false(ako_outside_denies(pairs, PAIRS, 0));
    for (int i = 0; i < PAIRS; i++)
        pairs[i].incumbent_took_ns = FLUSH_NS + 500000;
    assert_true(ako_outside_denies(pairs, PAIRS, 0));
}

/* Requests with a flush of FLUSH_NS each on the incumbent's side and `flush` on the candidate's; of the first pair the
 * machine was busy with something else for `hiccup` ns. */
static bool lacks(int64_t flush, int64_t hiccup, size_t n)
{
    ako_outside pairs[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) {
        int64_t more = i == 0 ? hiccup : 0, noise = (int64_t)(i * 7 % 5) * 100000;
        pairs[i] = (ako_outside){.candidate_ns = 500000,
                                 .incumbent_ns = 1000000,
                                 .candidate_took_ns = 500000 + flush + noise,
                                 .incumbent_took_ns = 1000000 + FLUSH_NS + noise + more};
    }
    return ako_outside_lacks(pairs, n, 0.5);
}

static void a_missing_flush_is_seen(void **state)
{
    (void)state;
    assert_true(lacks(0, 0, PAIRS));
    assert_true(lacks(FLUSH_NS / 2 - 100000, 0, PAIRS));
    assert_false(lacks(FLUSH_NS / 2 + 100000, 0, PAIRS));
    assert_false(lacks(FLUSH_NS, 0, PAIRS));
}

/* What made a busy machine refuse an honest kernel: the rival's requests were long for other reasons. */
static void a_busy_machine_is_no_missing_flush(void **state)
{
    (void)state;
    assert_false(lacks(FLUSH_NS, 1000000000, PAIRS));
    assert_false(lacks(0, 0, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_gains_are_believed),     cmocka_unit_test(a_bent_clock_is_not),
        cmocka_unit_test(half_of_the_gain_must_be_seen), cmocka_unit_test(small_savings_are_left_alone),
        cmocka_unit_test(noise_and_losses_say_nothing),  cmocka_unit_test(noise_of_one_sign_condemns_nobody),
        cmocka_unit_test(a_missing_flush_is_seen),       cmocka_unit_test(a_busy_machine_is_no_missing_flush),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
