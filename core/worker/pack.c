#include "pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

static json_t *pack_ascii(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < size; i++)
        copy[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
    json_t *string = json_stringn(copy, size);
    free(copy);
    return string;
}

json_t *pack_text(const char *text, size_t size)
{
    json_t *string = json_stringn(text ? text : "", text ? size : 0);
    return string ? string : pack_ascii(text, size);
}

json_t *pack_real(double value)
{
    if (isfinite(value))
        return json_real(value);
    return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

int pack_into(json_t *object, json_t *members)
{
    int failed = !members || json_object_update(object, members) != 0;
    json_decref(members);
    return failed ? ako_fail(AKO_NOMEM, "worker", "out of memory for an answer") : AKO_OK;
}
