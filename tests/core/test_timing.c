#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calls.h"
#include "cancel.h"
#include "gpu_fixture.h"
#include "stats.h"
#include "timing.h"

static void kinds(void **state)
{
    (void)state;
    ako_timer_kind kind;
    assert_int_equal(ako_timer_kind_parse(&kind, "cupti"), AKO_OK);
    assert_int_equal(kind, AKO_TIMER_CUPTI);
    assert_string_equal(ako_timer_kind_name(AKO_TIMER_EVENTS), "events");
    assert_int_equal(ako_timer_kind_parse(&kind, "sundial"), AKO_INVALID);
}

/* ---- the CPU ---- */

/* Writes its number, counted from 0, to the buffer that it is called with, behind a count in the first element. */
static const char counting[] = "static int calls;\n"
                               "void count(int *p) { p[++p[0]] = calls++; }\n";
static const char slow[] = "#include <time.h>\n"
                           "void slow(int *p) { struct timespec t = {0, 2000000}; p[0]++; nanosleep(&t, 0); }\n";

static ako_runner *open_entry(const char *file, const char *source, const char *symbol)
{
    ako_runner *runner;
    ako_arg args[] = {arg_pointer(0, "p")};
    const ako_call call = call_of(symbol, 0, 0, args, 1);
    const char *path = compile_shared(file, source);
    assert_non_null(path);
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_C, path), AKO_OK);
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_OK);
    return runner;
}

static ako_timer *open_timer(ako_place place, ako_timer_kind kind)
{
    ako_timer *timer = NULL;
    int status = ako_timer_new(&timer, place, kind);
    if (status != AKO_OK)
        print_message("%s\n", ako_error_last()->message);
    assert_int_equal(status, AKO_OK);
    return timer;
}

static void runs_the_plan_over_rotated_buffers(void **state)
{
    (void)state;
    ako_runner *runner = open_entry("counting.so", counting, "count");
    ako_timer *timer = open_timer(AKO_CPU, AKO_TIMER_AUTO);
    int a[16] = {0}, b[16] = {0};
    void *const set_a[] = {a}, *const set_b[] = {b};
    void *const *const sets[] = {set_a, set_b};
    const ako_time_plan plan = {.warmup = 3, .launches = 5, .flush = true};
    ako_time_result r;
    assert_int_equal(ako_timer_run(timer, runner, sets, 2, &plan, &r), AKO_OK);
    assert_int_equal(ako_timer_used(timer), AKO_TIMER_WALL);
    assert_string_equal(ako_timer_note(timer), "");
    assert_int_equal(r.n, 5);
    int64_t sum = 0;
    for (int i = 0; i < r.n; i++) {
        assert_true(r.samples_ns[i] >= r.wall_min_ns && r.wall_min_ns >= 0);
        sum += r.samples_ns[i];
    }
    assert_true(r.wall_ns >= sum);
    const int want_a[] = {4, 0, 2, 4, 6}, want_b[] = {4, 1, 3, 5, 7};
    assert_memory_equal(a, want_a, sizeof want_a);
    assert_memory_equal(b, want_b, sizeof want_b);
    free(r.samples_ns);
    ako_timer_free(timer);
    ako_runner_free(runner);
}

static void measures_what_was_spent_and_keeps_to_the_budget(void **state)
{
    (void)state;
    ako_runner *runner = open_entry("slow.so", slow, "slow");
    ako_timer *timer = open_timer(AKO_CPU, AKO_TIMER_WALL);
    int n = 0;
    void *const set[] = {&n};
    void *const *const sets[] = {set};
    const ako_time_plan plan = {.launches = 1000, .budget_ns = 10000000},
                        with_least = {.launches = 1000, .budget_ns = 10000000, .least = 9};
    ako_time_result r;
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &plan, &r), AKO_OK);
    assert_in_range(r.n, 1, 6);
    assert_int_equal(r.n, n);
    for (int i = 0; i < r.n; i++)
        assert_true(r.samples_ns[i] >= 2000000);
    free(r.samples_ns);
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &with_least, &r), AKO_OK);
    assert_int_equal(r.n, 9);
    free(r.samples_ns);
    ako_timer_free(timer);
    ako_runner_free(runner);
}

