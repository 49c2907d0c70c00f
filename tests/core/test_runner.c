/* Run as `test_runner fault CUBIN` it provokes a fault on the GPU, which only a process of its own survives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <spawn.h>
#include <sys/wait.h>

#include "calls.h"
#include "gpu_fixture.h"
#include "runner.h"

extern char **environ;

static void lanes(void **state)
{
    (void)state;
    ako_lane lane;
    assert_int_equal(ako_lane_parse(&lane, "cuda-host"), AKO_OK);
    assert_int_equal(lane, AKO_LANE_CUDA_HOST);
    assert_string_equal(ako_lane_name(AKO_LANE_C), "c");
    assert_int_equal(ako_lane_parse(&lane, "rust"), AKO_INVALID);
    assert_int_equal(ako_lane_place(AKO_LANE_CUDA_HOST), AKO_GPU);
    assert_int_equal(ako_lane_place(AKO_LANE_C), AKO_CPU);
}

/* ---- shared objects ---- */

static ako_runner *open_c(const char *path, const char *source)
{
    ako_runner *runner;
    const char *file = compile_shared(path, source);
    assert_non_null(file);
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_C, file), AKO_OK);
    return runner;
}

static const char takes_everything[] =
    "#include <stdint.h>\n"
    "int take(double *out, int n, int64_t big, double d, float f, uint16_t half, uint8_t flag, int8_t small,\n"
    "         uint64_t huge, int16_t s, float *last) {\n"
    "  out[0] = n; out[1] = (double)big; out[2] = d; out[3] = f; out[4] = half; out[5] = flag; out[6] = small;\n"
    "  out[7] = (double)(huge >> 60); out[8] = s; last[0] = 7; return 99; }\n";

#define SCALAR(dtype, type, value, name) arg_value(AKO_ARG_SCALAR, dtype, &(type){value}, sizeof(type), name)

static void passes_every_kind_of_argument(void **state)
{
    (void)state;
    ako_runner *runner = open_c("everything.so", takes_everything);
    double out[9] = {0};
    float last = 0;
    ako_arg args[] = {
        arg_pointer(1, "out"),
        arg_int(-5, "n"),
        arg_value(AKO_ARG_I64, AKO_I64, &(int64_t){-6000000000}, 8, "big"),
        SCALAR(AKO_F64, double, 0.1, "d"),
        SCALAR(AKO_F32, float, 2.5f, "f"),
        SCALAR(AKO_BF16, uint16_t, 0x8001, "half"),
        SCALAR(AKO_BOOL, uint8_t, 1, "flag"),
        SCALAR(AKO_I8, int8_t, -3, "small"),
        SCALAR(AKO_U64, uint64_t, UINT64_MAX, "huge"),
        SCALAR(AKO_I16, int16_t, -300, "s"),
        arg_pointer(0, "last"),
    };
    const ako_call call = call_of("take", 0, 0, args, 11);
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_OK);
    assert_int_equal(ako_runner_launch(runner, (void *[]){&last, out}), AKO_OK);
    assert_int_equal(ako_runner_sync(runner), AKO_OK);
    const double want[9] = {-5, -6000000000.0, 0.1, 2.5, 0x8001, 1, -3, 15, -300};
    assert_memory_equal(out, want, sizeof want);
    assert_true(last == 7);
    ako_resources r;
    assert_int_equal(ako_runner_resources(runner, &r), AKO_OK);
    assert_int_equal(r.registers, 0);
    assert_int_equal(ako_runner_kernels(runner), 0);
    ako_runner_free(runner);
}

static void calls_run_in_order_on_the_addresses_given(void **state)
{
    (void)state;
    ako_runner *runner = open_c("order.so", "void add(int *p, int n) { *p += n; }\nvoid twice(int *p) { *p *= 2; }\n");
    int a = 1, b = 10;
    ako_arg add_args[] = {arg_pointer(0, "p"), arg_int(3, "n")}, twice_args[] = {arg_pointer(0, "p")};
    const ako_call calls[] = {call_of("add", 0, 0, add_args, 2), call_of("twice", 0, 0, twice_args, 1)};
    assert_int_equal(ako_runner_bind(runner, calls, 2), AKO_OK);
    add_args[1] = arg_int(1000, "n"); /* bind has copied it */
    assert_int_equal(ako_runner_launch(runner, (void *[]){&a}), AKO_OK);
    assert_int_equal(ako_runner_launch(runner, (void *[]){&b}), AKO_OK);
    assert_int_equal(a, 8);
    assert_int_equal(b, 26);
    assert_int_equal(ako_runner_bind(runner, calls, 1), AKO_OK);
    assert_int_equal(ako_runner_launch(runner, (void *[]){&a}), AKO_OK);
    assert_int_equal(a, 1008);
    ako_runner_free(runner);
}

