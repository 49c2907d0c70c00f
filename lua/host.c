#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

akh_host *akh_of(lua_State *L)
{
    return *(akh_host **)lua_getextraspace(L);
}

void akh_push_out_of_memory(lua_State *L)
{
    const akh_host *host = akh_of(L);
    const char *subject = host->subject ? host->subject : "";
    lua_pushfstring(L, "%s%sneeds more than the memory limit of %d MB (--memory-limit)", subject, *subject ? ": " : "",
                    (int)(host->memory.limit >> 20));
    akh_push_leave(L, AKH_EXIT_POLICY, lua_tostring(L, -1));
    lua_remove(L, -2);
}

/* Says why the program ends and gives its exit code. */
static int say(int code, const char *text)
{
    fflush(stdout);
    fprintf(stderr, "ako-lua: %s\n", text);
    return code;
}

/* A protected part of the run that may raise: everything that Lua does. */
static int body(lua_State *L)
{
    int argc = (int)lua_tointeger(L, 1);
    char **argv = lua_touserdata(L, 2);
    akh_open_sandbox(L);
    akh_push_require(L, true);
    lua_pushliteral(L, "ako.cli");
    lua_call(L, 1, 1);
    lua_createtable(L, argc, 0);
    for (int i = 1; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i);
    }
    lua_call(L, 1, 1);
    return 1;
}

/* [-1, +0, e] What ended the run is on top; runs protected, since making its text may need memory. */
static int explain(lua_State *L)
{
    if (!akh_is_leave(L, 1)) {
        bool has_text = lua_isstring(L, 1) || luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL;
        const char *text = has_text ? luaL_tolstring(L, 1, NULL)
                                    : lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
        lua_pushinteger(L, say(AKH_EXIT_POLICY, text));
        return 1;
    }
    lua_getfield(L, 1, "code");
    lua_getfield(L, 1, "message");
    if (lua_rawlen(L, -1) > 0)
        say(0, lua_tostring(L, -1));
    lua_pop(L, 1);
    return 1;
}

/* The exit code of a run that ended by `status` with its value on top. */
static int end_of(akh_host *host, int status)
{
    lua_State *L = host->L;
    if (status == LUA_OK)
        return (int)lua_tointeger(L, -1);
    host->memory.limit = SIZE_MAX; /* saying why must not fail for the same reason */
    host->clock.total_ns = 0;
    lua_pushcfunction(L, explain);
    if (status == LUA_ERRMEM)
        akh_push_out_of_memory(L);
    else
        lua_pushvalue(L, -2);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK)
        return say(AKH_EXIT_POLICY, "out of memory");
    return (int)lua_tointeger(L, -1);
}

/* [-0, +1, -] Everything below runs inside one protected call. */
static int run_protected(akh_host *host, int argc, char **argv)
{
    lua_State *L = host->L;
    lua_pushcfunction(L, akh_message_handler);
    lua_pushcfunction(L, body);
    lua_pushinteger(L, argc);
    lua_pushlightuserdata(L, argv);
    akh_watch(host);
    int code = end_of(host, lua_pcall(L, 2, 1, 1));
    akh_unwatch();
    return code;
}

/* Only what is said here is seen: a panic comes from a call outside any protected one, which has no business to be. */
static int panic(lua_State *L)
{
    (void)L;
    fputs("ako-lua: Lua failed outside a protected call\n", stderr);
    return 0;
}

/* A full disk must not look like success; a reader that has gone away has read enough. */
static int flush_result(int code)
{
    if (fflush(stdout) == 0 || errno == EPIPE)
        return code;
    fprintf(stderr, "ako-lua: cannot write the result: %s\n", strerror(errno));
    return AKH_EXIT_LACKING;
}

/* Descriptors 0 to 2 must be taken, or the next file opened would receive what is printed. */
static void fill_standard_streams(void)
{
    int fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDWR);
    if (fd > STDERR_FILENO)
        close(fd);
}

int akh_run(int argc, char **argv)
{
    akh_host host = {.memory.limit = AKH_DEFAULT_MEMORY, .clock.total_ns = AKH_DEFAULT_TIME_S * INT64_C(1000000000)};
    fill_standard_streams();
    akh_catch_signals();
    if (akh_find_home(&host.home) < 0)
        return say(AKH_EXIT_LACKING, ako_error_last()->message);
    host.L = lua_newstate(akh_allocate, &host.memory);
    if (!host.L)
        return say(AKH_EXIT_LACKING, "out of memory");
    *(akh_host **)lua_getextraspace(host.L) = &host;
    lua_atpanic(host.L, panic);
    int code = run_protected(&host, argc, argv);
    lua_close(host.L);
    free(host.home);
    free(host.subject);
    free(host.folder);
    return flush_result(code);
}
