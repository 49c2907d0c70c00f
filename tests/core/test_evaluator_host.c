/* The host's end of an evaluator: signals that the evaluator gets from below, and the folder for temporary files. They
 * come from the reference here, as a candidate may not send any where the kernel confines it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <jansson.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cancel.h"
#include "trials.h"

#define SIGNATURE "void copy(const float *x, float *y, int n)"
#define LOOP "for (int i = 0; i < n; i++) y[i] = x[i];"
#define GOOD SIGNATURE "{ " LOOP " }"
#define SIGNALS "#include <signal.h>\n#include <unistd.h>\n" SIGNATURE

static char folder[4096];

static json_t *unit(const char *source)
{
    return json_pack("{s:s, s:[{s:s, s:s}], s:[{s:[{s:s, s:[{s:s}, {s:s}, {s:i, s:s}]}]}]}", "lane", "c", "sources",
                     "name", "kernel.c", "text", source, "workloads", "calls", "symbol", "copy", "args", "tensor", "x",
                     "tensor", "y", "i32", 64, "name", "n");
}

static json_t *task(const char *reference)
{
    return json_pack("{s:s, s:[{s:s, s:s, s:s}, {s:s, s:s, s:s}], s:[{s:s, s:{s:[i], s:[i]}}], s:{s:s, s:f, s:f}, s:o}",
                     "name", "copy", "tensors", "name", "x", "dtype", "f32", "role", "input", "name", "y", "dtype",
                     "f32", "role", "output", "workloads", "id", "n=64", "shapes", "x", 64, "y", 64, "tolerance",
                     "predicate", "allclose_out", "atol", 1e-5, "rtol", 1e-5, "reference", unit(reference));
}

static int set_up(void **state)
{
    assert_int_equal(ako_fs_temp_dir(folder, sizeof folder, "ako-test"), AKO_OK);
    setenv("XDG_CACHE_HOME", folder, 1);
    char temp[4200];
    snprintf(temp, sizeof temp, "%s/tmp", folder);
    assert_int_equal(mkdir(temp, 0700), 0);
    setenv("TMPDIR", temp, 1);
    *state = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unsetenv("TMPDIR");
    return ako_fs_remove_tree(folder);
}

static int count_temporary(void)
{
    int n = 0;
    DIR *dir = opendir(getenv("TMPDIR"));
    assert_non_null(dir);
    for (struct dirent *d; (d = readdir(dir)) != NULL;)
        n += d->d_name[0] != '.';
    closedir(dir);
    return n;
}

static ako_evaluator *start_with_task(const char *reference)
{
    ako_evaluator *e = start("cpu");
    set_task(e, task(reference));
    return e;
}

static void assert_passes(void)
{
    ako_evaluator *e = start_with_task(GOOD);
    json_t *answer = request(e, trial_message(unit(GOOD), 20000));
    assert_string_equal(text_of(answer, "status"), "PASSED");
    json_decref(answer);
    ako_evaluator_stop(e);
}

/* Nobody asked for an interruption, so it must not look like one. */
static void test_terminated_from_below(void **state)
{
    (void)state;
    ako_evaluator *e =
        start_with_task(SIGNALS "{ kill(getppid(), SIGTERM); for (;;) pause(); (void)x, (void)y, (void)n; }");
    ako_json *answer;
    assert_int_equal(ako_evaluator_request(e, &answer, trial_message(unit(GOOD), 20000), NULL, NULL), AKO_CHILD);
    assert_string_equal(ako_error_last()->message, "the evaluator was told to stop by a signal");
    assert_null(answer);
    ako_evaluator_stop(e);
    assert_passes();
}

/* Who ends a host and all below it may reach the evaluator first: the wish to stop is what counts. */
static void test_ended_while_we_are_to_stop(void **state)
{
    (void)state;
    ako_evaluator *e =
        start_with_task(SIGNALS "{ kill(getppid(), SIGKILL); for (;;) pause(); (void)x, (void)y, (void)n; }");
    ako_json *answer;
    ako_cancel_request();
    assert_int_equal(ako_evaluator_request(e, &answer, trial_message(unit(GOOD), 20000), NULL, NULL), AKO_CANCELLED);
    assert_true(ako_cancel_requested());
    ako_cancel_clear();
    ako_evaluator_stop(e);
    assert_passes();
}

static void test_stopped_from_below(void **state)
{
    (void)state;
    ako_evaluator *e = start_with_task(SIGNALS "{ static int once; if (!once++) kill(getppid(), SIGSTOP); " LOOP " }");
    json_t *answer = request(e, trial_message(unit(GOOD), 60000));
    assert_string_equal(text_of(answer, "status"), "PASSED");
    json_decref(answer);
    set_task(e, task(SIGNALS "{ kill(getppid(), SIGSTOP); for (;;) pause(); (void)x, (void)y, (void)n; }"));
    answer = request(e, trial_message(unit(GOOD), 100));
    assert_string_equal(text_of(answer, "status"), "INVALID_REFERENCE");
    assert_text(text_of(answer, "reason"), "did not finish within the check limit");
    json_decref(answer);
    ako_evaluator_stop(e);
}

static void test_nothing_temporary_stays(void **state)
{
    (void)state;
    ako_evaluator *e = start_with_task(GOOD);
    assert_int_equal(count_temporary(), 1);
    ako_evaluator_stop(e); /* while the reference is being built */
    assert_int_equal(count_temporary(), 0);
    assert_passes();
    assert_int_equal(count_temporary(), 0);
}

/* A killed host cannot clear up; the next one does, and leaves alone what is in use or somebody else's. */
static void test_the_next_host_clears_up(void **state)
{
    (void)state;
    pid_t host = fork();
    if (host == 0) {
        start("cpu");
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(host, NULL, 0), host);
    assert_int_equal(count_temporary(), 1);
    char other[4200];
    snprintf(other, sizeof other, "%s/ako-runs-of-mine", getenv("TMPDIR"));
    assert_int_equal(mkdir(other, 0700), 0);
    ako_evaluator *first = start("cpu"), *second = start("cpu");
    assert_int_equal(count_temporary(), 3);
    ako_evaluator_stop(first);
    ako_evaluator_stop(second);
    assert_int_equal(count_temporary(), 1);
}

static void test_no_folder_for_temporary_files(void **state)
{
    (void)state;
    ako_evaluator *e;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    assert_int_equal(ako_evaluator_start(&e, NULL), AKO_UNAVAILABLE);
    assert_null(e);
    setenv("AKO_WORKER", "/bin/true", 1);
    assert_int_equal(ako_evaluator_start(&e, NULL), AKO_UNAVAILABLE);
    unsetenv("AKO_WORKER");
    assert_text(ako_error_last()->message, "/nowhere/at/all (TMPDIR): No such file or directory");
    assert_null(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_terminated_from_below, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ended_while_we_are_to_stop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stopped_from_below, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_temporary_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_next_host_clears_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_folder_for_temporary_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
