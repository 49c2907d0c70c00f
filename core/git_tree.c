#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "git_internal.h"

/* One file that a new tree has, or has no more. */
typedef struct update {
    const char *path;
    ako_git__file file;
} update;

static int build(git_oid *out, bool *empty, ako_git *git, const git_tree *base, const update *updates, size_t n,
                 size_t depth);

/* Builds the subtree `name` out of base's one and the updates below it, and puts it into `builder`. */
static int build_folder(git_treebuilder *builder, ako_git *git, const char *name, const update *updates, size_t n,
                        size_t depth)
{
    const git_tree_entry *entry = git_treebuilder_get(builder, name);
    git_tree *base = NULL;
    int code = 0;
    if (entry && git_tree_entry_type(entry) == GIT_OBJECT_TREE)
        code = git_tree_lookup(&base, git->repo, git_tree_entry_id(entry));
    if (code < 0)
        return ako_git__fail(code, "cannot read folder %s", name);
    git_oid oid;
    bool empty = false, in_base = base != NULL;
    int status = build(&oid, &empty, git, base, updates, n, depth);
    git_tree_free(base);
    if (status != AKO_OK)
        return status;
    if (!empty)
        code = git_treebuilder_insert(NULL, builder, name, &oid, GIT_FILEMODE_TREE);
    else if (in_base)
        code = git_treebuilder_remove(builder, name);
    return code < 0 ? ako_git__fail(code, "cannot put %s into a tree", name) : AKO_OK;
}

/* A file that is there takes the place of a folder; one that is not there leaves a folder alone. */
static int build_file(git_treebuilder *builder, const char *name, const ako_git__file *file)
{
    const git_tree_entry *entry = git_treebuilder_get(builder, name);
    int code = 0;
    if (file->present)
        code = git_treebuilder_insert(NULL, builder, name, &file->oid, file->mode);
    else if (entry && git_tree_entry_type(entry) == GIT_OBJECT_BLOB)
        code = git_treebuilder_remove(builder, name);
    return code < 0 ? ako_git__fail(code, "cannot put %s into a tree", name) : AKO_OK;
}

/* Number of updates at the front whose paths go through, or are, the first `size` bytes of the first one. */
static size_t group_length(const update *updates, size_t n, size_t size)
{
    size_t i = 1;
    while (i < n && strncmp(updates[i].path, updates[0].path, size) == 0 &&
           (updates[i].path[size] == '/' || updates[i].path[size] == '\0'))
        i++;
    return i;
}

/* Applies a group: the updates of one name in this folder, the file of that name first if it is among them. */
static int build_group(git_treebuilder *builder, ako_git *git, const update *updates, size_t n, size_t depth)
{
    const char *start = updates[0].path + depth;
    size_t size = strcspn(start, "/");
    char *name = strndup(start, size);
    if (!name)
        return ako_git__nomem();
    int status = AKO_OK;
    size_t files = start[size] == '\0' ? 1 : 0;
    if (files)
        status = build_file(builder, name, &updates[0].file);
    if (status == AKO_OK && n > files && !(files && updates[0].file.present))
        status = build_folder(builder, git, name, updates + files, n - files, depth + size + 1);
    free(name);
    return status;
}

/* Writes base (may be NULL) with the updates, whose paths are equal up to `depth`; *empty when nothing is left. */
static int build(git_oid *out, bool *empty, ako_git *git, const git_tree *base, const update *updates, size_t n,
                 size_t depth)
{
    git_treebuilder *builder = NULL;
    int code = git_treebuilder_new(&builder, git->repo, base);
    if (code < 0)
        return ako_git__fail(code, "cannot start a tree");
    int status = AKO_OK;
    for (size_t i = 0, group; i < n && status == AKO_OK; i += group) {
        group = group_length(updates + i, n - i, depth + strcspn(updates[i].path + depth, "/"));
        status = build_group(builder, git, updates + i, group, depth);
    }
    *empty = git_treebuilder_entrycount(builder) == 0;
    if (status == AKO_OK && (!*empty || depth == 0)) {
        code = git_treebuilder_write(out, builder);
        status = code < 0 ? ako_git__fail(code, "cannot write a tree") : ako_git__stored(git, out, "a tree");
    }
    git_treebuilder_free(builder);
    return status;
}

