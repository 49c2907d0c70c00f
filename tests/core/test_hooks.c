/* Code that a program which has loaded libako runs in the Python lanes, and what such a lane is built from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "build.h"
#include "clock.h"
#include "confine.h"
#include "error.h"
#include "hooks.h"
#include "process.h"
#include "runner.h"
#include "timing.h"

static char story[256];

static ako_hooks hooks;

static void tell(const char *word)
{
    strcat(story, word);
    strcat(story, " ");
    hooks.status = AKO_OK;
}

static void on_start(int gpu)
{
    tell(gpu ? "gpu" : "cpu");
}

static void on_open(const char *path)
{
    if (strcmp(path, "bad") == 0)
        hooks.status = ako_fail_text(AKO_COMPILE, "python", "mine.py:3: no");
    else
        tell(path);
}

static void on_bind(const char *workload)
{
    tell(workload);
}

static void on_fill(int64_t seed, int known, int is_signed, double times, void *const *addresses)
{
    *(int64_t *)addresses[0] = known ? (int64_t)((double)seed * times) * (is_signed ? -1 : 1) : 0;
    tell("fill");
}

static void on_stage(void *const *addresses)
{
    (void)addresses;
    tell("stage");
}

static void on_launch(void)
{
    tell("launch");
}

static void on_release(int more)
{
    tell(more ? "keep" : "release");
}

static int set_up(void **state)
{
    (void)state;
    story[0] = '\0';
    hooks = (ako_hooks){.start = on_start,
                        .open = on_open,
                        .bind = on_bind,
                        .fill = on_fill,
                        .stage = on_stage,
                        .launch = on_launch,
                        .release = on_release};
    ako_hooks_set(&hooks);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ako_hooks_set(NULL);
    return 0;
}

static ako_runner *open_bound(void)
{
    ako_runner *runner;
    ako_call call = {.symbol = "N=4"};
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_PYTHON_CPU, "file"), AKO_OK);
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_OK);
    return runner;
}

static void a_call_has_three_steps(void **state)
{
    (void)state;
    ako_runner *runner = open_bound();
    assert_int_equal(ako_runner_call(runner, (void *[]){NULL}), AKO_OK);
    assert_int_equal(ako_runner_release(runner, (void *[]){NULL}), AKO_OK);
    assert_string_equal(story, "file N=4 stage launch release keep ");
    ako_runner_free(runner);
}

static void refuse_result(void)
{
    hooks.status = ako_fail_text(AKO_SHAPE, "python", "too small");
}

static void what_a_failed_call_has_returned_is_given_up(void **state)
{
    (void)state;
    const ako_returned nothing = {.layout = {.element = 4}};
    hooks.returned = &nothing;
    hooks.n_returned = 1;
    ako_runner *runner = open_bound();
    assert_int_equal(ako_runner_call(runner, (void *[]){NULL}), AKO_SHAPE);
    assert_string_equal(ako_error_last()->message, "the result has no memory");
    hooks.launch = refuse_result;
    assert_int_equal(ako_runner_call(runner, (void *[]){NULL}), AKO_SHAPE);
    assert_string_equal(ako_error_last()->message, "too small");
    assert_string_equal(story, "file N=4 stage launch keep stage keep ");
    ako_runner_free(runner);
}

static void end_without_an_answer(void)
{
}

static void fail_with_success(void)
{
    hooks.status = ako_fail_text(AKO_OK, "python", "all is well");
}

/* As after an exception that none of the interpreter's own code could handle. */
static void a_hook_that_says_nothing_has_failed(void **state)
{
    (void)state;
    ako_runner *runner = open_bound();
    hooks.launch = end_without_an_answer;
    assert_int_equal(ako_runner_call(runner, (void *[]){NULL}), AKO_ERROR);
    assert_string_equal(ako_error_last()->message, "raised something of which nothing can be said");
    hooks.launch = fail_with_success;
    assert_int_equal(ako_runner_call(runner, (void *[]){NULL}), AKO_ERROR);
    ako_runner_free(runner);
}

static void a_timed_call_is_staged_before_and_released_after(void **state)
{
    (void)state;
    ako_runner *runner = open_bound();
    ako_timer *timer;
    ako_time_result result;
    void *none = NULL, *const * sets[] = {&none};
    assert_int_equal(ako_timer_new(&timer, AKO_CPU, AKO_TIMER_WALL), AKO_OK);
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &(ako_time_plan){.launches = 2}, &result), AKO_OK);
    assert_int_equal(result.n, 2);
    assert_string_equal(story, "file N=4 stage launch keep stage launch keep ");
    free(result.samples_ns);
    ako_timer_free(timer);
    ako_runner_free(runner);
}

static void inputs_come_from_the_hook(void **state)
{
    (void)state;
    ako_runner *runner = open_bound();
    int64_t got = 0;
    ako_draw draw = {.seed = 77, .known = true, .times = 1};
    assert_int_equal(ako_runner_fill(runner, &draw, (void *[]){&got}), AKO_OK);
    assert_int_equal(got, 77);
    draw = (ako_draw){.seed = 7, .known = true, .is_signed = true, .times = 2};
    assert_int_equal(ako_runner_fill(runner, &draw, (void *[]){&got}), AKO_OK);
    assert_int_equal(got, -14);
    ako_runner_free(runner);
    assert_int_equal(ako_runner_nothing(&runner, AKO_CPU), AKO_OK);
    assert_int_equal(ako_runner_fill(runner, &draw, (void *[]){&got}), AKO_INVALID);
    ako_runner_free(runner);
}

static void a_hook_fails_in_its_own_words(void **state)
{
    (void)state;
    ako_runner *runner;
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_PYTHON_CPU, "bad"), AKO_COMPILE);
    assert_string_equal(ako_error_last()->message, "mine.py:3: no");
    ako_hooks_set(NULL);
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_PYTHON_CPU, "file"), AKO_INVALID);
}

