/* The state of a GPU, from an NVML made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile.h"
#include "device.h"
#include "nvml.h"
#include "tenants.h"

/* Process 1 is everybody's ancestor, %d is this test, and the largest PID cannot be there. */
static const char fake_nvml[] =
    "#include <string.h>\n"
    "int nvmlInit_v2(void) { return 0; }\n"
    "const char *nvmlErrorString(int r) { return r == 6 ? \"Not Found\" : \"?\"; }\n"
    "int nvmlDeviceGetHandleByUUID(const char *u, void **d) { *d = 0; return strcmp(u, \"MIG-1-2\") ? 6 : 0; }\n"
    "int nvmlDeviceGetClockInfo(void *d, int c, unsigned *v) { *v = c == 1 ? 1980 : 3201; return 0; }\n"
    "int nvmlDeviceGetMaxClockInfo(void *d, int c, unsigned *v) { *v = 2000; return c == 1 ? 0 : 3; }\n"
    "int nvmlDeviceGetPersistenceMode(void *d, unsigned *v) { *v = 1; return 0; }\n"
    "int nvmlDeviceGetTemperature(void *d, int s, unsigned *v) { *v = 41; return 0; }\n"
    "int nvmlDeviceGetPowerUsage(void *d, unsigned *v) { return 3; }\n"
    "int nvmlDeviceGetUtilizationRates(void *d, unsigned v[2]) { v[0] = 7; v[1] = 8; return 0; }\n"
    "int nvmlDeviceGetMemoryInfo(void *d, unsigned long long v[3]) { v[2] = 5000000000ull; return 0; }\n"
    "int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *v) { *v = 0x48; return 0; }\n"
    "struct process { unsigned pid; unsigned long long memory; unsigned gi, ci; };\n"
    "int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, struct process *p)\n"
    "{ *n = 3; p[0].pid = 1; p[1].pid = %d; p[2].pid = 4194303; return 0; }\n";

static int setup(void **state)
{
    char source[sizeof fake_nvml + 32];
    if (compile_setup(state) != 0)
        return -1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(source, sizeof source, fake_nvml, (int)getpid());
#pragma GCC diagnostic pop
    setenv("AKO_LIBRARY_PATH", compile_dir, 1);
    return compile_shared("libnvidia-ml.so.1", source) ? 0 : -1;
}

static void reads_what_can_be_read(void **state)
{
    (void)state;
    const ako_device_props gpu = {.place = AKO_GPU, .uuid = "GPU-1-2"};
    ako_device_state s;
    assert_int_equal(ako_device_state_get(&s, &gpu), AKO_OK);
    assert_int_equal(s.sm_clock_mhz, 1980);
    assert_int_equal(s.memory_clock_mhz, 3201);
    assert_int_equal(s.sm_clock_max_mhz, 2000);
    assert_int_equal(s.memory_clock_max_mhz, -1);
    assert_int_equal(s.persistence, 1);
    assert_int_equal(s.mig, -1); /* this NVML lacks the function */
    assert_int_equal(s.temperature_c, 41);
    assert_int_equal(s.power_mw, -1);
    assert_int_equal(s.utilization_pct, 7);
    assert_int_equal(s.memory_used_bytes, 5000000000);
    assert_int_equal(s.throttle_reasons, 0x48);
    assert_string_equal(s.throttle_text, "hw_slowdown hw_thermal_slowdown");
}

static void counts_foreign_processes(void **state)
{
    (void)state;
    const ako_device_props gpu = {.place = AKO_GPU, .uuid = "GPU-1-2"};
    ako_device_state s;
    assert_int_equal(ako_device_state_get(&s, &gpu), AKO_OK);
    if (!ako_pids_are_global()) {
        assert_int_equal(s.n_processes, -1);
        return;
    }
    assert_int_equal(s.n_processes, 1);
    assert_int_equal(s.pids[0], 4194303);
}

static void unknown_gpu(void **state)
{
    (void)state;
    const ako_device_props gpu = {.place = AKO_GPU, .uuid = "GPU-9"};
    ako_device_state s;
    assert_int_equal(ako_device_state_get(&s, &gpu), AKO_UNAVAILABLE);
    assert_string_equal(ako_error_last()->message, "NVML does not know GPU-9: Not Found");
    assert_int_equal(s.sm_clock_mhz, -1);
}

