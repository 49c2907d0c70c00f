/* ako.tensor over core/tensor.h and core/ops.h: tensor files, and elements as Lua numbers. Integers are exact; what a
 * dtype cannot hold is rounded and clamped to it as core/dtype.h says. */
#include "tensor.h"
#include "akl.h"
#include "ops.h"

#include <stdlib.h>
#include <string.h>

#define BOX_TYPE "ako.tensor.box"
#define MOST_ELEMENTS (1 << 24) /* in a Lua table */
#define DEFAULT_VALUES 1024

static int box_close(lua_State *L)
{
    ako_tensor_free(luaL_checkudata(L, 1, BOX_TYPE));
    return 0;
}

/* [-0, +1, e] A tensor that the collector frees. */
static ako_tensor *new_box(lua_State *L)
{
    akl_type(L, BOX_TYPE, NULL, NULL, box_close);
    return akl_new(L, sizeof(ako_tensor), BOX_TYPE);
}

static ako_dtype check_dtype(lua_State *L, int arg)
{
    ako_dtype dtype;
    if (ako_dtype_parse(&dtype, luaL_checkstring(L, arg)) != AKO_OK)
        luaL_argerror(L, arg, ako_error_last()->message);
    return dtype;
}

static int check_shape(lua_State *L, int arg, int64_t shape[AKO_TENSOR_DIMS])
{
    luaL_checktype(L, arg, LUA_TTABLE);
    lua_Integer ndim = luaL_len(L, arg);
    luaL_argcheck(L, ndim <= AKO_TENSOR_DIMS, arg, "too many dimensions");
    for (lua_Integer i = 0; i < ndim; i++) {
        int is_integer;
        lua_geti(L, arg, i + 1);
        shape[i] = lua_tointegerx(L, -1, &is_integer);
        luaL_argcheck(L, is_integer && shape[i] >= 0, arg, "a dimension is an integer from 0 on");
        lua_pop(L, 1);
    }
    return (int)ndim;
}

/* Stores the number (or boolean) on top of the stack; `i` is for the message. */
static void store_top(lua_State *L, ako_dtype dtype, void *base, size_t i)
{
    bool wide_integer = ako_dtype_size(dtype) == 8 && ako_dtype_kind(dtype) != 'f';
    if (lua_isboolean(L, -1)) {
        ako_dtype_store(dtype, base, i, lua_toboolean(L, -1));
        return;
    }
    if (lua_type(L, -1) != LUA_TNUMBER)
        luaL_error(L, "element %d is a %s, not a number", (int)i + 1, luaL_typename(L, -1));
    if (wide_integer && lua_isinteger(L, -1)) {
        lua_Integer value = lua_tointeger(L, -1);
        ako_dtype_store_bits(dtype, base, i, value < 0 && dtype == AKO_U64 ? 0 : (uint64_t)value);
    } else {
        ako_dtype_store(dtype, base, i, lua_tonumber(L, -1));
    }
}

/* [-0, +1, e] u64 beyond the integers of Lua becomes a float. */
static void push_element(lua_State *L, ako_dtype dtype, const void *base, size_t i)
{
    uint64_t bits = ako_dtype_load_bits(dtype, base, i);
    if (ako_dtype_kind(dtype) == 'f' || (dtype == AKO_U64 && bits > INT64_MAX))
        lua_pushnumber(L, ako_dtype_load(dtype, base, i));
    else
        lua_pushinteger(L, ako_dtype_kind(dtype) == 'i' ? ako_extend_integer(dtype, bits) : (lua_Integer)bits);
}

