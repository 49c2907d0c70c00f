/* The tables of the real CUDA libraries: they load, and much of them works, without a driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ako.h"
#include "symbols.h"

#ifdef AKO_HAVE_CUDA
#include <string.h>

#include "gpu/cudart.h"
#include "gpu/cupti.h"
#include "gpu/nvrtc.h"

static void need(const ako_library *library)
{
    char path[PATH_MAX];
    if (ako_library_find(path, library) != AKO_OK) {
        print_message("%s\n", ako_error_last()->message);
        skip();
    }
}

static void runtime(void **state)
{
    (void)state;
    const ako_cudart_api *cuda, *again;
    need(&ako_library_cudart);
    assert_int_equal(ako_cudart(&cuda), AKO_OK);
    assert_in_range(cuda->version, 12060, 13990);
#define ASSERT_SET(name) assert_true(cuda->name != NULL);
    AKO_CUDART_FUNCTIONS(ASSERT_SET)
    AKO_CUDART_LIBRARY_FUNCTIONS(ASSERT_SET)
    assert_int_equal(ako_cudart(&again), AKO_OK);
    assert_ptr_equal(cuda, again);
}

static void runtime_errors_have_statuses(void **state)
{
    (void)state;
    const ako_cudart_api *cuda;
    need(&ako_library_cudart);
    assert_int_equal(ako_cudart(&cuda), AKO_OK);
    assert_int_equal(ako_cudart_fail(cuda, cudaErrorIllegalAddress, "kernel %d", 3), AKO_CUDA);
    assert_string_equal(ako_error_last()->message,
                        "kernel 3: an illegal memory access was encountered (cudaErrorIllegalAddress)");
    assert_int_equal(ako_cudart_fail(cuda, cudaErrorMemoryAllocation, "x"), AKO_NOMEM);
    assert_int_equal(ako_cudart_fail(cuda, cudaErrorNoDevice, "x"), AKO_UNAVAILABLE);
}

static void compiler(void **state)
{
    (void)state;
    const ako_nvrtc_api *nvrtc;
    nvrtcProgram program;
    size_t size = 0;
    need(&ako_library_nvrtc);
    assert_int_equal(ako_nvrtc(&nvrtc), AKO_OK);
    assert_in_range(nvrtc->version, 12060, 13990);
    assert_int_equal(nvrtc->nvrtcCreateProgram(&program, "extern \"C\" __global__ void k() {}", "k.cu", 0, NULL, NULL),
                     NVRTC_SUCCESS);
    assert_int_equal(nvrtc->nvrtcCompileProgram(program, 1, (const char *const[]){"-arch=sm_90"}), NVRTC_SUCCESS);
    assert_int_equal(nvrtc->nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
    assert_true(size > 0);
    nvrtc->nvrtcDestroyProgram(&program);
}

static void profiler(void **state)
{
    (void)state;
    const ako_cupti_api *cupti;
    need(&ako_library_cupti);
    assert_int_equal(ako_cupti(&cupti), AKO_OK);
    assert_in_range(cupti->version, 12060, 13990);
    assert_int_equal(ako_cupti_fail(cupti, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "counters"), AKO_UNAVAILABLE);
    assert_non_null(strstr(ako_error_last()->message, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35); needs CAP_SYS_ADMIN"));
}
#else
static void runtime(void **state)
{
    (void)state;
    skip();
}
#define runtime_errors_have_statuses runtime
#define compiler runtime
#define profiler runtime
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runtime),
        cmocka_unit_test(runtime_errors_have_statuses),
        cmocka_unit_test(compiler),
        cmocka_unit_test(profiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