static void a_glance_reads_clock_and_throttling(void **state)
{
    (void)state;
    const ako_device_props gpu = {.place = AKO_GPU, .uuid = "GPU-1-2"}, cpu = {.place = AKO_CPU},
                           unknown = {.place = AKO_GPU, .uuid = "GPU-9"};
    ako_device_pulse p;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ako_device_pulse_get(&p, &gpu), AKO_OK);
        assert_int_equal(p.sm_clock_mhz, 1980);
        assert_int_equal(p.throttle_reasons, 0x48);
        assert_int_equal(ako_device_pulse_get(&p, &unknown), AKO_UNAVAILABLE); /* the one before is not taken for it */
        assert_int_equal(p.sm_clock_mhz, -1);
    }
    assert_int_equal(ako_device_pulse_get(&p, &cpu), AKO_UNAVAILABLE);
}

static void a_list_with_our_own_processes_is_gone_through(void **state)
{
    (void)state;
    const ako_device_props gpu = {.place = AKO_GPU, .uuid = "GPU-1-2"};
    ako_device_tenants t;
    const int self = (int)getpid();
    assert_int_equal(ako_device_tenants_get(&t, &gpu, &self, 1), AKO_OK);
    assert_int_equal(t.strangers, 1);
    assert_int_equal(t.note[0] == '\0', ako_pids_are_global());
    assert_int_equal(ako_tenants_judge(&t, &self, 1, &self, 1), AKO_OK);
    assert_int_equal(t.strangers, 0);
}

/* A driver of another PID namespace gives numbers that are nobody's here. */
static void a_list_under_other_numbers_is_counted(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    static int listed[MANY];
    ako_device_tenants t;
    const int ours[] = {(int)getpid(), (int)getppid()};
    for (int i = 0; i < MANY; i++)
        listed[i] = 4194303 + i;
    assert_int_equal(ako_tenants_judge(&t, listed, 2, ours, 2), AKO_OK);
    assert_int_equal(t.strangers, 0);
    assert_int_equal(ako_tenants_judge(&t, listed, MANY, ours, 2), AKO_OK);
    assert_true(t.strangers > 0 && t.strangers <= MANY - 2); /* without those that run ako-lua beside this test */
    assert_non_null(strstr(t.note, "counted"));
}

static void a_list_without_our_own_processes_says_nothing(void **state)
{
    (void)state;
    ako_device_tenants t;
    const int ours[] = {(int)getpid(), (int)getppid()}, listed[] = {4194303};
    assert_int_equal(ako_tenants_judge(&t, listed, 1, ours, 2), AKO_UNAVAILABLE);
    assert_int_equal(t.strangers, -1);
    assert_string_equal(t.note, "strangers cannot be told: the driver lists 1 here and leaves out ours, which are 2");
    assert_int_equal(ako_tenants_judge(&t, listed, 0, ours, 1), AKO_UNAVAILABLE);
}

/* Orphans, so that they are not ours: one of this name, and its child. Both end when the pipe is closed. */
static void start_other_run(int pids[2], const char *name, int hold[2])
{
    int told[2];
    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(hold), 0);
    pid_t middle = fork();
    if (middle == 0 && fork() == 0) {
        prctl(PR_SET_NAME, name);
        pid_t child = fork();
        int numbers[2] = {(int)getpid(), (int)child};
        char byte;
        close(hold[1]);
        if (child != 0 && write(told[1], numbers, sizeof numbers) != sizeof numbers)
            _exit(1);
        _exit(read(hold[0], &byte, 1) != 0);
    }
    if (middle == 0)
        _exit(0);
    waitpid(middle, NULL, 0);
    assert_int_equal(read(told[0], pids, 2 * sizeof *pids), 2 * sizeof *pids);
    close(told[0]);
    close(told[1]);
}

static void those_that_take_turns_are_no_strangers(void **state)
{
    (void)state;
    ako_device_tenants t;
    int hold[2], listed[3] = {(int)getpid()};
    start_other_run(listed + 1, "ako-evaluator", hold);
    int of_it[] = {listed[0], listed[2]};
    assert_int_equal(ako_tenants_judge(&t, of_it, 2, listed, 1), AKO_OK);
    assert_int_equal(t.strangers, 0);
    close(hold[1]);
    start_other_run(listed + 1, "python", hold);
    assert_int_equal(ako_tenants_judge(&t, listed, 3, listed, 1), AKO_OK);
    assert_int_equal(t.strangers, 2);
    close(hold[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_can_be_read),
        cmocka_unit_test(counts_foreign_processes),
        cmocka_unit_test(unknown_gpu),
        cmocka_unit_test(a_glance_reads_clock_and_throttling),
        cmocka_unit_test(a_list_with_our_own_processes_is_gone_through),
        cmocka_unit_test(a_list_under_other_numbers_is_counted),
        cmocka_unit_test(a_list_without_our_own_processes_says_nothing),
        cmocka_unit_test(those_that_take_turns_are_no_strangers),
    };
    return cmocka_run_group_tests(tests, setup, compile_done);
}
