#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cudart.h"
#include "error.h"
#include "fs.h"
#include "gpu.h"
#include "launch_check.h"
#include "runner_args.h"

typedef struct bound {
    const void *kernel; /* a cudaKernel_t, as the runtime takes it wherever it takes a function */
    cudaLaunchConfig_t config;
    cudaLaunchAttribute cluster;
    ako_args args;
    char place[300]; /* "launch line 3: kernel softmax<4>" */
} bound;

struct ako_cubin {
    const ako_cudart_api *cuda;
    cudaLibrary_t library;
    ako_launch_limits limits;
    bound *calls;
    int n_calls;
    ako_resources resources;
};

int ako_cubin_open(ako_cubin **out, const char *path)
{
    const ako_cudart_api *cuda;
    ako_buf code = {0};
    *out = NULL;
    int status = ako_cudart(&cuda);
    if (status == AKO_OK)
        status = ako_fs_read(&code, path, 0);
    if (status != AKO_OK)
        return status;
    ako_cubin *cubin = calloc(1, sizeof *cubin);
    if (!cubin) {
        ako_buf_free(&code);
        return ako_fail(AKO_NOMEM, "runner", "out of memory");
    }
    cubin->cuda = cuda;
    cudaError_t error = cuda->cudaLibraryLoadData(&cubin->library, code.data, NULL, NULL, 0, NULL, NULL, 0);
    ako_buf_free(&code);
    if (error != cudaSuccess)
        status = ako_cudart_fail(cuda, error, "cannot load %s", path);
    else
        status = ako_launch_limits_get(&cubin->limits, cuda);
    if (status != AKO_OK)
        ako_cubin_free(cubin);
    else
        *out = cubin;
    return status;
}

static void free_calls(ako_cubin *cubin)
{
    for (int i = 0; i < cubin->n_calls; i++)
        ako_args_free(&cubin->calls[i].args);
    free(cubin->calls);
    cubin->calls = NULL;
    cubin->n_calls = 0;
    cubin->resources = (ako_resources){0};
}

void ako_cubin_free(ako_cubin *cubin)
{
    if (!cubin)
        return;
    free_calls(cubin);
    /* Work in flight still runs the code, and after a fault there is nothing left to unload. */
    if (cubin->library && cubin->cuda->cudaDeviceSynchronize() == cudaSuccess)
        cubin->cuda->cudaLibraryUnload(cubin->library);
    cubin->cuda->cudaGetLastError();
    free(cubin);
}

static void configure(bound *b, const ako_call *call)
{
    b->config = (cudaLaunchConfig_t){
        .gridDim = {call->grid[0], call->grid[1], call->grid[2]},
        .blockDim = {call->block[0], call->block[1], call->block[2]},
        .dynamicSmemBytes = call->shared_bytes,
    };
    if (!ako_call_has_cluster(call))
        return;
    b->cluster.id = cudaLaunchAttributeClusterDimension;
    b->cluster.val.clusterDim.x = call->cluster[0];
    b->cluster.val.clusterDim.y = call->cluster[1];
    b->cluster.val.clusterDim.z = call->cluster[2];
    b->config.attrs = &b->cluster;
    b->config.numAttrs = 1;
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static void add_resources(ako_resources *r, const struct cudaFuncAttributes *a)
{
    r->registers = max_int(r->registers, a->numRegs);
    r->shared_bytes = max_int(r->shared_bytes, (int)a->sharedSizeBytes);
    r->local_bytes = max_int(r->local_bytes, (int)a->localSizeBytes);
    r->max_threads = r->max_threads ? r->max_threads : a->maxThreadsPerBlock;
    if (a->maxThreadsPerBlock < r->max_threads)
        r->max_threads = a->maxThreadsPerBlock;
}

static int bind_call(ako_cubin *cubin, bound *b, const ako_call *call)
{
    const ako_cudart_api *cuda = cubin->cuda;
    struct cudaFuncAttributes attributes = {0};
    cudaKernel_t kernel = NULL;
    ako_launch_place(b->place, sizeof b->place, call);
    if (cuda->cudaLibraryGetKernel(&kernel, cubin->library, call->symbol) != cudaSuccess) {
        cuda->cudaGetLastError();
        return ako_fail(AKO_INVALID, "runner", "%s is not in the compiled code", b->place);
    }
    b->kernel = kernel;
    cudaError_t error = cuda->cudaFuncGetAttributes(&attributes, b->kernel);
    if (error != cudaSuccess)
        return ako_cudart_fail(cuda, error, "%s cannot be loaded", b->place);
    int status = ako_launch_check(cuda, &cubin->limits, b->kernel, &attributes, call);
    if (status == AKO_OK)
        status = ako_args_copy(&b->args, call);
    configure(b, call);
    add_resources(&cubin->resources, &attributes);
    return status;
}

int ako_cubin_bind(ako_cubin *cubin, const ako_call *calls, int n_calls)
{
    free_calls(cubin);
    cubin->calls = calloc((size_t)n_calls + 1, sizeof *cubin->calls);
    if (!cubin->calls)
        return ako_fail(AKO_NOMEM, "runner", "out of memory");
    int status = AKO_OK;
    for (int i = 0; i < n_calls && status == AKO_OK; i++) {
        cubin->n_calls = i + 1;
        status = bind_call(cubin, &cubin->calls[i], &calls[i]);
    }
    return status;
}

int ako_cubin_launch(ako_cubin *cubin, void *const *addresses)
{
    for (int i = 0; i < cubin->n_calls; i++) {
        bound *b = &cubin->calls[i];
        ako_args_set(&b->args, addresses);
        cudaError_t error = cubin->cuda->cudaLaunchKernelExC(&b->config, b->kernel, b->args.pointers);
        if (error != cudaSuccess)
            return ako_cudart_fail(cubin->cuda, error, "%s cannot be launched", b->place);
    }
    return AKO_OK;
}

void ako_cubin_resources(const ako_cubin *cubin, ako_resources *out)
{
    *out = cubin->resources;
}

int ako_gpu_sync(void)
{
    const ako_cudart_api *cuda;
    int status = ako_cudart(&cuda);
    if (status != AKO_OK)
        return status;
    cudaError_t error = cuda->cudaDeviceSynchronize();
    return error == cudaSuccess ? AKO_OK : ako_cudart_fail(cuda, error, "the GPU code failed");
}
