/* The CUDA Runtime, opened at run time. For files under core/gpu/ only: this header needs CUDA's own. */
#ifndef AKO_CUDART_H
#define AKO_CUDART_H

#include <cuda_runtime_api.h>

/* The cudaLibrary functions came with 12.8; for 12.6 and 12.7 the same calls of the driver stand in for them. */
#define AKO_CUDART_LIBRARY_FUNCTIONS(X) \
    X(cudaLibraryGetKernel)             \
    X(cudaLibraryLoadData)              \
    X(cudaLibraryUnload)

#define AKO_CUDART_FUNCTIONS(X)                      \
    X(cudaCtxResetPersistingL2Cache)                 \
    X(cudaDeviceGetAttribute)                        \
    X(cudaDeviceGetLimit)                            \
    X(cudaDeviceSetLimit)                            \
    X(cudaDeviceSynchronize)                         \
    X(cudaEventCreate)                               \
    X(cudaEventDestroy)                              \
    X(cudaEventElapsedTime)                          \
    X(cudaEventRecord)                               \
    X(cudaEventSynchronize)                          \
    X(cudaFree)                                      \
    X(cudaFreeHost)                                  \
    X(cudaFuncGetAttributes)                         \
    X(cudaFuncGetParamInfo)                          \
    X(cudaFuncSetAttribute)                          \
    X(cudaGetDevice)                                 \
    X(cudaGetDeviceCount)                            \
    X(cudaGetDeviceProperties)                       \
    X(cudaGetDriverEntryPointByVersion)              \
    X(cudaGetErrorName)                              \
    X(cudaGetErrorString)                            \
    X(cudaGetLastError)                              \
    X(cudaHostAlloc)                                 \
    X(cudaIpcCloseMemHandle)                         \
    X(cudaIpcGetMemHandle)                           \
    X(cudaIpcOpenMemHandle)                          \
    X(cudaLaunchKernel)                              \
    X(cudaLaunchKernelExC)                           \
    X(cudaMalloc)                                    \
    X(cudaMemGetInfo)                                \
    X(cudaMemcpy)                                    \
    X(cudaMemcpyAsync)                               \
    X(cudaMemset)                                    \
    X(cudaMemsetAsync)                               \
    X(cudaOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(cudaRuntimeGetVersion)                         \
    X(cudaSetDevice)                                 \
    X(cudaStreamSynchronize)

typedef struct ako_cudart_api {
    int version;      /* 1000 * major + 10 * minor */
    const char *path; /* of the library */
#define AKO_CUDART_FIELD(name) __typeof__(name) *name;
    AKO_CUDART_FUNCTIONS(AKO_CUDART_FIELD)
    AKO_CUDART_LIBRARY_FUNCTIONS(AKO_CUDART_FIELD)
#undef AKO_CUDART_FIELD
} ako_cudart_api;

/* The runtime of this process, opened by the first call. *out is static and every pointer in it is set.
 * AKO_UNAVAILABLE, the same each time, when there is none of version 12.6 to 13.x. Touches no driver and no GPU. */
int ako_cudart(const ako_cudart_api **out);

/* Stores "<text of format>: <CUDA's text> (<CUDA's name>)" and returns its status: AKO_NOMEM for device memory that ran
 * out, AKO_UNAVAILABLE when driver or GPU are missing, else AKO_CUDA. Clears CUDA's own last error. */
int ako_cudart_fail(const ako_cudart_api *cuda, cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
