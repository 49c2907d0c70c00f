/* What referee and candidate both know about the buffers between them. */
#ifndef AKO_WORKER_EXCHANGE_H
#define AKO_WORKER_EXCHANGE_H

#include <jansson.h>

#include "arena.h"
#include "memory.h"
#include "unit.h"
#include "wire.h"

#define EXCHANGE_SETS 9 /* at most: a sample calls on each set once */

/* Sets of buffers, alike, one behind the other in one block. */
typedef struct exchange_sets {
    int n;
    uint64_t stride; /* bytes from one to the next */
    ako_memory *block;
} exchange_sets;

void *exchange_base(const exchange_sets *sets, int set);

ako_place exchange_place(const char *name); /* "gpu", else the CPU */
const char *exchange_place_name(ako_place place);

/* Addresses of all spans in a block; absent ones are NULL. The caller frees the vector; NULL: out of memory. */
void **exchange_addresses(const ako_arena *arena, void *base);

/* A copy of the layout with the views shifted: `shifts` has one integer a span, in steps of AKO_SHIFT; spans without
 * slack and those it does not name stay. */
int exchange_view(ako_arena *out, const ako_arena *arena, const json_t *shifts);

/* Places (ako_place_of) to look at after a call: some in each output, which follow from the seed that the call was
 * given. The number is the same for all calls of a task; NULL counts them. */
int exchange_places(uint64_t *out, const ako_task *task, const ako_arena *view, void *base, uint64_t seed);

/* Replaces the symbols of a unit by those of a build: an array of strings, or NULL for a lane that has none. */
int exchange_lower(ako_unit *unit, const json_t *lowered);

/* Adds {"sets","stride","handle"} to `answer`; *fd is a descriptor that goes with it and stays the block's, or -1. */
int exchange_export(json_t *answer, int *fd, const exchange_sets *sets);

/* The descriptor that came with such a message: blocks on the CPU have one and no handle. -1: none. The caller closes
 * it. */
int exchange_take(ako_wire *wire, const json_t *message);

/* Maps the block of a message with "sets", "stride" and "handle", whose descriptor `wire` has received. */
int exchange_import(exchange_sets *out, const json_t *message, ako_wire *wire, ako_place place);

void exchange_free(exchange_sets *sets);

#endif
