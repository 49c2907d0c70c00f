/* ako.console: the two streams to people. Results go out, progress and complaints go err. */
#include "akl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "error.h"

static int write_text(lua_State *L, FILE *stream)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    bool written = fwrite(text, 1, size, stream) == size && fflush(stream) == 0;
    if (!written && errno != EPIPE) /* a reader that has gone away has read enough */
        return akl_result(L, ako_fail_errno("console", "cannot write"));
    return akl_result(L, AKO_OK);
}

/* ako.console.out(text): the result, to stdout, at once */
static int console_out(lua_State *L)
{
    return write_text(L, stdout);
}

/* ako.console.err(text): for people, to stderr */
static int console_err(lua_State *L)
{
    return write_text(L, stderr);
}

/* ako.console.is_terminal(stream): of "out" or "err" */
static int console_is_terminal(lua_State *L)
{
    static const char *const streams[] = {"out", "err", NULL};
    lua_pushboolean(L, isatty(luaL_checkoption(L, 1, NULL, streams) == 0 ? STDOUT_FILENO : STDERR_FILENO));
    return 1;
}

/* ako.console.columns(): width of the terminal of stderr; nil when it is none */
static int console_columns(lua_State *L)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 0;
    lua_pushinteger(L, size.ws_col);
    return 1;
}

int luaopen_ako_console(lua_State *L);

int luaopen_ako_console(lua_State *L)
{
    static const luaL_Reg functions[] = {{"out", console_out},
                                         {"err", console_err},
                                         {"is_terminal", console_is_terminal},
                                         {"columns", console_columns},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
