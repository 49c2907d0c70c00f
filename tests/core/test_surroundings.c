/* What a trial on a GPU says about strangers, clock and throttling, with an NVML made here: the evaluator's part is
 * compiled in, with children that are only numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#define ako_span ako_span_of_regex /* regex.h and arena.h have one each */
#include "compile.h"
#undef ako_span
#include "worker/pack.c"
#include "worker/surroundings.c"

bool child_is_running(const ako_child *child)
{
    return child->pid > 0;
}

bool child_owes_answer(const ako_child *child)
{
    return child->asked != child->answered;
}

/* FAKE_LIST holds PIDs, FAKE_MHZ and FAKE_BITS what is read next. */
static const char fake_nvml[] =
    "#include <stdlib.h>\n"
    "static long number(const char *name) { return getenv(name) ? strtol(getenv(name), 0, 10) : -1; }\n"
    "int nvmlInit_v2(void) { return 0; }\n"
    "const char *nvmlErrorString(int r) { return \"made up\"; }\n"
    "int nvmlDeviceGetHandleByUUID(const char *u, void **d) { *d = 0; return 0; }\n"
    "int nvmlDeviceGetClockInfo(void *d, int c, unsigned *v) { *v = (unsigned)number(\"FAKE_MHZ\"); return *v == 0; }\n"
    "int nvmlDeviceGetMaxClockInfo(void *d, int c, unsigned *v) { return 3; }\n"
    "int nvmlDeviceGetTemperature(void *d, int s, unsigned *v) { return 3; }\n"
    "int nvmlDeviceGetPowerUsage(void *d, unsigned *v) { return 3; }\n"
    "int nvmlDeviceGetUtilizationRates(void *d, unsigned v[2]) { return 3; }\n"
    "int nvmlDeviceGetMemoryInfo(void *d, unsigned long long v[3]) { return 3; }\n"
    "int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *v)\n"
    "{ *v = (unsigned long long)number(\"FAKE_BITS\"); return 0; }\n"
    "struct process { unsigned pid; unsigned long long memory; unsigned gi, ci; };\n"
    "int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, struct process *p)\n"
    "{\n"
    "    const char *list = getenv(\"FAKE_LIST\");\n"
    "    char *end;\n"
    "    if (!list) return 3;\n"
    "    for (*n = 0; *list; list = end) { p[*n].pid = (unsigned)strtol(list, &end, 10); ++*n; }\n"
    "    return 0;\n"
    "}\n";

typedef struct stage {
    evaluator ev;
    ako_unit unit;
    trial t;
} stage;

static int setup(void **state)
{
    if (compile_setup(state) != 0)
        return -1;
    setenv("AKO_LIBRARY_PATH", compile_dir, 1);
    return compile_shared("libnvidia-ml.so.1", fake_nvml) ? 0 : -1;
}

/* The referee is this process, the candidate its parent; one arm is still starting. */
static int enter(void **state)
{
    stage *s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    s->unit.lane = AKO_LANE_CUDA;
    s->ev.device = (ako_device_props){.place = AKO_GPU, .uuid = "GPU-made-up"};
    s->ev.referee.pid = getpid();
    s->ev.arms[0] = (arm_process){.child = {.pid = getppid()}, .place = AKO_GPU};
    s->ev.arms[1] = (arm_process){.child = {.pid = 4194302, .asked = 1}, .place = AKO_GPU};
    s->t = (trial){.ev = &s->ev, .unit = &s->unit, .answer = json_object()};
    *state = s;
    return 0;
}

static int leave(void **state)
{
    stage *s = *state;
    json_decref(s->t.answer);
    free(s);
    return 0;
}

static void say(const char *list, const char *mhz, const char *bits)
{
    char text[100];
    snprintf(text, sizeof text, "%d %d%s%s", (int)getpid(), (int)getppid(), *list ? " " : "", list);
    setenv("FAKE_LIST", text, 1);
    setenv("FAKE_MHZ", mhz, 1);
    setenv("FAKE_BITS", bits, 1);
}

static const json_t *member(const trial *t, const char *name, const char *when)
{
    return json_object_get(json_object_get(t->answer, name), when);
}

