/* The kernels of examples/: every C one is what its name says (right, or wrong in the announced way), every CUDA one
 * still compiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "error.h"
#include "example_tasks.h"
#include "fs.h"

#define GUARD ((size_t)1 << 16) /* bytes behind each tensor */
#define GUARD_BYTE 0xff         /* a NaN in every float dtype */

static char scratch[4096];

typedef enum outcome { RIGHT, WRONG, OUT_OF_BOUNDS } outcome;

static void *tensor_new(const example_task *task, size_t count)
{
    const size_t bytes = count * ako_dtype_size(task->dtype) + GUARD;
    void *tensor = malloc(bytes);
    assert_non_null(tensor);
    return memset(tensor, GUARD_BYTE, bytes);
}

static void *input_new(const example_task *task, size_t count, double centre, double spread)
{
    void *tensor = tensor_new(task, count);
    for (size_t i = 0; i < count; i++)
        ako_dtype_store(task->dtype, tensor, i, centre + spread * (2.0 * rand() / RAND_MAX - 1));
    return tensor;
}

static example_call call_new(const example_task *task, const int axes[3])
{
    example_call call = {.n = {axes[0], axes[1], axes[2]}};
    task->count(&call);
    call.a = input_new(task, call.count_a, 0, task->spread_a);
    call.b = input_new(task, call.count_b, task->centre_b, task->spread_b);
    call.y = tensor_new(task, call.count_y);
    call.want = malloc(call.count_y * sizeof *call.want);
    assert_non_null(call.want);
    task->expect(&call);
    return call;
}

static void call_free(example_call *call)
{
    free(call->a);
    free(call->b);
    free(call->y);
    free(call->want);
}

static outcome judge(const example_task *task, const example_call *call)
{
    const unsigned char *guard = (const unsigned char *)call->y + call->count_y * ako_dtype_size(task->dtype);
    for (size_t i = 0; i < GUARD; i++)
        if (guard[i] != GUARD_BYTE)
            return OUT_OF_BOUNDS;
    for (size_t i = 0; i < call->count_y; i++) {
        const double got = ako_dtype_load(task->dtype, call->y, i), want = call->want[i];
        if (!(fabs(got - want) <= task->atol + task->rtol * fabs(want)))
            return WRONG;
    }
    return RIGHT;
}

static outcome outcome_of(const example_task *task, example_entry entry, const int axes[3])
{
    example_call call = call_new(task, axes);
    task->run(entry, &call);
    const outcome result = judge(task, &call);
    call_free(&call);
    return result;
}

/* Names of kernels in launch lines, as written before "<<<". */
static int names_of(char names[][256], int most, const char *text)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, "//! launch ")) != NULL && n < most; n++) {
        at += strlen("//! launch ");
        const char *end = strstr(at, "<<<");
        assert_non_null(end);
        snprintf(names[n], sizeof names[n], "%.*s", (int)(end - at), at);
    }
    return n;
}

static void build(ako_build_output *out, ako_lane lane, const char *path)
{
    ako_buf text = {0};
    char names[4][256];
    const char *wanted[4];
    assert_int_equal(ako_fs_read(&text, path, 0), AKO_OK);
    const ako_source source = {strrchr(path, '/') + 1, text.data, text.size};
    ako_build_input input = {.lane = lane, .sources = &source, .n_sources = 1, .arch = "sm_90a", .names = wanted};
    if (lane == AKO_LANE_CUDA)
        input.n_names = names_of(names, 4, text.data);
    for (int i = 0; i < input.n_names; i++)
        wanted[i] = names[i];
    const int status = ako_build(out, &input);
    ako_buf_free(&text);
    if (status == AKO_UNAVAILABLE) {
        print_message("skipped: %s\n", ako_error_last()->message);
        skip();
    }
    assert_int_equal(status, AKO_OK);
    if (!out->ok)
        print_error("%s:%d: %s\n", path, out->error_line, out->error_text);
    assert_true(out->ok);
}

static outcome announced(const char *name)
{
    if (strstr(name, "out_of_bounds"))
        return OUT_OF_BOUNDS;
    return strstr(name, "half") || strstr(name, "tail") ? WRONG : RIGHT;
}

