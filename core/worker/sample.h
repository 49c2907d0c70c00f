/* Samples: a few timed calls of one arm in one request. Each call has a set of buffers and a view of its own, so no
 * call sees content or addresses that another has seen, and what each has written is still there when the request is
 * answered. Some of it, chosen in secret and after the fact, is then compared with the reference in full. */
#ifndef AKO_WORKER_SAMPLE_H
#define AKO_WORKER_SAMPLE_H

#include "exchange.h"
#include "trial.h"

#define GAPS 256

/* Which views of which sets are still fresh. */
typedef struct rotation {
    int n_sets, n_tensors;
    bool anew; /* every call has content of its own, made just before it, in the same place of its set */
    int used[EXCHANGE_SETS];
    unsigned char *step, *start; /* of each set and tensor: view number u is shifted by start + u * step; owned */
} rotation;

/* Calls to be timed; both arms of a pair get the same. */
typedef struct batch {
    json_t *calls; /* owned */
    int n;
    uint64_t seed;     /* of contents that must be made anew for every call: tasks with inout tensors */
    int turns;         /* arms that have been given it */
    int proven;        /* the set whose golden is made with them; -1 where goldens are made afterwards */
    bool back_to_back; /* with no flush between them all the same */
    bool discarded;    /* no sample counts: whether a call's work is in the order of its stream is looked at, too */
} batch;

/* What NVML said after each request (surroundings.h). */
typedef struct glances {
    int n, least_mhz, most_mhz; /* SM clocks; 0: unknown */
    uint64_t throttle_reasons;  /* of all together */
} glances;

/* What one arm's calls on one workload have given. */
typedef struct series {
    json_t *samples; /* owned; ns */
    int64_t wall_ns;
    int64_t events_ns; /* of all samples together by events, beside CUPTI's; 0: there are none */
    char timer[16], note[400];
    int sm_clock_mhz;
    double gaps_ns[GAPS]; /* of each request: how much longer a call took by our clock than by its sample */
    int n_gaps, calls_a_request;
    int64_t timed_ns, proof_ns;    /* wall time of requests and of their verification */
    int64_t inspect_ns, verify_ns; /* what one inspection costs, and each call that it compares in full */
    int verified;                  /* calls compared in full */
    glances glances;
} series;

/* The middle of a request's samples, for a pair. */
typedef struct sample {
    int64_t median_ns;
    int64_t sum_ns, took_ns; /* all launches, by their samples; the whole request, by the evaluator's clock */
    int mhz;
    bool keep_seen; /* asks for `seen`, what was read behind each call; the caller's */
    json_t *seen;
} sample;

bool task_has_inout(const ako_task *task);
uint64_t random_bits(void);

/* Fresh contents in all sets, and all views of them unused. */
int rotation_prepare(trial *t, rotation *r, int workload);
void rotation_free(rotation *r);
bool rotation_has(const rotation *r, int views); /* so many for each set; always, where they are made anew */

/* New contents for the calls of a batch, where they are made anew; what earlier calls left there is looked at first. */
int rotation_make(trial *t, rotation *r, int workload, const batch *b);

/* n <= n_sets calls on sets of their own; without a flush n calls on one view, whose data then lie in the cache. */
int batch_new(batch *out, const trial *t, rotation *r, int n);
void batch_free(batch *b);

/* How many launches the samples of a pair have, when one takes so long. */
int sample_launches(const trial *t, int64_t ns);

/* Times a batch on an arm; `warmup` calls on other views come first. `proofs` is how many more samples are expected, so
 * that the least number of verified calls is reached. Adds to `s`; *out may be NULL. Anything wrong ends the trial. */
int sample_take(trial *t, arm which, int workload, rotation *r, batch *b, int warmup, const char *timer, int expected,
                series *s, sample *out);

/* A batch that both arms of a pair were given, one after the other. */
typedef struct two_turns {
    arm first, last;
    int workload;
    const batch *batch;
    const sample *taken; /* by arm, with what was `seen` */
} two_turns;

/* agree.c: both must have left the same; ends the trial for the one that was wrong. */
int arms_compare(trial *t, const two_turns *turns);

/* What the reference says of a call whose outputs, with its `seen`, the arm that came last has left; where calls leave
 * none to be looked at, that is the verdict. Ends the trial for damage. */
int sample_look_back(json_t **verdict, trial *t, int workload, json_t *call);

/* Ends the trial for one of two arms that disagree, by that verdict: the first one where the last one was right. */
int sample_blame(trial *t, const two_turns *turns, const json_t *verdict);

int sample_check_set(trial *t, int workload, int set); /* red zones and inputs of one */

/* After a rotation's last sample: red zones and inputs of all sets. */
int sample_check_sets(trial *t, const rotation *r, int workload);

/* The two clocks over all of a series, and the physical floor. */
int series_judge(trial *t, const series *s, int workload);
bool series_wants_more(const trial *t, const series *s,
                       int workload);                      /* too few requests for what they make one suspect */
double series_mean(const series *s);                       /* ns; 0 without samples */
double series_step_share(const trial *t, const series *s); /* a step of its clock by its median */
int series_put(trial *t, const series *s, int workload, const char *key); /* its summary into the answer */
void series_free(series *s);

/* audit.c: the second clock once more, for a candidate that would be kept: `claimed_ns` and `incumbent_ns` are what a
 * call takes by the samples of the two. Ends the trial where the claim cannot be true. */
int audit(trial *t, int workload, double claimed_ns, double incumbent_ns);

/* calibrate.c: once an evaluator and kind of plan. */
int calibrate(trial *t);

#endif
