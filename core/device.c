#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "error.h"
#include "gpu.h"
#include "nvml.h"
#include "tenants.h"

/* GPUs of this machine; when there is none, the reason is this thread's last error. */
static int count_gpus(void)
{
    int n = 0;
    return ako_gpu_count(&n) == AKO_OK ? n : 0;
}

int ako_device_count(const char **why)
{
    int n = count_gpus();
    if (why)
        *why = n > 0 ? "" : ako_error_last()->message;
    return n + 1;
}

int ako_device_props_get(ako_device_props *out, int position)
{
    int n = count_gpus();
    if (position < 0 || position > n)
        return ako_fail(AKO_INVALID, "device", "no device at position %d: there are %d", position, n + 1);
    if (position < n)
        return ako_gpu_props(out, position);
    ako_cpu_props(out);
    return AKO_OK;
}

static int find_gpu(ako_device_props *out, int index, const char *spec)
{
    const char *why;
    int n = ako_device_count(&why) - 1;
    if (index < n)
        return ako_gpu_props(out, index);
    if (n == 0)
        return ako_fail(AKO_UNAVAILABLE, "device", "no device %s: %s", spec, why);
    return ako_fail(AKO_UNAVAILABLE, "device", "no device %s: this machine has cuda:0%s", spec,
                    n == 1 ? " and cpu" : " and higher, and cpu");
}

int ako_device_find(ako_device_props *out, const char *spec)
{
    if (strcmp(spec, "cpu") == 0 || (strcmp(spec, "auto") == 0 && count_gpus() == 0)) {
        ako_cpu_props(out);
        return AKO_OK;
    }
    if (strcmp(spec, "auto") == 0 || strcmp(spec, "cuda") == 0)
        return find_gpu(out, 0, spec);
    const char *number = strncmp(spec, "cuda:", 5) == 0 ? spec + 5 : "";
    if (*number == '\0' || strlen(number) > 4 || strspn(number, "0123456789") != strlen(number))
        return ako_fail(AKO_INVALID, "device", "'%.64s' is no device: use auto, cpu, cuda or cuda:N", spec);
    return find_gpu(out, atoi(number), spec);
}

/* By pointer, since the value is filled by the very call that gives the result. */
static int known(int result, const unsigned *value)
{
    return result == AKO_NVML_SUCCESS ? (int)*value : -1;
}

static void read_sensors(ako_device_state *out, const ako_nvml_api *nvml, ako_nvml_device gpu)
{
    unsigned value = 0;
    unsigned long long bits = 0;
    ako_nvml_utilization utilization = {0};
    ako_nvml_memory memory = {0};
    out->sm_clock_mhz = known(nvml->nvmlDeviceGetClockInfo(gpu, AKO_NVML_CLOCK_SM, &value), &value);
    out->memory_clock_mhz = known(nvml->nvmlDeviceGetClockInfo(gpu, AKO_NVML_CLOCK_MEMORY, &value), &value);
    out->temperature_c = known(nvml->nvmlDeviceGetTemperature(gpu, 0, &value), &value);
    out->power_mw = known(nvml->nvmlDeviceGetPowerUsage(gpu, &value), &value);
    out->utilization_pct = known(nvml->nvmlDeviceGetUtilizationRates(gpu, &utilization), &utilization.gpu);
    if (nvml->nvmlDeviceGetMemoryInfo(gpu, &memory) == AKO_NVML_SUCCESS)
        out->memory_used_bytes = (int64_t)memory.used;
    if (nvml->nvmlDeviceGetCurrentClocksThrottleReasons(gpu, &bits) == AKO_NVML_SUCCESS)
        out->throttle_reasons = bits;
    ako_nvml_throttle_text(out->throttle_text, sizeof out->throttle_text, out->throttle_reasons);
}

static void read_modes(ako_device_state *out, const ako_nvml_api *nvml, ako_nvml_device gpu)
{
    unsigned value = 0, pending = 0;
    out->sm_clock_max_mhz = known(nvml->nvmlDeviceGetMaxClockInfo(gpu, AKO_NVML_CLOCK_SM, &value), &value);
    out->memory_clock_max_mhz = known(nvml->nvmlDeviceGetMaxClockInfo(gpu, AKO_NVML_CLOCK_MEMORY, &value), &value);
    if (nvml->nvmlDeviceGetPersistenceMode)
        out->persistence = known(nvml->nvmlDeviceGetPersistenceMode(gpu, &value), &value);
    if (nvml->nvmlDeviceGetMigMode)
        out->mig = known(nvml->nvmlDeviceGetMigMode(gpu, &value, &pending), &value);
}

