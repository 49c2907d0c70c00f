#include "referee.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "pack.h"
#include "reader.h"
#include "roles.h"
#include "serve.h"
#include "timed.h"
#include "told.h"

#define MOST_UNITS 4096

/* {"place"}: the place of the device. Operations on host memory are always there. */
static int on_open(ako_server *server, const json_t *request, json_t *answer)
{
    (void)answer;
    referee *r = server->state;
    ako_reader reader;
    const char *place = NULL;
    int status = ako_reader_init(&reader, request, "open");
    if (status == AKO_OK)
        status = ako_read_string(&place, &reader, "place", AKO_REQUIRED);
    if (status == AKO_OK && !r->ops[AKO_CPU])
        status = ako_ops_new(&r->ops[AKO_CPU], AKO_CPU);
    if (status == AKO_OK && exchange_place(place) == AKO_GPU && !r->ops[AKO_GPU])
        status = ako_ops_new(&r->ops[AKO_GPU], AKO_GPU);
    if (status == AKO_OK)
        status = start_hooks(exchange_place(place));
    return status;
}

static void free_units(ako_unit **units, int n)
{
    for (int i = 0; units && i < n; i++)
        ako_unit_free(units[i]);
    free(units);
}

static void forget_task(referee *r)
{
    referee_release(r);
    referee_forget_files(r);
    ako_runner_free(r->runner);
    free_units(r->units, r->n_units);
    ako_unit_free(r->reference);
    ako_task_free(r->task);
    free(r->proven);
    r->runner = NULL;
    r->units = NULL;
    r->n_units = 0;
    r->reference = NULL;
    r->task = NULL;
    r->proven = NULL;
    r->bound = -1;
}

