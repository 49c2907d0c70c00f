/* Buffers laid out in one block: 256-byte aligned, red zones before and after each. The same list of buffers gives the
 * same layout in every process, so only the block itself has to be handed over.
 *
 * Red zones hold one byte throughout, another one round what a kernel reads than round what it writes: a kernel that
 * copies past the end of both would otherwise leave what was there. Round inputs that is the poison, so that whoever
 * reads too far computes with NaN. */
#ifndef AKO_ARENA_H
#define AKO_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "ops.h"
#include "unit.h"

typedef struct ako_span {
    const char *name; /* borrowed */
    ako_dtype dtype;
    bool present;       /* false: takes no room, belongs to another block */
    bool filled;        /* its content is made by the caller; all else is poisoned */
    unsigned char zone; /* what each byte of its red zones holds */
    uint64_t offset, bytes, count;
    uint64_t slack; /* bytes by which the view may be shifted */
    uint64_t room;  /* bytes between the red zones: those of the view, and of the slack too once it is loose */
} ako_span;

#define AKO_SHIFT 256
#define AKO_SHIFTS 256 /* places that a view with slack can have */

typedef struct ako_arena {
    ako_span *spans;
    int n, capacity;
    uint64_t bytes; /* of the whole block */
} ako_arena;

/* Appends a buffer. AKO_LIMIT when the block would pass 2^60 bytes. */
int ako_arena_add(ako_arena *arena, const char *name, ako_dtype dtype, uint64_t count, bool filled);
int ako_arena_add_absent(ako_arena *arena, const char *name);
void ako_arena_free(ako_arena *arena);

/* What a candidate sees of a workload: the task's tensors, then the unit's scratch (the numbering of ako_arg). Outputs
 * and tensors with generated random or constant content have slack. The tensors lie in the same places for all units.
 */
int ako_arena_of_workload(ako_arena *out, const ako_task *task, const ako_unit *unit, int workload);

/* Keeps the first n spans and moves their red zones behind the slack, so that views can be shifted. */
void ako_arena_loosen(ako_arena *arena, int n);

void *ako_arena_address(const ako_arena *arena, int span, void *base);

/* Sets the red zones and poisons the buffers that are not filled. */
int ako_arena_poison(const ako_arena *arena, ako_ops *ops, void *base);

typedef struct ako_overrun {
    const char *name;  /* of the buffer; NULL: every red zone is intact */
    bool before;       /* before its start, else past its end */
    uint64_t distance; /* of the first touched byte: from its end, or to its start */
} ako_overrun;

int ako_arena_check(ako_overrun *out, const ako_arena *arena, ako_ops *ops, void *base);

#endif
