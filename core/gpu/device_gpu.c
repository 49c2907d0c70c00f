#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cudart.h"
#include "error.h"
#include "gpu.h"
#include "nvml.h"

/* CUDA's own text blames the driver's version when there is no driver at all. */
static int explain_no_gpu(const ako_cudart_api *cuda, cudaError_t error)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return ako_fail(AKO_UNAVAILABLE, "device", "no NVIDIA driver: %s", dlerror());
    dlclose(driver);
    return ako_cudart_fail(cuda, error, "no usable GPU");
}

int ako_gpu_count(int *out)
{
    const ako_cudart_api *cuda;
    *out = 0;
    int status = ako_cudart(&cuda);
    if (status != AKO_OK)
        return status;
    cudaError_t error = cuda->cudaGetDeviceCount(out);
    if (error != cudaSuccess) {
        *out = 0;
        return explain_no_gpu(cuda, error);
    }
    return *out > 0 ? AKO_OK : ako_fail(AKO_UNAVAILABLE, "device", "no GPU is visible (CUDA_VISIBLE_DEVICES?)");
}

/* The structure grew and shrank between 12 and 13, and the symbol of this name takes the oldest form of it in 12. What
 * all forms share is their beginning; the room behind it is for the longest. */
typedef union properties {
    struct cudaDeviceProp prop;
    char room[8192];
} properties;
_Static_assert(offsetof(struct cudaDeviceProp, name) == 0, "cudaDeviceProp begins otherwise");
_Static_assert(offsetof(struct cudaDeviceProp, uuid) == 256, "cudaDeviceProp begins otherwise");
_Static_assert(offsetof(struct cudaDeviceProp, totalGlobalMem) == 288, "cudaDeviceProp begins otherwise");

static int read_identity(ako_device_props *out, const ako_cudart_api *cuda, int index)
{
    properties p = {.room = {0}};
    cudaError_t error = cuda->cudaGetDeviceProperties(&p.prop, index);
    if (error != cudaSuccess)
        return ako_cudart_fail(cuda, error, "cannot read the properties of cuda:%d", index);
    snprintf(out->name, sizeof out->name, "%s", p.prop.name);
    out->memory_bytes = (int64_t)p.prop.totalGlobalMem;
    size_t used = (size_t)snprintf(out->uuid, sizeof out->uuid, "GPU");
    for (int i = 0; i < 16; i++) {
        const char *dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        used += (size_t)snprintf(out->uuid + used, sizeof out->uuid - used, "%s%02x", dash,
                                 (unsigned char)p.prop.uuid.bytes[i]);
    }
    return AKO_OK;
}

/* 0 for an attribute that this runtime or device does not have. */
static int attribute(const ako_cudart_api *cuda, enum cudaDeviceAttr which, int index)
{
    int value = 0;
    if (cuda->cudaDeviceGetAttribute(&value, which, index) != cudaSuccess) {
        cuda->cudaGetLastError();
        return 0;
    }
    return value;
}

/* Generations as NVIDIA counts them in its architecture papers: Volta 1, Turing 2, Ampere 3, Ada and Hopper 4,
 * Blackwell 5. */
static int tensor_core_generation(int major, int minor)
{
    if (major < 7)
        return 0;
    if (major == 7)
        return minor < 5 ? 1 : 2;
    if (major == 8)
        return minor < 9 ? 3 : 4;
    return major == 9 ? 4 : 5;
}

static int max_memory_clock_khz(const char *uuid)
{
    const ako_nvml_api *nvml;
    ako_nvml_device gpu;
    unsigned mhz = 0;
    if (ako_nvml(&nvml) != AKO_OK || ako_nvml_find(&gpu, nvml, uuid) != AKO_OK ||
        nvml->nvmlDeviceGetMaxClockInfo(gpu, AKO_NVML_CLOCK_MEMORY, &mhz) != AKO_NVML_SUCCESS)
        return 0;
    return (int)(mhz * 1000);
}

int ako_gpu_props(ako_device_props *out, int index)
{
    const ako_cudart_api *cuda;
    int status = ako_cudart(&cuda);
    *out = (ako_device_props){.place = AKO_GPU, .index = index};
    if (status == AKO_OK)
        status = read_identity(out, cuda, index);
    if (status != AKO_OK)
        return status;
    snprintf(out->id, sizeof out->id, "cuda:%d", index);
    out->cc_major = attribute(cuda, cudaDevAttrComputeCapabilityMajor, index);
    out->cc_minor = attribute(cuda, cudaDevAttrComputeCapabilityMinor, index);
    out->sm_count = attribute(cuda, cudaDevAttrMultiProcessorCount, index);
    out->registers_per_sm = attribute(cuda, cudaDevAttrMaxRegistersPerMultiprocessor, index);
    out->threads_per_sm = attribute(cuda, cudaDevAttrMaxThreadsPerMultiProcessor, index);
    out->shared_per_block = attribute(cuda, cudaDevAttrMaxSharedMemoryPerBlock, index);
    out->shared_per_block_optin = attribute(cuda, cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
    out->shared_per_sm = attribute(cuda, cudaDevAttrMaxSharedMemoryPerMultiprocessor, index);
    out->l2_bytes = attribute(cuda, cudaDevAttrL2CacheSize, index);
    out->bus_width_bits = attribute(cuda, cudaDevAttrGlobalMemoryBusWidth, index);
    out->clock_khz = attribute(cuda, cudaDevAttrClockRate, index);
    out->memory_clock_khz = attribute(cuda, cudaDevAttrMemoryClockRate, index);
    if (out->memory_clock_khz == 0)
        out->memory_clock_khz = max_memory_clock_khz(out->uuid);
    /* The chips that have instructions of their own compile them for the "a" form of their architecture only. */
    snprintf(out->arch, sizeof out->arch, "sm_%d%d%s", out->cc_major, out->cc_minor, out->cc_major >= 9 ? "a" : "");
    out->tensor_core_generation = tensor_core_generation(out->cc_major, out->cc_minor);
    out->peak_dram_bytes_per_s = 2.0 * out->memory_clock_khz * 1000.0 * out->bus_width_bits / 8.0;
    return AKO_OK;
}