static void refuses_empty_plans_and_stops_on_request(void **state)
{
    (void)state;
    ako_runner *runner = open_entry("counting.so", counting, "count");
    ako_timer *timer = open_timer(AKO_CPU, AKO_TIMER_CUPTI);
    int p[16] = {0};
    void *const set[] = {p};
    void *const *const sets[] = {set};
    ako_time_plan plan = {.warmup = 1, .launches = 0};
    ako_time_result r;
    assert_non_null(strstr(ako_timer_note(timer), "the wall clock is used"));
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &plan, &r), AKO_INVALID);
    plan.launches = 1;
    ako_cancel_request();
    int status = ako_timer_run(timer, runner, sets, 1, &plan, &r);
    ako_cancel_clear();
    assert_int_equal(status, AKO_CANCELLED);
    assert_null(r.samples_ns);
    assert_int_equal(p[0], 0);
    ako_timer_free(timer);
    ako_runner_free(runner);
}

/* ---- the GPU ---- */

#ifdef AKO_HAVE_CUDA
static double median_of(const ako_time_result *r)
{
    ako_summary s;
    assert_int_equal(ako_stats_summary(&s, r->samples_ns, (size_t)r->n, 0.05), AKO_OK);
    return s.median;
}

static const char kernels[] =
    "extern \"C\" __global__ void empty() {}\n"
    "extern \"C\" __global__ void spin(long long cycles)\n"
    "{ long long start = clock64(); while (clock64() - start < cycles); }\n"
    "extern \"C\" __global__ void touch(int *log, int value) { if (threadIdx.x == 0) log[++log[0]] = value; }\n";

static ako_runner *open_kernels(const ako_call *calls, int n)
{
    ako_runner *runner = gpu_open(kernels);
    int status = ako_runner_bind(runner, calls, n);
    if (status != AKO_OK)
        print_message("%s\n", ako_error_last()->message);
    assert_int_equal(status, AKO_OK);
    return runner;
}

/* The median of 100 launches. */
static double time_kernels(ako_timer *timer, const ako_call *calls, int n, bool flush)
{
    ako_runner *runner = open_kernels(calls, n);
    void *const nothing[] = {NULL};
    void *const *const sets[] = {nothing};
    const ako_time_plan plan = {.warmup = 3, .launches = 100, .flush = flush};
    ako_time_result r;
    int status = ako_timer_run(timer, runner, sets, 1, &plan, &r);
    if (status != AKO_OK)
        print_message("%s\n", ako_error_last()->message);
    assert_int_equal(status, AKO_OK);
    assert_int_equal(r.n, 100);
    for (int i = 0; i < r.n; i++)
        assert_true(r.samples_ns[i] > 0);
    double median = median_of(&r);
    print_message("%-7s %s x%d%s: median %.0f ns; host %.0f us in all, one call %.1f us; SM %d MHz%s%s\n",
                  ako_timer_kind_name(ako_timer_used(timer)), calls[0].symbol, n, flush ? ", flushed" : "", median,
                  (double)r.wall_ns / 1e3, (double)r.wall_min_ns / 1e3, r.sm_clock_mhz,
                  *ako_timer_note(timer) ? "; " : "", ako_timer_note(timer));
    assert_true(r.wall_min_ns > 0);
    free(r.samples_ns);
    ako_runner_free(runner);
    return median;
}

static ako_call spin_call(int64_t *cycles, ako_arg *arg)
{
    *arg = arg_value(AKO_ARG_I64, AKO_I64, cycles, sizeof *cycles, "cycles");
    return call_of("spin", 1, 1, arg, 1);
}

/* A kernel that spins four times as long, or is launched twice, must read so, by every clock. */
static void check_clock(ako_timer_kind kind)
{
    ako_timer *timer = open_timer(AKO_GPU, kind);
    int64_t once = 200000, four_times = 800000;
    ako_arg args[2];
    const ako_call empty = call_of("empty", 1, 32, NULL, 0);
    const ako_call one = spin_call(&once, &args[0]), four = spin_call(&four_times, &args[1]);
    const ako_call two[] = {one, one};
    time_kernels(timer, &empty, 1, false);
    time_kernels(timer, &empty, 1, true);
    double base = time_kernels(timer, &one, 1, true);
    double ratio = time_kernels(timer, &four, 1, true) / base;
    double doubled = time_kernels(timer, two, 2, true) / base;
    print_message("four times as long: %.3f; twice: %.3f\n", ratio, doubled);
    assert_true(ratio > 3 && ratio < 4.4);
    assert_true(doubled > 1.7 && doubled < 2.4);
    ako_timer_free(timer);
}

