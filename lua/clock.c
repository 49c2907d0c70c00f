/* ako.clock over core/clock.h: time in integer nanoseconds. */
#include "akl.h"

#include "clock.h"

/* clock.now_ns(): monotonic, from an arbitrary origin: for intervals. */
static int clock_now_ns(lua_State *L)
{
    lua_pushinteger(L, ako_clock_ns());
    return 1;
}

/* clock.wall_ns(): since 1970 UTC. */
static int clock_wall_ns(lua_State *L)
{
    lua_pushinteger(L, ako_clock_wall_ns());
    return 1;
}

/* clock.sleep_ns(ns): sleeps, less long after Ctrl-C. */
static int clock_sleep_ns(lua_State *L)
{
    lua_Integer ns = luaL_checkinteger(L, 1);
    luaL_argcheck(L, ns >= 0, 1, "a time to sleep is not negative");
    akl_clock_stop(L);
    ako_clock_sleep_ns(ns);
    akl_clock_start(L);
    return 0;
}

/* clock.date([wall_ns]): "2025-01-31T23:59:59.123Z"; now by default. */
static int clock_date(lua_State *L)
{
    char text[AKO_DATE_SIZE];
    ako_clock_date(text, luaL_optinteger(L, 1, ako_clock_wall_ns()));
    lua_pushstring(L, text);
    return 1;
}

static const luaL_Reg functions[] = {
    {"now_ns", clock_now_ns},
    {"wall_ns", clock_wall_ns},
    {"sleep_ns", clock_sleep_ns},
    {"date", clock_date},
    {NULL, NULL},
};

int luaopen_ako_clock(lua_State *L);

int luaopen_ako_clock(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
