/* The gain as an outer clock sees it: of each pair, how much less time the candidate's request took than the
 * incumbent's, beside how much less their samples say. Flushes and all else are alike on both sides; what a bent clock
 * claims is missing outside. On a noisy machine, as requests of the incumbent alone show it, this says nothing. */
#ifndef AKO_OUTSIDE_H
#define AKO_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ako_outside {
    int64_t candidate_ns, incumbent_ns;           /* sums of a request's samples */
    int64_t candidate_took_ns, incumbent_took_ns; /* the whole request, by the outer clock */
} ako_outside;

/* True when it is all but certain (exact rank interval, error 1 %) that the outer clock sees less than half of the
 * saving that the samples of n pairs claim. Savings of a request below `least_ns`, by which requests may differ for
 * reasons of their own, are left alone, and so are those that drown in what requests of the incumbent differ by. */
bool ako_outside_denies(const ako_outside *pairs, size_t n, double least_ns);

/* True when the candidate's quickest request of n pairs took, beside its samples, less than `share` of what the
 * incumbent's quickest one did: it leaves out what lies between the calls, their flushes above all. The quickest count,
 * for whatever else a machine is busy with only makes requests longer; fewer than six pairs say nothing. */
bool ako_outside_lacks(const ako_outside *pairs, size_t n, double share);

#endif
