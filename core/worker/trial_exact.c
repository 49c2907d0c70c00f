/* Where numbers differ from those of a reference in Python, the same model in fp64 may say that it is the reference
 * which is off (referee_exact.c). It is asked apart: of a model that hangs there or ends its process nothing is known
 * of the solution, and what the reference said stands. */
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "error.h"
#include "pack.h"
#include "trial.h"
#include "verdict.h"

static bool differs_in_numbers(const json_t *verdict)
{
    const char *code = json_string_value(json_object_get(verdict, "code"));
    return code && strcmp(code, "numerical") == 0;
}

/* "": the referee has said it. */
static void explain(char *out, size_t size, const trial *t, const json_t *reply)
{
    const char *fault = json_string_value(json_object_get(reply, "fault"));
    bool answered = reply && ako_answer_status(reply, "referee") == AKO_OK;
    if (fault || answered)
        snprintf(out, size, "%s", fault ? fault : "");
    else if (reply)
        snprintf(out, size, "%.700s", ako_error_last()->message);
    else if (ako_error_last()->status == AKO_TIMEOUT)
        snprintf(out, size, "in fp64 the model took longer than %.3g s", (double)t->budget.limit_ns / 1e9);
    else
        snprintf(out, size, "in fp64 the model's process ended: %.700s", ako_error_last()->message);
}

static int ask(trial *t, json_t **reply, json_t *of)
{
    char why[900] = "";
    int status = trial_ask_quietly(t, reply, "exact", of);
    if (status == AKO_OK)
        explain(why, sizeof why, t, *reply);
    if (!why[0])
        return status;
    json_decref(*reply);
    *reply = json_pack("{s:{s:o}}", "exact", "unavailable", pack_text(why, strlen(why)));
    return *reply ? AKO_OK : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
}

static bool has_measure(const trial *t)
{
    return t->ev->task->tolerance.exact > 0 && ako_lane_is_python(t->ev->reference->lane);
}

static int judge(trial *t, json_t *verdict, json_t *of, bool learn)
{
    json_t *reply = NULL;
    int status = ask(t, &reply, of);
    bool right = differs_in_numbers(verdict) && json_is_true(json_object_get(reply, "right"));
    if (status == AKO_OK && learn) {
        json_t *list = json_object_get(reply, "own_error");
        t->own_error = list ? json_incref(list) : json_array();
    }
    if (status == AKO_OK)
        status = pack_into(verdict, json_pack("{s:O*}", "exact", json_object_get(reply, "exact")));
    if (status == AKO_OK && right)
        status = verdict_put_passed(verdict);
    json_decref(reply);
    return status;
}

int trial_judge_exactly(trial *t, json_t *verdict, json_t *of)
{
    if (has_measure(t) && differs_in_numbers(verdict))
        return judge(t, verdict, of, false);
    json_decref(of);
    return AKO_OK;
}

int trial_learn_own_error(trial *t, json_t *verdict, json_t *of)
{
    if (has_measure(t) && !t->own_error)
        return judge(t, verdict, of, true);
    return trial_judge_exactly(t, verdict, of);
}
