/* The request "describe": what a Python problem asks for, before there is a task. */
#include "answer.h"
#include "clock.h"
#include "error.h"
#include "evaluator.h"
#include "pack.h"
#include "reader.h"

typedef struct description {
    ako_unit *unit; /* the problem's files */
    const json_t *question;
    int64_t limit_ns;
    build_job build;
} description;

static int read_request(description *d, const json_t *request)
{
    ako_reader reader;
    int status = ako_reader_init(&reader, request, "describe");
    if (status == AKO_OK)
        status = ako_read_object(&d->question, &reader, "question", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_integer(&d->limit_ns, &reader, "limit", 0, INT64_MAX / 4, AKO_OPTIONAL);
    return status == AKO_OK ? ako_unit_parse(&d->unit, NULL, json_object_get(request, "unit"), "describe.unit")
                            : status;
}

static int bundle(evaluator *ev, description *d)
{
    int status = build_start(ev, &d->build, d->unit, 0);
    if (status == AKO_OK)
        status = build_await(ev, &d->build, 0);
    return status == AKO_OK ? ako_answer_status(d->build.output, "builder") : status;
}

/* A new referee: it is not to have seen another problem before. It stays for the task that follows. */
static int ask(evaluator *ev, const description *d, json_t **reply)
{
    child_kill(&ev->referee);
    int status = referee_open(ev, ev->device.place, true);
    if (status == AKO_OK)
        status = child_send(
            &ev->referee, "describe",
            json_pack("{s:O, s:O}", "path", json_object_get(d->build.output, "path"), "question", d->question), NULL,
            0);
    for (arm a = ARM_INCUMBENT; status == AKO_OK && a <= ARM_CANDIDATE; a++)
        status = arm_start(ev, a, d->unit->lane); /* their contexts come up meanwhile */
    int64_t deadline = d->limit_ns ? ako_clock_ns() + d->limit_ns : 0;
    if (status == AKO_OK)
        status = evaluator_settle(ev, &ev->referee, reply, deadline);
    if (status == AKO_TIMEOUT)
        status = ako_fail(AKO_TIMEOUT, "problem", "not described within %.3g s", (double)d->limit_ns / 1e9);
    if (status != AKO_OK)
        child_kill(&ev->referee);
    return status;
}

int describe_run(evaluator *ev, const json_t *request, json_t *answer)
{
    description d = {0};
    json_t *reply = NULL;
    int status = read_request(&d, request);
    if (status == AKO_OK)
        status = bundle(ev, &d);
    if (status == AKO_OK)
        status = ask(ev, &d, &reply);
    if (status == AKO_OK)
        status = pack_into(answer, json_pack("{s:O}", "description", json_object_get(reply, "description")));
    json_decref(reply);
    build_drop(&d.build);
    ako_unit_free(d.unit);
    return status;
}
