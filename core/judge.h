/* One pair of elements against a tolerance; shared by CPU and GPU, so that both count the same. */
#ifndef AKO_JUDGE_H
#define AKO_JUDGE_H

#include "dtype_bits.h"

#define AKO_F64_MAX 0x1.fffffffffffffp+1023

/* The rule behind each ako_predicate, in its order. */
enum { AKO_RULE_EXPECTED, AKO_RULE_GOT, AKO_RULE_RATIO, AKO_RULE_BOTH };

typedef struct ako_judge {
    double atol, rtol;
    int rule, equal_nan, equal_inf;
    ako_dtype dtype;
} ako_judge;

typedef struct ako_tally {
    uint64_t mismatches, nan_got, nan_expected, inf_got, inf_expected, nonzero_got, nonzero_expected;
    double max_abs, max_rel;
} ako_tally;

#define AKO_FIRST 8 /* mismatches kept, in index order; AKO_MISMATCHES of ops.h */

typedef struct ako_mismatch {
    uint64_t index, got, expected; /* the last two are bit patterns */
} ako_mismatch;

AKO_SHARED_CALL double ako_quotient(double a, double b)
{
    return a / b;
}

/* Keeps the largest quotient d / m. It is divided out only where it can be a new maximum: the first test loses less
 * than a rounding error, in the safe direction. */
AKO_SHARED void ako_keep_max_rel(ako_tally *tally, double d, double m)
{
    if (d <= tally->max_rel * m * (1 - 0x1p-50))
        return;
    double rel = ako_quotient(d, m);
    if (rel > tally->max_rel)
        tally->max_rel = rel > AKO_F64_MAX ? AKO_F64_MAX : rel;
}

AKO_SHARED int ako_outside(const ako_judge *judge, double d, double got_size, double expected_size)
{
    switch (judge->rule) {
    case AKO_RULE_GOT:
        return d > ako_mul_add_f64(judge->rtol, got_size, judge->atol);
    case AKO_RULE_BOTH:
        return d > judge->atol && ako_quotient(d, expected_size + 1e-8) > judge->rtol;
    default:
        return d > ako_mul_add_f64(judge->rtol, expected_size, judge->atol);
    }
}

AKO_SHARED int ako_is_nan(double value)
{
    return (ako_bits_of_f64(value) & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

AKO_SHARED int ako_is_inf(double value)
{
    return (ako_bits_of_f64(value) & 0x7fffffffffffffff) == 0x7ff0000000000000;
}

AKO_SHARED int ako_judge_special(const ako_judge *judge, ako_tally *tally, double got, double expected)
{
    int nan_got = ako_is_nan(got), nan_expected = ako_is_nan(expected);
    int inf_got = ako_is_inf(got), inf_expected = ako_is_inf(expected);
    tally->nan_got += (uint64_t)nan_got;
    tally->nan_expected += (uint64_t)nan_expected;
    tally->inf_got += (uint64_t)inf_got;
    tally->inf_expected += (uint64_t)inf_expected;
    if (nan_got && nan_expected)
        return !judge->equal_nan;
    if (inf_got && inf_expected && (got > 0) == (expected > 0))
        return !judge->equal_inf;
    return 1;
}

/* 1 when the pair is a mismatch, which is left for the caller to count. */
AKO_SHARED int ako_judge_float(const ako_judge *judge, ako_tally *tally, double got, double expected)
{
    double d = fabs(got - expected);
    tally->nonzero_got += got != 0;
    tally->nonzero_expected += expected != 0;
    if (!(d <= AKO_F64_MAX)) {
        if (ako_is_nan(got) || ako_is_nan(expected) || ako_is_inf(got) || ako_is_inf(expected))
            return ako_judge_special(judge, tally, got, expected);
        d = AKO_F64_MAX; /* finite values of f64 further apart than f64 can say */
    }
    if (d > tally->max_abs)
        tally->max_abs = d;
    double expected_size = fabs(expected);
    ako_keep_max_rel(tally, d, expected_size > 1e-8 ? expected_size : 1e-8);
    return ako_outside(judge, d, fabs(got), expected_size);
}

/* d > limit, exactly. */
AKO_SHARED int ako_exceeds(uint64_t d, double limit)
{
    return limit < 0x1p64 && d > (uint64_t)limit;
}

AKO_SHARED uint64_t ako_size_of_integer(int is_signed, int64_t value)
{
    return is_signed && value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* The same for integers, given as ako_extend_integer gives them. */
AKO_SHARED int ako_judge_integer(const ako_judge *judge, ako_tally *tally, int is_signed, int64_t got, int64_t expected)
{
    int got_is_less = is_signed ? got < expected : (uint64_t)got < (uint64_t)expected;
    uint64_t d = got_is_less ? (uint64_t)expected - (uint64_t)got : (uint64_t)got - (uint64_t)expected;
    tally->nonzero_got += got != 0;
    tally->nonzero_expected += expected != 0;
    double got_size = (double)ako_size_of_integer(is_signed, got);
    double expected_size = (double)ako_size_of_integer(is_signed, expected);
    if ((double)d > tally->max_abs)
        tally->max_abs = (double)d;
    ako_keep_max_rel(tally, (double)d, expected_size > 0 ? expected_size : 1e-8);
    if (judge->rule == AKO_RULE_BOTH)
        return ako_exceeds(d, judge->atol) && ako_quotient((double)d, expected_size + 1e-8) > judge->rtol;
    double size = judge->rule == AKO_RULE_GOT ? got_size : expected_size;
    return ako_exceeds(d, ako_mul_add_f64(judge->rtol, size, judge->atol));
}

/* Two bit patterns of the judge's dtype. */
AKO_SHARED int ako_judge_pair(const ako_judge *judge, ako_tally *tally, uint64_t got, uint64_t expected)
{
    ako_dtype dtype = judge->dtype;
    if (ako_is_float(dtype))
        return ako_judge_float(judge, tally, ako_decode_float(dtype, got), ako_decode_float(dtype, expected));
    return ako_judge_integer(judge, tally, ako_is_signed(dtype), ako_extend_integer(dtype, got),
                             ako_extend_integer(dtype, expected));
}

#endif
