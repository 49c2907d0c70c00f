/* The candidate: loads the code under test and calls it on the referee's buffers. From `load` on this process belongs
 * to hostile code: what it answers is believed only as far as the evaluator and the referee can check it. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "arena.h"
#include "error.h"
#include "exchange.h"
#include "pack.h"
#include "reader.h"
#include "roles.h"
#include "serve.h"
#include "timed.h"
#include "timing.h"
#include "unit.h"

typedef struct candidate {
    ako_timer *timer;
    ako_runner *runner;
    ako_task *task;
    ako_unit *unit;
    exchange_sets sets;
    int bound; /* workload that the runner has, -1: none */
    void **addresses[EXCHANGE_SETS];
} candidate;

/* Creates the context and all that timing needs, while the code under test is still being built. */
static int on_open(ako_server *server, const json_t *request, json_t *answer)
{
    (void)answer;
    candidate *c = server->state;
    ako_timer_kind kind = AKO_TIMER_AUTO;
    ako_reader reader;
    const char *place = NULL, *timer = "auto";
    int status = ako_reader_init(&reader, request, "open");
    if (status == AKO_OK)
        status = ako_read_string(&place, &reader, "place", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_string(&timer, &reader, "timer", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_timer_kind_parse(&kind, timer);
    if (status != AKO_OK)
        return status;
    ako_timer_free(c->timer);
    c->timer = NULL;
    return ako_timer_new(&c->timer, exchange_place(place), kind);
}

static int bind(candidate *c, int workload)
{
    if (c->bound == workload)
        return AKO_OK;
    c->bound = -1;
    const ako_unit_workload *w = &c->unit->workloads[workload];
    int status = ako_runner_bind(c->runner, w->calls, w->n_calls);
    if (status != AKO_OK)
        return status;
    ako_arena arena;
    status = ako_arena_of_workload(&arena, c->task, c->unit, workload);
    for (int s = 0; status == AKO_OK && s < c->sets.n; s++) {
        free(c->addresses[s]);
        c->addresses[s] = exchange_addresses(&arena, ako_memory_base(c->sets.blocks[s]));
        if (!c->addresses[s])
            status = ako_fail(AKO_NOMEM, "candidate", "out of memory");
    }
    ako_arena_free(&arena);
    if (status == AKO_OK)
        c->bound = workload;
    return status;
}

static int parse_load(candidate *c, const json_t *request)
{
    int status = ako_task_parse(&c->task, json_object_get(request, "task"));
    if (status == AKO_OK)
        status = ako_unit_parse(&c->unit, c->task, json_object_get(request, "unit"), "unit");
    if (status == AKO_OK)
        status = exchange_lower(c->unit, json_object_get(request, "lowered"));
    return status;
}

/* Loads the binary and binds every workload once, so that a fault in any launch line shows before anything runs. */
static int on_load(ako_server *server, const json_t *request, json_t *answer)
{
    (void)answer;
    candidate *c = server->state;
    ako_reader reader;
    const char *path = NULL;
    int status = ako_reader_init(&reader, request, "load");
    if (status == AKO_OK)
        status = ako_read_string(&path, &reader, "path", AKO_REQUIRED);
    if (status == AKO_OK)
        status = parse_load(c, request);
    if (status == AKO_OK)
        status = exchange_import(&c->sets, request, server->wire, ako_lane_place(c->unit->lane));
    if (status == AKO_OK)
        status = ako_runner_open(&c->runner, c->unit->lane, path);
    for (int w = 0; status == AKO_OK && w < c->unit->n_workloads; w++)
        status = bind(c, w);
    return status;
}

static int read_workload(int64_t *workload, const candidate *c, const json_t *request)
{
    ako_reader reader;
    if (!c->runner)
        return ako_fail(AKO_INVALID, "candidate", "nothing is loaded");
    int status = ako_reader_init(&reader, request, "request");
    if (status == AKO_OK)
        status = ako_read_integer(workload, &reader, "workload", 0, c->unit->n_workloads - 1, AKO_REQUIRED);
    return status;
}

static int on_run(ako_server *server, const json_t *request, json_t *answer)
{
    (void)answer;
    candidate *c = server->state;
    ako_reader reader;
    int64_t workload, set = 0;
    int status = read_workload(&workload, c, request);
    if (status == AKO_OK)
        status = ako_reader_init(&reader, request, "run");
    if (status == AKO_OK)
        status = ako_read_integer(&set, &reader, "set", 0, c->sets.n - 1, AKO_REQUIRED);
    if (status == AKO_OK)
        status = bind(c, (int)workload);
    if (status == AKO_OK)
        status = ako_runner_launch(c->runner, c->addresses[set]);
    if (status == AKO_OK)
        status = ako_runner_sync(c->runner);
    return status;
}

static int on_time(ako_server *server, const json_t *request, json_t *answer)
{
    candidate *c = server->state;
    int64_t workload;
    int status = read_workload(&workload, c, request);
    if (status == AKO_OK)
        status = bind(c, (int)workload);
    if (status == AKO_OK)
        status = timed_run(answer, request, c->timer, c->runner, (void *const *const *)c->addresses, c->sets.n);
    return status;
}

int role_candidate(ako_wire *wire)
{
    static const serve_op ops[] = {{"open", on_open}, {"load", on_load}, {"run", on_run}, {"time", on_time}};
    const struct rlimit no_core = {0, 0};
    candidate state = {.bound = -1};
    ako_server server = {.wire = wire, .state = &state};
    setrlimit(RLIMIT_CORE, &no_core);
    /* No clean-up: exit handlers and destructors of the code under test are not for us to run. */
    _exit(serve(&server, ops, sizeof ops / sizeof *ops) != AKO_EOF);
}
