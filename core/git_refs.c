#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "git_internal.h"

/* HEAD and other names outside of refs/ are the user's. */
static int check_name(const char *name)
{
    if (strncmp(name, "refs/", 5) == 0)
        return AKO_OK;
    return ako_fail(AKO_INVALID, "git", "bad ref '%.200s': a full name starts with refs/", name);
}

static int parse_expect(git_oid *out, const char *expect)
{
    if (strlen(expect) == GIT_OID_HEXSZ && git_oid_fromstr(out, expect) == 0)
        return AKO_OK;
    return ako_fail(AKO_INVALID, "git", "the value expected of a ref must be a full oid, not '%.64s'", expect);
}

int ako_git_set_ref(ako_git *git, const char *name, const char *rev, const char *expect)
{
    git_oid old;
    git_object *target = NULL;
    git_reference *ref = NULL;
    bool fresh = expect && *expect == '\0', swap = expect && *expect != '\0';
    int status = check_name(name);
    if (status == AKO_OK && swap)
        status = parse_expect(&old, expect);
    if (status != AKO_OK)
        return status;
    int code = git_revparse_single(&target, git->repo, rev);
    if (code < 0)
        return ako_git__fail(code, "cannot find %s", rev);
    code = git_reference_create_matching(&ref, git->repo, name, git_object_id(target), !fresh, swap ? &old : NULL,
                                         "ako-lua");
    git_reference_free(ref);
    git_object_free(target);
    if (swap && (code == GIT_EMODIFIED || code == GIT_ENOTFOUND))
        return ako_fail(AKO_BUSY, "git", "%s is no longer %s: something else moved it", name, expect);
    if (fresh && code == GIT_EEXISTS)
        return ako_fail(AKO_EXISTS, "git", "%s is already there", name);
    return code < 0 ? ako_git__fail(code, "cannot set %s", name) : AKO_OK;
}

int ako_git_delete_ref(ako_git *git, const char *name, const char *expect)
{
    git_oid old;
    git_reference *ref = NULL;
    int status = check_name(name);
    if (status == AKO_OK && expect)
        status = parse_expect(&old, expect);
    if (status != AKO_OK)
        return status;
    int code = git_reference_lookup(&ref, git->repo, name);
    if (code == 0 && expect && (!git_reference_target(ref) || !git_oid_equal(git_reference_target(ref), &old)))
        status = ako_fail(AKO_BUSY, "git", "%s is no longer %s: something else moved it", name, expect);
    /* This compares with the value that was looked up, under the ref's lock. */
    else if (code == 0)
        code = git_reference_delete(ref);
    git_reference_free(ref);
    return code < 0 ? ako_git__fail(code, "cannot delete %s", name) : status;
}

/* ---- walking ---- */

static int collect(ako_git__names *list, ako_git *git, const char *glob)
{
    git_reference_iterator *iterator = NULL;
    const char *name;
    int status = AKO_OK, code = git_reference_iterator_glob_new(&iterator, git->repo, glob);
    while (status == AKO_OK && code == 0 && (code = git_reference_next_name(&name, iterator)) == 0)
        status = ako_git__names_add(list, name);
    git_reference_iterator_free(iterator);
    if (status == AKO_OK && code != GIT_ITEROVER)
        return ako_git__fail(code, "cannot list %s", glob);
    return status;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int ako_git_refs(ako_git *git, const char *glob, int (*ref)(void *payload, const char *name, const char *oid),
                 void *payload)
{
    ako_git__names names = {0};
    int result = collect(&names, git, glob);
    if (names.n > 0)
        qsort(names.items, names.n, sizeof *names.items, by_bytes); /* libgit2 gives loose ones before packed ones */
    for (size_t i = 0; i < names.n && result == 0; i++) {
        git_oid oid;
        ako_git_oid hex;
        /* One that was deleted meanwhile, or points to nothing, is left out. */
        if (git_reference_name_to_id(&oid, git->repo, names.items[i]) != 0)
            continue;
        ako_git__hex(&hex, &oid);
        result = ref(payload, names.items[i], hex.hex);
    }
    ako_git__names_free(&names);
    return result;
}
