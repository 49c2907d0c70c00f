/* NVML, opened at run time: clocks, throttling and tenants of a GPU. NVIDIA's header is not needed: the few prototypes
 * are here, as its documentation of the stable interface (version 2 of init, version 3 of the process list) gives them.
 */
#ifndef AKO_NVML_H
#define AKO_NVML_H

#include <stdint.h>

typedef struct nvmlDevice_st *ako_nvml_device;

typedef struct ako_nvml_utilization {
    unsigned gpu, memory; /* percent */
} ako_nvml_utilization;

typedef struct ako_nvml_memory {
    unsigned long long total, free, used; /* bytes */
} ako_nvml_memory;

typedef struct ako_nvml_process {
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance, compute_instance;
} ako_nvml_process;

enum { AKO_NVML_CLOCK_SM = 1, AKO_NVML_CLOCK_MEMORY = 2 };
enum { AKO_NVML_SUCCESS = 0, AKO_NVML_INSUFFICIENT_SIZE = 7 };

typedef struct ako_nvml_api {
    const char *path;
    int (*nvmlInit_v2)(void);
    const char *(*nvmlErrorString)(int result);
    int (*nvmlDeviceGetHandleByUUID)(const char *uuid, ako_nvml_device *out);
    int (*nvmlDeviceGetClockInfo)(ako_nvml_device device, int clock, unsigned *mhz);
    int (*nvmlDeviceGetMaxClockInfo)(ako_nvml_device device, int clock, unsigned *mhz);
    int (*nvmlDeviceGetTemperature)(ako_nvml_device device, int sensor, unsigned *celsius);
    int (*nvmlDeviceGetPowerUsage)(ako_nvml_device device, unsigned *milliwatts);
    int (*nvmlDeviceGetUtilizationRates)(ako_nvml_device device, ako_nvml_utilization *out);
    int (*nvmlDeviceGetMemoryInfo)(ako_nvml_device device, ako_nvml_memory *out);
    int (*nvmlDeviceGetCurrentClocksThrottleReasons)(ako_nvml_device device, unsigned long long *bits);
    int (*nvmlDeviceGetComputeRunningProcesses_v3)(ako_nvml_device device, unsigned *count, ako_nvml_process *out);
    /* NULL in drivers that lack them */
    int (*nvmlDeviceGetPersistenceMode)(ako_nvml_device device, unsigned *mode);
    int (*nvmlDeviceGetMigMode)(ako_nvml_device device, unsigned *current, unsigned *pending);
} ako_nvml_api;

/* NVML of this process, opened and initialised by the first call (some ms). *out is static. AKO_UNAVAILABLE, the same
 * each time, without a driver. Creates no CUDA context. */
int ako_nvml(const ako_nvml_api **out);

/* The handle of a GPU by the UUID that CUDA gives ("GPU-..."; a MIG slice is tried as "MIG-..." too). */
int ako_nvml_find(ako_nvml_device *out, const ako_nvml_api *nvml, const char *uuid);

/* NVML's throttle bits in words, blank-separated: "sw_power_cap hw_slowdown". */
void ako_nvml_throttle_text(char *out, unsigned size, uint64_t bits);

#endif