static void read_tenants(ako_device_state *out, const ako_nvml_api *nvml, ako_nvml_device gpu)
{
    ako_nvml_process processes[128];
    unsigned n = sizeof processes / sizeof *processes;
    int result = nvml->nvmlDeviceGetComputeRunningProcesses_v3(gpu, &n, processes);
    if (result != AKO_NVML_SUCCESS || (n > 0 && !ako_pids_are_global()))
        return;
    out->n_processes = 0;
    for (unsigned i = 0; i < n; i++) {
        int pid = (int)processes[i].pid;
        if (ako_pid_is_ours(pid))
            continue;
        if (out->n_processes < (int)(sizeof out->pids / sizeof *out->pids))
            out->pids[out->n_processes] = pid;
        out->n_processes++;
    }
}

/* NVML finds a GPU by walking through all of them, so a thread remembers the last one. */
static int find_in_nvml(const ako_nvml_api **nvml, ako_nvml_device *gpu, const ako_device_props *device)
{
    static _Thread_local char uuid[sizeof device->uuid];
    static _Thread_local ako_nvml_device found;
    if (device->place == AKO_CPU)
        return ako_fail(AKO_UNAVAILABLE, "device", "the state of a CPU is not read: NVML knows GPUs alone");
    int status = ako_nvml(nvml);
    if (status == AKO_OK && strcmp(uuid, device->uuid) != 0) {
        status = ako_nvml_find(&found, *nvml, device->uuid);
        snprintf(uuid, sizeof uuid, "%s", status == AKO_OK ? device->uuid : "");
    }
    *gpu = found;
    return status;
}

int ako_device_state_get(ako_device_state *out, const ako_device_props *device)
{
    const ako_nvml_api *nvml;
    ako_nvml_device gpu;
    *out = (ako_device_state){.sm_clock_mhz = -1,
                              .memory_clock_mhz = -1,
                              .temperature_c = -1,
                              .power_mw = -1,
                              .utilization_pct = -1,
                              .sm_clock_max_mhz = -1,
                              .memory_clock_max_mhz = -1,
                              .persistence = -1,
                              .mig = -1,
                              .memory_used_bytes = -1,
                              .n_processes = -1};
    int status = find_in_nvml(&nvml, &gpu, device);
    if (status != AKO_OK)
        return status;
    read_sensors(out, nvml, gpu);
    read_modes(out, nvml, gpu);
    read_tenants(out, nvml, gpu);
    return AKO_OK;
}

int ako_device_pulse_get(ako_device_pulse *out, const ako_device_props *device)
{
    const ako_nvml_api *nvml;
    ako_nvml_device gpu;
    unsigned mhz = 0;
    unsigned long long bits = 0;
    *out = (ako_device_pulse){.sm_clock_mhz = -1};
    int status = find_in_nvml(&nvml, &gpu, device);
    if (status != AKO_OK)
        return status;
    out->sm_clock_mhz = known(nvml->nvmlDeviceGetClockInfo(gpu, AKO_NVML_CLOCK_SM, &mhz), &mhz);
    if (nvml->nvmlDeviceGetCurrentClocksThrottleReasons(gpu, &bits) == AKO_NVML_SUCCESS)
        out->throttle_reasons = bits;
    return AKO_OK;
}

/* A process is listed once for each of a GPU's parts that it is on. */
static int add_once(int *pids, int n, int pid)
{
    for (int i = 0; i < n; i++)
        if (pids[i] == pid)
            return n;
    pids[n] = pid;
    return n + 1;
}

int ako_device_tenants_get(ako_device_tenants *out, const ako_device_props *device, const int *ours, int n_ours)
{
    const ako_nvml_api *nvml;
    ako_nvml_device gpu;
    ako_nvml_process processes[128];
    int pids[sizeof processes / sizeof *processes];
    unsigned n = sizeof processes / sizeof *processes;
    *out = (ako_device_tenants){.strangers = -1};
    int status = find_in_nvml(&nvml, &gpu, device);
    int result = status == AKO_OK ? nvml->nvmlDeviceGetComputeRunningProcesses_v3(gpu, &n, processes) : 0;
    if (result != AKO_NVML_SUCCESS)
        status =
            ako_fail(AKO_UNAVAILABLE, "device", "the driver lists no processes: %s", nvml->nvmlErrorString(result));
    if (status != AKO_OK) {
        snprintf(out->note, sizeof out->note, "%.150s", ako_error_last()->message);
        return status;
    }
    int n_pids = 0;
    for (unsigned i = 0; i < n; i++)
        n_pids = add_once(pids, n_pids, (int)processes[i].pid);
    return ako_tenants_judge(out, pids, n_pids, ours, n_ours);
}
