#include "nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "symbols.h"

static ako_nvml_api api;
static ako_loaded loaded;

static const ako_symbol symbols[] = {
    AKO_SYMBOL(ako_nvml_api, nvmlInit_v2),
    AKO_SYMBOL(ako_nvml_api, nvmlErrorString),
    AKO_SYMBOL(ako_nvml_api, nvmlDeviceGetHandleByUUID),
    AKO_SYMBOL(ako_nvml_api, nvmlDeviceGetClockInfo),
    AKO_SYMBOL(ako_nvml_api, nvmlDeviceGetMaxClockInfo),
    AKO_SYMBOL(ako_nvml_api, nvmlDeviceGetTemperature),
    AKO_SYMBOL(ako_nvml_api, nvmlDeviceGetPowerUsage),
    AKO_SYMBOL(ako_nvml_api, nvmlDeviceGetUtilizationRates),
    AKO_SYMBOL(ako_nvml_api, nvmlDeviceGetMemoryInfo),
    AKO_SYMBOL(ako_nvml_api, nvmlDeviceGetCurrentClocksThrottleReasons),
    AKO_SYMBOL(ako_nvml_api, nvmlDeviceGetComputeRunningProcesses_v3),
    AKO_SYMBOL_OPTIONAL(ako_nvml_api, nvmlDeviceGetPersistenceMode),
    AKO_SYMBOL_OPTIONAL(ako_nvml_api, nvmlDeviceGetMigMode),
    {NULL, 0, false},
};

static void load(void)
{
    if (ako_library_load(&loaded, &api, &ako_library_nvml, symbols, NULL) != AKO_OK)
        return;
    api.path = loaded.path;
    int result = api.nvmlInit_v2();
    if (result != AKO_NVML_SUCCESS) {
        loaded.status = AKO_UNAVAILABLE;
        snprintf(loaded.message, sizeof loaded.message, "NVML (%.600s) does not start: %s", loaded.path,
                 api.nvmlErrorString(result));
    }
}

int ako_nvml(const ako_nvml_api **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *out = loaded.status == AKO_OK ? &api : NULL;
    return ako_loaded_report(&loaded);
}

int ako_nvml_find(ako_nvml_device *out, const ako_nvml_api *nvml, const char *uuid)
{
    int result = nvml->nvmlDeviceGetHandleByUUID(uuid, out);
    char slice[96];
    if (result != AKO_NVML_SUCCESS && strncmp(uuid, "GPU-", 4) == 0) {
        snprintf(slice, sizeof slice, "MIG-%s", uuid + 4);
        if (nvml->nvmlDeviceGetHandleByUUID(slice, out) == AKO_NVML_SUCCESS)
            return AKO_OK;
    }
    return result == AKO_NVML_SUCCESS
               ? AKO_OK
               : ako_fail(AKO_UNAVAILABLE, "nvml", "NVML does not know %s: %s", uuid, nvml->nvmlErrorString(result));
}

void ako_nvml_throttle_text(char *out, unsigned size, uint64_t bits)
{
    static const char *const names[] = {
        "gpu_idle",       "applications_clocks", "sw_power_cap",        "hw_slowdown",
        "sync_boost",     "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake",
        "display_clocks",
    };
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names && used < size; i++)
        if (bits >> i & 1)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "", names[i]);
}
