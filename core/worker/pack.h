/* Values that JSON has no word for. */
#ifndef AKO_WORKER_PACK_H
#define AKO_WORKER_PACK_H

#include <jansson.h>
#include <stddef.h>

/* A string of any bytes: what is not UTF-8 becomes '?'. */
json_t *pack_text(const char *text, size_t size);

/* A real; "nan", "inf" and "-inf" as strings. */
json_t *pack_real(double value);

/* Adds all members to `object`, which stays the caller's; `members` is taken over. AKO_NOMEM when it is NULL. */
int pack_into(json_t *object, json_t *members);

#endif
