/* Lists of strings between Lua tables and core. */
#ifndef AKL_LISTS_H
#define AKL_LISTS_H

#include "akl.h"
#include "buf.h"

/* Strings that live as long as the table they come from. */
typedef struct akl_strings {
    const char *const *items;
    size_t n;
} akl_strings;

/* [-0, +1, e] The array of strings at `index`, empty for nil; argument `arg` in messages. */
AKL_RAISES akl_strings akl_check_strings(lua_State *L, int index, int arg);

/* [-0, +2, e] The same of a field of the table at `arg`; the field stays on the stack below, which keeps it alive. */
AKL_RAISES akl_strings akl_check_strings_field(lua_State *L, int arg, const char *name);

/* [-0, +1, e] A field that is a string, or may be absent (NULL) unless it is required. */
AKL_RAISES const char *akl_check_field(lua_State *L, int arg, const char *name, bool required);

/* [-0, +0, e] Whether a field is true. */
AKL_RAISES bool akl_flag(lua_State *L, int arg, const char *name);

/* [-0, +0, e] Makes argument `arg`, the last one, a table: a new one when there is none. */
AKL_RAISES void akl_check_options(lua_State *L, int arg);

/* Adds strings, each with the NUL behind it, as a list for akl_push_records. Raises nothing, so core may call it. */
void akl_collect(ako_buf *list, const char *const *strings, size_t n);

/* [-0, +1, e] Array of records out of a collected list, one field for each name in turn. A name that ends in "_s" is a
 * number of seconds, the others are strings. */
AKL_RAISES void akl_push_records(lua_State *L, const ako_buf *list, const char *const *names, size_t n);

#endif
