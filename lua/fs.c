/* ako.fs over core/fs.h: files and folders. Paths are bytes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "akl.h"
#include "fs.h"
#include "hash.h"

/* fs.read(path[, limit]): the content; LIMIT when the file has more bytes than `limit`, INVALID for pipes and devices.
 */
static int fs_read(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    lua_Integer limit = luaL_optinteger(L, 2, 0);
    luaL_argcheck(L, limit >= 0, 2, "a limit is not negative");
    ako_buf *content = akl_buf(L);
    if (ako_fs_read(content, path, (size_t)limit) != AKO_OK)
        return akl_fail(L);
    lua_pushlstring(L, content->data, content->size);
    return 1;
}

/* fs.hash(path): of the content, as git.hash of the text; the file may be larger than Lua's memory. */
static int fs_hash(lua_State *L)
{
    char hash[65];
    const char *path = akl_check_path(L, 1);
    akl_clock_stop(L);
    int status = ako_hash_file(hash, path);
    akl_clock_start(L);
    if (status != AKO_OK)
        return akl_fail(L);
    lua_pushstring(L, hash);
    return 1;
}

/* fs.write(path, data[, sync]): replaces the file at once and, with `sync`, for good; follows a link. */
static int fs_write(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    size_t size;
    const char *data = luaL_checklstring(L, 2, &size);
    return akl_result(L, ako_fs_write(path, data, size, lua_toboolean(L, 3)));
}

/* fs.copy_file(from, to): content and permissions. */
static int fs_copy_file(lua_State *L)
{
    const char *from = akl_check_path(L, 1);
    return akl_result(L, ako_fs_copy(akl_check_path(L, 2), from));
}

/* fs.mkdirs(path): with parents; fine when it is there. */
static int fs_mkdirs(lua_State *L)
{
    return akl_result(L, ako_fs_mkdirs(akl_check_path(L, 1)));
}

/* fs.remove_tree(path): with all that is below; fine when it is not there. */
static int fs_remove_tree(lua_State *L)
{
    return akl_result(L, ako_fs_remove_tree(akl_check_path(L, 1)));
}

/* fs.exists(path): a file, a folder, or a link that leads to one. */
static int fs_exists(lua_State *L)
{
    lua_pushboolean(L, ako_fs_exists(akl_check_path(L, 1)));
    return 1;
}

/* fs.is_dir(path): a folder, or a link that leads to one. */
static int fs_is_dir(lua_State *L)
{
    lua_pushboolean(L, ako_fs_is_dir(akl_check_path(L, 1)));
    return 1;
}

/* fs.is_file(path): a plain file, or a link that leads to one. */
static int fs_is_file(lua_State *L)
{
    lua_pushboolean(L, ako_fs_is_file(akl_check_path(L, 1)));
    return 1;
}

/* fs.is_writable(path): by this user; of a folder: entries can be made in it. */
static int fs_is_writable(lua_State *L)
{
    lua_pushboolean(L, ako_fs_is_writable(akl_check_path(L, 1)));
    return 1;
}

/* fs.space(path): bytes that its file system still has for this user, and all that it has. */
static int fs_space(lua_State *L)
{
    int64_t available, total;
    if (ako_fs_space(&available, &total, akl_check_path(L, 1)) != AKO_OK)
        return akl_fail(L);
    lua_pushinteger(L, available);
    lua_pushinteger(L, total);
    return 2;
}

/* fs.stat(path): { type = "file", "dir", "link" or "other", size (bytes), mtime_ns, ctime_ns, inode }, of a link
 * itself. */
static int fs_stat(lua_State *L)
{
    ako_fs_stat st;
    if (ako_fs_stat_get(&st, akl_check_path(L, 1)) != AKO_OK)
        return akl_fail(L);
    const char *type = st.type == 'f' ? "file" : st.type == 'd' ? "dir" : st.type == 'l' ? "link" : "other";
    lua_createtable(L, 0, 5);
    lua_pushstring(L, type);
    lua_setfield(L, -2, "type");
    akl_set_integer(L, "size", st.size);
    akl_set_integer(L, "mtime_ns", st.mtime_ns);
    akl_set_integer(L, "ctime_ns", st.ctime_ns);
    akl_set_integer(L, "inode", st.inode);
    return 1;
}

#define LOCK_TYPE "ako.fs.lock"

static int lock_close(lua_State *L)
{
    int *fd = luaL_checkudata(L, 1, LOCK_TYPE);
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return 0;
}

/* fs.lock(folder): a lock that holds until it is closed or the process ends; BUSY when somebody has it. */
static int fs_lock(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    int *fd = akl_new(L, sizeof *fd, LOCK_TYPE);
    *fd = -1;
    return ako_fs_lock_dir(fd, path) == AKO_OK ? 1 : akl_fail(L);
}

