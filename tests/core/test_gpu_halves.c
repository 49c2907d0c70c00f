/* The CUDA halves of device, memory, runner and timing on a made-up GPU (fake_cuda.c), so that their logic is tested
 * everywhere and to the nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <unistd.h>

#include "calls.h"
#include "compile.h"
#include "device.h"
#include "hooks.h"
#include "memory.h"
#include "ops_backend.h"
#include "timing.h"

#define GAP 500 /* as in fake_cuda.c, and the times of its kernels */
#define SCALE_NS 7000
#define EMPTY_NS 1000

static int (*allocations)(void);
static int (*set_carve_out)(int, size_t); /* the fake cudaDeviceSetLimit */
static char cubin[PATH_MAX];
static bool has_nvrtc;

static int setup(void **state)
{
    ako_buf source = {0};
    char other[PATH_MAX + 32];
    if (compile_setup(state) != 0 || ako_fs_read(&source, "tests/core/fake_cuda.c", 0) != AKO_OK)
        return -1;
    const char *file = compile_shared("libcudart.so.13", source.data);
    ako_buf_free(&source);
    snprintf(other, sizeof other, "%.4000s/libcupti.so.13", compile_dir);
    snprintf(cubin, sizeof cubin, "%.4000s/x.cubin", compile_dir);
    if (!file || symlink(file, other) != 0 || ako_fs_write(cubin, "cubin", 5, false) != AKO_OK)
        return -1;
    /* The timer's kernels are compiled by the real NVRTC, which is opened while it can still be found. */
    ako_buf machine_code = {0};
    setenv("XDG_CACHE_HOME", compile_dir, 1);
    has_nvrtc = ako_ops_gpu_build(&machine_code, "sm_90") == AKO_OK;
    ako_buf_free(&machine_code);
    setenv("AKO_LIBRARY_PATH", compile_dir, 1);
    void *handle = dlopen(file, RTLD_LAZY), *address = handle ? dlsym(handle, "fake_allocations") : NULL;
    memcpy(&allocations, &address, sizeof address);
    void *limit = handle ? dlsym(handle, "cudaDeviceSetLimit") : NULL;
    memcpy(&set_carve_out, &limit, sizeof limit);
    return address ? 0 : -1;
}

static void devices(void **state)
{
    (void)state;
    ako_device_props p;
    const char *why;
    assert_int_equal(ako_device_count(&why), 2);
    assert_string_equal(why, "");
    assert_int_equal(ako_device_find(&p, "auto"), AKO_OK);
    assert_string_equal(p.id, "cuda:0");
    assert_string_equal(p.name, "Fake H1");
    assert_string_equal(p.uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
    assert_string_equal(p.arch, "sm_90a");
    assert_int_equal(p.tensor_core_generation, 4);
    assert_int_equal(p.memory_bytes, INT64_C(80) << 30);
    assert_true(p.peak_dram_bytes_per_s > 4.9e12 && p.peak_dram_bytes_per_s < 4.92e12);
    assert_int_equal(ako_device_find(&p, "cuda:1"), AKO_UNAVAILABLE);
    assert_string_equal(ako_error_last()->message, "no device cuda:1: this machine has cuda:0 and cpu");
}

static void memory(void **state)
{
    (void)state;
    ako_memory *m, *copy;
    char handle[129];
    int fd, before = allocations();
    assert_int_equal(ako_memory_new(&m, AKO_GPU, UINT64_C(1) << 40), AKO_NOMEM);
    assert_string_equal(ako_error_last()->message,
                        "1099511627776 bytes do not fit on the GPU: 85899345920 of 85899345920 are free");
    assert_int_equal(ako_memory_new(&m, AKO_GPU, 100), AKO_OK);
    assert_int_equal(ako_memory_export(m, handle, &fd), AKO_OK);
    assert_int_equal(fd, -1);
    assert_int_equal(strlen(handle), 128);
    assert_int_equal(ako_memory_import(&copy, AKO_GPU, 100, handle, -1), AKO_OK);
    assert_ptr_equal(ako_memory_base(copy), ako_memory_base(m));
    ako_memory_free(copy);
    handle[5] = 'x';
    assert_int_equal(ako_memory_import(&copy, AKO_GPU, 100, handle, -1), AKO_INVALID);
    ako_memory_free(m);
    assert_int_equal(allocations(), before);
}

static ako_runner *open_cubin(void)
{
    ako_runner *runner;
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_CUDA, cubin), AKO_OK);
    return runner;
}

