/* A screening: many candidates at once, to find the few that deserve a decision of their own. Every round takes one
 * sample of each candidate that is still in it, and one of the incumbent, in random order on the same views; a
 * candidate is judged by the incumbent of its own rounds. After some of the rounds the slower half leaves. What a
 * screening says about the best of many is flattered by chance: it ranks, and decides nothing.
 *
 * Each candidate is a trial of its own in a process of its own: what it does wrong ends that trial, and no other. */
#ifndef AKO_WORKER_SCREEN_H
#define AKO_WORKER_SCREEN_H

#include "paired.h"
#include "sample.h"
#include "trial.h"

#define SCREEN_UNITS 4096

typedef struct screen_plan {
    int rounds[AKO_LOOKS]; /* after which the slower ones leave, ascending; the last is the most */
    int n_rounds;
    double hopeless; /* times as slow as the incumbent at the first launches: leaves at once; 0: never */
    double share;    /* of those in it that stay after a cut */
    int keep;        /* but at least so many */
    int most;        /* processes at once, beside the incumbent's */
} screen_plan;

enum { SAME_AS_NOBODY = -2, SAME_AS_INCUMBENT = -1 };

typedef struct entrant {
    trial trial;
    int same_as;         /* of an earlier entrant, or one of the two above: same machine code and launches */
    bool checked;        /* its outputs have been right for all seeds */
    const char *left;    /* "", or why it is in no further round: "same", "failed", "hopeless", "slower" */
    ako_pair **pairs;    /* [workload][round]; a is the incumbent */
    series *series;      /* by workload */
    int64_t *first_ns;   /* by workload: a call at its first launches */
    int rounds;          /* that it has been through, in the last field that it was in */
    double times_slower; /* of a hopeless one */
    ako_gain gain;       /* after them */
} entrant;

typedef struct screening {
    evaluator *ev;
    trial base; /* of the incumbent: when this ends, so does the screening */
    entrant *entrants;
    int n, n_workloads;
    screen_plan plan;
    double *weights;
    json_t *memory; /* the referee's blocks; NULL: not yet */
    int fd;
} screening;

/* Those that are timed together. */
typedef struct field {
    screening *screening;
    entrant **live;
    int n;
    int *launches;  /* of a sample, by workload; 0: not known yet */
    series *series; /* of the incumbent, by workload */
} field;

/* screen_read.c: a request's units, numbers and incumbent. AKO_INVALID names the member that is wrong. */
int screen_read(screening *s, const json_t *request);

/* screen_build.c: builds all, so many at once as there are builders, and finds those that are the same as another. */
int screen_build(screening *s);

/* screen_rounds.c: the rounds of a field whose processes are loaded and checked, under the device's lock. At most
 * `keep` or the plan's share are still in it afterwards, best first. */
int screen_rounds(field *f);

/* screen_answer.c: what the host gets. */
int screen_answer(screening *s, json_t *answer);

/* screen.c: after anything that an entrant was asked. What has broken the referee breaks the screening. */
int screen_settle(screening *s, entrant *e, int status);
void screen_leave(entrant *e, const char *why); /* ends its process too */
bool screen_is_live(const entrant *e);

#endif
