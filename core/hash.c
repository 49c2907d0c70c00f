#include "hash.h"

#include <fcntl.h>
#include <git2.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

static int started;

/* For good: starting costs milliseconds, and everything of libgit2 goes with the process. */
static void start(void)
{
    started = git_libgit2_init();
}

int ako_hash(char out[65], const void *data, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    git_oid id;
    pthread_once(&once, start);
    if (started < 0)
        return ako_fail(AKO_ERROR, "hash", "cannot start libgit2");
    if (git_odb_hash(&id, data, size, GIT_OBJECT_BLOB) != 0)
        return ako_fail(AKO_ERROR, "hash", "cannot hash %zu bytes", size);
    git_oid_tostr(out, 65, &id);
    return AKO_OK;
}

int ako_hash_file(char out[65], const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int status = ako_fail_errno("hash", "cannot read %s", path);
        if (fd >= 0)
            close(fd);
        return status;
    }
    size_t size = (size_t)st.st_size;
    void *data = size && S_ISREG(st.st_mode) ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    close(fd);
    if (!S_ISREG(st.st_mode))
        return ako_fail(AKO_INVALID, "hash", "%s is no plain file", path);
    if (data == MAP_FAILED)
        return ako_fail_errno("hash", "cannot map %s", path);
    int status = ako_hash(out, data ? data : "", size);
    if (data)
        munmap(data, size);
    return status;
}
