#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"
#include "git_internal.h"

/* ---- one path ---- */

static int refuse(const char *path, const char *why)
{
    return ako_fail(AKO_INVALID, "git", "bad path '%.200s%s': %s", path, strlen(path) > 200 ? "..." : "", why);
}

static int check_name(const char *path, const char *name, size_t n)
{
    if (n == 2 && memcmp(name, "..", 2) == 0)
        return refuse(path, "it may not contain '..'");
    if (n == 4 && strncasecmp(name, ".git", 4) == 0)
        return refuse(path, "it leads into .git");
    if (n > NAME_MAX)
        return refuse(path, "a name in it is longer than 255 bytes");
    return AKO_OK;
}

/* Appends the names of `path`, one slash between two. */
static int add_names(ako_buf *out, const char *path)
{
    for (const char *name = path; *name;) {
        size_t n = strcspn(name, "/");
        int status = check_name(path, name, n);
        if (status != AKO_OK)
            return status;
        if (n > 0 && !(n == 1 && name[0] == '.')) {
            if (out->size > 0 && out->data[out->size - 1] != '/')
                ako_buf_put(out, "/", 1);
            ako_buf_put(out, name, n);
        }
        name += n + (name[n] == '/');
    }
    return AKO_OK;
}

/* Whoever follows a link leaves the folder that the path promises to stay in. */
static int check_links(const ako_git *git, const char *full)
{
    ako_buf parent = {0};
    int status = AKO_OK;
    for (const char *slash = strchr(full, '/'); slash && status == AKO_OK; slash = strchr(slash + 1, '/')) {
        struct stat st;
        ako_buf_clear(&parent);
        ako_buf_printf(&parent, "%s/%.*s", git->workdir, (int)(slash - full), full);
        if (parent.oom)
            status = ako_git__nomem();
        else if (lstat(parent.data, &st) == 0 && S_ISLNK(st.st_mode))
            status = refuse(full, "it leads through a symbolic link");
    }
    ako_buf_free(&parent);
    return status;
}

int ako_git__name(ako_buf *out, const ako_git *git, const char *path)
{
    if (path[0] == '/')
        return refuse(path, "it must be relative to the workspace");
    if (path[0] == '\0')
        return refuse(path, "it is empty");
    ako_buf_clear(out);
    ako_buf_puts(out, git->prefix);
    int status = add_names(out, path);
    if (out->size > 0 && out->data[out->size - 1] == '/')
        out->data[--out->size] = '\0'; /* the workspace itself */
    if (status == AKO_OK && strlen(git->workdir) + out->size + 2 > PATH_MAX)
        status = refuse(path, "it is longer than the system allows");
    return out->oom || !ako_buf_reserve(out, 0) ? ako_git__nomem() : status;
}

int ako_git__path(ako_buf *out, const ako_git *git, const char *path)
{
    int status = ako_git__name(out, git, path);
    return status == AKO_OK ? check_links(git, out->data) : status;
}

/* ---- many ---- */

int ako_git__names_add(ako_git__names *names, const char *name)
{
    if (names->n == names->capacity) {
        size_t capacity = names->capacity * 2 + 16;
        char **items = realloc(names->items, capacity * sizeof *items);
        if (!items)
            return ako_git__nomem();
        names->items = items;
        names->capacity = capacity;
    }
    names->items[names->n] = strdup(name);
    return names->items[names->n] ? (names->n++, AKO_OK) : ako_git__nomem();
}

void ako_git__names_free(ako_git__names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->items[i]);
    free(names->items);
    *names = (ako_git__names){0};
}

/* Byte order, but with '/' before everything else: "a", "a/b", "a-b". */
static int by_name(const void *x, const void *y)
{
    const unsigned char *a = *(const unsigned char *const *)x, *b = *(const unsigned char *const *)y;
    while (*a && *a == *b)
        a++, b++;
    return (*a == '/' ? 1 : *a + (*a != 0)) - (*b == '/' ? 1 : *b + (*b != 0));
}

static void sort_unique(ako_git__names *files)
{
    if (files->n == 0)
        return;
    qsort(files->items, files->n, sizeof *files->items, by_name);
    size_t kept = 1;
    for (size_t i = 1; i < files->n; i++) {
        if (strcmp(files->items[i], files->items[kept - 1]) == 0)
            free(files->items[i]);
        else
            files->items[kept++] = files->items[i];
    }
    files->n = kept;
}

/* ---- what a tree has below a folder ---- */

typedef struct tree_walk {
    ako_git__names *files;
    const char *folder;
    int status;
} tree_walk;

static int add_tree_entry(const char *root, const git_tree_entry *entry, void *payload)
{
    tree_walk *walk = payload;
    if (git_tree_entry_type(entry) != GIT_OBJECT_BLOB)
        return 0;
    ako_buf path = {0};
    ako_buf_printf(&path, "%s%s%s%s", walk->folder, *walk->folder ? "/" : "", root, git_tree_entry_name(entry));
    walk->status = path.oom ? ako_git__nomem() : ako_git__names_add(walk->files, path.data);
    ako_buf_free(&path);
    return walk->status == AKO_OK ? 0 : -1;
}

