/* The CUDA halves of device, memory, runner and timing, for those modules alone. core/gpu/ implements them; a build
 * without CUDA's headers takes core/nogpu/, where each fails with AKO_UNAVAILABLE. */
#ifndef AKO_GPU_H
#define AKO_GPU_H

#include <stdint.h>

#include "device.h"
#include "hooks.h"
#include "runner.h"
#include "timing.h"

/* Device: neither creates a context. */
int ako_gpu_count(int *out);
int ako_gpu_props(ako_device_props *out, int index);

/* Memory on the current device. A handle is CUDA's IPC handle in hexadecimal. */
int ako_gpu_alloc(void **out, uint64_t bytes);
int ako_gpu_export(char handle[129], void *base);
int ako_gpu_import(void **out, const char *handle);
void ako_gpu_release(void *base, int imported);

/* Runner: the kernels of a cubin. */
typedef struct ako_cubin ako_cubin;
int ako_cubin_open(ako_cubin **out, const char *path);
void ako_cubin_free(ako_cubin *cubin);
int ako_cubin_bind(ako_cubin *cubin, const ako_call *calls, int n_calls);
int ako_cubin_launch(ako_cubin *cubin, void *const *addresses);
void ako_cubin_resources(const ako_cubin *cubin, ako_resources *out);
int ako_gpu_sync(void);

/* What Python's calls return on the GPU (returned.h). */
typedef struct ako_collector ako_collector;
int ako_collector_new(ako_collector **out);
void ako_collector_free(ako_collector *collector);
int ako_collector_copy(ako_collector *collector, void *to, const ako_returned *returned);

/* Timing. */
typedef struct ako_gpu_timer ako_gpu_timer;
int ako_gpu_timer_new(ako_gpu_timer **out, ako_timer_kind kind);
void ako_gpu_timer_free(ako_gpu_timer *timer);
ako_timer_kind ako_gpu_timer_used(const ako_gpu_timer *timer);
const char *ako_gpu_timer_note(const ako_gpu_timer *timer);
int ako_gpu_timer_run(ako_gpu_timer *timer, ako_runner *runner, void *const *const *sets, int n_sets,
                      const ako_time_plan *plan, ako_time_result *out);

#endif
