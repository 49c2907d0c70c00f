#include "hash.h"

#include <git2.h>

#include "error.h"

int ako_hash(char out[65], const void *data, size_t size)
{
    git_oid id;
    if (git_libgit2_init() < 0)
        return ako_fail(AKO_ERROR, "hash", "cannot start libgit2");
    int failed = git_odb_hash(&id, data, size, GIT_OBJECT_BLOB);
    git_libgit2_shutdown();
    if (failed)
        return ako_fail(AKO_ERROR, "hash", "cannot hash %zu bytes", size);
    git_oid_tostr(out, 65, &id);
    return AKO_OK;
}
