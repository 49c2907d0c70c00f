#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "gpu.h"
#include "hooks.h"
#include "returned.h"
#include "runner_shared.h"

static const char *const lane_names[] = {"cuda", "cuda-host", "c", "python", "python-cpu"};

int ako_lane_parse(ako_lane *out, const char *name)
{
    for (int i = 0; i < (int)(sizeof lane_names / sizeof *lane_names); i++) {
        if (strcmp(lane_names[i], name) == 0) {
            *out = (ako_lane)i;
            return AKO_OK;
        }
    }
    return ako_fail(AKO_INVALID, "runner", "'%.64s' is no lane: use cuda, cuda-host, c, python or python-cpu", name);
}

const char *ako_lane_name(ako_lane lane)
{
    return lane_names[lane];
}

ako_place ako_lane_place(ako_lane lane)
{
    return lane == AKO_LANE_C || lane == AKO_LANE_PYTHON_CPU ? AKO_CPU : AKO_GPU;
}

bool ako_lane_is_python(ako_lane lane)
{
    return lane == AKO_LANE_PYTHON || lane == AKO_LANE_PYTHON_CPU;
}

struct ako_runner {
    ako_lane lane;
    ako_cubin *cubin;         /* AKO_LANE_CUDA; one of the three, or none: nothing to call */
    ako_shared *shared;       /* AKO_LANE_CUDA_HOST, AKO_LANE_C */
    const ako_hooks *hooks;   /* the Python lanes */
    ako_collector *collector; /* on a GPU, what these return */
    int n_calls;
};

static int open_hooks(ako_runner *runner, const char *path)
{
    runner->hooks = ako_hooks_get();
    if (!runner->hooks)
        return ako_fail(AKO_INVALID, "runner", "this process is not one of Python's");
    int status = ako_lane_place(runner->lane) == AKO_GPU ? ako_collector_new(&runner->collector) : AKO_OK;
    if (status != AKO_OK)
        return status;
    runner->hooks->open(path);
    return ako_hooks_answer();
}

static int bind_hooks(ako_runner *runner, const char *workload)
{
    runner->hooks->bind(workload);
    return ako_hooks_answer();
}

static int open_code(ako_runner *runner, const char *path)
{
    if (ako_lane_is_python(runner->lane))
        return open_hooks(runner, path);
    return runner->lane == AKO_LANE_CUDA ? ako_cubin_open(&runner->cubin, path)
                                         : ako_shared_open(&runner->shared, path);
}

int ako_runner_open(ako_runner **out, ako_lane lane, const char *path)
{
    ako_runner *runner = calloc(1, sizeof *runner);
    *out = NULL;
    if (!runner)
        return ako_fail(AKO_NOMEM, "runner", "out of memory");
    runner->lane = lane;
    int status = open_code(runner, path);
    if (status != AKO_OK)
        ako_runner_free(runner);
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
    ako_collector_free(runner->collector);
    ako_cubin_free(runner->cubin);
    ako_shared_free(runner->shared);
    free(runner);
}

int ako_runner_bind(ako_runner *runner, const ako_call *calls, int n_calls)
{
    runner->n_calls = 0;
    int status;
    if (runner->hooks)
        status = bind_hooks(runner, calls[0].symbol);
    else
        status = runner->cubin ? ako_cubin_bind(runner->cubin, calls, n_calls)
                               : ako_shared_bind(runner->shared, calls, n_calls);
    if (status == AKO_OK)
        runner->n_calls = n_calls;
    return status;
}

int ako_runner_stage(ako_runner *runner, void *const *addresses)
{
    if (!runner->hooks)
        return AKO_OK;
    runner->hooks->stage(addresses);
    return ako_hooks_answer();
}

int ako_runner_launch(ako_runner *runner, void *const *addresses)
{
    if (runner->hooks) {
        runner->hooks->launch();
        return ako_hooks_answer();
    }
    if (runner->cubin)
        return ako_cubin_launch(runner->cubin, addresses);
    if (runner->shared)
        ako_shared_launch(runner->shared, addresses);
    return AKO_OK;
}

static int release(ako_runner *runner, bool more)
{
    if (!runner->hooks)
        return AKO_OK;
    runner->hooks->release(more);
    return ako_hooks_answer();
}

int ako_runner_collect(ako_runner *runner, void *const *addresses)
{
    const ako_hooks *hooks = runner->hooks;
    int status = AKO_OK;
    for (int i = 0; hooks && status == AKO_OK && i < hooks->n_returned; i++)
        status = ako_returned_copy(runner->collector, addresses[hooks->first_output + i], &hooks->returned[i]);
    if (status != AKO_OK)
        release(runner, true);
    return status;
}

int ako_runner_release(ako_runner *runner, void *const *addresses)
{
    (void)addresses;
    return release(runner, true);
}

int ako_runner_call(ako_runner *runner, void *const *addresses)
{
    int status = ako_runner_stage(runner, addresses);
    if (status != AKO_OK)
        return status;
    status = ako_runner_launch(runner, addresses);
    if (status != AKO_OK) { /* what it has returned may be what is wrong with it */
        release(runner, true);
        return status;
    }
    status = ako_runner_collect(runner, addresses);
    if (status == AKO_OK)
        status = release(runner, false);
    return status == AKO_OK ? ako_runner_sync(runner) : status;
}

int ako_runner_fill(ako_runner *runner, const ako_draw *draw, void *const *addresses)
{
    if (!runner->hooks)
        return ako_fail(AKO_INVALID, "runner", "only a Python reference makes inputs of its own");
    runner->hooks->fill(draw->seed, draw->known, draw->is_signed, draw->times, addresses);
    int status = ako_hooks_answer();
    return status == AKO_OK ? ako_runner_sync(runner) : status; /* another process reads them next */
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