/* Names, each with the NUL behind it. */
static int collect_name(void *payload, const char *name)
{
    ako_buf_put(payload, name, strlen(name) + 1);
    return AKO_OK;
}

/* fs.list(path): the names in a folder, in byte order. */
static int fs_list(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    ako_buf *names = akl_buf(L);
    if (ako_fs_list(path, collect_name, names) != AKO_OK)
        return akl_fail(L);
    if (names->oom)
        return luaL_error(L, "out of memory");
    lua_newtable(L);
    lua_Integer n = 0;
    for (const char *p = names->data, *end = p + names->size; p < end; p += strlen(p) + 1) {
        lua_pushstring(L, p);
        lua_rawseti(L, -2, ++n);
    }
    return 1;
}

/* fs.temp_dir([prefix]): a new folder that nobody else can read. */
static int fs_temp_dir(lua_State *L)
{
    char path[4096];
    if (ako_fs_temp_dir(path, sizeof path, luaL_optstring(L, 1, "ako")) != AKO_OK)
        return akl_fail(L);
    lua_pushstring(L, path);
    return 1;
}

/* [-0, +1 or +3, e] The path that core left in the scratch buffer on top, or as akl_fail. */
static int push_path(lua_State *L, int status, const ako_buf *path)
{
    if (status != AKO_OK)
        return akl_fail(L);
    lua_pushstring(L, path->data);
    return 1;
}

/* fs.absolute(path): without links, "." and ".."; the path must exist. */
static int fs_absolute(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    ako_buf *out = akl_buf(L);
    return push_path(L, ako_fs_absolute(&out->data, path), out);
}

/* fs.user_dir(kind): the "cache", "state" or "runtime" folder of this user, made when it is not there. */
static int fs_user_dir(lua_State *L)
{
    static const char *const kinds[] = {"cache", "state", "runtime", NULL};
    const char *kind = kinds[luaL_checkoption(L, 1, NULL, kinds)];
    ako_buf *out = akl_buf(L);
    return push_path(L, ako_fs_user_dir(&out->data, kind), out);
}

/* fs.program_dir(): the folder of the running program. */
static int fs_program_dir(lua_State *L)
{
    ako_buf *out = akl_buf(L);
    return push_path(L, ako_fs_program_dir(&out->data), out);
}

/* ---- names: text only, nothing is looked up ---- */

/* fs.join(a, ...): with one slash between; an absolute part starts anew, as in a shell's cd. */
static int fs_join(lua_State *L)
{
    int n = lua_gettop(L);
    luaL_checkstring(L, 1);
    ako_buf *out = akl_buf(L);
    for (int i = 1; i <= n; i++) {
        const char *part = akl_check_path(L, i);
        if (*part == '/')
            ako_buf_clear(out);
        else if (*part && out->size > 0 && out->data[out->size - 1] != '/')
            ako_buf_puts(out, "/");
        ako_buf_puts(out, part);
    }
    if (out->oom)
        return luaL_error(L, "out of memory");
    lua_pushlstring(L, out->data, out->size);
    return 1;
}

/* Length of the path without slashes at its end; "/" keeps its own. */
static size_t trimmed(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

/* fs.basename(path): "c" of "a/b/c" and of "a/b/c/". */
static int fs_basename(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    size_t end = trimmed(path), start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    lua_pushlstring(L, path + start, end - start);
    return 1;
}

/* fs.dirname(path): "a/b" of "a/b/c", "." of "c", "/" of "/c". */
static int fs_dirname(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    size_t n = trimmed(path);
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    lua_pushlstring(L, n ? path : ".", n ? n : 1);
    return 1;
}

static const luaL_Reg functions[] = {
    {"read", fs_read},
    {"hash", fs_hash},
    {"write", fs_write},
    {"copy_file", fs_copy_file},
    {"mkdirs", fs_mkdirs},
    {"exists", fs_exists},
    {"remove_tree", fs_remove_tree},
    {"is_dir", fs_is_dir},
    {"is_file", fs_is_file},
    {"is_writable", fs_is_writable},
    {"space", fs_space},
    {"lock", fs_lock},
    {"stat", fs_stat},
    {"list", fs_list},
    {"temp_dir", fs_temp_dir},
    {"absolute", fs_absolute},
    {"program_dir", fs_program_dir},
    {"user_dir", fs_user_dir},
    {"join", fs_join},
    {"basename", fs_basename},
    {"dirname", fs_dirname},
    {NULL, NULL},
};

int luaopen_ako_fs(lua_State *L);

int luaopen_ako_fs(lua_State *L)
{
    static const luaL_Reg methods[] = {{NULL, NULL}};
    akl_type(L, LOCK_TYPE, methods, NULL, lock_close);
    luaL_newlib(L, functions);
    return 1;
}
