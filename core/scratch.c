#include "scratch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"

#define PREFIX "ako-run"

static bool is_ours(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

static int remove_abandoned(void *payload, const char *name)
{
    ako_buf path = {0};
    int lock;
    if (strncmp(name, PREFIX "-", sizeof PREFIX) != 0)
        return AKO_OK;
    ako_buf_printf(&path, "%s/%s", (const char *)payload, name);
    if (!path.oom && is_ours(path.data) && ako_fs_lock_dir(&lock, path.data) == AKO_OK) {
        ako_fs_remove_tree(path.data);
        close(lock);
    }
    ako_buf_free(&path);
    return AKO_OK;
}

/* Between its making and its locking somebody else may take a folder for abandoned, and it goes. */
static int make_locked(char path[], size_t size, int *lock)
{
    int status = AKO_OK;
    for (int tries = 0; tries < 8; tries++) {
        status = ako_fs_temp_dir(path, size, PREFIX);
        if (status != AKO_OK)
            return status;
        status = ako_fs_lock_dir(lock, path);
        if (status == AKO_OK && ako_fs_is_dir(path))
            return AKO_OK;
        if (status == AKO_OK)
            close(*lock);
    }
    return status == AKO_OK ? ako_fail(AKO_BUSY, "scratch", "%s was removed by somebody else", path) : status;
}

int ako_scratch_open(ako_scratch *out)
{
    char path[4096];
    *out = (ako_scratch){.lock = -1};
    int status = make_locked(path, sizeof path, &out->lock);
    if (status == AKO_OK)
        status = ako_fs_absolute(&out->path, path);
    if (status != AKO_OK) {
        ako_scratch_close(out);
        return ako_fail(AKO_UNAVAILABLE, "scratch", "%s", ako_error_last()->message);
    }
    *strrchr(path, '/') = '\0';
    ako_fs_list(path, remove_abandoned, path);
    return AKO_OK;
}

void ako_scratch_close(ako_scratch *scratch)
{
    if (scratch->path)
        ako_fs_remove_tree(scratch->path);
    if (scratch->lock >= 0)
        close(scratch->lock);
    free(scratch->path);
    *scratch = (ako_scratch){.lock = -1};
}
