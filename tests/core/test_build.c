#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_parts.h"
#include "cancel.h"
#include "error.h"
#include "fs.h"
#include "log.h"
#include "machine_code.h"
#include "process.h"

#define SECOND INT64_C(1000000000)
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static char scratch[4096];

static ako_build_input input_of(ako_lane lane, const ako_source *sources, int n)
{
    return (ako_build_input){.lane = lane, .sources = sources, .n_sources = n, .arch = "sm_90"};
}

static ako_source source_of(const char *name, const char *text)
{
    return (ako_source){.name = name, .text = text, .size = strlen(text)};
}

static int build_text(ako_build_output *out, ako_lane lane, const char *name, const char *text)
{
    ako_source s = source_of(name, text);
    ako_build_input in = input_of(lane, &s, 1);
    return ako_build(out, &in);
}

/* Skips the test where this machine cannot build the lane at all. */
static void need(ako_lane lane)
{
    ako_build_output out;
    const char *text = lane == AKO_LANE_C ? "int probe;\n" : "__global__ void probe() {}\n";
    int status = build_text(&out, lane, lane == AKO_LANE_C ? "p.c" : "p.cu", text);
    ako_build_output_free(&out);
    if (status == AKO_UNAVAILABLE) {
        print_message("skipped: %s\n", ako_error_last()->message);
        skip();
    }
}

static const char kernels[] = "//! launch scale<<<(N), (256)>>>(x)\n"
                              "#include <cuda_fp16.h>\n"
                              "extern \"C\" __global__ void scale(float *x) { x[threadIdx.x] *= 2; }\n"
                              "template <int N, typename T> __global__ void __launch_bounds__(64) fill(T *x)\n"
                              "{\n"
                              "    __shared__ T s[64];\n"
                              "    s[threadIdx.x] = T(N);\n"
                              "    __syncthreads();\n"
                              "    x[threadIdx.x] = s[63 - threadIdx.x];\n"
                              "}\n"
                              "namespace a { __global__ void plain(half *x) { x[0] = x[1]; } }\n"
                              "__device__ float helper(float x) { return x * x; }\n";

static void test_cuda_builds_and_names(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    ako_source s = source_of("kernel.cu", kernels);
    ako_build_input in = input_of(AKO_LANE_CUDA, &s, 1);
    const char *names[] = {"scale", "fill<4, float>", "a::plain"};
    in.names = names;
    in.n_names = COUNT(names);
    ako_build_output out;
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_true(out.ok);
    assert_false(out.timed_out);
    assert_int_equal(out.n_lowered, 3);
    assert_string_equal(out.lowered[0], "scale");
    assert_string_equal(out.lowered[1], "_Z4fillILi4EfEvPT0_");
    assert_string_equal(out.lowered[2], "_ZN1a5plainEP6__half");
    assert_true(out.registers >= 4 && out.registers < 64);
    assert_int_equal(out.shared_bytes, 256);
    assert_int_equal(out.spill_bytes, 0);
    assert_true(strlen(out.hash) >= 40);
    assert_non_null(strstr(out.log.data, ", headers /"));
    ako_buf cubin = {0};
    assert_int_equal(ako_fs_read(&cubin, out.path, 0), AKO_OK);
    assert_memory_equal(cubin.data, "\177ELF", 4);
    ako_buf_free(&cubin);

    ako_build_output again;
    assert_int_equal(ako_build(&again, &in), AKO_OK);
    assert_true(again.ok && again.cached);
    assert_string_equal(again.hash, out.hash);
    assert_string_equal(again.path, out.path);
    assert_string_equal(again.log.data, out.log.data);
    assert_string_equal(again.lowered[1], out.lowered[1]);
    assert_int_equal(again.registers, out.registers);
    ako_build_output_free(&again);
    ako_build_output_free(&out);
}

static void test_cuda_error_has_its_place(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    ako_build_output out;
    assert_int_equal(build_text(&out, AKO_LANE_CUDA, "kernel.cu",
                                "#include <cuda_fp16.h>\n"
                                "__global__ void f(float *x) {\n  x[0] = missing;\n  x[1] = other;\n}\n"),
                     AKO_OK);
    assert_false(out.ok);
    assert_string_equal(out.error_file, "kernel.cu");
    assert_int_equal(out.error_line, 3);
    assert_int_equal(out.error_column, 10);
    assert_string_equal(out.error_text, "identifier \"missing\" is undefined");
    ako_build_output_free(&out);
    assert_int_equal(build_text(&out, AKO_LANE_CUDA, "kernel.cu", "#include \"nothere.h\"\n"), AKO_OK);
    assert_false(out.ok);
    assert_int_equal(out.error_line, 1);
    assert_string_equal(out.error_text, "cannot open source file \"nothere.h\"");
    ako_build_output_free(&out);
    assert_int_equal(
        build_text(&out, AKO_LANE_CUDA, "kernel.cu", "__global__ void f(float *x) { asm(\"bad.instr;\"); }\n"), AKO_OK);
    assert_false(out.ok);
    assert_non_null(strstr(out.error_text, ".instr"));
    ako_build_output_free(&out);
}

