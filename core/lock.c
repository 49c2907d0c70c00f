#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "fs.h"
#include "process.h"

#define TOKEN_VARIABLE "AKO_LOCK_TOKEN"

struct ako_lock {
    int fd; /* -1: nested in an ancestor's */
    char *token;
};

typedef struct holder {
    int pid; /* 0: unknown */
    char program[32];
    long long since_s;
} holder;

static bool is_lock_name(const char *name)
{
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-_.:", *p))
            return false;
    return *name && *name != '.' && strlen(name) < 200;
}

/* The shared folder, open to all and sticky like /tmp itself; links in its place are not followed. */
static int open_shared_folder(void)
{
    static const char path[] = "/tmp/ako-lua-locks";
    if (mkdir(path, 0777) == 0)
        chmod(path, 01777);
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Without /tmp the lock works among the processes of this user only. */
static int open_user_folder(void)
{
    char *path;
    if (ako_fs_user_dir(&path, "runtime") != AKO_OK)
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(path);
    return fd;
}

/* The kernel may refuse O_CREAT on another user's file in a sticky folder (fs.protected_regular), so an existing
 * file is opened without it. */
static int open_file(int folder, const char *file)
{
    const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    for (int tries = 0; tries < 16; tries++) {
        int fd = openat(folder, file, flags);
        if (fd >= 0 || errno != ENOENT)
            return fd;
        fd = openat(folder, file, flags | O_CREAT | O_EXCL, 0666);
        if (fd >= 0)
            fchmod(fd, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* A plain file with one name: writing into it can hurt no other file. */
static bool is_plain(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1;
}

static int open_lock_file(int *out, int folder, const char *file)
{
    *out = open_file(folder, file);
    if (*out < 0)
        return ako_fail(AKO_UNAVAILABLE, "lock", "cannot open lock file %s: %s", file, strerror(errno));
    if (is_plain(*out))
        return AKO_OK;
    close(*out);
    return ako_fail(AKO_UNAVAILABLE, "lock", "lock file %s is no plain file of its own; remove it", file);
}

static bool is_still_there(int folder, const char *file, int fd)
{
    struct stat there, here;
    return fstatat(folder, file, &there, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &here) == 0 &&
           there.st_ino == here.st_ino && there.st_dev == here.st_dev;
}

static void write_holder(int fd)
{
    char text[128];
    int n = snprintf(text, sizeof text, "%d %lld %.31s\n", (int)getpid(), (long long)(ako_clock_wall_ns() / 1000000000),
                     program_invocation_short_name);
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) != n)
        ako_fail_errno("lock", "cannot name the holder"); /* the lock holds all the same */
}

/* The file is anybody's to write, so its content is only ever shown. */
static holder read_holder(int fd)
{
    char text[128];
    holder h = {0};
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%d %lld %31[^\n]", &h.pid, &h.since_s, h.program) != 3 || h.pid <= 0)
        return (holder){0};
    for (char *p = h.program; *p; p++)
        if (!isprint((unsigned char)*p))
            *p = '?';
    return h;
}

static int fail_busy(const char *name, int fd)
{
    holder h = read_holder(fd);
    time_t since = (time_t)h.since_s;
    struct tm local;
    char clock[16];
    if (h.pid == 0 || !localtime_r(&since, &local) || !strftime(clock, sizeof clock, "%H:%M:%S", &local))
        return ako_fail(AKO_BUSY, "lock", "%s is held by another process", name);
    return ako_fail(AKO_BUSY, "lock", "%s is held by pid %d (%s) since %s", name, h.pid, h.program, clock);
}

static int parent_of(int pid)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC), parent = 0;
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *end = strrchr(text, ')');
    return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static bool is_ancestor(int pid)
{
    for (int p = getppid(); p > 0; p = parent_of(p))
        if (p == pid)
            return true;
    return false;
}

/* An ancestor that holds the lock is in the file, and has handed its token down to us. */
static bool is_nested(const char *name, int fd)
{
    const char *tokens = getenv(TOKEN_VARIABLE);
    int pid = read_holder(fd).pid;
    ako_buf token = {0};
    ako_buf_printf(&token, " %s:%d ", name, pid);
    ako_buf all = {0};
    ako_buf_printf(&all, " %s ", tokens ? tokens : "");
    bool handed = !token.oom && !all.oom && strstr(all.data, token.data) != NULL;
    ako_buf_free(&token);
    ako_buf_free(&all);
    return pid > 0 && handed && is_ancestor(pid);
}

/* The variable is a list, name:pid with spaces between, since a process may hold several locks. */
static void export_token(const char *token)
{
    const char *tokens = getenv(TOKEN_VARIABLE);
    ako_buf list = {0};
    ako_buf_printf(&list, "%s%s%s", tokens ? tokens : "", tokens && *tokens ? " " : "", token);
    if (!list.oom)
        setenv(TOKEN_VARIABLE, list.data, 1);
    ako_buf_free(&list);
}

static void withdraw_token(const char *token)
{
    const char *tokens = getenv(TOKEN_VARIABLE);
    char *list = strdup(tokens ? tokens : "");
    char *at = list ? strstr(list, token) : NULL;
    if (at) {
        size_t n = strlen(token);
        char *rest = at + n + (at[n] == ' ');
        memmove(at, rest, strlen(rest) + 1);
        if (*list)
            setenv(TOKEN_VARIABLE, list, 1);
        else
            unsetenv(TOKEN_VARIABLE);
    }
    free(list);
}

/* One try: AKO_OK with the locked descriptor, or -1 in it when an ancestor holds the lock; AKO_BUSY. */
static int try_lock(int *out, int folder, const char *file, const char *name)
{
    int fd, status = open_lock_file(&fd, folder, file);
    if (status != AKO_OK)
        return status;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (is_still_there(folder, file, fd)) {
            *out = fd;
            return AKO_OK;
        }
        status = ako_fail(AKO_BUSY, "lock", "%s was replaced while it was taken", file);
    } else if (is_nested(name, fd)) {
        *out = -1;
        status = AKO_OK;
    } else {
        status = fail_busy(name, fd);
    }
    close(fd);
    return status;
}

