/* What Lua code sees: a chosen part of the standard libraries, read-only, behind globals that must exist.
 *
 *   user code:  environment {} -> standard {print, string, ...} -> "undefined global"
 *   stdlib:     environment {} -> {require} -> standard
 *
 * Tables are guarded by an empty table in front of the real one. This keeps mistakes from spreading; it is no wall
 * against somebody who means harm, and policies belong to the user. */
#include "host.h"

#include <stdlib.h>
#include <string.h>

#define GUARD "read-only"

static const char user_environment, internal_environment; /* registry keys: their addresses */

static const char *const base_names[] = {
    "assert", "error",  "getmetatable", "ipairs",   "next",     "pairs", "pcall", "print",  "rawequal", "rawget",
    "rawlen", "select", "setmetatable", "tonumber", "tostring", "type",  "warn",  "xpcall", "_VERSION", NULL};

static const luaL_Reg libraries[] = {{LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
                                     {LUA_STRLIBNAME, luaopen_string},   {LUA_MATHLIBNAME, luaopen_math},
                                     {LUA_UTF8LIBNAME, luaopen_utf8},    {NULL, NULL}};

/* Guards */

static int refuse_assignment(lua_State *L)
{
    return luaL_error(L, "attempt to change '%s' of a read-only table", luaL_tolstring(L, 2, NULL));
}

static int refuse_global(lua_State *L)
{
    return luaL_error(L, "assignment to global '%s': declare it local", luaL_tolstring(L, 2, NULL));
}

static int undefined_global(lua_State *L)
{
    return luaL_error(L, "undefined global '%s'", luaL_tolstring(L, 2, NULL));
}

static int guarded_pairs(lua_State *L)
{
    lua_getglobal(L, "next");
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushnil(L);
    return 3;
}

/* [-1, +1, e] Puts a guard in front of the table on top. */
static void guard(lua_State *L, lua_CFunction refuse)
{
    lua_newtable(L);
    lua_createtable(L, 0, 4);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, guarded_pairs, 1);
    lua_setfield(L, -2, "__pairs");
    lua_pushcfunction(L, refuse);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, GUARD);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_remove(L, -2);
}

/* Reduced functions; each has the original as its upvalue. */

static int guarded_rawset(lua_State *L)
{
    if (luaL_getmetafield(L, 1, "__metatable") == LUA_TSTRING && strcmp(lua_tostring(L, -1), GUARD) == 0)
        return luaL_error(L, "attempt to change a read-only table");
    lua_settop(L, 3);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_rawset(L, 1);
    return 1;
}

static int call_original(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* load(chunk, name, _, env), text only */
static int load_text(lua_State *L)
{
    if (lua_gettop(L) < 3)
        lua_settop(L, 3);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    return call_original(L);
}

static int collect_garbage(lua_State *L)
{
    static const char *const options[] = {"collect", "count", "step", NULL};
    luaL_checkoption(L, 1, "collect", options);
    return call_original(L);
}

static int get_environment_variable(lua_State *L)
{
    static const char *const allowed[] = {
        "HOME", "USER", "CC",      "VIRTUAL_ENV", "CONDA_PREFIX",         "CUDA_HOME", "CUDA_PATH", "TMPDIR",
        "LANG", "TERM", "COLUMNS", "NO_COLOR",    "CUDA_VISIBLE_DEVICES", NULL};
    const char *name = luaL_checkstring(L, 1);
    bool known = strncmp(name, "AKO_", 4) == 0 || strncmp(name, "AKO4ALL_", 8) == 0;
    for (int i = 0; allowed[i] && !known; i++)
        known = strcmp(name, allowed[i]) == 0;
    if (!known)
        return luaL_error(L, "os.getenv: '%s' is not one of the variables a script may read", name);
    lua_pushstring(L, getenv(name));
    return 1;
}

/* Libraries. The table of standard globals is on top. */

static void add_base(lua_State *L)
{
    int standard = lua_gettop(L);
    lua_pushcfunction(L, luaopen_base);
    lua_call(L, 0, 1);
    for (int i = 0; base_names[i]; i++) {
        lua_getfield(L, -1, base_names[i]);
        lua_setfield(L, standard, base_names[i]);
    }
    lua_getfield(L, -1, "load");
    lua_pushcclosure(L, load_text, 1);
    lua_setfield(L, standard, "load");
    lua_getfield(L, -1, "collectgarbage");
    lua_pushcclosure(L, collect_garbage, 1);
    lua_setfield(L, standard, "collectgarbage");
    lua_pushcfunction(L, guarded_rawset);
    lua_setfield(L, standard, "rawset");
    lua_settop(L, standard);
}

/* [-1, +0, e] The library on top, guarded, as a global; tracebacks find its functions' names in the loaded table. */
static void add_library(lua_State *L, int standard, const char *name)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
    guard(L, refuse_assignment);
    lua_setfield(L, standard, name);
}