static void check_missing_name(const char *name)
{
    ako_source s = source_of("kernel.cu", kernels);
    ako_build_input in = input_of(AKO_LANE_CUDA, &s, 1);
    const char *names[] = {"scale", name};
    in.names = names;
    in.n_names = 2;
    ako_build_output out;
    char want[256];
    snprintf(want, sizeof want, "no kernel \"%s\": the __global__ functions are scale, fill, plain", name);
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_false(out.ok);
    assert_string_equal(out.error_text, want);
    assert_string_equal(out.error_file, "kernel.cu");
    ako_build_output_free(&out);
}

static void test_cuda_missing_kernel_lists_what_there_is(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    check_missing_name("scal");
    check_missing_name("fill"); /* a template without its arguments */
    check_missing_name("fill<4, flot>");
    check_missing_name("helper"); /* no kernel */
    check_missing_name("scale, (");
}

static void test_kernels_are_listed_whatever_strings_and_comments_say(void **state)
{
    (void)state;
    ako_source s = source_of("kernel.cu", "const char *u = \"http://\\\"x\"; __global__ void one(float *x) {}\n"
                                          "/* __global__ void none(); */ // __global__ void none();\n"
                                          "const char *t = \"__global__ void none()\"; const char *open = \"\n"
                                          "__global__ void two(int n = 1'000'000) {}\n");
    ako_build_input in = input_of(AKO_LANE_CUDA, &s, 1);
    ako_buf out = {0};
    ako_source_list_kernels(&out, &in);
    assert_string_equal(out.data, "one, two");
    ako_buf_free(&out);
}

static void test_cuda_defines_go_behind_the_includes(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    const char *text = "// head\n#include <cuda_fp16.h>\n#include \"tile.cuh\"\n"
                       "#ifndef BLOCK\n#error no block\n#endif\n"
                       "__global__ void f(float *x) { __shared__ float s[BLOCK]; s[threadIdx.x] = x[0];\n"
                       "__syncthreads(); x[1] = s[TILE - 1]; }\n";
    ako_source s[] = {source_of("kernel.cu", text), source_of("tile.cuh", "#define TILE (BLOCK * 2 / 2)\n")};
    ako_build_input in = input_of(AKO_LANE_CUDA, s, 2);
    const char *defines[] = {"BLOCK", "128", "UNUSED", ""};
    in.defines = defines;
    in.n_defines = COUNT(defines);
    ako_build_output out;
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_true(out.ok);
    assert_int_equal(out.shared_bytes, 512);
    ako_build_output_free(&out);
    defines[1] = "64";
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_int_equal(out.shared_bytes, 256);
    assert_false(out.cached);
    ako_build_output_free(&out);
    defines[1] = "oops";
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_false(out.ok);
    assert_string_equal(out.error_file, "kernel.cu");
    assert_int_equal(out.error_line, 7);
    ako_build_output_free(&out);
}

static void test_cuda_sees_a_changed_header(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    char folder[5000], header[5100], option[5100];
    snprintf(folder, sizeof folder, "%s/include", scratch);
    snprintf(header, sizeof header, "%s/size.h", folder);
    snprintf(option, sizeof option, "-I%s", folder);
    assert_int_equal(ako_fs_mkdirs(folder), AKO_OK);
    const char *options[] = {option};
    ako_source s =
        source_of("kernel.cu", "#include <cuda_fp16.h>\n#include <size.h>\n"
                               "__global__ void f(float *x) { __shared__ float s[SIZE]; s[threadIdx.x] = x[0];\n"
                               "__syncthreads(); x[1] = s[0]; }\n");
    ako_build_input in = input_of(AKO_LANE_CUDA, &s, 1);
    in.options = options;
    in.n_options = 1;
    const char *texts[] = {"#define SIZE 32\n", "#define SIZE 1024\n"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ako_fs_write(header, texts[i], strlen(texts[i]), false), AKO_OK);
        ako_build_output out;
        assert_int_equal(ako_build(&out, &in), AKO_OK);
        assert_true(out.ok && !out.cached);
        assert_int_equal(out.shared_bytes, i ? 4096 : 128);
        ako_build_output_free(&out);
    }
}

