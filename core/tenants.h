/* Which of the processes that a GPU driver names are ours. */
#ifndef AKO_TENANTS_H
#define AKO_TENANTS_H

#include <stdbool.h>

/* False inside a PID namespace (most containers), where the driver's numbers are not the ones that we see. */
bool ako_pids_are_global(void);

/* This process, its ancestors, and everything below the topmost of these that is a program of ours ("ako-..."). */
bool ako_pid_is_ours(int pid);

#endif
