/* Calls as the evaluator makes them, in one line each. */
#ifndef AKO_TEST_CALLS_H
#define AKO_TEST_CALLS_H

#include <stdio.h>
#include <string.h>

#include "dtype.h"
#include "runner.h"

static inline ako_arg arg_pointer(int buffer, const char *name)
{
    ako_arg arg = {.kind = AKO_ARG_POINTER, .buffer = buffer, .size = 8};
    snprintf(arg.name, sizeof arg.name, "%s", name);
    return arg;
}

static inline ako_arg arg_value(ako_arg_kind kind, ako_dtype dtype, const void *bits, size_t size, const char *name)
{
    ako_arg arg = {.kind = kind, .size = (int)size, .dtype = (char)dtype};
    memcpy(arg.bits, bits, size);
    snprintf(arg.name, sizeof arg.name, "%s", name);
    return arg;
}

static inline ako_arg arg_int(int32_t value, const char *name)
{
    return arg_value(AKO_ARG_I32, AKO_I32, &value, sizeof value, name);
}

static inline ako_call call_of(const char *symbol, unsigned grid, unsigned block, ako_arg *args, int n_args)
{
    ako_call call = {.line = 1, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .cluster = {1, 1, 1}};
    snprintf(call.symbol, sizeof call.symbol, "%s", symbol);
    snprintf(call.label, sizeof call.label, "%s", symbol);
    call.args = args;
    call.n_args = n_args;
    return call;
}

#endif
