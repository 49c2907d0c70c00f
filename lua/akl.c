#include "akl.h"

#include <string.h>

#include "buf.h"

int akl_fail(lua_State *L)
{
    const ako_error *last = ako_error_last();
    lua_pushnil(L);
    lua_pushstring(L, last->message);
    lua_pushstring(L, ako_status_name(last->status));
    return 3;
}

void akl_set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

void akl_set_integer(lua_State *L, const char *name, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

int akl_result(lua_State *L, int status)
{
    if (status < 0)
        return akl_fail(L);
    lua_pushboolean(L, 1);
    return 1;
}

void *akl_new(lua_State *L, size_t size, const char *type)
{
    void *handle = lua_newuserdatauv(L, size, 1);
    memset(handle, 0, size);
    luaL_setmetatable(L, type);
    return handle;
}

/* [-0, +0, e] Sets `close` under each of its three names; the metatable is on top, its methods below. */
static void set_close(lua_State *L, lua_CFunction close)
{
    lua_pushcfunction(L, close);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, close);
    lua_setfield(L, -2, "__close");
    lua_pushcfunction(L, close);
    lua_setfield(L, -3, "close");
}

void akl_type(lua_State *L, const char *type, const luaL_Reg *methods, const luaL_Reg *meta, lua_CFunction close)
{
    lua_newtable(L);
    if (methods)
        luaL_setfuncs(L, methods, 0);
    if (!luaL_newmetatable(L, type)) {
        lua_pop(L, 2);
        return;
    }
    if (close)
        set_close(L, close);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "__index");
    lua_pushstring(L, type);
    lua_setfield(L, -2, "__metatable");
    if (meta)
        luaL_setfuncs(L, meta, 0);
    lua_pop(L, 2);
}

#define BUF_TYPE "ako.buf"

static int buf_close(lua_State *L)
{
    ako_buf_free(luaL_checkudata(L, 1, BUF_TYPE));
    return 0;
}

ako_buf *akl_buf(lua_State *L)
{
    akl_type(L, BUF_TYPE, NULL, NULL, buf_close);
    return akl_new(L, sizeof(ako_buf), BUF_TYPE);
}

const char *akl_check_path(lua_State *L, int arg)
{
    size_t size;
    const char *path = luaL_checklstring(L, arg, &size);
    luaL_argcheck(L, strlen(path) == size, arg, "a path may not contain a NUL byte");
    return path;
}
