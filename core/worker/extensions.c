/* Extensions that a Python solution builds when it is imported or its model is made (load_inline), or that it is
 * itself, as a file with a pybind module: they are part of its build, outside the device's lock. A confined process
 * imports the file, makes the model, and tells what was asked for; another one, ours, has that built into the cache
 * (stdlib/python/ako/extension_build.py). */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "clock.h"
#include "error.h"
#include "trial.h"

#define RECORD_LIMIT_NS INT64_C(60000000000)
#define REMEMBERED 64 /* files */

/* Most solutions name neither, and are spared a process that imports them once more. */
static bool asks_for_some(const ako_unit *unit)
{
    for (int i = 0; i < unit->n_sources; i++)
        if (strstr(unit->sources[i].text, "load_inline") || strstr(unit->sources[i].text, "PYBIND11_MODULE"))
            return true;
    return false;
}

static int ask(evaluator *ev, json_t **specs, ako_child *child, json_t *request, int64_t deadline_ns)
{
    json_t *reply = NULL;
    int status = child_send(child, "describe", request, NULL, 0);
    if (status == AKO_OK)
        status = evaluator_settle(ev, child, &reply, deadline_ns);
    if (status == AKO_OK) {
        json_decref(*specs);
        *specs = json_incref(json_object_get(reply, "description"));
    }
    json_decref(reply);
    return status;
}

/* Of a solution that is asked what it wants: it will do the same when it is loaded, and be told there. */
static bool is_its_own_doing(int status)
{
    return status == AKO_CHILD || status == AKO_KILLED || status == AKO_TIMEOUT || status == AKO_CORRUPT ||
           status == AKO_LIMIT || status == AKO_ERROR || status == AKO_COMPILE;
}

/* In a process without a GPU that may write nothing and starts no program. What the file asks for when it is imported
 * is known, however the making of its model, which comes next, may end. */
static int record(evaluator *ev, json_t **specs, const json_t *path, const json_t *task)
{
    ako_child child = {0};
    int64_t deadline_ns = ako_clock_ns() + RECORD_LIMIT_NS;
    int status = nursery_fork(ev, &child, "candidate", true);
    if (status == AKO_OK)
        status = child_send(&child, "open", json_pack("{s:s, s:s}", "place", "cpu", "timer", "wall"), NULL, 0);
    if (status == AKO_OK)
        status = ask(ev, specs, &child, json_pack("{s:O}", "path", path), deadline_ns);
    if (status == AKO_OK && task) {
        json_t *request = json_pack("{s:O, s:{s:O}}", "path", path, "question", "task", task);
        status = ask(ev, specs, &child, request, deadline_ns);
        status = is_its_own_doing(status) ? AKO_OK : status;
    }
    child_kill(&child);
    return status;
}

static int compile(evaluator *ev, json_t **built, json_t *specs, const json_t *path, int64_t deadline_ns)
{
    ako_child child = {0};
    json_t *reply = NULL;
    char *cache = NULL;
    int status = ako_cache_folder(&cache);
    if (status != AKO_OK)
        return status;
    status = nursery_fork(ev, &child, "referee", false);
    if (status == AKO_OK)
        status = child_send(&child, "describe",
                            json_pack("{s:O, s:{s:O, s:s, s:s}}", "path", path, "question", "build", specs, "cache",
                                      cache, "arch", ev->device.place == AKO_GPU ? ev->device.arch : ""),
                            NULL, 0);
    if (status == AKO_OK)
        status = evaluator_settle(ev, &child, &reply, deadline_ns);
    *built = json_incref(json_object_get(reply, "description"));
    json_decref(reply);
    child_kill(&child);
    free(cache);
    return status;
}

/* Looked at, it is in use: what has not been for long is the first to go from the cache. */
static bool is_there(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (!slash || access(path, R_OK) != 0)
        return false;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    utimensat(AT_FDCWD, folder, NULL, 0);
    return true;
}

/* A file of the user's own that was read for it ([path, size, ctime in ns], -1 for one that is not there) changes with
 * no text of the solution. */
static bool is_unchanged(const json_t *file)
{
    struct stat st;
    const char *path = json_string_value(json_array_get(file, 0));
    json_int_t size = -1, changed_ns = -1;
    if (path && stat(path, &st) == 0) {
        size = st.st_size;
        changed_ns = (json_int_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
    }
    return path && size == json_integer_value(json_array_get(file, 1)) &&
           changed_ns == json_integer_value(json_array_get(file, 2));
}

static bool is_as_built(const json_t *extension)
{
    const json_t *files = json_object_get(extension, "files");
    bool is = is_there(json_string_value(json_object_get(extension, "path")));
    for (size_t i = 0; is && i < json_array_size(files); i++)
        is = is_unchanged(json_array_get(files, i));
    return is;
}

static bool are_as_built(const json_t *built)
{
    bool all = true;
    for (size_t i = 0; all && i < json_array_size(built); i++)
        all = is_as_built(json_array_get(built, i));
    return all;
}

/* What was made for a file of this content and this task ("asked"), or for one that asks for the same ("specs"); NULL:
 * not known. */
static json_t *find(const evaluator *ev, const char *key, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(ev->extensions); i++) {
        json_t *entry = json_array_get(ev->extensions, i);
        if (json_equal(json_object_get(entry, key), value))
            return entry;
    }
    return NULL;
}

static json_t *recall(const evaluator *ev, const char *key, const json_t *value)
{
    json_t *built = json_object_get(find(ev, key, value), "built");
    return are_as_built(built) ? json_incref(built) : NULL;
}

static void remember(evaluator *ev, const json_t *asked, const json_t *specs, const json_t *built)
{
    if (!ev->extensions)
        ev->extensions = json_array();
    json_array_remove(ev->extensions, REMEMBERED - 1);
    json_array_insert_new(ev->extensions, 0,
                          json_pack("{s:O, s:O, s:O}", "asked", asked, "specs", specs, "built", built));
}

/* *built: owned. What fails is not remembered: the next time it may not. */
static int make(evaluator *ev, json_t **built, const json_t *asked, int64_t deadline_ns)
{
    json_t *specs = NULL;
    const json_t *path = json_object_get(asked, "path");
    int status = record(ev, &specs, path, json_object_get(asked, "task"));
    if (is_its_own_doing(status)) {
        json_decref(specs);
        return AKO_OK;
    }
    *built = status == AKO_OK ? recall(ev, "specs", specs) : NULL;
    if (status == AKO_OK && !*built && json_array_size(specs) == 0)
        *built = json_array();
    else if (status == AKO_OK && !*built)
        status = compile(ev, built, specs, path, deadline_ns);
    if (status == AKO_OK && json_is_array(*built))
        remember(ev, asked, specs, *built);
    json_decref(specs);
    return status;
}

int extensions_make(evaluator *ev, const ako_unit *unit, build_job *job, int64_t deadline_ns)
{
    const json_t *path = json_object_get(job->output, "path");
    if (!ako_lane_is_python(unit->lane) || !asks_for_some(unit))
        return AKO_OK;
    const json_t *task = ev->task ? json_object_get(ev->task->json, "python") : NULL;
    json_t *asked = json_pack("{s:O, s:O*}", "path", path, "task", task);
    json_t *built = recall(ev, "asked", asked);
    int status = built ? AKO_OK : make(ev, &built, asked, deadline_ns);
    if (status == AKO_OK && built)
        json_object_set(job->output, "extensions", built);
    json_decref(built);
    json_decref(asked);
    return status;
}