static int build_from_files(git_oid *out, ako_git *git, const git_tree *base, const ako_git__names *files)
{
    update *updates = calloc(files->n + 1, sizeof *updates);
    int status = updates ? AKO_OK : ako_git__nomem();
    for (size_t i = 0; i < files->n && status == AKO_OK; i++) {
        updates[i].path = files->items[i];
        status = ako_git__file_get(&updates[i].file, git, files->items[i], true);
    }
    bool empty;
    if (status == AKO_OK)
        status = build(out, &empty, git, base, updates, files->n, 0);
    free(updates);
    return status;
}

int ako_git_tree(ako_git_oid *out, ako_git *git, const char *base, const char *const *paths, size_t n)
{
    git_tree *tree = NULL;
    ako_git__names files = {0};
    git_oid oid;
    int status = ako_git__lookup_tree(&tree, git, base);
    if (status == AKO_OK)
        status = ako_git__expand(&files, git, tree, true, paths, n);
    if (status == AKO_OK)
        status = build_from_files(&oid, git, tree, &files);
    if (status == AKO_OK)
        ako_git__hex(out, &oid);
    ako_git__names_free(&files);
    git_tree_free(tree);
    return status;
}

/* ---- reading ---- */

static int read_blob(ako_buf *out, ako_git *git, const git_tree *tree, const char *rev, const char *path)
{
    git_tree_entry *entry = NULL;
    git_blob *blob = NULL;
    int code = git_tree_entry_bypath(&entry, tree, path);
    if (code == 0 && git_tree_entry_type(entry) != GIT_OBJECT_BLOB) {
        git_tree_entry_free(entry);
        return ako_fail(AKO_INVALID, "git", "%s in %s is not a file", path, rev);
    }
    if (code == 0)
        code = git_blob_lookup(&blob, git->repo, git_tree_entry_id(entry));
    git_tree_entry_free(entry);
    if (code < 0)
        return ako_git__fail(code, "cannot read %s in %s", path, rev);
    ako_buf_put(out, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
    git_blob_free(blob);
    return out->oom ? ako_git__nomem() : AKO_OK;
}

int ako_git_read(ako_buf *out, ako_git *git, const char *rev, const char *path)
{
    git_tree *tree = NULL;
    ako_buf full = {0};
    int status = ako_git__name(&full, git, path);
    if (status == AKO_OK)
        status = ako_git__lookup_tree(&tree, git, rev);
    if (status == AKO_OK)
        status = read_blob(out, git, tree, rev, full.data);
    git_tree_free(tree);
    ako_buf_free(&full);
    return status;
}

int ako_git_hash(ako_git_oid *out, const void *data, size_t size)
{
    git_oid oid;
    int status = ako_git__start();
    if (status != AKO_OK)
        return status;
    int code = git_odb_hash(&oid, data, size, GIT_OBJECT_BLOB);
    if (code < 0)
        return ako_git__fail(code, "cannot hash");
    ako_git__hex(out, &oid);
    return AKO_OK;
}

int ako_git_hash_file(ako_git_oid *out, ako_git *git, const char *path)
{
    ako_buf full = {0};
    ako_git__file file = {0};
    int status = ako_git__path(&full, git, path);
    if (status == AKO_OK)
        status = ako_git__file_get(&file, git, full.data, false);
    if (status == AKO_OK && !file.present)
        status = ako_fail(AKO_NOTFOUND, "git", "there is no file %s", path);
    if (status == AKO_OK)
        ako_git__hex(out, &file.oid);
    ako_buf_free(&full);
    return status;
}
