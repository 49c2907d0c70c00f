/* Fills made ready: what a user asks for, in numbers that CPU and GPU only have to apply. */
#include <float.h>
#include <math.h>

#include "error.h"
#include "ops_backend.h"

/* The largest finite value that arithmetic in the dtype's own width can reach. */
static double largest_finite(ako_dtype dtype)
{
    return ako_is_wide(dtype) ? DBL_MAX : (double)FLT_MAX;
}

static int check_range(ako_dtype dtype, const ako_fill *fill)
{
    double limit = largest_finite(dtype);
    if (!isfinite(fill->a) || !isfinite(fill->b))
        return ako_fail(AKO_INVALID, "ops", "cannot fill %s: %g and %g are not both finite", ako_dtype_name(dtype),
                        fill->a, fill->b);
    if (fabs(fill->a) > limit || fabs(fill->b) > limit || fabs(fill->b - fill->a) > limit)
        return ako_fail(AKO_INVALID, "ops", "cannot fill %s: %g and %g are beyond its range", ako_dtype_name(dtype),
                        fill->a, fill->b);
    return AKO_OK;
}

/* The largest value of a float dtype below `end`: the rounded end, or one pattern below it. */
static double value_below(ako_dtype dtype, double end)
{
    uint64_t sign = (uint64_t)1 << (8 * ako_dtype_size(dtype) - 1);
    uint64_t bits = ako_encode(dtype, end);
    if (ako_decode_float(dtype, bits) < end)
        return ako_decode_float(dtype, bits);
    if ((bits & ~sign) == 0)
        bits = sign | 1;
    else
        bits = bits & sign ? bits + 1 : bits - 1;
    return ako_decode_float(dtype, bits);
}

static int plan_uniform_float(ako_fill_plan *out, const ako_fill *fill)
{
    if (fill->b <= fill->a)
        return ako_fail(AKO_INVALID, "ops", "cannot fill %s uniformly in [%g, %g): it is empty",
                        ako_dtype_name(out->dtype), fill->a, fill->b);
    out->b = fill->b - fill->a;
    out->ceiling = value_below(out->dtype, fill->b);
    return AKO_OK;
}

static int plan_uniform_integer(ako_fill_plan *out, const ako_fill *fill)
{
    out->low = ako_encode(out->dtype, ceil(fill->a));
    uint64_t high = ako_encode(out->dtype, floor(fill->b));
    if (ako_is_signed(out->dtype)) {
        out->low = (uint64_t)ako_extend_integer(out->dtype, out->low);
        high = (uint64_t)ako_extend_integer(out->dtype, high);
    }
    if (ceil(fill->a) > floor(fill->b))
        return ako_fail(AKO_INVALID, "ops", "cannot fill %s uniformly: there is no integer in [%g, %g]",
                        ako_dtype_name(out->dtype), fill->a, fill->b);
    out->span = high - out->low + 1;
    return AKO_OK;
}

static int plan_uniform(ako_fill_plan *out, const ako_fill *fill)
{
    out->kind = AKO_PLAN_UNIFORM;
    if (out->dtype == AKO_BOOL) {
        out->span = 2;
        return AKO_OK;
    }
    return ako_is_float(out->dtype) ? plan_uniform_float(out, fill) : plan_uniform_integer(out, fill);
}

int ako_fill_plan_make(ako_fill_plan *out, ako_dtype dtype, const ako_fill *fill)
{
    *out = (ako_fill_plan){.a = fill->a, .b = fill->b, .seed = fill->seed, .stream = fill->stream, .dtype = dtype};
    if (fill->kind == AKO_FILL_PROBLEM)
        return ako_fail(AKO_INVALID, "fill", "content that the problem's own code makes");
    if (fill->kind == AKO_FILL_CONSTANT) {
        out->kind = AKO_PLAN_CONSTANT;
        out->low = ako_encode(dtype, fill->a);
        return AKO_OK;
    }
    int status = check_range(dtype, fill);
    if (status != AKO_OK)
        return status;
    if (fill->kind == AKO_FILL_UNIFORM)
        return plan_uniform(out, fill);
    out->kind = fill->kind == AKO_FILL_NORMAL ? AKO_PLAN_NORMAL : AKO_PLAN_LINEAR;
    return AKO_OK;
}
