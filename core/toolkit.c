#include "toolkit.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs.h"

#if defined(__aarch64__)
#define TARGET "sbsa-linux"
#define MULTIARCH "aarch64-linux-gnu"
#else
#define TARGET "x86_64-linux"
#define MULTIARCH "x86_64-linux-gnu"
#endif

typedef struct walk {
    ako_folder_visitor visit;
    void *payload;
} walk;

static int visit_existing(const walk *w, const char *folder)
{
    return ako_fs_is_dir(folder) ? w->visit(w->payload, folder) : 0;
}

/* Folders of a ':' list; empty entries are skipped. */
static int visit_list(const walk *w, const char *list)
{
    char folder[PATH_MAX];
    int stopped = 0;
    while (list && *list && !stopped) {
        size_t n = strcspn(list, ":");
        if (n > 0 && n < sizeof folder) {
            memcpy(folder, list, n);
            folder[n] = '\0';
            stopped = visit_existing(w, folder);
        }
        list += n + (list[n] == ':');
    }
    return stopped;
}

static int visit_root(const walk *w, const char *root)
{
    static const char *const below[] = {"lib64", "targets/" TARGET "/lib", "lib", "extras/CUPTI/lib64"};
    char folder[PATH_MAX];
    int stopped = 0;
    for (size_t i = 0; root && *root && !stopped && i < sizeof below / sizeof *below; i++)
        if (snprintf(folder, sizeof folder, "%s/%s", root, below[i]) < (int)sizeof folder)
            stopped = visit_existing(w, folder);
    return stopped;
}

/* The folder above the one that holds `program` on PATH, links resolved: /opt/cuda for /opt/cuda/bin/nvcc. */
static int prefix_of_program(char prefix[PATH_MAX], const char *program)
{
    char file[PATH_MAX];
    for (const char *list = getenv("PATH"); list && *list;) {
        size_t n = strcspn(list, ":");
        if (snprintf(file, sizeof file, "%.*s/%s", (int)n, list, program) < (int)sizeof file &&
            ako_fs_is_executable(file) && realpath(file, prefix)) {
            for (int up = 0; up < 2; up++) {
                char *slash = strrchr(prefix, '/');
                if (slash)
                    *slash = '\0';
            }
            return prefix[0] != '\0';
        }
        list += n + (list[n] == ':');
    }
    return 0;
}

static int visit_glob(const walk *w, const char *pattern)
{
    glob_t found;
    int stopped = 0;
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc && !stopped; i++)
        stopped = visit_existing(w, found.gl_pathv[i]);
    globfree(&found);
    return stopped;
}

/* `prefix`/lib/python3.X/{site,dist}-packages/nvidia/NAME/lib, where NAME is cu13 or, in wheels for CUDA 12,
 * cuda_runtime, cuda_nvrtc and cuda_cupti. */
static int visit_wheels(const walk *w, const char *prefix)
{
    static const char *const packages[] = {"site-packages", "dist-packages"};
    char pattern[PATH_MAX];
    int stopped = 0;
    for (size_t i = 0; prefix && *prefix && !stopped && i < 2; i++)
        if (snprintf(pattern, sizeof pattern, "%s/lib/python3*/%s/nvidia/cu*/lib", prefix, packages[i]) <
            (int)sizeof pattern)
            stopped = visit_glob(w, pattern);
    return stopped;
}

static int visit_pythons(const walk *w)
{
    char prefix[PATH_MAX];
    int stopped = visit_wheels(w, getenv("VIRTUAL_ENV"));
    if (!stopped)
        stopped = visit_wheels(w, getenv("CONDA_PREFIX"));
    if (!stopped && getenv("HOME") && snprintf(prefix, sizeof prefix, "%s/.local", getenv("HOME")) < (int)sizeof prefix)
        stopped = visit_wheels(w, prefix);
    if (!stopped && prefix_of_program(prefix, "python3"))
        stopped = visit_wheels(w, prefix);
    if (!stopped)
        stopped = visit_wheels(w, "/usr/local");
    return stopped ? stopped : visit_wheels(w, "/usr");
}

int ako_toolkit_walk(ako_folder_visitor visit, void *payload)
{
    const walk w = {visit, payload};
    const char *override = getenv("AKO_LIBRARY_PATH");
    if (override && *override)
        return visit_list(&w, override);
    int stopped = visit_root(&w, getenv("CUDA_HOME"));
    if (!stopped)
        stopped = visit_root(&w, getenv("CUDA_PATH"));
    if (!stopped)
        stopped = visit(payload, "");
    if (!stopped)
        stopped = visit_root(&w, "/usr/local/cuda");
    char prefix[PATH_MAX];
    if (!stopped && prefix_of_program(prefix, "nvcc"))
        stopped = visit_root(&w, prefix);
    return stopped ? stopped : visit_pythons(&w);
}

int ako_driver_walk(ako_folder_visitor visit, void *payload)
{
    const walk w = {visit, payload};
    int stopped = visit_list(&w, getenv("AKO_LIBRARY_PATH"));
    return stopped ? stopped : visit(payload, "");
}

int ako_loader_walk(ako_folder_visitor visit, void *payload)
{
    const walk w = {visit, payload};
    int stopped = visit_list(&w, getenv("LD_LIBRARY_PATH"));
    return stopped ? stopped
                   : visit_list(&w, "/usr/lib/" MULTIARCH ":/lib/" MULTIARCH ":/usr/lib64:/lib64:/usr/lib/wsl/lib:"
                                    "/usr/local/nvidia/lib64:/usr/local/lib:/usr/lib");
}
