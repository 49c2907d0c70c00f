/* The candidate: loads the code under test and calls it on the referee's buffers. From `load` on this process belongs
 * to hostile code: what it answers is believed only as far as the evaluator and the referee can check it. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "arena.h"
#include "confined.h"
#include "error.h"
#include "exchange.h"
#include "pack.h"
#include "reader.h"
#include "roles.h"
#include "serve.h"
#include "timed.h"
#include "timing.h"
#include "told.h"
#include "unit.h"

typedef struct candidate {
    confined confined;
    ako_timer *timer;
    ako_runner *runner;
    ako_task *task;
    ako_unit *unit;
    exchange_sets sets;
    int bound;       /* workload that the runner has, -1: none */
    ako_arena arena; /* of that workload */
} candidate;

/* Creates the context and all that timing needs, while the code under test is still being built; and gives up all that
 * this code shall not have. */
static int on_open(ako_server *server, const json_t *request, json_t *answer)
{
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
    if (status == AKO_OK)
        status = confined_begin(&c->confined, exchange_place(place));
    if (status != AKO_OK)
        return status;
    ako_timer_free(c->timer);
    c->timer = NULL;
    status = ako_timer_new(&c->timer, exchange_place(place), kind);
    if (status == AKO_OK)
        status = start_hooks(exchange_place(place));
    return status == AKO_OK ? confined_finish(&c->confined, answer, exchange_place(place)) : status;
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
    ako_arena_free(&c->arena);
    status = ako_arena_of_workload(&c->arena, c->task, c->unit, workload);
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
    confined_leave_home();
    if (status == AKO_OK)
        status = tell_task(c->unit->lane, c->task->json);
    if (status == AKO_OK)
        status = tell_extensions(c->unit->lane, json_object_get(request, "extensions"));
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

static int call_once(candidate *c, int set)
{
    void **addresses = exchange_addresses(&c->arena, exchange_base(&c->sets, set));
    int status = addresses ? ako_runner_call(c->runner, addresses) : ako_fail(AKO_NOMEM, "candidate", "out of memory");
    free(addresses);
    return status;
}

static int on_describe(ako_server *server, const json_t *request, json_t *answer)
{
    (void)server;
    return describe_file(request, answer);
}

/* Before it is timed. */
static int on_settle(ako_server *server, const json_t *request, json_t *answer)
{
    candidate *c = server->state;
    (void)request;
    if (!c->unit)
        return ako_fail(AKO_INVALID, "candidate", "nothing is loaded");
    int status = confined_settle(answer, ako_lane_place(c->unit->lane));
    return status == AKO_OK ? ask_autotuned(c->unit->lane, answer) : status;
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
        status = call_once(c, (int)set);
    return status;
}

/* The calls of a plan, warm-up first: where each finds its buffers, and what is looked at behind the timed ones. */
typedef struct calls {
    int n, n_warm;
    void ***addresses; /* n */
    uint64_t *places;  /* for each of the timed ones */
    ako_watch watch;
} calls;

static void free_calls(calls *k)
{
    for (int i = 0; k->addresses && i < k->n; i++)
        free(k->addresses[i]);
    free(k->addresses);
    free(k->places);
    free(k->watch.seen);
}

static int allocate_calls(calls *k, const candidate *c, size_t n, size_t n_warm)
{
    int each = exchange_places(NULL, c->task, NULL, NULL, 0);
    size_t watched = (n - n_warm) * (size_t)each + 1;
    *k = (calls){.n = (int)n, .n_warm = (int)n_warm, .watch = {.n = each}};
    k->addresses = calloc(n, sizeof *k->addresses);
    k->places = calloc(watched, sizeof *k->places);
    k->watch.seen = calloc(watched, sizeof *k->watch.seen);
    k->watch.places = k->places;
    return k->addresses && k->places && k->watch.seen ? AKO_OK : ako_fail(AKO_NOMEM, "candidate", "out of memory");
}

static int place_call(calls *k, const candidate *c, int i, const json_t *call)
{
    ako_arena view;
    json_int_t set = json_integer_value(json_object_get(call, "set"));
    if (set < 0 || set >= c->sets.n)
        return ako_fail(AKO_INVALID, "candidate", "there is no set %d", (int)set);
    int status = exchange_view(&view, &c->arena, json_object_get(call, "shifts"));
    if (status != AKO_OK)
        return status;
    void *base = exchange_base(&c->sets, (int)set);
    k->addresses[i] = exchange_addresses(&view, base);
    if (!k->addresses[i])
        status = ako_fail(AKO_NOMEM, "candidate", "out of memory");
    if (i >= k->n_warm)
        exchange_places(k->places + (i - k->n_warm) * k->watch.n, c->task, &view, base,
                        (uint64_t)json_integer_value(json_object_get(call, "places")));
    ako_arena_free(&view);
    return status;
}

static int read_calls(calls *k, const candidate *c, const json_t *request)
{
    ako_reader reader;
    const json_t *list = NULL;
    size_t n = 0;
    int64_t warmup = 0;
    *k = (calls){0};
    int status = ako_reader_init(&reader, request, "time");
    if (status == AKO_OK)
        status = ako_read_array(&list, &n, &reader, "calls", AKO_WATCHED, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_integer(&warmup, &reader, "warmup", 0, (int64_t)n - 1, AKO_REQUIRED);
    if (status == AKO_OK)
        status = allocate_calls(k, c, n, (size_t)warmup);
    for (size_t i = 0; status == AKO_OK && i < n; i++)
        status = place_call(k, c, (int)i, json_array_get(list, i));
    return status;
}

static int on_time(ako_server *server, const json_t *request, json_t *answer)
{
    candidate *c = server->state;
    calls k = {0};
    int64_t workload;
    int status = read_workload(&workload, c, request);
    if (status == AKO_OK)
        status = bind(c, (int)workload);
    if (status == AKO_OK)
        status = read_calls(&k, c, request);
    if (status == AKO_OK)
        status = timed_run(answer, request, c->timer, c->runner, (void *const *const *)k.addresses, k.n, &k.watch);
    free_calls(&k);
    return status;
}

#ifdef __SANITIZE_ADDRESS__
/* The leak checker would start a process when user code calls exit, which nothing here may. */
static int is_candidate;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return is_candidate;
}
#endif

int role_candidate(ako_wire *wire)
{
    static const serve_op ops[] = {{"open", on_open}, {"load", on_load},     {"run", on_run},
                                   {"time", on_time}, {"settle", on_settle}, {"describe", on_describe}};
    const struct rlimit no_core = {0, 0};
    candidate state = {.bound = -1};
    ako_server server = {.wire = wire, .state = &state};
    setrlimit(RLIMIT_CORE, &no_core);
#ifdef __SANITIZE_ADDRESS__
    is_candidate = 1;
#endif
    /* No clean-up: exit handlers and destructors of the code under test are not for us to run. */
    _exit(serve(&server, ops, sizeof ops / sizeof *ops) != AKO_EOF);
}