/* [-0, +1, e] */
static void push_elements(lua_State *L, ako_dtype dtype, const void *base, size_t n)
{
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        push_element(L, dtype, base, i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* [-0, +1, e] A buffer of n elements, which the collector frees. */
static void *new_elements(lua_State *L, ako_dtype dtype, size_t n)
{
    return lua_newuserdatauv(L, n * ako_dtype_size(dtype) + 1, 0);
}

static size_t check_count(lua_State *L, int arg)
{
    luaL_checktype(L, arg, LUA_TTABLE);
    lua_Integer n = luaL_len(L, arg);
    luaL_argcheck(L, n >= 0 && n <= MOST_ELEMENTS, arg, "too many elements for a table");
    return (size_t)n;
}

static void store_table(lua_State *L, int arg, ako_dtype dtype, void *base, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        lua_geti(L, arg, (lua_Integer)i + 1);
        store_top(L, dtype, base, i);
        lua_pop(L, 1);
    }
}

/* [-0, +1, e] { dtype, shape, bytes } */
static void push_description(lua_State *L, const ako_tensor *tensor)
{
    lua_createtable(L, 0, 4);
    lua_pushstring(L, ako_dtype_name(tensor->dtype));
    lua_setfield(L, -2, "dtype");
    lua_pushinteger(L, (lua_Integer)tensor->bytes);
    lua_setfield(L, -2, "bytes");
    lua_createtable(L, tensor->ndim, 0);
    for (int i = 0; i < tensor->ndim; i++) {
        lua_pushinteger(L, tensor->shape[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "shape");
}

/* read(path[, member[, n]]): { dtype, shape, bytes, values }, the first n elements (1024). */
static int tensor_read(lua_State *L)
{
    const char *path = akl_check_path(L, 1), *member = luaL_optstring(L, 2, NULL);
    lua_Integer most = luaL_optinteger(L, 3, DEFAULT_VALUES);
    luaL_argcheck(L, most >= 0 && most <= MOST_ELEMENTS, 3, "not a number of elements for a table");
    ako_tensor *tensor = new_box(L);
    akl_clock_stop(L);
    int status = ako_tensor_file_read(tensor, path, member);
    akl_clock_start(L);
    if (status != AKO_OK)
        return akl_fail(L);
    uint64_t n = tensor->bytes / ako_dtype_size(tensor->dtype);
    push_description(L, tensor);
    push_elements(L, tensor->dtype, tensor->data, n < (uint64_t)most ? (size_t)n : (size_t)most);
    lua_setfield(L, -2, "values");
    return 1;
}

/* describe(path, format, member, dtype, shape): { dtype, shape, bytes } without reading the elements; dtype and shape
 * are those of a raw file, which does not know its own. */
static int tensor_describe(lua_State *L)
{
    ako_tensor tensor;
    ako_tensor_format format;
    int status;
    const char *path = akl_check_path(L, 1), *member = luaL_optstring(L, 3, NULL);
    if (ako_tensor_format_parse(&format, luaL_checkstring(L, 2)) != AKO_OK)
        return luaL_argerror(L, 2, ako_error_last()->message);
    if (format == AKO_TENSOR_RAW) {
        int64_t shape[AKO_TENSOR_DIMS];
        ako_dtype dtype = check_dtype(L, 4);
        status = ako_tensor_raw_describe(&tensor, path, dtype, shape, check_shape(L, 5, shape));
    } else {
        status = ako_tensor_file_describe(&tensor, path, format, member);
    }
    if (status != AKO_OK)
        return akl_fail(L);
    push_description(L, &tensor);
    return 1;
}

/* write(path, dtype, shape, values[, member]): the format is that of the name's end. */
static int tensor_write(lua_State *L)
{
    int64_t shape[AKO_TENSOR_DIMS];
    ako_tensor tensor;
    const char *path = akl_check_path(L, 1);
    ako_dtype dtype = check_dtype(L, 2);
    int ndim = check_shape(L, 3, shape);
    size_t n = check_count(L, 4);
    const ako_tensor_member member = {luaL_optstring(L, 5, "arr_0"), &tensor};
    if (ako_tensor_describe(&tensor, dtype, shape, ndim) != AKO_OK)
        return luaL_argerror(L, 3, ako_error_last()->message);
    luaL_argcheck(L, tensor.bytes == n * ako_dtype_size(dtype), 4, "the shape has another number of elements");
    tensor.data = new_elements(L, dtype, n);
    store_table(L, 4, dtype, tensor.data, n);
    akl_clock_stop(L);
    int status = ako_tensor_file_write(path, &member, 1);
    akl_clock_start(L);
    return akl_result(L, status);
}

/* convert(dtype, value): the bits of the value rounded to the dtype, and what they stand for. */
static int tensor_convert(lua_State *L)
{
    uint64_t bits = 0;
    ako_dtype dtype = check_dtype(L, 1);
    luaL_checkany(L, 2);
    lua_settop(L, 2);
    store_top(L, dtype, &bits, 0);
    lua_pushinteger(L, (lua_Integer)bits);
    push_element(L, dtype, &bits, 0);
    return 2;
}

static double number_field(lua_State *L, int arg, const char *name, double otherwise)
{
    lua_getfield(L, arg, name);
    double value = lua_isnil(L, -1) ? otherwise : lua_tonumber(L, -1);
    if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TNUMBER)
        luaL_error(L, "%s is a %s, not a number", name, luaL_typename(L, -1));
    lua_pop(L, 1);
    return value;
}

static lua_Integer integer_field(lua_State *L, int arg, const char *name)
{
    int is_integer = 1;
    lua_getfield(L, arg, name);
    lua_Integer value = lua_isnil(L, -1) ? 0 : lua_tointegerx(L, -1, &is_integer);
    if (!is_integer)
        luaL_error(L, "%s is not an integer", name);
    lua_pop(L, 1);
    return value;
}

static ako_fill check_fill(lua_State *L, int arg)
{
    static const char *const kinds[] = {"normal", "uniform", "constant", "arange", NULL};
    luaL_checktype(L, arg, LUA_TTABLE);
    lua_getfield(L, arg, "kind");
    ako_fill fill = {.kind = (ako_fill_kind)luaL_checkoption(L, lua_gettop(L), "normal", kinds)};
    lua_pop(L, 1);
    fill.a = number_field(L, arg, "a", 0);
    fill.b = number_field(L, arg, "b", 1);
    fill.seed = (uint64_t)integer_field(L, arg, "seed");
    fill.stream = (uint32_t)integer_field(L, arg, "stream");
    return fill;
}

/* fill(dtype, count, { kind, a, b, seed, stream }): the elements that a tensor so initialised begins with. */
static int tensor_fill(lua_State *L)
{
    ako_dtype dtype = check_dtype(L, 1);
    lua_Integer n = luaL_checkinteger(L, 2);
    luaL_argcheck(L, n >= 0 && n <= MOST_ELEMENTS, 2, "not a number of elements for a table");
    const ako_fill fill = check_fill(L, 3);
    void *elements = new_elements(L, dtype, (size_t)n);
    ako_ops *ops;
    int status = ako_ops_new(&ops, AKO_CPU);
    if (status != AKO_OK)
        return akl_fail(L);
    status = ako_ops_fill(ops, elements, dtype, (size_t)n, &fill);
    ako_ops_free(ops);
    if (status != AKO_OK)
        return luaL_error(L, "%s", ako_error_last()->message);
    push_elements(L, dtype, elements, (size_t)n);
    return 1;
}

static bool flag_field(lua_State *L, int arg, const char *name)
{
    lua_getfield(L, arg, name);
    bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

static ako_tolerance check_tolerance(lua_State *L, int arg)
{
    ako_tolerance t = {.predicate = AKO_ALLCLOSE_REF};
    luaL_checktype(L, arg, LUA_TTABLE);
    lua_getfield(L, arg, "predicate");
    if (!lua_isnil(L, -1) && ako_predicate_parse(&t.predicate, luaL_checkstring(L, -1)) != AKO_OK)
        luaL_argerror(L, arg, ako_error_last()->message);
    lua_pop(L, 1);
    t.atol = number_field(L, arg, "atol", 0);
    t.rtol = number_field(L, arg, "rtol", 0);
    t.ratio_required = number_field(L, arg, "ratio", 1);
    t.cap = number_field(L, arg, "cap", 0);
    t.equal_nan = flag_field(L, arg, "equal_nan");
    t.equal_inf = flag_field(L, arg, "equal_inf");
    return t;
}

static void set_boolean(lua_State *L, const char *name, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, name);
}

static void push_comparison(lua_State *L, const ako_comparison *c)
{
    lua_createtable(L, 0, 12);
    set_boolean(L, "passed", c->passed);
    set_boolean(L, "all_zero", c->all_zero);
    akl_set_integer(L, "count", (int64_t)c->count);
    akl_set_integer(L, "mismatch", (int64_t)c->mismatches);
    akl_set_number(L, "ratio", c->ratio);
    akl_set_number(L, "max_abs", c->max_abs);
    akl_set_number(L, "max_rel", c->max_rel);
    akl_set_integer(L, "nan_got", (int64_t)c->nan_got);
    akl_set_integer(L, "nan_expected", (int64_t)c->nan_expected);
    akl_set_integer(L, "inf_got", (int64_t)c->inf_got);
    akl_set_integer(L, "inf_expected", (int64_t)c->inf_expected);
    lua_createtable(L, c->n_first, 0);
    for (int i = 0; i < c->n_first; i++) {
        lua_createtable(L, 0, 3);
        akl_set_integer(L, "index", (int64_t)c->first[i].index);
        akl_set_number(L, "expected", c->first[i].expected);
        akl_set_number(L, "got", c->first[i].got);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "first");
}

/* compare(dtype, got, expected, tolerance): what a trial says of an output; `first` counts its indices from 0. */
static int tensor_compare(lua_State *L)
{
    ako_comparison comparison;
    ako_ops *ops;
    ako_dtype dtype = check_dtype(L, 1);
    size_t n = check_count(L, 2);
    luaL_argcheck(L, check_count(L, 3) == n, 3, "it has another number of elements");
    const ako_tolerance tolerance = check_tolerance(L, 4);
    void *got = new_elements(L, dtype, n), *expected = new_elements(L, dtype, n);
    store_table(L, 2, dtype, got, n);
    store_table(L, 3, dtype, expected, n);
    if (ako_ops_new(&ops, AKO_CPU) != AKO_OK)
        return akl_fail(L);
    int status = ako_ops_compare(ops, &comparison, got, expected, dtype, n, &tolerance);
    ako_ops_free(ops);
    if (status != AKO_OK)
        return luaL_error(L, "%s", ako_error_last()->message);
    push_comparison(L, &comparison);
    return 1;
}

static const luaL_Reg functions[] = {
    {"read", tensor_read},
    {"describe", tensor_describe},
    {"write", tensor_write},
    {"convert", tensor_convert},
    {"fill", tensor_fill},
    {"compare", tensor_compare},
    {NULL, NULL},
};

int luaopen_ako_tensor(lua_State *L);

int luaopen_ako_tensor(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
