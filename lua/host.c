#include "host.h"

#include <fcntl.h>
#include <poll.h>
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
    akh_host *host = akh_of(L);
    const char *subject = host->subject ? host->subject : "";
    size_t limit = host->memory.limit >> 10;
    bool mega = limit >= 1024;
    host->memory.lifted = true;
    lua_pushfstring(L, "%s%sneeds more than the memory limit of %d %s (--memory-limit)", subject, *subject ? ": " : "",
                    (int)(mega ? limit >> 10 : limit), mega ? "MB" : "KB");
    akh_push_leave(L, AKH_EXIT_POLICY, lua_tostring(L, -1));
    lua_remove(L, -2);
    host->memory.lifted = false;
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

static const char *text_of_error(lua_State *L, int index)
{
    if (lua_isstring(L, index) || luaL_getmetafield(L, index, "__tostring") != LUA_TNIL)
        return luaL_tolstring(L, index, NULL);
    return lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, index));
}

/* (error, out of memory) -> exit code: says what ended the run. */
static int explain(lua_State *L)
{
    if (lua_toboolean(L, 2)) {
        akh_push_out_of_memory(L);
        lua_replace(L, 1);
    }
    if (!akh_is_leave(L, 1)) {
        lua_pushinteger(L, say(AKH_EXIT_POLICY, text_of_error(L, 1)));
        return 1;
    }
    lua_getfield(L, 1, "message");
    if (lua_rawlen(L, -1) > 0)
        say(0, lua_tostring(L, -1));
    lua_getfield(L, 1, "code");
    return 1;
}

/* The exit code of a run that ended by `status` with its value on top. */
static int end_of(akh_host *host, int status)
{
    lua_State *L = host->L;
    if (status == LUA_OK)
        return (int)lua_tointeger(L, -1);
    lua_sethook(L, NULL, 0, 0); /* saying why must not fail for the same reason */
    lua_pushcfunction(L, explain);
    lua_pushvalue(L, -2);
    lua_pushboolean(L, status == LUA_ERRMEM);
    if (lua_pcall(L, 2, 1, 0) != LUA_OK)
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

static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* A full disk must not look like success; a reader that has gone away has read enough. */
static int flush_result(int code)
{
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    if (!failed || code != 0 || reader_is_gone())
        return code;
    return say(AKH_EXIT_LACKING, "cannot write all of the result (is the disk full?)");
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
