#include "fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "error.h"

int ako_fs_open_regular(int *fd, const char *path, int flags)
{
    struct stat st;
    *fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666); /* an open of a pipe would wait for its other end */
    if (*fd < 0)
        return ako_fail_errno("fs", "cannot open %s", path);
    if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
        return AKO_OK;
    close(*fd);
    *fd = -1;
    return ako_fail(AKO_CORRUPT, "fs", "%s is no regular file", path);
}

/* Nothing that has no end, or would be waited for. */
static bool is_endless(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

int ako_fs_read(ako_buf *out, const char *path, size_t limit)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ako_fail_errno("fs", "cannot read %s", path);
    if (is_endless(fd)) {
        close(fd);
        return ako_fail(AKO_INVALID, "fs", "cannot read %s: it is no plain file", path);
    }
    size_t start = out->size;
    int status = AKO_OK;
    while (status == AKO_OK) {
        char *end = ako_buf_reserve(out, 65536);
        ssize_t n = end ? read(fd, end, 65536) : 0;
        if (!end)
            status = ako_fail(AKO_NOMEM, "fs", "out of memory reading %s", path);
        else if (n < 0 && errno != EINTR)
            status = ako_fail_errno("fs", "cannot read %s", path);
        else if (n == 0)
            break;
        else if (n > 0)
            out->size += (size_t)n;
        if (limit && out->size - start > limit)
            status = ako_fail(AKO_LIMIT, "fs", "%s is larger than %zu bytes", path, limit);
    }
    close(fd);
    if (out->data)
        out->data[out->size] = '\0';
    return status;
}

static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

void ako_fs_sync_parent(const char *path)
{
    char *copy = strdup(path);
    char *slash = copy ? strrchr(copy, '/') : NULL;
    if (slash)
        slash[slash == copy] = '\0';
    int fd = copy ? open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

unsigned ako_fs_default_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666u & ~(unsigned)mask;
}

/* A new file beside `path`; its name is short, so that a name as long as the file system allows can be replaced too. */
static int open_beside(ako_buf *name, const char *path)
{
    const char *slash = strrchr(path, '/');
    ako_buf_put(name, path, slash ? (size_t)(slash - path) + 1 : 0);
    ako_buf_puts(name, ".ako-XXXXXX");
    return name->oom ? (errno = ENOMEM, -1) : mkostemp(name->data, O_CLOEXEC);
}

/* Writes the content of a new file; 0, or -1 with errno, as replace_with leaves it too. */
typedef int (*fill)(int fd, const void *payload);

static int replace_with(const char *path, fill content, const void *payload, unsigned mode, bool sync)
{
    ako_buf temp = {0};
    int fd = open_beside(&temp, path), code = errno;
    if (fd < 0) {
        int status = ako_fail_errno("fs", "cannot write %s", path);
        ako_buf_free(&temp);
        errno = code;
        return status;
    }
    int status = AKO_OK;
    if (content(fd, payload) != 0 || fchmod(fd, (mode_t)mode) != 0 || (sync && fsync(fd) != 0))
        status = ako_fail_errno("fs", "cannot write %s", path);
    if (close(fd) != 0 && status == AKO_OK)
        status = ako_fail_errno("fs", "cannot write %s", path);
    if (status == AKO_OK && rename(temp.data, path) != 0)
        status = ako_fail_errno("fs", "cannot replace %s", path);
    code = errno;
    if (status != AKO_OK)
        unlink(temp.data);
    else if (sync)
        ako_fs_sync_parent(path);
    ako_buf_free(&temp);
    errno = code;
    return status;
}

typedef struct bytes {
    const void *data;
    size_t size;
} bytes;

static int fill_from_bytes(int fd, const void *payload)
{
    const bytes *b = payload;
    return write_all(fd, b->data, b->size);
}

int ako_fs_replace(const char *path, const void *data, size_t size, unsigned mode, bool sync)
{
    return replace_with(path, fill_from_bytes, &(bytes){data, size}, mode, sync);
}

