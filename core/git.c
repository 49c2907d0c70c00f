#include "git.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"
#include "git_internal.h"

#define GIT_OWNER (-36) /* GIT_EOWNER, which libgit2 has since 1.5 */

/* ---- errors ---- */

static int status_of_code(int code, int class)
{
    switch (code) {
    case GIT_ENOTFOUND:
        return AKO_NOTFOUND;
    case GIT_EEXISTS:
        return AKO_EXISTS;
    case GIT_EAMBIGUOUS:
    case GIT_EINVALIDSPEC:
    case GIT_EINVALID:
    case GIT_EPEEL:
        return AKO_INVALID;
    case GIT_ELOCKED:
    case GIT_EMODIFIED:
        return AKO_BUSY;
    case GIT_OWNER:
        return AKO_UNAVAILABLE;
    default:
        return class == GIT_ERROR_OS ? AKO_IO : class == GIT_ERROR_NOMEMORY ? AKO_NOMEM : AKO_ERROR;
    }
}

int ako_git__fail(int code, const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const git_error *last = git_error_last();
    int status = status_of_code(code, last ? last->klass : GIT_ERROR_NONE);
    return ako_fail(status, "git", "%s: %s", what, last && last->message ? last->message : "unknown reason");
}

int ako_git__nomem(void)
{
    return ako_fail(AKO_NOMEM, "git", "out of memory");
}

/* ---- opening ---- */

/* libgit2 stays initialised until the process ends: its caches outlive a repository. */
static int started;

static void start_library(void)
{
    started = git_libgit2_init();
}

int ako_git__start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_library);
    return started < 0 ? ako_git__fail(started, "cannot start libgit2") : AKO_OK;
}

static char *without_slash(const char *path)
{
    size_t n = path ? strlen(path) : 0;
    while (n > 1 && path[n - 1] == '/')
        n--;
    return path ? strndup(path, n) : NULL;
}

/* `path` (absolute, real) seen from the working folder. */
static int find_prefix(ako_git *git, const char *path)
{
    size_t n = strlen(git->workdir);
    bool inside = strncmp(path, git->workdir, n) == 0 && (path[n] == '\0' || path[n] == '/');
    if (!inside && strcmp(git->workdir, "/") != 0)
        return ako_fail(AKO_INVALID, "git", "%s is not in the working folder %s", path, git->workdir);
    const char *rest = inside ? path + n : path;
    ako_buf prefix = {0};
    if (rest[0] && rest[1])
        ako_buf_printf(&prefix, "%s/", rest + (rest[0] == '/'));
    git->prefix = ako_buf_take(&prefix);
    return git->prefix ? AKO_OK : ako_git__nomem();
}

/* Why there is a repository but not for us: libgit2 has a code for another owner since 1.5, and there too says "not
 * found" when the user has no list of trusted folders. AKO_NOTFOUND when there is none at all. */
static int explain(int code, const char *path)
{
    git_buf found = {0};
    struct stat st;
    int status;
    if (git_repository_discover(&found, path, 1, NULL) < 0)
        return ako_fail(AKO_NOTFOUND, "git", "%s is not in a git repository (make one with git init)", path);
    const char *inner = strstr(found.ptr, "/.git/");
    if (code == GIT_OWNER || (stat(found.ptr, &st) == 0 && st.st_uid != geteuid()))
        status = ako_fail(AKO_UNAVAILABLE, "git",
                          "the repository %s belongs to another user; if you trust it: "
                          "git config --global --add safe.directory '%.*s'",
                          found.ptr, inner ? (int)(inner - found.ptr) : (int)found.size, found.ptr);
    else
        status = ako_git__fail(GIT_ERROR, "cannot open the repository %s", found.ptr);
    git_buf_dispose(&found);
    return status;
}

static int open_repository(ako_git *git, const char *path, bool own)
{
    unsigned flags = GIT_REPOSITORY_OPEN_CROSS_FS | (own ? GIT_REPOSITORY_OPEN_NO_SEARCH : 0u);
    int code = git_repository_open_ext(&git->repo, path, flags, NULL);
    if (code == GIT_ENOTFOUND && own)
        return ako_fail(AKO_NOTFOUND, "git", "%s has no git repository of its own", path);
    if (code == GIT_OWNER || code == GIT_ENOTFOUND)
        return explain(code, path);
    if (code < 0)
        return ako_git__fail(code, "cannot open the repository of %s", path);
    if (git_repository_is_bare(git->repo))
        return ako_fail(AKO_INVALID, "git", "the repository of %s is bare: it has no working folder", path);
    return AKO_OK;
}

static int find_folders(ako_git *git, const char *path)
{
    char *workdir = NULL, *real = without_slash(git_repository_workdir(git->repo));
    int status = real ? ako_fs_absolute(&workdir, real) : ako_git__nomem();
    free(real);
    git->workdir = workdir;
    git->commondir = without_slash(git_repository_commondir(git->repo));
    if (status == AKO_OK && !git->commondir)
        status = ako_git__nomem();
    return status == AKO_OK ? find_prefix(git, path) : status;
}

