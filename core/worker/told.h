/* What a Python process is told of the task before it loads anything. */
#ifndef AKO_WORKER_TOLD_H
#define AKO_WORKER_TOLD_H

#include <jansson.h>

#include "runner.h"

int start_hooks(ako_place place);

/* Nothing to do for the lanes that need no such thing. */
int tell_task(ako_lane lane, const json_t *task);

#endif
