/* What referee and candidate both know about the buffers between them. */
#ifndef AKO_WORKER_EXCHANGE_H
#define AKO_WORKER_EXCHANGE_H

#include <jansson.h>

#include "arena.h"
#include "memory.h"
#include "unit.h"
#include "wire.h"

#define EXCHANGE_SETS 2 /* rotated, so that no address has the same content twice in a row */

typedef struct exchange_sets {
    int n; /* 1 where memory does not allow more */
    ako_memory *blocks[EXCHANGE_SETS];
} exchange_sets;

ako_place exchange_place(const char *name); /* "gpu", else the CPU */
const char *exchange_place_name(ako_place place);

/* Addresses of all spans in a block; absent ones are NULL. The caller frees the vector; NULL: out of memory. */
void **exchange_addresses(const ako_arena *arena, void *base);

/* Replaces the symbols of a unit by those of a build: an array of strings, or NULL for a lane that has none. */
int exchange_lower(ako_unit *unit, const json_t *lowered);

/* Adds {"bytes","handles"} to `answer` and the descriptors to `fds` (room for EXCHANGE_SETS), which stay the blocks'.
 */
int exchange_export(json_t *answer, int *fds, int *n_fds, const exchange_sets *sets);

/* The descriptors that came with such a message, in order: blocks on the CPU have one each and no handle. The caller
 * closes them. */
int exchange_take(int fds[EXCHANGE_SETS], ako_wire *wire, const json_t *message);
void exchange_close(const int *fds, int n);

/* Maps the blocks of a message with "bytes" and "handles", whose descriptors `wire` has received. */
int exchange_import(exchange_sets *out, const json_t *message, ako_wire *wire, ako_place place);

void exchange_free(exchange_sets *sets);

#endif
