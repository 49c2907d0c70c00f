/* JSON token by token, for who builds something else than a tree of ako_json: several times as fast, and no memory of
 * its own. It takes and refuses what ako_json_parse does, except that duplicate keys are its user's to refuse and that
 * nesting ends at AKO_JSON_SCAN_DEPTH. */
#ifndef AKO_JSON_SCAN_H
#define AKO_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

#define AKO_JSON_SCAN_DEPTH 512

typedef enum ako_json_token {
    AKO_JSON_TOKEN_END, /* the value is complete, and nothing is behind it */
    AKO_JSON_TOKEN_OBJECT,
    AKO_JSON_TOKEN_OBJECT_END,
    AKO_JSON_TOKEN_ARRAY,
    AKO_JSON_TOKEN_ARRAY_END,
    AKO_JSON_TOKEN_KEY,
    AKO_JSON_TOKEN_STRING,
    AKO_JSON_TOKEN_INTEGER,
    AKO_JSON_TOKEN_REAL,
    AKO_JSON_TOKEN_TRUE,
    AKO_JSON_TOKEN_FALSE,
    AKO_JSON_TOKEN_NULL
} ako_json_token;

typedef struct ako_json_scan {
    const char *string; /* of KEY and STRING: valid until the next call */
    size_t size;
    int64_t integer; /* of INTEGER */
    double real;     /* of REAL */
    /* private */
    const char *text, *at, *end;
    ako_buf *scratch;
    int expect;
    size_t depth;
    bool in_object[AKO_JSON_SCAN_DEPTH];
} ako_json_scan;

/* `text` has a NUL behind its `size` bytes and lives as long as the scan; `scratch` is for strings with escapes. */
void ako_json_scan_start(ako_json_scan *scan, const char *text, size_t size, ako_buf *scratch);

/* The next token (0 or more), or AKO_INVALID with "line L column C: why", AKO_NOMEM. */
int ako_json_scan_next(ako_json_scan *scan);

/* AKO_INVALID at the present place, for what the user of the scan refuses. */
int ako_json_scan_fail(const ako_json_scan *scan, const char *why);

#endif
