/* Regular expressions over bytes: PCRE2 with its JIT, and with limits, so that no pattern and text can hang the caller.
 */
#ifndef AKO_REGEX_H
#define AKO_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

typedef struct ako_regex ako_regex;

enum {
    AKO_REGEX_CASELESS = 1,  /* i */
    AKO_REGEX_MULTILINE = 2, /* m: ^ and $ also match at line ends */
    AKO_REGEX_DOTALL = 4,    /* s: . matches a newline too */
    AKO_REGEX_EXTENDED = 8,  /* x: white space and # comments in the pattern are ignored */
    AKO_REGEX_UTF = 16,      /* u: pattern and text are UTF-8; invalid text matches nothing. Without it: bytes */
    AKO_REGEX_LITERAL = 32   /* l: the pattern is plain text */
};

/* What one search may use. The match limit counts backtracking steps from one starting position (about 3 ns each with
 * the JIT, 15 ns without); depth counts nested backtracking points and heap is their memory, both without the JIT,
 * which has 8 MiB for them. */
typedef struct ako_regex_limits {
    uint32_t match, depth, heap_kib;
} ako_regex_limits;

extern const ako_regex_limits ako_regex_default_limits;

/* A part of the text: bytes [start, end), counted from 0. A group that took no part has start == AKO_REGEX_UNSET. */
typedef struct ako_span {
    size_t start, end;
} ako_span;
#define AKO_REGEX_UNSET (~(size_t)0)

/* Letters as above ("im") to flags; AKO_INVALID names the letter that is none. */
int ako_regex_parse_flags(unsigned *out, const char *letters);

/* Compiles a pattern; `limits` may be NULL for the default. AKO_INVALID gives the reason and the offset in the
 * pattern. Where the JIT is not available the pattern is interpreted. */
int ako_regex_new(ako_regex **out, const char *pattern, size_t size, unsigned flags, const ako_regex_limits *limits);
void ako_regex_free(ako_regex *regex); /* NULL is fine */

int ako_regex_group_count(const ako_regex *regex);               /* without group 0, the whole match */
const char *ako_regex_group_name(const ako_regex *regex, int i); /* NULL when group i has none */

/* Looks for the first match at or behind byte `from`; what is before it is still seen by lookbehind and \b.
 * AKO_OK, AKO_NOTFOUND (leaves no message behind), AKO_LIMIT, AKO_INVALID. */
int ako_regex_find(ako_regex *regex, const char *text, size_t size, size_t from);

/* Where the group was in the last successful search of this regex; unset for a number that is no group. */
ako_span ako_regex_span(const ako_regex *regex, int group);

/* Goes over all matches: zero-initialise the cursor and call until AKO_NOTFOUND. After a match that was empty the next
 * one is not empty at the same place, so the walk always ends; statuses as ako_regex_find. Other searches with the
 * same regex between two calls are fine: all of the state is in the cursor. */
typedef struct ako_regex_cursor {
    size_t at;
    bool after_empty;
} ako_regex_cursor;
int ako_regex_next(ako_regex *regex, const char *text, size_t size, ako_regex_cursor *cursor);

/* Appends `replacement` with $0 to $99, ${12} and ${name} replaced by groups of the last match in `text` (nothing for
 * a group that took no part) and $$ by $. AKO_INVALID for another $ and for unknown groups; with `text` NULL this is
 * all that it does. */
int ako_regex_expand(ako_buf *out, const ako_regex *regex, const char *text, const char *replacement, size_t size);

#endif
