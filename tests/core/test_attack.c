/* The task's self-test on the CPU with real processes: weak tasks of every kind are found, good ones pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>

#include "device.h"
#include "trials.h"

#define ROWS 24
#define COLUMNS 512

static char folder[4096];

typedef struct weak_task {
    const char *init, *dtype, *source; /* f(x, y, rows, columns) */
    const char *lane, *role;           /* NULL: "c"; of y, NULL: "output" */
    int columns;                       /* 0: COLUMNS */
    double a, b, atol, rtol;
} weak_task;

#define SIGNATURE(T) "#include <math.h>\n#include <stdint.h>\nvoid f(const " T " *x, " T " *y, int rows, int columns) "

static const weak_task softmax = {
    .init = "normal",
    .dtype = "f32",
    .b = 1,
    .atol = 1e-1,
    .rtol = 1e-2,
    .source = SIGNATURE("float") "{ for (int r = 0; r < rows; r++) { double sum = 0;"
                                 " for (int c = 0; c < columns; c++) sum += exp(x[r * columns + c]);"
                                 " for (int c = 0; c < columns; c++)"
                                 " y[r * columns + c] = (float)(exp(x[r * columns + c]) / sum); } }"};
static const weak_task relu = {.init = "uniform",
                               .dtype = "f32",
                               .b = 1,
                               .atol = 1e-5,
                               .rtol = 1e-5,
                               .source = SIGNATURE("float") "{ for (int i = 0; i < rows * columns; i++)"
                                                            " y[i] = x[i] > 0 ? x[i] : 0; }"};
static const weak_task constant = {
    .init = "normal",
    .dtype = "f32",
    .b = 1,
    .atol = 1e-5,
    .rtol = 1e-5,
    .source = SIGNATURE("float") "{ (void)x; for (int i = 0; i < rows * columns; i++) y[i] = 3; }"};
static const weak_task good = {.init = "normal",
                               .dtype = "f32",
                               .b = 1,
                               .atol = 1e-5,
                               .rtol = 1e-5,
                               .source = SIGNATURE("float") "{ for (int i = 0; i < rows * columns; i++)"
                                                            " y[i] = 2.1f * x[i] + 1; }"};
static const weak_task integers = {.init = "uniform",
                                   .dtype = "i32",
                                   .a = -9,
                                   .b = 9,
                                   .source = SIGNATURE("int32_t") "{ for (int i = 0; i < rows * columns; i++)"
                                                                  " y[i] = 3 * x[i] + 1; }"};
static const weak_task not_a_number = {
    .init = "normal",
    .dtype = "f32",
    .b = 1,
    .atol = 1e-5,
    .rtol = 1e-5,
    .source = SIGNATURE("float") "{ for (int i = 0; i < rows * columns; i++) y[i] = sqrtf(x[i]); }"};
/* Each call adds its number: the same inputs never give the same outputs. */
static const weak_task unsteady = {
    .init = "normal",
    .dtype = "f32",
    .b = 1,
    .atol = 1e-5,
    .rtol = 1e-5,
    .source = SIGNATURE("float") "{ static int calls; calls++; for (int i = 0; i < rows * columns; i++)"
                                 " y[i] = x[i] * 2 + calls; }"};
static const weak_task large = {.init = "normal",
                                .dtype = "f32",
                                .b = 1,
                                .columns = 200000,
                                .source = SIGNATURE("float") "{ for (int i = 0; i < rows * columns; i++)"
                                                             " y[i] = 3 * x[i]; }"};
/* y is both: what is added to it is below the tolerance. */
static const weak_task idle = {.init = "normal",
                               .dtype = "f32",
                               .role = "inout",
                               .b = 1,
                               .atol = 1e-3,
                               .source = SIGNATURE("float") "{ for (int i = 0; i < rows * columns; i++)"
                                                            " y[i] += 1e-5f * x[i]; }"};
static const weak_task good_gpu = {.init = "normal",
                                   .dtype = "f32",
                                   .lane = "cuda",
                                   .b = 1,
                                   .atol = 1e-5,
                                   .rtol = 1e-5,
                                   .source =
                                       "__global__ void f(const float *x, float *y, int rows, int columns)"
                                       "{ for (int i = threadIdx.x; i < columns; i += blockDim.x)"
                                       " y[blockIdx.x * columns + i] = 2.1f * x[blockIdx.x * columns + i] + 1; }"};
