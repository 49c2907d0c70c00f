/* Tolerances and what a comparison means, apart from the counting. */
#include <stdio.h>

#include "error.h"
#include "ops_backend.h"

static const char *const predicate_names[] = {"allclose_ref", "allclose_out", "ratio_cap", "abs_and_rel"};

int ako_predicate_parse(ako_predicate *out, const char *name)
{
    if (strcmp(name, "allclose") == 0) {
        *out = AKO_ALLCLOSE_REF;
        return AKO_OK;
    }
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, predicate_names[i]) == 0) {
            *out = (ako_predicate)i;
            return AKO_OK;
        }
    }
    return ako_fail(AKO_INVALID, "ops",
                    "unknown predicate \"%.40s\": there are allclose_ref, allclose_out, ratio_cap, abs_and_rel", name);
}

const char *ako_predicate_name(ako_predicate predicate)
{
    return predicate_names[predicate];
}

int ako_judge_make(ako_judge *out, ako_dtype dtype, const ako_tolerance *tolerance)
{
    if (!(tolerance->atol >= 0) || !(tolerance->rtol >= 0) || !(tolerance->cap >= 0))
        return ako_fail(AKO_INVALID, "ops", "a tolerance is negative or NaN: atol %g, rtol %g, cap %g", tolerance->atol,
                        tolerance->rtol, tolerance->cap);
    if (!(tolerance->ratio_required >= 0 && tolerance->ratio_required <= 1))
        return ako_fail(AKO_INVALID, "ops", "the required ratio %g is not in [0, 1]", tolerance->ratio_required);
    static const int rules[] = {AKO_RULE_EXPECTED, AKO_RULE_GOT, AKO_RULE_RATIO, AKO_RULE_BOTH};
    *out = (ako_judge){.atol = tolerance->atol,
                       .rtol = tolerance->rtol,
                       .rule = rules[tolerance->predicate],
                       .equal_nan = tolerance->equal_nan,
                       .equal_inf = tolerance->equal_inf,
                       .dtype = dtype};
    return AKO_OK;
}

static bool passes(const ako_comparison *c, const ako_tolerance *tolerance)
{
    switch (tolerance->predicate) {
    case AKO_RATIO_CAP:
        return c->ratio >= tolerance->ratio_required && (tolerance->cap <= 0 || c->max_abs <= tolerance->cap) &&
               c->nan_got + c->nan_expected + c->inf_got + c->inf_expected == 0 && !c->all_zero;
    case AKO_ABS_AND_REL:
        return c->ratio >= tolerance->ratio_required;
    case AKO_ALLCLOSE_REF:
    case AKO_ALLCLOSE_OUT:
    default:
        return c->mismatches == 0;
    }
}

void ako_comparison_make(ako_comparison *out, const ako_found *found, uint64_t count, ako_dtype dtype,
                         const ako_tolerance *tolerance)
{
    const ako_tally *t = &found->tally;
    *out = (ako_comparison){.count = count,
                            .mismatches = t->mismatches,
                            .ratio = count ? (double)(count - t->mismatches) / (double)count : 1,
                            .max_abs = t->max_abs,
                            .max_rel = t->max_rel,
                            .nan_got = t->nan_got,
                            .nan_expected = t->nan_expected,
                            .inf_got = t->inf_got,
                            .inf_expected = t->inf_expected,
                            .all_zero = t->nonzero_got == 0 && t->nonzero_expected > 0,
                            .n_first = found->n_first};
    for (int i = 0; i < found->n_first; i++) {
        out->first[i].index = found->first[i].index;
        out->first[i].got = ako_dtype_load(dtype, &found->first[i].got, 0);
        out->first[i].expected = ako_dtype_load(dtype, &found->first[i].expected, 0);
    }
    out->passed = passes(out, tolerance);
}
