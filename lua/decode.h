/* JSON text to Lua values, without a tree of ako_json between. */
#ifndef AKL_DECODE_H
#define AKL_DECODE_H

#include "akl.h"
#include "json_scan.h"

/* What a decoder keeps from one text to the next. Zero-initialise it. */
typedef struct akl_decoder {
    ako_json_scan scan;
    int members[8]; /* of the last object at each depth: the next one is likely to be as large */
} akl_decoder;

/* [-0, +1, e] Decodes a text (a NUL behind it) as akl_push_json would give it. A negative status, with its message and
 * with nothing pushed, when it is not JSON. `scratch` is collected memory (akl_buf). */
AKL_RAISES int akl_decode(lua_State *L, akl_decoder *decoder, const char *text, size_t size, ako_buf *scratch);

#endif