/* [-0, +0, e] Some builds of Lua still have functions of 5.2, others don't: policies must run on both. */
static void drop_old_functions(lua_State *L)
{
    static const char *const old[] = {"atan2", "cosh", "sinh", "tanh", "pow", "frexp", "ldexp", "log10", NULL};
    for (int i = 0; old[i]; i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, old[i]);
    }
}

static void add_libraries(lua_State *L)
{
    int standard = lua_gettop(L);
    for (const luaL_Reg *library = libraries; library->name; library++) {
        lua_pushcfunction(L, library->func);
        lua_call(L, 0, 1);
        if (library->func == luaopen_math)
            drop_old_functions(L);
        add_library(L, standard, library->name);
    }
}

/* Adds a library with the `keep` functions of one of Lua's own (the list ends with NULL) and `own` ones. */
static void add_part(lua_State *L, const luaL_Reg *library, const char *const *keep, const luaL_Reg *own)
{
    int standard = lua_gettop(L);
    lua_newtable(L);
    lua_pushcfunction(L, library->func);
    lua_call(L, 0, 1);
    for (; *keep; keep++) {
        lua_getfield(L, -1, *keep);
        lua_setfield(L, -3, *keep);
    }
    lua_pop(L, 1);
    luaL_setfuncs(L, own, 0);
    add_library(L, standard, library->name);
}

static void add_parts(lua_State *L)
{
    static const luaL_Reg os = {LUA_OSLIBNAME, luaopen_os}, debug = {LUA_DBLIBNAME, luaopen_debug};
    static const char *const os_names[] = {"clock", "time", "date", NULL}, *const debug_names[] = {"traceback", NULL};
    static const luaL_Reg os_own[] = {{"getenv", get_environment_variable}, {NULL, NULL}}, none[] = {{NULL, NULL}};
    add_part(L, &os, os_names, os_own);
    add_part(L, &debug, debug_names, none);
}

static void lock_strings(lua_State *L)
{
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushliteral(L, GUARD);
    lua_setfield(L, -2, "__metatable");
    lua_getfield(L, -1, "__index");
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    lua_pop(L, 3);
}

/* Environments */

/* [-0, +0, e] What the table on top lacks is looked for in the table, or asked of the function, just below it. */
static void set_index(lua_State *L)
{
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* Stack: standard table. Its own guard is what user code sees, as _G and as _ENV. */
static void make_user_environment(lua_State *L)
{
    lua_pushvalue(L, -1);
    guard(L, refuse_global);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "_G");
    lua_pushvalue(L, -1);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &user_environment);
}

/* Stack: standard table. */
static void make_internal_environment(lua_State *L)
{
    lua_newtable(L);
    akh_push_require(L, true);
    lua_setfield(L, -2, "require");
    set_index(L);
    guard(L, refuse_global);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &internal_environment);
}

void akh_open_sandbox(lua_State *L)
{
    lua_pushcfunction(L, undefined_global);
    lua_newtable(L);
    set_index(L);
    add_base(L);
    add_libraries(L);
    add_parts(L);
    lock_strings(L);
    akh_push_require(L, false);
    lua_setfield(L, -2, "require");
    make_user_environment(L);
    make_internal_environment(L);
    lua_pop(L, 2);
}

void akh_push_environment(lua_State *L, bool internal)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, internal ? &internal_environment : &user_environment);
}

void akh_set_global(lua_State *L, const char *name)
{
    akh_push_environment(L, false);
    luaL_getmetafield(L, -1, "__index");
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, name);
    lua_pop(L, 3);
}
