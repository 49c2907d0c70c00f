#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "gpu.h"
#include "runner_shared.h"

static const char *const lane_names[] = {"cuda", "cuda-host", "c"};

int ako_lane_parse(ako_lane *out, const char *name)
{
    for (int i = 0; i < (int)(sizeof lane_names / sizeof *lane_names); i++) {
        if (strcmp(lane_names[i], name) == 0) {
            *out = (ako_lane)i;
            return AKO_OK;
        }
    }
    return ako_fail(AKO_INVALID, "runner", "'%.64s' is no lane: use cuda, cuda-host or c", name);
}

const char *ako_lane_name(ako_lane lane)
{
    return lane_names[lane];
}

ako_place ako_lane_place(ako_lane lane)
{
    return lane == AKO_LANE_C ? AKO_CPU : AKO_GPU;
}

struct ako_runner {
    ako_lane lane;
    ako_cubin *cubin;   /* AKO_LANE_CUDA, else NULL; both NULL: nothing to call */
    ako_shared *shared; /* the other lanes */
    int n_calls;
};

int ako_runner_open(ako_runner **out, ako_lane lane, const char *path)
{
    ako_runner *runner = calloc(1, sizeof *runner);
    *out = NULL;
    if (!runner)
        return ako_fail(AKO_NOMEM, "runner", "out of memory");
    runner->lane = lane;
    int status = lane == AKO_LANE_CUDA ? ako_cubin_open(&runner->cubin, path) : ako_shared_open(&runner->shared, path);
    if (status != AKO_OK)
        free(runner);
    else
        *out = runner;
    return status;
}

int ako_runner_nothing(ako_runner **out, ako_place place)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return ako_fail(AKO_NOMEM, "runner", "out of memory");
    (*out)->lane = place == AKO_GPU ? AKO_LANE_CUDA : AKO_LANE_C;
    return AKO_OK;
}

void ako_runner_free(ako_runner *runner)
{
    if (!runner)
        return;
    ako_cubin_free(runner->cubin);
    ako_shared_free(runner->shared);
    free(runner);
}

int ako_runner_bind(ako_runner *runner, const ako_call *calls, int n_calls)
{
    runner->n_calls = 0;
    int status =
        runner->cubin ? ako_cubin_bind(runner->cubin, calls, n_calls) : ako_shared_bind(runner->shared, calls, n_calls);
    if (status == AKO_OK)
        runner->n_calls = n_calls;
    return status;
}

int ako_runner_launch(ako_runner *runner, void *const *addresses)
{
    if (runner->cubin)
        return ako_cubin_launch(runner->cubin, addresses);
    if (runner->shared)
        ako_shared_launch(runner->shared, addresses);
    return AKO_OK;
}

int ako_runner_sync(ako_runner *runner)
{
    return ako_lane_place(runner->lane) == AKO_GPU ? ako_gpu_sync() : AKO_OK;
}

int ako_runner_kernels(const ako_runner *runner)
{
    return runner->cubin ? runner->n_calls : 0;
}

int ako_runner_resources(const ako_runner *runner, ako_resources *out)
{
    *out = (ako_resources){0};
    if (runner->cubin)
        ako_cubin_resources(runner->cubin, out);
    return AKO_OK;
}
