#include "sm_clock.h"

#include <stdbool.h>
#include <stdlib.h>

#include "clock.h"
#include "error.h"
#include "gpu.h"
#include "nvml.h"

#define STEP_NS INT64_C(20000000) /* between two readings */

/* NVML's handle of a CUDA device, asked for once; a worker has one device. */
static bool find(ako_nvml_device *out, const ako_nvml_api **nvml, int device)
{
    static int known = -1;
    static ako_nvml_device handle;
    ako_device_props props;
    if (ako_nvml(nvml) != AKO_OK)
        return false;
    if (known != device) {
        if (ako_gpu_props(&props, device) != AKO_OK || ako_nvml_find(&handle, *nvml, props.uuid) != AKO_OK)
            return false;
        known = device;
    }
    *out = handle;
    return true;
}

void ako_sm_clock_read(ako_sm_clock *clock, int device)
{
    const ako_nvml_api *nvml;
    ako_nvml_device handle;
    int64_t now = ako_clock_ns();
    if (clock->n == AKO_SM_CLOCKS || (clock->read_ns && now - clock->read_ns < STEP_NS))
        return;
    clock->read_ns = now;
    int mhz = find(&handle, &nvml, device) ? ako_nvml_sm_clock(nvml, handle) : 0;
    if (mhz > 0)
        clock->mhz[clock->n++] = mhz;
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int ako_sm_clock_median(ako_sm_clock *clock)
{
    if (clock->n == 0)
        return 0;
    qsort(clock->mhz, (size_t)clock->n, sizeof *clock->mhz, by_value);
    return clock->mhz[clock->n / 2];
}
