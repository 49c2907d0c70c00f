/* The paired decision: is the candidate B faster than the incumbent A? Both are timed close together, in alternating
 * order, and judged by D = ln(b / a) of each pair, never by two medians taken one after the other. Looks after a few
 * sizes share the error: each has alpha / n_looks. The interval at a look is the exact rank interval of the median of D
 * (core/stats.h), the looks a Bonferroni split. Chen & Revels arXiv:1608.04295 and Bulej et al. arXiv:2001.05811 say
 * why pairs. All numbers come from the caller. */
#ifndef AKO_PAIRED_H
#define AKO_PAIRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AKO_LOOKS 8

/* How the pairs of several workloads become one number per round i; d[w] = ln(b/a) of workload w, weights w_w:
 * GEOMEAN sum(w_w d[w]) / sum(w_w), the log of the weighted geometric mean; TOTAL ln(sum w_w b / sum w_w a);
 * WORST max d[w], the workload that gains least. */
typedef enum ako_score { AKO_SCORE_GEOMEAN, AKO_SCORE_TOTAL, AKO_SCORE_WORST } ako_score;
int ako_score_parse(ako_score *out, const char *name); /* "geomean", "total", "worst" */
const char *ako_score_name(ako_score score);

typedef struct ako_paired_plan {
    int looks[AKO_LOOKS]; /* pairs at each look, ascending; the last is the most */
    int n_looks;
    double alpha;      /* two-sided error of all looks together */
    double threshold;  /* least gain to keep, as a share: 0.01 */
    double resolution; /* what one step of the clock makes of the score; the threshold is that much higher */
    bool strict;       /* keep only when the whole interval lies beyond the threshold */
    ako_score score;
    /* A pair is dropped when its two SM clocks differ by more than `clock_pair`, or one of them is further than
     * `clock_run` from the median of all; with more than `most_dropped` of the pairs gone the run is unstable. When
     * more than `one_sided` of a workload's differing pairs have one sign, the candidate moves the clock itself, and
     * they stay: if that is no chance (a sign test at alpha), or they are too many to be dropped. A round is dropped
     * when any workload's pair in it is. Shares; 0 switches the rule off. Pairs without clocks (0 MHz) always stay. */
    double clock_pair, clock_run, most_dropped, one_sided;
    double order_effect; /* medians of D of the two orders further apart than this are said; 0: not looked at */
    /* With a lag-1 autocorrelation of D above this, n rounds tell as much as n / 2: what was due at n / 2 is decided at
     * n, or at the end, and the interval is as wide as that of n / 2. 0: off. */
    double correlation;
} ako_paired_plan;

int ako_paired_plan_check(const ako_paired_plan *plan); /* AKO_INVALID says which number is wrong */

typedef struct ako_pair {
    int64_t a_ns, b_ns; /* incumbent and candidate, each the median of one sample's launches; above 0 */
    int a_mhz, b_mhz;   /* SM clocks, 0 unknown */
} ako_pair;             /* pair i has A first when i is even */

typedef enum ako_paired_verdict {
    AKO_PAIRED_GO_ON,
    AKO_PAIRED_KEEP,
    AKO_PAIRED_REVERT,
    AKO_PAIRED_INCONCLUSIVE,
    AKO_PAIRED_UNSTABLE
} ako_paired_verdict;
const char *ako_paired_verdict_name(ako_paired_verdict verdict); /* "keep" ... */

/* The median of D and its interval, as gains: gain = 1 - exp(D), so low belongs to the interval's upper end. */
typedef struct ako_gain {
    size_t n;          /* pairs behind it */
    double gain;       /* 0.02: the candidate takes 2 % less time */
    bool has_interval; /* false with too few pairs for alpha / n_looks */
    double low, high;
} ako_gain;

typedef struct ako_paired_result {
    ako_paired_verdict verdict;
    int look;              /* 0-based index of the last look that so many rounds reach, -1: none */
    size_t pairs, dropped; /* rounds measured; of these dropped for their clocks */
    ako_gain score;
    bool order_effect, clock_coupled, correlated;
    double lag1; /* autocorrelation of D */
} ako_paired_result;

/* Judges what has been measured so far: pairs[w][0 .. n-1] for each workload, `weights` one a workload. It decides when
 * n is one of the looks and says GO_ON between them; the last look, or `last` when nothing more will come, turns GO_ON
 * into INCONCLUSIVE. `last` between two looks decides too, as it takes the place of the look that will not come; with
 * fewer rounds than the first look nothing is decided. KEEP: the median gains the threshold and the whole interval is
 * below 0 (strict: gains the threshold too). REVERT: the whole interval gains less. AKO_INVALID: a wrong plan, n 0, a
 * time that is not positive, or weights that are negative or all 0. */
int ako_paired_look(ako_paired_result *out, const ako_paired_plan *plan, const ako_pair *const *pairs,
                    const double *weights, int n_workloads, size_t n, bool last);

/* The same estimate for one workload alone, for the record, at any n; its `n` leaves out what its clocks drop. */
int ako_paired_gain(ako_gain *out, const ako_paired_plan *plan, const ako_pair *pairs, size_t n);

#endif
