#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "gpu.h"
#include "timing_cpu.h"

static const char *const kind_names[] = {"auto", "events", "cupti", "wall"};

int ako_timer_kind_parse(ako_timer_kind *out, const char *name)
{
    for (int i = 0; i < (int)(sizeof kind_names / sizeof *kind_names); i++) {
        if (strcmp(kind_names[i], name) == 0) {
            *out = (ako_timer_kind)i;
            return AKO_OK;
        }
    }
    return ako_fail(AKO_INVALID, "timing", "'%.64s' is no timer: use auto, events, cupti or wall", name);
}

const char *ako_timer_kind_name(ako_timer_kind kind)
{
    return kind_names[kind];
}

struct ako_timer {
    ako_gpu_timer *gpu; /* one of the two */
    ako_cpu_timer *cpu;
    const char *cpu_note;
};

int ako_timer_new(ako_timer **out, ako_place place, ako_timer_kind kind)
{
    ako_timer *timer = calloc(1, sizeof *timer);
    *out = NULL;
    if (!timer)
        return ako_fail(AKO_NOMEM, "timing", "out of memory");
    bool gpu_only = kind == AKO_TIMER_EVENTS || kind == AKO_TIMER_CUPTI;
    timer->cpu_note = gpu_only ? "events and CUPTI time GPUs alone: the wall clock is used" : "";
    int status = place == AKO_GPU ? ako_gpu_timer_new(&timer->gpu, kind) : ako_cpu_timer_new(&timer->cpu);
    if (status != AKO_OK)
        free(timer);
    else
        *out = timer;
    return status;
}

void ako_timer_free(ako_timer *timer)
{
    if (!timer)
        return;
    ako_gpu_timer_free(timer->gpu);
    ako_cpu_timer_free(timer->cpu);
    free(timer);
}

ako_timer_kind ako_timer_used(const ako_timer *timer)
{
    return timer->gpu ? ako_gpu_timer_used(timer->gpu) : AKO_TIMER_WALL;
}

const char *ako_timer_note(const ako_timer *timer)
{
    return timer->gpu ? ako_gpu_timer_note(timer->gpu) : timer->cpu_note;
}

int ako_timer_run(ako_timer *timer, ako_runner *runner, void *const *const *sets, int n_sets, const ako_time_plan *plan,
                  ako_time_result *out)
{
    *out = (ako_time_result){0};
    if (plan->launches < 1 || plan->warmup < 0 || n_sets < 1)
        return ako_fail(AKO_INVALID, "timing", "a plan has at least one launch and one set of buffers");
    if (plan->watch && (plan->watch->n < 0 || plan->watch->n > AKO_WATCHED / plan->launches))
        return ako_fail(AKO_INVALID, "timing", "at most %d places can be watched", AKO_WATCHED);
    out->samples_ns = calloc((size_t)plan->launches, sizeof *out->samples_ns);
    if (!out->samples_ns)
        return ako_fail(AKO_NOMEM, "timing", "out of memory for %d samples", plan->launches);
    int status = timer->gpu ? ako_gpu_timer_run(timer->gpu, runner, sets, n_sets, plan, out)
                            : ako_cpu_timer_run(timer->cpu, runner, sets, n_sets, plan, out);
    if (status != AKO_OK) {
        free(out->samples_ns);
        *out = (ako_time_result){0};
    }
    return status;
}
