/* The four tasks of examples/ that have candidates: what their outputs must be, computed in double straight from the
 * formula, and how their C entry points are called. */
#ifndef AKO_TEST_EXAMPLE_TASKS_H
#define AKO_TEST_EXAMPLE_TASKS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype.h"

#define EXAMPLE_EPS 1e-6f

/* One call: inputs a and b (softmax has no b), output y, all of the task's dtype; `n` are the axes in the order of the
 * arguments; `want` is what y must be. */
typedef struct example_call {
    int n[3];
    size_t count_a, count_b, count_y;
    void *a, *b, *y;
    double *want;
} example_call;

typedef void (*example_entry)(void); /* cast to the task's own type before the call */

typedef struct example_task {
    const char *name;
    ako_dtype dtype;
    double atol, rtol;                   /* as in task.lua */
    double spread_a, spread_b, centre_b; /* inputs are uniform in centre +- spread; a's centre is 0 */
    int odd[3], even[3];                 /* axes with a remainder for every vector width, and with none */
    void (*count)(example_call *call);
    void (*expect)(const example_call *call);
    void (*run)(example_entry entry, const example_call *call);
} example_task;

static double example_at(const void *tensor, ako_dtype dtype, size_t row, int width, int column)
{
    return ako_dtype_load(dtype, tensor, row * (size_t)width + (size_t)column);
}

static void rmsnorm_count(example_call *call)
{
    call->count_a = call->count_y = (size_t)call->n[0] * (size_t)call->n[1];
    call->count_b = (size_t)call->n[1];
}

static void rmsnorm_expect(const example_call *call)
{
    const int width = call->n[1];
    for (size_t b = 0; b < (size_t)call->n[0]; b++) {
        double sum = 0;
        for (int d = 0; d < width; d++)
            sum += pow(example_at(call->a, AKO_F32, b, width, d), 2);
        for (int d = 0; d < width; d++)
            call->want[b * (size_t)width + (size_t)d] = example_at(call->a, AKO_F32, b, width, d) /
                                                        sqrt(sum / width + (double)EXAMPLE_EPS) *
                                                        example_at(call->b, AKO_F32, 0, width, d);
    }
}

static void rmsnorm_run(example_entry entry, const example_call *call)
{
    typedef void type(const float *, const float *, float *, int, int, float);
    ((type *)entry)(call->a, call->b, call->y, call->n[0], call->n[1], EXAMPLE_EPS);
}

static void softmax_count(example_call *call)
{
    call->count_a = call->count_y = (size_t)call->n[0] * (size_t)call->n[1];
}

static void softmax_expect(const example_call *call)
{
    const int width = call->n[1];
    for (size_t r = 0; r < (size_t)call->n[0]; r++) {
        double sum = 0;
        for (int i = 0; i < width; i++)
            sum += exp(example_at(call->a, AKO_F32, r, width, i));
        for (int i = 0; i < width; i++)
            call->want[r * (size_t)width + (size_t)i] = exp(example_at(call->a, AKO_F32, r, width, i)) / sum;
    }
}

static void softmax_run(example_entry entry, const example_call *call)
{
    typedef void type(const float *, float *, int, int);
    ((type *)entry)(call->a, call->y, call->n[0], call->n[1]);
}

static void silu_gate_count(example_call *call)
{
    call->count_a = call->count_b = call->count_y = (size_t)call->n[0] * (size_t)call->n[1];
}

static void silu_gate_expect(const example_call *call)
{
    for (size_t i = 0; i < call->count_y; i++) {
        const double gate = ako_dtype_load(AKO_BF16, call->a, i);
        call->want[i] = gate / (1 + exp(-gate)) * ako_dtype_load(AKO_BF16, call->b, i);
    }
}

static void silu_gate_run(example_entry entry, const example_call *call)
{
    typedef void type(const uint16_t *, const uint16_t *, uint16_t *, int, int);
    ((type *)entry)(call->a, call->b, call->y, call->n[0], call->n[1]);
}

static void gemm_count(example_call *call)
{
    call->count_a = (size_t)call->n[0] * (size_t)call->n[2];
    call->count_b = (size_t)call->n[1] * (size_t)call->n[2];
    call->count_y = (size_t)call->n[0] * (size_t)call->n[1];
}

static void gemm_expect(const example_call *call)
{
    const size_t columns = (size_t)call->n[1];
    for (size_t i = 0; i < call->count_y; i++) {
        call->want[i] = 0;
        for (int k = 0; k < call->n[2]; k++)
            call->want[i] += example_at(call->a, AKO_BF16, i / columns, call->n[2], k) *
                             example_at(call->b, AKO_BF16, i % columns, call->n[2], k);
    }
}

static void gemm_run(example_entry entry, const example_call *call)
{
    typedef void type(const uint16_t *, const uint16_t *, uint16_t *, int, int, int);
    ((type *)entry)(call->a, call->b, call->y, call->n[0], call->n[1], call->n[2]);
}

/* clang-format off */
static const example_task example_tasks[] = {
    {"rmsnorm", AKO_F32, 1e-4, 1e-4, 3, 0.5, 1, {7, 4095, 0}, {4, 4096, 0}, rmsnorm_count, rmsnorm_expect, rmsnorm_run},
    {"softmax", AKO_F32, 1e-9, 1e-4, 6, 0, 0, {7, 2047, 0}, {4, 2048, 0}, softmax_count, softmax_expect, softmax_run},
    {"silu_gate", AKO_BF16, 1e-2, 1e-2, 6, 3, 0, {7, 14335, 0}, {4, 14336, 0}, silu_gate_count, silu_gate_expect,
     silu_gate_run},
    {"gemm", AKO_BF16, 1e-2, 1e-2, 3, 0.05, 0, {7, 129, 1023}, {8, 64, 512}, gemm_count, gemm_expect, gemm_run},
};
/* clang-format on */

#endif
