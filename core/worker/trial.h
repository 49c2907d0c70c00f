/* One trial on its way through the steps. Whatever a candidate does ends up in the answer, never as an error. */
#ifndef AKO_WORKER_TRIAL_H
#define AKO_WORKER_TRIAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "evaluator.h"
#include "paired.h"
#include "process.h"
#include "reader.h"

typedef struct trial_limits {
    int64_t build_ns, check_ns, time_ns; /* 0: none */
} trial_limits;

typedef struct trial_timing {
    int warmup, launches, most; /* launches: at least; most: as far as the budget goes */
    int long_launches;          /* of calls so long that `launches` take more than long_ns: so many are enough */
    int64_t long_ns;            /* 0: there are no such calls */
    bool flush, reference;      /* reference: time it too */
    bool compiled;              /* and as its framework compiles it */
    char timer[16];
    double alpha;
    double proof_share; /* of the timing's wall time, for verifying outputs of timed calls */
    int proof_least;    /* but so many calls of each workload in any case */
    int64_t budget_ns;  /* wall time for launches beyond the least */
} trial_timing;

typedef struct trial_pairs {
    ako_paired_plan plan;
    double hopeless;   /* times as slow as the incumbent at the first launches: reverted at once; 0: never */
    int64_t budget_ns; /* wall time for all pairs; 0: none */
} trial_pairs;

/* Time for a step. The candidate has it for the step as a whole; the referee, whose work is not the candidate's fault,
 * for each of its answers. */
typedef struct trial_budget {
    int64_t limit_ns; /* 0: none */
    int64_t candidate_left_ns;
} trial_budget;

typedef struct trial {
    evaluator *ev;
    json_t *answer;    /* borrowed */
    json_t *workloads; /* results, one a workload; borrowed from the answer */
    arm own;           /* where its solution runs */
    ako_unit *unit;
    int unit_index;      /* of it among the units that the referee's buffers were made for */
    ako_unit *incumbent; /* timed in turn with it; NULL: none */
    bool wants_check, wants_time;
    const json_t *seeds; /* of the check, borrowed */
    const json_t *wider; /* inputs beside the problem's own that the check tries, borrowed; NULL: none */
    trial_timing timing;
    trial_pairs pairs;
    trial_limits limits;
    trial_budget budget;
    build_job build, incumbent_build;
    int n_sets;
    bool is_control;       /* the incumbent is the candidate itself */
    bool incumbent_called; /* once, so that what it compiles at its first call is compiled */
    bool slow_reference;   /* not to be run more often than it must */
    json_t *own_error;     /* of the reference against itself in fp64, one a tensor; NULL: not asked for */
    const char *step;
    bool ended; /* status and reason are in the answer */
    int64_t started_ns, build_cost_ns, wait_cost_ns, check_cost_ns, time_cost_ns;
} trial;

/* trial_read.c: AKO_INVALID names the member that is wrong. */
int trial_read(trial *t, const json_t *request);
int trial_read_plan(trial *t, const json_t *request, const char *where); /* its numbers alone, for the steps it wants */
int trial_read_wider(const json_t **out, const ako_reader *reader);      /* its list of forms; NULL without */
int trial_read_unit(ako_unit **out, const trial *t, json_t *unit, const char *where);

/* trial_end.c: ends the trial with a status, a reason code and a reason. Returns AKO_OK, so that steps can return it.
 */
int trial_end(trial *t, const char *status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int trial_end_workload(trial *t, int workload, const char *status, const char *code, const char *reason);
void trial_begin_step(trial *t, const char *step, int64_t limit_ns);

/* trial_ask.c: a question to the process below. A failure of that process ends the trial and leaves *reply NULL, with
 * AKO_OK; other statuses mean that the host interrupted. The request is taken over, *reply is the caller's.
 * `workload` is the one that the question is about, or -1; a descriptor below 0 is none. */
int trial_ask_arm(trial *t, arm which, json_t **reply, const char *op, json_t *request, int fd, int workload);
int trial_ask_referee(trial *t, json_t **reply, const char *op, json_t *request, int workload);
/* A question whose answer may be that it cannot be done. A referee that is gone stays so until it is needed; *reply is
 * then NULL and this thread's error says why. */
int trial_ask_quietly(trial *t, json_t **reply, const char *op, json_t *request);
/* trial_exact.c: what the model in fp64 says of a set or a call, {"set"} or {"call"}, which is taken over. The first
 * makes a verdict PASSED that was wrong in numbers, or says in its "exact" why there is no such measure; the second
 * asks in any case when t->own_error is not known yet. The referee may be gone behind it. */
int trial_judge_exactly(trial *t, json_t *verdict, json_t *of);
int trial_learn_own_error(trial *t, json_t *verdict, json_t *of);
/* Wait for the answers to what was asked before the trial could wait; *memory receives the last one with a block. */
int trial_settle_arm(trial *t, arm which);
int trial_settle_referee(trial *t, json_t **memory);
int trial_prepare(trial *t, int workload, int set, int64_t seed, bool golden); /* golden: outputs will be verified */
/* With a golden, on wider inputs: {"seed","signed","times"}, see referee.h. */
int trial_prepare_wider(trial *t, int workload, int set, const json_t *form);
json_t *trial_wider_request(const trial *t, int workload, int set, const json_t *form); /* what that asks the referee */
int trial_prepare_loose(trial *t, int workload, int set, int64_t seed);                 /* for shifted views */
int trial_verify(trial *t, json_t **verdict, int set, int workload);

int trial_list_workloads(trial *t);     /* trial.c: an entry for each in the answer */
void trial_stop_workers(evaluator *ev); /* interrupted, what was still at work is ended; the next one starts it anew */
int trial_take_lock(trial *t, ako_lock **lock); /* trial.c: of the place where t->unit runs */
int trial_await_reference(trial *t);            /* trial_build.c */
int trial_hand_over_reference(trial *t);        /* trial_load.c: to the referee, which has its task */

int trial_build(trial *t); /* trial_build.c: waits for both builds */
int trial_await_solution(trial *t);
/* What a solution in Python asks for beside, once its own build is there; it has the limit of a build of its own. */
int trial_build_extensions(trial *t);
int trial_await_incumbent(trial *t);
/* trial_load.c: the buffers are asked for while the build runs; then the solution goes into the candidate. */
int trial_ask_memory(trial *t);
/* Takes the list over: what the buffers must be large enough for, and how many processes will be there at once. */
int trial_ask_memory_for(trial *t, json_t *units, int processes);
int trial_take_memory(trial *t, json_t **memory, int *fd); /* the answer, owned, and its descriptor or -1 */
int trial_load_arm(trial *t, arm which, const json_t *memory, int fd);
int trial_load(trial *t);
int trial_check(trial *t);                              /* trial_check.c */
int trial_time(trial *t);                               /* trial_time.c */
int trial_note_autotuned(trial *t, const json_t *told); /* trial_autotuned.c: a candidate's list goes into the answer */
int trial_compare(trial *t, bool *hopeless);            /* trial_pairs.c: the paired decision */

#define SLOW_REFERENCE_NS INT64_C(50000000)

#endif
