/* The evaluator's state, and what the steps of a trial need of it. It has no CUDA context: nothing a kernel does can
 * take it down. */
#ifndef AKO_WORKER_EVALUATOR_H
#define AKO_WORKER_EVALUATOR_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "child.h"
#include "device.h"
#include "ops.h"
#include "serve.h"
#include "unit.h"

#define BUILDERS 4

/* The processes with code under test, by number: the best so far, when others are timed in turn with it, and from
 * ARM_CANDIDATE on the solutions: one in a trial, many in a screening. */
typedef int arm;
enum { ARM_INCUMBENT, ARM_CANDIDATE, ARMS_OF_A_PAIR, ARMS = 33 };

typedef struct arm_process {
    ako_child child; /* a spare one, until a trial loads something into it */
    ako_place place;
    bool python;
} arm_process;

/* Where the Python lanes find what they run on; "": there is no such lane. */
typedef struct python_facts {
    char program[PATH_MAX]; /* the interpreter */
    char script[PATH_MAX];  /* stdlib/python/nursery.py */
    char library[PATH_MAX]; /* libako.so */
} python_facts;

/* What a request for timed calls costs beside the calls, by the evaluator's own clock: the other of the two clocks that
 * must agree. */
typedef struct calibration {
    bool done, flush; /* flush: with it */
    ako_place place;
    int64_t fixed_ns; /* a request without any call */
    int64_t each_ns;  /* for each call: its launch, its flush */
} calibration;

/* A build under way. */
typedef struct build_job {
    ako_child *builder; /* NULL: none */
    int64_t started_ns;
    json_t *output; /* the builder's answer once it is there, owned */
} build_job;

typedef struct evaluator {
    ako_server server;       /* towards the host */
    bool greeted;            /* hello has named the device */
    ako_device_props device; /* of the trials */
    ako_device_props cpu;
    ako_ops *cpu_ops;     /* for comparing a few values; NULL: not needed yet */
    char files[PATH_MAX]; /* folder of uploaded files, "" before the first */
    ako_task *task;
    ako_unit *reference;
    build_job reference_build;
    ako_child builders[BUILDERS];
    ako_child referee;
    bool referee_is_python;
    python_facts python;
    ako_child nursery;
    bool referee_has_task, referee_has_reference;
    arm_process arms[ARMS];
    calibration calibration;
    json_t *extensions; /* made before (extensions.c), the last one used first; owned */
} evaluator;

/* Waits for the next answer of a child and for what the host may say meanwhile. AKO_CANCELLED: the host wants the
 * request stopped; AKO_EOF: the host is gone; otherwise as child_poll, and AKO_TIMEOUT past the deadline (0: none). */
int evaluator_await(evaluator *ev, ako_child *child, json_t **answer, int64_t deadline_ns);

/* Waits until a child owes no answer: *answer is its last one, owned, or NULL where it owed none. Fails with the first
 * answer that is negative, and as evaluator_await. */
int evaluator_settle(evaluator *ev, ako_child *child, json_t **answer, int64_t deadline_ns);

/* Looks whether the host has said something: AKO_OK, AKO_CANCELLED or AKO_EOF. */
int evaluator_listen(evaluator *ev);

/* Tells the host how far the request at hand has come. */
void evaluator_progress(evaluator *ev, const char *step, int done, int total);
void evaluator_say(evaluator *ev, const char *step, const char *text); /* the same in words */

/* evaluator_build.c: builds run outside the lock, in parallel. */
int build_start(evaluator *ev, build_job *job, const ako_unit *unit, int64_t limit_ns);
/* Waits for it; a builder that is late is killed, with AKO_TIMEOUT. limit_ns 0: none. */
int build_await(evaluator *ev, build_job *job, int64_t limit_ns);
void build_drop(build_job *job); /* forgets it; a builder still at it is killed */
void builders_warm(evaluator *ev, ako_lane lane);

/* evaluator_children.c */
int referee_open(evaluator *ev, ako_place place, bool python); /* a new process and its context; does not wait */
int referee_start(evaluator *ev);                              /* and its context; does not wait */
int arm_start(evaluator *ev, arm which, ako_lane lane);        /* likewise, when there is no such one */
void arms_kill(evaluator *ev);

/* nursery.c. A start does not wait; a fork does, until PyTorch has been imported. AKO_UNAVAILABLE says what the
 * interpreter lacks. */
int nursery_start(evaluator *ev);
int nursery_fork(evaluator *ev, ako_child *child, const char *role, bool hostile);

/* turns.c: an arm runs on; it alone does, the others stand still until they are asked something. */
void turn_allow(const evaluator *ev, arm which);
void turn_give(const evaluator *ev, arm which);

json_t *unit_without_sources(const ako_unit *unit);
json_t *task_without_sources(const evaluator *ev);

/* extensions.c: builds what a Python solution asks for when it is imported; the job's output gets "extensions", a list
 * or {"error","log"}. What was built is remembered, so that the best is not looked into again with every candidate. */
int extensions_make(evaluator *ev, const ako_unit *unit, build_job *job, int64_t deadline_ns);

/* describe.c: the request "describe". */
int describe_run(evaluator *ev, const json_t *request, json_t *answer);

/* attack.c: the request "attack". */
int attack_run(evaluator *ev, const json_t *request, json_t *answer);

/* screen.c: the request "screen". */
int screen_run(evaluator *ev, const json_t *request, json_t *answer);

/* trial.c: the request "trial". */
int trial_run(evaluator *ev, const json_t *request, json_t *answer);

#endif
