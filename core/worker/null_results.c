#include "null_results.h"

#include <math.h>
#include <string.h>

#include "ops.h"

static double value_at(const specimen *s, const unsigned char *from, uint64_t i)
{
    return ako_dtype_load(s->dtype, from, i);
}

specimen_figures specimen_measure(const specimen *s)
{
    specimen_figures f = {0};
    double squares = 0, sum = 0;
    uint64_t n = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        double v = value_at(s, s->golden, i);
        f.nan += isnan(v) != 0;
        f.inf += isinf(v) != 0;
        if (!isfinite(v))
            continue;
        f.min = n == 0 || v < f.min ? v : f.min;
        f.max = n == 0 || v > f.max ? v : f.max;
        squares += v * v;
        sum += v;
        n++;
    }
    if (n > 0) {
        f.rms = sqrt(squares / (double)n);
        f.mean = sum / (double)n;
    }
    return f;
}

void null_zeros(specimen *s)
{
    memset(s->got, 0, s->bytes);
}

void null_constant(specimen *s, double value)
{
    for (uint64_t i = 0; i < s->count; i++)
        ako_dtype_store(s->dtype, s->got, i, value);
}

void null_poison(specimen *s)
{
    memset(s->got, AKO_POISON, s->bytes);
}

void null_copy(specimen *s, const unsigned char *content, size_t bytes)
{
    for (size_t done = 0; done < s->bytes; done += bytes)
        memcpy(s->got + done, content, s->bytes - done < bytes ? s->bytes - done : bytes);
}

void null_other_seed(specimen *s)
{
    memcpy(s->got, s->other, s->bytes);
}

static double wrong_value(const specimen *s, uint64_t i, double filler)
{
    return s->other ? value_at(s, s->other, i) : filler;
}

/* The first element of the row that holds the largest difference. */
static uint64_t find_row(const specimen *s, double filler)
{
    double most = -1;
    uint64_t where = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        double d = fabs(wrong_value(s, i, filler) - value_at(s, s->golden, i));
        if (d > most) {
            most = d;
            where = i;
        }
    }
    return where - where % s->row;
}

void null_one_row(specimen *s, double filler)
{
    uint64_t begin = find_row(s, filler);
    memcpy(s->got, s->golden, s->bytes);
    for (uint64_t i = begin; i < s->count && i < begin + s->row; i++)
        ako_dtype_store(s->dtype, s->got, i, wrong_value(s, i, filler));
}

void null_cast(specimen *s, ako_dtype lower)
{
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t element = 0;
        ako_dtype_store(lower, &element, 0, value_at(s, s->golden, i));
        ako_dtype_store(s->dtype, s->got, i, ako_dtype_load(lower, &element, 0));
    }
}

/* The bit pattern one up is the next larger magnitude, for as long as that is finite. */
void near_golden(specimen *s)
{
    memcpy(s->got, s->golden, s->bytes);
    for (uint64_t i = 0; ako_dtype_kind(s->dtype) == 'f' && i < s->count; i++) {
        double v = value_at(s, s->golden, i);
        if (v == 0 || !isfinite(v))
            continue;
        ako_dtype_store_bits(s->dtype, s->got, i, ako_dtype_load_bits(s->dtype, s->golden, i) + 1);
        if (!isfinite(value_at(s, s->got, i)))
            ako_dtype_store(s->dtype, s->got, i, v);
    }
}

bool specimen_is_golden(const specimen *s)
{
    return memcmp(s->got, s->golden, s->bytes) == 0;
}

int lower_dtypes(ako_dtype lower[2], ako_dtype dtype)
{
    static const struct {
        ako_dtype of, lower[2];
        int n;
    } table[] = {{AKO_F64, {AKO_F32}, 1},
                 {AKO_F32, {AKO_F16, AKO_BF16}, 2},
                 {AKO_F16, {AKO_F8E4M3, AKO_F8E5M2}, 2},
                 {AKO_BF16, {AKO_F8E4M3, AKO_F8E5M2}, 2}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].of == dtype) {
            memcpy(lower, table[i].lower, sizeof table[i].lower);
            return table[i].n;
        }
    }
    return 0;
}
