/* Loaded into ako-lua with LD_PRELOAD: does something to the N-th of its calls that change a file system, so that a
 * test can try every one of them. Calls on standard output and error do not count, nor do those of the processes it
 * starts.
 *
 *   AKO_STEP=N       which call, from 1
 *   AKO_STEP_DOES    kill   the process is killed in the place of the call
 *                    half   counts writes alone: half of the bytes are written, then the process is killed
 *                    full   this call and all later ones that need room find none (ENOSPC)
 *                    once   this call alone does
 *   AKO_STEP_DONE    a file that is made when the N-th call was reached */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long wanted, reached;
static const char *does = "";

__attribute__((constructor)) static void read_wish(void)
{
    const char *step = getenv("AKO_STEP"), *what = getenv("AKO_STEP_DOES");
    if (step && what && strcmp(program_invocation_short_name, "ako-lua") == 0) {
        wanted = strtol(step, NULL, 10);
        does = what;
    }
}

static bool is(const char *what)
{
    return strcmp(does, what) == 0;
}

static void mark_done(void)
{
    const char *name = getenv("AKO_STEP_DONE");
    long fd = name ? syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT, 0600) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
}

static void die(void)
{
    mark_done();
    syscall(SYS_kill, getpid(), SIGKILL);
}

/* Counts a call; true when it is to find a full disk. */
static bool step(bool needs_room)
{
    if (wanted == 0 || is("half") || (!needs_room && !is("kill")))
        return false;
    reached++;
    if (reached == wanted && is("kill"))
        die();
    if (reached == wanted)
        mark_done();
    bool fails = is("full") ? reached >= wanted : is("once") && reached == wanted;
    if (fails)
        errno = ENOSPC;
    return fails;
}

static bool step_write(int fd, const void *data, size_t size)
{
    if (wanted == 0 || fd <= STDERR_FILENO)
        return false;
    if (!is("half"))
        return step(true);
    if (++reached == wanted) {
        if (syscall(SYS_write, fd, data, size / 2) < 0)
            abort();
        die();
    }
    return false;
}

/* The function that this one stands in front of. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size)
{
    return step_write(fd, data, size) ? -1 : NEXT(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return step(true) ? -1 : NEXT(pwrite)(fd, data, size, at);
}

static bool is_missing(const char *path)
{
    int code = errno;
    bool missing = access(path, F_OK) != 0;
    errno = code;
    return missing;
}

int mkdir(const char *path, mode_t mode)
{
    return is_missing(path) && step(true) ? -1 : NEXT(mkdir)(path, mode);
}

#define OPEN(name)                                                               \
    int name(const char *path, int flags, ...)                                   \
    {                                                                            \
        va_list rest;                                                            \
        va_start(rest, flags);                                                   \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;                \
        va_end(rest);                                                            \
        bool makes = (flags & O_CREAT) != 0 && is_missing(path);                 \
        bool fails = makes ? step(true) : (flags & O_TRUNC) != 0 && step(false); \
        return fails ? -1 : NEXT(name)(path, flags, mode);                       \
    }
OPEN(open)
OPEN(open64)

#define MAKE(name, parameters, arguments)              \
    int name parameters                                \
    {                                                  \
        return step(true) ? -1 : NEXT(name) arguments; \
    }
MAKE(mkostemp, (char *path, int flags), (path, flags))
MAKE(mkostemp64, (char *path, int flags), (path, flags))
MAKE(link, (const char *from, const char *to), (from, to))
MAKE(symlink, (const char *from, const char *to), (from, to))
MAKE(fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))

#define CHANGE(name, parameters, arguments)             \
    int name parameters                                 \
    {                                                   \
        return step(false) ? -1 : NEXT(name) arguments; \
    }
CHANGE(rename, (const char *from, const char *to), (from, to))
CHANGE(unlink, (const char *path), (path))
CHANGE(rmdir, (const char *path), (path))
CHANGE(remove, (const char *path), (path))
CHANGE(ftruncate, (int fd, off_t size), (fd, size))
CHANGE(fchmod, (int fd, mode_t mode), (fd, mode))
CHANGE(chmod, (const char *path, mode_t mode), (path, mode))
CHANGE(fsync, (int fd), (fd))
CHANGE(fdatasync, (int fd), (fd))
