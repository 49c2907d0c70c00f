/* Screenings on the CPU with real processes: candidates of planted speeds are ranked, each way to fail costs only the
 * candidate that fails, and what is the same as another is never launched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trials.h"

#define N 40000
#define SIGNATURE "void twice(const float *x, float *y, int n)"
#define PASS "for (int i = 0; i < n; i++) y[i] = 2 * x[i]; __asm__ volatile(\"\" ::: \"memory\");"
/* Does its work so many times over. */
#define TIMES(k) SIGNATURE "{ for (int k = 0; k < " #k "; k++) { " PASS " } }"
#define INCUMBENT TIMES(8)

static char folder[4096];

static json_t *unit(const char *source)
{
    json_t *call = json_pack("{s:s, s:[{s:s}, {s:s}, {s:i, s:s}]}", "symbol", "twice", "args", "tensor", "x", "tensor",
                             "y", "i32", N, "name", "n");
    return json_pack("{s:s, s:[{s:s, s:s}], s:[{s:[o]}]}", "lane", "c", "sources", "name", "kernel.c", "text", source,
                     "workloads", "calls", call);
}

static json_t *with_scratch(const char *source, int elements)
{
    json_t *result = unit(source);
    json_object_set_new(json_array_get(json_object_get(result, "workloads"), 0), "scratch",
                        json_pack("[{s:s, s:s, s:[i]}]", "name", "t", "dtype", "f32", "shape", elements));
    json_t *call = json_array_get(json_object_get(json_array_get(json_object_get(result, "workloads"), 0), "calls"), 0);
    json_array_append_new(json_object_get(call, "args"), json_pack("{s:s}", "tensor", "t"));
    return result;
}

static json_t *task(const char *reference)
{
    return json_pack("{s:s, s:[{s:s, s:s, s:s}, {s:s, s:s, s:s}], s:[{s:s, s:{s:[i], s:[i]}}], s:{s:s, s:f, s:f}, s:o}",
                     "name", "twice", "tensors", "name", "x", "dtype", "f32", "role", "input", "name", "y", "dtype",
                     "f32", "role", "output", "workloads", "id", "all", "shapes", "x", N, "y", N, "tolerance",
                     "predicate", "allclose_out", "atol", 1e-5, "rtol", 1e-5, "reference", unit(reference));
}

static int set_up(void **state)
{
    assert_int_equal(ako_fs_temp_dir(folder, sizeof folder, "ako-test"), AKO_OK);
    setenv("XDG_CACHE_HOME", folder, 1);
    ako_evaluator *e = start("cpu");
    set_task(e, task(TIMES(1)));
    *state = e;
    return 0;
}

static int tear_down(void **state)
{
    ako_evaluator_stop(*state);
    return ako_fs_remove_tree(folder);
}

/* Takes the units over. */
static json_t *screen_message(json_t *units, const char *incumbent, int keep, int most)
{
    const json_int_t second = 1000000000;
    return json_pack("{s:s, s:o, s:o, s:{s:[i, i]}, s:{s:i, s:i, s:b, s:{s:[i, i], s:f, s:i, s:i}}, s:{s:I, s:I, s:I}}",
                     "op", "screen", "units", units, "incumbent", unit(incumbent), "check", "seeds", 1, 2, "time",
                     "warmup", 1, "launches", 10, "flush", 0, "screen", "rounds", 3, 7, "hopeless", 8.0, "keep", keep,
                     "most", most, "limits", "build", 60 * second, "check", 20 * second, "time", 60 * second);
}

static json_t *units_of(const char *const *sources, size_t n)
{
    json_t *units = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(units, unit(sources[i]));
    return units;
}

static const json_t *candidate(const json_t *answer, size_t i)
{
    return json_array_get(json_object_get(answer, "candidates"), i);
}

static void assert_candidate(const json_t *answer, size_t i, const char *status, const char *code, const char *left)
{
    const json_t *c = candidate(answer, i);
    if (strcmp(text_of(c, "status"), status) != 0 || strcmp(text_of(c, "code"), code) != 0 ||
        strcmp(text_of(c, "left"), left) != 0)
        fail_msg("candidate %zu: %s, code '%s', left '%s': %s", i, text_of(c, "status"), text_of(c, "code"),
                 text_of(c, "left"), text_of(c, "reason"));
}

static double speedup(const json_t *answer, size_t i)
{
    return json_number_value(json_object_get(candidate(answer, i), "speedup"));
}

