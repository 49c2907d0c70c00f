#include <stdarg.h>
#include <stdio.h>

#include "pack.h"
#include "trial.h"

int trial_end(trial *t, const char *status, const char *code, const char *format, ...)
{
    char reason[1200];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    size_t size = n < 0 ? 0 : (size_t)n < sizeof reason ? (size_t)n : sizeof reason - 1;
    t->ended = true;
    return pack_into(t->answer, json_pack("{s:s, s:s, s:s, s:o}", "status", status, "step", t->step, "code", code,
                                          "reason", pack_text(reason, size)));
}

int trial_end_workload(trial *t, int workload, const char *status, const char *code, const char *reason)
{
    json_t *entry = json_array_get(t->workloads, (size_t)workload);
    if (entry) {
        json_object_set_new(entry, "status", json_string(status));
        json_object_set_new(entry, "reason", json_string(reason));
    }
    if (t->ev->task->n_workloads > 1 && entry)
        return trial_end(t, status, code, "workload %s: %s", t->ev->task->workloads[workload].id, reason);
    return trial_end(t, status, code, "%s", reason);
}

void trial_begin_step(trial *t, const char *step, int64_t limit_ns)
{
    t->step = step;
    t->budget = (trial_budget){.limit_ns = limit_ns, .candidate_left_ns = limit_ns};
}
