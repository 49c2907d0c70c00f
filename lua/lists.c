#include "lists.h"

#include <string.h>

akl_strings akl_check_strings(lua_State *L, int index, int arg)
{
    if (lua_isnoneornil(L, index)) {
        lua_pushnil(L);
        return (akl_strings){NULL, 0};
    }
    luaL_argexpected(L, lua_istable(L, index), arg, "array of strings");
    index = lua_absindex(L, index);
    size_t n = lua_rawlen(L, index);
    const char **items = lua_newuserdatauv(L, (n + 1) * sizeof *items, 0);
    for (size_t i = 0; i < n; i++) {
        bool text = lua_rawgeti(L, index, (lua_Integer)i + 1) == LUA_TSTRING;
        size_t size = 0;
        items[i] = text ? lua_tolstring(L, -1, &size) : "";
        luaL_argexpected(L, text && strlen(items[i]) == size, arg, "array of strings without NUL bytes");
        lua_pop(L, 1);
    }
    items[n] = NULL; /* as exec wants it */
    return (akl_strings){items, n};
}

akl_strings akl_check_strings_field(lua_State *L, int arg, const char *name)
{
    lua_getfield(L, arg, name);
    return akl_check_strings(L, -1, arg);
}

const char *akl_check_field(lua_State *L, int arg, const char *name, bool required)
{
    int type = lua_getfield(L, arg, name);
    if (type == LUA_TNIL && !required)
        return NULL;
    size_t size = 0;
    const char *text = type == LUA_TSTRING ? lua_tolstring(L, -1, &size) : NULL;
    if (!text || strlen(text) != size)
        luaL_argerror(L, arg, lua_pushfstring(L, "field '%s' must be a string without NUL bytes", name));
    return text;
}

bool akl_flag(lua_State *L, int arg, const char *name)
{
    lua_getfield(L, arg, name);
    bool set = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return set;
}

void akl_check_options(lua_State *L, int arg)
{
    if (lua_isnoneornil(L, arg)) {
        lua_settop(L, arg - 1);
        lua_newtable(L);
    }
    luaL_checktype(L, arg, LUA_TTABLE);
    lua_settop(L, arg);
}

void akl_collect(ako_buf *list, const char *const *strings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ako_buf_put(list, strings[i], strlen(strings[i]) + 1);
}

/* [-0, +1, e] */
static void push_value(lua_State *L, const char *name, const char *text)
{
    size_t n = strlen(name);
    if (n > 2 && strcmp(name + n - 2, "_s") == 0)
        lua_stringtonumber(L, text);
    else
        lua_pushstring(L, text);
}

void akl_push_records(lua_State *L, const ako_buf *list, const char *const *names, size_t n)
{
    if (list->oom)
        luaL_error(L, "out of memory");
    lua_newtable(L);
    const char *at = list->data, *end = at + list->size;
    for (lua_Integer record = 1; at < end; record++) {
        lua_createtable(L, 0, (int)n);
        for (size_t i = 0; i < n; i++, at += strlen(at) + 1) {
            push_value(L, names[i], at);
            lua_setfield(L, -2, names[i]);
        }
        lua_rawseti(L, -2, record);
    }
}
