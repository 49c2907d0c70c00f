#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"
#include "git_internal.h"

/* `path` is one of ako_git__path, so it fits; the check is for the compiler and for later changes. */
static int full_path(char out[PATH_MAX], const ako_git *git, const char *path)
{
    int n = snprintf(out, PATH_MAX, "%s/%s", git->workdir, path);
    return n > 0 && n < PATH_MAX ? AKO_OK : ako_fail(AKO_INVALID, "git", "a path is longer than the system allows");
}

static int read_content(ako_buf *out, const char *full, const struct stat *st)
{
    if (!S_ISLNK(st->st_mode))
        return ako_fs_read(out, full, 0);
    char *target = ako_buf_reserve(out, PATH_MAX);
    ssize_t n = target ? readlink(full, target, PATH_MAX) : 0;
    if (n < 0)
        return ako_fail_errno("git", "cannot read the link %s", full);
    out->size += (size_t)n;
    return target ? AKO_OK : ako_git__nomem();
}

static int hash_content(git_oid *out, ako_git *git, const ako_buf *content, bool store)
{
    const char *data = content->data ? content->data : "";
    int code = store ? git_blob_create_from_buffer(out, git->repo, data, content->size)
                     : git_odb_hash(out, data, content->size, GIT_OBJECT_BLOB);
    if (code < 0)
        return ako_git__fail(code, "cannot store a file");
    return store ? ako_git__stored(git, out, "a file") : AKO_OK;
}

int ako_git__file_get(ako_git__file *out, ako_git *git, const char *path, bool store)
{
    *out = (ako_git__file){0};
    char full[PATH_MAX];
    struct stat st;
    int status = full_path(full, git, path);
    if (status != AKO_OK)
        return status;
    if (lstat(full, &st) != 0) {
        out->blocked = errno == ENOTDIR;
        return errno == ENOENT || errno == ENOTDIR ? AKO_OK : ako_fail_errno("git", "cannot look at %s", full);
    }
    if (S_ISDIR(st.st_mode))
        return out->blocked = true, AKO_OK;
    if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return ako_fail(AKO_INVALID, "git", "%s is neither a file nor a link", full);
    ako_buf content = {0};
    status = read_content(&content, full, &st);
    if (status == AKO_OK)
        status = hash_content(&out->oid, git, &content, store);
    ako_buf_free(&content);
    out->present = status == AKO_OK;
    out->permissions = st.st_mode & 07777u;
    out->mode = S_ISLNK(st.st_mode)    ? GIT_FILEMODE_LINK
                : (st.st_mode & 0100u) ? GIT_FILEMODE_BLOB_EXECUTABLE
                                       : GIT_FILEMODE_BLOB;
    return status;
}

static int make_folder(const char *full)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", full);
    *strrchr(folder, '/') = '\0';
    return ako_fs_mkdirs(folder);
}

static int put_link(const char *full, const char *target, size_t size)
{
    char temp[PATH_MAX], text[PATH_MAX];
    if (size >= sizeof text)
        return ako_fail(AKO_INVALID, "git", "%s: the link's target is longer than the system allows", full);
    memcpy(text, target, size);
    text[size] = '\0';
    int n =
        snprintf(temp, sizeof temp, "%.*s.ako-link-%ld", (int)(strrchr(full, '/') + 1 - full), full, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof temp)
        return ako_fail(AKO_INVALID, "git", "a path is longer than the system allows");
    unlink(temp); /* left by a process of this id that was killed here */
    if (symlink(text, temp) == 0 && rename(temp, full) == 0)
        return AKO_OK;
    int status = ako_fail_errno("git", "cannot write the link %s", full);
    unlink(temp);
    return status;
}

/* A file keeps its permissions but for the executable bits, which go where it can be read. */
static unsigned permissions_for(git_filemode_t mode, const ako_git__file *now)
{
    bool keep = now->present && now->mode != GIT_FILEMODE_LINK;
    unsigned base = keep ? now->permissions : ako_fs_default_mode();
    return mode == GIT_FILEMODE_BLOB_EXECUTABLE ? base | (base & 0444u) >> 2 : base & ~0111u;
}

int ako_git__file_put(ako_git *git, const char *path, const git_oid *blob, git_filemode_t mode,
                      const ako_git__file *now)
{
    char full[PATH_MAX];
    git_blob *content = NULL;
    int status = full_path(full, git, path);
    if (status == AKO_OK)
        status = make_folder(full);
    if (status != AKO_OK)
        return status;
    int code = git_blob_lookup(&content, git->repo, blob);
    if (code < 0)
        return ako_git__fail(code, "cannot read what %s was", path);
    const void *data = git_blob_rawcontent(content);
    size_t size = (size_t)git_blob_rawsize(content);
    status = mode == GIT_FILEMODE_LINK ? put_link(full, data, size)
                                       : ako_fs_put_back(full, data, size, permissions_for(mode, now));
    git_blob_free(content);
    return status;
}

int ako_git__file_remove(ako_git *git, const char *path)
{
    char full[PATH_MAX];
    int status = full_path(full, git, path);
    if (status != AKO_OK)
        return status;
    if (unlink(full) != 0)
        return ako_fail_errno("git", "cannot remove %s", full);
    size_t workspace = strlen(git->workdir) + 1 + strlen(git->prefix);
    char *slash = strrchr(full, '/');
    while ((size_t)(slash - full) > workspace) {
        *slash = '\0';
        if (rmdir(full) != 0)
            break;
        slash = strrchr(full, '/');
    }
    return AKO_OK;
}
