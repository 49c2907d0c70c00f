/* ako.git over core/git.h. A handle owns an open repository.
 *
 * Walks of core collect into a scratch buffer, strings with the NUL behind each, and become Lua tables afterwards: so
 * no error of Lua's crosses libgit2. Core's time is not Lua's: its clock stands still round calls that touch the disk.
 */
#include <stdio.h>
#include <string.h>

#include "git.h"
#include "lists.h"

#define TYPE "ako.git"

typedef struct handle {
    ako_git *git; /* NULL when closed */
} handle;

static ako_git *check_git(lua_State *L)
{
    handle *h = luaL_checkudata(L, 1, TYPE);
    luaL_argcheck(L, h->git, 1, "the repository is closed");
    return h->git;
}

/* ---- results ---- */

static int collect_two(void *payload, const char *first, const char *second)
{
    akl_collect(payload, (const char *const[]){first, second}, 2);
    return AKO_OK;
}

static int push_oid(lua_State *L, int status, const ako_git_oid *oid)
{
    if (status != AKO_OK)
        return akl_fail(L);
    lua_pushstring(L, oid->hex);
    return 1;
}

/* ---- the repository ---- */

/* repo:workdir(): the repository's working folder, absolute. */
static int git_workdir(lua_State *L)
{
    lua_pushstring(L, ako_git_workdir(check_git(L)));
    return 1;
}

/* repo:commondir(): .git, also of a linked working tree. */
static int git_commondir(lua_State *L)
{
    lua_pushstring(L, ako_git_commondir(check_git(L)));
    return 1;
}

/* repo:prefix(): the workspace seen from the working folder, "" or "sub/folder/". */
static int git_prefix(lua_State *L)
{
    lua_pushstring(L, ako_git_prefix(check_git(L)));
    return 1;
}

/* repo:head(): { oid (absent when unborn), ref (absent when detached), unborn, detached } */
static int git_head(lua_State *L)
{
    ako_git_head head;
    if (ako_git_head_get(&head, check_git(L)) != AKO_OK)
        return akl_fail(L);
    bool unborn = head.oid.hex[0] == '\0', detached = head.ref[0] == '\0';
    lua_createtable(L, 0, 4);
    lua_pushboolean(L, unborn);
    lua_setfield(L, -2, "unborn");
    lua_pushboolean(L, detached);
    lua_setfield(L, -2, "detached");
    if (!unborn) {
        lua_pushstring(L, head.oid.hex);
        lua_setfield(L, -2, "oid");
    }
    if (!detached) {
        lua_pushstring(L, head.ref);
        lua_setfield(L, -2, "ref");
    }
    return 1;
}

/* repo:branch(): the branch's short name, also of an unborn one; false when HEAD is detached. */
static int git_branch(lua_State *L)
{
    static const char heads[] = "refs/heads/";
    ako_git_head head;
    if (ako_git_head_get(&head, check_git(L)) != AKO_OK)
        return akl_fail(L);
    if (head.ref[0])
        lua_pushstring(L, head.ref + (strncmp(head.ref, heads, sizeof heads - 1) == 0 ? sizeof heads - 1 : 0));
    else
        lua_pushboolean(L, 0);
    return 1;
}

/* repo:status(): array of { path, code } as `git status --porcelain` has them, for the workspace. */
static int git_status(lua_State *L)
{
    static const char *const names[] = {"path", "code"};
    ako_git *git = check_git(L);
    ako_buf *list = akl_buf(L);
    akl_clock_stop(L);
    int status = ako_git_status(git, collect_two, list);
    akl_clock_start(L);
    if (status != AKO_OK)
        return akl_fail(L);
    akl_push_records(L, list, names, 2);
    return 1;
}

/* ---- objects ---- */

/* repo:resolve(rev): its oid. */
static int git_resolve(lua_State *L)
{
    ako_git_oid oid;
    return push_oid(L, ako_git_resolve(&oid, check_git(L), luaL_checkstring(L, 2)), &oid);
}

/* repo:tree(base, paths): the oid of the tree of `base` (nil: empty) with the files at these paths as they are now. */
static int git_tree(lua_State *L)
{
    ako_git *git = check_git(L);
    const char *base = luaL_optstring(L, 2, NULL);
    akl_strings paths = akl_check_strings(L, 3, 3);
    ako_git_oid oid;
    akl_clock_stop(L);
    int status = ako_git_tree(&oid, git, base, paths.items, paths.n);
    akl_clock_start(L);
    return push_oid(L, status, &oid);
}

/* repo:read(rev, path): the content of a file. */
static int git_read(lua_State *L)
{
    ako_git *git = check_git(L);
    const char *rev = luaL_checkstring(L, 2), *path = akl_check_path(L, 3);
    ako_buf *content = akl_buf(L);
    if (ako_git_read(content, git, rev, path) != AKO_OK)
        return akl_fail(L);
    lua_pushlstring(L, content->data, content->size);
    return 1;
}