static int walk_tree(ako_git__names *files, const git_tree *tree, const char *folder)
{
    tree_walk walk = {files, folder, AKO_OK};
    int code = git_tree_walk(tree, GIT_TREEWALK_PRE, add_tree_entry, &walk);
    return walk.status != AKO_OK ? walk.status : code < 0 ? ako_git__fail(code, "cannot walk %s", folder) : AKO_OK;
}

/* Adds the files below `path` when it is a folder of the tree. */
static int add_from_tree(ako_git__names *files, ako_git *git, git_tree *tree, const char *path)
{
    if (!*path)
        return walk_tree(files, tree, path);
    git_tree_entry *entry = NULL;
    git_tree *subtree = NULL;
    int status = AKO_OK;
    if (git_tree_entry_bypath(&entry, tree, path) == 0 && git_tree_entry_type(entry) == GIT_OBJECT_TREE) {
        int code = git_tree_lookup(&subtree, git->repo, git_tree_entry_id(entry));
        status = code < 0 ? ako_git__fail(code, "cannot read folder %s", path) : walk_tree(files, subtree, path);
    }
    git_tree_free(subtree);
    git_tree_entry_free(entry);
    return status;
}

/* ---- what the disk has below a folder ---- */

typedef struct disk_walk {
    ako_git *git;
    ako_git__names *files;
    ako_buf path;        /* seen from the working folder */
    char full[PATH_MAX]; /* scratch, here so that deep folders do not fill the stack */
} disk_walk;

static int make_full(disk_walk *walk, const char *suffix)
{
    int n = snprintf(walk->full, sizeof walk->full, "%s/%s%s", walk->git->workdir, walk->path.data, suffix);
    if (n < 0 || (size_t)n >= sizeof walk->full)
        return refuse(walk->path.data, "it is longer than the system allows");
    return AKO_OK;
}

static bool is_folder(disk_walk *walk)
{
    struct stat st;
    return make_full(walk, "") == AKO_OK && lstat(walk->full, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What a commit of a whole folder leaves out, as git does: sockets, pipes, and what this user cannot read. */
static bool is_left_out(disk_walk *walk)
{
    struct stat st;
    if (make_full(walk, "") != AKO_OK || lstat(walk->full, &st) != 0)
        return false;
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return access(walk->full, S_ISDIR(st.st_mode) ? R_OK | X_OK : R_OK) != 0;
    return !S_ISLNK(st.st_mode);
}

/* A folder with a repository of its own belongs to that. */
static bool is_nested_repository(disk_walk *walk)
{
    return make_full(walk, "/.git") == AKO_OK && ako_fs_exists(walk->full);
}

static int walk_disk(disk_walk *walk);

static int add_disk_entry(void *payload, const char *name)
{
    disk_walk *walk = payload;
    if (strcasecmp(name, ".git") == 0)
        return AKO_OK;
    size_t size = walk->path.size;
    ako_buf_printf(&walk->path, "%s%s", size ? "/" : "", name);
    if (walk->path.oom)
        return ako_git__nomem();
    int ignored = 0, status = AKO_OK;
    int code = git_ignore_path_is_ignored(&ignored, walk->git->repo, walk->path.data);
    if (code < 0)
        status = ako_git__fail(code, "cannot tell whether %s is ignored", walk->path.data);
    else if (ignored || is_left_out(walk))
        status = AKO_OK;
    else if (!is_folder(walk))
        status = ako_git__names_add(walk->files, walk->path.data);
    else if (!is_nested_repository(walk))
        status = walk_disk(walk);
    walk->path.data[walk->path.size = size] = '\0';
    return status;
}

static int walk_disk(disk_walk *walk)
{
    int status = make_full(walk, "");
    return status == AKO_OK ? ako_fs_list(walk->full, add_disk_entry, walk) : status;
}

/* ---- both ---- */

static int add_path(disk_walk *walk, git_tree *tree, bool disk)
{
    ako_git__names *files = walk->files;
    const char *path = walk->path.data;
    size_t before = files->n;
    int status = tree ? add_from_tree(files, walk->git, tree, path) : AKO_OK;
    bool in_tree = files->n > before, on_disk = is_folder(walk);
    /* Not a folder in both: there may be a file of this name in the one or the other. */
    if (status == AKO_OK && *path && !(in_tree && on_disk))
        status = ako_git__names_add(files, path);
    if (status == AKO_OK && disk && on_disk)
        status = walk_disk(walk);
    return status;
}

int ako_git__expand(ako_git__names *out, ako_git *git, git_tree *tree, bool disk, const char *const *paths, size_t n)
{
    *out = (ako_git__names){0};
    disk_walk walk = {.git = git, .files = out};
    int status = AKO_OK;
    for (size_t i = 0; i < n && status == AKO_OK; i++) {
        status = ako_git__path(&walk.path, git, paths[i]);
        if (status == AKO_OK)
            status = add_path(&walk, tree, disk);
    }
    ako_buf_free(&walk.path);
    if (status != AKO_OK)
        ako_git__names_free(out);
    else
        sort_unique(out);
    return status;
}
