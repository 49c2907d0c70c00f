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
    const char *const *argv;            /* NULL-terminated; argv[0] is searched in PATH unless it holds a slash */
    const char *const *env;             /* NULL: this process's environment */
    const char *cwd;                    /* NULL: here */
    int stdin_fd, stdout_fd, stderr_fd; /* -1: /dev/null */
    int channel_fd;       /* above 2, kept open in the child at the same number, else -1; everything else is
                             CLOEXEC'd */
    bool die_with_parent; /* PR_SET_PDEATHSIG: dies with the thread that started it */
} ako_spawn;

/* Full path of a program: as it is when it holds a slash, else the first executable in the absolute folders of PATH.
 * AKO_NOTFOUND "no such program: nvcc". */
int ako_process_find(char *out, size_t size, const char *program);

/* Starts a child in its own session and process group (setsid), with default signal handling. AKO_NOTFOUND when there
 * is no such program, also when only the exec finds that out. */
int ako_process_spawn(pid_t *out, const ako_spawn *spawn);

/* TERM to the group and to every descendant found in /proc, KILL after `grace_ns`, reaped; returns when none is left.
 * Works also after the child itself has been waited for, on what it left behind. With adopt_orphans that includes
 * every adopted process whose session is not that of another living child. AKO_TIMEOUT names a process that even
 * KILL has not ended within 10 s (it hangs in the kernel). */
int ako_process_kill_tree(pid_t pid, int64_t grace_ns);

/* The same; *status (may be NULL) receives how the child ended, or -1 when it had been waited for before. */
int ako_process_kill_tree_status(pid_t pid, int64_t grace_ns, int *status);

/* KILL to all other processes of the session that this one leads, which may go on; until there are none, or
 * AKO_TIMEOUT. */
int ako_process_kill_helpers(pid_t pid, int64_t deadline_ns);

/* Waits until the deadline (monotonic ns, 0: none). *status as waitpid gives it. AKO_TIMEOUT: still running.
 * AKO_CANCELLED: a wish to stop came (cancel.h) and the tree has been killed. */
int ako_process_wait(pid_t pid, int *status, int64_t deadline_ns);

/* Whether it ended by SIGKILL, which no fault of a program brings about: somebody sent it, or the kernel where memory
 * ran out. */
bool ako_process_is_killed(int status);

/* "exit 1", "killed by SIGSEGV (segmentation fault)". */
void ako_process_describe(char *out, size_t size, int status);

typedef struct ako_capture {
    ako_buf out, err; /* capped; the middle of what is over the cap is dropped and said */
    int status;       /* as waitpid gives it */
    bool timed_out;
    int64_t wall_ns;
} ako_capture;

/* Runs to the end or the limit (ns, 0: none), then kills what is left of the tree. Returns AKO_OK also when the
 * program fails or is late: see the capture. `input` (may be NULL) goes to its stdin; stdout_fd and stderr_fd of
 * `spawn` are not looked at. At most `output_cap` bytes (0: 1 MiB) of each stream are kept, head and tail. */
int ako_process_run(ako_capture *out, const ako_spawn *spawn, const char *input, size_t input_size, int64_t limit_ns,
                    size_t output_cap);
void ako_capture_free(ako_capture *capture);

/* An exclusive advisory lock (flock) on /tmp/ako-lua-locks/<name>.lock, one folder for all users of the machine, that
 * names its holder (pid, program, since when). Waits until the deadline (monotonic ns, 0: for ever; one in the past
 * tries once); AKO_BUSY says who holds it. A dead holder frees it by the kernel's hand. The holder exports
 * AKO_LOCK_TOKEN to its children: where an ancestor holds the lock, taking it again succeeds at once and means nothing.
 * Names are made of letters, digits and "-_.:". Sets an environment variable: not while other threads read those. */
typedef struct ako_lock ako_lock;
int ako_lock_take(ako_lock **out, const char *name, int64_t deadline_ns);
void ako_lock_release(ako_lock *lock);

#endif