static const weak_task tiny_gpu = {.init = "normal",
                                   .dtype = "f32",
                                   .lane = "cuda",
                                   .b = 1,
                                   .atol = 1e-2,
                                   .source = "__global__ void f(const float *x, float *y, int rows, int columns)"
                                             "{ for (int i = threadIdx.x; i < columns; i += blockDim.x)"
                                             " y[blockIdx.x * columns + i] = 1e-4f * x[blockIdx.x * columns + i]; }"};
static const weak_task dead = {.init = "normal",
                               .dtype = "f32",
                               .b = 1,
                               .source =
                                   SIGNATURE("float") "{ (void)x, (void)y, (void)rows; *(volatile int *)8 = 0; }"};

static int columns_of(const weak_task *w)
{
    return w->columns ? w->columns : COLUMNS;
}

static json_t *call_of(int rows, int columns)
{
    return json_pack("{s:s, s:i, s:[i], s:[i], s:i, s:[{s:s}, {s:s}, {s:i, s:s}, {s:i, s:s}]}", "symbol", "f", "line",
                     1, "grid", rows, "block", 128, "shared", 0, "args", "tensor", "x", "tensor", "y", "i32", rows,
                     "name", "rows", "i32", columns, "name", "columns");
}

/* The workloads have ROWS rows and one more. */
static json_t *unit_with(const weak_task *w, const char *source)
{
    const char *lane = w->lane ? w->lane : "c";
    return json_pack("{s:s, s:[s], s:[{s:s, s:s}], s:[{s:[o]}, {s:[o]}]}", "lane", lane, "names", "f", "sources",
                     "name", strcmp(lane, "c") == 0 ? "f.c" : "f.cu", "text", source, "workloads", "calls",
                     call_of(ROWS, columns_of(w)), "calls", call_of(ROWS + 1, columns_of(w)));
}

static json_t *unit(const weak_task *w)
{
    return unit_with(w, w->source);
}

static json_t *shapes_of(int rows, int columns)
{
    return json_pack("{s:[i, i], s:[i, i]}", "x", rows, columns, "y", rows, columns);
}

static json_t *task(const weak_task *w, double atol, double rtol)
{
    return json_pack("{s:s, s:[{s:s, s:s, s:s, s:{s:s, s:f, s:f}}, {s:s, s:s, s:s}], s:[{s:s, s:o}, {s:s, s:o}],"
                     " s:{s:s, s:f, s:f}, s:o}",
                     "name", "f", "tensors", "name", "x", "dtype", w->dtype, "role", "input", "init", "kind", w->init,
                     "a", w->a, "b", w->b, "name", "y", "dtype", w->dtype, "role", w->role ? w->role : "output",
                     "workloads", "id", "even", "shapes", shapes_of(ROWS, columns_of(w)), "id", "odd", "shapes",
                     shapes_of(ROWS + 1, columns_of(w)), "tolerance", "predicate", "allclose", "atol", atol, "rtol",
                     rtol, "reference", unit(w));
}

static json_t *attack(ako_evaluator *e, json_t *tolerances)
{
    return request(e, json_pack("{s:s, s:I, s:I, s:I, s:o*}", "op", "attack", "seed", (json_int_t)11, "other",
                                (json_int_t)12, "limit", (json_int_t)60000000000, "tolerances", tolerances));
}

static json_t *attack_task(ako_evaluator *e, const weak_task *w, json_t *tolerances)
{
    set_task(e, task(w, w->atol, w->rtol));
    json_t *answer = attack(e, tolerances);
    if (strcmp(text_of(answer, "status"), "PASSED") != 0)
        fail_msg("%s: %s", text_of(answer, "status"), text_of(answer, "reason"));
    return answer;
}

static const json_t *list_of(const json_t *answer, const char *list)
{
    return json_object_get(json_array_get(json_object_get(answer, "workloads"), 0), list);
}

static const json_t *entry_of(const json_t *answer, const char *name, const char *of)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list_of(answer, "attacks"), i, entry)
    {
        if (strcmp(text_of(entry, "name"), name) == 0 && strcmp(text_of(entry, "of"), of) == 0)
            return entry;
    }
    return NULL;
}

