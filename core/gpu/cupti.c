#include "cupti.h"

#include <pthread.h>

#include "symbols.h"

static ako_cupti_api api;
static ako_loaded loaded;

/* The version of the toolkit: from 13.0 on CUPTI counts xxyyzz; before, it counted its own releases. */
static int version_of(const void *table)
{
    static const struct {
        uint32_t cupti;
        int toolkit;
    } releases[] = {{27, 12090}, {25, 12080}, {24, 12060}, {23, 12050}, {22, 12040}, {19, 12000}, {1, 11000}};
    const ako_cupti_api *cupti = table;
    uint32_t version = 0;
    if (!cupti->cuptiGetVersion || cupti->cuptiGetVersion(&version) != CUPTI_SUCCESS)
        return 0;
    if (version >= 10000)
        return (int)(version / 10000 * 1000 + version / 100 % 100 * 10);
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        if (version >= releases[i].cupti)
            return releases[i].toolkit;
    return 0;
}

static void load(void)
{
#define SYMBOL(name) AKO_SYMBOL(ako_cupti_api, name),
    static const ako_symbol symbols[] = {AKO_CUPTI_FUNCTIONS(SYMBOL){NULL, 0, false}};
    if (ako_library_load(&loaded, &api, &ako_library_cupti, symbols, version_of) != AKO_OK)
        return;
    api.version = loaded.version;
    api.path = loaded.path;
}

int ako_cupti(const ako_cupti_api **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *out = loaded.status == AKO_OK ? &api : NULL;
    return ako_loaded_report(&loaded);
}

static const char *advice(CUptiResult result)
{
    switch (result) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        return "; another profiler (ncu, nsys, cuda-gdb, compute-sanitizer) holds it: run without that";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        return "; needs CAP_SYS_ADMIN or the driver option NVreg_RestrictProfilingToAdminUsers=0";
    default:
        return "";
    }
}

int ako_cupti_fail(const ako_cupti_api *cupti, CUptiResult result, const char *what)
{
    const char *text = NULL;
    if (cupti->cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text)
        text = "unknown error";
    return ako_fail(AKO_UNAVAILABLE, "cupti", "%s: %s (%d)%s", what, text, (int)result, advice(result));
}
