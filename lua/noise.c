/* ako.noise over core/noise.h: launches on machines that do not exist. */
#include "noise.h"
#include "akl.h"

#define MOST 1000000

/* [-0, +0, e] The machine of arguments 1 to 3: model, seed and stream. */
static void check_machine(lua_State *L, ako_noise *noise)
{
    ako_noise_model model;
    const char *name = luaL_checkstring(L, 1);
    lua_Integer stream = luaL_checkinteger(L, 3);
    if (ako_noise_parse(&model, name) != AKO_OK)
        luaL_argerror(L, 1, ako_error_last()->message);
    luaL_argcheck(L, stream >= 0 && stream <= UINT32_MAX, 3, "a stream is a number of 32 bits");
    ako_noise_start(noise, model, (uint64_t)luaL_checkinteger(L, 2), (uint32_t)stream);
}

static int64_t check_base(lua_State *L, int arg)
{
    lua_Integer base_ns = luaL_checkinteger(L, arg);
    luaL_argcheck(L, base_ns > 0, arg, "a kernel takes at least 1 ns");
    return base_ns;
}

static size_t check_count(lua_State *L, int arg)
{
    lua_Integer n = luaL_checkinteger(L, arg);
    luaL_argcheck(L, n > 0 && n <= MOST, arg, "there are 1 to 1000000");
    return (size_t)n;
}

/* [-0, +1, e] */
static void push_integers(lua_State *L, const int64_t *values, size_t n)
{
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lua_pushinteger(L, values[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* launches(model, seed, stream, base_ns, n): what n launches of a kernel that takes base_ns take. */
static int noise_launches(lua_State *L)
{
    ako_noise noise;
    check_machine(L, &noise);
    int64_t base_ns = check_base(L, 4);
    size_t n = check_count(L, 5);
    int64_t *ns = lua_newuserdatauv(L, n * sizeof *ns, 0);
    ako_noise_launches(&noise, base_ns, ns, n);
    push_integers(L, ns, n);
    return 1;
}

/* pairs(model, seed, stream, base_ns, n, launches): n pairs of two kernels that both take base_ns, timed in turn, a
 * sample the median of so many launches: { incumbent_ns, candidate_ns }, as ako.paired takes them. */
static int noise_pairs(lua_State *L)
{
    ako_noise noise;
    check_machine(L, &noise);
    int64_t base_ns = check_base(L, 4);
    size_t n = check_count(L, 5);
    lua_Integer launches = luaL_checkinteger(L, 6);
    luaL_argcheck(L, launches >= 1 && launches <= AKO_NOISE_SAMPLE, 6, "there are 1 to 64 launches in a sample");
    int64_t *ns = lua_newuserdatauv(L, 2 * n * sizeof *ns, 0);
    if (ako_noise_pairs(&noise, base_ns, base_ns, (int)launches, ns, ns + n, n) != AKO_OK)
        return akl_fail(L);
    lua_createtable(L, 0, 2);
    push_integers(L, ns, n);
    lua_setfield(L, -2, "incumbent_ns");
    push_integers(L, ns + n, n);
    lua_setfield(L, -2, "candidate_ns");
    return 1;
}

/* models(): their names, from the quietest on. */
static int noise_models(lua_State *L)
{
    lua_createtable(L, AKO_NOISE_MODELS, 0);
    for (int i = 0; i < AKO_NOISE_MODELS; i++) {
        lua_pushstring(L, ako_noise_name((ako_noise_model)i));
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static const luaL_Reg functions[] = {
    {"launches", noise_launches},
    {"pairs", noise_pairs},
    {"models", noise_models},
    {NULL, NULL},
};

int luaopen_ako_noise(lua_State *L);

int luaopen_ako_noise(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
