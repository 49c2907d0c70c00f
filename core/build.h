/* Source text to something a runner can load, behind a content-addressed cache. Runs in builder processes only. */
#ifndef AKO_BUILD_H
#define AKO_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "runner.h"

typedef struct ako_source {
    const char *name; /* relative, no "..": "kernel.cu" */
    const char *text;
    size_t size;
} ako_source;

typedef struct ako_build_input {
    ako_lane lane;
    const ako_source *sources; /* the first is the main file; the others can be included by name (or, C, are linked
                                  when they end in .c) */
    int n_sources;
    const char *const *names; /* kernels wanted, as written in launch lines ("softmax<4, float>"); cuda lane */
    int n_names;
    const char *const *defines; /* "BLOCK", "128", ...: pairs, put into the text after the includes */
    int n_defines;              /* number of strings */
    const char *const *options; /* the user's extra compiler options, constant over a session */
    int n_options;
    const char *arch; /* "sm_90a"; GPU lanes */
    int64_t limit_ns; /* wall time; 0: none */
} ako_build_input;

typedef struct ako_build_output {
    bool ok; /* false: see log, error_* */
    bool timed_out;
    bool cached;
    char path[4096]; /* cubin or .so in the cache */
    char hash[65];   /* of the machine code: equal hashes are equal binaries */
    ako_buf log;
    char error_file[256]; /* the first error */
    int error_line, error_column;
    char error_text[512];
    int registers, shared_bytes, spill_bytes; /* largest over the kernels, from the compiler's log; -1 unknown */
    char **lowered;                           /* n_names symbols, in the order of names */
    int n_lowered;
    int64_t wall_ns;
} ako_build_output;

/* Builds or finds it in the cache. AKO_OK also when the source does not compile or is late (see ok); an error is the
 * machine's: AKO_UNAVAILABLE names the missing compiler or library, AKO_INVALID a bad source name or define. The log
 * begins with the compiler and the headers used. Folders in `options` are absolute. Where the cache cannot be written
 * (said once, as a warning) the path names a temporary file. */
int ako_build(ako_build_output *out, const ako_build_input *input);
void ako_build_output_free(ako_build_output *out);

/* The cache: $XDG_CACHE_HOME/ako-lua/build, a folder an entry, written aside and renamed; entries least recently used
 * go first once the cap (AKO_CACHE_MB, default 2048) is passed; none used in the last 10 minutes. Safe with several
 * processes. The key holds all that decides the machine code: for cc and nvcc the preprocessed text and the compiler's
 * file, for NVRTC its version and the dates of every file in the folders that options name. */

int ako_build_warm(ako_lane lane); /* loads what the first build of this lane would wait for */

#endif