static json_int_t number(const json_t *answer, size_t i, const char *key)
{
    const json_t *value = json_object_get(candidate(answer, i), key);
    return json_is_integer(value) ? json_integer_value(value) : -100;
}

static void test_planted(void **state)
{
    static const char *const sources[] = {
        TIMES(7),
        TIMES(2),
        SIGNATURE "{ for (int i = 0; i < n; i++) y[i] = 3 * x[i]; }",
        TIMES(1),
        INCUMBENT " /* said otherwise */",
        TIMES(160),
        SIGNATURE "{ (void)x; (void)y; *(volatile int *)8 = n; }",
        TIMES(9),
        TIMES(2) " /* again */",
        SIGNATURE "{ nonsense }",
        SIGNATURE "{ static int c; if (++c > 4) *(volatile int *)8 = n; " PASS " }",
        SIGNATURE "{ static int c; " PASS " if (++c > 4) y[7] += 1; }",
        SIGNATURE "{ static int c; if (++c > 2) ((float *)x)[7] += 1; " PASS " }",  /* from the warm-up on */
        SIGNATURE "{ static int c; if (++c > 20) ((float *)x)[7] += 1; " PASS " }", /* from the first rounds on */
    };
    json_t *answer = request(*state, screen_message(units_of(sources, 14), INCUMBENT, 2, 16));
    assert_string_equal(text_of(answer, "status"), "PASSED");
    assert_candidate(answer, 0, "PASSED", "", "slower");
    assert_candidate(answer, 1, "PASSED", "", "");
    assert_candidate(answer, 2, "INCORRECT_NUMERICAL", "numerical", "failed");
    assert_candidate(answer, 3, "PASSED", "", "");
    assert_candidate(answer, 4, "PASSED", "", "same");
    assert_candidate(answer, 5, "PASSED", "", "hopeless");
    assert_candidate(answer, 6, "RUNTIME_ERROR", "crash", "failed");
    assert_candidate(answer, 7, "PASSED", "", "slower");
    assert_candidate(answer, 8, "PASSED", "", "same");
    assert_candidate(answer, 9, "COMPILE_ERROR", "compile", "failed");
    assert_candidate(answer, 10, "RUNTIME_ERROR", "crash", "failed");
    assert_candidate(answer, 11, "REWARD_HACK", "W2", "failed");
    assert_candidate(answer, 12, "REWARD_HACK", "W4", "failed");
    assert_candidate(answer, 13, "REWARD_HACK", "W4", "failed");
    assert_true(speedup(answer, 3) > speedup(answer, 1) && speedup(answer, 1) > 1);
    assert_text(text_of(json_object_get(answer, "tenants"), "note"), "CPU");
    assert_true(speedup(answer, 5) < 1.0 / 3);
    assert_int_equal(number(answer, 4, "same_as"), -1);
    assert_int_equal(number(answer, 8, "same_as"), 1);
    assert_int_equal(number(answer, 1, "rounds"), 7);
    assert_int_equal(number(answer, 7, "rounds"), 3);
    assert_int_equal(number(answer, 5, "rounds"), 0);
    const json_t *interval = json_object_get(candidate(answer, 3), "interval");
    assert_true(json_number_value(json_array_get(interval, 0)) <= speedup(answer, 3));
    assert_true(json_number_value(json_array_get(interval, 1)) >= speedup(answer, 3));
    const json_t *entry = json_array_get(json_object_get(candidate(answer, 3), "workloads"), 0);
    assert_string_equal(text_of(entry, "status"), "PASSED");
    assert_int_equal(json_array_size(json_object_get(json_object_get(entry, "screen"), "candidate_ns")), 7);
    assert_int_equal(json_array_size(json_object_get(json_object_get(entry, "screen"), "incumbent_ns")), 7);
    assert_int_equal(strlen(text_of(json_object_get(candidate(answer, 3), "build"), "hash")), 40);
    json_decref(answer);
}

/* More than processes: fields one after the other, then the best of each together. */
static void test_several_fields(void **state)
{
    static const char *const sources[] = {TIMES(7), TIMES(6), TIMES(1), TIMES(9), TIMES(10)};
    json_t *answer = request(*state, screen_message(units_of(sources, 5), INCUMBENT, 1, 2));
    assert_string_equal(text_of(answer, "status"), "PASSED");
    assert_candidate(answer, 2, "PASSED", "", "");
    assert_int_equal(number(answer, 2, "rounds"), 7);
    for (size_t i = 0; i < 5; i++)
        if (i != 2)
            assert_candidate(answer, i, "PASSED", "", "slower");
    json_decref(answer);
}

