/* Timed launches of a runner: a plan in, raw samples in integer nanoseconds out. A paired decision is turns of short
 * plans (warmup 0, a few launches) on an open timer: the caller owns the order. */
#ifndef AKO_TIMING_H
#define AKO_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"
#include "runner.h"

typedef enum ako_timer_kind { AKO_TIMER_AUTO, AKO_TIMER_EVENTS, AKO_TIMER_CUPTI, AKO_TIMER_WALL } ako_timer_kind;
int ako_timer_kind_parse(ako_timer_kind *out, const char *name); /* "auto", "events", "cupti", "wall" */
const char *ako_timer_kind_name(ako_timer_kind kind);

typedef struct ako_timer ako_timer;

/* A timer for this process and place. GPU: the flush buffer (twice the device's L2, allocated once), events, and for
 * CUPTI the activity callbacks (AUTO tries CUPTI and falls back to events; ako_timer_note says why). CPU: wall clock;
 * the flush walks twice the last-level cache. Creation of the CUPTI part before the context is fine. */
int ako_timer_new(ako_timer **out, ako_place place, ako_timer_kind kind);
void ako_timer_free(ako_timer *timer);
ako_timer_kind ako_timer_used(const ako_timer *timer); /* never AUTO */
const char *ako_timer_note(const ako_timer *timer);    /* "" or why CUPTI is not used and what to change */

/* Elements (ako_place_of) that are read the moment a timed call has returned, on a GPU in stream order: what is not
 * there by then was not done by the call. */
typedef struct ako_watch {
    int n;                  /* places a call */
    const uint64_t *places; /* n for each timed call */
    uint64_t *seen;         /* likewise; filled */
} ako_watch;

#define AKO_WATCHED 4096 /* places in a plan at most */

#define AKO_LOOSE_NS INT64_C(10000000)

typedef struct ako_time_plan {
    int warmup;             /* untimed calls first */
    int launches;           /* timed calls */
    bool flush;             /* L2 (or last-level cache) flush before each, persisting lines reset */
    int64_t budget_ns;      /* stop after this much wall time even with fewer launches; 0: none */
    int least;              /* but not before so many; 0 is 1 */
    ako_timer_kind kind;    /* AUTO: the best that the timer has; EVENTS and WALL are there on every GPU */
    const ako_watch *watch; /* may be NULL */
    bool loose;             /* the first call is made twice more beforehand, for loose_ns */
} ako_time_plan;

typedef struct ako_time_result {
    int n;
    int64_t *samples_ns; /* n values; the caller frees */
    int64_t events_ns;   /* of all calls together by events round each, where the samples are CUPTI's; else 0 */
    int64_t wall_ns;     /* the whole of the timed part by the host clock, flushes included */
    int64_t wall_min_ns; /* smallest host time from launch to sync of one call, a bound for its sample; on a GPU taken
                            from the warm-up, 0 when there was none */
    int sm_clock_mhz;    /* on a GPU, by a kernel before the first and after the last call; else 0 */
    int64_t loose_ns;  /* of a call's work, what ran before the stream's earlier work was done, or after its later work
                          had begun; 0 where that was not asked for or cannot be known: without CUPTI, and for calls
                          of more than AKO_LOOSE_NS, whose results tell */
    int64_t carve_out; /* bytes of the L2 that are set aside for persisting lines after the calls; then set to 0 */
} ako_time_result;

/* Runs the plan; the calls, warm-up first, use address sets sets[i % n_sets]. Faults of the runner come back as they
 * are. */
int ako_timer_run(ako_timer *timer, ako_runner *runner, void *const *const *sets, int n_sets, const ako_time_plan *plan,
                  ako_time_result *out);

/* What the candidate lacks on this machine is INFRA, not its fault: AKO_UNAVAILABLE. */

#endif
