/* Whole trials on the CPU with real processes: good candidates, and every way in which a bad one can fail. After each
 * bad one the same evaluator must judge a good one rightly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base64.h"
#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "evaluator.h"
#include "fs.h"
#include "trials.h"

#define SIGNATURE "void twice(const float *x, float *y, int n)"
#define GOOD SIGNATURE "{ for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }"

static char folder[4096];

static json_t *unit(const char *source)
{
    json_t *workloads = json_array();
    for (int n = 1000; n <= 1001; n++)
        json_array_append_new(workloads,
                              json_pack("{s:[{s:s, s:[{s:s}, {s:s}, {s:i, s:s}]}]}", "calls", "symbol", "twice", "args",
                                        "tensor", "x", "tensor", "y", "i32", n, "name", "n"));
    return json_pack("{s:s, s:[{s:s, s:s}], s:o}", "lane", "c", "sources", "name", "kernel.c", "text", source,
                     "workloads", workloads);
}

static json_t *task(const char *reference)
{
    return json_pack("{s:s, s:[{s:s, s:s, s:s}, {s:s, s:s, s:s}], s:[{s:s, s:{s:[i], s:[i]}}, {s:s, s:{s:[i], s:[i]}}],"
                     " s:{s:s, s:f, s:f}, s:o}",
                     "name", "twice", "tensors", "name", "x", "dtype", "f32", "role", "input", "name", "y", "dtype",
                     "f32", "role", "output", "workloads", "id", "n=1000", "shapes", "x", 1000, "y", 1000, "id",
                     "n=1001", "shapes", "x", 1001, "y", 1001, "tolerance", "predicate", "allclose_out", "atol", 1e-5,
                     "rtol", 1e-5, "reference", unit(reference));
}

static int set_up(void **state)
{
    assert_int_equal(ako_fs_temp_dir(folder, sizeof folder, "ako-test"), AKO_OK);
    setenv("XDG_CACHE_HOME", folder, 1);
    ako_evaluator *e = start("cpu");
    set_task(e, task(GOOD));
    *state = e;
    return 0;
}

static int tear_down(void **state)
{
    ako_evaluator_stop(*state);
    return ako_fs_remove_tree(folder);
}

static json_t *try(ako_evaluator *e, const char *source, int64_t limit_ms)
{
    return request(e, trial_message(unit(source), limit_ms));
}

static void assert_passes(ako_evaluator *e)
{
    json_t *answer = try(e, GOOD, 20000);
    if (strcmp(text_of(answer, "status"), "PASSED") != 0)
        fail_msg("a good candidate: %s: %s", text_of(answer, "status"), text_of(answer, "reason"));
    const json_t *entry = json_array_get(json_object_get(answer, "workloads"), 1);
    assert_true(json_number_value(json_object_get(entry, "max_abs")) == 0);
    assert_int_equal(json_integer_value(json_object_get(entry, "count")), 1001);
    json_decref(answer);
}

/* One bad candidate, then a good one on the same evaluator. */
static void assert_verdict(ako_evaluator *e, const char *source, const char *status, const char *code,
                           const char *reason)
{
    json_t *answer = try(e, source, 20000);
    if (strcmp(text_of(answer, "status"), status) != 0)
        fail_msg("%s instead of %s: %s", text_of(answer, "status"), status, text_of(answer, "reason"));
    assert_string_equal(text_of(answer, "code"), code);
    assert_text(text_of(answer, "reason"), reason);
    json_decref(answer);
    assert_passes(e);
}

