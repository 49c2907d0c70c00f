/* Results that no work, or less work than was asked for, can give: what the task's own check must refuse. They are made
 * on the host, from copies of the golden output of the reference. */
#ifndef AKO_WORKER_NULL_RESULTS_H
#define AKO_WORKER_NULL_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype.h"

/* An output, or of a large one its beginning. All buffers have room for `bytes`. */
typedef struct specimen {
    int tensor; /* its number in the task */
    ako_dtype dtype;
    uint64_t count, whole; /* elements: here, and of the whole tensor */
    uint64_t row;          /* elements of a row */
    size_t bytes;
    unsigned char *golden; /* the right answer */
    unsigned char *other;  /* the right answer for another seed; NULL where every seed gives the same inputs */
    unsigned char *got;    /* the null result */
} specimen;

typedef struct specimen_figures {
    double rms, mean, min, max; /* over finite values; all 0 when there are none */
    uint64_t nan, inf;
} specimen_figures;

specimen_figures specimen_measure(const specimen *s);

void null_zeros(specimen *s);
void null_constant(specimen *s, double value);                           /* rounded to the dtype */
void null_poison(specimen *s);                                           /* as never written */
void null_copy(specimen *s, const unsigned char *content, size_t bytes); /* repeated or cut; bytes > 0 */
void null_other_seed(specimen *s);                                       /* needs `other` */
/* Right but for one row, which is of another seed, or else holds `filler`: the row where that shows most. */
void null_one_row(specimen *s, double filler);
/* Rounded to a lower type and back. */
void null_cast(specimen *s, ako_dtype lower);
/* Not null at all: each value one step away from the right one, as another order of the same sums may give it. */
void near_golden(specimen *s);

bool specimen_is_golden(const specimen *s); /* got has the golden's bits */

/* The float types below `dtype`, at most two; returns how many. */
int lower_dtypes(ako_dtype lower[2], ako_dtype dtype);

#endif
