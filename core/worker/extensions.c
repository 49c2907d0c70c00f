/* Extensions that a Python solution builds when it is imported (load_inline), or that it is itself, as a file with a
 * pybind module: they are part of its build, outside the device's lock, and nothing of a solution runs in the process
 * that compiles them. A confined process imports the file and tells what it asks for; another one, ours, builds that
 * into the cache. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "clock.h"
#include "error.h"
#include "trial.h"

#define RECORD_LIMIT_NS INT64_C(60000000000)

static bool asks_for_some(const ako_unit *unit)
{
    for (int i = 0; i < unit->n_sources; i++)
        if (strstr(unit->sources[i].text, "load_inline") || strstr(unit->sources[i].text, "PYBIND11_MODULE"))
            return true;
    return false;
}

/* In a process without a GPU that may write nothing and starts no program. */
static int record(evaluator *ev, json_t **specs, const json_t *path)
{
    ako_child child;
    json_t *reply = NULL;
    int status = nursery_fork(ev, &child, "candidate", true);
    if (status == AKO_OK)
        status = child_send(&child, "open", json_pack("{s:s, s:s}", "place", "cpu", "timer", "wall"), NULL, 0);
    if (status == AKO_OK)
        status = child_send(&child, "describe", json_pack("{s:O}", "path", path), NULL, 0);
    if (status == AKO_OK)
        status = evaluator_settle(ev, &child, &reply, ako_clock_ns() + RECORD_LIMIT_NS);
    *specs = json_incref(json_object_get(reply, "description"));
    json_decref(reply);
    child_kill(&child);
    return status;
}

static int compile(evaluator *ev, json_t **built, json_t *specs, const json_t *path, int64_t deadline_ns)
{
    ako_child child;
    json_t *reply = NULL;
    char *cache = NULL, folder[PATH_MAX];
    int status = ako_cache_folder(&cache);
    if (status != AKO_OK)
        return status;
    snprintf(folder, sizeof folder, "%.*s/extensions", PATH_MAX - 16, cache);
    free(cache);
    status = nursery_fork(ev, &child, "referee", false);
    if (status == AKO_OK)
        status = child_send(&child, "describe",
                            json_pack("{s:O, s:{s:O, s:s, s:s}}", "path", path, "question", "build", specs, "cache",
                                      folder, "arch", ev->device.place == AKO_GPU ? ev->device.arch : ""),
                            NULL, 0);
    if (status == AKO_OK)
        status = evaluator_settle(ev, &child, &reply, deadline_ns);
    *built = json_incref(json_object_get(reply, "description"));
    json_decref(reply);
    child_kill(&child);
    return status;
}

int extensions_make(evaluator *ev, const ako_unit *unit, build_job *job, int64_t deadline_ns)
{
    json_t *specs = NULL, *built = NULL;
    const json_t *path = json_object_get(job->output, "path");
    if (!ako_lane_is_python(unit->lane) || !asks_for_some(unit))
        return AKO_OK;
    int status = record(ev, &specs, path);
    if (status == AKO_CHILD || status == AKO_TIMEOUT) /* it will do the same when it is loaded, and be told there */
        status = AKO_OK;
    else if (status == AKO_OK && json_array_size(specs) > 0)
        status = compile(ev, &built, specs, path, deadline_ns);
    if (status == AKO_OK && built)
        json_object_set(job->output, "extensions", built);
    json_decref(specs);
    json_decref(built);
    return status;
}
