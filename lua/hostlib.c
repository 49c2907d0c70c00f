/* ako.host: what the standard library, and nothing else, can ask of the host. */
#include "host.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

#define NS_PER_S 1e9

/* ako.host.limit(seconds, bytes): limits of the whole run; nil leaves one as it is, 0 seconds is no limit. */
static int host_limit(lua_State *L)
{
    akh_host *host = akh_of(L);
    lua_Number seconds = luaL_optnumber(L, 1, -1);
    lua_Integer bytes = luaL_optinteger(L, 2, -1);
    if (seconds >= 0)
        host->clock.total_ns = (int64_t)(seconds * NS_PER_S);
    if (bytes >= 0)
        host->memory.limit = (size_t)bytes;
    return 0;
}

/* ako.host.log_level(level): the least that the core says on stderr: "error", "warn", "info" or "debug" */
static int host_log_level(lua_State *L)
{
    static const char *const names[] = {"error", "warn", "info", "debug", NULL};
    static const ako_log_level levels[] = {AKO_LOG_ERROR, AKO_LOG_WARN, AKO_LOG_INFO, AKO_LOG_DEBUG};
    ako_log_set_level(levels[luaL_checkoption(L, 1, NULL, names)]);
    return 0;
}

/* ako.host.refill(): forgets the running time used so far. */
static int host_refill(lua_State *L)
{
    akh_clock *clock = &akh_of(L)->clock;
    akl_clock_stop(L);
    clock->call_end_ns = clock->call_end_ns ? clock->call_end_ns - clock->used_ns : 0;
    clock->used_ns = 0;
    akl_clock_start(L);
    return 0;
}

/* ako.host.usage(): Lua's running time in seconds, memory in bytes. */
static int host_usage(lua_State *L)
{
    const akh_host *host = akh_of(L);
    lua_pushnumber(L, (lua_Number)akh_used_ns(&host->clock) / NS_PER_S);
    lua_pushinteger(L, (lua_Integer)host->memory.used);
    return 2;
}

/* ako.host.call(f, ...): as pcall, with the time limit of one call into a policy. A text that is raised
 * comes back with a traceback, another value as it is. */
static int host_call(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushcfunction(L, akh_message_handler);
    lua_insert(L, 1);
    int64_t before = akh_begin_call(&akh_of(L)->clock);
    int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
    akh_end_call(L, before);
    if (status == LUA_ERRMEM) {
        akh_push_out_of_memory(L);
        lua_replace(L, 2);
    }
    lua_pushboolean(L, status == LUA_OK);
    lua_replace(L, 1);
    return lua_gettop(L);
}

/* ako.host.undisturbed(f, ...): its results, or what it raises. A first Ctrl-C, also one that is being followed, waits
 * until it is done: what makes good what an interrupted run leaves must not be interrupted itself. */
static int host_undisturbed(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    akh_hold_interrupts();
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    akh_release_interrupts();
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* ako.host.leave(code, message): an error object that, raised, ends the program with that exit code and line. */
static int host_leave(lua_State *L)
{
    lua_Integer code = luaL_checkinteger(L, 1);
    luaL_argcheck(L, code >= 0 && code <= 255, 1, "not an exit code");
    akh_push_leave(L, (int)code, luaL_checkstring(L, 2));
    return 1;
}

/* ako.host.is_leave(value) */
static int host_is_leave(lua_State *L)
{
    lua_pushboolean(L, akh_is_leave(L, 1));
    return 1;
}

/* ako.host.load(path, name, internal): the file's chunk, which sees what user code sees, or what the standard library
 * does; `name` is what messages call it. */
static int host_load(lua_State *L)
{
    return akh_load(L, luaL_checkstring(L, 1), luaL_checkstring(L, 2), lua_toboolean(L, 3));
}

static void replace_string(lua_State *L, char **slot, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        luaL_error(L, "out of memory");
    free(*slot);
    *slot = copy;
}

/* ako.host.subject(name, folder, arguments): names the file that is run, the folder of its own modules, and the global
 * `arg`. */
static int host_subject(lua_State *L)
{
    akh_host *host = akh_of(L);
    const char *name = luaL_checkstring(L, 1), *folder = luaL_checkstring(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    replace_string(L, &host->subject, name);
    replace_string(L, &host->folder, folder);
    lua_settop(L, 3);
    akh_set_global(L, "arg");
    return 0;
}

/* [-0, +n, e] The file whose chunk has made a tail call and is gone from the stack; `below` is the next frame. */
static void push_file_of_tail_call(lua_State *L, lua_Debug *below)
{
    const akh_host *host = akh_of(L);
    if (!akh_push_file_required(L, below))
        lua_pushstring(L, host->subject ? host->subject : "?");
}

/* ako.host.caller(): file and line of the call of the function that asks, the line nil when it was a tail call. */
static int host_caller(lua_State *L)
{
    lua_Debug asking, frame;
    if (!lua_getstack(L, 1, &asking) || !lua_getstack(L, 2, &frame))
        return luaL_error(L, "nobody has called");
    lua_getinfo(L, "t", &asking);
    lua_getinfo(L, "Sl", &frame);
    if (asking.istailcall) {
        push_file_of_tail_call(L, &frame);
        return 1;
    }
    lua_pushstring(L, frame.source + (*frame.source == '@'));
    lua_pushinteger(L, frame.currentline);
    return 2;
}

/* ako.host.parameters(f): the names of a Lua function's parameters, "..." last; nil for a C function. */
static int host_parameters(lua_State *L)
{
    lua_Debug info;
    luaL_checktype(L, 1, LUA_TFUNCTION);
    if (lua_iscfunction(L, 1))
        return 0;
    lua_pushvalue(L, 1);
    lua_getinfo(L, ">u", &info);
    lua_newtable(L);
    for (int i = 1; i <= info.nparams; i++) {
        lua_pushvalue(L, 1);
        lua_pushstring(L, lua_getlocal(L, NULL, i));
        lua_remove(L, -2);
        lua_rawseti(L, 2, i);
    }
    if (info.isvararg) {
        lua_pushliteral(L, "...");
        lua_rawseti(L, 2, info.nparams + 1);
    }
    return 1;
}

int luaopen_ako_host(lua_State *L);

int luaopen_ako_host(lua_State *L)
{
    static const luaL_Reg functions[] = {{"limit", host_limit},
                                         {"log_level", host_log_level},
                                         {"refill", host_refill},
                                         {"usage", host_usage},
                                         {"call", host_call},
                                         {"undisturbed", host_undisturbed},
                                         {"leave", host_leave},
                                         {"is_leave", host_is_leave},
                                         {"load", host_load},
                                         {"subject", host_subject},
                                         {"caller", host_caller},
                                         {"parameters", host_parameters},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    lua_pushstring(L, akh_of(L)->home);
    lua_setfield(L, -2, "home");
    return 1;
}
