#include "reader.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

int ako_reader_init(ako_reader *out, const ako_json *object, const char *where)
{
    out->object = object;
    snprintf(out->where, sizeof out->where, "%s", where);
    return json_is_object(object) ? AKO_OK : ako_reader_fail(out, NULL, "expected an object");
}

int ako_reader_item(ako_reader *out, const ako_reader *parent, const char *key, const ako_json *list, size_t index)
{
    char where[sizeof out->where + 64];
    snprintf(where, sizeof where, "%s.%s[%zu]", parent->where, key, index);
    return ako_reader_init(out, json_array_get(list, index), where);
}

int ako_reader_fail(const ako_reader *reader, const char *key, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ako_fail(AKO_INVALID, "json", "%s%s%s: %s", reader->where, key ? "." : "", key ? key : "", text);
}

/* The member, or NULL with *status telling whether that is a failure. */
static const json_t *member(int *status, const ako_reader *reader, const char *key, ako_presence presence)
{
    const json_t *value = json_object_get(reader->object, key);
    *status = value || presence == AKO_OPTIONAL ? AKO_OK : ako_reader_fail(reader, key, "missing");
    return value;
}

int ako_read_string(const char **out, const ako_reader *reader, const char *key, ako_presence presence)
{
    int status;
    const json_t *value = member(&status, reader, key, presence);
    if (!value)
        return status;
    if (!json_is_string(value))
        return ako_reader_fail(reader, key, "expected a string");
    *out = json_string_value(value);
    return AKO_OK;
}

int ako_read_integer(int64_t *out, const ako_reader *reader, const char *key, int64_t low, int64_t high,
                     ako_presence presence)
{
    int status;
    const json_t *value = member(&status, reader, key, presence);
    if (!value)
        return status;
    if (!json_is_integer(value))
        return ako_reader_fail(reader, key, "expected an integer");
    int64_t number = json_integer_value(value);
    if (number < low || number > high)
        return ako_reader_fail(reader, key, "%lld is not within %lld and %lld", (long long)number, (long long)low,
                               (long long)high);
    *out = number;
    return AKO_OK;
}

int ako_read_real(double *out, const ako_reader *reader, const char *key, ako_presence presence)
{
    int status;
    const json_t *value = member(&status, reader, key, presence);
    if (!value)
        return status;
    if (!json_is_number(value))
        return ako_reader_fail(reader, key, "expected a number");
    *out = json_number_value(value);
    return AKO_OK;
}

int ako_read_bool(bool *out, const ako_reader *reader, const char *key, ako_presence presence)
{
    int status;
    const json_t *value = member(&status, reader, key, presence);
    if (!value)
        return status;
    if (!json_is_boolean(value))
        return ako_reader_fail(reader, key, "expected true or false");
    *out = json_is_true(value);
    return AKO_OK;
}

int ako_read_object(const ako_json **out, const ako_reader *reader, const char *key, ako_presence presence)
{
    int status;
    const json_t *value = member(&status, reader, key, presence);
    if (!value)
        return status;
    if (!json_is_object(value))
        return ako_reader_fail(reader, key, "expected an object");
    *out = value;
    return AKO_OK;
}

int ako_read_array(const ako_json **out, size_t *count, const ako_reader *reader, const char *key, size_t limit,
                   ako_presence presence)
{
    int status;
    *out = member(&status, reader, key, presence);
    *count = 0;
    if (!*out)
        return status;
    if (!json_is_array(*out))
        return ako_reader_fail(reader, key, "expected an array");
    *count = json_array_size(*out);
    if (*count > limit)
        return ako_reader_fail(reader, key, "%zu elements, at most %zu are possible", *count, limit);
    return AKO_OK;
}

int ako_read_strings(const char ***out, int *count, const ako_reader *reader, const char *key, size_t limit)
{
    const json_t *list;
    size_t n;
    *out = NULL;
    *count = 0;
    int status = ako_read_array(&list, &n, reader, key, limit, AKO_OPTIONAL);
    if (status != AKO_OK || n == 0)
        return status;
    const char **strings = malloc(n * sizeof *strings);
    if (!strings)
        return ako_fail(AKO_NOMEM, "json", "out of memory");
    for (size_t i = 0; i < n; i++) {
        strings[i] = json_string_value(json_array_get(list, i));
        if (!strings[i]) {
            free(strings);
            return ako_reader_fail(reader, key, "element %zu is no string", i);
        }
    }
    *out = strings;
    *count = (int)n;
    return AKO_OK;
}

int ako_read_text(char *out, size_t size, const ako_reader *reader, const char *key, ako_presence presence)
{
    const char *text = NULL;
    int status = ako_read_string(&text, reader, key, presence);
    if (status != AKO_OK || !text)
        return status;
    if (strlen(text) >= size)
        return ako_reader_fail(reader, key, "longer than %zu bytes", size - 1);
    snprintf(out, size, "%s", text);
    return AKO_OK;
}
