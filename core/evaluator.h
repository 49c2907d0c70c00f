/* The host's end of an evaluator: starts `ako-worker evaluator` and speaks docs/protocol.md with it. */
#ifndef AKO_EVALUATOR_H
#define AKO_EVALUATOR_H

#include "json.h"

typedef struct ako_evaluator ako_evaluator;

/* `worker`: path of ako-worker; NULL: $AKO_WORKER, beside the running program, or ../libexec/ako-lua. */
int ako_evaluator_start(ako_evaluator **out, const char *worker);

/* Called for each progress event (borrowed); a non-zero return cancels the request. */
typedef int (*ako_evaluator_progress)(void *payload, const ako_json *event);

/* Sends {"op":..., ...} with a fresh id (the request is taken over) and waits for its answer. A negative answer comes
 * back as its status with the evaluator's text; AKO_CHILD when the evaluator died; AKO_CANCELLED on ako_cancel_request
 * (the evaluator is then told, kills what it runs and stays usable). */
int ako_evaluator_request(ako_evaluator *evaluator, ako_json **answer, ako_json *request,
                          ako_evaluator_progress progress, void *payload);

/* Uploads a file in pieces for tensors with init.file; *key is a static-size content hash. */
int ako_evaluator_upload(ako_evaluator *evaluator, char key[65], const char *path);

void ako_evaluator_stop(ako_evaluator *evaluator); /* close, then kill the tree; NULL is fine */

#endif