static void assert_refused(const ako_call *call, const char *message)
{
    ako_runner *runner = open_cubin();
    assert_int_equal(ako_runner_bind(runner, call, 1), AKO_INVALID);
    assert_string_equal(ako_error_last()->message, message);
    ako_runner_free(runner);
}

static void launch_lines(void **state)
{
    (void)state;
    int before = allocations();
    ako_arg args[] = {arg_pointer(0, "y"), arg_pointer(1, "x"), arg_int(2, "a"), arg_int(3, "B"), arg_int(4, "C")};
    const ako_call good = call_of("scale", 1, 32, args, 4);
    ako_call call = good;
    call.n_args = 3;
    assert_refused(&call, "launch line 1: kernel scale takes 4 arguments, the launch line passes 3");
    call.n_args = 5;
    assert_refused(&call, "launch line 1: kernel scale takes 4 arguments, the launch line passes 5");
    call = good;
    args[3].size = 8;
    assert_refused(&call, "launch line 1: kernel scale takes 4 bytes as argument 4, 'B' passes 8");
    args[3].size = 4;
    call.grid[1] = 0;
    assert_refused(&call, "launch line 1: kernel scale has an empty grid (1, 0, 1)");
    call.grid[1] = 70000;
    assert_refused(&call, "launch line 1: kernel scale has a grid of 70000 in y, the device allows 65535");
    call = good;
    call.block[0] = 641;
    assert_refused(&call, "launch line 1: kernel scale is launched with 641 threads a block, it can have 640 (it uses "
                          "96 registers)");
    call = good;
    call.shared_bytes = 232448;
    assert_refused(&call, "launch line 1: kernel scale needs 232448 bytes of dynamic and 1024 of static shared memory, "
                          "a block can have 232448");
    call = good;
    call.cluster[0] = 2;
    assert_refused(&call, "launch line 1: kernel scale has a grid of 1 in x, which its cluster of 2 does not divide");
    call = good;
    snprintf(call.symbol, sizeof call.symbol, "scales");
    assert_refused(&call, "launch line 1: kernel scale is not in the compiled code");
    assert_int_equal(allocations(), before);
}

static void resources_and_launches(void **state)
{
    (void)state;
    ako_runner *runner = open_cubin();
    int y = 0, x = 0;
    ako_arg args[] = {arg_pointer(1, "y"), arg_pointer(0, "x"), arg_int(2, "a"), arg_int(3, "n")};
    ako_call calls[] = {call_of("scale", 4, 32, args, 4), call_of("empty", 1, 1, NULL, 0)};
    calls[0].shared_bytes = 200000;
    calls[0].cluster[0] = 2;
    ako_resources r;
    assert_int_equal(ako_runner_bind(runner, calls, 2), AKO_OK);
    assert_int_equal(ako_runner_resources(runner, &r), AKO_OK);
    assert_int_equal(r.registers, 96);
    assert_int_equal(r.shared_bytes, 1024);
    assert_int_equal(r.max_threads, 640);
    assert_int_equal(ako_runner_launch(runner, (void *[]){&x, &y}), AKO_OK);
    assert_int_equal(y, 1);
    assert_int_equal(x, 0);
    setenv("FAKE", "fault", 1);
    assert_int_equal(ako_runner_sync(runner), AKO_CUDA);
    unsetenv("FAKE");
    assert_string_equal(ako_error_last()->message,
                        "the GPU code failed: an illegal memory access was encountered (cudaErrorIllegalAddress)");
    ako_runner_free(runner);
    char empty[PATH_MAX];
    snprintf(empty, sizeof empty, "%.4000s/empty.cubin", compile_dir);
    assert_int_equal(ako_fs_write(empty, "", 0, false), AKO_OK);
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_CUDA, empty), AKO_CUDA);
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_CUDA, "/dev/null"), AKO_INVALID);
}

#define BY_EVENTS (GAP + SCALE_NS + GAP + EMPTY_NS)
#define BY_CUPTI (SCALE_NS + GAP + EMPTY_NS)

