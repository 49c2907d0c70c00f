/* The request "attack": the task's self-test, which needs no candidate. The referee does it, workload by workload,
 * under the device's lock; here is what comes before: the reference built, buffers as for a solution that is the
 * reference. */
#include <unistd.h>

#include "answer.h"
#include "clock.h"
#include "error.h"
#include "exchange.h"
#include "pack.h"
#include "reader.h"
#include "trial.h"

#define START_LIMIT_NS INT64_C(120000000000)

typedef struct wish {
    int64_t seed, other;
    const json_t *tolerances; /* borrowed; NULL: none are offered */
    const json_t *wider;      /* the same: inputs that the reference is tried on */
    int64_t limit_ns;         /* for a workload; 0: none */
} wish;

static int read_wish(wish *w, const json_t *request)
{
    ako_reader reader;
    size_t n = 0;
    int status = ako_reader_init(&reader, request, "attack");
    if (status == AKO_OK)
        status = ako_read_integer(&w->seed, &reader, "seed", INT64_MIN, INT64_MAX, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_integer(&w->other, &reader, "other", INT64_MIN, INT64_MAX, AKO_REQUIRED);
    if (status == AKO_OK && w->seed == w->other)
        status = ako_reader_fail(&reader, "other", "must be another seed");
    if (status == AKO_OK)
        status = ako_read_integer(&w->limit_ns, &reader, "limit", 0, INT64_MAX / 4, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_array(&w->tolerances, &n, &reader, "tolerances", 64, AKO_OPTIONAL);
    return status == AKO_OK ? trial_read_wider(&w->wider, &reader) : status;
}

/* The buffers are for the referee alone: what it exports is closed again. */
static int get_ready(trial *t)
{
    json_t *memory = NULL;
    trial_begin_step(t, "build", 0);
    int status = referee_start(t->ev);
    if (status == AKO_OK)
        status = trial_ask_memory(t);
    if (status == AKO_OK)
        status = trial_await_reference(t);
    if (status != AKO_OK || t->ended)
        return status;
    trial_begin_step(t, "start", START_LIMIT_NS);
    status = trial_settle_referee(t, &memory);
    int fd = exchange_take(t->ev->referee.wire, memory);
    if (fd >= 0)
        close(fd);
    json_decref(memory);
    return status == AKO_OK && !t->ended ? trial_hand_over_reference(t) : status;
}

/* Nobody has been called, so what is said of a usable golden is that nothing was written. */
static bool is_usable(const json_t *verdict)
{
    const char *status = json_string_value(json_object_get(verdict, "status"));
    return status && strcmp(status, "INVALID_REFERENCE") != 0;
}

/* Whether the reference gives an answer in numbers on these inputs. */
static int try_form(trial *t, bool *usable, int workload, const json_t *form)
{
    json_t *prepared = NULL, *verdict = NULL;
    *usable = false;
    if (!child_is_running(&t->ev->referee))
        return AKO_OK;
    int status = trial_ask_quietly(t, &prepared, "prepare", trial_wider_request(t, workload, 0, form));
    bool made =
        status == AKO_OK && ako_answer_status(prepared, "referee") == AKO_OK && !json_object_get(prepared, "fault");
    if (made)
        status = trial_ask_quietly(t, &verdict, "verify", json_pack("{s:i}", "set", 0));
    *usable = made && is_usable(verdict);
    json_decref(prepared);
    json_decref(verdict);
    return status;
}

static int try_wider(trial *t, const wish *w, int workload)
{
    json_t *list = json_array();
    int status = list ? AKO_OK : ako_fail(AKO_NOMEM, "evaluator", "out of memory");
    for (size_t i = 0; status == AKO_OK && i < json_array_size(w->wider); i++) {
        bool usable;
        status = try_form(t, &usable, workload, json_array_get(w->wider, i));
        json_array_append_new(list, json_boolean(usable));
    }
    json_object_set_new(json_array_get(t->workloads, (size_t)workload), "wider", list);
    return status;
}

static int attack_workload(trial *t, const wish *w, int workload)
{
    json_t *reply = NULL;
    int status = trial_prepare(t, workload, 0, w->seed, true);
    if (status != AKO_OK || t->ended)
        return status;
    json_t *request = json_pack("{s:i, s:I, s:I, s:O*}", "set", 0, "seed", (json_int_t)w->seed, "other",
                                (json_int_t)w->other, "tolerances", w->tolerances);
    status = trial_ask_referee(t, &reply, "attack", request, workload);
    static const char *const members[] = {"outputs", "inputs", "again", "attacks", "holds"};
    json_t *entry = json_array_get(t->workloads, (size_t)workload);
    for (size_t i = 0; reply && i < sizeof members / sizeof *members; i++)
        json_object_set(entry, members[i], json_object_get(reply, members[i]));
    json_decref(reply);
    evaluator_progress(t->ev, "attack", workload + 1, t->ev->task->n_workloads);
    return status;
}

static int attack_all(trial *t, const wish *w)
{
    ako_lock *lock = NULL;
    int status = trial_take_lock(t, &lock);
    trial_begin_step(t, "check", w->limit_ns);
    for (int i = 0; status == AKO_OK && !t->ended && i < t->ev->task->n_workloads; i++)
        status = attack_workload(t, w, i);
    for (int i = 0; status == AKO_OK && !t->ended && w->wider && i < t->ev->task->n_workloads; i++)
        status = try_wider(t, w, i); /* last: a reference may end its process over them */
    ako_lock_release(lock);
    return status;
}

int attack_run(evaluator *ev, const json_t *request, json_t *answer)
{
    trial t = {.ev = ev, .answer = answer, .unit = ev->reference, .step = "build", .started_ns = ako_clock_ns()};
    wish w = {0};
    int status = read_wish(&w, request);
    if (status == AKO_OK)
        status = trial_list_workloads(&t);
    if (status == AKO_OK)
        status = get_ready(&t);
    if (status == AKO_OK && !t.ended)
        status = attack_all(&t, &w);
    if (status == AKO_OK && !t.ended)
        status = trial_end(&t, "PASSED", "", "%s", "");
    if (status != AKO_OK && child_owes_answer(&ev->referee))
        child_kill(&ev->referee);
    return status == AKO_OK
               ? pack_into(answer, json_pack("{s:I}", "total_ns", (json_int_t)(ako_clock_ns() - t.started_ns)))
               : status;
}
