#include "decode.h"

#define DEPTHS (sizeof((akl_decoder *)0)->members / sizeof(int))

static int push_value(lua_State *L, akl_decoder *decoder, int token);

static int push_array(lua_State *L, akl_decoder *decoder)
{
    lua_newtable(L);
    for (lua_Integer i = 1;; i++) {
        int token = ako_json_scan_next(&decoder->scan);
        if (token == AKO_JSON_TOKEN_ARRAY_END)
            break;
        int status = token < 0 ? token : push_value(L, decoder, token);
        if (status < 0)
            return status;
        lua_rawseti(L, -2, i);
    }
    akl_mark_array(L, -1);
    return AKO_OK;
}

/* The key is on top, its table below. */
static bool is_duplicate(lua_State *L)
{
    lua_pushvalue(L, -1);
    bool there = lua_rawget(L, -3) != LUA_TNIL;
    lua_pop(L, 1);
    return there;
}

static int push_object(lua_State *L, akl_decoder *decoder)
{
    ako_json_scan *scan = &decoder->scan;
    int members = 0, ignored = 0, *usual = scan->depth < DEPTHS ? &decoder->members[scan->depth] : &ignored;
    lua_createtable(L, 0, *usual);
    for (int token; (token = ako_json_scan_next(scan)) != AKO_JSON_TOKEN_OBJECT_END; members++) {
        if (token < 0)
            return token;
        lua_pushlstring(L, scan->string, scan->size);
        if (is_duplicate(L))
            return ako_json_scan_fail(scan, "duplicate object key");
        token = ako_json_scan_next(scan);
        int status = token < 0 ? token : push_value(L, decoder, token);
        if (status < 0)
            return status;
        lua_rawset(L, -3);
    }
    *usual = members;
    return AKO_OK;
}

static int push_value(lua_State *L, akl_decoder *decoder, int token)
{
    const ako_json_scan *scan = &decoder->scan;
    luaL_checkstack(L, 6, "JSON nested too deeply");
    switch (token) {
    case AKO_JSON_TOKEN_OBJECT:
        return push_object(L, decoder);
    case AKO_JSON_TOKEN_ARRAY:
        return push_array(L, decoder);
    case AKO_JSON_TOKEN_STRING:
        lua_pushlstring(L, scan->string, scan->size);
        break;
    case AKO_JSON_TOKEN_INTEGER:
        lua_pushinteger(L, scan->integer);
        break;
    case AKO_JSON_TOKEN_REAL:
        lua_pushnumber(L, scan->real);
        break;
    case AKO_JSON_TOKEN_NULL:
        akl_push_null(L);
        break;
    default:
        lua_pushboolean(L, token == AKO_JSON_TOKEN_TRUE);
    }
    return AKO_OK;
}

int akl_decode(lua_State *L, akl_decoder *decoder, const char *text, size_t size, ako_buf *scratch)
{
    int top = lua_gettop(L);
    ako_json_scan_start(&decoder->scan, text, size, scratch);
    int status = ako_json_scan_next(&decoder->scan);
    if (status >= 0)
        status = push_value(L, decoder, status);
    if (status >= 0)
        status = ako_json_scan_next(&decoder->scan);
    if (status < 0)
        lua_settop(L, top);
    return status;
}