/* NVRTC would take the old text out of a precompiled header without a word. */
static void test_cuda_sees_a_changed_source_of_its_own(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    const char *heads[] = {"#include <cuda_fp16.h>\n#include \"own.h\"\n",
                           "#include \"own.h\"\n#include <cuda_fp16.h>\n"};
    const char *sizes[] = {"#define SIZE 32\n", "#define SIZE 1024\n"};
    for (int i = 0; i < 4; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "%s__global__ void f(float *x) { __shared__ float s[SIZE]; s[threadIdx.x] = x[0];\n"
                 "__syncthreads(); x[1] = s[0]; }\n",
                 heads[i / 2]);
        ako_source s[] = {source_of("kernel.cu", text), source_of("own.h", sizes[i % 2])};
        ako_build_input in = input_of(AKO_LANE_CUDA, s, 2);
        ako_build_output out;
        assert_int_equal(ako_build(&out, &in), AKO_OK);
        assert_true(out.ok && !out.cached);
        assert_int_equal(out.shared_bytes, i % 2 ? 4096 : 128);
        ako_build_output_free(&out);
    }
}

static void test_cuda_same_code_from_other_comments(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    const char *texts[] = {
        "__global__ void f(float *x) { x[threadIdx.x] *= 2; }\n",
        "// doubles\n\n/* really */\n__global__ void f(float *x)\n{\n    x[threadIdx.x] *= 2; // so\n}\n",
        "__global__ void f(float *x) { x[threadIdx.x] *= 3; }\n"};
    ako_build_output out[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(build_text(&out[i], AKO_LANE_CUDA, "kernel.cu", texts[i]), AKO_OK);
        assert_true(out[i].ok);
    }
    assert_string_not_equal(out[0].path, out[1].path);
    assert_string_equal(out[0].hash, out[1].hash);
    assert_string_not_equal(out[0].hash, out[2].hash);
    for (int i = 0; i < 3; i++)
        ako_build_output_free(&out[i]);
}

/* Below the comments nothing differs, so that caches of NVRTC's own would know the second from the first. */
static void test_cuda_tells_of_code_built_before(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    const char *texts[] = {"// first\nextern \"C\" __global__ void f(float *x) { x[threadIdx.x] *= 5; }\n",
                           "// other\nextern \"C\" __global__ void f(float *x) { x[threadIdx.x] *= 5; }\n"};
    for (int i = 0; i < 2; i++) {
        ako_source s = source_of("kernel.cu", texts[i]);
        ako_build_input in = input_of(AKO_LANE_CUDA, &s, 1);
        in.names = (const char *const[]){"f"};
        in.n_names = 1;
        ako_build_output out;
        assert_int_equal(ako_build(&out, &in), AKO_OK);
        assert_true(out.ok && !out.cached);
        assert_true(out.registers > 0);
        assert_int_equal(out.spill_bytes, 0);
        ako_build_output_free(&out);
    }
}

static void test_cuda_finds_kernels_in_a_cubin(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    ako_build_output out;
    ako_buf cubin = {0};
    assert_int_equal(build_text(&out, AKO_LANE_CUDA, "kernel.cu",
                                "extern \"C\" __device__ __noinline__ float helper(float x) { return x * x; }\n"
                                "extern \"C\" __global__ void idle() {}\n"
                                "extern \"C\" __global__ void square(float *x) { x[0] = helper(x[1]); }\n"),
                     AKO_OK);
    assert_int_equal(ako_fs_read(&cubin, out.path, 0), AKO_OK);
    assert_true(ako_machine_code_has_kernel(cubin.data, cubin.size, "square"));
    assert_true(ako_machine_code_has_kernel(cubin.data, cubin.size, "idle"));
    assert_false(ako_machine_code_has_kernel(cubin.data, cubin.size, "helper"));
    assert_false(ako_machine_code_has_kernel(cubin.data, cubin.size, "squar"));
    assert_false(ako_machine_code_has_kernel(cubin.data, cubin.size, ""));
    assert_false(ako_machine_code_has_kernel("", 0, "square"));
    ako_buf_free(&cubin);
    ako_build_output_free(&out);
}

