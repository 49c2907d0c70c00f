/* What the parts of a build share. Internal to core. */
#ifndef AKO_BUILD_PARTS_H
#define AKO_BUILD_PARTS_H

#include <limits.h>

#include "build.h"

/* One build under way. */
typedef struct ako_build_job {
    const ako_build_input *input;
    int64_t deadline_ns;     /* 0: none */
    char compiler[PATH_MAX]; /* the program or library */
    char headers[PATH_MAX];  /* CUDA's own, for NVRTC; "" when not found */
    ako_buf *texts;        /* of the sources, NUL-terminated, with the defines in those that are compiled themselves */
    bool precompiled;      /* the main text has a head of CUDA's own headers that NVRTC may keep */
    char folder[PATH_MAX]; /* where a compiler program runs; "" until there is one */
    ako_buf about;         /* first lines of the log: which compiler, which headers */
} ako_build_job;

/* A lane. `open` finds the compiler, `identify` appends all that decides the machine code and is not in the input
 * (AKO_COMPILE: that cannot be told, so do not cache), `compile` runs the compiler and fills ok, timed_out, log,
 * error_* and what it knows of the resources; `code` receives the binary when ok. */
typedef struct ako_build_lane {
    int (*open)(ako_build_job *job);
    int (*identify)(ako_buf *key, ako_build_job *job);
    int (*compile)(ako_build_output *out, ako_buf *code, ako_build_job *job);
} ako_build_lane;

extern const ako_build_lane ako_build_lane_nvrtc, ako_build_lane_cc, ako_build_lane_nvcc, ako_build_lane_python;

/* "path size mtime" of a file with links resolved: names a compiler exactly enough for a cache key. */
void ako_build_put_identity(ako_buf *key, const char *path);

/* The identities of every file in a folder and below; false when there are too many to look at for each build. */
bool ako_build_put_tree_identity(ako_buf *key, const char *folder);

/* True for names that sources may have: relative, no "..", nothing that would need quoting. */
bool ako_source_name_is_fine(const char *name);

/* The text of a source with `#define NAME VALUE` lines behind the includes of its head and a #line directive behind
 * those, so that line numbers stay the user's. Includes of other sources end the head: they may use the defines.
 * `stable` (NULL: none) is a folder of headers that never change: then the head holds only what lies there, and ends
 * in `#pragma nv_hdrstop` so that NVRTC precompiles that and nothing else: it does not notice when a precompiled
 * header changes. True when it put that pragma. */
bool ako_source_put(ako_buf *out, const ako_build_input *input, int index, const char *stable);

/* "scale, add, softmax": the functions marked __global__ in all sources; empty when there are none. */
void ako_source_list_kernels(ako_buf *out, const ako_build_input *input);

/* Fills error_* from out->log when the build failed, and the largest registers, shared_bytes and spill_bytes that
 * ptxas names. `carets`: columns can be read off the caret lines (NVRTC shows the text as written, nvcc does not). */
void ako_build_log_parse(ako_build_output *out, bool carets);

/* Fails the build with an error that is ours to word. */
void ako_build_reject(ako_build_output *out, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