static void test_good(void **state)
{
    json_t *answer = try(*state, GOOD, 20000);
    assert_string_equal(text_of(answer, "status"), "PASSED");
    assert_string_equal(text_of(answer, "reason"), "");
    assert_int_equal(strlen(text_of(json_object_get(answer, "build"), "hash")), 40);
    const json_t *workloads = json_object_get(answer, "workloads");
    assert_int_equal(json_array_size(workloads), 2);
    for (size_t w = 0; w < 2; w++) {
        const json_t *entry = json_array_get(workloads, w);
        assert_string_equal(text_of(entry, "status"), "PASSED");
        assert_int_equal(json_integer_value(json_object_get(entry, "mismatch")), 0);
        static const char *const sides[] = {"time", "reference"};
        for (size_t s = 0; s < 2; s++) {
            const json_t *time = json_object_get(entry, sides[s]), *samples = json_object_get(time, "samples_ns");
            json_int_t min = json_integer_value(json_object_get(time, "min"));
            assert_int_equal(json_array_size(samples), 30);
            assert_int_equal(json_integer_value(json_object_get(time, "n")), 30);
            assert_string_equal(text_of(time, "timer"), "wall");
            assert_true(min > 0 && min <= json_integer_value(json_object_get(time, "max")));
            assert_true((double)min <= json_number_value(json_object_get(time, "median")));
            assert_int_equal(json_array_size(json_object_get(time, "ci")), 2);
        }
    }
    const json_t *costs = json_object_get(answer, "costs_ns");
    assert_true(json_integer_value(json_object_get(costs, "check")) > 0);
    assert_true(json_integer_value(json_object_get(costs, "total")) >=
                json_integer_value(json_object_get(costs, "time")));
    json_decref(answer);
}

static void test_wrong_numbers(void **state)
{
    assert_verdict(*state, SIGNATURE "{ for (int i = 0; i < n; i++) y[i] = 3 * x[i]; }", "INCORRECT_NUMERICAL",
                   "numerical", "elements of 'y' are wrong");
}

static void test_wrong_at_odd_sizes(void **state)
{
    json_t *answer =
        try(*state, SIGNATURE "{ for (int i = 0; i < n; i++) y[i] = 2 * x[i]; if (n % 2) y[n - 1] += 1; }", 20000);
    assert_string_equal(text_of(answer, "status"), "INCORRECT_NUMERICAL");
    assert_text(text_of(answer, "reason"), "workload n=1001: 1 of 1001 elements of 'y' are wrong, the first at 1000");
    const json_t *workloads = json_object_get(answer, "workloads");
    assert_string_equal(text_of(json_array_get(workloads, 0), "status"), "PASSED");
    assert_string_equal(text_of(json_array_get(workloads, 1), "status"), "INCORRECT_NUMERICAL");
    assert_null(json_object_get(json_array_get(workloads, 0), "time"));
    json_decref(answer);
    assert_passes(*state);
}

static void test_never_written(void **state)
{
    assert_verdict(*state, SIGNATURE "{ (void)x; (void)y; (void)n; }", "INCORRECT_NUMERICAL", "unwritten",
                   "1000 of 1000 elements of 'y' were never written");
}

static void test_half_written(void **state)
{
    assert_verdict(*state, SIGNATURE "{ for (int i = 0; i < n / 2; i++) y[i] = 2 * x[i]; }", "INCORRECT_NUMERICAL",
                   "unwritten", "500 of 1000 elements of 'y' were never written");
}

static void test_all_zero(void **state)
{
    assert_verdict(*state, SIGNATURE "{ (void)x; for (int i = 0; i < n; i++) y[i] = 0; }", "INCORRECT_NUMERICAL",
                   "numerical", "all are zero");
}

static void test_nan(void **state)
{
    assert_verdict(*state,
                   "#include <math.h>\n" SIGNATURE "{ (void)x; for (int i = 0; i < n; i++) y[i] = (float)NAN; }",
                   "INCORRECT_NUMERICAL", "numerical", "NaN");
}

static void test_past_the_end(void **state)
{
    assert_verdict(*state, SIGNATURE "{ for (int i = 0; i <= n; i++) y[i] = 2 * x[i < n ? i : 0]; }", "RUNTIME_ERROR",
                   "overrun", "wrote past the end of 'y' (first at its end + 0 bytes)");
}

static void test_before_the_start(void **state)
{
    assert_verdict(*state, SIGNATURE "{ for (int i = 0; i < n; i++) y[i] = 2 * x[i]; y[-2] = 0; }", "RUNTIME_ERROR",
                   "overrun", "wrote before the start of 'y' (first at its start - 8 bytes)");
}

static void test_changed_input(void **state)
{
    assert_verdict(*state, SIGNATURE "{ for (int i = 0; i < n; i++) y[i] = 2 * x[i]; ((float *)x)[7] = 0; }",
                   "REWARD_HACK", "W4", "changed its input 'x'");
}

static void test_segfault(void **state)
{
    assert_verdict(*state, SIGNATURE "{ (void)x; (void)y; *(volatile int *)8 = n; }", "RUNTIME_ERROR", "crash",
                   "killed by SIGSEGV");
}

