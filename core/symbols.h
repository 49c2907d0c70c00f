/* Libraries opened at run time: one table of function pointers each, so that a program starts, and says clearly what is
 * missing, where they are not installed. */
#ifndef AKO_SYMBOLS_H
#define AKO_SYMBOLS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

typedef struct ako_library {
    const char *name;           /* "CUDA Runtime", for messages */
    const char *const *sonames; /* tried in this order in each folder; NULL-terminated */
    bool toolkit;               /* part of a CUDA toolkit; otherwise of the driver */
    int oldest, newest;         /* accepted versions, 1000 * major + 10 * minor, inclusive; 0: any */
    const char *wanted;         /* "12.6 to 13.x" */
} ako_library;

extern const ako_library ako_library_cudart, ako_library_nvrtc, ako_library_cupti, ako_library_nvml, ako_library_driver;

typedef struct ako_symbol {
    const char *name; /* NULL ends a list */
    size_t offset;    /* of its pointer in the table */
    bool optional;    /* left NULL when the library lacks it */
} ako_symbol;

/* One entry for an X-macro list of functions: the field has the function's name. */
#define AKO_SYMBOL(table, function)                 \
    {                                               \
#function, offsetof(table, function), false \
    }
#define AKO_SYMBOL_OPTIONAL(table, function)       \
    {                                              \
#function, offsetof(table, function), true \
    }

/* What became of a library; keep it static beside the table. */
typedef struct ako_loaded {
    int status; /* AKO_OK, or AKO_UNAVAILABLE with the message */
    int version;
    char path[PATH_MAX];
    char message[sizeof((ako_error *)0)->message];
} ako_loaded;

/* Opens the first library on the search path that has every symbol and an accepted version, and fills `table`. A
 * candidate that does not fit is skipped and named if nothing better turns up. `version_of` reads the version from
 * the filled table (its pointers may be NULL; 0 means unknown). Stores the outcome and returns its status. */
int ako_library_load(ako_loaded *out, void *table, const ako_library *library, const ako_symbol *symbols,
                     int (*version_of)(const void *table));

/* Reports a stored outcome again: AKO_OK, or its status with the message as this thread's error. */
int ako_loaded_report(const ako_loaded *loaded);

/* The file that a load would try first, without loading it: `path` receives it. AKO_NOTFOUND says where it looked. */
int ako_library_find(char path[PATH_MAX], const ako_library *library);

#endif
