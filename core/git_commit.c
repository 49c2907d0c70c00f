#include <git2/sys/commit.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "git_internal.h"

/* ---- who ---- */

/* Splits "Name <mail>". */
static int parse_author(char **name, char **mail, const char *author)
{
    const char *open = strchr(author, '<'), *close = open ? strchr(open, '>') : NULL;
    if (!close || close[1] != '\0')
        return ako_fail(AKO_INVALID, "git", "bad author '%s': write Name <mail>", author);
    *name = strndup(author, (size_t)(open - author));
    *mail = strndup(open + 1, (size_t)(close - open - 1));
    return *name && *mail ? AKO_OK : ako_git__nomem();
}

/* The author as given, or the user, or us; now, or at the time given. */
static int make_signature(git_signature **out, ako_git *git, const char *author, int64_t time_s)
{
    git_signature *user = NULL;
    char *name = NULL, *mail = NULL;
    int status = author ? parse_author(&name, &mail, author) : AKO_OK;
    if (status == AKO_OK) {
        if (!author && git_signature_default(&user, git->repo) < 0)
            user = NULL;
        const char *who = author ? name : user ? user->name : "ako-lua";
        const char *where = author ? mail : user ? user->email : "ako-lua@localhost";
        int code = time_s ? git_signature_new(out, who, where, time_s, 0) : git_signature_now(out, who, where);
        status = code < 0 ? ako_git__fail(code, "bad author '%s <%s>'", who, where) : AKO_OK;
    }
    git_signature_free(user);
    free(name);
    free(mail);
    return status;
}

/* ---- commits ---- */

/* Fills `oids` and, for libgit2, pointers to them. */
static int find_parents(git_oid *oids, const git_oid **pointers, ako_git *git, const ako_git_commit_spec *spec)
{
    for (size_t i = 0; i < spec->n_parents; i++) {
        git_object *object = NULL, *commit = NULL;
        int code = git_revparse_single(&object, git->repo, spec->parents[i]);
        if (code == 0)
            code = git_object_peel(&commit, object, GIT_OBJECT_COMMIT);
        git_object_free(object);
        if (code < 0)
            return ako_git__fail(code, "cannot find the parent %s", spec->parents[i]);
        git_oid_cpy(&oids[i], git_object_id(commit));
        git_object_free(commit);
        pointers[i] = &oids[i];
    }
    return AKO_OK;
}

static int create(git_oid *out, ako_git *git, const ako_git_commit_spec *spec, const git_signature *who)
{
    git_tree *tree = NULL;
    git_oid *parents = calloc(spec->n_parents + 1, sizeof *parents);
    const git_oid **pointers = calloc(spec->n_parents + 1, sizeof *pointers);
    int status = parents && pointers ? ako_git__lookup_tree(&tree, git, spec->tree) : ako_git__nomem();
    if (status == AKO_OK)
        status = find_parents(parents, pointers, git, spec);
    if (status == AKO_OK) {
        int code = git_commit_create_from_ids(out, git->repo, NULL, who, who, NULL, spec->message, git_tree_id(tree),
                                              spec->n_parents, pointers);
        status = code < 0 ? ako_git__fail(code, "cannot commit") : ako_git__stored(git, out, "a commit");
    }
    git_tree_free(tree);
    free(pointers);
    free(parents);
    return status;
}

int ako_git_commit(ako_git_oid *out, ako_git *git, const ako_git_commit_spec *spec)
{
    git_signature *who = NULL;
    git_oid oid;
    int status = make_signature(&who, git, spec->author, spec->time_s);
    if (status == AKO_OK)
        status = create(&oid, git, spec, who);
    git_signature_free(who);
    if (status != AKO_OK)
        return status;
    ako_git__hex(out, &oid);
    return spec->ref ? ako_git_set_ref(git, spec->ref, out->hex, spec->expect) : AKO_OK;
}

/* ---- log ---- */

static int describe(const git_commit *commit, int (*each)(void *, const ako_git_commit_info *), void *payload)
{
    ako_git_oid oid, tree, parent = {""};
    ako_git__hex(&oid, git_commit_id(commit));
    ako_git__hex(&tree, git_commit_tree_id(commit));
    if (git_commit_parentcount(commit) > 0)
        ako_git__hex(&parent, git_commit_parent_id(commit, 0));
    const git_signature *author = git_commit_author(commit);
    ako_git_commit_info info = {.oid = oid.hex,
                                .tree = tree.hex,
                                .parent = parent.hex,
                                .author = author->name,
                                .email = author->email,
                                .message = git_commit_message(commit),
                                .time_s = author->when.time};
    return each(payload, &info);
}

static int start_walk(git_revwalk **out, ako_git *git, const char *rev)
{
    git_object *object = NULL, *commit = NULL;
    int code = git_revparse_single(&object, git->repo, rev);
    if (code == 0)
        code = git_object_peel(&commit, object, GIT_OBJECT_COMMIT);
    if (code == 0)
        code = git_revwalk_new(out, git->repo);
    if (code == 0)
        code = git_revwalk_push(*out, git_object_id(commit));
    git_object_free(object);
    git_object_free(commit);
    return code < 0 ? ako_git__fail(code, "cannot read the log of %s", rev) : AKO_OK;
}

int ako_git_log(ako_git *git, const char *rev, size_t max,
                int (*commit)(void *payload, const ako_git_commit_info *info), void *payload)
{
    git_revwalk *walk = NULL;
    int result = start_walk(&walk, git, rev);
    for (size_t i = 0; result == 0 && (max == 0 || i < max); i++) {
        git_oid oid;
        git_commit *next = NULL;
        int code = git_revwalk_next(&oid, walk);
        if (code == GIT_ITEROVER)
            break;
        if (code == 0)
            code = git_commit_lookup(&next, git->repo, &oid);
        result = code < 0 ? ako_git__fail(code, "cannot read the log of %s", rev) : describe(next, commit, payload);
        git_commit_free(next);
    }
    git_revwalk_free(walk);
    return result;
}

/* ---- tags ---- */

int ako_git_tag(ako_git *git, const char *name, const char *rev, const char *message)
{
    git_object *target = NULL;
    git_signature *who = NULL;
    git_oid oid;
    int code = git_revparse_single(&target, git->repo, rev);
    if (code < 0)
        return ako_git__fail(code, "cannot find %s", rev);
    int status = message ? make_signature(&who, git, NULL, 0) : AKO_OK;
    if (status == AKO_OK) {
        code = message ? git_tag_create(&oid, git->repo, name, target, who, message, 0)
                       : git_tag_create_lightweight(&oid, git->repo, name, target, 0);
        status = code < 0 ? ako_git__fail(code, "cannot make the tag %s", name) : AKO_OK;
    }
    git_signature_free(who);
    git_object_free(target);
    return status;
}