static void test_segfault_after_overrun(void **state)
{
    assert_verdict(*state, SIGNATURE "{ y[n] = x[0]; *(volatile int *)8 = n; }", "RUNTIME_ERROR", "crash",
                   "wrote past the end of 'y'");
}

static void test_abort(void **state)
{
    assert_verdict(*state, "#include <stdlib.h>\n" SIGNATURE "{ (void)x; (void)y; (void)n; abort(); }", "RUNTIME_ERROR",
                   "crash", "killed by SIGABRT");
}

static void test_exit(void **state)
{
    assert_verdict(*state, "#include <stdlib.h>\n" SIGNATURE "{ (void)x; (void)y; (void)n; exit(0); }", "RUNTIME_ERROR",
                   "crash", "exit 0");
}

static void test_crash_while_loading(void **state)
{
    assert_verdict(*state, "__attribute__((constructor)) static void load(void) { *(volatile int *)8 = 0; }\n" GOOD,
                   "RUNTIME_ERROR", "crash", "during load: killed by SIGSEGV");
}

static void assert_late(ako_evaluator *e, const char *source)
{
    json_t *answer = try(e, source, 300);
    assert_string_equal(text_of(answer, "status"), "TIMEOUT");
    assert_string_equal(text_of(answer, "step"), "check");
    assert_text(text_of(answer, "reason"), "limit of 0.3 s");
    json_decref(answer);
    assert_passes(e);
}

static void test_endless(void **state)
{
    assert_late(*state, SIGNATURE "{ (void)x; (void)y; for (volatile int i = n; i; ) ; }");
}

/* Processes whose command line or name holds `word`. */
static int count_processes(const char *word)
{
    int found = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *d; proc && (d = readdir(proc)) != NULL;) {
        char path[300], text[256] = "";
        snprintf(path, sizeof path, "/proc/%.20s/comm", d->d_name);
        FILE *f = fopen(path, "re");
        if (f && fgets(text, sizeof text, f) && strstr(text, word))
            found++;
        if (f)
            fclose(f);
    }
    if (proc)
        closedir(proc);
    return found;
}

#define FORKING                                                                                                   \
    "#include <signal.h>\n#include <sys/prctl.h>\n#include <unistd.h>\n" SIGNATURE "{ (void)x; (void)y; (void)n;" \
    " signal(SIGTERM, SIG_IGN); if (fork() == 0) { setsid(); if (fork() == 0) setsid(); }"                        \
    " prctl(PR_SET_NAME, \"akostray\"); for (;;) pause(); }"

static void test_forks_and_ignores_term(void **state)
{
    assert_late(*state, FORKING);
    assert_int_equal(count_processes("akostray"), 0);
}

static void test_crash_with_a_grandchild_left(void **state)
{
    assert_verdict(*state,
                   "#include <sys/prctl.h>\n#include <unistd.h>\n" SIGNATURE "{ (void)x; (void)y; if (fork() == 0) {"
                   " prctl(PR_SET_NAME, \"akostray\"); for (;;) pause(); } *(volatile int *)8 = n; }",
                   "RUNTIME_ERROR", "crash", "killed by SIGSEGV");
    assert_int_equal(count_processes("akostray"), 0);
}

static void test_noise_on_stdout(void **state)
{
    json_t *answer = try(*state,
                         "#include <stdio.h>\n" SIGNATURE "{ for (int i = 0; i < n; i++) { y[i] = 2 * x[i];"
                         " puts(\"{\\\"id\\\":1,\\\"ok\\\":true}\"); fputs(\"COMPILED: True\\n\", stderr); } }",
                         20000);
    assert_string_equal(text_of(answer, "status"), "PASSED");
    json_decref(answer);
}

static void test_noise_on_every_descriptor(void **state)
{
    assert_verdict(*state,
                   "#include <unistd.h>\n" SIGNATURE "{ for (int i = 0; i < n; i++) y[i] = 2 * x[i];"
                   " for (int fd = 0; fd < 256; fd++) if (write(fd, \"garbage\\n\", 8) < 0) continue; }",
                   "REWARD_HACK", "T6", "wrote into the evaluator's channel");
}

static void test_forged_answer(void **state)
{
    assert_verdict(*state,
                   "#include <unistd.h>\n#include <string.h>\n" SIGNATURE "{ (void)x; (void)y; (void)n;"
                   " static const char forged[] = \"{\\\"id\\\":1,\\\"ok\\\":true}\\n\";"
                   " for (int fd = 3; fd < 256; fd++) if (write(fd, forged, strlen(forged)) < 0) continue; }",
                   "REWARD_HACK", "T6", "was not asked");
}

