/* JSON, integer-exact (64-bit signed), over jansson. A value is jansson's own: core files that build or walk values
 * include <jansson.h> and use it directly; bindings use the walkers below and need no jansson header. */
#ifndef AKO_JSON_H
#define AKO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json_t ako_json;

typedef enum ako_json_type {
    AKO_JSON_NULL,
    AKO_JSON_BOOL,
    AKO_JSON_INTEGER,
    AKO_JSON_REAL,
    AKO_JSON_STRING,
    AKO_JSON_ARRAY,
    AKO_JSON_OBJECT
} ako_json_type;

/* Parses one value (any type at the top, no trailing text, duplicate keys refused, depth at most 2048).
 * *out is the caller's to free. Fails with AKO_INVALID and "line L column C: why". */
int ako_json_parse(ako_json **out, const char *text, size_t size);

/* Compact text on one line in insertion order; reals in as few digits as read back the same, and never like an
 * integer. *out is the caller's to free(). */
int ako_json_dump(char **out, const ako_json *value);

void ako_json_free(ako_json *value); /* gives one reference back; NULL is fine */

ako_json_type ako_json_type_of(const ako_json *value);
bool ako_json_bool(const ako_json *value);
int64_t ako_json_integer(const ako_json *value);
double ako_json_real(const ako_json *value);
const char *ako_json_string(const ako_json *value, size_t *size);
size_t ako_json_count(const ako_json *value);                          /* array elements or object members */
const ako_json *ako_json_at(const ako_json *array, size_t index);      /* borrowed; NULL past the end */
const ako_json *ako_json_get(const ako_json *object, const char *key); /* borrowed; NULL when absent */

/* Members in insertion order: start with NULL, NULL comes back after the last. */
void *ako_json_next(const ako_json *object, void *iterator);
const char *ako_json_key(void *iterator, size_t *size);
const ako_json *ako_json_value(void *iterator);

/* Builders; each returns a new value or NULL when out of memory (or, for a string, when it is not UTF-8; for a real,
 * when it is NaN or infinite). append and set take the value over, also when they fail with AKO_NOMEM. */
ako_json *ako_json_new(ako_json_type container_or_null); /* NULL, ARRAY or OBJECT */
ako_json *ako_json_new_bool(bool value);
ako_json *ako_json_new_integer(int64_t value);
ako_json *ako_json_new_real(double value);
ako_json *ako_json_new_string(const char *text, size_t size);
int ako_json_append(ako_json *array, ako_json *value);
int ako_json_set(ako_json *object, const char *key, size_t key_size, ako_json *value);

#endif
