#include <string.h>

#include "clock.h"
#include "error.h"
#include "evaluator.h"

/* What a builder may take beyond the limit that it enforces itself, before it is killed. */
#define GRACE_NS INT64_C(1000000000)

static int find_builder(ako_child **out, evaluator *ev)
{
    ako_child *empty = NULL;
    for (int i = 0; i < BUILDERS; i++) {
        ako_child *builder = &ev->builders[i];
        if (child_is_still_running(builder) && !child_owes_answer(builder)) {
            *out = builder;
            return AKO_OK;
        }
        if (!child_is_running(builder) && !empty)
            empty = builder;
    }
    if (!empty)
        return ako_fail(AKO_BUSY, "evaluator", "all %d builders are at work", BUILDERS);
    *out = empty;
    return child_start(empty, "builder", false);
}

/* Two at once is what a trial needs: the reference and the solution. */
void builders_warm(evaluator *ev, ako_lane lane)
{
    for (int i = 0; i < 2; i++)
        if (!child_is_running(&ev->builders[i]) && child_start(&ev->builders[i], "builder", false) == AKO_OK)
            child_tell(&ev->builders[i], "warm", json_pack("{s:s}", "lane", ako_lane_name(lane)));
}

int build_start(evaluator *ev, build_job *job, const ako_unit *unit, int64_t limit_ns)
{
    *job = (build_job){.started_ns = ako_clock_ns()};
    bool gpu = ako_lane_place(unit->lane) == AKO_GPU;
    int status = find_builder(&job->builder, ev);
    if (status == AKO_OK)
        status = child_send(job->builder, "build",
                            json_pack("{s:O, s:s, s:I}", "unit", unit->json, "arch", gpu ? ev->device.arch : "",
                                      "limit", (json_int_t)limit_ns),
                            NULL, 0);
    if (status != AKO_OK && job->builder)
        build_drop(job);
    return status;
}

int build_await(evaluator *ev, build_job *job, int64_t limit_ns)
{
    if (job->output)
        return AKO_OK;
    if (!job->builder)
        return ako_fail(AKO_CHILD, "builder", "the build was given up before");
    int64_t deadline = limit_ns ? job->started_ns + limit_ns + GRACE_NS : 0;
    int status = evaluator_await(ev, job->builder, &job->output, deadline);
    if (status != AKO_OK)
        build_drop(job);
    else
        job->builder = NULL; /* free for others */
    return status;
}

void build_drop(build_job *job)
{
    if (job->builder && child_owes_answer(job->builder))
        child_kill(job->builder);
    json_decref(job->output);
    *job = (build_job){0};
}