/* Scratch lies behind the tensors, and each candidate has its own: the large one must not break the small one's check,
 * whose end it would not see; one that writes past its own is found though the block is larger. */
static void test_scratch(void **state)
{
    static const char *const good = "void twice(const float *x, float *y, int n, float *t)"
                                    "{ t[0] = x[0]; t[99] = x[1]; for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }";
    static const char *const large = "void twice(const float *x, float *y, int n, float *t)"
                                     "{ t[0] = x[0]; t[100] = x[1]; t[199999] = 1; " PASS " }";
    json_t *units =
        json_pack("[o, o, o]", with_scratch(good, 100), with_scratch(large, 200000),
                  with_scratch("void twice(const float *x, float *y, int n, float *t) { t[100] = 1; " PASS " }", 100));
    json_t *answer = request(*state, screen_message(units, INCUMBENT, 2, 16));
    assert_candidate(answer, 0, "PASSED", "", "");
    assert_candidate(answer, 1, "PASSED", "", "");
    assert_candidate(answer, 2, "RUNTIME_ERROR", "overrun", "failed");
    json_decref(answer);
}

/* After each kind of end the same evaluator judges a trial, and screens, rightly. */
static void test_incumbent_fails(void **state)
{
    static const char *const sources[] = {TIMES(1), SIGNATURE "{ nonsense }"};
    static const char *const incumbents[] = {SIGNATURE "{ nonsense }",
                                             SIGNATURE "{ (void)x; (void)y; *(volatile int *)8 = n; }"};
    for (size_t i = 0; i < 2; i++) {
        json_t *answer = request(*state, screen_message(units_of(sources, 2), incumbents[i], 1, 16));
        assert_string_equal(text_of(answer, "status"), "INFRA");
        assert_string_equal(text_of(answer, "code"), "incumbent");
        assert_candidate(answer, 0, "INFRA", "incumbent", "failed");
        assert_candidate(answer, 1, "COMPILE_ERROR", "compile", "failed");
        json_decref(answer);
    }
    json_t *answer = request(*state, screen_message(units_of(sources, 2), INCUMBENT, 1, 16));
    assert_candidate(answer, 0, "PASSED", "", "");
    json_decref(answer);
    answer = request(*state, trial_message(unit(TIMES(1)), 20000));
    assert_string_equal(text_of(answer, "status"), "PASSED");
    json_decref(answer);
}

static void test_bad_reference(void **state)
{
    static const char *const sources[] = {TIMES(1), TIMES(2)};
    set_task(*state, task(SIGNATURE "{ (void)x; (void)y; *(volatile int *)8 = n; }"));
    json_t *answer = request(*state, screen_message(units_of(sources, 2), INCUMBENT, 1, 16));
    assert_string_equal(text_of(answer, "status"), "INVALID_REFERENCE");
    assert_candidate(answer, 0, "INVALID_REFERENCE", "reference", "failed");
    assert_candidate(answer, 1, "INVALID_REFERENCE", "reference", "failed");
    json_decref(answer);
    set_task(*state, task(TIMES(1)));
}

/* One that hangs is late alone; what it does after its limit costs nobody else. */
static void test_endless(void **state)
{
    static const char *const sources[] = {SIGNATURE "{ (void)x; (void)y; for (volatile int i = n; i;) ; }", TIMES(1),
                                          SIGNATURE "{ static int c; " PASS
                                                    " if (++c > 20) for (volatile int i = n; i;) ; }"};
    json_t *message = screen_message(units_of(sources, 3), INCUMBENT, 1, 16);
    json_t *limits = json_object_get(message, "limits");
    json_object_set_new(limits, "check", json_integer(1500000000));
    json_object_set_new(limits, "time", json_integer(1500000000));
    json_t *answer = request(*state, message);
    assert_candidate(answer, 0, "TIMEOUT", "check", "failed");
    assert_candidate(answer, 1, "PASSED", "", "");
    assert_candidate(answer, 2, "TIMEOUT", "time", "failed");
    json_decref(answer);
}

static int cancel_at(void *payload, const ako_json *event)
{
    return strcmp(text_of(event, "step"), payload) == 0 ? AKO_CANCELLED : AKO_OK;
}