static void test_cuda_stops_at_the_limit(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    ako_buf text = {0};
    for (int i = 0; i < 3000; i++)
        ako_buf_printf(&text,
                       "template <int N> __global__ void k%d(float *x) {\n#pragma unroll\n"
                       "for (int i = 0; i < N; i++) x[i] = sinf(x[i]) * cosf(x[i + %d]); }\n"
                       "template __global__ void k%d<64>(float *);\n",
                       i, i, i);
    assert_false(text.oom);
    ako_source s = source_of("huge.cu", text.data);
    ako_build_input in = input_of(AKO_LANE_CUDA, &s, 1);
    in.limit_ns = SECOND / 2;
    ako_build_output out;
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_true(out.timed_out && !out.ok);
    assert_string_equal(out.error_text, "not built within 0.5 s");
    print_message("stopped after %.2f s\n", (double)out.wall_ns / 1e9);
    ako_build_output_free(&out);
    in.limit_ns = 0;
    ako_cancel_request();
    int status = ako_build(&out, &in);
    ako_cancel_clear();
    assert_int_equal(status, AKO_CANCELLED);
    ako_build_output_free(&out);
    ako_buf_free(&text);
    assert_int_equal(ako_build_warm(AKO_LANE_CUDA), AKO_OK); /* the next compilation is none the worse */
}

static void test_cuda_bad_options_and_chips(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    ako_source s = source_of("kernel.cu", kernels);
    ako_build_input in = input_of(AKO_LANE_CUDA, &s, 1);
    const char *options[] = {"--no-such-option"};
    in.options = options;
    in.n_options = 1;
    ako_build_output out;
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_false(out.ok);
    assert_non_null(strstr(out.error_text, "--no-such-option"));
    ako_build_output_free(&out);
    in.n_options = 0;
    in.arch = "sm_999";
    assert_int_equal(ako_build(&out, &in), AKO_UNAVAILABLE);
    assert_non_null(strstr(ako_error_last()->message, "sm_999"));
    in.arch = "sm_90a";
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_true(out.ok);
    ako_build_output_free(&out);
}

static void test_two_processes_build_the_same_at_once(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA);
    const char *text = "__global__ void twice(float *x) { x[7] *= 2; }\n";
    pid_t pids[2];
    for (int i = 0; i < 2; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            ako_build_output out;
            bool fine =
                build_text(&out, AKO_LANE_CUDA, "kernel.cu", text) == AKO_OK && out.ok && ako_fs_exists(out.path);
            _exit(fine ? 0 : 1);
        }
    }
    for (int i = 0; i < 2; i++) {
        int how;
        assert_int_equal(waitpid(pids[i], &how, 0), pids[i]);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    ako_build_output out;
    assert_int_equal(build_text(&out, AKO_LANE_CUDA, "kernel.cu", text), AKO_OK);
    assert_true(out.cached);
    ako_build_output_free(&out);
}

static int call_entry(const char *path, const char *entry)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    int (*function)(void);
    *(void **)&function = dlsym(library, entry);
    assert_non_null(function);
    int result = function();
    dlclose(library);
    return result;
}

static void test_c_builds_several_files(void **state)
{
    (void)state;
    need(AKO_LANE_C);
    ako_source s[] = {source_of("solution.c", "#include <math.h>\n#include \"parts/part.h\"\n"
                                              "int solve(void) { return part() + (int)sqrt(SIZE * SIZE); }\n"),
                      source_of("parts/part.h", "int part(void);\n"),
                      source_of("parts/part.c", "#include \"part.h\"\nint part(void) { return 1000 * SIZE; }\n")};
    ako_build_input in = input_of(AKO_LANE_C, s, 3);
    const char *defines[] = {"SIZE", "7"};
    in.defines = defines;
    in.n_defines = 2;
    ako_build_output out, again;
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_true(out.ok);
    assert_int_equal(call_entry(out.path, "solve"), 7007);
    assert_int_equal(out.registers, -1);
    assert_int_equal(ako_build(&again, &in), AKO_OK);
    assert_true(again.cached);
    assert_string_equal(again.hash, out.hash);
    ako_build_output_free(&again);
    ako_build_output_free(&out);
}

static void test_c_error_has_its_place(void **state)
{
    (void)state;
    need(AKO_LANE_C);
    ako_source s = source_of("solution.c", "#include <math.h>\n\nint f(int a)\n{\n  return a + nothing;\n}\n");
    ako_build_input in = input_of(AKO_LANE_C, &s, 1);
    const char *defines[] = {"SIZE", "7"};
    in.defines = defines;
    in.n_defines = 2;
    ako_build_output out;
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_false(out.ok);
    assert_string_equal(out.error_file, "solution.c");
    assert_int_equal(out.error_line, 5);
    assert_int_equal(out.error_column, 14);
    assert_non_null(strstr(out.error_text, "nothing"));
    ako_build_output_free(&out);
    const char *options[] = {"-Wl,--no-undefined"};
    s = source_of("solution.c", "int other(void);\nint f(void) { return other(); }\n");
    in.n_defines = 0;
    in.options = options;
    in.n_options = 1;
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_false(out.ok);
    assert_non_null(strstr(out.error_text, "undefined reference to"));
    ako_build_output_free(&out);
}

