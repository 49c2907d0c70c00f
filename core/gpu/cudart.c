#include "cudart.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "cudart_driver.h"
#include "symbols.h"

static ako_cudart_api api;
static ako_loaded loaded;

static int version_of(const void *table)
{
    const ako_cudart_api *cuda = table;
    int version = 0;
    return cuda->cudaRuntimeGetVersion && cuda->cudaRuntimeGetVersion(&version) == cudaSuccess ? version : 0;
}

static void load(void)
{
#define SYMBOL(name) AKO_SYMBOL(ako_cudart_api, name),
#define SYMBOL_OPTIONAL(name) AKO_SYMBOL_OPTIONAL(ako_cudart_api, name),
    static const ako_symbol symbols[] = {AKO_CUDART_FUNCTIONS(SYMBOL)
                                             AKO_CUDART_LIBRARY_FUNCTIONS(SYMBOL_OPTIONAL){NULL, 0, false}};
    if (ako_library_load(&loaded, &api, &ako_library_cudart, symbols, version_of) != AKO_OK)
        return;
    api.version = loaded.version;
    api.path = loaded.path;
    if (!api.cudaLibraryLoadData || !api.cudaLibraryGetKernel || !api.cudaLibraryUnload)
        ako_cudart_use_driver(&api);
}

int ako_cudart(const ako_cudart_api **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *out = loaded.status == AKO_OK ? &api : NULL;
    return ako_loaded_report(&loaded);
}

static int status_of(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
        return AKO_NOMEM;
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorStubLibrary:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
        return AKO_UNAVAILABLE;
    default:
        return AKO_CUDA;
    }
}

int ako_cudart_fail(const ako_cudart_api *cuda, cudaError_t error, const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    cuda->cudaGetLastError();
    return ako_fail(status_of(error), "cuda", "%s: %s (%s)", what, cuda->cudaGetErrorString(error),
                    cuda->cudaGetErrorName(error));
}
