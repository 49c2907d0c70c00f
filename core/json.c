#include "json.h"

#include <jansson.h>
#include <stdlib.h>

#include "error.h"

int ako_json_parse(ako_json **out, const char *text, size_t size)
{
    json_error_t error;
    *out = json_loadb(text, size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!*out)
        return ako_fail(AKO_INVALID, "json", "line %d column %d: %s", error.line, error.column, error.text);
    return AKO_OK;
}

void ako_json_free(ako_json *value)
{
    json_decref(value);
}

ako_json_type ako_json_type_of(const ako_json *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return AKO_JSON_OBJECT;
    case JSON_ARRAY:
        return AKO_JSON_ARRAY;
    case JSON_STRING:
        return AKO_JSON_STRING;
    case JSON_INTEGER:
        return AKO_JSON_INTEGER;
    case JSON_REAL:
        return AKO_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return AKO_JSON_BOOL;
    case JSON_NULL:
    default:
        return AKO_JSON_NULL;
    }
}

bool ako_json_bool(const ako_json *value)
{
    return json_is_true(value);
}

int64_t ako_json_integer(const ako_json *value)
{
    return json_integer_value(value);
}

double ako_json_real(const ako_json *value)
{
    return json_number_value(value);
}

const char *ako_json_string(const ako_json *value, size_t *size)
{
    if (size)
        *size = json_string_length(value);
    return json_string_value(value);
}

size_t ako_json_count(const ako_json *value)
{
    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}

const ako_json *ako_json_at(const ako_json *array, size_t index)
{
    return json_array_get(array, index);
}

const ako_json *ako_json_get(const ako_json *object, const char *key)
{
    return json_object_get(object, key);
}

/* jansson's iterators are not const-correct; they do not change the object. */
static json_t *mutable_object(const ako_json *object)
{
    union {
        const json_t *in;
        json_t *out;
    } u = {.in = object};
    return u.out;
}

void *ako_json_next(const ako_json *object, void *iterator)
{
    json_t *o = mutable_object(object);
    return iterator ? json_object_iter_next(o, iterator) : json_object_iter(o);
}

const char *ako_json_key(void *iterator, size_t *size)
{
    if (size)
        *size = json_object_iter_key_len(iterator);
    return json_object_iter_key(iterator);
}

const ako_json *ako_json_value(void *iterator)
{
    return json_object_iter_value(iterator);
}

ako_json *ako_json_new(ako_json_type type)
{
    return type == AKO_JSON_OBJECT ? json_object() : type == AKO_JSON_ARRAY ? json_array() : json_null();
}

ako_json *ako_json_new_bool(bool value)
{
    return json_boolean(value);
}

ako_json *ako_json_new_integer(int64_t value)
{
    return json_integer(value);
}

ako_json *ako_json_new_real(double value)
{
    return json_real(value);
}

ako_json *ako_json_new_string(const char *text, size_t size)
{
    return json_stringn(text, size);
}

int ako_json_append(ako_json *array, ako_json *value)
{
    return json_array_append_new(array, value) == 0 ? AKO_OK : ako_fail(AKO_NOMEM, "json", "out of memory");
}

int ako_json_set(ako_json *object, const char *key, size_t key_size, ako_json *value)
{
    if (json_object_setn_new(object, key, key_size, value) != 0)
        return ako_fail(AKO_INVALID, "json", "cannot set a member (a key that is not UTF-8, or out of memory)");
    return AKO_OK;
}
