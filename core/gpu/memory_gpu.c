#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cudart.h"
#include "error.h"
#include "gpu.h"

/* CUDA carves small allocations out of blocks of this size, and an IPC handle opens the whole block: with blocks of our
 * own nothing else (a golden, say) lies open to the process that imports one. */
#define BLOCK_BYTES (UINT64_C(2) << 20)

int ako_gpu_alloc(void **out, uint64_t bytes)
{
    const ako_cudart_api *cuda;
    *out = NULL;
    int status = ako_cudart(&cuda);
    if (status != AKO_OK)
        return status;
    uint64_t blocks = bytes / BLOCK_BYTES + (bytes % BLOCK_BYTES != 0 || bytes == 0);
    cudaError_t error = cuda->cudaMalloc(out, blocks * BLOCK_BYTES);
    if (error == cudaSuccess)
        return AKO_OK;
    *out = NULL;
    size_t available = 0, total = 0;
    if (error != cudaErrorMemoryAllocation || cuda->cudaMemGetInfo(&available, &total) != cudaSuccess)
        return ako_cudart_fail(cuda, error, "cannot allocate %" PRIu64 " bytes on the GPU", bytes);
    cuda->cudaGetLastError();
    return ako_fail(AKO_NOMEM, "memory", "%" PRIu64 " bytes do not fit on the GPU: %zu of %zu are free", bytes,
                    available, total);
}

_Static_assert(2 * sizeof(cudaIpcMemHandle_t) == 128, "the handle's text has 128 digits");

int ako_gpu_export(char handle[129], void *base)
{
    const ako_cudart_api *cuda;
    cudaIpcMemHandle_t raw;
    int status = ako_cudart(&cuda);
    if (status != AKO_OK)
        return status;
    cudaError_t error = cuda->cudaIpcGetMemHandle(&raw, base);
    if (error != cudaSuccess)
        return ako_cudart_fail(cuda, error, "cannot export GPU memory to other processes");
    for (size_t i = 0; i < sizeof raw.reserved; i++)
        snprintf(handle + 2 * i, 3, "%02x", (unsigned char)raw.reserved[i]);
    return AKO_OK;
}

static int parse_handle(cudaIpcMemHandle_t *out, const char *handle)
{
    if (strlen(handle) != 128 || strspn(handle, "0123456789abcdef") != 128)
        return ako_fail(AKO_INVALID, "memory", "an IPC handle has 128 hexadecimal digits");
    for (size_t i = 0; i < sizeof out->reserved; i++) {
        unsigned byte = 0;
        sscanf(handle + 2 * i, "%2x", &byte);
        out->reserved[i] = (char)byte;
    }
    return AKO_OK;
}

int ako_gpu_import(void **out, const char *handle)
{
    const ako_cudart_api *cuda;
    cudaIpcMemHandle_t raw;
    *out = NULL;
    int status = ako_cudart(&cuda);
    if (status == AKO_OK)
        status = parse_handle(&raw, handle);
    if (status != AKO_OK)
        return status;
    cudaError_t error = cuda->cudaIpcOpenMemHandle(out, raw, cudaIpcMemLazyEnablePeerAccess);
    if (error == cudaSuccess)
        return AKO_OK;
    *out = NULL;
    return ako_cudart_fail(cuda, error, "cannot open GPU memory of another process");
}

void ako_gpu_release(void *base, int imported)
{
    const ako_cudart_api *cuda;
    if (ako_cudart(&cuda) != AKO_OK)
        return;
    cudaError_t error = imported ? cuda->cudaIpcCloseMemHandle(base) : cuda->cudaFree(base);
    if (error != cudaSuccess)
        cuda->cudaGetLastError(); /* a poisoned context has freed it already */
}
