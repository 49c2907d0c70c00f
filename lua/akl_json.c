/* JSON values of core to Lua and back. */
#include "akl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOX_TYPE "ako.json.box"
#define ARRAY_TYPE "ako.json.array"

/* Deeper than any honest document, shallower than the parser's limit and than the C stack. */
#define MAX_DEPTH 512

/* Its address is what JSON's null is in Lua. */
static char null_address;

void akl_push_null(lua_State *L)
{
    lua_pushlightuserdata(L, &null_address);
}

bool akl_is_null(lua_State *L, int index)
{
    return lua_touserdata(L, index) == (void *)&null_address;
}

void akl_mark_array(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    luaL_newmetatable(L, ARRAY_TYPE);
    lua_setmetatable(L, index);
}

static bool is_marked_array(lua_State *L, int index)
{
    if (!lua_getmetatable(L, index))
        return false;
    luaL_getmetatable(L, ARRAY_TYPE);
    bool marked = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return marked;
}

/* The box */

static int box_close(lua_State *L)
{
    ako_json **slot = luaL_checkudata(L, 1, BOX_TYPE);
    ako_json_free(*slot);
    *slot = NULL;
    return 0;
}

ako_json **akl_json_slot(lua_State *L)
{
    akl_type(L, BOX_TYPE, NULL, NULL, box_close);
    return akl_new(L, sizeof(ako_json *), BOX_TYPE);
}

/* JSON to Lua */

static void push_array(lua_State *L, const ako_json *array)
{
    size_t n = ako_json_count(array);
    lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
    for (size_t i = 0; i < n; i++) {
        akl_push_json(L, ako_json_at(array, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    akl_mark_array(L, -1);
}

static void push_object(lua_State *L, const ako_json *object)
{
    size_t n = ako_json_count(object);
    lua_createtable(L, 0, n < INT32_MAX ? (int)n : 0);
    for (void *i = ako_json_next(object, NULL); i; i = ako_json_next(object, i)) {
        size_t size;
        const char *key = ako_json_key(i, &size);
        lua_pushlstring(L, key, size);
        akl_push_json(L, ako_json_value(i));
        lua_rawset(L, -3);
    }
}

void akl_push_json(lua_State *L, const ako_json *value)
{
    size_t size;
    luaL_checkstack(L, 6, "JSON nested too deeply");
    switch (ako_json_type_of(value)) {
    case AKO_JSON_BOOL:
        lua_pushboolean(L, ako_json_bool(value));
        break;
    case AKO_JSON_INTEGER:
        lua_pushinteger(L, ako_json_integer(value));
        break;
    case AKO_JSON_REAL:
        lua_pushnumber(L, ako_json_real(value));
        break;
    case AKO_JSON_STRING: {
        const char *text = ako_json_string(value, &size);
        lua_pushlstring(L, text, size);
        break;
    }
    case AKO_JSON_ARRAY:
        push_array(L, value);
        break;
    case AKO_JSON_OBJECT:
        push_object(L, value);
        break;
    case AKO_JSON_NULL:
        akl_push_null(L);
        break;
    }
}

/* Lua to JSON. Every value is attached to the boxed root as soon as it exists, so a raise in the middle leaks nothing.
 */

/* Where in the value we are: a list on the C stack, innermost first, for messages and to see cycles. */
typedef struct place {
    const struct place *parent;
    const void *table; /* the table that holds us */
    const char *key;   /* NULL: `index` */
    lua_Integer index;
    int depth;
} place;

static void push_path(lua_State *L, const place *at)
{
    if (!at) {
        lua_pushliteral(L, "");
        return;
    }
    push_path(L, at->parent);
    if (at->key)
        lua_pushfstring(L, at->parent ? "%s.%s" : "%s%s", lua_tostring(L, -1), at->key);
    else
        lua_pushfstring(L, "%s[%I]", lua_tostring(L, -1), at->index);
    lua_remove(L, -2);
}

AKL_RAISES static int refuse(lua_State *L, const place *at, const char *why)
{
    luaL_checkstack(L, MAX_DEPTH + 8, NULL);
    push_path(L, at);
    const char *path = lua_tostring(L, -1);
    return luaL_error(L, "%s%s%s", path, *path ? ": " : "", why);
}

static ako_json *new_string(lua_State *L, int index, const place *at)
{
    size_t size;
    const char *text = lua_tolstring(L, index, &size);
    ako_json *value = ako_json_new_string(text, size);
    if (!value)
        refuse(L, at, "a string that is not UTF-8 is not JSON");
    return value;
}

static ako_json *new_number(lua_State *L, int index, const place *at)
{
    if (lua_isinteger(L, index))
        return ako_json_new_integer(lua_tointeger(L, index));
    lua_Number number = lua_tonumber(L, index);
    if (!isfinite(number))
        refuse(L, at, isnan(number) ? "NaN is not JSON" : "infinity is not JSON");
    return ako_json_new_real(number);
}

AKL_RAISES static ako_json *refuse_type(lua_State *L, int index, const place *at)
{
    const char *name = luaL_typename(L, index);
    const char *article = lua_type(L, index) == LUA_TNIL ? "" : "a ";
    refuse(L, at, lua_pushfstring(L, "%s%s is not JSON", article, name));
    return NULL;
}

/* Whether the table at `index` is an array: every key one of 1..n. Raises when only some are. */
static bool is_array(lua_State *L, int index, const place *at)
{
    lua_Integer keys = 0, integers = 0, n = (lua_Integer)lua_rawlen(L, index);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        keys++;
        integers += lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= n;
    }
    if (keys == 0)
        return is_marked_array(L, index);
    if (integers == 0 && n == 0)
        return false;
    if (integers != keys || integers != n)
        refuse(L, at, "an array with holes or names is not JSON");
    return true;
}

typedef struct key {
    const char *text;
    size_t size;
} key;

static int by_bytes(const void *left, const void *right)
{
    const key *a = left, *b = right;
    int order = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

/* [-0, +1, e] The keys in byte order, in a scratch userdata. They live as long as the table does not change. */
static key *push_sorted_keys(lua_State *L, int index, size_t *count, const place *at)
{
    size_t n = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            refuse(L, at, lua_pushfstring(L, "a key that is a %s is not JSON", luaL_typename(L, -2)));
        n++;
    }
    key *keys = lua_newuserdatauv(L, n * sizeof(key) + 1, 0);
    size_t i = 0;
    for (lua_pushnil(L); i < n && lua_next(L, index); lua_pop(L, 1), i++)
        keys[i].text = lua_tolstring(L, -2, &keys[i].size);
    lua_pop(L, 1);
    qsort(keys, n, sizeof(key), by_bytes);
    *count = n;
    return keys;
}

static ako_json *new_value(lua_State *L, int index, const place *at);
static void fill(lua_State *L, int index, ako_json *container, const place *at);

static void check_stored(lua_State *L, int status)
{
    if (status < 0)
        luaL_error(L, "%s", ako_error_last()->message);
}

static void fill_array(lua_State *L, int index, ako_json *array, const place *at)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, index);
    for (lua_Integer i = 1; i <= n; i++) {
        place here = {at, lua_topointer(L, index), NULL, i, at ? at->depth + 1 : 1};
        lua_rawgeti(L, index, i);
        ako_json *value = new_value(L, -1, &here);
        check_stored(L, ako_json_append(array, value));
        fill(L, lua_gettop(L), value, &here);
        lua_pop(L, 1);
    }
}