static int open_git(ako_git **out, const char *path, bool own)
{
    *out = NULL;
    int status = ako_git__start();
    if (status != AKO_OK)
        return status;
    ako_git *git = calloc(1, sizeof *git);
    char *real = NULL;
    status = git ? ako_fs_absolute(&real, path) : ako_git__nomem();
    if (status == AKO_OK)
        status = open_repository(git, real, own);
    if (status == AKO_OK)
        status = find_folders(git, real);
    free(real);
    if (status != AKO_OK) {
        ako_git_free(git);
        return status;
    }
    *out = git;
    return AKO_OK;
}

int ako_git_open(ako_git **out, const char *path)
{
    return open_git(out, path, false);
}

/* What is there under the name .git is somebody's, however damaged. */
static int check_free(const char *path)
{
    ako_buf name = {0};
    ako_buf_printf(&name, "%s/.git", path);
    struct stat st;
    bool taken = !name.oom && lstat(name.data, &st) == 0;
    ako_buf_free(&name);
    return taken ? ako_fail(AKO_INVALID, "git", "%s/.git is no git repository: mend it or take it away", path) : AKO_OK;
}

int ako_git_init(ako_git **out, const char *path, bool own, bool *created)
{
    *out = NULL;
    int status = ako_fs_mkdirs(path);
    if (status != AKO_OK)
        return status;
    status = open_git(out, path, own);
    if (created)
        *created = status == AKO_NOTFOUND;
    if (status != AKO_NOTFOUND)
        return status;
    status = check_free(path);
    if (status != AKO_OK)
        return status;
    git_repository *repo = NULL;
    git_repository_init_options options;
    git_repository_init_options_init(&options, GIT_REPOSITORY_INIT_OPTIONS_VERSION);
    options.flags = GIT_REPOSITORY_INIT_NO_REINIT | GIT_REPOSITORY_INIT_MKDIR;
    options.initial_head = "main";
    int code = git_repository_init_ext(&repo, path, &options);
    git_repository_free(repo);
    return code < 0 ? ako_git__fail(code, "cannot make a repository in %s", path) : ako_git_open(out, path);
}

void ako_git_free(ako_git *git)
{
    if (!git)
        return;
    git_repository_free(git->repo);
    free(git->workdir);
    free(git->commondir);
    free(git->prefix);
    free(git);
}

const char *ako_git_workdir(const ako_git *git)
{
    return git->workdir;
}

const char *ako_git_commondir(const ako_git *git)
{
    return git->commondir;
}

const char *ako_git_prefix(const ako_git *git)
{
    return git->prefix;
}

/* ---- revs ---- */

int ako_git__stored(ako_git *git, const git_oid *oid, const char *what)
{
    git_odb *odb = NULL;
    int code = git_repository_odb(&odb, git->repo);
    bool there = code == 0 && git_odb_exists(odb, oid);
    git_odb_free(odb);
    if (code < 0)
        return ako_git__fail(code, "cannot open the objects");
    return there ? AKO_OK : ako_fail(AKO_IO, "git", "cannot store %s in %s: is the disk full?", what, git->commondir);
}

void ako_git__hex(ako_git_oid *out, const git_oid *oid)
{
    git_oid_tostr(out->hex, sizeof out->hex, oid);
}

int ako_git_resolve(ako_git_oid *out, ako_git *git, const char *rev)
{
    git_object *object = NULL;
    int code = git_revparse_single(&object, git->repo, rev);
    if (code < 0)
        return ako_git__fail(code, "cannot find %s", rev);
    ako_git__hex(out, git_object_id(object));
    git_object_free(object);
    return AKO_OK;
}

int ako_git__lookup_tree(git_tree **out, ako_git *git, const char *rev)
{
    *out = NULL;
    if (!rev)
        return AKO_OK;
    git_object *object = NULL, *tree = NULL;
    int code = git_revparse_single(&object, git->repo, rev);
    if (code == 0)
        code = git_object_peel(&tree, object, GIT_OBJECT_TREE);
    git_object_free(object);
    if (code < 0)
        return ako_git__fail(code, "cannot find the tree of %s", rev);
    *out = (git_tree *)tree;
    return AKO_OK;
}

int ako_git_head_get(ako_git_head *out, ako_git *git)
{
    *out = (ako_git_head){0};
    git_reference *head = NULL;
    int code = git_reference_lookup(&head, git->repo, "HEAD");
    if (code < 0)
        return ako_git__fail(code, "cannot read HEAD");
    const char *target = git_reference_symbolic_target(head);
    if (target)
        snprintf(out->ref, sizeof out->ref, "%s", target);
    git_reference_free(head);
    git_oid oid;
    code = git_reference_name_to_id(&oid, git->repo, "HEAD");
    if (code == GIT_ENOTFOUND && target)
        return AKO_OK;
    if (code < 0)
        return ako_git__fail(code, "cannot read HEAD");
    ako_git__hex(&out->oid, &oid);
    return AKO_OK;
}
