#include "runner_args.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

int ako_args_copy(ako_args *out, const ako_call *call)
{
    size_t n = (size_t)call->n_args;
    *out = (ako_args){.n = call->n_args};
    out->list = calloc(n + 1, sizeof *out->list);
    out->storage = calloc(n + 1, sizeof *out->storage);
    out->pointers = calloc(n + 1, sizeof *out->pointers);
    if (!out->list || !out->storage || !out->pointers)
        return ako_fail(AKO_NOMEM, "runner", "out of memory");
    for (size_t i = 0; i < n; i++) {
        out->list[i] = call->args[i];
        out->pointers[i] = &out->storage[i];
        if (call->args[i].kind != AKO_ARG_POINTER)
            memcpy(&out->storage[i], call->args[i].bits, sizeof call->args[i].bits);
    }
    return AKO_OK;
}

void ako_args_free(ako_args *args)
{
    free(args->list);
    free(args->storage);
    free(args->pointers);
    *args = (ako_args){0};
}

void ako_args_set(ako_args *args, void *const *addresses)
{
    for (int i = 0; i < args->n; i++)
        if (args->list[i].kind == AKO_ARG_POINTER)
            args->storage[i] = (uint64_t)(uintptr_t)addresses[args->list[i].buffer];
}
