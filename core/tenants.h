/* Which of the processes that a GPU driver names are ours. */
#ifndef AKO_TENANTS_H
#define AKO_TENANTS_H

#include <stdbool.h>

#include "device.h"

/* False inside a PID namespace (most containers), where the driver's numbers are not the ones that we see. */
bool ako_pids_are_global(void);

/* This process, its ancestors, and everything below the topmost of these that is a program of ours ("ako-..."). */
bool ako_pid_is_ours(int pid);

/* Judges a driver's list of the processes on a GPU, as ako_device_tenants_get. Where the list has all of `ours` its
 * numbers are ours and each process can be looked at. Where it has as many or more under other numbers, it is counted:
 * what exceeds ours, and those of other programs of ours that can be seen, are strangers. Where it has fewer, it leaves
 * processes out and says nothing. */
int ako_tenants_judge(ako_device_tenants *out, const int *listed, int n, const int *ours, int n_ours);

#endif
