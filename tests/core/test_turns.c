/* A trial below a process that holds the device's lock, what it says about its surroundings, and strangers on a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "device.h"
#include "memory.h"
#include "process.h"
#include "trials.h"

#define N 64

static char folder[4096];

static json_t *unit(const char *lane)
{
    bool gpu = strcmp(lane, "cuda") == 0;
    const char *text = gpu ? "__global__ void twice(const float *x, float *y, int n)"
                             "{ int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
                           : "void twice(const float *x, float *y, int n)"
                             "{ for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }";
    json_t *call = json_pack("{s:s, s:[{s:s}, {s:s}, {s:i, s:s}]}", "symbol", "twice", "args", "tensor", "x", "tensor",
                             "y", "i32", N, "name", "n");
    if (gpu)
        json_object_update_new(call,
                               json_pack("{s:i, s:[i], s:[i], s:i}", "line", 1, "grid", 1, "block", N, "shared", 0));
    return json_pack("{s:s, s:[s], s:[{s:s, s:s}], s:[{s:[o]}]}", "lane", lane, "names", "twice", "sources", "name",
                     gpu ? "kernel.cu" : "kernel.c", "text", text, "workloads", "calls", call);
}

static json_t *task(const char *lane)
{
    return json_pack("{s:s, s:[{s:s, s:s}, {s:s, s:s, s:s}], s:[{s:s, s:{s:[i], s:[i]}}], s:o}", "name", "twice",
                     "tensors", "name", "x", "dtype", "f32", "name", "y", "dtype", "f32", "role", "output", "workloads",
                     "id", "n", "shapes", "x", N, "y", N, "reference", unit(lane));
}

static json_t *trial_of(const char *lane)
{
    json_t *message = trial_message(unit(lane), 20000);
    json_object_set_new(json_object_get(message, "time"), "launches", json_integer(3));
    json_object_set_new(json_object_get(message, "time"), "flush", json_false());
    return message;
}

static int set_up(void **state)
{
    *state = NULL;
    return ako_fs_temp_dir(folder, sizeof folder, "ako-test") == AKO_OK ? setenv("XDG_CACHE_HOME", folder, 1) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return ako_fs_remove_tree(folder);
}

/* The wait for the lock has no event then, and the trial does not end as INFRA after it. */
static int count_waits(void *payload, const ako_json *event)
{
    *(int *)payload += strcmp(text_of(event, "step"), "wait") == 0;
    return 0;
}

static void a_child_of_the_holder_does_not_wait(void **state)
{
    (void)state;
    ako_device_props cpu;
    ako_lock *lock;
    ako_json *answer;
    int waits = 0;
    assert_int_equal(ako_device_find(&cpu, "cpu"), AKO_OK);
    assert_int_equal(ako_lock_take(&lock, cpu.uuid, 0), AKO_OK);
    int64_t before = ako_clock_wall_ns();
    ako_evaluator *e = start("cpu");
    set_task(e, task("c"));
    assert_int_equal(ako_evaluator_request(e, &answer, trial_of("c"), count_waits, &waits), AKO_OK);
    int64_t after = ako_clock_wall_ns();
    assert_string_equal(text_of(answer, "status"), "PASSED");
    assert_int_equal(waits, 0);
    ako_lock *again; /* the child has freed nothing of ours */
    assert_int_equal(ako_lock_take(&again, cpu.uuid, 1), AKO_BUSY);
    const json_t *span = json_object_get(answer, "timed_at");
    int64_t began = json_integer_value(json_array_get(span, 0)), ended = json_integer_value(json_array_get(span, 1));
    assert_true(before < began && began < ended && ended < after);
    json_decref(answer);
    ako_evaluator_stop(e);
    ako_lock_release(lock);
}

static void a_cpu_has_no_list_of_strangers(void **state)
{
    (void)state;
    ako_evaluator *e = start("cpu");
    set_task(e, task("c"));
    json_t *answer = request(e, trial_of("c")), *tenants = json_object_get(answer, "tenants");
    assert_true(json_is_null(json_object_get(tenants, "before")));
    assert_true(json_is_null(json_object_get(tenants, "after")));
    assert_text(text_of(tenants, "note"), "CPU");
    assert_true(json_is_null(json_object_get(json_object_get(answer, "state"), "after")));
    const json_t *time = json_object_get(json_array_get(json_object_get(answer, "workloads"), 0), "time");
    assert_non_null(time);
    assert_null(json_object_get(time, "throttle"));
    json_decref(answer);
    ako_evaluator_stop(e);
}

/* A process of this test's, and so none of the evaluator's, that has a context until it is killed. */
static pid_t start_stranger(void)
{
    int ready[2];
    char byte = 'n';
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        ako_memory *memory;
        byte = ako_memory_new(&memory, AKO_GPU, 1 << 20) == AKO_OK ? 'y' : 'n';
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    assert_int_equal(byte, 'y');
    return pid;
}

static json_t *trial_on_gpu(ako_evaluator *e)
{
    json_t *answer = request(e, trial_of("cuda")), *tenants = json_object_get(answer, "tenants");
    char *text = json_dumps(tenants, 0), *state = json_dumps(json_object_get(answer, "state"), 0);
    print_message("%s %s\n", text, state);
    free(text);
    free(state);
    assert_string_equal(text_of(answer, "status"), "PASSED");
    return answer;
}

static int64_t strangers(const json_t *answer, const char *when)
{
    const json_t *n = json_object_get(json_object_get(answer, "tenants"), when);
    return json_is_integer(n) ? json_integer_value(n) : -1;
}

/* Nothing here may touch CUDA before the fork: a context does not survive it. */
static void a_stranger_on_the_gpu_is_seen_where_the_driver_shows_it(void **state)
{
    (void)state;
    if (access("/dev/nvidiactl", F_OK) != 0)
        skip();
    pid_t stranger = start_stranger();
    ako_evaluator *e = start("cuda:0");
    set_task(e, task("cuda"));
    json_t *with = trial_on_gpu(e);
    kill(stranger, SIGKILL);
    waitpid(stranger, NULL, 0);
    json_t *without = trial_on_gpu(e);
    const json_t *time = json_object_get(json_array_get(json_object_get(without, "workloads"), 0), "time");
    assert_non_null(json_object_get(time, "throttle"));
    assert_true(json_integer_value(json_object_get(time, "sm_clock_min_mhz")) > 0);
    if (strangers(with, "before") < 0) {
        assert_true(*text_of(json_object_get(with, "tenants"), "note") != '\0');
    } else {
        assert_int_equal(strangers(with, "before"), strangers(without, "before") + 1);
        assert_int_equal(strangers(with, "after"), strangers(without, "after") + 1);
    }
    json_decref(with);
    json_decref(without);
    ako_evaluator_stop(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_of_the_holder_does_not_wait),
        cmocka_unit_test(a_cpu_has_no_list_of_strangers),
        cmocka_unit_test(a_stranger_on_the_gpu_is_seen_where_the_driver_shows_it),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
