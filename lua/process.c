/* ako.process over core/process.h: run a program to its end, or beside this one. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "akl.h"
#include "clock.h"
#include "lists.h"
#include "process.h"

#define CHILD_TYPE "ako.process.child"
#define GRACE_NS INT64_C(3000000000) /* of a child that is closed, for what it has to end itself */

/* A program that runs beside this one. */
typedef struct child {
    pid_t pid; /* 0: it is over */
} child;

/* [-0, +0, e] A field that is a count of something, 0 when absent. */
static int64_t check_count(lua_State *L, const char *name)
{
    lua_getfield(L, 1, name);
    int whole = 1;
    lua_Integer value = lua_isnil(L, -1) ? 0 : lua_tointegerx(L, -1, &whole);
    if (!whole || value < 0)
        luaL_argerror(L, 1, lua_pushfstring(L, "field '%s' must be an integer, not negative", name));
    lua_pop(L, 1);
    return value;
}

/* [-0, +1, e] This environment with the changes of the table at index `changes`, as an array of "NAME=value". */
static void push_environment(lua_State *L, int changes)
{
    lua_Integer n = 0;
    lua_newtable(L);
    for (char **e = environ; *e; e++) {
        lua_pushlstring(L, *e, strcspn(*e, "="));
        bool kept = lua_rawget(L, changes) == LUA_TNIL;
        lua_pop(L, 1);
        if (kept) {
            lua_pushstring(L, *e);
            lua_rawseti(L, -2, ++n);
        }
    }
    for (lua_pushnil(L); lua_next(L, changes); lua_pop(L, 1)) {
        bool removed = lua_isboolean(L, -1) && !lua_toboolean(L, -1);
        if (lua_type(L, -2) != LUA_TSTRING || strchr(lua_tostring(L, -2), '=') ||
            (!removed && lua_type(L, -1) != LUA_TSTRING))
            luaL_argerror(L, 1, "field 'env' must have names as keys and strings or false as values");
        if (removed)
            continue;
        lua_pushfstring(L, "%s=%s", lua_tostring(L, -2), lua_tostring(L, -1));
        lua_rawseti(L, -4, ++n);
    }
}

/* [-0, +n, e] What is pushed keeps the list alive. NULL when the field `env` is absent. */
static const char *const *check_environment(lua_State *L)
{
    if (lua_getfield(L, 1, "env") == LUA_TNIL)
        return NULL;
    luaL_argexpected(L, lua_istable(L, -1), 1, "field 'env' as a table");
    push_environment(L, lua_gettop(L));
    return akl_check_strings(L, -1, 1).items;
}

/* [-0, +n, e] What the table at index 1 wants run. What is pushed keeps it alive. */
static ako_spawn check_spawn(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    akl_strings argv = akl_check_strings(L, 1, 1);
    luaL_argcheck(L, argv.n > 0, 1, "no program to run");
    const char **list = lua_newuserdatauv(L, (argv.n + 1) * sizeof *list, 0);
    memcpy(list, argv.items, argv.n * sizeof *list);
    list[argv.n] = NULL;
    return (ako_spawn){.argv = list,
                       .env = check_environment(L),
                       .cwd = akl_check_field(L, 1, "cwd", false),
                       .stdin_fd = -1,
                       .stdout_fd = -1,
                       .stderr_fd = -1,
                       .channel_fd = -1,
                       .die_with_parent = true};
}

static void set_status(lua_State *L, int status)
{
    char how[128];
    ako_process_describe(how, sizeof how, status);
    lua_pushstring(L, how);
    lua_setfield(L, -2, "how");
    if (WIFEXITED(status)) {
        lua_pushinteger(L, WEXITSTATUS(status));
        lua_setfield(L, -2, "code");
    } else {
        const char *name = sigabbrev_np(WTERMSIG(status));
        lua_pushfstring(L, "SIG%s", name ? name : "?");
        lua_setfield(L, -2, "signal");
    }
}

static void set_text(lua_State *L, const char *name, const ako_buf *text)
{
    lua_pushlstring(L, text->size ? text->data : "", text->size);
    lua_setfield(L, -2, name);
}

