/* Environments of child processes. */
#ifndef AKO_ENVIRONMENT_H
#define AKO_ENVIRONMENT_H

/* This process's environment with `settings` ("NAME=value", NULL at the end) in the place of what it says for these
 * names. The caller frees the list, not the strings, which are borrowed. NULL when memory is short. */
const char **ako_environment_with(const char *const *settings);

#endif
