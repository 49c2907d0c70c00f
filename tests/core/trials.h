/* What tests of whole trials share: an evaluator, requests that must not fail, a trial's message. */
#ifndef TRIALS_H
#define TRIALS_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "evaluator.h"
#include "fs.h"

static json_t *request(ako_evaluator *e, json_t *message)
{
    ako_json *answer;
    int status = ako_evaluator_request(e, &answer, message, NULL, NULL);
    if (status != AKO_OK)
        fail_msg("%s: %s", ako_status_name(status), ako_error_last()->message);
    return answer;
}

static ako_evaluator *start(const char *device)
{
    ako_evaluator *e;
    char *here, worker[4096];
    assert_int_equal(ako_fs_program_dir(&here), AKO_OK);
    snprintf(worker, sizeof worker, "%s/../ako-worker", here);
    free(here);
    if (ako_evaluator_start(&e, worker) != AKO_OK)
        fail_msg("%s", ako_error_last()->message);
    json_decref(request(e, json_pack("{s:s, s:i, s:s}", "op", "hello", "protocol", 1, "device", device)));
    return e;
}

static void set_task(ako_evaluator *e, json_t *value)
{
    json_decref(request(e, json_pack("{s:s, s:o}", "op", "task", "task", value)));
}

static json_t *trial_message(json_t *solution, int64_t limit_ms)
{
    json_int_t ns = limit_ms * 1000000;
    return json_pack("{s:s, s:o, s:[s, s, s], s:{s:[i, i, i]}, s:{s:i, s:i, s:b, s:b, s:I}, s:{s:I, s:I, s:I}}", "op",
                     "trial", "unit", solution, "steps", "build", "check", "time", "check", "seeds", 1, 2, 3, "time",
                     "warmup", 2, "launches", 30, "flush", 1, "reference", 1, "seed", (json_int_t)INT64_MAX, "limits",
                     "build", (json_int_t)60000000000, "check", ns, "time", ns);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void assert_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not hold \"%s\"", text, part);
}

#endif
