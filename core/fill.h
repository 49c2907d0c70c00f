/* From random words to the elements of a tensor; shared by CPU and GPU as philox.h is.
 *
 * Narrow dtypes take one word an element, four elements to a Philox call; wide ones (8 bytes, and the 4-byte integers,
 * whose range a single word could not cover evenly) take two words, two elements to a call. A group is what one call
 * makes. */
#ifndef AKO_FILL_H
#define AKO_FILL_H

#include "philox.h"

enum { AKO_PLAN_NORMAL, AKO_PLAN_UNIFORM, AKO_PLAN_CONSTANT, AKO_PLAN_LINEAR };

/* What ako_fill asks for, made ready on the host. */
typedef struct ako_fill_plan {
    double a, b;    /* NORMAL: mean, deviation; UNIFORM: start, length; LINEAR: first, step */
    double ceiling; /* UNIFORM, floats: largest value of the dtype below the end, which rounding must not reach */
    uint64_t seed;
    uint64_t low, span; /* UNIFORM, integers: low + [0, span), modulo 2^64; span 0 is 2^64. CONSTANT: low is the bits */
    uint32_t stream;
    int kind;
    ako_dtype dtype;
} ako_fill_plan;

AKO_SHARED int ako_is_wide(ako_dtype dtype)
{
    return dtype == AKO_F64 || dtype == AKO_I64 || dtype == AKO_U64 || dtype == AKO_I32 || dtype == AKO_U32;
}

/* The element of a plan that is not random. */
AKO_SHARED uint64_t ako_plain_element(const ako_fill_plan *plan, uint64_t index)
{
    if (plan->kind == AKO_PLAN_CONSTANT)
        return plan->low;
    return ako_encode(plan->dtype, ako_mul_add_f64((double)index, plan->b, plan->a));
}

AKO_SHARED float ako_uniform_value(const ako_fill_plan *plan, uint32_t word)
{
    float value = ako_mul_add_f32(ako_uniform_f32(word), (float)plan->b, (float)plan->a);
    float ceiling = (float)plan->ceiling;
    return value > ceiling ? ceiling : value;
}

/* An f32 as an element of a narrow dtype. */
AKO_SHARED uint32_t ako_narrow_element(ako_dtype dtype, float value)
{
    if (dtype == AKO_F32)
        return ako_bits_of_f32(value);
    return ako_is_float(dtype) ? ako_narrow_f32(dtype, value) : (uint32_t)ako_encode(dtype, (double)value);
}

AKO_SHARED uint64_t ako_wide_normal(const ako_fill_plan *plan, uint64_t word)
{
    return ako_encode(plan->dtype, ako_mul_add_f64(ako_normal_f64(word), plan->b, plan->a));
}

AKO_SHARED uint64_t ako_multiply_high(uint64_t a, uint64_t b)
{
#ifdef __CUDACC__
    return __umul64hi(a, b);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), low_middle = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (low_middle >> 32);
#endif
}

/* Integers by multiply-shift (Lemire 2019, without its rejection step): no value's probability is off by more than
 * span / 2^64 of itself. */
AKO_SHARED uint64_t ako_wide_uniform(const ako_fill_plan *plan, uint64_t word)
{
    if (plan->dtype != AKO_F64)
        return plan->low + (plan->span ? ako_multiply_high(word, plan->span) : word);
    double value = ako_mul_add_f64(ako_uniform_f64(word), plan->b, plan->a);
    return ako_bits_of_f64(value > plan->ceiling ? plan->ceiling : value);
}

/* The elements of `groups` groups of a narrow dtype, four each, for the random kinds. The CPU makes AKO_BATCH at a
 * time, so that its loops are long enough for vector instructions, a GPU thread one. */
#define AKO_BATCH 16

AKO_SHARED void ako_narrow_groups(uint32_t *elements, const ako_fill_plan *plan, uint64_t first_group, int groups)
{
    float values[4 * AKO_BATCH];
    for (int i = 0; i < groups; i++)
        ako_random_words(elements + 4 * i, plan->seed, plan->stream, first_group + (uint64_t)i);
    if (plan->kind == AKO_PLAN_UNIFORM && !ako_is_float(plan->dtype)) {
        for (int i = 0; i < 4 * groups; i++)
            elements[i] = (uint32_t)plan->low + (uint32_t)((elements[i] * plan->span) >> 32);
        return;
    }
    if (plan->kind == AKO_PLAN_NORMAL) {
        ako_normals_f32(values, elements, 4 * groups);
        for (int i = 0; i < 4 * groups; i++)
            values[i] = ako_mul_add_f32(values[i], (float)plan->b, (float)plan->a);
    } else {
        for (int i = 0; i < 4 * groups; i++)
            values[i] = ako_uniform_value(plan, elements[i]);
    }
    for (int i = 0; i < 4 * groups; i++)
        elements[i] = ako_narrow_element(plan->dtype, values[i]);
}

/* The two elements of a group of a wide dtype, random kinds only. */
AKO_SHARED void ako_wide_group(uint64_t elements[2], const ako_fill_plan *plan, uint64_t group)
{
    uint32_t words[4];
    ako_random_words(words, plan->seed, plan->stream, group);
    for (int i = 0; i < 2; i++) {
        uint64_t word = (uint64_t)words[2 * i] << 32 | words[2 * i + 1];
        elements[i] = plan->kind == AKO_PLAN_NORMAL ? ako_wide_normal(plan, word) : ako_wide_uniform(plan, word);
    }
}

#endif