static void events(void **state)
{
    (void)state;
    need_gpu();
    check_clock(AKO_TIMER_EVENTS);
}

static void cupti(void **state)
{
    (void)state;
    ako_timer *timer;
    need_gpu();
    if (ako_timer_new(&timer, AKO_GPU, AKO_TIMER_CUPTI) != AKO_OK) {
        print_message("%s\n", ako_error_last()->message);
        skip();
    }
    const ako_call empty = call_of("empty", 1, 32, NULL, 0);
    time_kernels(timer, &empty, 1, true);
    assert_string_equal(ako_timer_note(timer), "");
    assert_int_equal(ako_timer_used(timer), AKO_TIMER_CUPTI);
    ako_timer_free(timer);
    check_clock(AKO_TIMER_CUPTI);
}

static void automatic_and_wall(void **state)
{
    (void)state;
    need_gpu();
    check_clock(AKO_TIMER_AUTO);
    ako_timer *timer = open_timer(AKO_GPU, AKO_TIMER_WALL);
    int64_t cycles = 200000;
    ako_arg arg;
    const ako_call call = spin_call(&cycles, &arg);
    time_kernels(timer, &call, 1, true);
    assert_int_equal(ako_timer_used(timer), AKO_TIMER_WALL);
    ako_timer_free(timer);
}

/* Turns of a paired comparison: no warm-up, a few launches, on an open timer. */
static void short_plans(void **state)
{
    (void)state;
    need_gpu();
    const ako_cudart_api *cuda = gpu_runtime();
    ako_timer *timer = open_timer(AKO_GPU, AKO_TIMER_AUTO);
    int *device[2], host[2][64];
    ako_arg args[] = {arg_pointer(0, "log"), arg_int(7, "value")};
    const ako_call call = call_of("touch", 1, 32, args, 2);
    ako_runner *runner = open_kernels(&call, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cuda->cudaMalloc((void **)&device[i], sizeof host[i]), cudaSuccess);
        assert_int_equal(cuda->cudaMemset(device[i], 0, sizeof host[i]), cudaSuccess);
    }
    void *const set_a[] = {device[0]}, *const set_b[] = {device[1]};
    void *const *const sets[] = {set_a, set_b};
    const ako_time_plan plan = {.launches = 3, .flush = true};
    for (int turn = 0; turn < 10; turn++) {
        ako_time_result r;
        assert_int_equal(ako_timer_run(timer, runner, sets, 2, &plan, &r), AKO_OK);
        assert_int_equal(r.n, 3);
        assert_int_equal(r.wall_min_ns, 0);
        assert_string_equal(ako_timer_note(timer), "");
        free(r.samples_ns);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(cuda->cudaMemcpy(host[i], device[i], sizeof host[i], cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(host[0][0], 20);
    assert_int_equal(host[1][0], 10);
    ako_runner_free(runner);
    ako_timer_free(timer);
    cuda->cudaFree(device[0]);
    cuda->cudaFree(device[1]);
}

static void budget_on_the_gpu(void **state)
{
    (void)state;
    need_gpu();
    ako_timer *timer = open_timer(AKO_GPU, AKO_TIMER_EVENTS);
    int64_t cycles = 20000000; /* about 10 ms */
    ako_arg arg;
    const ako_call call = spin_call(&cycles, &arg);
    ako_runner *runner = open_kernels(&call, 1);
    void *const nothing[] = {NULL};
    void *const *const sets[] = {nothing};
    const ako_time_plan plan = {.launches = 1000, .budget_ns = 100000000};
    ako_time_result r;
    assert_int_equal(ako_timer_run(timer, runner, sets, 1, &plan, &r), AKO_OK);
    assert_in_range(r.n, 2, 100);
    free(r.samples_ns);
    ako_runner_free(runner);
    ako_timer_free(timer);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(runs_the_plan_over_rotated_buffers),
        cmocka_unit_test(measures_what_was_spent_and_keeps_to_the_budget),
        cmocka_unit_test(refuses_empty_plans_and_stops_on_request),
#ifdef AKO_HAVE_CUDA
        cmocka_unit_test(events),
        cmocka_unit_test(cupti),
        cmocka_unit_test(automatic_and_wall),
        cmocka_unit_test(short_plans),
        cmocka_unit_test(budget_on_the_gpu),
#endif
    };
    return cmocka_run_group_tests(tests, compile_setup, compile_done);
}
