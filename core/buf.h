/* A growable byte string, always NUL-terminated behind its length. Zero-initialise it; free it with ako_buf_free.
 * A failed allocation sets `oom` and drops what was to be added, so that a chain of calls needs one check at its end.
 */
#ifndef AKO_BUF_H
#define AKO_BUF_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ako_buf {
    char *data;
    size_t size, capacity;
    bool oom;
} ako_buf;

void ako_buf_put(ako_buf *buf, const void *bytes, size_t n);
void ako_buf_puts(ako_buf *buf, const char *text);
void ako_buf_printf(ako_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *ako_buf_reserve(ako_buf *buf, size_t n); /* room for n more bytes behind size; NULL when out of memory */
void ako_buf_clear(ako_buf *buf);              /* keeps the memory */
void ako_buf_drop(ako_buf *buf, size_t n);     /* removes the first n bytes */
void ako_buf_free(ako_buf *buf);
char *ako_buf_take(ako_buf *buf); /* the string, now the caller's to free(); "" when empty; NULL after oom */

/* Bytes of the valid UTF-8 sequence (RFC 3629: shortest form, no surrogates) that starts at `text`, of which `size` > 0
 * bytes are there; 0 when there is none. */
size_t ako_utf8_length(const char *text, size_t size);

/* Makes one line of the text that JSON and terminals take: white space becomes ' ', other control characters and bytes
 * that are not valid UTF-8 become '?'. */
void ako_text_clean(char *text, size_t size);

#endif
