/* The steps of confinement that have files of their own. Internal to core. */
#ifndef AKO_CONFINE_PARTS_H
#define AKO_CONFINE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "memory.h"

/* confine_files.c: Landlock. Needs no_new_privs. Returns whether it is in force. */
bool ako_confine_files(char *report, size_t size, ako_place place, const char *folder);

/* confine_calls.c: a seccomp filter on all threads. Needs no_new_privs. Returns whether it is in force. */
int ako_confine_calls(char *report, size_t size, ako_place place, bool threads_only);

/* Writes "unavailable: WHAT: text of errno". */
void ako_confine_unavailable(char *report, size_t size, const char *what);

#endif
