/* What a call has returned on the GPU, brought to its buffer: core/returned.h. */
#include <stdlib.h>

#include "cudart.h"
#include "error.h"
#include "gpu.h"
#include "ops_kernels.h"
#include "ops_library.h"
#include "returned.h"

#define MOST_BLOCKS 4096

struct ako_collector {
    const ako_cudart_api *cuda;
    cudaLibrary_t library;
    cudaKernel_t kernel;
};

static int check(const ako_collector *c, cudaError_t error, const char *what)
{
    return error == cudaSuccess ? AKO_OK : ako_cudart_fail(c->cuda, error, "%s failed", what);
}

int ako_collector_new(ako_collector **out)
{
    ako_collector *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c)
        return ako_fail(AKO_NOMEM, "python", "out of memory");
    int status = ako_cudart(&c->cuda);
    if (status == AKO_OK)
        status = ako_ops_library_load(&c->library, c->cuda);
    if (status == AKO_OK)
        status = check(c, c->cuda->cudaLibraryGetKernel(&c->kernel, c->library, "ako_collect"), "ako_collect");
    if (status != AKO_OK)
        ako_collector_free(c);
    else
        *out = c;
    return status;
}

void ako_collector_free(ako_collector *c)
{
    if (!c)
        return;
    if (c->library)
        c->cuda->cudaLibraryUnload(c->library);
    free(c);
}

int ako_collector_copy(ako_collector *c, void *to, const ako_returned *returned)
{
    const ako_layout *layout = &returned->layout;
    const void *from = returned->address;
    uint64_t bytes = (uint64_t)(ako_layout_count(layout) * layout->element);
    if (ako_layout_is_contiguous(layout)) /* a number may lie in the memory of the host */
        return check(c, c->cuda->cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, NULL), "copying a result");
    ako_planes planes;
    ako_planes_make(&planes, layout);
    if (planes.n_tiles == 0)
        return AKO_OK;
    void *arguments[] = {&to, &from, &planes};
    dim3 grid = {planes.n_tiles < MOST_BLOCKS ? (unsigned)planes.n_tiles : MOST_BLOCKS, 1, 1};
    dim3 block = {AKO_BLOCK, 1, 1};
    return check(c, c->cuda->cudaLaunchKernel((const void *)c->kernel, grid, block, arguments, 0, NULL), "ako_collect");
}