/* repo:hash(path): the oid of a file as it is now. */
static int git_hash_file(lua_State *L)
{
    ako_git *git = check_git(L);
    ako_git_oid oid;
    return push_oid(L, ako_git_hash_file(&oid, git, akl_check_path(L, 2)), &oid);
}

/* git.hash(data): the oid that these bytes have as a file. */
static int git_hash(lua_State *L)
{
    size_t size;
    const char *data = luaL_checklstring(L, 1, &size);
    ako_git_oid oid;
    return push_oid(L, ako_git_hash(&oid, data, size), &oid);
}

/* ---- commits ---- */

/* repo:commit { tree, message [, parents, author, time_s, ref, expect] }: the oid. Sets `ref` when it is as `expect`
 * says. */
static int git_commit(lua_State *L)
{
    ako_git *git = check_git(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    akl_strings parents = akl_check_strings_field(L, 2, "parents");
    ako_git_commit_spec spec = {.parents = parents.items, .n_parents = parents.n};
    spec.tree = akl_check_field(L, 2, "tree", true);
    spec.message = akl_check_field(L, 2, "message", true);
    spec.author = akl_check_field(L, 2, "author", false);
    spec.ref = akl_check_field(L, 2, "ref", false);
    spec.expect = akl_check_field(L, 2, "expect", false);
    lua_getfield(L, 2, "time_s");
    spec.time_s = luaL_optinteger(L, -1, 0);
    ako_git_oid oid;
    akl_clock_stop(L);
    int status = ako_git_commit(&oid, git, &spec);
    akl_clock_start(L);
    return push_oid(L, status, &oid);
}

static int collect_commit(void *payload, const ako_git_commit_info *info)
{
    char time[32];
    snprintf(time, sizeof time, "%lld", (long long)info->time_s);
    const char *const fields[] = {info->oid, info->tree, info->parent, info->author, info->email, info->message, time};
    akl_collect(payload, fields, sizeof fields / sizeof *fields);
    return AKO_OK;
}

/* repo:log([rev[, max]]): array of { oid, tree, parent, author, email, message, time_s }, newest first. */
static int git_log(lua_State *L)
{
    static const char *const names[] = {"oid", "tree", "parent", "author", "email", "message", "time_s"};
    ako_git *git = check_git(L);
    const char *rev = luaL_optstring(L, 2, "HEAD");
    lua_Integer max = luaL_optinteger(L, 3, 0);
    luaL_argcheck(L, max >= 0, 3, "a number of commits is not negative");
    ako_buf *list = akl_buf(L);
    akl_clock_stop(L);
    int status = ako_git_log(git, rev, (size_t)max, collect_commit, list);
    akl_clock_start(L);
    if (status != AKO_OK)
        return akl_fail(L);
    akl_push_records(L, list, names, 7);
    return 1;
}

/* repo:tag(name, rev[, message]) */
static int git_tag(lua_State *L)
{
    ako_git *git = check_git(L);
    const char *name = luaL_checkstring(L, 2), *rev = luaL_checkstring(L, 3);
    return akl_result(L, ako_git_tag(git, name, rev, luaL_optstring(L, 4, NULL)));
}

/* ---- refs ---- */

/* repo:refs([glob]): array of { name, oid }, sorted. */
static int git_refs(lua_State *L)
{
    static const char *const names[] = {"name", "oid"};
    ako_git *git = check_git(L);
    const char *glob = luaL_optstring(L, 2, "refs/*");
    ako_buf *list = akl_buf(L);
    akl_clock_stop(L);
    int status = ako_git_refs(git, glob, collect_two, list);
    akl_clock_start(L);
    if (status != AKO_OK)
        return akl_fail(L);
    akl_push_records(L, list, names, 2);
    return 1;
}

/* repo:set_ref(name, rev[, expect]): `expect` is the oid that it must have now, "" for a new one. */
static int git_set_ref(lua_State *L)
{
    ako_git *git = check_git(L);
    const char *name = luaL_checkstring(L, 2), *rev = luaL_checkstring(L, 3);
    return akl_result(L, ako_git_set_ref(git, name, rev, luaL_optstring(L, 4, NULL)));
}

/* repo:delete_ref(name[, expect]) */
static int git_delete_ref(lua_State *L)
{
    ako_git *git = check_git(L);
    const char *name = luaL_checkstring(L, 2);
    return akl_result(L, ako_git_delete_ref(git, name, luaL_optstring(L, 3, NULL)));
}

/* ---- files back, differences ---- */

/* repo:restore(rev, paths[, { remove, expect }]): makes files what `rev` has. With `expect`, an array of oids, BUSY
 * names a file whose bytes none of them has; nothing is written then. */
static int git_restore(lua_State *L)
{
    ako_git *git = check_git(L);
    const char *rev = luaL_checkstring(L, 2);
    akl_check_options(L, 4);
    akl_strings paths = akl_check_strings(L, 3, 3), expect = akl_check_strings_field(L, 4, "expect");
    ako_git_restore_options options = {.remove = akl_flag(L, 4, "remove"),
                                       .guard = !lua_isnil(L, -2), /* the field, below what was made of it */
                                       .expect = expect.items,
                                       .n_expect = expect.n};
    akl_clock_stop(L);
    int status = ako_git_restore(git, rev, paths.items, paths.n, &options);
    akl_clock_start(L);
    return akl_result(L, status);
}

static int collect_change(void *payload, const char *path, char letter)
{
    return collect_two(payload, path, (const char[]){letter, '\0'});
}

/* repo:diff(from, to[, { paths, patch }]): { changes = { { path, code } }, insertions, deletions, patch } */
static int git_diff(lua_State *L)
{
    static const char *const names[] = {"path", "code"};
    ako_git *git = check_git(L);
    const char *from = luaL_optstring(L, 2, NULL), *to = luaL_optstring(L, 3, NULL);
    akl_check_options(L, 4);
    akl_strings paths = akl_check_strings_field(L, 4, "paths");
    bool want_patch = akl_flag(L, 4, "patch");
    ako_buf *changes = akl_buf(L), *patch = akl_buf(L);
    ako_git_diff_options options = {.paths = paths.items,
                                    .n_paths = paths.n,
                                    .change = collect_change,
                                    .payload = changes,
                                    .patch = want_patch ? patch : NULL};
    ako_git_diff_stat stat;
    akl_clock_stop(L);
    int status = ako_git_diff(&stat, git, from, to, &options);
    akl_clock_start(L);
    if (status != AKO_OK)
        return akl_fail(L);
    lua_createtable(L, 0, 4);
    akl_push_records(L, changes, names, 2);
    lua_setfield(L, -2, "changes");
    lua_pushinteger(L, (lua_Integer)stat.insertions);
    lua_setfield(L, -2, "insertions");
    lua_pushinteger(L, (lua_Integer)stat.deletions);
    lua_setfield(L, -2, "deletions");
    if (want_patch) {
        lua_pushlstring(L, patch->data ? patch->data : "", patch->size);
        lua_setfield(L, -2, "patch");
    }
    return 1;
}

/* ---- the module ---- */

static int git_close(lua_State *L)
{
    handle *h = luaL_checkudata(L, 1, TYPE);
    ako_git_free(h->git);
    h->git = NULL;
    return 0;
}

static int git_tostring(lua_State *L)
{
    const handle *h = luaL_checkudata(L, 1, TYPE);
    lua_pushfstring(L, "ako.git (%s)", h->git ? ako_git_workdir(h->git) : "closed");
    return 1;
}

/* git.open(path): the repository that holds the folder. */
static int git_open(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    handle *h = akl_new(L, sizeof *h, TYPE);
    return ako_git_open(&h->git, path) == AKO_OK ? 1 : akl_fail(L);
}

/* git.init(path[, own]): the same, made when there is none; and whether it was. With `own`, a repository of a folder
 * above does not count. */
static int git_init(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    bool own = lua_toboolean(L, 2);
    handle *h = akl_new(L, sizeof *h, TYPE);
    bool created;
    if (ako_git_init(&h->git, path, own, &created) != AKO_OK)
        return akl_fail(L);
    lua_pushboolean(L, created);
    return 2;
}

static const luaL_Reg methods[] = {
    {"workdir", git_workdir},
    {"commondir", git_commondir},
    {"prefix", git_prefix},
    {"head", git_head},
    {"branch", git_branch},
    {"status", git_status},
    {"resolve", git_resolve},
    {"tree", git_tree},
    {"read", git_read},
    {"hash", git_hash_file},
    {"commit", git_commit},
    {"log", git_log},
    {"tag", git_tag},
    {"refs", git_refs},
    {"set_ref", git_set_ref},
    {"delete_ref", git_delete_ref},
    {"restore", git_restore},
    {"diff", git_diff},
    {NULL, NULL},
};

static const luaL_Reg meta[] = {{"__tostring", git_tostring}, {NULL, NULL}};
static const luaL_Reg functions[] = {{"open", git_open}, {"init", git_init}, {"hash", git_hash}, {NULL, NULL}};

int luaopen_ako_git(lua_State *L);

int luaopen_ako_git(lua_State *L)
{
    akl_type(L, TYPE, methods, meta, git_close);
    luaL_newlib(L, functions);
    return 1;
}