static void test_c_same_code_from_other_comments(void **state)
{
    (void)state;
    need(AKO_LANE_C);
    const char *texts[] = {"#include <math.h>\nfloat f(float x) { return sinf(x) + 1; }\n",
                           "#include <math.h>\n/* one more */\nfloat f(float x)\n{\n    return sinf(x) + 1;\n}\n",
                           "#include <math.h>\nfloat f(float x) { return cosf(x) + 1; }\n"};
    ako_build_output out[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(build_text(&out[i], AKO_LANE_C, "s.c", texts[i]), AKO_OK);
        assert_true(out[i].ok);
    }
    assert_string_equal(out[0].hash, out[1].hash);
    assert_string_not_equal(out[0].hash, out[2].hash); /* only the name of the imported function differs */
    for (int i = 0; i < 3; i++)
        ako_build_output_free(&out[i]);
}

static void write_script(char *path, size_t size, const char *name, const char *text)
{
    snprintf(path, size, "%s/%s", scratch, name);
    assert_int_equal(ako_fs_write(path, text, strlen(text), false), AKO_OK);
    assert_int_equal(chmod(path, 0755), 0);
}

/* Doubles the limit until the compiler has come so far as to name itself, however slow the machine. */
static void test_c_hanging_compiler_is_killed(void **state)
{
    (void)state;
    char cc[5000], pid_file[5000], proc[64];
    write_script(cc, sizeof cc, "hang",
                 "#!/bin/sh\ntrap '' TERM\necho $$ > \"${0%hang}pid\"\nsleep 1000 & sleep 1000\n");
    snprintf(pid_file, sizeof pid_file, "%s/pid", scratch);
    ako_source s = source_of("solution.c", "int f(void) { return 1; }\n");
    ako_build_input in = input_of(AKO_LANE_C, &s, 1);
    ako_buf pid = {0};
    for (in.limit_ns = SECOND / 5; pid.size == 0 && in.limit_ns < 60 * SECOND; in.limit_ns *= 2) {
        ako_build_output out;
        setenv("CC", cc, 1);
        int status = ako_build(&out, &in);
        unsetenv("CC");
        assert_int_equal(status, AKO_OK);
        assert_true(out.timed_out && !out.ok);
        assert_memory_equal(out.error_text, "not built within ", 17);
        ako_build_output_free(&out);
        if (ako_fs_exists(pid_file))
            assert_int_equal(ako_fs_read(&pid, pid_file, 0), AKO_OK);
    }
    snprintf(proc, sizeof proc, "/proc/%d", atoi(pid.data));
    assert_true(atoi(pid.data) > 1);
    assert_false(ako_fs_exists(proc));
    ako_buf_free(&pid);
}

static void test_c_missing_compiler(void **state)
{
    (void)state;
    ako_build_output out;
    setenv("CC", "no-such-cc -m64", 1);
    int status = build_text(&out, AKO_LANE_C, "s.c", "int x;\n");
    assert_int_equal(status, AKO_UNAVAILABLE);
    assert_string_equal(ako_error_last()->message, "no C compiler no-such-cc: install gcc or set CC");
    char *path = strdup(getenv("PATH"));
    unsetenv("CC");
    setenv("PATH", "/nowhere", 1);
    status = build_text(&out, AKO_LANE_C, "s.c", "int x;\n");
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, AKO_UNAVAILABLE);
    assert_string_equal(ako_error_last()->message, "no C compiler: install gcc or set CC");
}

static int build_with_script(ako_build_output *out, const char *script)
{
    char cc[5000];
    write_script(cc, sizeof cc, "strange-cc", script);
    setenv("CC", cc, 1);
    int status = build_text(out, AKO_LANE_C, "s.c", "int y;\n");
    unsetenv("CC");
    return status;
}

static void test_c_compiler_without_a_result(void **state)
{
    (void)state;
    ako_build_output out;
    assert_int_equal(build_with_script(&out, "#!/bin/sh\nexit 0\n"), AKO_OK);
    assert_false(out.ok);
    assert_string_equal(out.error_text, "the compiler made no code");
    ako_build_output_free(&out);
}