static int wait_for_lock(int *out, int folder, const char *file, const char *name, int64_t deadline_ns)
{
    int64_t pause_ns = 1000000;
    for (;;) {
        int status = try_lock(out, folder, file, name);
        if (status != AKO_BUSY)
            return status;
        if (ako_cancel_requested())
            return ako_fail(AKO_CANCELLED, "lock", "interrupted");
        int64_t left = deadline_ns ? deadline_ns - ako_clock_ns() : INT64_MAX;
        if (left <= 0)
            return status;
        ako_clock_sleep_ns(pause_ns < left ? pause_ns : left);
        pause_ns = pause_ns < 32000000 ? 2 * pause_ns : pause_ns;
    }
}

static int make_lock(ako_lock **out, int fd, const char *name)
{
    ako_lock *lock = calloc(1, sizeof *lock);
    ako_buf token = {0};
    ako_buf_printf(&token, "%s:%d", name, (int)getpid());
    char *text = ako_buf_take(&token);
    if (!lock || !text) {
        free(lock);
        free(text);
        if (fd >= 0)
            close(fd);
        return ako_fail(AKO_NOMEM, "lock", "out of memory");
    }
    *lock = (ako_lock){.fd = fd, .token = text};
    if (fd >= 0) {
        write_holder(fd);
        export_token(text);
    }
    *out = lock;
    return AKO_OK;
}

int ako_lock_take(ako_lock **out, const char *name, int64_t deadline_ns)
{
    char file[256];
    *out = NULL;
    if (!is_lock_name(name))
        return ako_fail(AKO_INVALID, "lock", "bad lock name \"%s\"", name);
    snprintf(file, sizeof file, "%s.lock", name);
    int folder = open_shared_folder();
    if (folder < 0)
        folder = open_user_folder();
    if (folder < 0)
        return ako_fail(AKO_UNAVAILABLE, "lock", "cannot use /tmp/ako-lua-locks for locks: %s", strerror(errno));
    int fd = -1, status = wait_for_lock(&fd, folder, file, name, deadline_ns);
    close(folder);
    return status == AKO_OK ? make_lock(out, fd, name) : status;
}

void ako_lock_release(ako_lock *lock)
{
    if (!lock)
        return;
    if (lock->fd >= 0) {
        withdraw_token(lock->token);
        if (ftruncate(lock->fd, 0) != 0)
            ako_fail_errno("lock", "cannot clear the lock file");
        close(lock->fd);
    }
    free(lock->token);
    free(lock);
}
