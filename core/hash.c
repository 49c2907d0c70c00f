#include "hash.h"

#include <git2.h>
#include <pthread.h>

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
