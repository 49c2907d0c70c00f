/* Between ops.c, which checks arguments and words results, and the two places that do the work. */
#ifndef AKO_OPS_BACKEND_H
#define AKO_OPS_BACKEND_H

#include "buf.h"
#include "fill.h"
#include "judge.h"
#include "ops.h"

typedef struct ako_found {
    ako_tally tally;
    ako_mismatch first[AKO_FIRST]; /* in index order */
    int n_first;
} ako_found;

/* Each as its namesake in ops.h, with `state` from open. Sizes are in bytes, counts in elements. */
typedef struct ako_ops_backend {
    void (*close)(void *state);
    int (*fill)(void *state, void *base, uint64_t count, const ako_fill_plan *plan);
    int (*set)(void *state, void *base, unsigned char byte, uint64_t bytes);
    int (*hash_sum)(void *state, uint64_t *sum, const void *base, uint64_t bytes);
    int (*find_other)(void *state, uint64_t *offset, const void *base, unsigned char byte,
                      uint64_t bytes); /* all ones: none */
    int (*count_poisoned)(void *state, uint64_t *n, const void *base, uint64_t count, size_t size);
    int (*compare)(void *state, ako_found *out, const void *got, const void *expected, uint64_t count,
                   const ako_judge *judge);
    int (*upload)(void *state, void *base, const void *host, uint64_t bytes);
    int (*download)(void *state, void *host, const void *base, uint64_t bytes);
    int (*copy)(void *state, void *to, const void *from, uint64_t bytes);
    int (*gather)(void *state, uint64_t *out, const uint64_t *places, int n);
} ako_ops_backend;

extern const ako_ops_backend ako_ops_cpu;

/* Loops over elements are written once with the dtype as an argument and inlined for each, so that the switches on it
 * fold away. */
#define FOR_ONE_DTYPE static inline __attribute__((always_inline))

#define AKO_GRAIN_BYTES (1 << 20) /* a thread is worth its start from about here on */

int ako_fill_cpu(void *state, void *base, uint64_t count, const ako_fill_plan *plan);

/* Loads the kernels for the current device. AKO_UNAVAILABLE where the program was built without CUDA. */
int ako_ops_gpu_open(const ako_ops_backend **out, void **state);

/* Appends the machine code of the kernels for a chip, "sm_90": compiled, or out of the build cache. Needs NVRTC and no
 * GPU; AKO_UNAVAILABLE without. */
int ako_ops_gpu_build(ako_buf *cubin, const char *arch);

/* Checks a fill against its dtype: AKO_INVALID for values that are not finite (except a constant), beyond the range of
 * the dtype, or an empty interval. */
int ako_fill_plan_make(ako_fill_plan *out, ako_dtype dtype, const ako_fill *fill);

/* AKO_INVALID for negative or NaN tolerances and ratios outside [0, 1]. */
int ako_judge_make(ako_judge *out, ako_dtype dtype, const ako_tolerance *tolerance);

void ako_comparison_make(ako_comparison *out, const ako_found *found, uint64_t count, ako_dtype dtype,
                         const ako_tolerance *tolerance);

#endif
