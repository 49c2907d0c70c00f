#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "fs.h"
#include "process_tree.h"

typedef enum launch_stage { STAGE_EXEC, STAGE_CWD, STAGE_DESCRIPTORS } launch_stage;

/* What the child writes into the report pipe when it cannot become the program. */
typedef struct failure {
    launch_stage stage;
    int code;
} failure;

int ako_process_find(char *out, size_t size, const char *program)
{
    if (strchr(program, '/')) {
        snprintf(out, size, "%s", program);
        return strlen(program) < size ? AKO_OK : ako_fail(AKO_INVALID, "process", "the program's path is too long");
    }
    const char *path = getenv("PATH");
    for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *program && *p;) {
        int length = (int)strcspn(p, ":");
        int n = snprintf(out, size, "%.*s/%s", length, p, program);
        if (*p == '/' && n > 0 && (size_t)n < size && ako_fs_is_executable(out))
            return AKO_OK;
        p += length + (p[length] == ':');
    }
    return ako_fail(AKO_NOTFOUND, "process", "no such program: %s", program);
}

/* From here to become_program: code of the child between fork and exec, which may only make system calls. */

static _Noreturn void give_up(int report, launch_stage stage)
{
    failure f = {.stage = stage, .code = errno};
    ssize_t n = write(report, &f, sizeof f);
    _exit(n == (ssize_t)sizeof f ? 127 : 126);
}

static void reset_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int s = 1; s < NSIG; s++)
        sigaction(s, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int copy_above_2(int fd)
{
    int from = fd >= 0 ? fd : open("/dev/null", O_RDWR | O_CLOEXEC);
    return from < 0 ? -1 : fcntl(from, F_DUPFD_CLOEXEC, 3);
}

static int place_descriptors(const ako_spawn *spawn)
{
    int copies[3] = {copy_above_2(spawn->stdin_fd), copy_above_2(spawn->stdout_fd), copy_above_2(spawn->stderr_fd)};
    for (int i = 0; i < 3; i++)
        if (copies[i] < 0 || dup2(copies[i], i) < 0)
            return -1;
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
        for (int fd = 3; fd < 65536; fd++)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
    return spawn->channel_fd >= 0 ? fcntl(spawn->channel_fd, F_SETFD, 0) : 0;
}

static _Noreturn void become_program(const ako_spawn *spawn, const char *path, pid_t parent, int report)
{
    setsid();
    if (spawn->die_with_parent && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(127);
    reset_signals();
    if (place_descriptors(spawn) != 0)
        give_up(report, STAGE_DESCRIPTORS);
    if (spawn->cwd && chdir(spawn->cwd) != 0)
        give_up(report, STAGE_CWD);
    execve(path, (char *const *)spawn->argv, spawn->env ? (char *const *)spawn->env : environ);
    give_up(report, STAGE_EXEC);
}

static int make_report_pipe(int ends[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3); /* dup2 onto 0, 1, 2 must not hit it */
        close(low[i]);
    }
    return ends[0] < 0 || ends[1] < 0 ? -1 : 0;
}

static int fail_from(const failure *f, const ako_spawn *spawn)
{
    errno = f->code;
    if (f->stage == STAGE_CWD)
        return ako_fail_errno("process", "cannot run %s in %s", spawn->argv[0], spawn->cwd);
    if (f->stage == STAGE_EXEC && f->code == ENOENT && !ako_fs_exists(spawn->argv[0]))
        return ako_fail(AKO_NOTFOUND, "process", "no such program: %s", spawn->argv[0]);
    return ako_fail_errno("process", "cannot run %s", spawn->argv[0]);
}

/* Blocks until the exec has closed the pipe or the child has said why there was none. */
static int read_report(int report, pid_t pid, const ako_spawn *spawn)
{
    failure f;
    ssize_t n;
    while ((n = read(report, &f, sizeof f)) < 0 && errno == EINTR)
        ;
    if (n != (ssize_t)sizeof f)
        return AKO_OK;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    ako_tree_forget(pid);
    return fail_from(&f, spawn);
}

int ako_process_spawn(pid_t *out, const ako_spawn *spawn)
{
    char path[PATH_MAX];
    int report[2];
    if (spawn->channel_fd >= 0 && spawn->channel_fd < 3)
        return ako_fail(AKO_INVALID, "process", "a channel must be a descriptor above 2");
    int status = ako_process_find(path, sizeof path, spawn->argv[0]);
    if (status != AKO_OK)
        return status;
    if (make_report_pipe(report) != 0)
        return ako_fail_errno("process", "cannot make a pipe");
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* no handler of ours may run in the child */
    pid_t self = getpid(), pid = fork();
    if (pid == 0)
        become_program(spawn, path, self, report[1]);
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    errno = code;
    if (pid < 0)
        status = ako_fail_errno("process", "cannot start %s", spawn->argv[0]);
    else if ((status = ako_tree_register(pid)) != AKO_OK)
        ako_process_kill_tree(pid, 0);
    else
        status = read_report(report[0], pid, spawn);
    close(report[0]);
    *out = status == AKO_OK ? pid : -1;
    return status;
}

int ako_process_watch(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0U);
}

int ako_process_slice_ms(int64_t deadline_ns, bool watched)
{
    int slice = watched ? AKO_WAIT_SLICE_MS : 2, left = ako_clock_poll_ms(deadline_ns);
    return left < 0 || left > slice ? slice : left;
}

static int wait_watched(pid_t pid, int *status, int64_t deadline_ns, int watch)
{
    for (;;) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid) {
            ako_tree_forget(pid);
            return AKO_OK;
        }
        if (got < 0 && errno != EINTR)
            return ako_fail(AKO_NOTFOUND, "process", "process %d is no child of this one", (int)pid);
        if (ako_cancel_requested()) {
            ako_process_kill_tree_status(pid, AKO_KILL_GRACE_NS, status);
            return ako_fail(AKO_CANCELLED, "process", "interrupted");
        }
        if (deadline_ns && ako_clock_ns() >= deadline_ns)
            return ako_fail(AKO_TIMEOUT, "process", "process %d is still running", (int)pid);
        struct pollfd p = {.fd = watch, .events = POLLIN};
        poll(&p, 1, ako_process_slice_ms(deadline_ns, watch >= 0)); /* a negative descriptor is skipped: a sleep */
    }
}

int ako_process_wait(pid_t pid, int *status, int64_t deadline_ns)
{
    int watch = ako_process_watch(pid);
    int result = wait_watched(pid, status, deadline_ns, watch);
    if (watch >= 0)
        close(watch);
    return result;
}

bool ako_process_is_killed(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

void ako_process_describe(char *out, size_t size, int status)
{
    if (WIFEXITED(status)) {
        snprintf(out, size, "exit %d", WEXITSTATUS(status));
        return;
    }
    int signal = WTERMSIG(status);
    const char *name = sigabbrev_np(signal), *text = sigdescr_np(signal);
    if (name && text)
        snprintf(out, size, "killed by SIG%s (%c%s)", name, *text | 0x20, text + 1);
    else
        snprintf(out, size, "killed by signal %d", signal);
}