/* Times scale and then empty, as one call; every sample must be `want` ns. */
static void expect_samples(ako_timer_kind kind, ako_timer_kind used, const char *note, int64_t want)
{
    ako_timer *timer;
    ako_runner *runner = open_cubin();
    int a = 0, b = 0;
    ako_arg args[] = {arg_pointer(0, "y"), arg_pointer(0, "x"), arg_int(2, "a"), arg_int(3, "n")};
    const ako_call calls[] = {call_of("scale", 1, 32, args, 4), call_of("empty", 1, 1, NULL, 0)};
    void *const set_a[] = {&a}, *const set_b[] = {&b};
    void *const *const sets[] = {set_a, set_b};
    const ako_time_plan plan = {.warmup = 2, .launches = 101, .flush = true};
    ako_time_result r;
    assert_int_equal(ako_runner_bind(runner, calls, 2), AKO_OK);
    if (ako_timer_new(&timer, AKO_GPU, kind) != AKO_OK)
        fail_msg("%s", ako_error_last()->message);
    assert_int_equal(ako_timer_run(timer, runner, sets, 2, &plan, &r), AKO_OK);
    assert_string_equal(ako_timer_note(timer), note);
    assert_int_equal(ako_timer_used(timer), used);
    assert_int_equal(r.n, 101);
    for (int i = 0; i < r.n && want; i++)
        assert_int_equal(r.samples_ns[i], want);
    assert_int_equal(a, 1 + 51);
    assert_int_equal(b, 1 + 50);
    assert_true(r.wall_min_ns > 0 && r.wall_ns > 0);
    assert_int_equal(r.events_ns, used == AKO_TIMER_CUPTI ? 101 * BY_EVENTS : 0);
    assert_int_equal(r.sm_clock_mhz, 1710);
    assert_int_equal(r.carve_out, 0);
    free(r.samples_ns);
    ako_timer_free(timer);
    ako_runner_free(runner);
}

static void clocks(void **state)
{
    (void)state;
    if (!has_nvrtc)
        skip();
    int before = allocations();
    expect_samples(AKO_TIMER_EVENTS, AKO_TIMER_EVENTS, "", BY_EVENTS);
    expect_samples(AKO_TIMER_CUPTI, AKO_TIMER_CUPTI, "", BY_CUPTI);
    expect_samples(AKO_TIMER_AUTO, AKO_TIMER_CUPTI, "", BY_CUPTI);
    expect_samples(AKO_TIMER_WALL, AKO_TIMER_WALL, "", 0);
    assert_int_equal(allocations(), before);
}

/* What scale's call is found to do beside the stream when it is timed so. */
static int64_t loose_ns(bool asked, int64_t *sample_ns)
{
    ako_timer *timer;
    ako_runner *runner = open_cubin();
    int y = 0;
    ako_arg args[] = {arg_pointer(0, "y"), arg_pointer(0, "x"), arg_int(2, "a"), arg_int(3, "n")};
    const ako_call call = call_of("scale", 1, 32, args, 4);
    void *const set[] = {&y}, *const *const sets[] = {set};
    const ako_time_plan plan = {.loose = asked, .launches = 3, .flush = true};
    ako_time_result r;
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_OK);
    assert_int_equal(ako_timer_new(&timer, AKO_GPU, AKO_TIMER_CUPTI), AKO_OK);
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &plan, &r), AKO_OK);
    *sample_ns = r.samples_ns[2];
    assert_int_equal(y, asked ? 5 : 3);
    free(r.samples_ns);
    ako_timer_free(timer);
    ako_runner_free(runner);
    return r.loose_ns;
}

/* It begins 9 us before its turn less the gap, or ends 7 us behind it. */
static void work_beside_the_stream_is_found(void **state)
{
    (void)state;
    if (!has_nvrtc)
        skip();
    int64_t ns;
    assert_int_equal(loose_ns(true, &ns), 0);
    assert_int_equal(ns, SCALE_NS);
    setenv("FAKE", "early", 1);
    assert_int_equal(loose_ns(true, &ns), 9000 - GAP);
    assert_int_equal(ns, 9000 + SCALE_NS);
    setenv("FAKE", "late", 1);
    assert_int_equal(loose_ns(true, &ns), 7000);
    assert_int_equal(ns, SCALE_NS + 7000);
    assert_int_equal(loose_ns(false, &ns), 0);
    unsetenv("FAKE");
}

