/* Child processes: own group, wall-clock limits, output caught and capped, whole trees killed and reaped. */
#ifndef AKO_PROCESS_H
#define AKO_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"

/* Makes this process adopt orphaned descendants (PR_SET_CHILD_SUBREAPER), so that no grandchild escapes a kill. */
int ako_process_adopt_orphans(void);

typedef struct ako_spawn {
    const char *const *argv;   /* NULL-terminated; argv[0] is searched in PATH unless it holds a slash */
    const char *const *env;    /* NULL: this process's environment */
    const char *cwd;           /* NULL: here */
    int stdin_fd, stdout_fd, stderr_fd; /* -1: /dev/null */
    int channel_fd;            /* kept open in the child at the same number, else -1; everything else is CLOEXEC'd */
    bool die_with_parent;      /* PR_SET_PDEATHSIG */
} ako_spawn;

/* Starts a child in its own process group (setsid). AKO_NOTFOUND when there is no such program. */
int ako_process_spawn(pid_t *out, const ako_spawn *spawn);

/* TERM to the group and to every descendant found in /proc, KILL after `grace_ns`, reaped; returns when none is left. */
int ako_process_kill_tree(pid_t pid, int64_t grace_ns);

/* Waits until the deadline (monotonic ns, 0: none). *status as waitpid gives it. AKO_TIMEOUT: still running. */
int ako_process_wait(pid_t pid, int *status, int64_t deadline_ns);

/* "exit 1", "killed by SIGSEGV (segmentation fault)". */
void ako_process_describe(char *out, size_t size, int status);

typedef struct ako_capture {
    ako_buf out, err;  /* capped; the middle of what is over the cap is dropped and said */
    int status;        /* as waitpid gives it */
    bool timed_out;
    int64_t wall_ns;
} ako_capture;

/* Runs to the end or the limit (then the tree is killed). Returns AKO_OK also when the program fails or is late: see
 * the capture. `input` (may be NULL) goes to its stdin. */
int ako_process_run(ako_capture *out, const ako_spawn *spawn, const char *input, size_t input_size, int64_t limit_ns,
                    size_t output_cap);
void ako_capture_free(ako_capture *capture);

/* An exclusive advisory lock (flock) on <runtime dir>/<name>.lock that names its holder (pid, program, since when).
 * Waits until the deadline; AKO_BUSY says who holds it. A dead holder frees it by the kernel's hand. */
typedef struct ako_lock ako_lock;
int ako_lock_take(ako_lock **out, const char *name, int64_t deadline_ns);
void ako_lock_release(ako_lock *lock);

#endif