static void strangers_clock_and_throttling_before_and_after(void **state)
{
    trial *t = &((stage *)*state)->t;
    say("", "1980", "0");
    assert_int_equal(surroundings_after(t), AKO_OK); /* of a trial that never had the lock */
    assert_null(json_object_get(t->answer, "tenants"));
    assert_int_equal(surroundings_before(t), AKO_OK);
    assert_true(json_is_null(member(t, "tenants", "after")));
    say("4194303", "1755", "72");
    assert_int_equal(surroundings_after(t), AKO_OK);
    assert_int_equal(json_integer_value(member(t, "tenants", "before")), 0);
    assert_true(json_is_integer(member(t, "tenants", "before")));
    assert_int_equal(json_integer_value(member(t, "tenants", "after")), 1);
    const json_t *now = member(t, "state", "after");
    assert_int_equal(json_integer_value(json_object_get(now, "sm_clock_mhz")), 1755);
    assert_int_equal(json_integer_value(json_object_get(now, "throttle_reasons")), 72);
    assert_string_equal(json_string_value(json_object_get(now, "throttle")), "hw_slowdown hw_thermal_slowdown");
    assert_string_equal(json_string_value(json_object_get(member(t, "state", "before"), "throttle")), "");
}

static void of_several_looks_the_most_counts(void **state)
{
    trial *t = &((stage *)*state)->t;
    const char *const lists[] = {"", "4194301 4194303", "4194303"};
    for (int i = 0; i < 3; i++) {
        say(lists[i], "1980", "0");
        assert_int_equal(surroundings_before(t), AKO_OK);
        assert_int_equal(surroundings_after(t), AKO_OK);
    }
    assert_int_equal(json_integer_value(member(t, "tenants", "before")), 2);
    assert_int_equal(json_integer_value(member(t, "tenants", "after")), 2);
}

static void what_cannot_be_told_is_null_with_a_note(void **state)
{
    trial *t = &((stage *)*state)->t;
    say("", "0", "0");
    unsetenv("FAKE_LIST");
    assert_int_equal(surroundings_before(t), AKO_OK);
    assert_true(json_is_null(member(t, "tenants", "before")));
    assert_string_equal(json_string_value(member(t, "tenants", "note")), "the driver lists no processes: made up");
    assert_true(json_is_null(json_object_get(member(t, "state", "before"), "sm_clock_mhz")));
}

static void glances_add_up(void **state)
{
    const trial *t = &((stage *)*state)->t;
    series a = {0}, b = {0};
    json_t *summary = json_object();
    assert_int_equal(surroundings_put(summary, &a, &b), AKO_OK);
    assert_int_equal(json_object_size(summary), 0);
    say("", "1980", "1");
    surroundings_glance(t, &a);
    say("", "1900", "4");
    surroundings_glance(t, &a);
    say("", "0", "0");
    surroundings_glance(t, &b); /* a clock that cannot be read is not the lowest */
    say("", "1950", "8");
    surroundings_glance(t, &b);
    assert_int_equal(surroundings_put(summary, &a, NULL), AKO_OK);
    assert_string_equal(json_string_value(json_object_get(summary, "throttle")), "gpu_idle sw_power_cap");
    assert_int_equal(json_integer_value(json_object_get(summary, "sm_clock_min_mhz")), 1900);
    assert_int_equal(surroundings_put(summary, &b, &a), AKO_OK);
    assert_int_equal(json_integer_value(json_object_get(summary, "throttle_reasons")), 13);
    assert_int_equal(json_integer_value(json_object_get(summary, "sm_clock_min_mhz")), 1900);
    assert_int_equal(json_integer_value(json_object_get(summary, "sm_clock_max_mhz")), 1980);
    json_decref(summary);
}

static void a_trial_on_the_cpu_asks_no_driver(void **state)
{
    stage *s = *state;
    series given = {0};
    s->unit.lane = AKO_LANE_C;
    say("4194303", "1980", "8");
    assert_int_equal(surroundings_before(&s->t), AKO_OK);
    assert_true(json_is_null(member(&s->t, "tenants", "before")));
    assert_true(json_is_null(member(&s->t, "state", "before")));
    surroundings_glance(&s->t, &given);
    assert_int_equal(given.glances.n, 0);
}

int main(void)
{
#define STAGED(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        STAGED(strangers_clock_and_throttling_before_and_after),
        STAGED(of_several_looks_the_most_counts),
        STAGED(what_cannot_be_told_is_null_with_a_note),
        STAGED(glances_add_up),
        STAGED(a_trial_on_the_cpu_asks_no_driver),
    };
    return cmocka_run_group_tests(tests, setup, compile_done);
}
