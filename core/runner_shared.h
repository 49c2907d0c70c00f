/* The half of the runner that calls a host function of a shared object. */
#ifndef AKO_RUNNER_SHARED_H
#define AKO_RUNNER_SHARED_H

#include "runner.h"

typedef struct ako_shared ako_shared;

/* Loads a shared object with all its symbols resolved. AKO_INVALID when it does not load: the file is the user's. */
int ako_shared_open(ako_shared **out, const char *path);
void ako_shared_free(ako_shared *shared);

/* Finds the entries and prepares their calls. */
int ako_shared_bind(ako_shared *shared, const ako_call *calls, int n_calls);

/* Calls the entries in order; a result that one returns is dropped. */
void ako_shared_launch(ako_shared *shared, void *const *addresses);

#endif
