/* For tests that need a GPU: whether there is one, and kernels compiled for it by NVRTC. */
#ifndef AKO_TEST_GPU_FIXTURE_H
#define AKO_TEST_GPU_FIXTURE_H

#include "compile.h"
#include "device.h"
#include "runner.h"

/* Skips the test, with the reason, where there is no GPU. */
static inline void need_gpu(void)
{
    const char *why;
    if (ako_device_count(&why) > 1)
        return;
    print_message("%s\n", why);
    skip();
}

#ifdef AKO_HAVE_CUDA
#include "gpu/cudart.h"
#include "gpu/nvrtc.h"

static inline const ako_cudart_api *gpu_runtime(void)
{
    const ako_cudart_api *cuda;
    assert_int_equal(ako_cudart(&cuda), AKO_OK);
    return cuda;
}

/* Compiles `source` (its kernels extern "C") for the first GPU; the path of the cubin is static. */
static inline const char *gpu_compile(const char *source)
{
    static char path[2 * PATH_MAX];
    const ako_nvrtc_api *nvrtc;
    ako_device_props gpu;
    nvrtcProgram program;
    char arch[32], log[4096] = "";
    size_t size = 0, log_size = 0;
    assert_int_equal(ako_nvrtc(&nvrtc), AKO_OK);
    assert_int_equal(ako_device_find(&gpu, "cuda:0"), AKO_OK);
    snprintf(arch, sizeof arch, "-arch=%s", gpu.arch);
    assert_int_equal(nvrtc->nvrtcCreateProgram(&program, source, "test.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    nvrtcResult result = nvrtc->nvrtcCompileProgram(program, 1, (const char *const[]){arch});
    if (nvrtc->nvrtcGetProgramLogSize(program, &log_size) == NVRTC_SUCCESS && log_size < sizeof log)
        nvrtc->nvrtcGetProgramLog(program, log);
    if (result != NVRTC_SUCCESS)
        print_message("%s\n", log);
    assert_int_equal(result, NVRTC_SUCCESS);
    assert_int_equal(nvrtc->nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
    char *cubin = malloc(size);
    assert_non_null(cubin);
    assert_int_equal(nvrtc->nvrtcGetCUBIN(program, cubin), NVRTC_SUCCESS);
    snprintf(path, sizeof path, "%s/test-%zu.cubin", compile_dir, size);
    assert_int_equal(ako_fs_write(path, cubin, size, false), AKO_OK);
    free(cubin);
    nvrtc->nvrtcDestroyProgram(&program);
    return path;
}

static inline ako_runner *gpu_open(const char *source)
{
    ako_runner *runner = NULL;
    int status = ako_runner_open(&runner, AKO_LANE_CUDA, gpu_compile(source));
    if (status != AKO_OK)
        print_message("%s\n", ako_error_last()->message);
    assert_int_equal(status, AKO_OK);
    return runner;
}
#endif

#endif
