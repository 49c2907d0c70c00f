/* Whole trials on a GPU: the same verdicts as on the CPU, and what only a GPU can get wrong. Skipped without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device.h"
#include "trials.h"

#define SIGNATURE "__global__ void twice(const float *x, float *y, int n)"
#define INDEX "int i = blockIdx.x * blockDim.x + threadIdx.x;"
#define GOOD SIGNATURE "{" INDEX "if (i < n) y[i] = 2 * x[i]; }"
#define HOST "void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }"

enum { LARGE = 1 << 22, ODD = 1001 };

static char folder[4096];

static json_t *call(int n, int shared, int threads)
{
    return json_pack("{s:s, s:i, s:[i], s:[i], s:i, s:[{s:s}, {s:s}, {s:i, s:s}]}", "symbol", "twice", "line", 1,
                     "grid", (n + 255) / 256, "block", threads, "shared", shared, "args", "tensor", "x", "tensor", "y",
                     "i32", n, "name", "n");
}

static json_t *unit_with(const char *lane, const char *source, int shared, int threads)
{
    return json_pack("{s:s, s:[s], s:[{s:s, s:s}], s:[{s:[o]}, {s:[o]}]}", "lane", lane, "names", "twice", "sources",
                     "name", strcmp(lane, "c") == 0 ? "kernel.c" : "kernel.cu", "text", source, "workloads", "calls",
                     call(LARGE, shared, threads), "calls", call(ODD, shared, threads));
}

static json_t *unit(const char *source)
{
    return unit_with("cuda", source, 0, 256);
}

static json_t *task(json_t *reference)
{
    return json_pack(
        "{s:s, s:[{s:s, s:s}, {s:s, s:s, s:s}], s:[{s:s, s:{s:[i], s:[i]}}, {s:s, s:{s:[i], s:[i]}}], s:o}", "name",
        "twice", "tensors", "name", "x", "dtype", "f32", "name", "y", "dtype", "f32", "role", "output", "workloads",
        "id", "large", "shapes", "x", LARGE, "y", LARGE, "id", "odd", "shapes", "x", ODD, "y", ODD, "reference",
        reference);
}

static int set_up(void **state)
{
    *state = NULL;
    const char *why;
    if (ako_device_count(&why) < 2) {
        print_message("%s\n", why);
        return 0;
    }
    assert_int_equal(ako_fs_temp_dir(folder, sizeof folder, "ako-test"), AKO_OK);
    setenv("XDG_CACHE_HOME", folder, 1);
    ako_evaluator *e = start("cuda:0");
    set_task(e, task(unit(GOOD)));
    *state = e;
    return 0;
}

static int tear_down(void **state)
{
    ako_evaluator_stop(*state);
    return *state ? ako_fs_remove_tree(folder) : 0;
}

static ako_evaluator *evaluator_or_skip(void **state)
{
    if (!*state)
        skip();
    return *state;
}

static json_t *try_unit(ako_evaluator *e, json_t *solution, int64_t limit_ms)
{
    return request(e, trial_message(solution, limit_ms));
}

static void assert_status(json_t *answer, const char *status, const char *reason)
{
    if (strcmp(text_of(answer, "status"), status) != 0)
        fail_msg("%s instead of %s: %s", text_of(answer, "status"), status, text_of(answer, "reason"));
    assert_text(text_of(answer, "reason"), reason);
    json_decref(answer);
}

static void assert_passes(ako_evaluator *e)
{
    assert_status(try_unit(e, unit(GOOD), 20000), "PASSED", "");
}

static void assert_verdict(ako_evaluator *e, const char *source, const char *status, const char *reason)
{
    assert_status(try_unit(e, unit(source), 20000), status, reason);
    assert_passes(e);
}

static void test_good(void **state)
{
    ako_evaluator *e = evaluator_or_skip(state);
    json_t *answer = try_unit(e, unit(GOOD), 20000);
    const json_t *entry = json_array_get(json_object_get(answer, "workloads"), 0);
    const json_t *time = json_object_get(entry, "time"), *reference = json_object_get(entry, "reference");
    print_message("%s %s; %lld ns by %s, reference %lld ns; build %lld check %lld time %lld ns\n",
                  text_of(answer, "status"), text_of(answer, "reason"),
                  (long long)json_number_value(json_object_get(time, "median")), text_of(time, "timer"),
                  (long long)json_number_value(json_object_get(reference, "median")),
                  (long long)json_integer_value(json_object_get(json_object_get(answer, "costs_ns"), "build")),
                  (long long)json_integer_value(json_object_get(json_object_get(answer, "costs_ns"), "check")),
                  (long long)json_integer_value(json_object_get(json_object_get(answer, "costs_ns"), "time")));
    assert_int_equal(json_array_size(json_object_get(time, "samples_ns")), 30);
    assert_int_equal(json_array_size(json_object_get(reference, "samples_ns")), 30);
    assert_int_equal(json_integer_value(json_object_get(time, "sets")), 9);
    assert_status(answer, "PASSED", "");
}

static void test_wrong(void **state)
{
    ako_evaluator *e = evaluator_or_skip(state);
    assert_verdict(e, SIGNATURE "{" INDEX "if (i < n) y[i] = 3 * x[i]; }", "INCORRECT_NUMERICAL",
                   "elements of 'y' are wrong");
    assert_verdict(e, SIGNATURE "{" INDEX "if (i < n) y[i] = 2 * x[i] + (n % 2 && i == n - 1); }",
                   "INCORRECT_NUMERICAL", "workload odd: 1 of 1001 elements of 'y' are wrong, the first at 1000");
    assert_verdict(e, SIGNATURE "{" INDEX "if (i < n / 2) y[i] = 2 * x[i]; }", "INCORRECT_NUMERICAL",
                   "were never written");
    assert_verdict(e, SIGNATURE "{" INDEX "if (i < n) { y[i] = 2 * x[i]; ((float *)x)[0] = 1; } }", "REWARD_HACK",
                   "changed its input 'x'");
}

static void test_out_of_bounds(void **state)
{
    ako_evaluator *e = evaluator_or_skip(state);
    assert_verdict(e, SIGNATURE "{" INDEX "if (i <= n) y[i] = 2 * x[i < n ? i : 0]; }", "RUNTIME_ERROR",
                   "wrote past the end of 'y' (first at its end + 0 bytes)");
    assert_verdict(e, SIGNATURE "{" INDEX "if (i < n) y[i] = 2 * x[i]; if (i == 0) y[-2] = 0; }", "RUNTIME_ERROR",
                   "wrote before the start of 'y' (first at its start - 8 bytes)");
    assert_verdict(e, SIGNATURE "{" INDEX "if (i == 0) y[(long long)n << 34] = x[0]; }", "RUNTIME_ERROR",
                   "cudaErrorIllegalAddress");
    assert_verdict(e, SIGNATURE "{ (void)x; (void)y; (void)n; __trap(); }", "RUNTIME_ERROR", "cudaError");
}

static void test_endless(void **state)
{
    ako_evaluator *e = evaluator_or_skip(state);
    json_t *solution = unit(SIGNATURE "{ (void)x; volatile float *v = y; while (n) v[0] = 1; }");
    assert_status(try_unit(e, solution, 3000), "TIMEOUT", "check took longer than its limit of 3 s");
    assert_passes(e);
}

static void test_launch_faults(void **state)
{
    ako_evaluator *e = evaluator_or_skip(state);
    assert_verdict(e, SIGNATURE "{ y[0] = x[0] }", "COMPILE_ERROR", "kernel.cu:1: ");
    assert_verdict(e, "__global__ void twice(const float *x, float *y) { y[0] = x[0]; }", "COMPILE_ERROR",
                   "launch line 1: ");
    assert_verdict(e, "__global__ void twice(const float *x, float *y, long long n) { y[0] = x[n]; }", "COMPILE_ERROR",
                   "launch line 1: ");
    assert_status(try_unit(e, unit_with("cuda", GOOD, 1 << 20, 256), 20000), "COMPILE_ERROR", "launch line 1: ");
    assert_status(try_unit(e, unit_with("cuda", GOOD, 0, 2048), 20000), "COMPILE_ERROR", "launch line 1: ");
    assert_passes(e);
}

/* A golden made on the host proves a kernel right, and gives no time to compare with. */
static void test_reference_in_another_place(void **state)
{
    ako_evaluator *e = evaluator_or_skip(state);
    set_task(e, task(unit_with("c", HOST, 0, 1)));
    json_t *answer = try_unit(e, unit(GOOD), 20000);
    const json_t *entry = json_array_get(json_object_get(answer, "workloads"), 0);
    assert_null(json_object_get(entry, "reference"));
    assert_non_null(json_object_get(entry, "time"));
    assert_status(answer, "PASSED", "");
    assert_status(try_unit(e, unit(SIGNATURE "{" INDEX "if (i < n) y[i] = x[i]; }"), 20000), "INCORRECT_NUMERICAL", "");
    /* And a solution on the host against a golden from the GPU. */
    set_task(e, task(unit(GOOD)));
    assert_status(try_unit(e, unit_with("c", HOST, 0, 1), 20000), "PASSED", "");
    assert_passes(e);
}

