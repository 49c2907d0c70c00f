/* The devices of this machine: CUDA GPUs and the CPU behind one interface. Nothing here creates a CUDA context. */
#ifndef AKO_DEVICE_H
#define AKO_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"

typedef struct ako_device_props {
    ako_place place;
    int index;          /* CUDA ordinal; 0 for the CPU */
    char id[16];        /* "cuda:0", "cpu" */
    char name[256];     /* "NVIDIA H200", "AMD EPYC ..." */
    char uuid[64];      /* "GPU-xxxxxxxx-..."; for the CPU "CPU-<machine id hash>" */
    char arch[16];      /* "sm_90a" where the chip has the a variant, else "sm_86"; the CPU: "x86_64" */
    char features[128]; /* CPU: "avx2 fma avx512f ..." */
    int cc_major, cc_minor, sm_count, registers_per_sm, threads_per_sm, tensor_core_generation;
    int64_t shared_per_block, shared_per_block_optin, shared_per_sm, l2_bytes, memory_bytes;
    int bus_width_bits, clock_khz, memory_clock_khz;
    double peak_dram_bytes_per_s; /* 2 * memory clock * bus width / 8; 0 unknown */
    int cores, threads;           /* CPU: physical cores, usable logical CPUs */
    int64_t l1d_bytes, l3_bytes;  /* CPU; l2_bytes is shared with GPUs */
} ako_device_props;

/* Number of devices: CUDA GPUs first, the CPU always last. Never fails; *why (may be NULL) receives "" or one line on
 * why there is no GPU ("no NVIDIA driver: ..."), valid until the next call in this thread. */
int ako_device_count(const char **why);
int ako_device_props_get(ako_device_props *out, int position); /* position below the count */

/* "auto" (first GPU, else CPU), "cpu", "cuda:N", "cuda". AKO_UNAVAILABLE says what there is instead. */
int ako_device_find(ako_device_props *out, const char *spec);

/* State read through NVML. Fields that cannot be read are -1 or empty; AKO_UNAVAILABLE without NVML. */
typedef struct ako_device_state {
    int sm_clock_mhz, memory_clock_mhz, temperature_c, power_mw, utilization_pct;
    int sm_clock_max_mhz, memory_clock_max_mhz;
    int persistence, mig; /* modes: 1 on, 0 off */
    int64_t memory_used_bytes;
    uint64_t throttle_reasons; /* NVML bits */
    char throttle_text[256];   /* "sw_power_cap hw_slowdown" or "" */
    int n_processes;           /* compute processes on the GPU that are neither us nor below us */
    int pids[32];
} ako_device_state;
int ako_device_state_get(ako_device_state *out, const ako_device_props *device);

/* A glance at a GPU between two samples: two readings of NVML, no more. AKO_UNAVAILABLE for a CPU and without NVML. */
typedef struct ako_device_pulse {
    int sm_clock_mhz;          /* -1: cannot be read */
    uint64_t throttle_reasons; /* NVML bits */
} ako_device_pulse;
int ako_device_pulse_get(ako_device_pulse *out, const ako_device_props *device);

/* The processes on a GPU that take no turns with us: neither ours nor those of another program of ours, which waits for
 * the device's lock. `ours`: those of our processes that have a context there now. They tell what the driver's list is
 * worth: in a container it may number processes as outside, or leave some or all of them out. AKO_UNAVAILABLE when
 * nothing can be told; the note then says why as well. */
typedef struct ako_device_tenants {
    int strangers;  /* -1: unknown */
    char note[160]; /* "", or what the number leaves open */
} ako_device_tenants;
int ako_device_tenants_get(ako_device_tenants *out, const ako_device_props *device, const int *ours, int n_ours);

#endif
