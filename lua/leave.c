/* How Lua ends the program: an error object with an exit code and one line for the user. */
#include "host.h"

#include <string.h>

#define LEAVE_TYPE "ako.leave"

static int leave_tostring(lua_State *L)
{
    lua_getfield(L, 1, "message");
    return 1;
}

void akh_push_leave(lua_State *L, int code, const char *message)
{
    lua_createtable(L, 0, 2);
    lua_pushinteger(L, code);
    lua_setfield(L, -2, "code");
    lua_pushstring(L, message);
    lua_setfield(L, -2, "message");
    if (luaL_newmetatable(L, LEAVE_TYPE)) {
        lua_pushcfunction(L, leave_tostring);
        lua_setfield(L, -2, "__tostring");
    }
    lua_setmetatable(L, -2);
}

bool akh_is_leave(lua_State *L, int index)
{
    if (!lua_istable(L, index) || !lua_getmetatable(L, index))
        return false;
    luaL_getmetatable(L, LEAVE_TYPE);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

/* [-0, +1, e] The traceback on top without the part that is the same in every one: how we came into the user's code. */
static void cut_entry(lua_State *L)
{
    static const char *const entries[] = {"\n\t[C]: in function 'ako.host.call'",
                                          "\n\t(...tail calls...)\n\tstdlib/ako/cli.lua:"};
    const char *text = lua_tostring(L, -1);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const char *entry = strstr(text, entries[i]);
        if (!entry)
            continue;
        lua_pushlstring(L, text, (size_t)(entry - text));
        return;
    }
}

int akh_message_handler(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TSTRING || strstr(lua_tostring(L, 1), "\nstack traceback:"))
        return 1;
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    cut_entry(L);
    return 1;
}