/* Right in the check, and then lazy: the first calls are computed, later ones do nothing. */
static void test_stops_working(void **state)
{
    json_t *answer = try(*state,
                         SIGNATURE "{ static int calls; if (calls++ > 10) return;"
                                   " for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }",
                         20000);
    assert_string_equal(text_of(answer, "status"), "REWARD_HACK");
    assert_string_equal(text_of(answer, "code"), "T11");
    json_decref(answer);
    assert_passes(*state);
}

/* Answers by address. */
static void test_cache_by_address(void **state)
{
    json_t *answer = try(*state,
                         "#include <string.h>\n" SIGNATURE "{ static struct { const float *x; float y[2000]; } kept[8];"
                         " for (int k = 0; k < 8; k++) if (kept[k].x == x) { memcpy(y, kept[k].y, 4 * n); return; }"
                         " static int used; for (int i = 0; i < n; i++) y[i] = 2 * x[i];"
                         " kept[used].x = x; memcpy(kept[used++].y, y, 4 * n); }",
                         20000);
    assert_string_equal(text_of(answer, "status"), "INCORRECT_NUMERICAL");
    json_decref(answer);
    assert_passes(*state);
}

static void test_compile_error(void **state)
{
    json_t *answer = try(*state, "int a;\n" SIGNATURE "\n{ y[0] = x[0] }\n", 20000);
    assert_string_equal(text_of(answer, "status"), "COMPILE_ERROR");
    assert_string_equal(text_of(answer, "step"), "build");
    const json_t *error = json_object_get(json_object_get(answer, "build"), "error");
    assert_string_equal(text_of(error, "file"), "kernel.c");
    assert_int_equal(json_integer_value(json_object_get(error, "line")), 3);
    assert_text(text_of(answer, "reason"), "kernel.c:3: ");
    json_decref(answer);
    assert_passes(*state);
}

static void test_missing_entry(void **state)
{
    json_t *answer = try(*state, "void other(void) {}", 20000);
    assert_string_equal(text_of(answer, "status"), "COMPILE_ERROR");
    assert_text(text_of(answer, "reason"), "twice");
    json_decref(answer);
    assert_passes(*state);
}

static void assert_invalid_reference(ako_evaluator *e, const char *reference, const char *reason)
{
    set_task(e, task(reference));
    for (int i = 0; i < 2; i++) { /* the second time too, with a referee that may be a new one */
        json_t *answer = try(e, GOOD, 2000);
        if (strcmp(text_of(answer, "status"), "INVALID_REFERENCE") != 0)
            fail_msg("%s: %s", text_of(answer, "status"), text_of(answer, "reason"));
        assert_text(text_of(answer, "reason"), reason);
        json_decref(answer);
    }
    set_task(e, task(GOOD));
    assert_passes(e);
}

static void test_bad_references(void **state)
{
    assert_invalid_reference(*state, SIGNATURE "{ y[0] = x[0] }", "kernel.c:1: ");
    assert_invalid_reference(*state, "void other(void) {}", "twice");
    assert_invalid_reference(*state, SIGNATURE "{ (void)x; (void)y; *(volatile int *)8 = n; }", "killed by SIGSEGV");
    assert_invalid_reference(*state, SIGNATURE "{ (void)x; (void)y; (void)n; }", "1000 NaN");
    assert_invalid_reference(*state, SIGNATURE "{ for (int i = 0; i <= n; i++) y[i] = x[i % n]; }",
                             "wrote past the end of 'y'");
    assert_invalid_reference(*state, SIGNATURE "{ for (int i = 0; i < n; i++) y[i] = x[i]; ((float *)x)[0] = 5; }",
                             "changed its input 'x'");
}

static void assert_could_not_say(ako_evaluator *e, const char *source, const char *code)
{
    json_t *answer = try(e, source, 20000);
    if (strcmp(text_of(answer, "status"), "INFRA") != 0)
        fail_msg("%s: %s", text_of(answer, "status"), text_of(answer, "reason"));
    assert_string_equal(text_of(answer, "code"), code);
    assert_text(text_of(answer, "reason"), "killed by SIGKILL");
    json_decref(answer);
}