static void test_cancel(void **state)
{
    static const char *const sources[] = {TIMES(1), TIMES(2), TIMES(3), TIMES(4), TIMES(5)};
    static char steps[][8] = {"build", "check", "screen"};
    for (size_t i = 0; i < 3; i++) {
        ako_json *answer = NULL;
        json_t *message = screen_message(units_of(sources, 5), INCUMBENT, 1, 16);
        assert_int_equal(ako_evaluator_request(*state, &answer, message, cancel_at, steps[i]), AKO_CANCELLED);
    }
    json_t *answer = request(*state, screen_message(units_of(sources, 5), INCUMBENT, 1, 16));
    assert_candidate(answer, 0, "PASSED", "", "");
    json_decref(answer);
}

#define ADD "void add(const float *x, float *y, int n)"
/* Adds once, after so many passes of work that leave nothing behind. */
#define ADD_AFTER(k)                                                                                     \
    ADD "{ volatile float t = 0; for (int k = 0; k < " #k "; k++) for (int i = 0; i < n; i++) t = x[i];" \
        " for (int i = 0; i < n; i++) y[i] += x[i]; }"

static json_t *adding_unit(const char *source)
{
    return json_pack("{s:s, s:[{s:s, s:s}], s:[{s:[{s:s, s:[{s:s}, {s:s}, {s:i}]}]}]}", "lane", "c", "sources", "name",
                     "kernel.c", "text", source, "workloads", "calls", "symbol", "add", "args", "tensor", "x", "tensor",
                     "y", "i32", 4000);
}

/* What a call of such a task reads is gone after it: contents are made anew for everybody's every sample. */
static void test_inout(void **state)
{
    json_t *given =
        json_pack("{s:s, s:[{s:s, s:s}, {s:s, s:s, s:s}], s:[{s:s, s:{s:[i], s:[i]}}], s:o}", "name", "add", "tensors",
                  "name", "x", "dtype", "f32", "name", "y", "dtype", "f32", "role", "inout", "workloads", "id", "all",
                  "shapes", "x", 4000, "y", 4000, "reference", adding_unit(ADD_AFTER(0)));
    set_task(*state, given);
    json_t *message = screen_message(json_pack("[o, o, o]", adding_unit(ADD_AFTER(30)), adding_unit(ADD_AFTER(1)),
                                               adding_unit(ADD "{ for (int i = 0; i < n; i++) y[i] += 1.5f * x[i]; }")),
                                     INCUMBENT, 1, 16);
    json_object_set_new(message, "incumbent", adding_unit(ADD_AFTER(20)));
    json_t *answer = request(*state, message);
    assert_string_equal(text_of(answer, "status"), "PASSED");
    assert_candidate(answer, 0, "PASSED", "", "slower");
    assert_candidate(answer, 1, "PASSED", "", "");
    assert_candidate(answer, 2, "INCORRECT_NUMERICAL", "numerical", "failed");
    json_decref(answer);
    set_task(*state, task(TIMES(1)));
}

static void assert_refused(ako_evaluator *e, json_t *message, const char *reason)
{
    ako_json *answer = NULL;
    assert_int_equal(ako_evaluator_request(e, &answer, message, NULL, NULL), AKO_INVALID);
    assert_text(ako_error_last()->message, reason);
}

static void test_bad_requests(void **state)
{
    static const char *const sources[] = {TIMES(1)};
    json_t *message = screen_message(json_array(), INCUMBENT, 1, 16);
    assert_refused(*state, message, "screen.units: at least one");
    message = screen_message(units_of(sources, 1), INCUMBENT, 1, 16);
    json_object_del(message, "incumbent");
    assert_refused(*state, message, "screen.incumbent");
    message = screen_message(units_of(sources, 1), INCUMBENT, 1, 16);
    json_object_set_new(json_object_get(json_object_get(message, "time"), "screen"), "rounds",
                        json_pack("[i, i]", 8, 4));
    assert_refused(*state, message, "screen.time.screen.rounds: element 1");
    assert_refused(*state, screen_message(units_of(sources, 1), INCUMBENT, 1, 1000), "screen.time.screen.most");
    message = screen_message(json_pack("[{s:s}]", "lane", "c"), INCUMBENT, 1, 16);
    assert_refused(*state, message, "screen.units[0]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),       cmocka_unit_test(test_several_fields),
        cmocka_unit_test(test_scratch),       cmocka_unit_test(test_incumbent_fails),
        cmocka_unit_test(test_bad_reference), cmocka_unit_test(test_bad_requests),
        cmocka_unit_test(test_endless),       cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_inout),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
