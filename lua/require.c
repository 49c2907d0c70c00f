/* Loading of Lua files, and `require`: C modules, then stdlib/ako, then the bundled policies, then the folder of the
 * user's own file. No other path leads to code. */
#include "host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "fs.h"

#define MAX_SOURCE ((size_t)16 << 20)

static const char modules, loading; /* a registry key: the table of loaded modules; and what stands for one in work */

/* Skips a byte order mark and the text of a "#!" line, but not its end: line numbers stay right. */
static const char *skip_preamble(const char *text, size_t *size)
{
    size_t at = *size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (at < *size && text[at] == '#') {
        const char *newline = memchr(text + at, '\n', *size - at);
        at = newline ? (size_t)(newline - text) : *size;
    }
    *size -= at;
    return text + at;
}

static int read_source(ako_buf *out, const char *path)
{
    if (ako_fs_is_dir(path))
        return ako_fail(AKO_INVALID, "host", "%s is a folder, not a Lua file", path);
    return ako_fs_read(out, path, MAX_SOURCE);
}

/* [-1, +3, e] nil, why, "COMPILE" for the error message on top. */
static int fail_to_compile(lua_State *L, const char *name)
{
    bool binary = strstr(lua_tostring(L, -1), "attempt to load a binary chunk") != NULL;
    lua_pushnil(L);
    lua_insert(L, -2);
    if (binary) {
        lua_pop(L, 1);
        lua_pushfstring(L, "%s: holds compiled Lua; only source text is accepted", name);
    }
    lua_pushliteral(L, "COMPILE");
    return 3;
}

int akh_load(lua_State *L, const char *path, const char *name, bool internal)
{
    ako_buf *source = akl_buf(L);
    int status = read_source(source, path);
    if (status < 0)
        return akl_fail(L);
    const char *chunk_name = lua_pushfstring(L, "@%s", name);
    size_t size = source->size;
    const char *text = skip_preamble(size ? source->data : "", &size);
    status = luaL_loadbufferx(L, text, size, chunk_name, "t");
    if (status == LUA_ERRMEM)
        return lua_error(L);
    if (status != LUA_OK)
        return fail_to_compile(L, name);
    akh_push_environment(L, internal);
    if (!lua_setupvalue(L, -2, 1))
        lua_pop(L, 1);
    return 1;
}

/* Words of letters, digits, _ and -, with single dots between: nothing that could leave a folder. */
static bool is_module_name(const char *name, size_t size)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *end = name + size;
    while (name < end) {
        size_t length = strspn(name, word);
        name += length;
        if (length == 0 || (name < end && *name != '.'))
            return false;
        if (name == end)
            return true;
        name++;
    }
    return false;
}

/* [-0, +1, e] folder/a/b.lua for "a.b" */
static const char *push_path(lua_State *L, const char *folder, const char *name)
{
    luaL_gsub(L, name, ".", "/");
    lua_pushfstring(L, "%s/%s.lua", folder, lua_tostring(L, -1));
    lua_remove(L, -2);
    return lua_tostring(L, -1);
}

typedef struct place {
    const char *path; /* of the file */
    const char *name; /* what messages call it */
    bool internal;
} place;

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* [-0, +n, e] Where the module's file is; its strings stay on the stack. */
static bool find_file(lua_State *L, const char *name, place *out)
{
    const akh_host *host = akh_of(L);
    if (starts_with(name, "ako.")) {
        out->path = push_path(L, lua_pushfstring(L, "%s/stdlib", host->home), name);
        out->name = push_path(L, "stdlib", name);
        out->internal = true;
        return ako_fs_exists(out->path);
    }
    out->internal = false;
    if (starts_with(name, "policies.")) {
        out->path = push_path(L, host->home, name);
        out->name = push_path(L, "policies", name + strlen("policies."));
        if (ako_fs_exists(out->path))
            return true;
    }
    out->path = out->name = push_path(L, host->folder ? host->folder : ".", name);
    if (starts_with(out->name, "./"))
        out->name += 2;
    return ako_fs_exists(out->path);
}

AKL_RAISES static int not_found(lua_State *L, const char *name)
{
    const akh_host *host = akh_of(L);
    return luaL_error(L, "module '%s' not found among ako-lua's own and in %s", name,
                      host->folder ? host->folder : "the current folder");
}

/* [-0, +1, e] The module's loader: an opener in C or a chunk. */
static void push_loader(lua_State *L, const char *name)
{
    place file = {0};
    if (akh_push_opener(L, name))
        return;
    if (!find_file(L, name, &file))
        not_found(L, name);
    if (akh_load(L, file.path, file.name, file.internal) == 1)
        return;
    akh_push_leave(L, AKH_EXIT_POLICY, lua_tostring(L, -2));
    lua_error(L);
}

/* [-0, +0, e] Tracebacks look for the names of C functions in Lua's own table of loaded modules. */
static void make_known_to_tracebacks(lua_State *L, const char *name)
{
    if (!lua_istable(L, -1))
        return;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

/* [-0, +1, e] Runs the loader once; a module that returns nothing is `true`. `table` is that of loaded modules. */
static void load_module(lua_State *L, int table, const char *name)
{
    push_loader(L, name);
    lua_pushlightuserdata(L, (void *)&loading);
    lua_setfield(L, table, name);
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 1);
    }
    make_known_to_tracebacks(L, name);
    lua_pushvalue(L, -1);
    lua_setfield(L, table, name);
}

static int require(lua_State *L)
{
    size_t size;
    const char *name = luaL_checklstring(L, 1, &size);
    luaL_argcheck(L, is_module_name(name, size), 1, "bad module name");
    lua_settop(L, 1);
    if (strcmp(name, "ako.host") == 0 && !lua_toboolean(L, lua_upvalueindex(1)))
        return not_found(L, name);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &modules);
    if (lua_getfield(L, 2, name) == LUA_TNIL)
        load_module(L, 2, name);
    else if (lua_touserdata(L, -1) == (void *)&loading)
        return luaL_error(L, "module '%s' requires itself, or could not be loaded before", name);
    return 1;
}

bool akh_push_file_required(lua_State *L, lua_Debug *frame)
{
    place file = {0};
    lua_getinfo(L, "f", frame);
    bool ours = lua_tocfunction(L, -1) == require;
    lua_pop(L, 1);
    if (!ours || !lua_getlocal(L, frame, 1))
        return false;
    find_file(L, lua_tostring(L, -1), &file);
    lua_pushstring(L, file.name);
    return true;
}

void akh_push_require(lua_State *L, bool internal)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &modules) == LUA_TNIL) {
        lua_newtable(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &modules);
    }
    lua_pop(L, 1);
    lua_pushboolean(L, internal);
    lua_pushcclosure(L, require, 1);
}