static void test_bad_references(void **state)
{
    ako_evaluator *e = evaluator_or_skip(state);
    set_task(e, task(unit(SIGNATURE "{" INDEX "if (i == 0) y[(long long)n << 34] = x[0]; }")));
    assert_status(try_unit(e, unit(GOOD), 20000), "INVALID_REFERENCE", "cudaErrorIllegalAddress");
    set_task(e, task(unit(SIGNATURE "{ (void)x; (void)y; (void)n; }")));
    assert_status(try_unit(e, unit(GOOD), 20000), "INVALID_REFERENCE", "NaN");
    set_task(e, task(unit(GOOD)));
    assert_passes(e);
}

static void test_host_entry(void **state)
{
    ako_evaluator *e = evaluator_or_skip(state);
    static const char source[] =
        "__global__ void kernel(const float *x, float *y, int n) {" INDEX "if (i < n) y[i] = 2 * x[i]; }\n"
        "extern \"C\" void twice(const float *x, float *y, int n) { kernel<<<(n + 255) / 256, 256>>>(x, y, n); }\n";
    json_t *answer = try_unit(e, unit_with("cuda-host", source, 0, 1), 20000);
    if (strcmp(text_of(answer, "status"), "INFRA") == 0) {
        print_message("%s\n", text_of(answer, "reason"));
        json_decref(answer);
        skip();
    }
    assert_status(answer, "PASSED", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),           cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_out_of_bounds),  cmocka_unit_test(test_endless),
        cmocka_unit_test(test_launch_faults),  cmocka_unit_test(test_reference_in_another_place),
        cmocka_unit_test(test_bad_references), cmocka_unit_test(test_host_entry),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
