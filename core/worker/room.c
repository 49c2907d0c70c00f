#include "room.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "scratch.h"

/* Names that pass. OMP_PROC_BIND and the like do not: threads are pinned by a system call that could pin our other
 * processes as well, and is therefore refused (core/confine_calls.c). */
static const char *const names[] = {
    /* Where the libraries of CUDA lie (core/toolkit.c). HOME is on the list for wheels below ~/.local alone, and is
     * turned to the process's own folder before foreign code is loaded. */
    "PATH",
    "HOME",
    "LD_LIBRARY_PATH",
    "AKO_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    /* Where Python finds its packages, and Triton the tools it compiles with. */
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONUSERBASE",
    "PYTHONNOUSERSITE",
    "TRITON_PTXAS_PATH",
    "CC",
    "CXX",
    /* Which GPU and how it is reached, as in the referee: the two must agree on the device and on its settings. */
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_MODULE_LOADING",
    "CUDA_MPS_PIPE_DIRECTORY",
    "NVIDIA_TF32_OVERRIDE",
    /* Threads of the code under test, which the reference has too. */
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OMP_DYNAMIC",
    "OMP_SCHEDULE",
    "OMP_WAIT_POLICY",
    "OMP_STACKSIZE",
    /* How numbers and messages of libraries read, and what day it is. */
    "LANG",
    "LC_ALL",
    "TZ",
    /* Our own tracing; what a sanitizer build is told. */
    "AKO_LOG",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "TSAN_OPTIONS",
};

enum { N_NAMES = sizeof names / sizeof *names, N_OWN = 2 };

struct child_room {
    ako_scratch scratch;
    char temporary[PATH_MAX + 16];
    const char *environment[N_NAMES + N_OWN + 1];
};

static bool is_on_list(const char *entry)
{
    size_t length = strcspn(entry, "=");
    for (size_t i = 0; i < N_NAMES; i++)
        if (strlen(names[i]) == length && strncmp(names[i], entry, length) == 0)
            return true;
    return false;
}

static void list_environment(child_room *room)
{
    size_t n = 0;
    for (char **entry = environ; *entry && n < N_NAMES; entry++)
        if (is_on_list(*entry))
            room->environment[n++] = *entry;
    snprintf(room->temporary, sizeof room->temporary, "TMPDIR=%s", room->scratch.path);
    room->environment[n++] = room->temporary;
    /* The driver's cache of compiled PTX is shared by all that the user runs, so nothing hostile may write there. */
    room->environment[n++] = "CUDA_CACHE_DISABLE=1";
}

int room_open(child_room **out)
{
    child_room *room = calloc(1, sizeof *room);
    *out = NULL;
    if (!room)
        return ako_fail(AKO_NOMEM, "candidate", "out of memory");
    int status = ako_scratch_open(&room->scratch);
    if (status != AKO_OK) {
        free(room);
        return status;
    }
    list_environment(room);
    *out = room;
    return AKO_OK;
}

const char *room_folder(const child_room *room)
{
    return room ? room->scratch.path : NULL;
}

const char *const *room_environment(const child_room *room)
{
    return room ? room->environment : NULL;
}

void room_close(child_room *room)
{
    if (room)
        ako_scratch_close(&room->scratch);
    free(room);
}