static void names_what_a_shared_object_lacks(void **state)
{
    (void)state;
    ako_runner *runner = open_c("lacks.so", "void there(void) {}\n");
    const ako_call call = call_of("absent", 0, 0, NULL, 0);
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_INVALID);
    assert_non_null(strstr(ako_error_last()->message, "has no function 'absent'"));
    ako_runner_free(runner);
    const char *undefined = compile_shared("undefined.so", "void nowhere(void);\nvoid f(void) { nowhere(); }\n");
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_C, undefined), AKO_INVALID);
    assert_null(runner);
    assert_non_null(strstr(ako_error_last()->message, "nowhere"));
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_C, "/nonexistent/x.so"), AKO_INVALID);
}

/* ---- kernels ---- */

#ifdef AKO_HAVE_CUDA
static const char kernels[] =
    "extern \"C\" __global__ void scale(float *y, const float *x, float a, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i]; }\n"
    "extern \"C\" __global__ void shared_sum(float *y, int n)\n"
    "{ extern __shared__ float s[]; s[threadIdx.x] = y[threadIdx.x]; __syncthreads();\n"
    "  if (threadIdx.x == 0) { float t = 0; for (int i = 0; i < n; i++) t += s[i]; y[0] = t; } }\n"
    "extern \"C\" __global__ void wild(int *p) { p[threadIdx.x] = 1; }\n";

#define N 1000