/* The machine's fault, not the source's. */
static void test_c_no_room_to_compile(void **state)
{
    (void)state;
    ako_build_output out;
    static const char script[] = "#!/bin/sh\necho '/tmp/a.s: Fatal error: cannot write: No space left on device' >&2\n"
                                 "echo 'collect2: error: ld returned 1 exit status' >&2\nexit 1\n";
    assert_int_equal(build_with_script(&out, script), AKO_UNAVAILABLE);
    assert_non_null(strstr(ako_error_last()->message, "no room left on the disk of /"));
}

static void test_host_lane_builds(void **state)
{
    (void)state;
    need(AKO_LANE_CUDA_HOST);
    ako_source s = source_of("solution.cu", "#include <cuda_runtime.h>\n"
                                            "__global__ void k(float *x) { x[threadIdx.x] *= SIZE; }\n"
                                            "extern \"C\" int solve(float *x) { k<<<1, 32>>>(x); return 0; }\n");
    ako_build_input in = input_of(AKO_LANE_CUDA_HOST, &s, 1);
    const char *defines[] = {"SIZE", "2"};
    in.defines = defines;
    in.n_defines = 2;
    in.arch = "sm_90a";
    ako_build_output out, other;
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_true(out.ok);
    assert_true(out.registers > 0);
    defines[1] = "3";
    assert_int_equal(ako_build(&other, &in), AKO_OK);
    assert_true(other.ok);
    assert_string_not_equal(out.hash, other.hash); /* the kernel lies in .nv_fatbin */
    ako_build_output_free(&other);
    ako_build_output_free(&out);
    defines[1] = "oops";
    assert_int_equal(ako_build(&out, &in), AKO_OK);
    assert_false(out.ok);
    assert_string_equal(out.error_file, "solution.cu");
    assert_int_equal(out.error_line, 2);
    ako_build_output_free(&out);
}

static void count_warning(void *payload, ako_log_level level, const char *line)
{
    int *warnings = payload;
    *warnings += level == AKO_LOG_WARN && strstr(line, "without a cache") != NULL;
}

static void test_without_a_cache_builds_all_the_same(void **state)
{
    (void)state;
    need(AKO_LANE_C);
    int warnings = 0;
    ako_log_set_sink(count_warning, &warnings);
    char *cache = strdup(getenv("XDG_CACHE_HOME"));
    setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
    ako_build_output first, second;
    int status = build_text(&first, AKO_LANE_C, "s.c", "int solve(void) { return 31; }\n");
    if (status == AKO_OK)
        status = build_text(&second, AKO_LANE_C, "s.c", "int solve(void) { return 32; }\n");
    setenv("XDG_CACHE_HOME", cache, 1);
    free(cache);
    ako_log_set_sink(NULL, NULL);
    assert_int_equal(status, AKO_OK);
    assert_true(first.ok && second.ok);
    assert_int_equal(call_entry(first.path, "solve"), 31);
    assert_int_equal(call_entry(second.path, "solve"), 32);
    assert_int_equal(warnings, 1);
    ako_build_output_free(&first);
    ako_build_output_free(&second);
}

static void test_bad_input_is_refused(void **state)
{
    (void)state;
    const char *const names[] = {"../kernel.cu", "/etc/x.cu", "", "a/../../b.cu", "x\n.cu", "-o"};
    ako_build_output out;
    for (int i = 0; i < COUNT(names); i++)
        assert_int_equal(build_text(&out, AKO_LANE_C, names[i], "int x;\n"), AKO_INVALID);
    ako_source s = {.name = "s.c", .text = "int\0x;", .size = 6};
    ako_build_input in = input_of(AKO_LANE_C, &s, 1);
    assert_int_equal(ako_build(&out, &in), AKO_INVALID);
    s = source_of("s.c", "int x;\n");
    const char *defines[] = {"A B", "1"};
    in.defines = defines;
    in.n_defines = 2;
    assert_int_equal(ako_build(&out, &in), AKO_INVALID);
    defines[0] = "A";
    defines[1] = "1\n#include \"/etc/passwd\"";
    assert_int_equal(ako_build(&out, &in), AKO_INVALID);
}

static void check_put(const char *text, const char *stable, const char *want)
{
    ako_source s[] = {source_of("k.cu", text), source_of("own.h", "")};
    ako_build_input in = input_of(AKO_LANE_CUDA, s, 2);
    const char *defines[] = {"A", "1"};
    in.defines = defines;
    in.n_defines = 2;
    ako_buf out = {0};
    ako_source_put(&out, &in, 0, stable);
    assert_string_equal(out.data, want);
    ako_buf_free(&out);
}

