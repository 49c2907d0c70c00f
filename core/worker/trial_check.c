#include <math.h>

#include "error.h"
#include "pack.h"
#include "trial.h"
#include "verdict.h"

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : INFINITY;
}

/* A workload shows its failure, or else the seed with the largest error. */
static void record(trial *t, int workload, const json_t *verdict)
{
    static const char *const members[] = {"status",   "reason", "tensor", "max_abs", "max_rel",
                                          "mismatch", "count",  "ratio",  "first",   "exact"};
    json_t *entry = json_array_get(t->workloads, (size_t)workload);
    if (verdict_has_passed(verdict) && json_object_get(entry, "max_abs") &&
        number_of(verdict, "max_abs") <= number_of(entry, "max_abs"))
        return;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_object_get(verdict, members[i]))
            json_object_set(entry, members[i], json_object_get(verdict, members[i]));
}

#define SET_OF_INCUMBENT 1

/* Kernels in Python are compiled when they are first called. The incumbent's first call, on a set that the candidate's
 * first one does not use, is under way while the candidate makes its own. */
static int start_incumbent(trial *t)
{
    if (!t->incumbent || !ako_lane_is_python(t->incumbent->lane) || t->n_sets <= SET_OF_INCUMBENT ||
        t->ev->task->n_workloads != 1)
        return AKO_OK;
    int status = trial_prepare(t, 0, SET_OF_INCUMBENT, json_integer_value(json_array_get(t->seeds, 0)) + 1, false);
    if (status == AKO_OK && !t->ended)
        status = child_send(&t->ev->arms[ARM_INCUMBENT].child, "run",
                            json_pack("{s:i, s:i}", "workload", 0, "set", SET_OF_INCUMBENT), NULL, 0);
    t->incumbent_called = status == AKO_OK && !t->ended;
    return status;
}

/* `form`: of wider inputs, NULL for the problem's own, which follow from `seed`. */
static int check_once(trial *t, json_t **verdict, int workload, int set, int64_t seed, const json_t *form)
{
    json_t *reply;
    *verdict = NULL;
    int status = set != 0 && t->incumbent ? trial_settle_arm(t, ARM_INCUMBENT) : AKO_OK;
    if (status == AKO_OK && !t->ended)
        status = form ? trial_prepare_wider(t, workload, set, form) : trial_prepare(t, workload, set, seed, true);
    if (status != AKO_OK || t->ended)
        return status;
    status = trial_ask_arm(t, t->own, &reply, "run", json_pack("{s:i, s:i}", "workload", workload, "set", set), -1,
                           workload);
    json_decref(reply);
    return status == AKO_OK && !t->ended ? trial_verify(t, verdict, set, workload) : status;
}

/* Seeds take turns on the sets, so that each address has other content the next time. Stops at the first failure,
 * which *failure then holds. */
static int check_workload(trial *t, json_t **failure, int workload)
{
    int n = (int)json_array_size(t->seeds), status = AKO_OK;
    *failure = NULL;
    for (int i = 0; status == AKO_OK && !t->ended && !*failure && i < n; i++) {
        json_t *verdict;
        int64_t seed = json_integer_value(json_array_get(t->seeds, (size_t)i));
        status = check_once(t, &verdict, workload, i % t->n_sets, seed, NULL);
        if (status == AKO_OK && !t->ended) {
            record(t, workload, verdict);
            if (!verdict_has_passed(verdict))
                *failure = json_incref(verdict);
            evaluator_progress(t->ev, "check", workload * n + i + 1, t->ev->task->n_workloads * n);
        }
        json_decref(verdict);
    }
    return status;
}

/* What is right for the problem's own inputs alone knows too much about them. */
static int blame_narrowness(json_t *verdict, const json_t *form)
{
    const char *name = json_string_value(json_object_get(form, "name"));
    json_t *reason =
        json_sprintf("right for the problem's own inputs, wrong for wider ones%s%s%s: %s", name ? " (" : "",
                     name ? name : "", name ? ")" : "", json_string_value(json_object_get(verdict, "reason")));
    json_t *status = json_object_get(verdict, "status");
    return pack_into(verdict, json_pack("{s:o, s:s, s:O}", "reason", reason, "code", "wider", "status", status));
}

static int check_wider(trial *t, json_t **failure, int workload)
{
    size_t n = json_array_size(t->wider);
    int status = AKO_OK;
    for (size_t i = 0; status == AKO_OK && !t->ended && !*failure && i < n; i++) {
        json_t *verdict;
        const json_t *form = json_array_get(t->wider, i);
        status = check_once(t, &verdict, workload, (int)(i % (size_t)t->n_sets), 0, form);
        if (status == AKO_OK && !t->ended && !verdict_has_passed(verdict)) {
            status = blame_narrowness(verdict, form);
            record(t, workload, verdict);
            *failure = json_incref(verdict);
        }
        json_decref(verdict);
    }
    return status;
}

static int end_with(trial *t, int workload, const json_t *verdict)
{
    return trial_end_workload(t, workload, json_string_value(json_object_get(verdict, "status")),
                              json_string_value(json_object_get(verdict, "code")),
                              json_string_value(json_object_get(verdict, "reason")));
}

int trial_check(trial *t)
{
    json_t *first = NULL;
    int status = start_incumbent(t), failed = -1;
    /* A referee that has ended over an answer in fp64 says no more. */
    for (int w = 0; status == AKO_OK && !t->ended && child_is_running(&t->ev->referee) && w < t->ev->task->n_workloads;
         w++) {
        json_t *failure;
        status = check_workload(t, &failure, w);
        if (status == AKO_OK && !t->ended && !failure)
            status = check_wider(t, &failure, w);
        if (failure && !first) {
            first = json_incref(failure);
            failed = w;
        }
        json_decref(failure);
    }
    if (status == AKO_OK && first && !t->ended)
        status = end_with(t, failed, first);
    json_decref(first);
    return status;
}