/* A compiler that kills itself, or the builder that has started it, as a source says. */
static void write_deadly_compiler(void)
{
    static const char text[] = "#!/bin/sh\n"
                               "case \"$* $(cat kernel.c 2>/dev/null)\" in\n"
                               "*-shared*killsitself*) kill -9 $$ ;;\n"
                               "*-shared*killsitsbuilder*) kill -9 $PPID; sleep 60 ;;\n"
                               "esac\n"
                               "exec cc \"$@\"\n";
    char path[sizeof folder + 8];
    snprintf(path, sizeof path, "%s/cc.sh", folder);
    assert_int_equal(ako_fs_write(path, text, sizeof text - 1, false), AKO_OK);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("CC", path, 1);
}

/* The kernel's killer, where memory runs out, is no fault of a reference's or of a source's. */
static void test_killed_by_others(void **state)
{
    (void)state;
    write_deadly_compiler();
    ako_evaluator *e = start("cpu");
    unsetenv("CC");
    set_task(e, task("int raise(int); " SIGNATURE "{ y[0] = x[n - 1]; raise(9); }"));
    assert_could_not_say(e, GOOD, "KILLED");
    set_task(e, task(GOOD));
    assert_passes(e);
    assert_could_not_say(e, "int killsitself; " GOOD, "KILLED");
    assert_could_not_say(e, "int killsitsbuilder; " GOOD, "KILLED");
    assert_passes(e);
    set_task(e, task("int killsitself; " GOOD));
    assert_could_not_say(e, GOOD, "KILLED");
    set_task(e, task("int killsitsbuilder; " GOOD));
    assert_could_not_say(e, GOOD, "KILLED");
    ako_evaluator_stop(e);
}

static void test_endless_reference(void **state)
{
    set_task(*state, task(SIGNATURE "{ (void)x; (void)y; for (volatile int i = n; i; ) ; }"));
    json_t *answer = try(*state, GOOD, 300);
    assert_string_equal(text_of(answer, "status"), "INVALID_REFERENCE");
    assert_text(text_of(answer, "reason"), "did not finish");
    json_decref(answer);
    set_task(*state, task(GOOD));
    assert_passes(*state);
}

static void assert_refused(ako_evaluator *e, json_t *message, const char *reason)
{
    ako_json *answer;
    assert_int_equal(ako_evaluator_request(e, &answer, message, NULL, NULL), AKO_INVALID);
    assert_text(ako_error_last()->message, reason);
}

static void test_malformed_requests(void **state)
{
    assert_refused(*state, json_pack("{s:s}", "op", "nonsense"), "unknown op 'nonsense'");
    assert_refused(*state, json_pack("{s:s}", "op", "trial"), "steps");
    json_t *wrong = trial_message(unit(GOOD), 1000);
    json_object_set_new(json_object_get(wrong, "unit"), "workloads", json_array());
    assert_refused(*state, wrong, "trial.unit.workloads: 0, but the task has 2");
    assert_passes(*state);
}

static int cancel_at_once(void *payload, const ako_json *event)
{
    (void)event;
    ++*(int *)payload;
    return 1;
}

static void test_cancel_by_progress(void **state)
{
    ako_json *answer;
    int calls = 0;
    int status = ako_evaluator_request(*state, &answer, trial_message(unit(GOOD), 20000), cancel_at_once, &calls);
    assert_int_equal(status, AKO_CANCELLED);
    assert_int_equal(calls, 1);
    assert_passes(*state);
}

/* y += x and z = s after a detour through scratch: an inout tensor and a scratch buffer in one task. */
static json_t *accumulating_unit(const char *source)
{
    return json_pack("{s:s, s:[{s:s, s:s}], s:[{s:[{s:s, s:s, s:[i]}], s:[{s:s, s:[{s:s}, {s:s}, {s:s}, {s:i}]}]}]}",
                     "lane", "c", "sources", "name", "kernel.c", "text", source, "workloads", "scratch", "name", "s",
                     "dtype", "f32", "shape", 500, "calls", "symbol", "add", "args", "tensor", "x", "tensor", "y",
                     "tensor", "s", "i32", 500);
}

#define ADD "void add(const float *x, float *y, float *s, int n)"
#define GOOD_ADD ADD "{ for (int i = 0; i < n; i++) s[i] = x[i]; for (int i = 0; i < n; i++) y[i] += s[i]; }"