static void push_result(lua_State *L, const ako_capture *c, const ako_buf *out, const ako_buf *err)
{
    lua_createtable(L, 0, 8);
    lua_pushboolean(L, !c->timed_out && c->status == 0);
    lua_setfield(L, -2, "ok");
    lua_pushboolean(L, c->timed_out);
    lua_setfield(L, -2, "timed_out");
    lua_pushinteger(L, c->wall_ns);
    lua_setfield(L, -2, "wall_ns");
    set_status(L, c->status);
    set_text(L, "stdout", out);
    set_text(L, "stderr", err);
}

/* run { program, arguments..., stdin = text, cwd = folder, env = { NAME = value or false }, limit_ns = , output_cap = }
 * -> { ok, code or signal, how, stdout, stderr, timed_out, wall_ns }. At the limit the program and everything that it
 * has started are killed; what it leaves in the background is too. A program that fails is a result; one that cannot
 * be started is nil, message, code. */
static int process_run(lua_State *L)
{
    ako_spawn spawn = check_spawn(L);
    size_t input_size = 0;
    const char *input = lua_getfield(L, 1, "stdin") == LUA_TNIL ? NULL : luaL_tolstring(L, -1, &input_size);
    int64_t limit_ns = check_count(L, "limit_ns"), cap = check_count(L, "output_cap");
    ako_buf *out = akl_buf(L), *err = akl_buf(L);
    ako_capture c;
    akl_clock_stop(L);
    int status = ako_process_run(&c, &spawn, input, input_size, limit_ns, (size_t)cap);
    akl_clock_start(L);
    if (status != AKO_OK)
        return akl_fail(L);
    *out = c.out;
    *err = c.err;
    push_result(L, &c, out, err);
    return 1;
}

/* start { program, arguments..., cwd = folder, env = { NAME = value or false } } -> child: a program that runs beside
 * this one and says what it has to say, on stdout too, on this one's stderr. It dies with this program. */
static int process_start(lua_State *L)
{
    ako_spawn spawn = check_spawn(L);
    spawn.stdout_fd = spawn.stderr_fd = STDERR_FILENO;
    child *c = akl_new(L, sizeof *c, CHILD_TYPE);
    return ako_process_spawn(&c->pid, &spawn) == AKO_OK ? 1 : akl_fail(L);
}

/* child:wait([limit_ns]): { ok, code or signal, how } of a child that has ended, and nothing that it has started is
 * left; TIMEOUT while it runs. CANCELLED: the user's wish to stop has come, and it is gone. */
static int child_wait(lua_State *L)
{
    child *c = luaL_checkudata(L, 1, CHILD_TYPE);
    lua_Integer limit_ns = luaL_optinteger(L, 2, 0);
    int how = 0;
    luaL_argcheck(L, c->pid > 0, 1, "the child is over");
    luaL_argcheck(L, limit_ns >= 0, 2, "must not be negative");
    akl_clock_stop(L);
    int status = ako_process_wait(c->pid, &how, limit_ns ? ako_clock_ns() + limit_ns : 0);
    if (status == AKO_OK)
        ako_process_kill_tree(c->pid, 0);
    akl_clock_start(L);
    if (status != AKO_TIMEOUT)
        c->pid = 0;
    if (status != AKO_OK)
        return akl_fail(L);
    lua_createtable(L, 0, 3);
    lua_pushboolean(L, how == 0);
    lua_setfield(L, -2, "ok");
    set_status(L, how);
    return 1;
}

static int child_close(lua_State *L)
{
    child *c = luaL_checkudata(L, 1, CHILD_TYPE);
    pid_t pid = c->pid;
    c->pid = 0;
    akl_clock_stop(L);
    if (pid > 0)
        ako_process_kill_tree(pid, GRACE_NS);
    akl_clock_start(L);
    return 0;
}

static const luaL_Reg functions[] = {{"run", process_run}, {"start", process_start}, {NULL, NULL}};
static const luaL_Reg methods[] = {{"wait", child_wait}, {NULL, NULL}};

int luaopen_ako_process(lua_State *L);

int luaopen_ako_process(lua_State *L)
{
    if (ako_process_adopt_orphans() != AKO_OK) /* so that a daemon of a program does not outlive its run */
        return luaL_error(L, "%s", ako_error_last()->message);
    akl_type(L, CHILD_TYPE, methods, NULL, child_close);
    luaL_newlib(L, functions);
    return 1;
}
