/* Members of a JSON object, checked as they are read; messages name the place: "task.tensors[1].dtype: ...".
 * Every getter leaves *out alone when the member is absent and not required, and fails with AKO_INVALID. */
#ifndef AKO_READER_H
#define AKO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

typedef struct ako_reader {
    const ako_json *object; /* borrowed */
    char where[200];        /* "task.tensors[1]" */
} ako_reader;

typedef enum ako_presence { AKO_OPTIONAL, AKO_REQUIRED } ako_presence;

/* A reader on `object`, which must be an object, called `where` in messages. */
int ako_reader_init(ako_reader *out, const ako_json *object, const char *where);

/* A reader on element `index` of the array `list` that `parent` has under `key`. */
int ako_reader_item(ako_reader *out, const ako_reader *parent, const char *key, const ako_json *list, size_t index);

/* "where.key: message", AKO_INVALID; `key` may be NULL. */
int ako_reader_fail(const ako_reader *reader, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int ako_read_string(const char **out, const ako_reader *reader, const char *key, ako_presence presence);
int ako_read_integer(int64_t *out, const ako_reader *reader, const char *key, int64_t low, int64_t high,
                     ako_presence presence);
int ako_read_real(double *out, const ako_reader *reader, const char *key, ako_presence presence);
int ako_read_bool(bool *out, const ako_reader *reader, const char *key, ako_presence presence);
int ako_read_object(const ako_json **out, const ako_reader *reader, const char *key, ako_presence presence);

/* An array of at most `limit` elements; an absent optional one gives *out NULL, *count 0. */
int ako_read_array(const ako_json **out, size_t *count, const ako_reader *reader, const char *key, size_t limit,
                   ako_presence presence);

/* An array of strings, borrowed from the JSON; the caller frees the vector. */
int ako_read_strings(const char ***out, int *count, const ako_reader *reader, const char *key, size_t limit);

/* A string that fits into `out` of `size` bytes, its end included. */
int ako_read_text(char *out, size_t size, const ako_reader *reader, const char *key, ako_presence presence);

#endif
