/* The referee: owns every buffer, makes inputs and goldens from seeds that no candidate ever sees, and compares. */
#ifndef AKO_WORKER_REFEREE_H
#define AKO_WORKER_REFEREE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "arena.h"
#include "error.h"
#include "exchange.h"
#include "ops.h"
#include "runner.h"
#include "tensor.h"
#include "timing.h"
#include "unit.h"

/* A problem's own inputs, or wider ones: so many times as large, of both signs. */
typedef struct input_form {
    bool is_signed;
    double times;
} input_form;

/* What a set of buffers holds at the moment. */
typedef struct prepared {
    bool ready;    /* filled */
    bool provable; /* its golden is there too */
    bool loose;    /* for timing: views shift within rooms full of inputs */
    bool known;    /* its seed is one of the check's, which come back in the next trial */
    input_form form;
    int workload;
    ako_arena arena;        /* of the exported block: the task's tensors, the solution's scratch */
    ako_arena golden_arena; /* of the golden block: outputs, and the reference's scratch where it runs in place */
    void *base, *golden;    /* addresses of both blocks */
    uint64_t *hashes;       /* of the inputs, one a tensor */
} prepared;

typedef struct golden_entry {
    int workload;
    input_form form;
    uint64_t seed;
    ako_memory *block;
} golden_entry;

/* Goldens of references too slow to be run again for every candidate. */
typedef struct golden_cache {
    golden_entry *entries;
    int n, capacity;
    uint64_t bytes, budget;
} golden_cache;

typedef struct file_content {
    bool loaded;
    ako_tensor tensor;
} file_content;

typedef struct referee {
    ako_ops *ops[2];    /* by ako_place; NULL: not opened */
    uint64_t gpu_bytes; /* memory of the whole device */
    char files[PATH_MAX];
    ako_task *task;
    file_content *contents; /* one a tensor, loaded when first needed */
    ako_unit *reference;
    ako_runner *runner;
    int bound;    /* workload that the runner has, -1: none */
    bool *proven; /* workloads whose inputs the reference is known to leave alone */
    ako_timer *timer;
    ako_timer_kind timer_kind; /* as asked for */
    ako_place timer_place;
    ako_unit **units; /* that run on the exported blocks, for their scratch buffers and their place */
    int n_units;
    int processes;   /* that will map the blocks at once, each with a context of its own */
    int room_for;    /* for so many there was room when the blocks were made */
    ako_place place; /* of the exported blocks */
    exchange_sets sets;
    bool sets_failed;   /* there was no room for as many as would be good */
    ako_memory *golden; /* of one set at a time */
    ako_memory *away;   /* tensors and scratch of a reference that runs in another place */
    prepared prepared[EXCHANGE_SETS];
    golden_cache cache;
} referee;

/* Failures of the reference are no errors: they fill this, and the status stays AKO_OK. */
typedef struct reference_fault {
    char reason[700]; /* "" when all is well */
    bool poisoned;    /* its CUDA context is gone: this process must go too */
} reference_fault;

static inline ako_ops *referee_ops(const referee *r)
{
    return r->ops[r->place];
}

static inline int referee_out_of_memory(void)
{
    return ako_fail(AKO_NOMEM, "referee", "out of memory");
}

/* referee_memory.c: blocks as large as the largest workload needs, kept from trial to trial. */
int referee_allocate(referee *r);
void referee_release(referee *r);
int referee_golden_arena(ako_arena *out, const referee *r, int workload);
bool referee_runs_away(const referee *r); /* the reference runs in another place than the solution */

/* referee_inputs.c */
int referee_fill(referee *r, const prepared *p, uint64_t seed);
/* The inputs that the problem's own code makes: one of them, or all (-1). */
int referee_fill_from_problem(referee *r, const prepared *p, uint64_t seed, int only);
int referee_hash(referee *r, const prepared *p, uint64_t *hashes);
void referee_forget_files(referee *r);

/* referee_golden.c */
int referee_bind(referee *r, int workload, reference_fault *fault);
/* *took_ns: how long the reference ran, 0 when its golden was kept. */
int referee_make_golden(referee *r, prepared *p, uint64_t seed, int64_t *took_ns, reference_fault *fault);
/* The reference on what the inputs hold now; its result lies in p->golden and is not kept. */
int referee_run(referee *r, prepared *p, reference_fault *fault);
void golden_cache_clear(golden_cache *cache);

/* referee_verify.c: adds status, reason, code and figures to `answer`. */
int referee_verify(referee *r, const prepared *p, json_t *answer);
int referee_describe_overrun(char *out, size_t size, const ako_arena *arena, ako_ops *ops, void *base);

int referee_compare_outputs(json_t *answer, referee *r, const prepared *p);

/* referee_exact.c: of outputs that differ from the reference's in p->golden, whether they are "right" where its own
 * precision explains it, with the figures in "exact", or why there is no such measure; and "own_error", how far off the
 * reference itself is, a number a tensor. */
int referee_judge_exactly(json_t *answer, referee *r, const prepared *p);

int referee_verify_intact(referee *r, const prepared *p, json_t *answer); /* red zones and inputs alone */

/* referee_inspect.c: {"calls","full"} on loose sets; what timed calls have left there. Adds status, code, reason,
 * "verify_ns", the cost of a full comparison, and "compared", how many of `full` there were. */
int referee_inspect(referee *r, const json_t *request, json_t *answer, reference_fault *fault);
int referee_judge_call(referee *r, const json_t *call, json_t *answer, reference_fault *fault); /* by fp64 */
int referee_wipe(referee *r, const json_t *request); /* {"calls"} on loose sets: poison in their outputs */

/* referee_attack.c: the task's self-test on a prepared set, which must be prepared anew after it. */
int referee_attack(referee *r, prepared *p, const json_t *request, json_t *answer, reference_fault *fault);

#endif
