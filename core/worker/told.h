/* What a Python process is told of the task before it loads anything, and what it is asked. */
#ifndef AKO_WORKER_TOLD_H
#define AKO_WORKER_TOLD_H

#include <jansson.h>

#include "runner.h"

int start_hooks(ako_place place);
int choose_variant(const char *name); /* AKO_UNAVAILABLE where there is none */

/* Nothing to do for the lanes that need no such thing. */
int tell_task(ako_lane lane, const json_t *task);
int tell_extensions(ako_lane lane, const json_t *built); /* NULL: there are none */

/* Adds "autotuned" to an answer, where the process has something to say of it. */
int ask_autotuned(ako_lane lane, json_t *answer);

/* The op "describe" of both roles, {"path","question"}: what a file asks for, in words of its own. Answers with
 * "description". */
int describe_file(const json_t *request, json_t *answer);

#endif
