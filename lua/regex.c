/* ako.regex over core/regex.h: new, and match, find, captures, gmatch, gsub, split of what it gives.
 *
 * A handle owns its regex. Matches are made one at a time and turned into Lua values before anything of Lua's runs, so
 * no error crosses PCRE2. A pattern that goes over its limits raises, here as in all of Lua's own string functions:
 * taken for "no match" it would let pass what somebody looked for. */
#include <string.h>

#include "akl.h"
#include "buf.h"
#include "regex.h"

#define TYPE "ako.regex"

typedef struct handle {
    ako_regex *regex; /* NULL when closed */
} handle;

static ako_regex *check_regex(lua_State *L, int arg)
{
    handle *h = luaL_checkudata(L, arg, TYPE);
    luaL_argcheck(L, h->regex, arg, "the regex is closed");
    return h->regex;
}

/* True for a match, false for none; anything else raises. */
static bool found(lua_State *L, int status)
{
    if (status != AKO_OK && status != AKO_NOTFOUND)
        luaL_error(L, "%s", ako_error_last()->message);
    return status == AKO_OK;
}

/* The 0-based start of a search: argument `arg` counted as string.find does. Behind the end: size + 1, no match. */
static size_t check_start(lua_State *L, int arg, size_t size)
{
    lua_Integer at = luaL_optinteger(L, arg, 1);
    if (at > 0)
        return (size_t)at - 1 > size ? size + 1 : (size_t)at - 1;
    return at == 0 || at < -(lua_Integer)size ? 0 : size - (size_t)-at;
}

/* ---- what a match is in Lua ---- */

/* [-0, +1, e] A group's text; false when it took no part. */
static void push_group(lua_State *L, const ako_regex *regex, const char *text, int group)
{
    ako_span span = ako_regex_span(regex, group);
    if (span.start == AKO_REGEX_UNSET)
        lua_pushboolean(L, 0);
    else
        lua_pushlstring(L, text + span.start, span.end - span.start);
}

/* [-0, +n, e] All groups from 1; the whole match when there are none and `whole`. */
static int push_groups(lua_State *L, const ako_regex *regex, const char *text, bool whole)
{
    int n = ako_regex_group_count(regex);
    if (n == 0 && whole) {
        push_group(L, regex, text, 0);
        return 1;
    }
    luaL_checkstack(L, n, "too many groups");
    for (int i = 1; i <= n; i++)
        push_group(L, regex, text, i);
    return n;
}

/* ---- methods ---- */

/* re:match(text[, start]): the groups, or the whole match when there are none; nil when there is no match. */
static int regex_match(lua_State *L)
{
    ako_regex *regex = check_regex(L, 1);
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);
    if (!found(L, ako_regex_find(regex, text, size, check_start(L, 3, size))))
        return lua_pushnil(L), 1;
    return push_groups(L, regex, text, true);
}

/* re:find(text[, start]): first and last byte of the match, then the groups; nil when there is no match. */
static int regex_find(lua_State *L)
{
    ako_regex *regex = check_regex(L, 1);
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);
    if (!found(L, ako_regex_find(regex, text, size, check_start(L, 3, size))))
        return lua_pushnil(L), 1;
    ako_span whole = ako_regex_span(regex, 0);
    lua_pushinteger(L, (lua_Integer)whole.start + 1);
    lua_pushinteger(L, (lua_Integer)whole.end);
    return 2 + push_groups(L, regex, text, false);
}

/* re:captures(text[, start]): a table with the whole match at 0 and the groups at their numbers and names; or nil. */
static int regex_captures(lua_State *L)
{
    ako_regex *regex = check_regex(L, 1);
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);
    if (!found(L, ako_regex_find(regex, text, size, check_start(L, 3, size))))
        return lua_pushnil(L), 1;
    lua_newtable(L);
    for (int i = 0; i <= ako_regex_group_count(regex); i++) {
        push_group(L, regex, text, i);
        const char *name = ako_regex_group_name(regex, i);
        if (name) {
            lua_pushvalue(L, -1);
            lua_setfield(L, -3, name);
        }
        lua_rawseti(L, -2, i);
    }
    return 1;
}

