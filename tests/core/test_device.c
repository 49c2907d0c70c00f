#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ako.h"
#include "cpu.h"
#include "device.h"
#include "device_json.h"
#include "tenants.h"

static void cpu_is_last(void **state)
{
    (void)state;
    ako_device_props p;
    int n = ako_device_count(NULL);
    assert_true(n >= 1);
    assert_int_equal(ako_device_props_get(&p, n - 1), AKO_OK);
    assert_int_equal(p.place, AKO_CPU);
    assert_string_equal(p.id, "cpu");
    assert_true(p.name[0] && p.arch[0]);
    assert_true(p.cores >= 1 && p.threads >= 1);
    assert_true(p.memory_bytes > 1 << 20);
    assert_int_equal(strlen(p.uuid), 4 + 16);
    assert_int_equal(ako_device_props_get(&p, n), AKO_INVALID);
    assert_int_equal(ako_device_props_get(&p, -1), AKO_INVALID);
}

static void cpu_knows_its_caches(void **state)
{
    (void)state;
    ako_device_props p;
    ako_cpu_props(&p);
    if (p.l1d_bytes == 0)
        skip(); /* some virtual machines hide them */
    assert_in_range(p.l1d_bytes, 4096, 1 << 20);
    assert_true(ako_cpu_last_level_cache() >= p.l1d_bytes);
#ifdef __AVX2__
    assert_non_null(strstr(p.features, "avx2"));
#endif
#ifdef __x86_64__
    assert_non_null(strstr(p.features, "sse4_2"));
#endif
}

static void says_why_there_is_no_gpu(void **state)
{
    (void)state;
    const char *why = NULL;
    int n = ako_device_count(&why);
    assert_int_equal(why[0] == '\0', n > 1);
    assert_null(strchr(why, '\n'));
    print_message("%d device(s)%s%s\n", n, n > 1 ? "" : "; ", why);
}

static void finds(void **state)
{
    (void)state;
    ako_device_props p;
    bool gpu = ako_device_count(NULL) > 1;
    assert_int_equal(ako_device_find(&p, "cpu"), AKO_OK);
    assert_int_equal(p.place, AKO_CPU);
    assert_int_equal(ako_device_find(&p, "auto"), AKO_OK);
    assert_string_equal(p.id, gpu ? "cuda:0" : "cpu");
    assert_int_equal(ako_device_find(&p, "cuda"), gpu ? AKO_OK : AKO_UNAVAILABLE);
    assert_int_equal(ako_device_find(&p, "cuda:999"), AKO_UNAVAILABLE);
    assert_int_equal(strncmp(ako_error_last()->message, "no device cuda:999: ", 20), 0);
    for (const char *const *bad = (const char *const[]){"", "cuda:", "cuda:x", "cuda:-1", "cuda:99999", "gpu", NULL};
         *bad; bad++)
        assert_int_equal(ako_device_find(&p, *bad), AKO_INVALID);
}

static void gpu_properties(void **state)
{
    (void)state;
    ako_device_props p;
    if (ako_device_count(NULL) < 2)
        skip();
    assert_int_equal(ako_device_props_get(&p, 0), AKO_OK);
    print_message("%s %s %s: %d SMs, L2 %lld, %.0f GB/s, %d MHz\n", p.name, p.uuid, p.arch, p.sm_count,
                  (long long)p.l2_bytes, p.peak_dram_bytes_per_s / 1e9, p.clock_khz / 1000);
    assert_string_equal(p.id, "cuda:0");
    assert_int_equal(strlen(p.uuid), 4 + 36);
    assert_true(p.cc_major >= 5 && p.sm_count > 0 && p.l2_bytes > 0 && p.registers_per_sm > 0);
    assert_true(p.shared_per_block_optin >= p.shared_per_block && p.shared_per_block >= 48 << 10);
    assert_true(p.peak_dram_bytes_per_s > 1e10);
}

