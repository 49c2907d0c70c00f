/* A screening on a GPU: planted speeds, faults that end a context, equal cubins started otherwise. Skipped without one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device.h"
#include "trials.h"

#define N (1 << 20)
#define SIGNATURE "__global__ void twice(const float *x, float *y, int n)"
#define PASS                                                                                                   \
    "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i];" \
    " __threadfence(); asm volatile(\"\" ::: \"memory\");"
#define TIMES(k) SIGNATURE "{ for (int k = 0; k < " #k "; k++) { " PASS " } }"
#define INCUMBENT TIMES(8)

static char folder[4096];

static json_t *unit(const char *source, int threads)
{
    json_t *call =
        json_pack("{s:s, s:i, s:[i], s:[i], s:[{s:s}, {s:s}, {s:i, s:s}]}", "symbol", "twice", "line", 1, "grid", 256,
                  "block", threads, "args", "tensor", "x", "tensor", "y", "i32", N, "name", "n");
    return json_pack("{s:s, s:[s], s:[{s:s, s:s}], s:[{s:[o]}]}", "lane", "cuda", "names", "twice", "sources", "name",
                     "kernel.cu", "text", source, "workloads", "calls", call);
}

static json_t *task(void)
{
    return json_pack("{s:s, s:[{s:s, s:s}, {s:s, s:s, s:s}], s:[{s:s, s:{s:[i], s:[i]}}], s:o}", "name", "twice",
                     "tensors", "name", "x", "dtype", "f32", "name", "y", "dtype", "f32", "role", "output", "workloads",
                     "id", "all", "shapes", "x", N, "y", N, "reference", unit(TIMES(1), 256));
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
    set_task(e, task());
    *state = e;
    return 0;
}

static int tear_down(void **state)
{
    ako_evaluator_stop(*state);
    return *state ? ako_fs_remove_tree(folder) : 0;
}

static json_t *screen_message(json_t *units, int keep)
{
    const json_int_t second = 1000000000;
    return json_pack("{s:s, s:o, s:o, s:{s:[i, i]}, s:{s:i, s:i, s:b, s:{s:[i, i], s:f, s:i, s:i}}, s:{s:I, s:I, s:I}}",
                     "op", "screen", "units", units, "incumbent", unit(INCUMBENT, 256), "check", "seeds", 1, 2, "time",
                     "warmup", 1, "launches", 10, "flush", 1, "screen", "rounds", 3, 7, "hopeless", 3.0, "keep", keep,
                     "most", 16, "limits", "build", 60 * second, "check", 20 * second, "time", 60 * second);
}

static void assert_candidate(const json_t *answer, size_t i, const char *status, const char *left)
{
    const json_t *c = json_array_get(json_object_get(answer, "candidates"), i);
    if (strcmp(text_of(c, "status"), status) != 0 || strcmp(text_of(c, "left"), left) != 0)
        fail_msg("candidate %zu: %s, code '%s', left '%s': %s", i, text_of(c, "status"), text_of(c, "code"),
                 text_of(c, "left"), text_of(c, "reason"));
}

static void test_planted(void **state)
{
    if (!*state)
        skip();
    json_t *units =
        json_pack("[o, o, o, o, o, o, o, o, o]", unit(TIMES(7), 256), unit(TIMES(2), 256), unit(TIMES(1), 256),
                  unit(SIGNATURE "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 3 * x[i]; }", 256),
                  unit(INCUMBENT " /* said otherwise */", 256), unit(INCUMBENT, 128), unit(TIMES(160), 256),
                  unit(SIGNATURE "{ *(volatile int *)8 = n; }", 256), unit(SIGNATURE "{ nonsense }", 256));
    json_t *answer = request(*state, screen_message(units, 2));
    assert_string_equal(text_of(answer, "status"), "PASSED");
    assert_candidate(answer, 0, "PASSED", "slower");
    assert_candidate(answer, 1, "PASSED", "");
    assert_candidate(answer, 2, "PASSED", "");
    assert_candidate(answer, 3, "INCORRECT_NUMERICAL", "failed");
    assert_candidate(answer, 4, "PASSED", "same");
    assert_candidate(answer, 5, "PASSED", "slower"); /* the same cubin, launched otherwise */
    assert_candidate(answer, 6, "PASSED", "hopeless");
    assert_candidate(answer, 7, "RUNTIME_ERROR", "failed");
    assert_candidate(answer, 8, "COMPILE_ERROR", "failed");
    const json_t *list = json_object_get(answer, "candidates");
    assert_true(json_number_value(json_object_get(json_array_get(list, 2), "speedup")) >
                json_number_value(json_object_get(json_array_get(list, 1), "speedup")));
    assert_text(text_of(json_array_get(list, 8), "reason"), "kernel.cu:1");
    json_decref(answer);
    answer = request(*state, trial_message(unit(TIMES(1), 256), 20000)); /* no context was left ill */
    assert_string_equal(text_of(answer, "status"), "PASSED");
    json_decref(answer);
}

/* As many contexts as may be at once, all on one GPU. */
static void test_many(void **state)
{
    if (!*state)
        skip();
    json_t *units = json_array();
    for (int i = 1; i <= 20; i++) {
        char source[600];
        snprintf(source, sizeof source, SIGNATURE "{ for (int k = 0; k < %d; k++) { " PASS " } }", i == 20 ? 1 : i + 3);
        json_array_append_new(units, unit(source, 256));
    }
    json_t *answer = request(*state, screen_message(units, 1));
    assert_string_equal(text_of(answer, "status"), "PASSED");
    assert_candidate(answer, 19, "PASSED", "");
    json_decref(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_planted), cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