/* The room is taken before the first byte is changed. */
static int overwrite(const char *path, const void *data, size_t size, unsigned mode)
{
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    bool plain = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    bool room = plain && (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, size ? (off_t)size : 1) == 0 || errno == EOPNOTSUPP);
    bool written = room && write_all(fd, data, size) == 0 && ftruncate(fd, (off_t)size) == 0 && fchmod(fd, mode) == 0;
    if (fd >= 0)
        close(fd);
    return written ? AKO_OK : -1;
}

int ako_fs_put_back(const char *path, const void *data, size_t size, unsigned mode)
{
    int status = ako_fs_replace(path, data, size, mode, false);
    bool full = status != AKO_OK && (errno == ENOSPC || errno == EDQUOT);
    return full && overwrite(path, data, size, mode) == AKO_OK ? AKO_OK : status;
}

/* What a write to `path` replaces: the file that a link leads to, with the mode that it has. */
static const char *find_target(char resolved[PATH_MAX], unsigned *mode, const char *path)
{
    const char *target = realpath(path, resolved) ? resolved : path;
    struct stat st;
    *mode = stat(target, &st) == 0 ? st.st_mode & 07777u : ako_fs_default_mode();
    return target;
}

int ako_fs_write(const char *path, const void *data, size_t size, bool sync)
{
    char resolved[PATH_MAX];
    unsigned mode;
    const char *target = find_target(resolved, &mode, path);
    return ako_fs_replace(target, data, size, mode, sync);
}

static int fill_from_file(int fd, const void *payload)
{
    char chunk[65536];
    const int *from = payload;
    ssize_t n;
    while ((n = read(*from, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || write_all(fd, chunk, (size_t)n) != 0)
            return -1;
    }
    return 0;
}

int ako_fs_copy(const char *to, const char *from)
{
    char resolved[PATH_MAX];
    unsigned mode;
    struct stat st;
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ako_fail_errno("fs", "cannot read %s", from);
    const char *target = find_target(resolved, &mode, to);
    if (fstat(fd, &st) == 0)
        mode = st.st_mode & 07777u;
    int status = replace_with(target, fill_from_file, &fd, mode, false);
    close(fd);
    return status;
}

int ako_fs_stat_get(ako_fs_stat *out, const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return ako_fail_errno("fs", "cannot look at %s", path);
    out->type = S_ISREG(st.st_mode) ? 'f' : S_ISDIR(st.st_mode) ? 'd' : S_ISLNK(st.st_mode) ? 'l' : 'o';
    out->size = st.st_size;
    out->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    out->ctime_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
    out->inode = (int64_t)st.st_ino;
    return AKO_OK;
}

int ako_fs_mkdirs(const char *path)
{
    if (!*path)
        return ako_fail(AKO_INVALID, "fs", "cannot create a folder without a name");
    char *copy = strdup(path);
    if (!copy)
        return ako_fail(AKO_NOMEM, "fs", "out of memory creating %s", path);
    int failed = 0;
    for (char *p = copy + 1; !failed; p++) {
        char end = *p;
        if (end != '/' && end != '\0')
            continue;
        *p = '\0';
        failed = mkdir(copy, 0777) != 0 && errno != EEXIST;
        *p = end;
        if (end == '\0')
            break;
    }
    int status = AKO_OK;
    if (failed)
        status = ako_fail_errno("fs", "cannot create folder %s", path);
    else if (!ako_fs_is_dir(path))
        status = ako_fail(AKO_EXISTS, "fs", "cannot create folder %s: a file is in the way", path);
    free(copy);
    return status;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path) != 0 && errno != ENOENT ? -1 : 0;
}

int ako_fs_remove_tree(const char *path)
{
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        return ako_fail_errno("fs", "cannot remove %s", path);
    return AKO_OK;
}

int ako_fs_temp_dir(char *out, size_t out_size, const char *prefix)
{
    const char *named = getenv("TMPDIR"), *base = named && *named ? named : "/tmp";
    int n = snprintf(out, out_size, "%s/%s-XXXXXX", base, prefix);
    if (n < 0 || (size_t)n >= out_size)
        return ako_fail(AKO_INVALID, "fs", "the path of the temporary folder is too long");
    if (!mkdtemp(out))
        return ako_fail_errno("fs", "cannot create a temporary folder in %s%s", base, base == named ? " (TMPDIR)" : "");
    return AKO_OK;
}