/* {"task","files","memory"}: files is the folder of uploads, memory the bytes of the whole GPU. */
static int on_task(ako_server *server, const json_t *request, json_t *answer)
{
    (void)answer;
    referee *r = server->state;
    ako_reader reader;
    json_t *task = json_object_get(request, "task");
    int64_t memory = 0;
    forget_task(r);
    int status = ako_reader_init(&reader, request, "request");
    if (status == AKO_OK)
        status = ako_read_text(r->files, sizeof r->files, &reader, "files", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_integer(&memory, &reader, "memory", 0, INT64_MAX, AKO_OPTIONAL);
    r->gpu_bytes = (uint64_t)memory;
    if (status == AKO_OK)
        status = ako_task_parse(&r->task, task);
    if (status == AKO_OK)
        status = ako_unit_parse(&r->reference, r->task, json_object_get(task, "reference"), "task.reference");
    if (status != AKO_OK)
        return status;
    r->contents = calloc((size_t)r->task->n_tensors, sizeof *r->contents);
    r->proven = calloc((size_t)r->task->n_workloads, sizeof *r->proven);
    return r->contents && r->proven ? AKO_OK : referee_out_of_memory();
}

static int need_task(const referee *r)
{
    return r->task && r->proven ? AKO_OK : ako_fail(AKO_INVALID, "referee", "there is no task");
}

static int pack_fault(json_t *answer, const reference_fault *fault)
{
    if (!fault->reason[0])
        return AKO_OK;
    return pack_into(answer, json_pack("{s:o, s:b}", "fault", pack_text(fault->reason, strlen(fault->reason)),
                                       "poisoned", fault->poisoned));
}

/* {"path","lowered"}: the reference as built. */
static int on_reference(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    ako_reader reader;
    const char *path = NULL;
    reference_fault fault = {0};
    int status = need_task(r);
    if (status == AKO_OK)
        status = ako_reader_init(&reader, request, "request");
    if (status == AKO_OK)
        status = ako_read_string(&path, &reader, "path", AKO_REQUIRED);
    if (status == AKO_OK)
        status = exchange_lower(r->reference, json_object_get(request, "lowered"));
    if (status != AKO_OK)
        return status;
    if (tell_task(r->reference->lane, r->task->json) != AKO_OK ||
        ako_runner_open(&r->runner, r->reference->lane, path) != AKO_OK)
        snprintf(fault.reason, sizeof fault.reason, "the reference cannot be loaded: %.600s",
                 ako_error_last()->message);
    for (int w = 0; status == AKO_OK && !fault.reason[0] && w < r->task->n_workloads; w++)
        status = referee_bind(r, w, &fault);
    return status == AKO_OK ? pack_fault(answer, &fault) : status;
}

static int on_describe(ako_server *server, const json_t *request, json_t *answer)
{
    (void)server;
    return describe_file(request, answer);
}

static int read_processes(referee *r, const json_t *request)
{
    ako_reader reader;
    int64_t processes = 2;
    int status = ako_reader_init(&reader, request, "memory");
    if (status == AKO_OK)
        status = ako_read_integer(&processes, &reader, "processes", 1, 1000, AKO_OPTIONAL);
    r->processes = (int)processes;
    return status;
}

static int parse_units(ako_unit ***out, int *n, const referee *r, const json_t *request)
{
    ako_reader reader;
    const json_t *list = NULL;
    size_t count = 0;
    int status = ako_reader_init(&reader, request, "memory");
    if (status == AKO_OK)
        status = ako_read_array(&list, &count, &reader, "units", MOST_UNITS, AKO_REQUIRED);
    if (status == AKO_OK && count == 0)
        status = ako_reader_fail(&reader, "units", "at least one is needed");
    *out = status == AKO_OK ? calloc(count, sizeof **out) : NULL;
    if (status == AKO_OK && !*out)
        status = referee_out_of_memory();
    *n = 0;
    for (size_t i = 0; status == AKO_OK && i < count; i++, (*n)++)
        status = ako_unit_parse(&(*out)[i], r->task, json_array_get(list, i), "unit");
    return status;
}

/* {"units","processes"}: the solutions that the block must be large enough for, and how many processes there must be
 * room for beside it. Answers with the block, and with fewer processes where there is no room for all. */
static int on_memory(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    ako_unit **units = NULL, **before = r->units;
    int n = 0, n_before = r->n_units, status = need_task(r);
    if (status == AKO_OK)
        status = read_processes(r, request);
    if (status == AKO_OK)
        status = parse_units(&units, &n, r, request);
    if (status != AKO_OK) {
        free_units(units, n);
        return status;
    }
    r->units = units;
    r->n_units = n;
    r->place = ako_lane_place(units[0]->lane);
    if (!referee_ops(r))
        status = ako_fail(AKO_UNAVAILABLE, "referee", "a unit of lane %s needs a GPU", ako_lane_name(units[0]->lane));
    else
        status = referee_allocate(r);
    free_units(before, n_before); /* names of its buffers were in use until then */
    if (status == AKO_OK)
        status = exchange_export(answer, server->fds, &r->sets);
    if (status == AKO_OK)
        status = pack_into(answer, json_pack("{s:i}", "processes", r->processes));
    server->n_fds = status == AKO_OK && server->fds[0] >= 0;
    return status;
}

static int read_set(prepared **out, int *set, referee *r, const json_t *request)
{
    ako_reader reader;
    int64_t index = 0;
    int status = need_task(r);
    if (status == AKO_OK && r->sets.n == 0)
        status = ako_fail(AKO_INVALID, "referee", "there are no buffers");
    if (status == AKO_OK)
        status = ako_reader_init(&reader, request, "request");
    if (status == AKO_OK)
        status = ako_read_integer(&index, &reader, "set", 0, r->sets.n - 1, AKO_REQUIRED);
    *set = (int)index;
    *out = &r->prepared[index];
    return status;
}

typedef struct preparation {
    int set, unit; /* unit: whose scratch lies behind the tensors */
    uint64_t seed;
    input_form form;
    bool golden, loose;
    int64_t golden_ns;
    reference_fault fault;
} preparation;

/* The layout of a set for a workload; kept while it is asked for the same one. */
static int lay_out(referee *r, prepared *p, int set, int workload, const preparation *what)
{
    ako_arena_free(&p->arena);
    ako_arena_free(&p->golden_arena);
    free(p->hashes);
    *p = (prepared){.workload = workload,
                    .loose = what->loose,
                    .known = what->golden,
                    .form = what->form,
                    .base = exchange_base(&r->sets, set)};
    p->hashes = calloc((size_t)r->task->n_tensors, sizeof *p->hashes);
    int status =
        p->hashes ? ako_arena_of_workload(&p->arena, r->task, r->units[what->unit], workload) : referee_out_of_memory();
    if (status == AKO_OK && what->loose)
        ako_arena_loosen(&p->arena, r->task->n_tensors);
    return status == AKO_OK ? referee_golden_arena(&p->golden_arena, r, workload) : status;
}

static int prepare(referee *r, prepared *p, preparation *what)
{
    int status = ako_arena_poison(&p->arena, referee_ops(r), p->base);
    if (status == AKO_OK)
        status = referee_fill(r, p, what->seed);
    if (status == AKO_OK)
        status = referee_hash(r, p, p->hashes);
    p->golden = ako_memory_base(r->golden);
    for (int s = 0; s < EXCHANGE_SETS && what->golden; s++)
        r->prepared[s].provable = false; /* there is room for one golden */
    if (status == AKO_OK && what->golden)
        status = referee_make_golden(r, p, what->seed, &what->golden_ns, &what->fault);
    p->ready = status == AKO_OK && !what->fault.reason[0];
    p->provable = p->ready && what->golden;
    return status;
}

/* {"set","workload","seed","golden","loose","unit","signed","times"}: fresh inputs, everything else poisoned, and the
 * golden that belongs to them. */
static int on_prepare(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    ako_reader reader;
    prepared *p;
    preparation what = {.golden = true, .form = {.times = 1}};
    int64_t workload = 0, seed = 0, unit = 0;
    int status = read_set(&p, &what.set, r, request);
    if (status == AKO_OK && !r->runner)
        status = ako_fail(AKO_INVALID, "referee", "there is no reference");
    if (status == AKO_OK)
        status = ako_reader_init(&reader, request, "prepare");
    if (status == AKO_OK)
        status = ako_read_integer(&workload, &reader, "workload", 0, r->task->n_workloads - 1, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_integer(&seed, &reader, "seed", INT64_MIN, INT64_MAX, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_bool(&what.golden, &reader, "golden", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_bool(&what.loose, &reader, "loose", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_integer(&unit, &reader, "unit", 0, r->n_units - 1, AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_bool(&what.form.is_signed, &reader, "signed", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = ako_read_real(&what.form.times, &reader, "times", AKO_OPTIONAL);
    what.seed = (uint64_t)seed;
    what.unit = (int)unit;
    if (status == AKO_OK)
        status = lay_out(r, p, what.set, (int)workload, &what);
    if (status == AKO_OK)
        status = prepare(r, p, &what);
    if (status == AKO_OK)
        status = pack_into(answer, json_pack("{s:I}", "golden_ns", (json_int_t)what.golden_ns));
    return status == AKO_OK ? pack_fault(answer, &what.fault) : status;
}

static int read_prepared(prepared **out, referee *r, const json_t *request)
{
    int set, status = read_set(out, &set, r, request);
    if (status == AKO_OK && !(*out)->ready)
        status = ako_fail(AKO_INVALID, "referee", "set %d has not been prepared", set);
    return status;
}

/* {"set"}: what the candidate left there. */
static int on_verify(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    prepared *p;
    int status = read_prepared(&p, r, request);
    if (status == AKO_OK && !p->provable)
        status = ako_fail(AKO_INVALID, "referee", "that set has no golden");
    return status == AKO_OK ? referee_verify(r, p, answer) : status;
}

/* {"set"}: whether a candidate that died had written outside its buffers before. */
static int on_overrun(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    prepared *p;
    char text[300];
    int status = read_prepared(&p, r, request);
    if (status == AKO_OK)
        status = referee_describe_overrun(text, sizeof text, &p->arena, referee_ops(r), p->base);
    return status == AKO_OK ? pack_into(answer, json_pack("{s:s}", "overrun", text)) : status;
}

/* {"calls","full"}: outputs of timed calls. */
static int on_inspect(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    reference_fault fault = {0};
    int status = need_task(r);
    if (status == AKO_OK)
        status = referee_inspect(r, request, answer, &fault);
    return status == AKO_OK ? pack_fault(answer, &fault) : status;
}

/* {"set"} that was verified, or {"call"} that was inspected, and differed: what the model says of it in fp64. */
static int on_exact(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    prepared *p;
    reference_fault fault = {0};
    const json_t *call = json_object_get(request, "call");
    int status = call ? need_task(r) : read_prepared(&p, r, request);
    if (status == AKO_OK && !call && !p->provable)
        status = ako_fail(AKO_INVALID, "referee", "that set has no golden");
    if (status == AKO_OK)
        status = call ? referee_judge_call(r, call, answer, &fault) : referee_judge_exactly(answer, r, p);
    return status == AKO_OK ? pack_fault(answer, &fault) : status;
}

/* {"calls"}: before they are made. */
static int on_wipe(ako_server *server, const json_t *request, json_t *answer)
{
    (void)answer;
    referee *r = server->state;
    int status = need_task(r);
    return status == AKO_OK ? referee_wipe(r, request) : status;
}

/* {"set"}: red zones and inputs of a set that has been timed on. */
static int on_intact(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    prepared *p;
    int status = read_prepared(&p, r, request);
    return status == AKO_OK ? referee_verify_intact(r, p, answer) : status;
}

/* {"set","seed","other","tolerances"}: the task's self-test on inputs that were prepared from `seed`. */
static int on_attack(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    prepared *p;
    reference_fault fault = {0};
    int status = read_prepared(&p, r, request);
    if (status == AKO_OK && !p->provable)
        status = ako_fail(AKO_INVALID, "referee", "that set has no golden");
    if (status == AKO_OK)
        status = referee_attack(r, p, request, answer, &fault);
    return status == AKO_OK ? pack_fault(answer, &fault) : status;
}

/* Made before it is needed, while the solution is still being built. */
static int on_timer(ako_server *server, const json_t *request, json_t *answer)
{
    (void)answer;
    referee *r = server->state;
    ako_timer_kind kind = AKO_TIMER_AUTO;
    const char *name = json_string_value(json_object_get(request, "timer"));
    int status = need_task(r);
    if (status == AKO_OK)
        status = ako_timer_kind_parse(&kind, name ? name : "auto");
    if (status != AKO_OK)
        return status;
    ako_place place = r->place;
    if (r->timer && r->timer_kind == kind && r->timer_place == place)
        return AKO_OK;
    ako_timer_free(r->timer);
    r->timer = NULL;
    r->timer_kind = kind;
    r->timer_place = place;
    return ako_timer_new(&r->timer, place, kind);
}

/* The reference's buffers for timing: the exported tensors, so that both sides use the same memory. */
static void **timing_addresses(const referee *r, const prepared *p)
{
    void **addresses = exchange_addresses(&p->golden_arena, p->golden);
    for (int i = 0; addresses && i < r->task->n_tensors; i++)
        addresses[i] = ako_arena_address(&p->arena, i, p->base);
    return addresses;
}

/* What cannot be compiled is no failure of the reference: the answer says why. */
static int time_variant(referee *r, const json_t *request, json_t *answer, void **const *addresses, int n)
{
    const char *variant = json_string_value(json_object_get(request, "variant"));
    int status = variant ? choose_variant(variant) : AKO_OK;
    if (status == AKO_OK)
        status = timed_run(answer, request, r->timer, r->runner, (void *const *const *)addresses, n, NULL);
    if (variant && status != AKO_OK && status != AKO_CUDA)
        status = pack_into(answer, json_pack("{s:s}", "unavailable", ako_error_last()->message));
    if (variant || status == AKO_OK) /* what has failed has its own message */
        choose_variant("");          /* which gives back what the calls have needed */
    return status;
}

/* {"workload", plan, "variant"}: times the reference on sets prepared for that workload. */
static int on_time(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    reference_fault fault = {0};
    void **addresses[EXCHANGE_SETS] = {NULL};
    int n = 0, status = need_task(r);
    if (status == AKO_OK && (!r->timer || r->sets.n == 0 || !r->prepared[0].ready || referee_runs_away(r)))
        status = ako_fail(AKO_INVALID, "referee", "the reference cannot be timed now");
    while (status == AKO_OK && n < r->sets.n && r->prepared[n].ready &&
           r->prepared[n].workload == r->prepared[0].workload) {
        addresses[n] = timing_addresses(r, &r->prepared[n]);
        if (!addresses[n++])
            status = referee_out_of_memory();
    }
    if (status == AKO_OK)
        status = referee_bind(r, r->prepared[0].workload, &fault);
    if (status == AKO_OK && !fault.reason[0])
        status = time_variant(r, request, answer, addresses, n);
    for (int s = 0; s < n; s++)
        free(addresses[s]);
    return status == AKO_OK ? pack_fault(answer, &fault) : status;
}

/* {plan}: what the same request costs when there is nothing to call: the bound of the two clocks. */
static int on_calibrate(ako_server *server, const json_t *request, json_t *answer)
{
    referee *r = server->state;
    ako_runner *nothing = NULL;
    void *none[1] = {NULL}, *const * addresses[EXCHANGE_SETS];
    for (int s = 0; s < EXCHANGE_SETS; s++)
        addresses[s] = none;
    int status =
        r->timer ? ako_runner_nothing(&nothing, r->timer_place) : ako_fail(AKO_INVALID, "referee", "there is no timer");
    if (status == AKO_OK)
        status = timed_run(answer, request, r->timer, nothing, addresses, EXCHANGE_SETS, NULL);
    ako_runner_free(nothing);
    return status;
}

int role_referee(ako_wire *wire)
{
    static const serve_op ops[] = {
        {"open", on_open},       {"task", on_task},           {"reference", on_reference}, {"memory", on_memory},
        {"prepare", on_prepare}, {"verify", on_verify},       {"overrun", on_overrun},     {"timer", on_timer},
        {"time", on_time},       {"attack", on_attack},       {"inspect", on_inspect},     {"intact", on_intact},
        {"wipe", on_wipe},       {"calibrate", on_calibrate}, {"describe", on_describe},   {"exact", on_exact}};
    referee state = {.bound = -1};
    ako_server server = {.wire = wire, .state = &state};
    int status = serve(&server, ops, sizeof ops / sizeof *ops);
    forget_task(&state);
    ako_timer_free(state.timer);
    ako_ops_free(state.ops[AKO_GPU]);
    ako_ops_free(state.ops[AKO_CPU]);
    ako_wire_free(wire);
    return status != AKO_EOF;
}