/* upvalues: the regex, the text, the cursor */
static int gmatch_next(lua_State *L)
{
    ako_regex *regex = check_regex(L, lua_upvalueindex(1));
    size_t size;
    const char *text = lua_tolstring(L, lua_upvalueindex(2), &size);
    ako_regex_cursor *cursor = lua_touserdata(L, lua_upvalueindex(3));
    if (!found(L, ako_regex_next(regex, text, size, cursor)))
        return lua_pushnil(L), 1;
    return push_groups(L, regex, text, true);
}

/* re:gmatch(text): an iterator over what match gives. */
static int regex_gmatch(lua_State *L)
{
    check_regex(L, 1);
    luaL_checkstring(L, 2);
    lua_settop(L, 2);
    ako_regex_cursor *cursor = lua_newuserdatauv(L, sizeof *cursor, 0);
    *cursor = (ako_regex_cursor){0};
    lua_pushcclosure(L, gmatch_next, 3);
    return 1;
}

/* Adds what the function or table at index 3 makes of the match; false and nil keep the matched text. */
static void add_value(lua_State *L, ako_buf *out, const ako_regex *regex, const char *text)
{
    ako_span whole = ako_regex_span(regex, 0);
    if (lua_istable(L, 3)) {
        push_group(L, regex, text, ako_regex_group_count(regex) > 0);
        lua_gettable(L, 3);
    } else {
        lua_pushvalue(L, 3);
        lua_call(L, push_groups(L, regex, text, true), 1);
    }
    size_t size = whole.end - whole.start;
    const char *value = text + whole.start;
    if (lua_toboolean(L, -1)) {
        if (!lua_isstring(L, -1))
            luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
        value = lua_tolstring(L, -1, &size);
    }
    ako_buf_put(out, value, size);
    lua_pop(L, 1);
}

static void add_replacement(lua_State *L, ako_buf *out, const ako_regex *regex, const char *text)
{
    size_t size;
    if (lua_type(L, 3) != LUA_TSTRING)
        add_value(L, out, regex, text);
    else {
        const char *template = lua_tolstring(L, 3, &size);
        found(L, ako_regex_expand(out, regex, text, template, size));
    }
    if (out->oom)
        luaL_error(L, "out of memory");
}

static void check_replacement(lua_State *L, const ako_regex *regex)
{
    int type = lua_type(L, 3);
    luaL_argexpected(L, type == LUA_TSTRING || type == LUA_TTABLE || type == LUA_TFUNCTION, 3,
                     "string, table or function");
    size_t size;
    const char *template = type == LUA_TSTRING ? lua_tolstring(L, 3, &size) : NULL;
    if (template && ako_regex_expand(akl_buf(L), regex, NULL, template, size) != AKO_OK)
        luaL_argerror(L, 3, ako_error_last()->message);
}

/* re:gsub(text, replacement[, max]): the new text and the number of matches. A string has $1, ${name}, $$; a table is
 * asked for the first group; a function is called with the groups. */
static int regex_gsub(lua_State *L)
{
    ako_regex *regex = check_regex(L, 1);
    size_t size, done = 0;
    const char *text = luaL_checklstring(L, 2, &size);
    lua_Integer count = 0, max = luaL_optinteger(L, 4, LUA_MAXINTEGER);
    check_replacement(L, regex);
    ako_buf *out = akl_buf(L);
    ako_regex_cursor cursor = {0};
    while (count < max && found(L, ako_regex_next(check_regex(L, 1), text, size, &cursor))) {
        ako_span whole = ako_regex_span(regex, 0);
        ako_buf_put(out, text + done, whole.start - done);
        add_replacement(L, out, regex, text);
        done = whole.end;
        count++;
    }
    ako_buf_put(out, text + done, size - done);
    if (out->oom)
        return luaL_error(L, "out of memory");
    lua_pushlstring(L, out->data, out->size);
    lua_pushinteger(L, count);
    return 2;
}

/* re:split(text[, max]): the pieces between matches, at most `max`. An empty match separates two bytes, and cuts
 * nothing off at the ends. */
