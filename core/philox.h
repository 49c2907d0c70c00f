/* Counter-based random numbers with the same bits on CPU and GPU: compiled as C11 into libako and as CUDA into
 * core/gpu/ops.cu. Only integer operations and IEEE additions and multiplications that nobody may fuse. */
#ifndef AKO_PHILOX_H
#define AKO_PHILOX_H

#include "dtype_bits.h"

/* Philox4x32-10 of Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC'11).
 * Turns the counter into four independent words. */
AKO_SHARED void ako_philox4x32(uint32_t counter[4], uint32_t key0, uint32_t key1)
{
    for (int round = 0; round < 10; round++) {
        uint64_t product0 = (uint64_t)0xD2511F53u * counter[0];
        uint64_t product1 = (uint64_t)0xCD9E8D57u * counter[2];
        counter[0] = (uint32_t)(product1 >> 32) ^ counter[1] ^ key0;
        counter[1] = (uint32_t)product1;
        counter[2] = (uint32_t)(product0 >> 32) ^ counter[3] ^ key1;
        counter[3] = (uint32_t)product0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/* The four words of `group` in the stream (seed, stream). */
AKO_SHARED void ako_random_words(uint32_t words[4], uint64_t seed, uint32_t stream, uint64_t group)
{
    words[0] = (uint32_t)group;
    words[1] = (uint32_t)(group >> 32);
    words[2] = stream;
    words[3] = 0;
    ako_philox4x32(words, (uint32_t)seed, (uint32_t)(seed >> 32));
}

/* [0, 1) in steps of 2^-24. */
AKO_SHARED float ako_uniform_f32(uint32_t word)
{
    return (float)(word >> 8) * 0x1p-24f;
}

/* [0, 1) in steps of 2^-53. */
AKO_SHARED double ako_uniform_f64(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

AKO_SHARED float ako_sqrt_f32(float value)
{
#ifdef __CUDACC__
    return __fsqrt_rn(value);
#else
    return sqrtf(value);
#endif
}

/* -ln(value) for a normal value in (0, 1], to 2.5e-7 absolutely: value = 2^e m with m in [2/3, 4/3), and
 * ln(1 + f) = f + f^2 q(f), q a minimax polynomial. */
AKO_SHARED float ako_minus_log(float value)
{
    uint32_t bits = ako_bits_of_f32(value);
    int exponent = (int)(bits - 0x3f2aaaabu) >> 23;
    float f = ako_f32_of_bits(bits - ((uint32_t)exponent << 23)) - 1.0f;
    float q = 0.176083252f;
    q = ako_mul_add_f32(q, f, -0.196396053f);
    q = ako_mul_add_f32(q, f, 0.197141752f);
    q = ako_mul_add_f32(q, f, -0.248064816f);
    q = ako_mul_add_f32(q, f, 0.333408445f);
    q = ako_mul_add_f32(q, f, -0.500034094f);
    float log1p = ako_mul_add_f32(q * f, f, f);
    return -ako_mul_add_f32((float)exponent, 0.693147181f, log1p);
}

/* Standard normals by inversion, to 2.5e-6 of the exact quantile: the top bit is the sign, the other 31 a tail
 * probability p in [2^-33, 1/2], so that |z| goes up to 6.3. The form is that of Giles ("Approximating the erfinv
 * function", GPU Computing Gems, 2011), z = x P(w) with x = 1 - 2p and w = -ln(4 p (1 - p)), which needs no division;
 * the minimax polynomials were fitted for this range, one in w up to 5 and one in the root of w from there on. */
#define AKO_NORMAL_TAIL 7247044u /* words without sign below this have w > 5, one in 300 */

AKO_SHARED float ako_twice_p(uint32_t word)
{
    return ako_mul_add_f32((float)(int32_t)(word & 0x7fffffff), 0x1p-31f, 0x1p-32f);
}

AKO_SHARED float ako_normal_body(uint32_t word)
{
    float twice_p = ako_twice_p(word);
    float w = ako_minus_log(twice_p * (2.0f - twice_p)) - 2.5f;
    float p = 2.45704701e-08f;
    p = ako_mul_add_f32(p, w, 4.96513053e-07f);
    p = ako_mul_add_f32(p, w, -4.8083939e-06f);
    p = ako_mul_add_f32(p, w, -6.31311877e-06f);
    p = ako_mul_add_f32(p, w, 0.000308497925f);
    p = ako_mul_add_f32(p, w, -0.00177277136f);
    p = ako_mul_add_f32(p, w, -0.00590743031f);
    p = ako_mul_add_f32(p, w, 0.348802507f);
    p = ako_mul_add_f32(p, w, 2.12331343f);
    return ako_with_sign(p * (1.0f - twice_p), word >> 31);
}

AKO_SHARED_CALL float ako_normal_tail(uint32_t word)
{
    float twice_p = ako_twice_p(word);
    float w = ako_sqrt_f32(ako_minus_log(twice_p * (2.0f - twice_p))) - 3.5f;
    float p = -0.000248098018f;
    p = ako_mul_add_f32(p, w, 0.000791139959f);
    p = ako_mul_add_f32(p, w, -0.00107720203f);
    p = ako_mul_add_f32(p, w, 0.0014267927f);
    p = ako_mul_add_f32(p, w, -0.00286148442f);
    p = ako_mul_add_f32(p, w, 0.00466202479f);
    p = ako_mul_add_f32(p, w, 1.42462778f);
    p = ako_mul_add_f32(p, w, 4.71708822f);
    return ako_with_sign(p * (1.0f - twice_p), word >> 31);
}

/* First the body for all, a loop without branches, then the tail where it is due. */
AKO_SHARED void ako_normals_f32(float *values, const uint32_t *words, int n)
{
    for (int i = 0; i < n; i++)
        values[i] = ako_normal_body(words[i]);
    for (int i = 0; i < n; i++) {
        if ((words[i] & 0x7fffffff) < AKO_NORMAL_TAIL)
            values[i] = ako_normal_tail(words[i]);
    }
}

AKO_SHARED float ako_normal_f32(uint32_t word)
{
    float value;
    ako_normals_f32(&value, &word, 1);
    return value;
}

/* The same from 64 bits: an f32 normal with 32 more random bits spread over the gap to its neighbours, so that a kernel
 * which computes in f32 what it should compute in f64 shows. */
AKO_SHARED double ako_normal_f64(uint64_t word)
{
    double spread = ako_mul_add_f64((double)(uint32_t)word, 0x1p-32, -0.5);
    return ako_mul_add_f64(spread, 0x1p-23, (double)ako_normal_f32((uint32_t)(word >> 32)));
}

#endif
