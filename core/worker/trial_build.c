#include <string.h>

#include "answer.h"
#include "clock.h"
#include "error.h"
#include "trial.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static int end_compile_error(trial *t, const json_t *report)
{
    const json_t *error = json_object_get(report, "error");
    int line = (int)json_integer_value(json_object_get(error, "line"));
    if (!json_is_object(error))
        return trial_end(t, "COMPILE_ERROR", "compile", "the source does not compile; see the log");
    return trial_end(t, "COMPILE_ERROR", "compile", "%s:%d: %s", text_of(error, "file"), line, text_of(error, "text"));
}

static bool is_interrupted(int status)
{
    return status == AKO_CANCELLED || status == AKO_EOF;
}

/* The best so far was built before; that it does not build now is the machine's fault. */
int trial_await_incumbent(trial *t)
{
    int status = build_await(t->ev, &t->incumbent_build, t->limits.build_ns);
    if (is_interrupted(status))
        return status;
    if (status == AKO_OK)
        status = ako_answer_status(t->incumbent_build.output, "builder");
    if (status == AKO_OK && json_is_true(json_object_get(t->incumbent_build.output, "built")))
        return AKO_OK;
    return trial_end(t, "INFRA", "incumbent", "the best so far cannot be built again: %s",
                     status == AKO_OK ? "it does not compile" : ako_error_last()->message);
}

int trial_await_solution(trial *t)
{
    double limit_s = (double)t->limits.build_ns / 1e9;
    int status = build_await(t->ev, &t->build, t->limits.build_ns);
    if (is_interrupted(status))
        return status;
    if (status == AKO_TIMEOUT)
        return trial_end(t, "TIMEOUT", "build", "the build took longer than its limit of %.3g s", limit_s);
    if (status == AKO_CHILD)
        return trial_end(t, "COMPILE_ERROR", "compiler", "the compiler's process ended: %s", ako_error_last()->message);
    if (status == AKO_OK)
        status = ako_answer_status(t->build.output, "builder");
    if (status != AKO_OK)
        return trial_end(t, "INFRA", ako_status_name(status), "%s", ako_error_last()->message);
    json_t *report = json_object_get(t->build.output, "report");
    json_object_set(t->answer, "build", report);
    if (json_is_true(json_object_get(t->build.output, "late")))
        return trial_end(t, "TIMEOUT", "build", "the build took longer than its limit of %.3g s", limit_s);
    return json_is_true(json_object_get(t->build.output, "built")) ? AKO_OK : end_compile_error(t, report);
}

/* The reference has no limit of its own: it is the task author's, and the host can always interrupt. */
int trial_await_reference(trial *t)
{
    build_job *job = &t->ev->reference_build;
    int status = AKO_OK;
    if (!job->output && !job->builder)
        status = build_start(t->ev, job, t->ev->reference, 0);
    if (status == AKO_OK)
        status = build_await(t->ev, job, 0);
    if (is_interrupted(status))
        return status;
    if (status == AKO_OK)
        status = ako_answer_status(job->output, "builder");
    if (status != AKO_OK) {
        build_drop(job); /* the next trial tries again */
        return trial_end(t, status == AKO_CHILD ? "INVALID_REFERENCE" : "INFRA", ako_status_name(status),
                         "the reference cannot be built: %s", ako_error_last()->message);
    }
    if (json_is_true(json_object_get(job->output, "built")))
        return AKO_OK;
    const json_t *error = json_object_get(json_object_get(job->output, "report"), "error");
    return trial_end(t, "INVALID_REFERENCE", "compile", "the reference does not compile: %s:%d: %s",
                     text_of(error, "file"), (int)json_integer_value(json_object_get(error, "line")),
                     text_of(error, "text"));
}

/* One that does not compile says so as any other source does; all that the compiler said goes into the log. */
static int end_extension_error(trial *t, const json_t *built)
{
    json_t *report = json_object_get(t->answer, "build");
    if (report && json_object_get(built, "log"))
        json_object_set(report, "log", json_object_get(built, "log"));
    return trial_end(t, "COMPILE_ERROR", "compile", "%s", text_of(built, "error"));
}

int trial_build_extensions(trial *t, const ako_unit *unit, build_job *job)
{
    int64_t deadline = t->limits.build_ns ? ako_clock_ns() + t->limits.build_ns : 0;
    int status = extensions_make(t->ev, unit, job, deadline);
    const json_t *built = json_object_get(job->output, "extensions");
    if (is_interrupted(status))
        return status;
    if (status == AKO_TIMEOUT)
        return trial_end(t, "TIMEOUT", "build", "the build took longer than its limit of %.3g s",
                         (double)t->limits.build_ns / 1e9);
    if (status != AKO_OK)
        return trial_end(t, "INFRA", ako_status_name(status), "%s", ako_error_last()->message);
    return json_object_get(built, "error") ? end_extension_error(t, built) : AKO_OK;
}

int trial_build(trial *t)
{
    int status = trial_await_solution(t);
    if (status == AKO_OK && !t->ended)
        status = trial_build_extensions(t, t->unit, &t->build);
    if (status == AKO_OK && !t->ended && t->incumbent)
        status = trial_await_incumbent(t);
    if (status == AKO_OK && !t->ended && t->incumbent)
        status = trial_build_extensions(t, t->incumbent, &t->incumbent_build);
    if (status == AKO_OK && !t->ended && (t->wants_check || t->wants_time))
        status = trial_await_reference(t);
    return status;
}
