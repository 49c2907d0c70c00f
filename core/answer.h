/* Answers of the evaluator protocol: {"id":7,"ok":true,...} or {"id":7,"ok":false,"code":"TIMEOUT","error":"..."}. */
#ifndef AKO_ANSWER_H
#define AKO_ANSWER_H

#include "json.h"

/* A negative answer that carries `status` and this thread's last error; NULL when out of memory. `id` is shared. */
ako_json *ako_answer_failure(ako_json *id, int status);

/* AKO_OK for a positive answer; of a negative one the status, with its text as this thread's error. AKO_CORRUPT when
 * it is neither. */
int ako_answer_status(const ako_json *answer, const char *domain);

#endif
