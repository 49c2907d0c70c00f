/* A verdict is a JSON object with "status", "code" and "reason": the referee's on outputs, or a trial's. */
#ifndef AKO_WORKER_VERDICT_H
#define AKO_WORKER_VERDICT_H

#include <jansson.h>
#include <stdbool.h>

/* Adds it to `answer`, in the place of what was said there before. AKO_NOMEM. */
int verdict_put(json_t *answer, const char *status, const char *code, const char *reason);
int verdict_put_passed(json_t *answer);

bool verdict_has_passed(const json_t *verdict); /* false for NULL, too */

#endif
