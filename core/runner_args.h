/* The argument block of one bound call: what a launch needs, laid out once, so that a call only writes addresses. */
#ifndef AKO_RUNNER_ARGS_H
#define AKO_RUNNER_ARGS_H

#include "runner.h"

typedef struct ako_args {
    int n;
    ako_arg *list;     /* copied */
    uint64_t *storage; /* one slot each: an address, or the bits of a value */
    void **pointers;   /* to the slots, as CUDA and libffi take them; ends in NULL */
} ako_args;

int ako_args_copy(ako_args *out, const ako_call *call); /* AKO_NOMEM; free in any case */
void ako_args_free(ako_args *args);

/* Writes the addresses of this call's buffers into the slots of the pointers. */
void ako_args_set(ako_args *args, void *const *addresses);

#endif
