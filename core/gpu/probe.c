#include "probe.h"

#include <math.h>
#include <stdlib.h>

#include "error.h"
#include "ops_library.h"

#define SPIN_NS UINT64_C(16000) /* 500 steps of the timer */
#define READERS 64

/* In device memory. */
typedef struct readings {
    uint64_t spins[3][2]; /* ns and cycles: before, behind, and of pauses */
    uint64_t places[AKO_WATCHED], seen[AKO_WATCHED];
} readings;

struct ako_probe {
    const ako_cudart_api *cuda;
    cudaLibrary_t library;
    cudaKernel_t spin, gather;
    readings *device;
    const ako_watch *watch;
};

static int check(const ako_probe *p, cudaError_t error, const char *what)
{
    return error == cudaSuccess ? AKO_OK : ako_cudart_fail(p->cuda, error, "%s failed", what);
}

int ako_probe_new(ako_probe **out, const ako_cudart_api *cuda)
{
    ako_probe *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return ako_fail(AKO_NOMEM, "timing", "out of memory");
    p->cuda = cuda;
    int status = ako_ops_library_load(&p->library, cuda);
    if (status == AKO_OK)
        status = check(p, cuda->cudaLibraryGetKernel(&p->spin, p->library, "ako_spin"), "ako_spin");
    if (status == AKO_OK)
        status = check(p, cuda->cudaLibraryGetKernel(&p->gather, p->library, "ako_gather"), "ako_gather");
    if (status == AKO_OK)
        status = check(p, cuda->cudaMalloc((void **)&p->device, sizeof *p->device), "allocating device memory");
    if (status != AKO_OK)
        ako_probe_free(p);
    else
        *out = p;
    return status;
}

void ako_probe_free(ako_probe *p)
{
    if (!p)
        return;
    if (p->device)
        p->cuda->cudaFree(p->device);
    if (p->library)
        p->cuda->cudaLibraryUnload(p->library);
    free(p);
}

int ako_probe_begin(ako_probe *p, const ako_watch *watch, int launches)
{
    p->watch = watch;
    size_t bytes = watch ? (size_t)watch->n * (size_t)launches * sizeof *watch->places : 0;
    return bytes ? check(p, p->cuda->cudaMemcpy(p->device->places, watch->places, bytes, cudaMemcpyHostToDevice),
                         "naming the watched places")
                 : AKO_OK;
}

static int spin(ako_probe *p, uint64_t *out, uint64_t ns)
{
    void *arguments[] = {&ns, &out};
    dim3 one = {1, 1, 1};
    return check(p, p->cuda->cudaLaunchKernel((const void *)p->spin, one, one, arguments, 0, NULL), "ako_spin");
}

int ako_probe_clock(ako_probe *p, int end)
{
    return spin(p, p->device->spins[end], SPIN_NS);
}

int ako_probe_pause(ako_probe *p, uint64_t ns)
{
    return spin(p, p->device->spins[2], ns);
}

int ako_probe_look(ako_probe *p, int call)
{
    if (!p->watch || p->watch->n == 0)
        return AKO_OK;
    int n = p->watch->n;
    uint64_t *places = p->device->places + (size_t)call * (size_t)n, *seen = p->device->seen + (size_t)call * (size_t)n;
    void *arguments[] = {&places, &n, &seen};
    dim3 grid = {1, 1, 1}, block = {READERS, 1, 1};
    return check(p, p->cuda->cudaLaunchKernel((const void *)p->gather, grid, block, arguments, 0, NULL), "ako_gather");
}

static double mhz_of(const uint64_t spin[2])
{
    return spin[0] ? (double)spin[1] * 1e3 / (double)spin[0] : 0;
}

int ako_probe_end(ako_probe *p, int *mhz, int calls)
{
    uint64_t spins[2][2] = {{0}};
    size_t bytes = p->watch ? (size_t)p->watch->n * (size_t)calls * sizeof *p->watch->seen : 0;
    int status = check(p, p->cuda->cudaMemcpy(spins, p->device->spins, sizeof spins, cudaMemcpyDeviceToHost),
                       "reading the SM clock");
    if (status == AKO_OK && bytes)
        status = check(p, p->cuda->cudaMemcpy(p->watch->seen, p->device->seen, bytes, cudaMemcpyDeviceToHost),
                       "reading the watched places");
    *mhz = (int)lround((mhz_of(spins[0]) + mhz_of(spins[1])) / 2);
    return status;
}