static void runs_kernels(void **state)
{
    (void)state;
    need_gpu();
    const ako_cudart_api *cuda = gpu_runtime();
    ako_runner *runner = gpu_open(kernels);
    float *device[2], host[N];
    for (int i = 0; i < 2; i++)
        assert_int_equal(cuda->cudaMalloc((void **)&device[i], sizeof host), cudaSuccess);
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    assert_int_equal(cuda->cudaMemcpy(device[1], host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);
    ako_arg args[] = {arg_pointer(0, "y"), arg_pointer(1, "x"), SCALAR(AKO_F32, float, 2.0f, "a"), arg_int(N, "n")};
    ako_arg back[] = {arg_pointer(1, "y"), arg_pointer(0, "x"), SCALAR(AKO_F32, float, 2.0f, "a"), arg_int(N, "n")};
    const ako_call calls[] = {call_of("scale", 8, 128, args, 4), call_of("scale", 8, 128, back, 4)};
    ako_resources r;
    assert_int_equal(ako_runner_bind(runner, calls, 2), AKO_OK);
    assert_int_equal(ako_runner_kernels(runner), 2);
    assert_int_equal(ako_runner_resources(runner, &r), AKO_OK);
    assert_true(r.registers > 0 && r.max_threads >= 128 && r.local_bytes == 0);
    assert_int_equal(ako_runner_launch(runner, (void *const *)device), AKO_OK);
    assert_int_equal(ako_runner_sync(runner), AKO_OK);
    assert_int_equal(cuda->cudaMemcpy(host, device[1], sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < N; i++)
        assert_true(host[i] == 4.0f * (float)i);
    ako_runner_free(runner);
    cuda->cudaFree(device[0]);
    cuda->cudaFree(device[1]);
}

static void raises_the_shared_memory_limit(void **state)
{
    (void)state;
    need_gpu();
    const ako_cudart_api *cuda = gpu_runtime();
    ako_runner *runner = gpu_open(kernels);
    ako_device_props gpu;
    float *y, host[64];
    for (int i = 0; i < 64; i++)
        host[i] = 1;
    assert_int_equal(ako_device_find(&gpu, "cuda:0"), AKO_OK);
    assert_int_equal(cuda->cudaMalloc((void **)&y, sizeof host), cudaSuccess);
    assert_int_equal(cuda->cudaMemcpy(y, host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);
    ako_arg args[] = {arg_pointer(0, "y"), arg_int(64, "n")};
    ako_call call = call_of("shared_sum", 1, 64, args, 2);
    call.shared_bytes = (unsigned)gpu.shared_per_block_optin;
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_OK);
    assert_int_equal(ako_runner_launch(runner, (void *[]){y}), AKO_OK);
    assert_int_equal(ako_runner_sync(runner), AKO_OK);
    assert_int_equal(cuda->cudaMemcpy(host, y, sizeof *host, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_true(host[0] == 64);
    call.shared_bytes += 1024;
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_INVALID);
    assert_non_null(strstr(ako_error_last()->message, "of static shared memory, a block can have "));
    ako_runner_free(runner);
    cuda->cudaFree(y);
}

static void runs_clusters(void **state)
{
    (void)state;
    need_gpu();
    ako_device_props gpu;
    assert_int_equal(ako_device_find(&gpu, "cuda:0"), AKO_OK);
    if (gpu.cc_major < 9)
        skip();
    ako_runner *runner =
        gpu_open("extern \"C\" __global__ void size(unsigned *y) { if (threadIdx.x == 0) asm volatile("
                 "\"{ .reg .u32 t; mov.u32 t, %%cluster_nctaid.x; st.global.u32 [%0], t; }\" :: \"l\"(y)); }\n");
    const ako_cudart_api *cuda = gpu_runtime();
    unsigned *y, host = 0;
    assert_int_equal(cuda->cudaMalloc((void **)&y, sizeof host), cudaSuccess);
    ako_arg args[] = {arg_pointer(0, "y")};
    ako_call call = call_of("size", 4, 32, args, 1);
    call.cluster[0] = 2;
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_OK);
    assert_int_equal(ako_runner_launch(runner, (void *[]){y}), AKO_OK);
    assert_int_equal(ako_runner_sync(runner), AKO_OK);
    assert_int_equal(cuda->cudaMemcpy(&host, y, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(host, 2);
    call.cluster[0] = 3;
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_INVALID);
    assert_non_null(strstr(ako_error_last()->message, "which its cluster of 3 does not divide"));
    ako_runner_free(runner);
    cuda->cudaFree(y);
}

static void assert_refused(ako_runner *runner, const ako_call *call, const char *message)
{
    assert_int_equal(ako_runner_bind(runner, call, 1), AKO_INVALID);
    print_message("%s\n", ako_error_last()->message);
    assert_string_equal(ako_error_last()->message, message);
}

static void refuses_wrong_launch_lines(void **state)
{
    (void)state;
    need_gpu();
    ako_runner *runner = gpu_open(kernels);
    ako_arg args[] = {arg_pointer(0, "y"), arg_pointer(1, "x"), SCALAR(AKO_F32, float, 2.0f, "a"), arg_int(N, "n"),
                      arg_int(1, "more")};
    ako_call call = call_of("scale", 1, 32, args, 3);
    assert_refused(runner, &call, "launch line 1: kernel scale takes 4 arguments, the launch line passes 3");
    call.n_args = 5;
    assert_refused(runner, &call, "launch line 1: kernel scale takes 4 arguments, the launch line passes 5");
    call.n_args = 4;
    args[3] = arg_value(AKO_ARG_I64, AKO_I64, &(int64_t){N}, 8, "n");
    assert_refused(runner, &call, "launch line 1: kernel scale takes 4 bytes as argument 4, 'n' passes 8");
    args[3] = arg_int(N, "n");
    call.grid[1] = 0;
    assert_refused(runner, &call, "launch line 1: kernel scale has an empty grid (1, 0, 1)");
    call.grid[1] = 70000;
    assert_refused(runner, &call, "launch line 1: kernel scale has a grid of 70000 in y, the device allows 65535");
    call.grid[1] = 1;
    call.block[2] = 65;
    assert_refused(runner, &call, "launch line 1: kernel scale has a block of 65 in z, the device allows 64");
    call.block[2] = 64;
    assert_int_equal(ako_runner_bind(runner, &call, 1), AKO_INVALID);
    assert_non_null(strstr(ako_error_last()->message, "is launched with 2048 threads a block, it can have "));
    call = call_of("scales", 1, 32, args, 4);
    assert_refused(runner, &call, "launch line 1: kernel scales is not in the compiled code");
    ako_runner_free(runner);
}

static int fault(const char *cubin)
{
    ako_runner *runner;
    ako_arg args[] = {arg_pointer(0, "p")};
    const ako_call call = call_of("wild", 1, 32, args, 1);
    if (ako_runner_open(&runner, AKO_LANE_CUDA, cubin) != AKO_OK || ako_runner_bind(runner, &call, 1) != AKO_OK ||
        ako_runner_launch(runner, (void *[]){(void *)64}) != AKO_OK)
        return 1;
    int status = ako_runner_sync(runner);
    fprintf(stderr, "%s\n", ako_error_last()->message);
    bool said = strstr(ako_error_last()->message, "an illegal memory access was encountered") != NULL;
    ako_runner_free(runner);
    return status == AKO_CUDA && said ? 0 : 2;
}

static void faults_are_said_in_words(void **state)
{
    (void)state;
    need_gpu();
    char cubin[2 * PATH_MAX];
    int status = -1;
    pid_t pid;
    snprintf(cubin, sizeof cubin, "%s", gpu_compile(kernels));
    char *const argv[] = {"test_runner", "fault", cubin, NULL};
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
#else
static int fault(const char *cubin)
{
    (void)cubin;
    return 1;
}

static void without_cuda(void **state)
{
    (void)state;
    ako_runner *runner;
    assert_int_equal(ako_runner_open(&runner, AKO_LANE_CUDA, "x.cubin"), AKO_UNAVAILABLE);
    assert_null(runner);
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes),
        cmocka_unit_test(passes_every_kind_of_argument),
        cmocka_unit_test(calls_run_in_order_on_the_addresses_given),
        cmocka_unit_test(names_what_a_shared_object_lacks),
#ifdef AKO_HAVE_CUDA
        cmocka_unit_test(runs_kernels),
        cmocka_unit_test(raises_the_shared_memory_limit),
        cmocka_unit_test(runs_clusters),
        cmocka_unit_test(refuses_wrong_launch_lines),
        cmocka_unit_test(faults_are_said_in_words),
#else
        cmocka_unit_test(without_cuda),
#endif
    };
    if (argc == 3 && strcmp(argv[1], "fault") == 0)
        return fault(argv[2]);
    return cmocka_run_group_tests(tests, compile_setup, compile_done);
}
