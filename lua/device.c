/* ako.device over core/device.h: count, list, find, state, lock. A device is a plain table with the names of
 * core/device_json.h; nothing here creates a CUDA context. */
#include "device.h"
#include "akl.h"
#include "clock.h"
#include "device_json.h"
#include "process.h"

/* [-0, +1 or +3, e] */
static int push_props(lua_State *L, const ako_device_props *props)
{
    ako_json **slot = akl_json_slot(L);
    if (ako_device_props_json(slot, props) != AKO_OK)
        return akl_fail(L);
    akl_push_json(L, *slot);
    return 1;
}

/* count() -> number of devices, the CPU included, and nil or why there is no GPU. */
static int device_count(lua_State *L)
{
    const char *why;
    akl_clock_stop(L);
    int n = ako_device_count(&why);
    akl_clock_start(L);
    lua_pushinteger(L, n);
    if (*why == '\0')
        return 1;
    lua_pushstring(L, why);
    return 2;
}

/* list() -> { device, ... }: GPUs in CUDA's order, the CPU last; or nil, message, code. */
static int device_list(lua_State *L)
{
    ako_device_props props;
    akl_clock_stop(L);
    int n = ako_device_count(NULL);
    akl_clock_start(L);
    lua_createtable(L, n, 0);
    int list = lua_gettop(L);
    for (int i = 0; i < n; i++) {
        if (ako_device_props_get(&props, i) != AKO_OK)
            return akl_fail(L);
        if (push_props(L, &props) != 1)
            return 3;
        lua_seti(L, list, i + 1);
        lua_settop(L, list);
    }
    return 1;
}

/* find(spec) -> device for "auto", "cpu", "cuda" or "cuda:N"; or nil, message, code. */
static int device_find(lua_State *L)
{
    ako_device_props props;
    const char *spec = luaL_optstring(L, 1, "auto");
    akl_clock_stop(L);
    int status = ako_device_find(&props, spec);
    akl_clock_start(L);
    return status == AKO_OK ? push_props(L, &props) : akl_fail(L);
}

/* state(id) -> { sm_clock_mhz, temperature_c, throttle, processes ... } as NVML knows it now; or nil, message, code. */
static int device_state(lua_State *L)
{
    ako_device_props props;
    ako_device_state state;
    const char *id = luaL_checkstring(L, 1);
    akl_clock_stop(L);
    int status = ako_device_find(&props, id);
    if (status == AKO_OK)
        status = ako_device_state_get(&state, &props);
    akl_clock_start(L);
    if (status != AKO_OK)
        return akl_fail(L);
    ako_json **slot = akl_json_slot(L);
    if (ako_device_state_json(slot, &state) != AKO_OK)
        return akl_fail(L);
    akl_push_json(L, *slot);
    return 1;
}

#define LOCK_TYPE "ako.device.lock"

static int lock_close(lua_State *L)
{
    ako_lock **lock = luaL_checkudata(L, 1, LOCK_TYPE);
    ako_lock_release(*lock);
    *lock = NULL;
    return 0;
}

/* lock(uuid[, wait_ns]) -> the device's lock, for what this process starts while it is held; BUSY, with its holder,
 * when that takes longer than wait_ns (0). */
static int device_lock(lua_State *L)
{
    const char *uuid = luaL_checkstring(L, 1);
    lua_Integer wait_ns = luaL_optinteger(L, 2, 0);
    luaL_argcheck(L, wait_ns >= 0, 2, "must not be negative");
    ako_lock **lock = akl_new(L, sizeof(ako_lock *), LOCK_TYPE);
    akl_clock_stop(L);
    int status = ako_lock_take(lock, uuid, ako_clock_ns() + wait_ns);
    akl_clock_start(L);
    return status == AKO_OK ? 1 : akl_fail(L);
}

static const luaL_Reg functions[] = {
    {"count", device_count}, {"list", device_list}, {"find", device_find},
    {"state", device_state}, {"lock", device_lock}, {NULL, NULL},
};

int luaopen_ako_device(lua_State *L);

int luaopen_ako_device(lua_State *L)
{
    static const luaL_Reg methods[] = {{NULL, NULL}};
    akl_type(L, LOCK_TYPE, methods, NULL, lock_close);
    luaL_newlib(L, functions);
    return 1;
}