static void test_where_defines_go(void **state)
{
    (void)state;
    check_put("int x;\n", NULL, "#define A 1\n#line 1 \"k.cu\"\nint x;\n");
    check_put("", NULL, "#define A 1\n#line 1 \"k.cu\"\n");
    check_put("// c\n#include <a.h>\n\nint x;\n", NULL,
              "// c\n#include <a.h>\n#define A 1\n#line 3 \"k.cu\"\n\nint x;\n");
    check_put("#include <a.h>", NULL, "#include <a.h>\n#define A 1\n#line 1 \"k.cu\"\n");
    check_put("#include <a.h>\n#include \"own.h\"\n#include <b.h>\n", NULL,
              "#include <a.h>\n#define A 1\n#line 2 \"k.cu\"\n#include \"own.h\"\n#include <b.h>\n");
    check_put("#if X\n#include <a.h>\n#endif\n#define Y \\\n 2\n# include <b.h>\nint x;\n#include <c.h>\n", NULL,
              "#if X\n#include <a.h>\n#endif\n#define Y \\\n 2\n# include <b.h>\n#define A 1\n#line 7 \"k.cu\"\n"
              "int x;\n#include <c.h>\n");
    check_put("/* #include <no.h>\n*/ #include <a.h>\nint x;\n", NULL,
              "/* #include <no.h>\n*/ #include <a.h>\n#define A 1\n#line 3 \"k.cu\"\nint x;\n");
    check_put("#ifndef G\n#include <a.h>\nint x;\n#endif\n", NULL,
              "#define A 1\n#line 1 \"k.cu\"\n#ifndef G\n#include <a.h>\nint x;\n#endif\n");
    check_put("\xEF\xBB\xBFint x;\n", NULL, "\xEF\xBB\xBF#define A 1\n#line 1 \"k.cu\"\nint x;\n");
}

static void test_precompiled_heads_hold_stable_headers_only(void **state)
{
    (void)state;
    char header[5000];
    snprintf(header, sizeof header, "%s/stable.h", scratch);
    assert_int_equal(ako_fs_write(header, "", 0, false), AKO_OK);
    check_put("#include <stable.h>\n#include <other.h>\n", scratch,
              "#include <stable.h>\n#pragma nv_hdrstop\n#define A 1\n#line 2 \"k.cu\"\n#include <other.h>\n");
    check_put("#include <other.h>\n#include <stable.h>\n", scratch,
              "#define A 1\n#line 1 \"k.cu\"\n#include <other.h>\n#include <stable.h>\n");
}

static void check_log(const char *log, const char *file, int line, int column, const char *text)
{
    ako_build_output out = {.registers = -1, .shared_bytes = -1, .spill_bytes = -1};
    ako_buf_puts(&out.log, log);
    ako_build_log_parse(&out, true);
    assert_string_equal(out.error_file, file);
    assert_int_equal(out.error_line, line);
    assert_int_equal(out.error_column, column);
    assert_string_equal(out.error_text, text);
    ako_build_output_free(&out);
}

