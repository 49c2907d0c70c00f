#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "git_internal.h"

/* What is to be done to one file, all decided before the first one is touched. */
typedef struct step {
    const char *path;
    enum { KEEP, WRITE, REMOVE } action;
    git_oid blob;
    git_filemode_t mode;
    ako_git__file now;
} step;

/* An allowed state of a file: that in a tree, or one oid. */
typedef struct allowed {
    git_tree *tree;
    git_oid blob;
} allowed;

typedef struct restore {
    ako_git *git;
    git_tree *tree;
    const char *rev;
    const ako_git_restore_options *options;
    allowed *expect;
    step *steps;
    size_t n;
} restore;

/* ---- what may be overwritten ---- */

static int read_allowed(allowed *out, ako_git *git, const char *rev)
{
    git_object *object = NULL;
    int code = git_revparse_single(&object, git->repo, rev);
    bool oid = strlen(rev) == GIT_OID_HEXSZ && git_oid_fromstr(&out->blob, rev) == 0;
    if (code == GIT_ENOTFOUND && oid)
        return AKO_OK; /* of bytes that were never stored */
    if (code < 0)
        return ako_git__fail(code, "cannot find %s", rev);
    bool blob = git_object_type(object) == GIT_OBJECT_BLOB;
    if (blob)
        git_oid_cpy(&out->blob, git_object_id(object));
    git_object_free(object);
    return blob ? AKO_OK : ako_git__lookup_tree(&out->tree, git, rev);
}

static int read_expect(restore *r)
{
    size_t n = r->options->n_expect;
    r->expect = calloc(n + 1, sizeof *r->expect);
    int status = r->expect ? AKO_OK : ako_git__nomem();
    for (size_t i = 0; i < n && status == AKO_OK; i++)
        status = read_allowed(&r->expect[i], r->git, r->options->expect[i]);
    return status;
}

static bool is_allowed(const restore *r, const step *s)
{
    for (size_t i = 0; i < r->options->n_expect; i++) {
        const allowed *a = &r->expect[i];
        git_tree_entry *entry = NULL;
        if (a->tree && git_tree_entry_bypath(&entry, a->tree, s->path) != 0)
            continue;
        bool same = git_oid_equal(a->tree ? git_tree_entry_id(entry) : &a->blob, &s->now.oid);
        git_tree_entry_free(entry);
        if (same)
            return true;
    }
    return false;
}

/* ---- planning ---- */

static int plan_absent(const restore *r, step *s, bool is_folder)
{
    if (s->now.present && r->options->remove)
        s->action = REMOVE;
    else if (!is_folder && !r->options->remove)
        return ako_fail(AKO_NOTFOUND, "git", "%s has no file %s", r->rev, s->path);
    return AKO_OK;
}

static int plan_present(const restore *r, step *s, const git_tree_entry *entry)
{
    git_oid_cpy(&s->blob, git_tree_entry_id(entry));
    s->mode = git_tree_entry_filemode(entry);
    if (s->now.blocked && !r->options->remove)
        return ako_fail(AKO_EXISTS, "git", "cannot restore %s: a folder has its name, or a file that of its folder",
                        s->path);
    if (!s->now.present || s->now.mode != s->mode || !git_oid_equal(&s->now.oid, &s->blob))
        s->action = WRITE;
    return AKO_OK;
}

static int plan(const restore *r, step *s)
{
    int status = ako_git__file_get(&s->now, r->git, s->path, false);
    if (status != AKO_OK)
        return status;
    git_tree_entry *entry = NULL;
    int code = git_tree_entry_bypath(&entry, r->tree, s->path);
    git_object_t type = code == 0 ? git_tree_entry_type(entry) : GIT_OBJECT_INVALID;
    if (code < 0 && code != GIT_ENOTFOUND)
        status = ako_git__fail(code, "cannot look for %s in %s", s->path, r->rev);
    else if (type == GIT_OBJECT_BLOB)
        status = plan_present(r, s, entry);
    else
        status = plan_absent(r, s, type != GIT_OBJECT_INVALID);
    git_tree_entry_free(entry);
    bool loses = s->action != KEEP && s->now.present && (s->action == REMOVE || !git_oid_equal(&s->now.oid, &s->blob));
    if (status == AKO_OK && loses && r->options->guard && !is_allowed(r, s))
        return ako_fail(AKO_BUSY, "git", "%s has changes that no record holds: try, commit or undo them first",
                        s->path);
    return status;
}

static int plan_all(restore *r, const ako_git__names *files)
{
    r->steps = calloc(files->n + 1, sizeof *r->steps);
    r->n = files->n;
    int status = r->steps ? AKO_OK : ako_git__nomem();
    for (size_t i = 0; i < files->n && status == AKO_OK; i++) {
        r->steps[i].path = files->items[i];
        status = plan(r, &r->steps[i]);
    }
    return status;
}

/* Removals first: a file may have to make room for a folder of its name, and the other way round. */
static int apply(const restore *r)
{
    int status = AKO_OK;
    for (size_t i = r->n; i-- > 0 && status == AKO_OK;)
        if (r->steps[i].action == REMOVE)
            status = ako_git__file_remove(r->git, r->steps[i].path);
    for (size_t i = 0; i < r->n && status == AKO_OK; i++) {
        const step *s = &r->steps[i];
        if (s->action == WRITE)
            status = ako_git__file_put(r->git, s->path, &s->blob, s->mode, &s->now);
    }
    return status;
}

static void restore_free(restore *r)
{
    for (size_t i = 0; r->expect && i < r->options->n_expect; i++)
        git_tree_free(r->expect[i].tree);
    free(r->expect);
    free(r->steps);
    git_tree_free(r->tree);
}

int ako_git_restore(ako_git *git, const char *rev, const char *const *paths, size_t n,
                    const ako_git_restore_options *options)
{
    restore r = {.git = git, .rev = rev, .options = options};
    ako_git__names files = {0};
    int status = ako_git__lookup_tree(&r.tree, git, rev);
    if (status == AKO_OK)
        status = ako_git__expand(&files, git, r.tree, options->remove, paths, n);
    if (status == AKO_OK)
        status = read_expect(&r);
    if (status == AKO_OK)
        status = plan_all(&r, &files);
    if (status == AKO_OK)
        status = apply(&r);
    restore_free(&r);
    ako_git__names_free(&files);
    return status;
}