/* Asked of the driver itself: the primary context of device 0 must not be active after all of this. */
static void looking_creates_no_context(void **state)
{
    (void)state;
    ako_device_props p;
    ako_device_state s;
    unsigned flags = 0;
    int active = -1;
    if (ako_device_count(NULL) < 2)
        skip();
    assert_int_equal(ako_device_props_get(&p, 0), AKO_OK);
    ako_device_state_get(&s, &p);
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY),
         *address = driver ? dlsym(driver, "cuDevicePrimaryCtxGetState") : NULL;
    int (*get_state)(int device, unsigned *flags, int *active) = NULL;
    memcpy(&get_state, &address, sizeof address);
    assert_non_null(address);
    assert_int_equal(get_state(0, &flags, &active), 0);
    assert_int_equal(active, 0);
    dlclose(driver);
}

static void gpu_state(void **state)
{
    (void)state;
    ako_device_props p;
    ako_device_state s;
    if (ako_device_count(NULL) < 2)
        skip();
    assert_int_equal(ako_device_props_get(&p, 0), AKO_OK);
    if (ako_device_state_get(&s, &p) != AKO_OK) {
        print_message("%s\n", ako_error_last()->message);
        skip();
    }
    print_message("%d MHz, %d C, %d mW, throttle '%s', others %d\n", s.sm_clock_mhz, s.temperature_c, s.power_mw,
                  s.throttle_text, s.n_processes);
    assert_true(s.sm_clock_mhz > 0 && s.memory_used_bytes > 0);
}

static void json_leaves_out_what_is_not_there(void **state)
{
    (void)state;
    ako_device_props p;
    const ako_device_state s = {.sm_clock_mhz = 1980, .power_mw = -1, .n_processes = 2, .pids = {77, 78}};
    ako_json *value;
    ako_cpu_props(&p);
    assert_int_equal(ako_device_props_json(&value, &p), AKO_OK);
    assert_string_equal(ako_json_string(ako_json_get(value, "place"), NULL), "cpu");
    assert_int_equal(ako_json_integer(ako_json_get(value, "threads")), p.threads);
    assert_null(ako_json_get(value, "sm_count"));
    ako_json_free(value);
    assert_int_equal(ako_device_state_json(&value, &s), AKO_OK);
    assert_int_equal(ako_json_integer(ako_json_get(value, "sm_clock_mhz")), 1980);
    assert_null(ako_json_get(value, "power_mw"));
    assert_int_equal(ako_json_count(ako_json_get(value, "processes")), 2);
    ako_json_free(value);
}

/* Forks a child that waits for its end of the pipe to close. */
static pid_t fork_waiting(int pipe_fds[2])
{
    char byte;
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    close(pipe_fds[1]);
    _exit(read(pipe_fds[0], &byte, 1) == 0 ? 0 : 1);
}

static void family_is_ours(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork_waiting(fds);
    assert_true(child > 0);
    assert_true(ako_pid_is_ours(getpid()));
    assert_true(ako_pid_is_ours(getppid()));
    assert_true(ako_pid_is_ours(child));
    assert_false(ako_pid_is_ours(4194303));
    close(fds[0]);
    close(fds[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* A program of ours above makes its other children ours; the same tree under another name does not. */
static int sibling_is_ours(const char *parent_name)
{
    int fds[2], status = -1;
    pid_t parent = fork();
    if (parent == 0) {
        prctl(PR_SET_NAME, parent_name);
        pid_t sibling = pipe(fds) == 0 ? fork_waiting(fds) : -1;
        pid_t asker = sibling > 0 ? fork() : -1;
        if (asker == 0)
            _exit(ako_pid_is_ours(sibling));
        waitpid(asker, &status, 0);
        close(fds[0]);
        close(fds[1]);
        waitpid(sibling, NULL, 0);
        _exit(WEXITSTATUS(status));
    }
    assert_int_equal(waitpid(parent, &status, 0), parent);
    return WEXITSTATUS(status);
}

static void what_our_programs_start_is_ours(void **state)
{
    (void)state;
    assert_int_equal(sibling_is_ours("ako-worker"), 1);
    assert_int_equal(sibling_is_ours("python3 (x) 1"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_is_last),
        cmocka_unit_test(cpu_knows_its_caches),
        cmocka_unit_test(says_why_there_is_no_gpu),
        cmocka_unit_test(finds),
        cmocka_unit_test(gpu_properties),
        cmocka_unit_test(looking_creates_no_context),
        cmocka_unit_test(gpu_state),
        cmocka_unit_test(json_leaves_out_what_is_not_there),
        cmocka_unit_test(family_is_ours),
        cmocka_unit_test(what_our_programs_start_is_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
