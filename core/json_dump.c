/* JSON to text. jansson writes a real with a fixed number of digits, 0.1 as 0.10000000000000001; here each has as few
 * as it needs. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "error.h"
#include "json.h"

static void put_char(ako_buf *out, unsigned char c)
{
    static const char short_escapes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *at = c ? strchr(short_escapes, c) : NULL;
    if (at)
        ako_buf_printf(out, "\\%c", letters[at - short_escapes]);
    else
        ako_buf_printf(out, "\\u%04x", c);
}

static void put_string(ako_buf *out, const char *text, size_t size)
{
    ako_buf_put(out, "\"", 1);
    size_t done = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        ako_buf_put(out, text + done, i - done);
        put_char(out, c);
        done = i + 1;
    }
    ako_buf_put(out, text + done, size - done);
    ako_buf_put(out, "\"", 1);
}

/* The fewest digits, from 15, that read back as the same number (17 always do); never like an integer. */
static void put_real(ako_buf *out, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (char *p = text; *p; p++)
        if (*p == ',') /* a program that libako is loaded into may have set such a locale */
            *p = '.';
    ako_buf_puts(out, text);
    if (!strpbrk(text, ".e"))
        ako_buf_puts(out, ".0");
}

static void put_value(ako_buf *out, const json_t *value);

static void put_array(ako_buf *out, const json_t *array)
{
    ako_buf_put(out, "[", 1);
    for (size_t i = 0; i < json_array_size(array); i++) {
        ako_buf_put(out, ",", i > 0);
        put_value(out, json_array_get(array, i));
    }
    ako_buf_put(out, "]", 1);
}

static void put_object(ako_buf *out, const json_t *object)
{
    ako_buf_put(out, "{", 1);
    bool first = true;
    for (void *i = ako_json_next(object, NULL); i; i = ako_json_next(object, i)) {
        size_t size;
        const char *key = ako_json_key(i, &size);
        ako_buf_put(out, ",", !first);
        put_string(out, key, size);
        ako_buf_put(out, ":", 1);
        put_value(out, ako_json_value(i));
        first = false;
    }
    ako_buf_put(out, "}", 1);
}

static void put_value(ako_buf *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        put_object(out, value);
        break;
    case JSON_ARRAY:
        put_array(out, value);
        break;
    case JSON_STRING:
        put_string(out, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        ako_buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        put_real(out, json_real_value(value));
        break;
    case JSON_TRUE:
        ako_buf_puts(out, "true");
        break;
    case JSON_FALSE:
        ako_buf_puts(out, "false");
        break;
    case JSON_NULL:
        ako_buf_puts(out, "null");
        break;
    }
}

int ako_json_dump(char **out, const ako_json *value)
{
    ako_buf text = {0};
    put_value(&text, value);
    *out = ako_buf_take(&text);
    return *out ? AKO_OK : ako_fail(AKO_NOMEM, "json", "out of memory");
}