static void fill_object(lua_State *L, int index, ako_json *object, const place *at)
{
    size_t n;
    const key *keys = push_sorted_keys(L, index, &n, at);
    for (size_t i = 0; i < n; i++) {
        place here = {at, lua_topointer(L, index), keys[i].text, 0, at ? at->depth + 1 : 1};
        lua_pushlstring(L, keys[i].text, keys[i].size);
        lua_rawget(L, index);
        ako_json *value = new_value(L, -1, &here);
        check_stored(L, ako_json_set(object, keys[i].text, keys[i].size, value));
        fill(L, lua_gettop(L), value, &here);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* Puts what the table at `index` holds into its container; nothing to do for other values. */
static void fill(lua_State *L, int index, ako_json *container, const place *at)
{
    if (!lua_istable(L, index))
        return;
    if (ako_json_type_of(container) == AKO_JSON_ARRAY)
        fill_array(L, index, container, at);
    else
        fill_object(L, index, container, at);
}

static void check_nesting(lua_State *L, int index, const place *at)
{
    const void *table = lua_topointer(L, index);
    for (const place *p = at; p; p = p->parent)
        if (p->table == table)
            refuse(L, at, "a cycle is not JSON");
    if (at && at->depth > MAX_DEPTH)
        refuse(L, at, "nested too deeply for JSON");
    luaL_checkstack(L, 10, "JSON nested too deeply");
}

/* A new value for what is at `index`; a table gives its container, still empty. Nothing raises once it exists. */
static ako_json *new_value(lua_State *L, int index, const place *at)
{
    index = lua_absindex(L, index);
    ako_json *value = NULL;
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
        value = ako_json_new_bool(lua_toboolean(L, index));
        break;
    case LUA_TNUMBER:
        value = new_number(L, index, at);
        break;
    case LUA_TSTRING:
        value = new_string(L, index, at);
        break;
    case LUA_TTABLE:
        check_nesting(L, index, at);
        value = ako_json_new(is_array(L, index, at) ? AKO_JSON_ARRAY : AKO_JSON_OBJECT);
        break;
    default:
        value = akl_is_null(L, index) ? ako_json_new(AKO_JSON_NULL) : refuse_type(L, index, at);
    }
    if (!value)
        luaL_error(L, "out of memory");
    return value;
}

ako_json *akl_to_json(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    ako_json **slot = akl_json_slot(L);
    *slot = new_value(L, index, NULL);
    fill(L, index, *slot, NULL);
    return *slot;
}
