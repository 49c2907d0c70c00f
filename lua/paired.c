/* ako.paired over core/paired.h: the decision between two that were timed in turn. */
#include "paired.h"
#include "akl.h"

#include <string.h>

/* [-0, +0, e] A number among the plan's fields; `missing` when there is none. */
static double plan_number(lua_State *L, int plan, const char *name, double missing)
{
    int is_number;
    lua_getfield(L, plan, name);
    double value = lua_isnil(L, -1) ? missing : lua_tonumberx(L, -1, &is_number);
    if (!lua_isnil(L, -1) && !is_number)
        luaL_error(L, "plan.%s is not a number", name);
    lua_pop(L, 1);
    return value;
}

/* [-0, +0, e] */
static void check_looks(lua_State *L, int plan, ako_paired_plan *out)
{
    if (lua_getfield(L, plan, "looks") != LUA_TTABLE)
        luaL_error(L, "plan.looks is not a list of numbers of pairs");
    lua_Integer n = luaL_len(L, -1);
    if (n > AKO_LOOKS)
        luaL_error(L, "plan.looks has %d looks, more than %d", (int)n, AKO_LOOKS);
    for (out->n_looks = 0; out->n_looks < n; out->n_looks++) {
        int is_integer;
        lua_geti(L, -1, out->n_looks + 1);
        lua_Integer look = lua_tointegerx(L, -1, &is_integer);
        if (!is_integer || look < 1 || look > INT32_MAX)
            luaL_error(L, "plan.looks: look %d is not a number of pairs", out->n_looks + 1);
        out->looks[out->n_looks] = (int)look;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* [-0, +0, e] The plan at `plan`; fields that are not the decision's own are somebody else's. */
static void check_plan(lua_State *L, int plan, ako_paired_plan *out)
{
    *out = (ako_paired_plan){
        .alpha = plan_number(L, plan, "alpha", 0),
        .threshold = plan_number(L, plan, "threshold", -1),
        .resolution = plan_number(L, plan, "resolution", 0),
        .clock_pair = plan_number(L, plan, "clock_pair", 0),
        .clock_run = plan_number(L, plan, "clock_run", 0),
        .most_dropped = plan_number(L, plan, "most_dropped", 0),
        .one_sided = plan_number(L, plan, "one_sided", 0),
        .order_effect = plan_number(L, plan, "order_effect", 0),
        .correlation = plan_number(L, plan, "correlation", 0),
    };
    check_looks(L, plan, out);
    lua_getfield(L, plan, "strict");
    out->strict = lua_toboolean(L, -1);
    if (lua_getfield(L, plan, "score") != LUA_TNIL && ako_score_parse(&out->score, luaL_checkstring(L, -1)) != AKO_OK)
        luaL_error(L, "plan.score: %s", ako_error_last()->message);
    lua_pop(L, 2);
    if (ako_paired_plan_check(out) != AKO_OK)
        luaL_error(L, "plan: %s", ako_error_last()->message);
}

typedef struct measured {
    const ako_pair **pairs; /* by workload */
    double *weights;
    int n_workloads;
    size_t n;
} measured;

/* [-0, +0, e] Number i of the list on the top of the stack, 0 without a list. */
static int64_t list_integer(lua_State *L, size_t i, const char *name, int workload)
{
    int is_integer;
    if (lua_isnil(L, -1))
        return 0;
    lua_geti(L, -1, (lua_Integer)i + 1);
    int64_t value = lua_tointegerx(L, -1, &is_integer);
    if (!is_integer)
        luaL_error(L, "%s of workload %d: number %d is not an integer", name, workload + 1, (int)i + 1);
    lua_pop(L, 1);
    return value;
}

/* [-0, +0, e] The list `name` of the workload on the top of the stack, which has n numbers or, if it is optional, is
 * missing; `member` is where they go in the pairs. */
static void read_list(lua_State *L, const char *name, bool optional, size_t member, ako_pair *pairs, size_t n, int w)
{
    int type = lua_getfield(L, -1, name);
    if (type != LUA_TTABLE && !(optional && type == LUA_TNIL))
        luaL_error(L, "workload %d has no list %s", w + 1, name);
    if (type == LUA_TTABLE && (size_t)luaL_len(L, -1) != n)
        luaL_error(L, "%s of workload %d has %d numbers instead of %d", name, w + 1, (int)luaL_len(L, -1), (int)n);
    for (size_t i = 0; i < n; i++) {
        int64_t value = list_integer(L, i, name, w);
        char *place = (char *)&pairs[i] + member;
        int clock = value > 0 && value < INT32_MAX ? (int)value : 0;
        if (optional)
            memcpy(place, &clock, sizeof clock);
        else
            memcpy(place, &value, sizeof value);
    }
    lua_pop(L, 1);
}

/* [-0, +1, e] The pairs of the workload on the top of the stack, in memory that the collector frees. */
static ako_pair *read_pairs(lua_State *L, measured *m, int w)
{
    luaL_checktype(L, -1, LUA_TTABLE);
    if (w == 0) {
        if (lua_getfield(L, -1, "candidate_ns") == LUA_TTABLE)
            m->n = (size_t)luaL_len(L, -1);
        lua_pop(L, 1);
    }
    ako_pair *pairs = lua_newuserdatauv(L, (m->n + 1) * sizeof *pairs, 0);
    lua_insert(L, -2);
    read_list(L, "incumbent_ns", false, offsetof(ako_pair, a_ns), pairs, m->n, w);
    read_list(L, "candidate_ns", false, offsetof(ako_pair, b_ns), pairs, m->n, w);
    read_list(L, "incumbent_mhz", true, offsetof(ako_pair, a_mhz), pairs, m->n, w);
    read_list(L, "candidate_mhz", true, offsetof(ako_pair, b_mhz), pairs, m->n, w);
    lua_pop(L, 1);
    return pairs;
}

/* [-0, +n, e] Everything in `pairs` and `weights` of the table at `given`; memory stays on the stack. */
static void check_measured(lua_State *L, int given, measured *m)
{
    if (lua_getfield(L, given, "pairs") != LUA_TTABLE || luaL_len(L, -1) < 1)
        luaL_error(L, "pairs is not a list of workloads");
    int list = lua_gettop(L);
    lua_Integer n = luaL_len(L, list);
    luaL_argcheck(L, n <= 10000, given, "too many workloads");
    m->n_workloads = (int)n;
    m->pairs = lua_newuserdatauv(L, (size_t)n * sizeof *m->pairs, 0);
    m->weights = lua_newuserdatauv(L, (size_t)n * sizeof *m->weights, 0);
    luaL_checkstack(L, m->n_workloads + 8, "too many workloads");
    bool weighted = lua_getfield(L, given, "weights") == LUA_TTABLE;
    int weights = lua_gettop(L);
    for (int w = 0; w < m->n_workloads; w++) {
        int is_number = 1;
        if (weighted)
            lua_geti(L, weights, w + 1);
        m->weights[w] = weighted ? lua_tonumberx(L, -1, &is_number) : 1;
        if (!is_number)
            luaL_error(L, "weights: there is none for workload %d", w + 1);
        lua_settop(L, weights + w); /* the pairs of the workloads before stay */
        lua_geti(L, list, w + 1);
        m->pairs[w] = read_pairs(L, m, w);
    }
}

static void set_flag(lua_State *L, const char *name, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, name);
}

/* [-0, +1, e] */
static void push_result(lua_State *L, const ako_paired_result *result)
{
    lua_createtable(L, 0, 11);
    lua_pushstring(L, ako_paired_verdict_name(result->verdict));
    lua_setfield(L, -2, "verdict");
    akl_set_integer(L, "look", result->look);
    akl_set_integer(L, "pairs", (int64_t)result->pairs);
    akl_set_integer(L, "dropped", (int64_t)result->dropped);
    akl_set_number(L, "gain", result->score.gain);
    set_flag(L, "order_effect", result->order_effect);
    set_flag(L, "clock_coupled", result->clock_coupled);
    set_flag(L, "correlated", result->correlated);
    akl_set_number(L, "lag1", result->lag1);
    if (!result->score.has_interval)
        return;
    lua_createtable(L, 2, 0);
    lua_pushnumber(L, result->score.low);
    lua_rawseti(L, -2, 1);
    lua_pushnumber(L, result->score.high);
    lua_rawseti(L, -2, 2);
    lua_setfield(L, -2, "interval");
}

/* The first look that decides, or what all pairs together say at the end. */
static int decide(ako_paired_result *out, const ako_paired_plan *plan, const measured *m)
{
    for (int i = 0; i < plan->n_looks && (size_t)plan->looks[i] < m->n; i++) {
        int status = ako_paired_look(out, plan, m->pairs, m->weights, m->n_workloads, (size_t)plan->looks[i], false);
        if (status != AKO_OK || out->verdict != AKO_PAIRED_GO_ON)
            return status;
    }
    return ako_paired_look(out, plan, m->pairs, m->weights, m->n_workloads, m->n, true);
}

/* decide { plan, weights, pairs }: judges pairs look by look, as if they were being measured, up to the first look that
 * decides; what has not been decided by the last of them is inconclusive. */
static int paired_decide(lua_State *L)
{
    ako_paired_plan plan;
    ako_paired_result result;
    measured m = {0};
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (lua_getfield(L, 1, "plan") != LUA_TTABLE)
        return luaL_error(L, "there is no plan");
    check_plan(L, 2, &plan);
    check_measured(L, 1, &m);
    if (decide(&result, &plan, &m) != AKO_OK)
        return luaL_error(L, "%s", ako_error_last()->message);
    push_result(L, &result);
    return 1;
}

static const luaL_Reg functions[] = {
    {"decide", paired_decide},
    {NULL, NULL},
};

int luaopen_ako_paired(lua_State *L);

int luaopen_ako_paired(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
