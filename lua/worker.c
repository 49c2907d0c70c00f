/* ako.worker over core/evaluator.h: an evaluator process and its requests. */
#include <stdbool.h>

#include "akl.h"
#include "evaluator.h"

#define TYPE "ako.worker"

typedef struct handle {
    ako_evaluator *evaluator; /* NULL: closed */
    bool busy;                /* a request is running: only its progress function can have come here */
} handle;

static handle *check_open(lua_State *L)
{
    handle *h = luaL_checkudata(L, 1, TYPE);
    luaL_argcheck(L, h->evaluator, 1, "the worker is closed");
    luaL_argcheck(L, !h->busy, 1, "a request is running");
    return h;
}

/* start([path]) -> worker. `path`: of ako-worker; by default the one that belongs to this program. Not yet greeted. */
static int worker_start(lua_State *L)
{
    const char *path = lua_isnoneornil(L, 1) ? NULL : akl_check_path(L, 1);
    handle *h = akl_new(L, sizeof *h, TYPE);
    akl_clock_stop(L);
    int status = ako_evaluator_start(&h->evaluator, path);
    akl_clock_start(L);
    return status == AKO_OK ? 1 : akl_fail(L);
}

typedef struct listener {
    lua_State *L;
    int function; /* stack index of the progress function */
    bool failed;  /* its error value is on top of the stack */
} listener;

/* function, event (light userdata) -> what the function returns. */
static int call_progress(lua_State *L)
{
    akl_push_json(L, lua_touserdata(L, 2));
    lua_remove(L, 2);
    lua_call(L, 1, 1);
    return 1;
}

/* Runs inside the core's wait, so errors stop here and are raised again after it. */
static int on_event(void *payload, const ako_json *event)
{
    listener *l = payload;
    lua_State *L = l->L;
    akl_clock_start(L);
    lua_pushcfunction(L, call_progress);
    lua_pushvalue(L, l->function);
    lua_pushlightuserdata(L, (void *)(uintptr_t)event);
    l->failed = lua_pcall(L, 2, 1, 0) != LUA_OK;
    int stop = l->failed || lua_toboolean(L, -1);
    if (!l->failed)
        lua_pop(L, 1);
    akl_clock_stop(L);
    return stop;
}

/* worker:request(message[, progress]) -> answer. `message` is a request of docs/protocol.md without its id;
 * progress(event) is called with each event, and a true result cancels. An error in it cancels too, and is raised
 * once the evaluator has stopped. */
static int worker_request(lua_State *L)
{
    handle *h = check_open(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    if (!lua_isnoneornil(L, 3))
        luaL_checktype(L, 3, LUA_TFUNCTION);
    lua_settop(L, 3);
    luaL_checkstack(L, 8, NULL);
    akl_to_json(L, 2);
    ako_json **box = lua_touserdata(L, -1), **answer = akl_json_slot(L);
    ako_json *message = *box; /* out of its box, since the core takes it over */
    *box = NULL;
    listener l = {.L = L, .function = 3};
    h->busy = true;
    akl_clock_stop(L);
    int status = ako_evaluator_request(h->evaluator, answer, message, lua_isfunction(L, 3) ? on_event : NULL, &l);
    akl_clock_start(L);
    h->busy = false;
    if (l.failed)
        return lua_error(L);
    if (status != AKO_OK)
        return akl_fail(L);
    akl_push_json(L, *answer);
    return 1;
}

/* worker:upload(path) -> key, for tensors with init.file. */
static int worker_upload(lua_State *L)
{
    char key[65];
    handle *h = check_open(L);
    const char *path = akl_check_path(L, 2);
    akl_clock_stop(L);
    int status = ako_evaluator_upload(h->evaluator, key, path);
    akl_clock_start(L);
    if (status != AKO_OK)
        return akl_fail(L);
    lua_pushstring(L, key);
    return 1;
}

static int worker_close(lua_State *L)
{
    handle *h = luaL_checkudata(L, 1, TYPE);
    luaL_argcheck(L, !h->busy, 1, "a request is running");
    ako_evaluator *evaluator = h->evaluator;
    h->evaluator = NULL;
    akl_clock_stop(L);
    ako_evaluator_stop(evaluator);
    akl_clock_start(L);
    return 0;
}

static int worker_tostring(lua_State *L)
{
    const handle *h = luaL_checkudata(L, 1, TYPE);
    lua_pushfstring(L, "%s (%s)", TYPE, !h->evaluator ? "closed" : h->busy ? "busy" : "open");
    return 1;
}

static const luaL_Reg methods[] = {{"request", worker_request}, {"upload", worker_upload}, {NULL, NULL}};
static const luaL_Reg meta[] = {{"__tostring", worker_tostring}, {NULL, NULL}};
static const luaL_Reg functions[] = {{"start", worker_start}, {NULL, NULL}};

int luaopen_ako_worker(lua_State *L);

int luaopen_ako_worker(lua_State *L)
{
    akl_type(L, TYPE, methods, meta, worker_close);
    luaL_newlib(L, functions);
    return 1;
}
