/* The CUDA halves in a build without CUDA's headers. */
#include "gpu.h"

#include <stddef.h>

#include "error.h"

static int left_out(void)
{
    return ako_fail(AKO_UNAVAILABLE, "gpu", "this build leaves the CUDA parts out: build it where CUDA's headers are");
}

int ako_gpu_count(int *out)
{
    *out = 0;
    return left_out();
}

int ako_gpu_props(ako_device_props *out, int index)
{
    *out = (ako_device_props){.place = AKO_GPU, .index = index};
    return left_out();
}

int ako_gpu_alloc(void **out, uint64_t bytes)
{
    (void)bytes;
    *out = NULL;
    return left_out();
}

int ako_gpu_export(char handle[129], void *base)
{
    (void)base;
    handle[0] = '\0';
    return left_out();
}

int ako_gpu_import(void **out, const char *handle)
{
    (void)handle;
    *out = NULL;
    return left_out();
}

void ako_gpu_release(void *base, int imported)
{
    (void)base, (void)imported;
}

int ako_collector_new(ako_collector **out)
{
    *out = NULL;
    return left_out();
}

void ako_collector_free(ako_collector *collector)
{
    (void)collector;
}

int ako_collector_copy(ako_collector *collector, void *to, const ako_returned *returned)
{
    (void)collector, (void)to, (void)returned;
    return left_out();
}

int ako_cubin_open(ako_cubin **out, const char *path)
{
    (void)path;
    *out = NULL;
    return left_out();
}

void ako_cubin_free(ako_cubin *cubin)
{
    (void)cubin;
}

int ako_cubin_bind(ako_cubin *cubin, const ako_call *calls, int n_calls)
{
    (void)cubin, (void)calls, (void)n_calls;
    return left_out();
}

int ako_cubin_launch(ako_cubin *cubin, void *const *addresses)
{
    (void)cubin, (void)addresses;
    return left_out();
}

void ako_cubin_resources(const ako_cubin *cubin, ako_resources *out)
{
    (void)cubin;
    *out = (ako_resources){0};
}

int ako_gpu_sync(void)
{
    return left_out();
}

int ako_gpu_timer_new(ako_gpu_timer **out, ako_timer_kind kind)
{
    (void)kind;
    *out = NULL;
    return left_out();
}

void ako_gpu_timer_free(ako_gpu_timer *timer)
{
    (void)timer;
}

ako_timer_kind ako_gpu_timer_used(const ako_gpu_timer *timer)
{
    (void)timer;
    return AKO_TIMER_EVENTS;
}

const char *ako_gpu_timer_note(const ako_gpu_timer *timer)
{
    (void)timer;
    return "";
}

int ako_gpu_timer_run(ako_gpu_timer *timer, ako_runner *runner, void *const *const *sets, int n_sets,
                      const ako_time_plan *plan, ako_time_result *out)
{
    (void)timer, (void)runner, (void)sets, (void)n_sets, (void)plan, (void)out;
    return left_out();
}
