/* Confinement of a process before it runs hostile native code: what the kernel can take from it, step by step. A step
 * that this kernel or this container does not allow is not an error: the report says so, for the trial's record.
 *
 * What stays open: the process runs under the user's own id, may read what the user may read, and shares its address
 * space with our own code in it (spec of threats, "honest limits"). */
#ifndef AKO_CONFINE_H
#define AKO_CONFINE_H

#include <stdbool.h>
#include <sys/types.h>

#include "memory.h"

/* Each text says what is in force, or "unavailable: why". */
typedef struct ako_confinement {
    bool no_new_privs;
    char capabilities[96]; /* "dropped", "none were held" */
    char landlock[160];    /* "abi 7": writes, TCP and signals only as confine_files.c allows them */
    char network[96];      /* "namespace", "seccomp" (not without ako_confine_calls), or both */
    char folder[96];       /* "64 MiB, its own file system", or why nothing caps the sum of its files */
    char seccomp[96];      /* "filter": the system calls of confine_calls.c fail */
    char limits[160];
} ako_confinement;

/* The first half, once, while the process has a single thread: threads inherit it, but those that exist already keep
 * what they have. `place` is where the code will run: what CUDA needs stays open on AKO_GPU. `folder` (absolute, there)
 * becomes the current one and the only place where files can be written. */
void ako_confine_process(ako_confinement *out, ako_place place, const char *folder);

/* The second half, once, when CUDA has started (it may start a helper program then) and before any foreign code is
 * loaded: system calls, for all threads at once, and resource limits. Fills the rest of the report. */
void ako_confine_code(ako_confinement *out, ako_place place, bool programs);

/* With `programs` the code may start others, as compilers that run when a kernel is first called; this ends that. What
 * was started before is not ended by it. Returns false when it could not be done; the report says why. */
int ako_confine_settle(char *report, size_t size, ako_place place);

/* For a process that has compilers run with flags that hostile code has chosen, and for all that it starts: files can
 * be written below `folder` (absolute) alone, no capability is left, no process outside is signalled or traced. Returns
 * whether the kernel keeps other files safe. Other threads keep what they have. */
bool ako_confine_compiler(const char *folder);

/* Keeps other processes of the same user out of this one's memory, environment and descriptors (PR_SET_DUMPABLE 0:
 * /proc/PID/mem, ptrace, process_vm_readv). No core is dumped, and only root can attach a debugger. An exec undoes it.
 * A process may still look at itself, so /proc/self/exe can be started as before. */
void ako_confine_memory(void);

#endif
