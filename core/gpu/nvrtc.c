#include "nvrtc.h"

#include <pthread.h>

#include "symbols.h"

static ako_nvrtc_api api;
static ako_loaded loaded;

static int version_of(const void *table)
{
    const ako_nvrtc_api *nvrtc = table;
    int major = 0, minor = 0;
    if (!nvrtc->nvrtcVersion || nvrtc->nvrtcVersion(&major, &minor) != NVRTC_SUCCESS)
        return 0;
    return 1000 * major + 10 * minor;
}

static void load(void)
{
#define SYMBOL(name) AKO_SYMBOL(ako_nvrtc_api, name),
#define SYMBOL_OPTIONAL(name) AKO_SYMBOL_OPTIONAL(ako_nvrtc_api, name),
    static const ako_symbol symbols[] = {AKO_NVRTC_FUNCTIONS(SYMBOL)
                                             AKO_NVRTC_OPTIONAL(SYMBOL_OPTIONAL){NULL, 0, false}};
    if (ako_library_load(&loaded, &api, &ako_library_nvrtc, symbols, version_of) != AKO_OK)
        return;
    api.version = loaded.version;
    api.path = loaded.path;
}

int ako_nvrtc(const ako_nvrtc_api **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *out = loaded.status == AKO_OK ? &api : NULL;
    return ako_loaded_report(&loaded);
}
