/* What every binding uses: results, handles, JSON, and the clock of Lua's own running time.
 * Stack notes read [-pops, +pushes, raises]: '-' never, 'e' may raise. */
#ifndef AKL_H
#define AKL_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "error.h"
#include "json.h"

/* Functions so marked may leave by longjmp: nothing raw may be alive across them. */
#define AKL_RAISES

/* [-0, +3, e] nil, the last error's message, its status name ("NOTFOUND"). `return akl_fail(L);` */
AKL_RAISES int akl_fail(lua_State *L);

/* [-0, +0, e] Fields of the table on the top of the stack. */
void akl_set_number(lua_State *L, const char *name, double value);
void akl_set_integer(lua_State *L, const char *name, int64_t value);

/* [-0, +1 or +3, e] true, or as akl_fail when status is negative. */
AKL_RAISES int akl_result(lua_State *L, int status);

/* [-0, +1, e] A userdata of `size` zero bytes with the metatable `type`, one user value: the closed state. Acquire the
 * resource after it and store it at once. */
AKL_RAISES void *akl_new(lua_State *L, size_t size, const char *type);

/* [-0, +0, e] Creates metatable `type` once: `methods` under __index, `meta` beside, __name, __metatable hidden.
 * `close` (may be NULL) becomes __gc, __close and :close. */
AKL_RAISES void akl_type(lua_State *L, const char *type, const luaL_Reg *methods, const luaL_Reg *meta,
                         lua_CFunction close);

/* [-0, +1, e] Lua value of JSON; null is the light userdata akl_null (json.null in Lua), arrays keep their order.
 * The value stays the caller's: keep it in an akl_json_slot, since this may raise. */
AKL_RAISES void akl_push_json(lua_State *L, const ako_json *value);

/* [-0, +1, -] JSON's null. */
void akl_push_null(lua_State *L);
bool akl_is_null(lua_State *L, int index);

/* [-0, +0, e] Marks the table at `index` as an array, so that it is one when empty too. Decoded arrays are marked. */
AKL_RAISES void akl_mark_array(lua_State *L, int index);

/* [-0, +0, e] JSON of the value at `index`: tables with keys 1..n are arrays (empty: object, unless json.array marked
 * it), keys sorted, floats with a fraction or integral floats as reals; NaN, infinity, functions and cycles raise with
 * the path ("workloads[2].shape: a function is not JSON"). The result lives in a collectable box pushed on the stack
 * [+1]. */
AKL_RAISES ako_json *akl_to_json(lua_State *L, int index);

/* [-0, +1, e] An empty box to be filled after it: `ako_json **slot = akl_json_slot(L); status = f(slot, ...)`. */
AKL_RAISES ako_json **akl_json_slot(lua_State *L);

/* [-0, +1, e] A scratch ako_buf that the collector frees. */
struct ako_buf;
AKL_RAISES struct ako_buf *akl_buf(lua_State *L);

/* [-0, +0, e] The argument as a path: a string without NUL bytes, which would cut it short. */
AKL_RAISES const char *akl_check_path(lua_State *L, int arg);

/* [-0, +0, -] Stop and restart the clock of Lua's running time round a core call that waits. */
void akl_clock_stop(lua_State *L);
void akl_clock_start(lua_State *L);

/* Module openers, listed in lua/modules.c as "ako.X" -> luaopen_ako_X. */

#endif
