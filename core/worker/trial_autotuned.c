/* What a solution's process says of the kernels that tune themselves at their first calls. These are its own words and
 * decide nothing; they are cut and cleaned before anybody keeps or shows them. */
#include <string.h>

#include "buf.h"
#include "error.h"
#include "trial.h"

#define ALL_BYTES 4096
#define STRING_BYTES 256
#define MOST_KERNELS 16 /* that are looked at: empty ones would take none of the bytes */

/* NULL for what is no string. */
static json_t *clean(const json_t *given, size_t *room)
{
    char text[STRING_BYTES];
    size_t size = json_string_length(given);
    if (!json_is_string(given))
        return NULL;
    size = size < sizeof text ? size : sizeof text;
    size = size < *room ? size : *room;
    memcpy(text, json_string_value(given), size);
    ako_text_clean(text, size);
    *room -= size;
    return json_stringn(text, size);
}

static void add_entry(json_t *list, const json_t *given, size_t *room)
{
    json_t *kernel = clean(json_object_get(given, "kernel"), room);
    json_t *key = clean(json_object_get(given, "key"), room);
    json_t *config = clean(json_object_get(given, "config"), room);
    if (kernel && config)
        json_array_append_new(list, json_pack("{s:O, s:O*, s:O}", "kernel", kernel, "key", key, "config", config));
    json_decref(kernel);
    json_decref(key);
    json_decref(config);
}

int trial_note_autotuned(trial *t, const json_t *told)
{
    size_t room = ALL_BYTES, n = json_array_size(told);
    if (n == 0)
        return AKO_OK;
    n = n < MOST_KERNELS ? n : MOST_KERNELS;
    json_t *list = json_array();
    for (size_t i = 0; list && i < n && room > 0; i++)
        add_entry(list, json_array_get(told, i), &room);
    return json_object_set_new(t->answer, "autotuned", list) == 0 ? AKO_OK
                                                                  : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
}
