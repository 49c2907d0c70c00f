#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "clock.h"
#include "error.h"
#include "exchange.h"
#include "trial.h"

static int64_t deadline_of(const trial *t, int64_t left_ns, int64_t now)
{
    return t->budget.limit_ns ? now + (left_ns > 1 ? left_ns : 1) : 0;
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* A crash is easier to understand when it is known that the candidate had left its buffers before. */
static void add_overrun(trial *t, char *reason, size_t size, int set)
{
    json_t *reply = NULL;
    if (set < 0 || child_send(&t->ev->referee, "overrun", json_pack("{s:i}", "set", set), NULL, 0) != AKO_OK)
        return;
    int64_t deadline = ako_clock_ns() + INT64_C(5000000000);
    if (evaluator_await(t->ev, &t->ev->referee, &reply, deadline) != AKO_OK)
        child_kill(&t->ev->referee);
    const char *text = json_string_value(json_object_get(reply, "overrun"));
    size_t used = strlen(reason);
    if (text && *text)
        snprintf(reason + used, size - used, "; it %s", text);
    json_decref(reply);
}

static int end_candidate(trial *t, int workload, const char *status, const char *code, const char *reason)
{
    return workload < 0 ? trial_end(t, status, code, "%s", reason)
                        : trial_end_workload(t, workload, status, code, reason);
}

/* What the channel says about the candidate when no answer came. */
static int candidate_broke(trial *t, int status, const char *op, int set, int workload)
{
    char reason[900];
    if (status == AKO_TIMEOUT) {
        snprintf(reason, sizeof reason, "%s took longer than its limit of %.3g s", t->step,
                 seconds(t->budget.limit_ns));
        return end_candidate(t, workload, "TIMEOUT", t->step, reason);
    }
    bool ended = status == AKO_CHILD || status == AKO_KILLED; /* it may have sent that signal to itself */
    if (ended && strcmp(op, "open") == 0)
        return trial_end(t, "INFRA", "candidate", "the candidate's process did not start: %s",
                         ako_error_last()->message);
    if (ended) {
        snprintf(reason, sizeof reason, "the process ended during %s: %.700s", op, ako_error_last()->message);
        add_overrun(t, reason, sizeof reason, set);
        return end_candidate(t, workload, "RUNTIME_ERROR", "crash", reason);
    }
    if (status == AKO_CORRUPT || status == AKO_LIMIT) {
        snprintf(reason, sizeof reason, "wrote into the evaluator's channel (%.700s)", ako_error_last()->message);
        return end_candidate(t, workload, "REWARD_HACK", "T6", reason);
    }
    return trial_end(t, "INFRA", ako_status_name(status), "%s", ako_error_last()->message);
}

static int end_launch_fault(trial *t, const char *text)
{
    int line = 0;
    const char *at = strstr(text, "launch line ");
    if (at && sscanf(at, "launch line %d", &line) != 1)
        line = 0;
    json_t *build = json_object_get(t->answer, "build");
    if (build)
        json_object_set_new(build, "error",
                            json_pack("{s:s, s:i, s:i, s:s}", "file", "", "line", line, "column", 0, "text", text));
    return trial_end(t, "COMPILE_ERROR", "launch", "%s", text);
}

/* What a negative answer means, by the question. */
static int candidate_failed(trial *t, int status, const char *op, int set, int workload)
{
    char reason[900];
    snprintf(reason, sizeof reason, "%.700s", ako_error_last()->message);
    if (status == AKO_UNAVAILABLE || status == AKO_NOMEM || strcmp(op, "open") == 0)
        return trial_end(t, "INFRA", ako_status_name(status), "%s", reason);
    if (status == AKO_SHAPE || status == AKO_DTYPE)
        return end_candidate(t, workload, status == AKO_SHAPE ? "INCORRECT_SHAPE" : "INCORRECT_DTYPE",
                             status == AKO_SHAPE ? "shape" : "dtype", reason);
    if (strcmp(op, "load") == 0 && ako_lane_is_python(t->unit->lane) && status == AKO_COMPILE)
        return trial_end(t, "COMPILE_ERROR", "compile", "%s", reason);
    if (strcmp(op, "load") == 0 && (status == AKO_INVALID || status == AKO_NOTFOUND || status == AKO_COMPILE))
        return end_launch_fault(t, reason);
    if (status == AKO_CUDA)
        add_overrun(t, reason, sizeof reason, set);
    return end_candidate(t, workload, "RUNTIME_ERROR", status == AKO_CUDA ? "cuda" : "call", reason);
}

static int set_of(const json_t *request)
{
    const json_t *set = json_object_get(request, "set");
    return set ? (int)json_integer_value(set) : -1;
}

static bool is_interrupted(int status)
{
    return status == AKO_CANCELLED || status == AKO_EOF;
}

/* The incumbent has been right and fast before: that it fails now says nothing about the candidate. */
static int incumbent_failed(trial *t, const char *op)
{
    return trial_end(t, "INFRA", "incumbent", "the best so far, timed in turn, failed in %s: %s", op,
                     ako_error_last()->message);
}

/* Of a candidate that is timed in turn with itself it says what its other process would. */
static int await_incumbent(trial *t, json_t **reply, const char *op, int workload)
{
    int64_t deadline = deadline_of(t, t->budget.limit_ns, ako_clock_ns());
    int status = evaluator_await(t->ev, &t->ev->arms[ARM_INCUMBENT].child, reply, deadline);
    if (is_interrupted(status))
        return status;
    if (status != AKO_OK)
        return t->is_control ? candidate_broke(t, status, op, -1, workload) : incumbent_failed(t, op);
    status = ako_answer_status(*reply, "incumbent");
    if (status == AKO_OK)
        return AKO_OK;
    json_decref(*reply);
    *reply = NULL;
    return t->is_control ? candidate_failed(t, status, op, -1, workload) : incumbent_failed(t, op);
}

static int await_candidate(trial *t, arm which, json_t **reply, const char *op, int set, int workload)
{
    int64_t start = ako_clock_ns(), deadline = deadline_of(t, t->budget.candidate_left_ns, start);
    int status = evaluator_await(t->ev, &t->ev->arms[which].child, reply, deadline);
    t->budget.candidate_left_ns -= ako_clock_ns() - start;
    if (is_interrupted(status))
        return status;
    if (status != AKO_OK)
        return candidate_broke(t, status, op, set, workload);
    status = ako_answer_status(*reply, "candidate");
    if (status == AKO_OK)
        return AKO_OK;
    json_decref(*reply);
    *reply = NULL;
    return candidate_failed(t, status, op, set, workload);
}

int trial_ask_arm(trial *t, arm which, json_t **reply, const char *op, json_t *request, int fd, int workload)
{
    int set = set_of(request);
    *reply = NULL;
    turn_allow(t->ev, which);
    int status = child_send(&t->ev->arms[which].child, op, request, &fd, fd >= 0);
    if (which == ARM_INCUMBENT)
        return status == AKO_OK ? await_incumbent(t, reply, op, workload) : incumbent_failed(t, op);
    return status == AKO_OK ? await_candidate(t, which, reply, op, set, workload)
                            : candidate_broke(t, status, op, set, workload);
}

int trial_settle_arm(trial *t, arm which)
{
    int status = AKO_OK;
    turn_allow(t->ev, which);
    while (status == AKO_OK && !t->ended && child_owes_answer(&t->ev->arms[which].child)) {
        json_t *reply;
        status = which == ARM_INCUMBENT ? await_incumbent(t, &reply, "open", -1)
                                        : await_candidate(t, which, &reply, "open", -1, -1);
        if (reply && which != ARM_INCUMBENT &&
            json_object_set(t->answer, "confinement", json_object_get(reply, "confinement")) != 0)
            status = ako_fail(AKO_NOMEM, "evaluator", "out of memory");
        json_decref(reply);
    }
    return status;
}

static bool is_input_fault(int status)
{
    return status == AKO_INVALID || status == AKO_CORRUPT || status == AKO_NOTFOUND;
}

/* Whatever goes wrong with the referee, the next trial starts a new one. */
static int referee_broke(trial *t, int status, const char *op, int workload)
{
    char reason[900];
    bool reference_ran = strcmp(op, "prepare") == 0 || strcmp(op, "time") == 0 || strcmp(op, "reference") == 0 ||
                         strcmp(op, "attack") == 0;
    snprintf(reason, sizeof reason, "%.700s", ako_error_last()->message);
    child_kill(&t->ev->referee);
    if (status == AKO_TIMEOUT && reference_ran)
        snprintf(reason, sizeof reason, "the reference did not finish within the %s limit of %.3g s", t->step,
                 seconds(t->budget.limit_ns));
    else if (status == AKO_CHILD && reference_ran)
        snprintf(reason, sizeof reason, "the reference's process ended: %.700s", ako_error_last()->message);
    else if (strcmp(op, "prepare") == 0 && is_input_fault(status))
        return end_candidate(t, workload, "INVALID_REFERENCE", "input", reason);
    else
        return trial_end(t, "INFRA", ako_status_name(status), "the referee failed in %s: %s", op, reason);
    return end_candidate(t, workload, "INVALID_REFERENCE", "reference", reason);
}

static int referee_faulted(trial *t, const json_t *reply, int workload)
{
    char reason[900];
    snprintf(reason, sizeof reason, "%.800s", json_string_value(json_object_get(reply, "fault")));
    if (json_is_true(json_object_get(reply, "poisoned")))
        child_kill(&t->ev->referee);
    return end_candidate(t, workload, "INVALID_REFERENCE", "reference", reason);
}

static int await_referee(trial *t, json_t **reply, const char *op, int workload)
{
    int64_t deadline = deadline_of(t, t->budget.limit_ns, ako_clock_ns());
    int status = evaluator_await(t->ev, &t->ev->referee, reply, deadline);
    if (is_interrupted(status))
        return status;
    if (status == AKO_OK)
        status = ako_answer_status(*reply, "referee");
    if (status == AKO_OK && !json_object_get(*reply, "fault"))
        return AKO_OK;
    status = status == AKO_OK ? referee_faulted(t, *reply, workload) : referee_broke(t, status, op, workload);
    json_decref(*reply);
    *reply = NULL;
    return status;
}

int trial_ask_referee(trial *t, json_t **reply, const char *op, json_t *request, int workload)
{
    *reply = NULL;
    int status = child_send(&t->ev->referee, op, request, NULL, 0);
    return status == AKO_OK ? await_referee(t, reply, op, workload) : referee_broke(t, status, op, workload);
}

int trial_ask_quietly(trial *t, json_t **reply, const char *op, json_t *request)
{
    int64_t deadline = deadline_of(t, t->budget.limit_ns, ako_clock_ns());
    *reply = NULL;
    int status = child_send(&t->ev->referee, op, request, NULL, 0);
    if (status == AKO_OK)
        status = evaluator_await(t->ev, &t->ev->referee, reply, deadline);
    if (is_interrupted(status))
        return status;
    if (status != AKO_OK || json_is_true(json_object_get(*reply, "poisoned")) ||
        ako_answer_status(*reply, "referee") == AKO_CUDA)
        child_kill(&t->ev->referee);
    return AKO_OK;
}

/* One that an earlier trial asked for and did not wait for; it may have brought a descriptor. */
static void drop_reply(trial *t, json_t *reply)
{
    int fd = exchange_take(t->ev->referee.wire, reply);
    if (fd >= 0)
        close(fd);
    json_decref(reply);
}

int trial_settle_referee(trial *t, json_t **memory)
{
    int status = AKO_OK;
    *memory = NULL;
    while (status == AKO_OK && !t->ended && child_owes_answer(&t->ev->referee)) {
        json_t *reply = NULL;
        status = await_referee(t, &reply, "start", -1);
        if (!json_object_get(reply, "handle")) {
            json_decref(reply);
            continue;
        }
        drop_reply(t, *memory);
        *memory = reply;
    }
    return status;
}

static int prepare(trial *t, int workload, json_t *request)
{
    json_t *reply;
    int status = trial_ask_referee(t, &reply, "prepare", request, workload);
    if (json_integer_value(json_object_get(reply, "golden_ns")) > SLOW_REFERENCE_NS)
        t->slow_reference = true;
    json_decref(reply);
    return status;
}

int trial_prepare(trial *t, int workload, int set, int64_t seed, bool golden)
{
    return prepare(t, workload,
                   json_pack("{s:i, s:i, s:I, s:b, s:i}", "workload", workload, "set", set, "seed", (json_int_t)seed,
                             "golden", golden, "unit", t->unit_index));
}

int trial_prepare_wider(trial *t, int workload, int set, const json_t *form)
{
    return prepare(t, workload, trial_wider_request(t, workload, set, form));
}

json_t *trial_wider_request(const trial *t, int workload, int set, const json_t *form)
{
    static const char *const members[] = {"seed", "signed", "times"};
    json_t *request = json_pack("{s:i, s:i, s:i}", "workload", workload, "set", set, "unit", t->unit_index);
    for (size_t i = 0; request && i < sizeof members / sizeof *members; i++)
        if (json_object_get(form, members[i]))
            json_object_set(request, members[i], json_object_get(form, members[i]));
    return request;
}

int trial_prepare_loose(trial *t, int workload, int set, int64_t seed)
{
    json_t *reply;
    int status = trial_ask_referee(t, &reply, "prepare",
                                   json_pack("{s:i, s:i, s:I, s:b, s:b}", "workload", workload, "set", set, "seed",
                                             (json_int_t)seed, "golden", 0, "loose", 1),
                                   workload);
    json_decref(reply);
    return status;
}

int trial_verify(trial *t, json_t **verdict, int set, int workload)
{
    int status = trial_ask_referee(t, verdict, "verify", json_pack("{s:i}", "set", set), workload);
    return status == AKO_OK && !t->ended ? trial_judge_exactly(t, *verdict, json_pack("{s:i}", "set", set)) : status;
}
