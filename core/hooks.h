/* How a program that loads this library runs code of its own in the roles of referee and candidate: Python does
 * (stdlib/python). A hook answers by `status`, as its last act: AKO_OK, or what ako_fail_text has returned. One that
 * ends without an answer has failed; what it would return is no answer, for who calls back into an interpreter gets a
 * value even where the function has raised. Calls come from one thread. */
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
    void (*start)(int on_gpu);
    /* The task (docs/protocol.md) that all that follows is about. */
    void (*task)(const char *json);
    /* What was built of what the next bundle asks for: JSON of stdlib/python/ako/extensions.py. */
    void (*extensions)(const char *json);
    /* Loads a bundle: {"files":[{"name","text"}, ...]}, the main file first. */
    void (*open)(const char *path);
    /* The workload that the next calls are for, by its id. */
    void (*bind)(const char *workload);
    /* Which form of the code the next calls take: "", or "compiled", by a compiler of the framework's own. What the
     * calls before have left is given back. */
    void (*variant)(const char *name);
    /* Inputs for a seed, written to these addresses, one a tensor of the task; NULL: not wanted. `known`: the seed is
     * one of the check's, whose inputs may be asked for again; else it is nobody's to know, and never comes back.
     * Floating-point numbers are those of the problem `times` over, and with the other sign by chance. */
    void (*fill)(int64_t seed, int known, int is_signed, double times, void *const *addresses);
    /* One call in three steps, of which only the second is timed: makes the inputs at these addresses ready to be
     * passed; calls (on a GPU that enqueues on the default stream) and looks at what is returned, which it names in
     * `returned`; gives that up, once we have copied it. So nobody's code runs between the end of a timed call and the
     * copy. `more`: another call follows at once, for which its memory may be kept. */
    void (*stage)(void *const *addresses);
    void (*launch)(void);
    void (*release)(int more);
    /* What a bundle asks for, as JSON in `text`, without running it on buffers of ours. */
    void (*describe)(const char *path, const char *question);
    /* Which configurations the kernels of the bundle have chosen at their first calls, as JSON in `text`: a list of
     * {"kernel","key","config"}, all texts. */
    void (*autotuned)(void);
    /* From `task` on: what the last call has returned, one an output. */
    const ako_returned *returned;
    int n_returned, first_output; /* the latter: where theirs begin among the addresses */
    int status;
    const char *text; /* the hook's, until its next call */
} ako_hooks;

#define AKO_HOOK_SILENT 1 /* the status of one that has not answered */

/* Borrowed, for the life of the process. */
void ako_hooks_set(ako_hooks *hooks);
const ako_hooks *ako_hooks_get(void); /* NULL: none */

/* What the hook that was called last has answered, which counts once. */
int ako_hooks_answer(void);

/* ako_fail for callers without variable arguments. Whatever status they name, it is a failure. */
int ako_fail_text(int status, const char *domain, const char *text);

/* Runs "referee" or "candidate" on a channel until its peer is gone; returns the process's exit code. */
int ako_role_run(const char *role, int channel, ako_hooks *hooks);

#endif
