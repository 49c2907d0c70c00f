/* What the referee does to buffers: fill, poison, compare, hash, red zones; on the CPU, or on the current CUDA device
 * by kernels of our own (core/gpu/ops.cu, embedded, compiled by NVRTC once a chip and kept in the build cache).
 * All calls are synchronous. CPU and GPU give the same bits for the same arguments. */
#ifndef AKO_OPS_H
#define AKO_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype.h"
#include "memory.h"

typedef struct ako_ops ako_ops;

/* GPU: loads the kernels for the current device (creates its context). CPU: nothing to load. */
int ako_ops_new(ako_ops **out, ako_place place);
void ako_ops_free(ako_ops *ops);

/* PROBLEM: not ours to make, the problem's own code does (ako_runner_fill). */
typedef enum ako_fill_kind {
    AKO_FILL_NORMAL,
    AKO_FILL_UNIFORM,
    AKO_FILL_CONSTANT,
    AKO_FILL_ARANGE,
    AKO_FILL_PROBLEM
} ako_fill_kind;

/* NORMAL: mean a, deviation b. UNIFORM: floats in [a, b), integers in [a, b] inclusive, bool 0/1. CONSTANT: a.
 * ARANGE: a + i*b. Integers are rounded and clamped to their dtype. Philox4x32-10 keyed by (seed, stream), its counter
 * the index of a group of four or two elements (core/fill.h): element i depends on nothing but these. */
typedef struct ako_fill {
    ako_fill_kind kind;
    double a, b;
    uint64_t seed;
    uint32_t stream; /* one a tensor */
} ako_fill;

/* AKO_INVALID for an empty interval and for values that are not finite (CONSTANT may be) or beyond the dtype. */
int ako_ops_fill(ako_ops *ops, void *base, ako_dtype dtype, size_t count, const ako_fill *fill);

/* Sets every byte of the range. */
int ako_ops_set(ako_ops *ops, void *base, unsigned char byte, size_t bytes);

/* The same with the poison pattern: NaN in every float dtype, -1 or the maximum in integers. */
#define AKO_POISON 0xff
int ako_ops_poison(ako_ops *ops, void *base, size_t bytes);

/* 64-bit order-dependent content hash of a byte range; equal on CPU and GPU. */
int ako_ops_hash(ako_ops *ops, uint64_t *out, const void *base, size_t bytes);

/* First byte offset in the range that is not `byte`, or -1: for red zones. */
int ako_ops_find_other(ako_ops *ops, int64_t *offset, const void *base, unsigned char byte, size_t bytes);
/* Number of elements (of `size` bytes) in the range that are still poison throughout. */
int ako_ops_count_poisoned(ako_ops *ops, uint64_t *count, const void *base, size_t count_elements, size_t size);

int ako_ops_upload(ako_ops *ops, void *base, const void *host, size_t bytes);
int ako_ops_download(ako_ops *ops, void *host, const void *base, size_t bytes);
int ako_ops_copy(ako_ops *ops, void *to, const void *from, size_t bytes); /* within the place */

/* Elements at n places, their bits in the low bytes of out[i]. */
static inline uint64_t ako_place_of(const void *address, size_t size)
{
    return (uint64_t)(uintptr_t)address | (uint64_t)size << 56;
}
int ako_ops_gather(ako_ops *ops, uint64_t *out, const uint64_t *places, int n);
uint64_t ako_load_place(uint64_t place); /* of host memory */

/* Tolerance predicates; x is the candidate's value, y the reference's, d = |x - y|:
 *   ALLCLOSE_REF  bad when d > atol + rtol*|y|            ALLCLOSE_OUT  bad when d > atol + rtol*|x| (KernelBench)
 *   RATIO_CAP     as ALLCLOSE_REF, passes with ratio_required matched and max abs <= cap (cap 0: none); non-finite
 *                 values fail; an all-zero output against a non-zero reference fails
 *   ABS_AND_REL   bad when d > atol and d/(|y| + 1e-8) > rtol; passes with ratio_required matched
 * Floats are compared in double, integers exactly in 64 bits, bool as the byte it is (255 is not 1). */
typedef enum ako_predicate { AKO_ALLCLOSE_REF, AKO_ALLCLOSE_OUT, AKO_RATIO_CAP, AKO_ABS_AND_REL } ako_predicate;

typedef struct ako_tolerance {
    ako_predicate predicate;
    double atol, rtol;
    double ratio_required; /* share of good elements, 1 = all */
    double cap;            /* max abs error for RATIO_CAP, 0 = none */
    bool equal_nan;        /* NaN on both sides is good; otherwise any NaN is bad */
    bool equal_inf;        /* infinities of equal sign are good; otherwise any infinity is bad */
    double exact;          /* for who has an answer in fp64 (core/worker/referee_exact.c): a result may be so many times
                              as far from it as the reference is; 0: none. No comparison looks at it */
} ako_tolerance;

int ako_predicate_parse(ako_predicate *out,
                        const char *name); /* "allclose_ref" (also "allclose"), "allclose_out", ... */
const char *ako_predicate_name(ako_predicate predicate);

#define AKO_MISMATCHES 8
typedef struct ako_comparison {
    bool passed;
    uint64_t count, mismatches;
    double ratio;            /* matched / count; 1 for an empty tensor */
    double max_abs, max_rel; /* over finite pairs; rel = d / max(|y|, 1e-8); integers compared exactly in 64 bits */
    uint64_t nan_got, nan_expected, inf_got, inf_expected;
    bool all_zero; /* every got is zero while some expected is not */
    int n_first;   /* the first mismatches in index order */
    struct {
        uint64_t index;
        double expected, got;
    } first[AKO_MISMATCHES];
} ako_comparison;

/* `passed` is the verdict on the whole. AKO_INVALID for tolerances that are negative or NaN. */
int ako_ops_compare(ako_ops *ops, ako_comparison *out, const void *got, const void *expected, ako_dtype dtype,
                    size_t count, const ako_tolerance *tolerance);

#endif
