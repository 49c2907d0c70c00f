/* The candidate's confinement: when its halves are applied, and what its answer to `open` says of them. */
#ifndef AKO_WORKER_CONFINED_H
#define AKO_WORKER_CONFINED_H

#include <jansson.h>
#include <stdbool.h>

#include "confine.h"

typedef struct confined {
    bool begun, finished;
    ako_confinement report;
} confined;

/* Round the start of CUDA, at the first `open` of a process; later ones change nothing. $TMPDIR is the process's own
 * folder (room.h). The answer gets "confinement". */
int confined_begin(confined *c, ako_place place);
int confined_finish(confined *c, json_t *answer, ako_place place);

/* For code that was allowed to start programs: no more from now on. The answer gets "seccomp". */
int confined_settle(json_t *answer, ako_place place);

/* Just before foreign code is loaded: $HOME, which the search for CUDA's libraries needed, is the folder from now on.
 */
void confined_leave_home(void);

#endif