static void test_logs(void **state)
{
    (void)state;
    check_log("k.cu(3): warning #177-D: unused\nk.cu(12): error: identifier \"y\" is undefined\n      y\n      ^\n\n",
              "k.cu", 12, 5, "identifier \"y\" is undefined");
    check_log("dir/k.cu(12): error #20: bad\n", "dir/k.cu", 12, 0, "bad");
    check_log("f.c: In function 'g':\nf.c:2:10: error: no\n    2 |   x\n", "f.c", 2, 10, "no");
    check_log("f.c:2: fatal error: a.h: No such file\n", "f.c", 2, 0, "a.h: No such file");
    check_log("ptxas /tmp/k.ptx, line 29; error   : Unknown modifier\n", "", 0, 0,
              "ptxas /tmp/k.ptx, line 29; error   : Unknown modifier");
    check_log(
        "ld: f.o: in function `g':\nf.c:(.text+0x5): undefined reference to `h'\ncollect2: error: ld returned 1\n", "",
        0, 0, "undefined reference to `h'");
    check_log("", "", 0, 0, "the compiler failed without saying why");
    ako_build_output out = {.ok = true, .registers = -1, .shared_bytes = -1, .spill_bytes = -1};
    ako_buf_puts(&out.log, "ptxas info    : Used 40 registers, used 1 barriers, 400 bytes smem, 16 bytes cmem[0]\n"
                           "    32 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads\n"
                           "ptxas info    : Used 255 registers, used 1 barriers\n"
                           "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
    ako_build_log_parse(&out, true);
    assert_int_equal(out.registers, 255);
    assert_int_equal(out.shared_bytes, 400);
    assert_int_equal(out.spill_bytes, 28);
    assert_string_equal(out.error_text, "");
    ako_build_output_free(&out);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Damages a real binary in every way; the reader may refuse it, and must stay inside of it (sanitizers watch). */
static void fuzz_machine_code(const char *path)
{
    ako_buf code = {0};
    assert_int_equal(ako_fs_read(&code, path, 0), AKO_OK);
    char hash[65];
    assert_int_equal(ako_machine_code_hash(hash, code.data, code.size), AKO_OK);
    uint64_t seed = 42;
    for (int i = 0; i < 2000; i++) {
        size_t size = i % 2 ? code.size : (size_t)next_random(&seed) % code.size;
        char *copy = malloc(size ? size : 1);
        memcpy(copy, code.data, size);
        size_t table = ((size_t)next_random(&seed) % 4) ? code.size - (code.size < 2048 ? code.size : 2048) : 0;
        for (int j = 0; j < 8 && size > 0; j++) {
            size_t at = next_random(&seed) % 3 == 0 ? next_random(&seed) % 64
                                                    : table + next_random(&seed) % (code.size - table);
            copy[at % size] = (char)next_random(&seed);
        }
        int status = ako_machine_code_hash(hash, copy, size);
        assert_true(status == AKO_OK || status == AKO_CORRUPT);
        ako_machine_code_has_kernel(copy, size, "scale");
        free(copy);
    }
    ako_buf_free(&code);
}

static void test_damaged_machine_code_is_refused(void **state)
{
    (void)state;
    char hash[65];
    assert_int_equal(ako_machine_code_hash(hash, "", 0), AKO_CORRUPT);
    assert_int_equal(
        ako_machine_code_hash(hash, "not an ELF file, but long enough for a header of 64 bytes ......", 64),
        AKO_CORRUPT);
    need(AKO_LANE_C);
    ako_build_output out;
    assert_int_equal(build_text(&out, AKO_LANE_C, "s.c", "int solve(void) { return 31; }\n"), AKO_OK);
    fuzz_machine_code(out.path);
    ako_build_output_free(&out);
    need(AKO_LANE_CUDA);
    assert_int_equal(build_text(&out, AKO_LANE_CUDA, "kernel.cu", kernels), AKO_OK);
    fuzz_machine_code(out.path);
    ako_build_output_free(&out);
}

static int set_up(void **state)
{
    (void)state;
    char cache[5000];
    if (ako_process_adopt_orphans() != AKO_OK || ako_fs_temp_dir(scratch, sizeof scratch, "test-build") != AKO_OK)
        return -1;
    snprintf(cache, sizeof cache, "%s/cache", scratch);
    unsetenv("CC");
    return setenv("XDG_CACHE_HOME", cache, 1);
}

static int tear_down(void **state)
{
    (void)state;
    return ako_fs_remove_tree(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_builds_and_names),
        cmocka_unit_test(test_cuda_error_has_its_place),
        cmocka_unit_test(test_cuda_missing_kernel_lists_what_there_is),
        cmocka_unit_test(test_kernels_are_listed_whatever_strings_and_comments_say),
        cmocka_unit_test(test_cuda_defines_go_behind_the_includes),
        cmocka_unit_test(test_cuda_sees_a_changed_header),
        cmocka_unit_test(test_cuda_sees_a_changed_source_of_its_own),
        cmocka_unit_test(test_cuda_same_code_from_other_comments),
        cmocka_unit_test(test_cuda_tells_of_code_built_before),
        cmocka_unit_test(test_cuda_finds_kernels_in_a_cubin),
        cmocka_unit_test(test_cuda_stops_at_the_limit),
        cmocka_unit_test(test_cuda_bad_options_and_chips),
        cmocka_unit_test(test_two_processes_build_the_same_at_once),
        cmocka_unit_test(test_c_builds_several_files),
        cmocka_unit_test(test_c_error_has_its_place),
        cmocka_unit_test(test_c_same_code_from_other_comments),
        cmocka_unit_test(test_c_hanging_compiler_is_killed),
        cmocka_unit_test(test_c_missing_compiler),
        cmocka_unit_test(test_c_compiler_without_a_result),
        cmocka_unit_test(test_c_no_room_to_compile),
        cmocka_unit_test(test_host_lane_builds),
        cmocka_unit_test(test_without_a_cache_builds_all_the_same),
        cmocka_unit_test(test_bad_input_is_refused),
        cmocka_unit_test(test_where_defines_go),
        cmocka_unit_test(test_precompiled_heads_hold_stable_headers_only),
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_damaged_machine_code_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