static const char *try_add(ako_evaluator *e, const char *source, char reason[1000])
{
    static char status[64];
    json_t *answer = request(e, trial_message(accumulating_unit(source), 20000));
    snprintf(status, sizeof status, "%s", text_of(answer, "status"));
    snprintf(reason, 1000, "%s", text_of(answer, "reason"));
    json_decref(answer);
    return status;
}

static void test_inout_and_scratch(void **state)
{
    char reason[1000];
    set_task(*state, json_pack("{s:[{s:s, s:s}, {s:s, s:s, s:s}], s:[{s:s, s:{s:[i], s:[i]}}], s:o}", "tensors", "name",
                               "x", "dtype", "f32", "name", "y", "dtype", "f32", "role", "inout", "workloads", "id",
                               "n=500", "shapes", "x", 500, "y", 500, "reference", accumulating_unit(GOOD_ADD)));
    assert_string_equal(try_add(*state, GOOD_ADD, reason), "PASSED");
    assert_string_equal(try_add(*state, ADD "{ (void)s; for (int i = 0; i < n; i++) y[i] = x[i]; }", reason),
                        "INCORRECT_NUMERICAL");
    assert_text(reason, "elements of 'y' are wrong");
    assert_string_equal(try_add(*state, ADD "{ for (int i = 0; i < n; i++) y[i] += x[i]; s[n] = 1; }", reason),
                        "RUNTIME_ERROR");
    assert_text(reason, "past the end of 's'");
    /* Scratch is poisoned: nothing can be kept in it from one call to the next in the check. */
    assert_string_equal(try_add(*state, ADD "{ for (int i = 0; i < n; i++) y[i] += x[i] + 0 * s[i]; }", reason),
                        "INCORRECT_NUMERICAL");
    assert_string_equal(try_add(*state, GOOD_ADD, reason), "PASSED");
    set_task(*state, task(GOOD));
    assert_passes(*state);
}

static void test_one_step(void **state)
{
    json_t *message = trial_message(unit(GOOD), 20000);
    json_object_set_new(message, "steps", json_pack("[s]", "build"));
    json_t *answer = request(*state, message);
    assert_string_equal(text_of(answer, "status"), "PASSED");
    assert_string_equal(text_of(answer, "step"), "build");
    json_decref(answer);
}

/* Never fewer launches than the least; more as far as time goes, up to the most. */
static void test_launches_by_time(void **state)
{
    const json_int_t budgets[] = {1, INT64_C(3600000000000)}, wanted[] = {30, 47};
    for (int i = 0; i < 2; i++) {
        json_t *message = trial_message(unit(GOOD), 20000), *time = json_object_get(message, "time");
        json_object_set_new(message, "steps", json_pack("[s, s]", "build", "time"));
        json_object_set_new(time, "budget", json_integer(budgets[i]));
        json_object_set_new(time, "most", json_integer(47));
        json_t *answer = request(*state, message);
        assert_string_equal(text_of(answer, "status"), "PASSED");
        const json_t *entry = json_array_get(json_object_get(answer, "workloads"), 0);
        assert_string_equal(text_of(entry, "status"), "PASSED");
        assert_int_equal(json_integer_value(json_object_get(json_object_get(entry, "time"), "n")), wanted[i]);
        json_decref(answer);
    }
}

/* Runs 60 ms, so that its goldens are kept: a second trial of the same seeds must not run it again. */
static void test_slow_reference(void **state)
{
    char source[600], path[4200];
    snprintf(path, sizeof path, "%s/calls", folder);
    snprintf(source, sizeof source,
             "#include <stdio.h>\n#include <unistd.h>\n" SIGNATURE
             "{ FILE *f = fopen(\"%.200s\", \"a\"); fputc('.', f);"
             " fclose(f); usleep(60000); for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }",
             path);
    set_task(*state, task(source));
    size_t before = 0;
    for (int i = 0; i < 2; i++) {
        ako_buf calls = {0};
        json_t *message = trial_message(unit(GOOD), 20000);
        json_object_set_new(message, "steps", json_pack("[s, s]", "build", "check"));
        json_decref(request(*state, message));
        assert_int_equal(ako_fs_read(&calls, path, 0), AKO_OK);
        assert_true(i == 0 ? calls.size == 6 : calls.size == before);
        before = calls.size;
        ako_buf_free(&calls);
    }
    set_task(*state, task(GOOD));
}