static void roles_are_known_by_name(void **state)
{
    (void)state;
    assert_int_equal(ako_lane_place(AKO_LANE_PYTHON), AKO_GPU);
    assert_int_equal(ako_lane_place(AKO_LANE_PYTHON_CPU), AKO_CPU);
    assert_true(ako_lane_is_python(AKO_LANE_PYTHON_CPU) && !ako_lane_is_python(AKO_LANE_C));
}

/* What the problem draws is the same content only in one place. */
static void problem_inputs_have_no_slack(void **state)
{
    (void)state;
    json_t *json = json_loads("{\"tensors\":[{\"name\":\"x\",\"dtype\":\"f32\",\"init\":{\"kind\":\"problem\"}},"
                              "{\"name\":\"w\",\"dtype\":\"f32\",\"init\":{\"kind\":\"normal\"}},"
                              "{\"name\":\"y\",\"dtype\":\"f32\",\"role\":\"output\"}],"
                              "\"workloads\":[{\"id\":\"w\",\"shapes\":{\"x\":[8],\"w\":[8],\"y\":[8]}}]}",
                              0, NULL);
    ako_task *task;
    assert_int_equal(ako_task_parse(&task, json), AKO_OK);
    ako_unit_workload none = {0};
    ako_unit unit = {.workloads = &none};
    ako_arena arena;
    assert_int_equal(ako_arena_of_workload(&arena, task, &unit, 0), AKO_OK);
    assert_int_equal(arena.spans[0].slack, 0);
    assert_true(arena.spans[1].slack > 0 && arena.spans[2].slack > 0);
    ako_arena_free(&arena);
    ako_task_free(task);
    json_decref(json);
}

static void files_become_one_bundle(void **state)
{
    (void)state;
    const ako_source files[] = {{.name = "mine.py", .text = "a = \"\\u00e9\"\n", .size = 13},
                                {.name = "sub/helper.py", .text = "b = 2\n", .size = 6}};
    ako_build_input input = {.lane = AKO_LANE_PYTHON_CPU, .sources = files, .n_sources = 2};
    ako_build_output first, again;
    assert_int_equal(ako_build(&first, &input), AKO_OK);
    assert_true(first.ok);
    json_t *bundle = json_load_file(first.path, 0, NULL), *list = json_object_get(bundle, "files");
    assert_int_equal(json_array_size(list), 2);
    const json_t *second = json_array_get(list, 1);
    assert_string_equal(json_string_value(json_object_get(second, "name")), "sub/helper.py");
    assert_string_equal(json_string_value(json_object_get(second, "text")), "b = 2\n");
    json_decref(bundle);
    assert_int_equal(ako_build(&again, &input), AKO_OK);
    assert_true(again.cached);
    assert_string_equal(again.hash, first.hash);
    ako_build_output_free(&first);
    ako_build_output_free(&again);
}

/* In a child: what it may do before and after it is settled, as an exit code. */
static int settle_in_a_child(void)
{
    char folder[] = "/tmp/ako-settle-XXXXXX", report[160];
    ako_confinement c;
    if (!mkdtemp(folder))
        return 1;
    ako_confine_process(&c, AKO_CPU, folder);
    ako_confine_code(&c, AKO_CPU, true);
    if (strncmp(c.seccomp, "unavailable", 11) == 0)
        return 77;
    if (strcmp(c.seccomp, "filter, programs allowed until timing") != 0 || system("true") != 0)
        return 2;
    if (!ako_confine_settle(report, sizeof report, AKO_CPU) || strcmp(report, "filter") != 0)
        return 3;
    return fork() < 0 && system("true") != 0 ? 0 : 4;
}

static void programs_are_allowed_until_it_is_settled(void **state)
{
    (void)state;
    int how;
    pid_t pid = fork();
    if (pid == 0)
        _exit(settle_in_a_child());
    assert_int_equal(waitpid(pid, &how, 0), pid);
    if (WEXITSTATUS(how) == 77) {
        print_message("no seccomp here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(how), 0);
}

static void helpers_of_a_process_are_ended_and_it_is_not(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "sleep 1000 & sleep 1000 & echo ready; read line; wait; echo $line", NULL};
    int in[2], out[2];
    char text[8] = "";
    pid_t pid;
    assert_int_equal(pipe(in) | pipe(out), 0);
    ako_spawn spawn = {.argv = argv, .stdin_fd = in[0], .stdout_fd = out[1], .stderr_fd = -1, .channel_fd = -1};
    assert_int_equal(ako_process_spawn(&pid, &spawn), AKO_OK);
    assert_int_equal(read(out[0], text, 6), 6); /* both are there; the last line comes once they have ended */
    assert_int_equal(ako_process_kill_helpers(pid, ako_clock_ns() + INT64_C(5000000000)), AKO_OK);
    assert_int_equal(write(in[1], "hello\n", 6), 6);
    assert_int_equal(read(out[0], text, 6), 6);
    assert_string_equal(text, "hello\n");
    ako_process_kill_tree(pid, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_has_three_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_failed_call_has_returned_is_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_timed_call_is_staged_before_and_released_after, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inputs_come_from_the_hook, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hook_fails_in_its_own_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hook_that_says_nothing_has_failed, set_up, tear_down),
        cmocka_unit_test(roles_are_known_by_name),
        cmocka_unit_test(problem_inputs_have_no_slack),
        cmocka_unit_test(files_become_one_bundle),
        cmocka_unit_test(programs_are_allowed_until_it_is_settled),
        cmocka_unit_test(helpers_of_a_process_are_ended_and_it_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
