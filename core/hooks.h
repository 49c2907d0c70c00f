/* How a program that loads this library runs code of its own in the roles of referee and candidate: Python does
 * (stdlib/python). A hook returns AKO_OK, or a status after ako_fail_text. Calls come from one thread. */
#ifndef AKO_HOOKS_H
#define AKO_HOOKS_H

#include "layout.h"

/* A tensor as a call has returned it. */
typedef struct ako_returned {
    const void *address;
    ako_layout layout;
} ako_returned;

typedef struct ako_hooks {
    /* What takes long and needs no code of others yet. */
    int (*start)(int on_gpu);
    /* The task (docs/protocol.md) that all that follows is about. */
    int (*task)(const char *json);
    /* What was built of what the next bundle asks for: JSON of stdlib/python/ako/extensions.py. */
    int (*extensions)(const char *json);
    /* Loads a bundle: {"files":[{"name","text"}, ...]}, the main file first. */
    int (*open)(const char *path);
    /* The workload that the next calls are for, by its id. */
    int (*bind)(const char *workload);
    /* Which form of the code the next calls take: "", or "compiled", by a compiler of the framework's own. What the
     * calls before have left is given back. */
    int (*variant)(const char *name);
    /* Inputs for a seed, written to these addresses, one a tensor of the task; NULL: not wanted. `known`: the seed is
     * one of the check's, whose inputs may be asked for again; else it is nobody's to know, and never comes back.
     * Floating-point numbers are those of the problem `times` over, and with the other sign by chance. */
    int (*fill)(int64_t seed, int known, int is_signed, double times, void *const *addresses);
    /* One call in three steps, of which only the second is timed: makes the inputs at these addresses ready to be
     * passed; calls (on a GPU that enqueues on the default stream) and looks at what is returned, which it names in
     * `returned`; gives that up, once we have copied it. So nobody's code runs between the end of a timed call and the
     * copy. `more`: another call follows at once, for which its memory may be kept. */
    int (*stage)(void *const *addresses);
    int (*launch)(void);
    int (*release)(int more);
    /* What a bundle asks for, as JSON, without running it on buffers of ours; NULL after ako_fail_text. The text is the
     * hook's, until its next call. */
    const char *(*describe)(const char *path, const char *question);
    /* Which configurations the kernels of the bundle have chosen at their first calls, as JSON: a list of {"kernel",
     * "key","config"}, all texts. NULL: nothing is known. The text is the hook's, until its next call. */
    const char *(*autotuned)(void);
    /* From `task` on: what the last call has returned, one an output. */
    const ako_returned *returned;
    int n_returned, first_output; /* the latter: where theirs begin among the addresses */
} ako_hooks;

/* Borrowed, for the life of the process. */
void ako_hooks_set(const ako_hooks *hooks);
const ako_hooks *ako_hooks_get(void); /* NULL: none */

/* ako_fail for callers without variable arguments. */
int ako_fail_text(int status, const char *domain, const char *text);

/* Runs "referee" or "candidate" on a channel until its peer is gone; returns the process's exit code. */
int ako_role_run(const char *role, int channel, const ako_hooks *hooks);

#endif