static void check_c(const example_task *task, const char *path)
{
    ako_build_output out;
    build(&out, AKO_LANE_C, path);
    void *object = dlopen(out.path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(object);
    example_entry entry;
    *(void **)&entry = dlsym(object, task->name);
    assert_non_null(entry);
    if (!strstr(path, "hang")) {
        const outcome odd = outcome_of(task, entry, task->odd), even = outcome_of(task, entry, task->even);
        if (odd != announced(path))
            print_error("%s: another outcome than its name says\n", path);
        assert_int_equal(odd, announced(path));
        assert_int_equal(even, strstr(path, "half") ? WRONG : RIGHT);
    }
    dlclose(object);
    ako_build_output_free(&out);
}

static void check_cuda(const char *path)
{
    ako_build_output out;
    build(&out, AKO_LANE_CUDA, path);
    if (out.spill_bytes > 0)
        print_error("%s: spills %d bytes\n", path, out.spill_bytes);
    assert_true(out.registers > 0); /* the log tells of every kernel, whatever was built before it */
    assert_int_equal(out.spill_bytes, 0);
    ako_build_output_free(&out);
}

typedef struct visit {
    const example_task *task;
    const char *folder, *extension;
    int n;
} visit;

static int visit_file(void *payload, const char *name)
{
    visit *v = payload;
    char path[4096];
    const char *dot = strrchr(name, '.');
    if (!dot || strcmp(dot, v->extension) != 0)
        return 0;
    snprintf(path, sizeof path, "%s/%s", v->folder, name);
    v->n++;
    if (strcmp(v->extension, ".c") == 0)
        check_c(v->task, path);
    else
        check_cuda(path);
    return 0;
}

/* Checks the sources with this extension of a task; returns how many there were. */
static int visit_task(const example_task *task, const char *name, const char *extension)
{
    static const char *const folders[] = {"", "/solution", "/candidates"};
    char folder[4096];
    visit v = {task, folder, extension, 0};
    for (int i = 0; i < 3; i++) {
        snprintf(folder, sizeof folder, "examples/%s%s", name, folders[i]);
        if (ako_fs_is_dir(folder))
            assert_int_equal(ako_fs_list(folder, visit_file, &v), AKO_OK);
    }
    return v.n;
}

static void test_c_sources_do_what_their_names_say(void **state)
{
    const example_task *task = *state;
    assert_int_equal(visit_task(task, task->name, ".c"), 11);
}

static void test_cuda_sources_compile_without_spills(void **state)
{
    const example_task *task = *state;
    assert_int_equal(visit_task(task, task->name, ".cu"), 11);
}

static void test_other_cuda_sources_compile(void **state)
{
    (void)state;
    assert_int_equal(visit_task(NULL, "rmsnorm_large", ".cu"), 4);
    assert_int_equal(visit_task(NULL, "relu", ".cu"), 2);
}

/* The candidate that only renames has the solution's machine code. */
static void test_renamed_is_the_same_machine_code(void **state)
{
    const example_task *task = *state;
    static const char *const extensions[] = {"c", "cu"};
    for (int i = 0; i < 2; i++) {
        char solution[4096], renamed[4096];
        ako_build_output first, second;
        snprintf(solution, sizeof solution, "examples/%s/solution/kernel.%s", task->name, extensions[i]);
        snprintf(renamed, sizeof renamed, "examples/%s/candidates/01_renamed.%s", task->name, extensions[i]);
        build(&first, i ? AKO_LANE_CUDA : AKO_LANE_C, solution);
        build(&second, i ? AKO_LANE_CUDA : AKO_LANE_C, renamed);
        assert_string_equal(first.hash, second.hash);
        ako_build_output_free(&first);
        ako_build_output_free(&second);
    }
}

static int use_own_cache(void **state)
{
    (void)state;
    if (ako_fs_temp_dir(scratch, sizeof scratch, "ako-examples") != AKO_OK)
        return -1;
    return setenv("XDG_CACHE_HOME", scratch, 1);
}

static int remove_cache(void **state)
{
    (void)state;
    return ako_fs_remove_tree(scratch);
}

#define TASKS (sizeof example_tasks / sizeof *example_tasks)

/* Every task through every test; the state is the task. */
int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(test_c_sources_do_what_their_names_say),
        cmocka_unit_test(test_cuda_sources_compile_without_spills),
        cmocka_unit_test(test_renamed_is_the_same_machine_code),
    };
    struct CMUnitTest tests[3 * TASKS + 1] = {cmocka_unit_test(test_other_cuda_sources_compile)};
    for (size_t i = 0; i < 3 * TASKS; i++) {
        tests[i + 1] = each[i % 3];
        tests[i + 1].initial_state = (void *)(uintptr_t)&example_tasks[i / 3];
    }
    return cmocka_run_group_tests(tests, use_own_cache, remove_cache);
}
