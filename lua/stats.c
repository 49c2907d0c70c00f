/* ako.stats over core/stats.h: order statistics of samples. */
#include "stats.h"
#include "akl.h"

#include <math.h>
#include <stdlib.h>

#define DEFAULT_ALPHA 0.05

/* [-0, +1, e] Room for the n numbers of the table at `arg`, which is not empty; the collector frees it. */
static void *check_samples(lua_State *L, int arg, size_t size, size_t *n)
{
    luaL_checktype(L, arg, LUA_TTABLE);
    *n = (size_t)luaL_len(L, arg);
    luaL_argcheck(L, *n > 0, arg, "there are no samples");
    return lua_newuserdatauv(L, *n * size, 0);
}

/* [-0, +1, e] */
static int64_t *check_integers(lua_State *L, int arg, size_t *n)
{
    int64_t *samples = check_samples(L, arg, sizeof *samples, n);
    for (size_t i = 0; i < *n; i++) {
        int is_integer;
        lua_geti(L, arg, (lua_Integer)i + 1);
        samples[i] = lua_tointegerx(L, -1, &is_integer);
        if (!is_integer)
            luaL_error(L, "sample %d is not an integer of nanoseconds", (int)i + 1);
        lua_pop(L, 1);
    }
    return samples;
}

/* [-0, +1, e] */
static double *check_numbers(lua_State *L, int arg, size_t *n)
{
    double *values = check_samples(L, arg, sizeof *values, n);
    for (size_t i = 0; i < *n; i++) {
        int is_number;
        lua_geti(L, arg, (lua_Integer)i + 1);
        values[i] = lua_tonumberx(L, -1, &is_number);
        if (!is_number || isnan(values[i]))
            luaL_error(L, "value %d is not a number", (int)i + 1);
        lua_pop(L, 1);
    }
    return values;
}

static double check_alpha(lua_State *L, int arg)
{
    double alpha = luaL_optnumber(L, arg, DEFAULT_ALPHA);
    luaL_argcheck(L, alpha > 0 && alpha < 1, arg, "alpha is between 0 and 1");
    return alpha;
}

static void push_summary(lua_State *L, const ako_summary *s)
{
    lua_createtable(L, 0, 9);
    akl_set_integer(L, "n", (int64_t)s->n);
    akl_set_integer(L, "min", s->min);
    akl_set_integer(L, "max", s->max);
    akl_set_number(L, "mean", s->mean);
    akl_set_number(L, "std", s->std);
    akl_set_number(L, "median", s->median);
    akl_set_number(L, "p95", s->p95);
    akl_set_integer(L, "step", s->step);
    if (!s->has_ci)
        return;
    lua_createtable(L, 2, 0);
    lua_pushinteger(L, s->ci_low);
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, s->ci_high);
    lua_rawseti(L, -2, 2);
    lua_setfield(L, -2, "ci");
}

/* summary(samples[, alpha]): core/stats.h's, with ci = { low, high }; no ci where n is too small. */
static int stats_summary(lua_State *L)
{
    size_t n;
    double alpha = check_alpha(L, 2);
    const int64_t *samples = check_integers(L, 1, &n);
    ako_summary summary;
    if (ako_stats_summary(&summary, samples, n, alpha) != AKO_OK)
        return akl_fail(L);
    push_summary(L, &summary);
    return 1;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* quantile(values, q): by linear interpolation; the values need no order. */
static int stats_quantile(lua_State *L)
{
    size_t n;
    double q = luaL_checknumber(L, 2);
    luaL_argcheck(L, q >= 0 && q <= 1, 2, "a quantile is from 0 to 1");
    double *values = check_numbers(L, 1, &n);
    qsort(values, n, sizeof *values, by_value);
    lua_pushnumber(L, ako_stats_quantile(values, n, q));
    return 1;
}

/* rank(n[, alpha]): the rank of the interval's lower end (0: n is too small), and the interval's true error. */
static int stats_rank(lua_State *L)
{
    lua_Integer n = luaL_checkinteger(L, 1);
    double error, alpha = check_alpha(L, 2);
    luaL_argcheck(L, n >= 0, 1, "a number of samples is not negative");
    lua_pushinteger(L, (lua_Integer)ako_stats_rank((size_t)n, alpha, &error));
    lua_pushnumber(L, error);
    return 2;
}

/* geomean(values): of positive values. */
static int stats_geomean(lua_State *L)
{
    size_t n;
    const double *values = check_numbers(L, 1, &n);
    for (size_t i = 0; i < n; i++) {
        if (values[i] <= 0)
            return luaL_error(L, "value %d is not positive", (int)i + 1);
    }
    lua_pushnumber(L, ako_stats_geomean(values, n));
    return 1;
}

static const luaL_Reg functions[] = {
    {"summary", stats_summary},
    {"quantile", stats_quantile},
    {"rank", stats_rank},
    {"geomean", stats_geomean},
    {NULL, NULL},
};

int luaopen_ako_stats(lua_State *L);

int luaopen_ako_stats(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