static int regex_split(lua_State *L)
{
    ako_regex *regex = check_regex(L, 1);
    size_t size, done = 0;
    const char *text = luaL_checklstring(L, 2, &size);
    lua_Integer pieces = 0, max = luaL_optinteger(L, 3, LUA_MAXINTEGER);
    ako_regex_cursor cursor = {0};
    lua_newtable(L);
    while (pieces + 1 < max && found(L, ako_regex_next(regex, text, size, &cursor))) {
        ako_span whole = ako_regex_span(regex, 0);
        if (whole.start == whole.end && (whole.start == done || whole.start == size))
            continue;
        lua_pushlstring(L, text + done, whole.start - done);
        lua_rawseti(L, -2, ++pieces);
        done = whole.end;
    }
    lua_pushlstring(L, text + done, size - done);
    lua_rawseti(L, -2, ++pieces);
    return 1;
}

static int regex_close(lua_State *L)
{
    handle *h = luaL_checkudata(L, 1, TYPE);
    ako_regex_free(h->regex);
    h->regex = NULL;
    return 0;
}

static int regex_tostring(lua_State *L)
{
    const handle *h = luaL_checkudata(L, 1, TYPE);
    lua_getiuservalue(L, 1, 1);
    lua_pushfstring(L, h->regex ? "ako.regex (%s)" : "ako.regex (closed)", luaL_optstring(L, -1, ""));
    return 1;
}

/* ---- the module ---- */

static uint32_t check_limit(lua_State *L, const char *name, uint32_t otherwise)
{
    lua_getfield(L, 3, name);
    lua_Integer value = luaL_optinteger(L, -1, otherwise);
    lua_pop(L, 1);
    if (value < 1 || value > UINT32_MAX)
        luaL_argerror(L, 3, lua_pushfstring(L, "limit %s is out of range", name));
    return (uint32_t)value;
}

/* regex.new(pattern[, flags[, limits]]): flags out of "imsxul"; limits { match, depth, heap_kib }, as regex.limits
 * where absent. A fault in the pattern raises, with its offset. */
static int regex_new(lua_State *L)
{
    size_t size;
    const char *pattern = luaL_checklstring(L, 1, &size);
    const char *letters = luaL_optstring(L, 2, "");
    ako_regex_limits limits = ako_regex_default_limits;
    if (!lua_isnoneornil(L, 3)) {
        luaL_checktype(L, 3, LUA_TTABLE);
        limits.match = check_limit(L, "match", limits.match);
        limits.depth = check_limit(L, "depth", limits.depth);
        limits.heap_kib = check_limit(L, "heap_kib", limits.heap_kib);
    }
    unsigned flags;
    if (ako_regex_parse_flags(&flags, letters) != AKO_OK)
        return luaL_argerror(L, 2, ako_error_last()->message);
    handle *h = akl_new(L, sizeof *h, TYPE);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    if (ako_regex_new(&h->regex, pattern, size, flags, &limits) != AKO_OK)
        return luaL_argerror(L, 1, ako_error_last()->message);
    return 1;
}

static const luaL_Reg methods[] = {
    {"match", regex_match},
    {"find", regex_find},
    {"captures", regex_captures},
    {"gmatch", regex_gmatch},
    {"gsub", regex_gsub},
    {"split", regex_split},
    {NULL, NULL},
};

static const luaL_Reg meta[] = {{"__tostring", regex_tostring}, {NULL, NULL}};
static const luaL_Reg functions[] = {{"new", regex_new}, {NULL, NULL}};

static void push_limits(lua_State *L)
{
    const ako_regex_limits *limits = &ako_regex_default_limits;
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, limits->match);
    lua_setfield(L, -2, "match");
    lua_pushinteger(L, limits->depth);
    lua_setfield(L, -2, "depth");
    lua_pushinteger(L, limits->heap_kib);
    lua_setfield(L, -2, "heap_kib");
}

int luaopen_ako_regex(lua_State *L);

int luaopen_ako_regex(lua_State *L)
{
    akl_type(L, TYPE, methods, meta, regex_close);
    luaL_newlib(L, functions);
    push_limits(L);
    lua_setfield(L, -2, "limits");
    return 1;
}