static bool passes(const json_t *answer, const char *name, const char *of)
{
    const json_t *entry = entry_of(answer, name, of);
    if (!entry)
        fail_msg("no attack '%s' '%s'", name, of);
    assert_string_equal(text_of(entry, "tensor"), "y");
    assert_int_equal(json_integer_value(json_object_get(entry, "count")), ROWS * COLUMNS);
    return json_is_true(json_object_get(entry, "passed"));
}

static int count_passed(const json_t *answer)
{
    size_t i;
    json_t *entry;
    int n = 0;
    json_array_foreach(list_of(answer, "attacks"), i, entry) n += json_is_true(json_object_get(entry, "passed"));
    return n;
}

static bool changes(const json_t *answer)
{
    const json_t *x = json_array_get(list_of(answer, "inputs"), 0);
    assert_string_equal(text_of(x, "init"), "drawn");
    assert_true(json_is_true(json_object_get(x, "fresh")));
    return json_is_true(json_object_get(x, "changes"));
}

static void test_a_good_task_refuses_all(void **state)
{
    json_t *answer = attack_task(*state, &good, NULL);
    static const char *const names[][2] = {{"zeros", ""},    {"mean", ""},       {"unwritten", ""},
                                           {"nan", ""},      {"copy", "x"},      {"cast", "f16"},
                                           {"cast", "bf16"}, {"other seed", ""}, {"one row wrong", ""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(passes(answer, names[i][0], names[i][1]));
    assert_int_equal(json_array_size(list_of(answer, "attacks")), 9);
    assert_true(changes(answer));
    assert_true(json_is_true(json_object_get(json_array_get(list_of(answer, "again"), 0), "passed")));
    const json_t *y = json_array_get(list_of(answer, "outputs"), 0);
    assert_true(fabs(json_number_value(json_object_get(y, "mean")) - 1) < 0.1);
    assert_true(fabs(json_number_value(json_object_get(y, "rms")) - sqrt(1 + 2.1 * 2.1)) < 0.1);
    assert_true(json_number_value(json_object_get(y, "min")) < -3 && json_number_value(json_object_get(y, "max")) > 5);
    json_decref(answer);
}

/* Every value is below the tolerance: nothing that is small can be told from the right answer. */
static void test_tiny_outputs_under_a_loose_tolerance(void **state)
{
    json_t *answer = attack_task(*state, &softmax,
                                 json_pack("[{s:f, s:f}, {s:f, s:f}, {s:f, s:f}]", "atol", 1e-1, "rtol", 1e-2, "atol",
                                           1e-7, "rtol", 1e-4, "atol", 0.0, "rtol", 0.0));
    assert_true(passes(answer, "zeros", ""));
    assert_true(passes(answer, "mean", ""));
    assert_true(passes(answer, "other seed", ""));
    assert_true(passes(answer, "one row wrong", ""));
    assert_true(passes(answer, "cast", "bf16"));
    assert_false(passes(answer, "copy", "x"));
    assert_false(passes(answer, "unwritten", ""));
    assert_false(changes(answer));
    const json_t *holds = list_of(answer, "holds");
    assert_true(json_is_false(json_array_get(holds, 0)));
    assert_true(json_is_true(json_array_get(holds, 1)));
    assert_true(json_is_false(json_array_get(holds, 2))); /* it would refuse an honest kernel too */
    json_decref(answer);
}

/* With the tolerance that held, no null result passes and the right kernel does. */
static void test_the_tolerance_that_holds(void **state)
{
    set_task(*state, task(&softmax, 1e-7, 1e-4));
    json_t *answer = attack(*state, NULL);
    assert_int_equal(count_passed(answer), 0);
    assert_true(changes(answer));
    json_decref(answer);
    answer = request(*state, trial_message(unit(&softmax), 20000));
    assert_string_equal(text_of(answer, "status"), "PASSED");
    json_decref(answer);
}

static json_t *tight(void)
{
    return json_pack("[{s:f, s:f}]", "atol", 1e-7, "rtol", 1e-6);
}

static void test_relu_of_what_is_never_negative(void **state)
{
    json_t *answer = attack_task(*state, &relu, tight());
    assert_true(passes(answer, "copy", "x"));
    assert_int_equal(count_passed(answer), 1);
    assert_true(json_is_false(json_array_get(list_of(answer, "holds"), 0)));
    assert_int_equal(json_integer_value(json_object_get(entry_of(answer, "copy", "x"), "mismatch")), 0);
    json_decref(answer);
}

static void test_a_constant_output(void **state)
{
    json_t *answer = attack_task(*state, &constant, tight());
    assert_true(passes(answer, "mean", ""));
    assert_true(passes(answer, "other seed", ""));
    assert_true(passes(answer, "one row wrong", ""));
    assert_false(passes(answer, "zeros", ""));
    assert_null(entry_of(answer, "cast", "f16")); /* 3 is 3 in f16 too */
    assert_false(changes(answer));
    assert_true(json_is_false(json_array_get(list_of(answer, "holds"), 0)));
    json_decref(answer);
}

static void test_integers_are_exact(void **state)
{
    json_t *answer = attack_task(*state, &integers, json_pack("[{s:f, s:f}]", "atol", 0.0, "rtol", 0.0));
    assert_int_equal(count_passed(answer), 0);
    assert_false(passes(answer, "copy", "x"));
    assert_false(passes(answer, "unwritten", ""));
    assert_null(entry_of(answer, "nan", ""));
    assert_true(json_is_true(json_array_get(list_of(answer, "holds"), 0)));
    json_decref(answer);
}

static void test_a_golden_with_nan(void **state)
{
    json_t *answer = attack_task(*state, &not_a_number, NULL);
    const json_t *y = json_array_get(list_of(answer, "outputs"), 0),
                 *again = json_array_get(list_of(answer, "again"), 0);
    assert_true(json_integer_value(json_object_get(y, "nan")) > ROWS * COLUMNS / 3);
    assert_true(json_is_false(json_object_get(again, "passed")));
    json_decref(answer);
}

static void test_a_reference_that_is_not_the_same_twice(void **state)
{
    json_t *answer = attack_task(*state, &unsteady, tight());
    const json_t *again = json_array_get(list_of(answer, "again"), 0);
    assert_true(json_is_false(json_object_get(again, "passed")));
    assert_true(json_number_value(json_object_get(again, "max_abs")) > 0.9);
    assert_true(json_is_false(json_array_get(list_of(answer, "holds"), 0)));
    json_decref(answer);
}

/* What lies behind the part that is looked at is not counted. */
static void test_a_large_output_is_looked_at_in_part(void **state)
{
    json_t *answer = attack_task(*state, &large, NULL);
    const json_t *y = json_array_get(list_of(answer, "outputs"), 0);
    assert_int_equal(json_integer_value(json_object_get(y, "count")), ROWS * 200000);
    assert_int_equal(json_integer_value(json_object_get(y, "examined")), (1 << 18) / 4);
    assert_int_equal(count_passed(answer), 0);
    json_decref(answer);
}

static void test_an_output_that_hardly_changes(void **state)
{
    json_t *answer = attack_task(*state, &idle, json_pack("[{s:f, s:f}]", "atol", 1e-7, "rtol", 1e-7));
    assert_true(passes(answer, "copy", "y"));
    assert_false(passes(answer, "copy", "x"));
    assert_false(passes(answer, "zeros", ""));
    assert_false(changes(answer));
    const json_t *y = json_array_get(list_of(answer, "inputs"), 1); /* is drawn too, and matters */
    assert_string_equal(text_of(y, "tensor"), "y");
    assert_true(json_is_true(json_object_get(y, "changes")));
    json_decref(answer);
}

/* A kernel that is right for one shape alone fails on the other. */
static void test_one_shape_only(void **state)
{
    set_task(*state, task(&good, 1e-5, 1e-5));
    json_t *solution = unit_with(&good, SIGNATURE("float") "{ (void)rows; for (int i = 0; i < 24 * columns; i++)"
                                                           " y[i] = 2.1f * x[i] + 1; }");
    json_t *answer = request(*state, trial_message(solution, 20000));
    assert_string_equal(text_of(answer, "status"), "INCORRECT_NUMERICAL");
    assert_text(text_of(answer, "reason"), "workload odd: 512 of 12800 elements of 'y' were never written");
    json_decref(answer);
}

static void test_on_the_gpu(void **state)
{
    (void)state;
    const char *why;
    if (ako_device_count(&why) < 2) {
        print_message("%s\n", why);
        skip();
    }
    ako_evaluator *e = start("cuda:0");
    json_t *answer = attack_task(e, &good_gpu, NULL);
    assert_int_equal(count_passed(answer), 0);
    assert_int_equal(json_array_size(list_of(answer, "attacks")), 9);
    assert_true(changes(answer));
    json_decref(answer);
    answer = request(e, trial_message(unit(&good_gpu), 20000));
    assert_string_equal(text_of(answer, "status"), "PASSED");
    json_decref(answer);
    answer = attack_task(e, &tiny_gpu, json_pack("[{s:f, s:f}]", "atol", 1e-9, "rtol", 1e-5));
    assert_true(passes(answer, "zeros", "") && passes(answer, "other seed", "") && passes(answer, "cast", "bf16"));
    assert_false(passes(answer, "unwritten", ""));
    assert_false(changes(answer));
    assert_true(json_is_true(json_array_get(list_of(answer, "holds"), 0)));
    json_decref(answer);
    ako_evaluator_stop(e);
}

/* What goes wrong in the reference is the task's fault, and the next request finds everything well. */
static void test_a_reference_that_dies(void **state)
{
    set_task(*state, task(&dead, 0, 0));
    json_t *answer = attack(*state, NULL);
    assert_string_equal(text_of(answer, "status"), "INVALID_REFERENCE");
    assert_text(text_of(answer, "reason"), "SIGSEGV");
    json_decref(answer);
    answer = attack_task(*state, &good, NULL);
    assert_int_equal(count_passed(answer), 0);
    json_decref(answer);
}

/* The attack leaves goldens and buffers behind as a trial wants them, and the other way round. */
static void test_trials_before_and_after(void **state)
{
    set_task(*state, task(&good, 1e-5, 1e-5));
    for (int i = 0; i < 2; i++) {
        json_t *answer = request(*state, trial_message(unit(&good), 20000));
        assert_string_equal(text_of(answer, "status"), "PASSED");
        json_decref(answer);
        answer = attack(*state, NULL);
        assert_int_equal(count_passed(answer), 0);
        json_decref(answer);
    }
}

static void test_wrong_requests(void **state)
{
    ako_json *answer;
    ako_evaluator *e;
    e = start("cpu");
    int status = ako_evaluator_request(e, &answer, json_pack("{s:s, s:i, s:i}", "op", "attack", "seed", 1, "other", 2),
                                       NULL, NULL);
    assert_int_equal(status, AKO_INVALID);
    assert_text(ako_error_last()->message, "task must come before attack");
    ako_evaluator_stop(e);
    set_task(*state, task(&good, 1e-5, 1e-5));
    status = ako_evaluator_request(*state, &answer, json_pack("{s:s, s:i, s:i}", "op", "attack", "seed", 1, "other", 1),
                                   NULL, NULL);
    assert_int_equal(status, AKO_INVALID);
    assert_text(ako_error_last()->message, "attack.other: must be another seed");
}

static int set_up(void **state)
{
    assert_int_equal(ako_fs_temp_dir(folder, sizeof folder, "ako-test"), AKO_OK);
    setenv("XDG_CACHE_HOME", folder, 1);
    *state = start("cpu");
    return 0;
}

static int tear_down(void **state)
{
    ako_evaluator_stop(*state);
    return ako_fs_remove_tree(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_task_refuses_all),
        cmocka_unit_test(test_tiny_outputs_under_a_loose_tolerance),
        cmocka_unit_test(test_the_tolerance_that_holds),
        cmocka_unit_test(test_relu_of_what_is_never_negative),
        cmocka_unit_test(test_a_constant_output),
        cmocka_unit_test(test_integers_are_exact),
        cmocka_unit_test(test_a_golden_with_nan),
        cmocka_unit_test(test_a_reference_that_is_not_the_same_twice),
        cmocka_unit_test(test_a_large_output_is_looked_at_in_part),
        cmocka_unit_test(test_an_output_that_hardly_changes),
        cmocka_unit_test(test_one_shape_only),
        cmocka_unit_test(test_on_the_gpu),
        cmocka_unit_test(test_a_reference_that_dies),
        cmocka_unit_test(test_trials_before_and_after),
        cmocka_unit_test(test_wrong_requests),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