static void test_no_gpu_here(void **state)
{
    ako_json *answer;
    json_t *message = trial_message(unit(GOOD), 1000), *solution = json_object_get(message, "unit");
    json_object_set_new(solution, "lane", json_string("cuda-host"));
    assert_int_equal(ako_evaluator_request(*state, &answer, message, NULL, NULL), AKO_UNAVAILABLE);
    assert_text(ako_error_last()->message, "needs a GPU, and the device is the CPU");
}

static void on_alarm(int number)
{
    (void)number;
    ako_cancel_request();
}

static void test_cancel_by_signal(void **state)
{
    ako_json *answer;
    signal(SIGALRM, on_alarm);
    ualarm(300000, 0);
    json_t *message = trial_message(unit(FORKING), 100000);
    assert_int_equal(ako_evaluator_request(*state, &answer, message, NULL, NULL), AKO_CANCELLED);
    assert_true(ako_cancel_requested());
    ako_cancel_clear();
    assert_int_equal(count_processes("akostray"), 0);
    assert_passes(*state);
}

static void cancel_after_a_while(ako_evaluator *e, const json_t *solution)
{
    ako_json *answer;
    signal(SIGALRM, on_alarm);
    ualarm(300000, 0);
    int status = ako_evaluator_request(e, &answer, trial_message(json_deep_copy(solution), 100000), NULL, NULL);
    assert_int_equal(status, AKO_CANCELLED);
    ako_cancel_clear();
}

/* A process that forks others and has not answered when the user wants to stop: what it says then is for nobody. The
 * one that does not answer is a shell's here; each that is started leaves a letter. */
static void test_cancel_of_a_fork(void **state)
{
    (void)state;
    char program[4200], starts[4200], text[9000];
    ako_buf letters = {0};
    snprintf(program, sizeof program, "%s/python", folder);
    snprintf(starts, sizeof starts, "%s/starts", folder);
    snprintf(text, sizeof text, "#!/bin/sh\nprintf s >> '%s'\nexec sleep 1000\n", starts);
    assert_int_equal(ako_fs_write(program, text, strlen(text), false), AKO_OK);
    assert_int_equal(chmod(program, 0700), 0);
    ako_evaluator *e = start("cpu");
    json_decref(request(e, json_pack("{s:s, s:i, s:s, s:{s:s, s:s, s:s}}", "op", "hello", "protocol", 1, "device",
                                     "cpu", "python", "program", program, "script", "none", "library", "none")));
    set_task(e, task(GOOD));
    json_t *solution = json_pack("{s:s, s:[{s:s, s:s}], s:[{s:[{s:s, s:[]}]}, {s:[{s:s, s:[]}]}]}", "lane",
                                 "python-cpu", "sources", "name", "mine.py", "text", "", "workloads", "calls", "symbol",
                                 "n=1000", "args", "calls", "symbol", "n=1001", "args");
    cancel_after_a_while(e, solution);
    cancel_after_a_while(e, solution);
    json_decref(solution);
    ako_evaluator_stop(e);
    assert_int_equal(ako_fs_read(&letters, starts, 0), AKO_OK);
    assert_int_equal(letters.size, 2);
    ako_buf_free(&letters);
}

static pid_t evaluator_of(pid_t parent)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *f = fopen(path, "re");
    int pid = 0, last = 0;
    while (f && fscanf(f, "%d", &pid) == 1)
        last = pid;
    if (f)
        fclose(f);
    return last;
}

static void test_killed_evaluator(void **state)
{
    (void)state;
    ako_evaluator *e = start("cpu");
    ako_json *answer;
    kill(evaluator_of(getpid()), SIGKILL);
    assert_int_equal(ako_evaluator_request(e, &answer, trial_message(unit(GOOD), 1000), NULL, NULL), AKO_CHILD);
    assert_text(ako_error_last()->message, "killed by SIGKILL");
    assert_null(strchr(ako_error_last()->message, '\n'));
    assert_int_equal(ako_evaluator_request(e, &answer, trial_message(unit(GOOD), 1000), NULL, NULL), AKO_CHILD);
    ako_evaluator_stop(e);
}

static bool is_alive(pid_t pid)
{
    return kill(pid, 0) == 0;
}