/* The budget is over at once. */
static void least_launches(void **state)
{
    (void)state;
    if (!has_nvrtc)
        skip();
    ako_timer *timer;
    ako_runner *runner;
    assert_int_equal(ako_runner_nothing(&runner, AKO_GPU), AKO_OK);
    void *none = NULL, *const * sets[] = {&none};
    ako_time_result r;
    const ako_time_plan plan = {.launches = 1000, .budget_ns = 1, .least = 70, .flush = true};
    assert_int_equal(ako_timer_new(&timer, AKO_GPU, AKO_TIMER_EVENTS), AKO_OK);
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &plan, &r), AKO_OK);
    assert_int_equal(r.n, 70);
    free(r.samples_ns);
    ako_timer_free(timer);
    ako_runner_free(runner);
}

/* Watched places are read behind their call, in the order of the stream; a carve-out of the L2 is found and undone. */
static void watches_places_and_the_carve_out(void **state)
{
    (void)state;
    if (!has_nvrtc)
        skip();
    ako_timer *timer;
    ako_runner *runner = open_cubin();
    int a = 0;
    ako_arg args[] = {arg_pointer(0, "y"), arg_pointer(0, "x"), arg_int(2, "a"), arg_int(3, "n")};
    const ako_call call = call_of("scale", 1, 32, args, 4);
    void *const set[] = {&a}, *const *const sets[] = {set};
    const uint64_t places[] = {ako_place_of(&a, 4), ako_place_of(&a, 1), ako_place_of(&a, 4), ako_place_of(&a, 1)};
    uint64_t seen[4] = {0};
    const ako_watch watch = {.n = 2, .places = places, .seen = seen};
    const ako_time_plan plan = {.launches = 2, .kind = AKO_TIMER_EVENTS, .watch = &watch};
    ako_time_result r;
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_OK);
    assert_int_equal(ako_timer_new(&timer, AKO_GPU, AKO_TIMER_AUTO), AKO_OK);
    set_carve_out(6, 1000);
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &plan, &r), AKO_OK);
    assert_int_equal(ako_timer_used(timer), AKO_TIMER_EVENTS);
    const uint64_t want[] = {1, 1, 2, 2};
    assert_memory_equal(seen, want, sizeof want);
    assert_int_equal(r.carve_out, 1000);
    free(r.samples_ns);
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &plan, &r), AKO_OK);
    assert_int_equal(r.carve_out, 0);
    free(r.samples_ns);
    ako_timer_free(timer);
    ako_runner_free(runner);
}

/* Code of Python's lane: its call launches scale, and returns a contiguous tensor and one that is not. */
static ako_runner *scaler;
static int scaled, released[2];
static ako_returned both[2];

static ako_hooks hooks;

static void scale(void)
{
    int x = 0;
    hooks.status = ako_runner_launch(scaler, (void *[]){&scaled, &x});
}

static void nothing_to_do(const char *text)
{
    (void)text;
    hooks.status = AKO_OK;
}

static void nothing_to_stage(void *const *addresses)
{
    (void)addresses;
    hooks.status = AKO_OK;
}

static void release(int more)
{
    released[more]++;
    hooks.status = AKO_OK;
}

static void open_scaler(void)
{
    ako_arg args[] = {arg_pointer(0, "y"), arg_pointer(1, "x"), arg_int(2, "a"), arg_int(3, "n")};
    const ako_call call = call_of("scale", 1, 32, args, 4);
    scaler = open_cubin();
    assert_int_equal(ako_runner_bind(scaler, &call, 1), AKO_OK);
    both[0] = (ako_returned){&scaled, {.element = 4, .n_dims = 1, .size = {1}, .stride = {1}}};
    both[1] = (ako_returned){&scaled, {.element = 4, .n_dims = 2, .size = {200, 300}, .stride = {1, 200}}};
    hooks = (ako_hooks){.open = nothing_to_do,
                        .bind = nothing_to_do,
                        .stage = nothing_to_stage,
                        .launch = scale,
                        .release = release,
                        .returned = both,
                        .n_returned = 2,
                        .first_output = 1};
    ako_hooks_set(&hooks);
}

