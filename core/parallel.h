/* Loops over large buffers, cut into contiguous parts for a few threads. */
#ifndef AKO_PARALLEL_H
#define AKO_PARALLEL_H

#include <stdint.h>

#define AKO_PARALLEL_PARTS 8

typedef void (*ako_parallel_part)(void *payload, int slot, uint64_t begin, uint64_t end);

/* Calls `part` for consecutive ranges that cover [0, count), on as many threads as there are CPUs to use, at most
 * AKO_PARALLEL_PARTS, each with at least `grain` items. Slots are numbered from 0 in the order of the ranges. Returns
 * the number of slots used, when all are done; a thread that cannot be had costs time and nothing else. */
int ako_parallel_run(uint64_t count, uint64_t grain, ako_parallel_part part, void *payload);

#endif
