#include "cudart_driver.h"

#include <cuda.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define DRIVER_FUNCTIONS(X) \
    X(cuKernelGetAttribute) \
    X(cuKernelGetParamInfo) \
    X(cuKernelSetAttribute) \
    X(cuLaunchKernelEx)     \
    X(cuLibraryGetKernel)   \
    X(cuLibraryLoadData)    \
    X(cuLibraryUnload)

static struct {
#define FIELD(name) __typeof__(name) *name;
    DRIVER_FUNCTIONS(FIELD)
#undef FIELD
} driver;
static const ako_cudart_api *runtime;
static cudaError_t resolved;

static void resolve_one(const char *name, void *slot)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    void *address = NULL;
    cudaError_t error = runtime->cudaGetDriverEntryPointByVersion(name, &address, 12060, cudaEnableDefault, &found);
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess)
        resolved = cudaErrorInsufficientDriver;
    memcpy(slot, &address, sizeof address);
}

static void resolve_all(void)
{
#define RESOLVE(name) resolve_one(#name, &driver.name);
    DRIVER_FUNCTIONS(RESOLVE)
#undef RESOLVE
}

static cudaError_t ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, resolve_all);
    return resolved;
}

/* The driver's error numbers are the runtime's for everything that these calls give. */
static cudaError_t as_runtime(CUresult result)
{
    return (cudaError_t)result;
}

/* A context must be current before the driver is asked to load or launch; freeing nothing makes the runtime's. */
static cudaError_t with_context(void)
{
    cudaError_t error = ready();
    return error == cudaSuccess ? runtime->cudaFree(NULL) : error;
}

static cudaError_t load_data(cudaLibrary_t *library, const void *code, enum cudaJitOption *jit, void **jit_values,
                             unsigned n_jit, enum cudaLibraryOption *options, void **option_values, unsigned n_options)
{
    (void)jit, (void)jit_values, (void)n_jit, (void)options, (void)option_values, (void)n_options;
    cudaError_t error = with_context();
    CUlibrary loaded = NULL;
    if (error == cudaSuccess)
        error = as_runtime(driver.cuLibraryLoadData(&loaded, code, NULL, NULL, 0, NULL, NULL, 0));
    *library = (cudaLibrary_t)loaded;
    return error;
}

static cudaError_t get_kernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    CUkernel found = NULL;
    CUresult result = driver.cuLibraryGetKernel(&found, (CUlibrary)library, name);
    *kernel = (cudaKernel_t)found;
    return as_runtime(result);
}

static cudaError_t unload(cudaLibrary_t library)
{
    return as_runtime(driver.cuLibraryUnload((CUlibrary)library));
}

static CUkernel kernel_of(const void *function)
{
    union {
        const void *in;
        CUkernel out;
    } u = {.in = function};
    return u.out;
}

static CUresult attribute(int *out, CUfunction_attribute which, const void *function)
{
    int device = 0;
    if (runtime->cudaGetDevice(&device) != cudaSuccess)
        return CUDA_ERROR_INVALID_DEVICE;
    return driver.cuKernelGetAttribute(out, which, kernel_of(function), device);
}

static cudaError_t get_attributes(struct cudaFuncAttributes *out, const void *function)
{
    int local = 0, shared = 0;
    CUresult result = attribute(&out->numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
    if (!result)
        result = attribute(&out->maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
    if (!result)
        result = attribute(&out->maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function);
    if (!result)
        result = attribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function);
    if (!result)
        result = attribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    out->localSizeBytes = (size_t)local;
    out->sharedSizeBytes = (size_t)shared;
    return as_runtime(result);
}

static cudaError_t set_attribute(const void *function, enum cudaFuncAttribute which, int value)
{
    CUfunction_attribute driver_attribute = which == cudaFuncAttributeMaxDynamicSharedMemorySize
                                                ? CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                                                : CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    int device = 0;
    cudaError_t error = runtime->cudaGetDevice(&device);
    if (error != cudaSuccess)
        return error;
    return as_runtime(driver.cuKernelSetAttribute(driver_attribute, value, kernel_of(function), device));
}

static cudaError_t get_param_info(const void *function, size_t index, size_t *offset, size_t *size)
{
    return as_runtime(driver.cuKernelGetParamInfo(kernel_of(function), index, offset, size));
}

/* Both structures of a launch attribute are the same bytes: an id, padding to 8, and a value of 64. */
_Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "launch attributes differ in size");
_Static_assert(offsetof(CUlaunchAttribute, value) == offsetof(cudaLaunchAttribute, val), "launch attributes differ");

static cudaError_t launch_config(const cudaLaunchConfig_t *config, const void *function, void **arguments)
{
    CUlaunchAttribute attributes[4];
    if (config->numAttrs > sizeof attributes / sizeof *attributes)
        return cudaErrorInvalidValue;
    if (config->numAttrs > 0)
        memcpy(attributes, config->attrs, config->numAttrs * sizeof *attributes);
    const CUlaunchConfig c = {
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = attributes,
        .numAttrs = config->numAttrs,
    };
    return as_runtime(driver.cuLaunchKernelEx(&c, (CUfunction)kernel_of(function), arguments, NULL));
}

static cudaError_t launch(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                          cudaStream_t stream)
{
    const cudaLaunchConfig_t config = {
        .gridDim = grid, .blockDim = block, .dynamicSmemBytes = shared, .stream = stream};
    return launch_config(&config, function, arguments);
}

void ako_cudart_use_driver(ako_cudart_api *cuda)
{
    runtime = cuda;
    cuda->cudaFuncGetAttributes = get_attributes;
    cuda->cudaFuncGetParamInfo = get_param_info;
    cuda->cudaFuncSetAttribute = set_attribute;
    cuda->cudaLaunchKernel = launch;
    cuda->cudaLaunchKernelExC = launch_config;
    cuda->cudaLibraryGetKernel = get_kernel;
    cuda->cudaLibraryLoadData = load_data;
    cuda->cudaLibraryUnload = unload;
}