/* The copies come behind the samples, which they are no part of, and before the watched places are read. */
static void what_python_returns_is_collected(void **state)
{
    (void)state;
    if (!has_nvrtc)
        skip();
    int before = allocations();
    ako_runner *runner;
    ako_timer *timer;
    uint32_t first = 0, second = 0;
    void *const set[] = {NULL, &first, &second}, *const *const sets[] = {set};
    const uint64_t places[] = {ako_place_of(&first, 4), ako_place_of(&first, 4), ako_place_of(&first, 4)};
    uint64_t seen[3] = {0};
    const ako_watch watch = {.n = 1, .places = places, .seen = seen};
    const ako_time_plan plan = {.launches = 3, .flush = true, .watch = &watch};
    ako_time_result r;
    open_scaler();
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_PYTHON, "mine"), AKO_OK);
    assert_int_equal(ako_timer_new(&timer, AKO_GPU, AKO_TIMER_CUPTI), AKO_OK);
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &plan, &r), AKO_OK);
    assert_int_equal(ako_timer_used(timer), AKO_TIMER_CUPTI);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(r.samples_ns[i], SCALE_NS);
        assert_int_equal(seen[i], i + 1);
    }
    assert_int_equal(second, 4 * 5); /* tiles of 64 x 64 in 200 x 300 */
    assert_int_equal(ako_runner_call(runner, set), AKO_OK);
    assert_true(first == 4 && released[true] == 3 && released[false] == 1);
    free(r.samples_ns);
    ako_timer_free(timer);
    ako_runner_free(runner);
    ako_runner_free(scaler);
    ako_hooks_set(NULL);
    assert_int_equal(allocations(), before);
}

static void falls_back_to_events(void **state)
{
    (void)state;
    if (!has_nvrtc)
        skip();
    setenv("FAKE", "lose", 1);
    expect_samples(AKO_TIMER_AUTO, AKO_TIMER_EVENTS,
                   "events for this plan: CUPTI has no complete record of 32 in 32 calls", BY_EVENTS);
    setenv("FAKE", "stray", 1);
    expect_samples(AKO_TIMER_CUPTI, AKO_TIMER_EVENTS,
                   "events for this plan: 63 kernels were launched by other threads than the caller's", BY_EVENTS);
    setenv("FAKE", "occupied", 1);
    expect_samples(AKO_TIMER_AUTO, AKO_TIMER_EVENTS,
                   "events, since CUPTI cannot be used: CUPTI cannot record activity: CUPTI_ERROR_FAKE (39); another "
                   "profiler (ncu, nsys, cuda-gdb, compute-sanitizer) holds it: run without that",
                   BY_EVENTS);
    ako_timer *timer;
    assert_int_equal(ako_timer_new(&timer, AKO_GPU, AKO_TIMER_CUPTI), AKO_UNAVAILABLE);
    assert_null(timer);
    unsetenv("FAKE");
    expect_samples(AKO_TIMER_AUTO, AKO_TIMER_CUPTI, "", BY_CUPTI);
}

static void a_fault_ends_the_plan(void **state)
{
    (void)state;
    if (!has_nvrtc)
        skip();
    ako_timer *timer;
    ako_runner *runner = open_cubin();
    const ako_call call = call_of("empty", 1, 1, NULL, 0);
    void *const set[] = {NULL};
    void *const *const sets[] = {set};
    const ako_time_plan plan = {.launches = 5};
    ako_time_result r;
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_OK);
    assert_int_equal(ako_timer_new(&timer, AKO_GPU, AKO_TIMER_AUTO), AKO_OK);
    setenv("FAKE", "fault", 1);
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &plan, &r), AKO_CUDA);
    unsetenv("FAKE");
    assert_null(r.samples_ns);
    ako_timer_free(timer);
    ako_runner_free(runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices),
        cmocka_unit_test(memory),
        cmocka_unit_test(launch_lines),
        cmocka_unit_test(resources_and_launches),
        cmocka_unit_test(clocks),
        cmocka_unit_test(work_beside_the_stream_is_found),
        cmocka_unit_test(least_launches),
        cmocka_unit_test(watches_places_and_the_carve_out),
        cmocka_unit_test(what_python_returns_is_collected),
        cmocka_unit_test(falls_back_to_events),
        cmocka_unit_test(a_fault_ends_the_plan),
    };
#ifndef AKO_HAVE_CUDA
    print_message("this build has no CUDA parts\n");
    return 0;
#endif
    return cmocka_run_group_tests(tests, setup, compile_done);
}