int ako_fs_lock_dir(int *fd, const char *path)
{
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return ako_fail_errno("fs", "cannot open folder %s", path);
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return AKO_OK;
    int status = errno == EWOULDBLOCK ? ako_fail(AKO_BUSY, "fs", "%s is in use by another process", path)
                                      : ako_fail_errno("fs", "cannot lock folder %s", path);
    close(*fd);
    *fd = -1;
    return status;
}

int ako_fs_absolute(char **out, const char *path)
{
    *out = realpath(path, NULL);
    return *out ? AKO_OK : ako_fail_errno("fs", "cannot resolve %s", path);
}

bool ako_fs_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

bool ako_fs_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool ako_fs_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool ako_fs_is_executable(const char *path)
{
    return !ako_fs_is_dir(path) && access(path, X_OK) == 0;
}

bool ako_fs_is_writable(const char *path)
{
    return access(path, ako_fs_is_dir(path) ? W_OK | X_OK : W_OK) == 0;
}

int ako_fs_space(int64_t *available, int64_t *total, const char *path)
{
    struct statvfs fs;
    if (statvfs(path, &fs) != 0)
        return ako_fail_errno("fs", "cannot tell how much room %s has", path);
    *available = (int64_t)(fs.f_bavail * fs.f_frsize);
    *total = (int64_t)(fs.f_blocks * fs.f_frsize);
    return AKO_OK;
}

static int keep_entry(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int ako_fs_list(const char *path, int (*entry)(void *payload, const char *name), void *payload)
{
    struct dirent **names;
    int n = scandir(path, &names, keep_entry, by_bytes);
    if (n < 0)
        return ako_fail_errno("fs", "cannot list %s", path);
    int result = 0;
    for (int i = 0; i < n; i++) {
        if (result == 0)
            result = entry(payload, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    return result;
}

/* Appends the path; true when it lies in /tmp, where anybody may have made it before us. */
static bool user_dir_path(ako_buf *out, const char *kind)
{
    static const struct {
        const char *kind, *variable, *under_home;
    } table[] = {{"cache", "XDG_CACHE_HOME", ".cache"}, {"state", "XDG_STATE_HOME", ".local/state"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(kind, table[i].kind) != 0)
            continue;
        const char *base = getenv(table[i].variable), *home = getenv("HOME");
        if (base && base[0] == '/')
            ako_buf_printf(out, "%s/ako-lua", base);
        else if (home && home[0] == '/')
            ako_buf_printf(out, "%s/%s/ako-lua", home, table[i].under_home);
    }
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (strcmp(kind, "runtime") == 0 && runtime && runtime[0] == '/')
        ako_buf_printf(out, "%s/ako-lua", runtime);
    if (out->size > 0)
        return false;
    ako_buf_printf(out, "/tmp/ako-lua-%u", (unsigned)getuid());
    if (strcmp(kind, "runtime") != 0)
        ako_buf_printf(out, "/%s", kind);
    return true;
}

/* Fails unless /tmp/ako-lua-<uid> is a folder of ours that nobody else can write to: programs are run from there. */
static int claim_shared_dir(void)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/tmp/ako-lua-%u", (unsigned)getuid());
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return ako_fail_errno("fs", "cannot create folder %s", path);
    if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 0022) != 0)
        return ako_fail(AKO_UNAVAILABLE, "fs", "%s can be written by others: remove it, or set HOME", path);
    return AKO_OK;
}

int ako_fs_user_dir(char **out, const char *kind)
{
    ako_buf path = {0};
    bool shared = user_dir_path(&path, kind);
    *out = ako_buf_take(&path);
    if (!*out)
        return ako_fail(AKO_NOMEM, "fs", "out of memory");
    int status = shared ? claim_shared_dir() : AKO_OK;
    if (status == AKO_OK)
        status = ako_fs_mkdirs(*out);
    if (status != AKO_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

int ako_fs_program_dir(char **out)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0)
        return ako_fail_errno("fs", "cannot find the running program");
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    *(slash == path ? slash + 1 : slash) = '\0';
    *out = strdup(path);
    return *out ? AKO_OK : ako_fail(AKO_NOMEM, "fs", "out of memory");
}
