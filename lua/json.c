/* ako.json over core/json.h: integer-exact JSON. What a value becomes is told in akl.h. */
#include <stdlib.h>

#include "buf.h"
#include "decode.h"

#define DEFAULT_LIMIT                                                                                                \
    (256 << 20) /* json.encode(value): compact text, keys sorted. Raises for what is not JSON, with the place in the \
                   value. */
static int json_encode(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    ako_buf *text = akl_buf(L);
    const ako_json *value = akl_to_json(L, 1);
    if (ako_json_dump(&text->data, value) != AKO_OK)
        return luaL_error(L, "%s", ako_error_last()->message);
    lua_pushstring(L, text->data);
    return 1;
}

/* json.decode(text[, limit]): the value; nil, message, INVALID for what is not JSON, LIMIT for more bytes than `limit`.
 */
static int json_decode(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    lua_Integer limit = luaL_optinteger(L, 2, DEFAULT_LIMIT);
    luaL_argcheck(L, limit >= 0, 2, "a limit is not negative");
    if (size > (size_t)limit) {
        ako_fail(AKO_LIMIT, "json", "the text is larger than %lld bytes", (long long)limit);
        return akl_fail(L);
    }
    ako_buf *scratch = akl_buf(L);
    akl_decoder decoder = {0};
    return akl_decode(L, &decoder, text, size, scratch) == AKO_OK ? 1 : akl_fail(L);
}

/* json.array([table]): marks a table, and a new one when there is none, as an array: only an empty one needs it. */
static int json_array(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    akl_mark_array(L, 1);
    return 1;
}

static const luaL_Reg functions[] = {
    {"encode", json_encode},
    {"decode", json_decode},
    {"array", json_array},
    {NULL, NULL},
};

int luaopen_ako_json(lua_State *L);

int luaopen_ako_json(lua_State *L)
{
    luaL_newlib(L, functions);
    akl_push_null(L);
    lua_setfield(L, -2, "null");
    return 1;
}
