#include "launch_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

#define PORTABLE_CLUSTER 8 /* blocks; every chip that has clusters has these */
#define LARGEST_CLUSTER 16

int ako_launch_limits_get(ako_launch_limits *out, const ako_cudart_api *cuda)
{
    int device = 0;
    cudaError_t error = cuda->cudaGetDevice(&device);
    const struct {
        int *value;
        enum cudaDeviceAttr which;
    } wanted[] = {
        {&out->grid[0], cudaDevAttrMaxGridDimX},        {&out->grid[1], cudaDevAttrMaxGridDimY},
        {&out->grid[2], cudaDevAttrMaxGridDimZ},        {&out->block[0], cudaDevAttrMaxBlockDimX},
        {&out->block[1], cudaDevAttrMaxBlockDimY},      {&out->block[2], cudaDevAttrMaxBlockDimZ},
        {&out->has_clusters, cudaDevAttrClusterLaunch}, {&out->shared_optin, cudaDevAttrMaxSharedMemoryPerBlockOptin},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && error == cudaSuccess; i++)
        error = cuda->cudaDeviceGetAttribute(wanted[i].value, wanted[i].which, device);
    return error == cudaSuccess ? AKO_OK : ako_cudart_fail(cuda, error, "cannot read the limits of the GPU");
}

void ako_launch_place(char *out, size_t size, const ako_call *call)
{
    const char *name = call->label[0] ? call->label : call->symbol;
    if (call->line > 0)
        snprintf(out, size, "launch line %d: kernel %s", call->line, name);
    else
        snprintf(out, size, "kernel %s", name);
}

bool ako_call_has_cluster(const ako_call *call)
{
    return call->cluster[0] > 1 || call->cluster[1] > 1 || call->cluster[2] > 1;
}

__attribute__((format(printf, 2, 3))) static int invalid(const ako_call *call, const char *format, ...)
{
    char place[300], what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    ako_launch_place(place, sizeof place, call);
    return ako_fail(AKO_INVALID, "runner", "%s %s", place, what);
}

static size_t passed_bytes(const ako_arg *arg)
{
    return arg->kind == AKO_ARG_POINTER ? sizeof(void *) : (size_t)arg->size;
}

/* CUDA has no count of a kernel's parameters: asking behind the last of them is an invalid value. */
static int check_arguments(const ako_cudart_api *cuda, const void *kernel, const ako_call *call)
{
    int taken = 0;
    size_t offset = 0, size = 0;
    cudaError_t error;
    while ((error = cuda->cudaFuncGetParamInfo(kernel, (size_t)taken, &offset, &size)) == cudaSuccess) {
        const ako_arg *arg = taken < call->n_args ? &call->args[taken] : NULL;
        taken++;
        if (arg && passed_bytes(arg) != size)
            return invalid(call, "takes %zu bytes as argument %d, '%s' passes %zu", size, taken, arg->name,
                           passed_bytes(arg));
    }
    if (error != cudaErrorInvalidValue)
        return ako_cudart_fail(cuda, error, "cannot read the parameters of kernel %s", call->label);
    cuda->cudaGetLastError();
    if (taken != call->n_args)
        return invalid(call, "takes %d argument%s, the launch line passes %d", taken, taken == 1 ? "" : "s",
                       call->n_args);
    return AKO_OK;
}

static int check_dimensions(const ako_call *call, const char *what, const unsigned have[3], const int limit[3])
{
    for (int i = 0; i < 3; i++) {
        if (have[i] == 0)
            return invalid(call, "has an empty %s (%u, %u, %u)", what, have[0], have[1], have[2]);
        if (have[i] > (unsigned)limit[i])
            return invalid(call, "has a %s of %u in %c, the device allows %d", what, have[i], "xyz"[i], limit[i]);
    }
    return AKO_OK;
}

static int check_threads(const ako_call *call, const struct cudaFuncAttributes *attributes)
{
    uint64_t threads = (uint64_t)call->block[0] * call->block[1] * call->block[2];
    if (threads > (uint64_t)attributes->maxThreadsPerBlock)
        return invalid(call, "is launched with %" PRIu64 " threads a block, it can have %d (it uses %d registers)",
                       threads, attributes->maxThreadsPerBlock, attributes->numRegs);
    return AKO_OK;
}

static int check_shared(const ako_cudart_api *cuda, const ako_launch_limits *limits, const void *kernel,
                        const struct cudaFuncAttributes *attributes, const ako_call *call)
{
    uint64_t total = (uint64_t)call->shared_bytes + attributes->sharedSizeBytes;
    if (total > (uint64_t)limits->shared_optin)
        return invalid(call, "needs %u bytes of dynamic and %zu of static shared memory, a block can have %d",
                       call->shared_bytes, attributes->sharedSizeBytes, limits->shared_optin);
    if (call->shared_bytes <= (unsigned)attributes->maxDynamicSharedSizeBytes)
        return AKO_OK;
    cudaError_t error =
        cuda->cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)call->shared_bytes);
    return error == cudaSuccess ? AKO_OK
                                : ako_cudart_fail(cuda, error, "cannot allow kernel %s %u bytes of shared memory",
                                                  call->label, call->shared_bytes);
}

static int check_cluster(const ako_cudart_api *cuda, const ako_launch_limits *limits, const void *kernel,
                         const ako_call *call)
{
    if (!ako_call_has_cluster(call))
        return AKO_OK;
    if (!limits->has_clusters)
        return invalid(call, "is launched in clusters, which this GPU does not have");
    uint64_t blocks = 1;
    for (int i = 0; i < 3; i++) {
        if (call->cluster[i] == 0 || call->grid[i] % call->cluster[i] != 0)
            return invalid(call, "has a grid of %u in %c, which its cluster of %u does not divide", call->grid[i],
                           "xyz"[i], call -> cluster[i]);
        blocks *= call->cluster[i];
    }
    if (blocks > LARGEST_CLUSTER)
        return invalid(call, "has a cluster of %" PRIu64 " blocks, at most %d are possible", blocks, LARGEST_CLUSTER);
    if (blocks <= PORTABLE_CLUSTER)
        return AKO_OK;
    cudaError_t error = cuda->cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return error == cudaSuccess
               ? AKO_OK
               : ako_cudart_fail(cuda, error, "cannot allow kernel %s clusters of %d", call->label, (int)blocks);
}

int ako_launch_check(const ako_cudart_api *cuda, const ako_launch_limits *limits, const void *kernel,
                     const struct cudaFuncAttributes *attributes, const ako_call *call)
{
    int status = check_arguments(cuda, kernel, call);
    if (status == AKO_OK)
        status = check_dimensions(call, "grid", call->grid, limits->grid);
    if (status == AKO_OK)
        status = check_dimensions(call, "block", call->block, limits->block);
    if (status == AKO_OK)
        status = check_threads(call, attributes);
    if (status == AKO_OK)
        status = check_shared(cuda, limits, kernel, attributes, call);
    return status == AKO_OK ? check_cluster(cuda, limits, kernel, call) : status;
}