static void wait_until_gone(pid_t pid)
{
    for (int64_t end = ako_clock_ns() + INT64_C(20000000000); is_alive(pid) && ako_clock_ns() < end;)
        ako_clock_sleep_ns(10000000);
    assert_false(is_alive(pid));
}

/* A host that dies without a word, in the middle of a trial of a candidate that does not want to die. */
static void test_killed_host(void **state)
{
    (void)state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t host = fork();
    if (host == 0) {
        ako_evaluator *e = start("cpu");
        ako_json *answer;
        pid_t below = evaluator_of(getpid());
        set_task(e, task(GOOD));
        if (write(ready[1], &below, sizeof below) != sizeof below)
            _exit(1);
        _exit(ako_evaluator_request(e, &answer, trial_message(unit(FORKING), 100000), NULL, NULL));
    }
    pid_t below = 0;
    assert_int_equal(read(ready[0], &below, sizeof below), sizeof below);
    for (int64_t end = ako_clock_ns() + INT64_C(20000000000); count_processes("akostray") == 0 && ako_clock_ns() < end;)
        ako_clock_sleep_ns(10000000);
    assert_int_not_equal(count_processes("akostray"), 0);
    kill(host, SIGKILL);
    assert_int_equal(waitpid(host, NULL, 0), host);
    wait_until_gone(below);
    assert_int_equal(count_processes("akostray"), 0);
    close(ready[0]);
    close(ready[1]);
}

static void test_no_such_worker(void **state)
{
    (void)state;
    ako_evaluator *e;
    assert_int_equal(ako_evaluator_start(&e, "/nowhere/ako-worker"), AKO_UNAVAILABLE);
    assert_text(ako_error_last()->message, "/nowhere/ako-worker");
    assert_null(e);
}

static void test_base64(void **state)
{
    (void)state;
    static const struct {
        const char *plain, *coded;
    } pairs[] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                 {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ako_buf coded = {0}, plain = {0};
        ako_base64_encode(&coded, pairs[i].plain, strlen(pairs[i].plain));
        assert_string_equal(coded.data, pairs[i].coded);
        assert_int_equal(ako_base64_decode(&plain, coded.data, coded.size), AKO_OK);
        assert_string_equal(plain.data, pairs[i].plain);
        ako_buf_free(&coded);
        ako_buf_free(&plain);
    }
    static const char *const bad[] = {"Zg", "Zg=", "Z===", "Zg==Zg==", "Zg*=", "=Zg="};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ako_buf plain = {0};
        assert_int_equal(ako_base64_decode(&plain, bad[i], strlen(bad[i])), AKO_INVALID);
        ako_buf_free(&plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_wrong_numbers),
        cmocka_unit_test(test_wrong_at_odd_sizes),
        cmocka_unit_test(test_never_written),
        cmocka_unit_test(test_half_written),
        cmocka_unit_test(test_all_zero),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_past_the_end),
        cmocka_unit_test(test_before_the_start),
        cmocka_unit_test(test_changed_input),
        cmocka_unit_test(test_segfault),
        cmocka_unit_test(test_segfault_after_overrun),
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_exit),
        cmocka_unit_test(test_crash_while_loading),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_forks_and_ignores_term),
        cmocka_unit_test(test_crash_with_a_grandchild_left),
        cmocka_unit_test(test_noise_on_stdout),
        cmocka_unit_test(test_noise_on_every_descriptor),
        cmocka_unit_test(test_forged_answer),
        cmocka_unit_test(test_stops_working),
        cmocka_unit_test(test_cache_by_address),
        cmocka_unit_test(test_compile_error),
        cmocka_unit_test(test_missing_entry),
        cmocka_unit_test(test_bad_references),
        cmocka_unit_test(test_killed_by_others),
        cmocka_unit_test(test_endless_reference),
        cmocka_unit_test(test_inout_and_scratch),
        cmocka_unit_test(test_one_step),
        cmocka_unit_test(test_launches_by_time),
        cmocka_unit_test(test_slow_reference),
        cmocka_unit_test(test_no_gpu_here),
        cmocka_unit_test(test_malformed_requests),
        cmocka_unit_test(test_cancel_by_progress),
        cmocka_unit_test(test_cancel_by_signal),
        cmocka_unit_test(test_cancel_of_a_fork),
        cmocka_unit_test(test_killed_evaluator),
        cmocka_unit_test(test_killed_host),
        cmocka_unit_test(test_no_such_worker),
        cmocka_unit_test(test_base64),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
