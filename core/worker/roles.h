/* The roles of ako-worker. Each runs until its peer is gone and returns the program's exit code. */
#ifndef AKO_WORKER_ROLES_H
#define AKO_WORKER_ROLES_H

#include <stdbool.h>

#include "wire.h"

/* run.c: a role by its name, which must be one. Takes the channel over. */
bool role_exists(const char *name);
int role_run(const char *name, int channel);

int role_evaluator(ako_wire *wire); /* the host's peer: starts, limits and kills the others */
int role_builder(ako_wire *wire);   /* sources to binaries */
int role_referee(ako_wire *wire);   /* inputs, goldens, comparison: the truth */
int role_candidate(ako_wire *wire); /* runs the code under test */

#endif
