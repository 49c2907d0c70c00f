/* The evaluator: the host's requests of docs/protocol.md, and the processes that carry them out. */
#include "evaluator.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "base64.h"
#include "cancel.h"
#include "clock.h"
#include "device_json.h"
#include "error.h"
#include "fs.h"
#include "log.h"
#include "pack.h"
#include "process.h"
#include "reader.h"
#include "roles.h"
#include "versions.h"

static int refuse(evaluator *ev, const json_t *message)
{
    json_t *answer = json_pack("{s:O*, s:b, s:s, s:s}", "id", json_object_get(message, "id"), "ok", 0, "code", "BUSY",
                               "error", "a request is running; only cancel can come now");
    int status = answer ? ako_wire_send(ev->server.wire, answer, NULL, 0) : AKO_OK;
    json_decref(answer);
    return status;
}

int evaluator_listen(evaluator *ev)
{
    json_t *message;
    int status = ako_wire_receive(ev->server.wire, &message, 1);
    if (status == AKO_TIMEOUT)
        return AKO_OK;
    if (status != AKO_OK)
        return ako_fail(AKO_EOF, "evaluator", "the host is gone");
    const char *op = json_string_value(json_object_get(message, "op"));
    if (op && strcmp(op, "cancel") == 0)
        status = ako_fail(AKO_CANCELLED, "evaluator", "interrupted");
    else
        status = refuse(ev, message);
    json_decref(message);
    return status;
}

int evaluator_await(evaluator *ev, ako_child *child, json_t **answer, int64_t deadline_ns)
{
    for (;;) {
        int status = child_poll(child, answer);
        if (status != AKO_TIMEOUT)
            return status;
        status = evaluator_listen(ev);
        if (status != AKO_OK)
            return status;
        if (deadline_ns && ako_clock_ns() >= deadline_ns)
            return ako_fail(AKO_TIMEOUT, child->role, "no answer within the time limit");
        struct pollfd fds[3] = {{.fd = ako_wire_fd(child->wire), .events = POLLIN},
                                {.fd = child->watch, .events = POLLIN},
                                {.fd = ako_wire_fd(ev->server.wire), .events = POLLIN}};
        poll(fds, 3, ako_clock_poll_ms(deadline_ns));
    }
}

int evaluator_settle(evaluator *ev, ako_child *child, json_t **answer, int64_t deadline_ns)
{
    int status = AKO_OK;
    *answer = NULL;
    while (status == AKO_OK && child_owes_answer(child)) {
        json_decref(*answer);
        *answer = NULL;
        status = evaluator_await(ev, child, answer, deadline_ns);
        if (status == AKO_OK)
            status = ako_answer_status(*answer, child->role);
    }
    return status;
}

/* Takes the event over. A host that is gone is found by evaluator_listen. */
static void send_event(evaluator *ev, json_t *event)
{
    if (event && ev->server.id && json_object_set(event, "id", ev->server.id) == 0)
        ako_wire_send(ev->server.wire, event, NULL, 0);
    json_decref(event);
}

void evaluator_progress(evaluator *ev, const char *step, int done, int total)
{
    send_event(ev, json_pack("{s:s, s:s, s:i, s:i}", "event", "progress", "step", step, "done", done, "total", total));
}

void evaluator_say(evaluator *ev, const char *step, const char *text)
{
    send_event(ev,
               json_pack("{s:s, s:s, s:o}", "event", "progress", "step", step, "text", pack_text(text, strlen(text))));
}

/* Everything below sees this one GPU, as device 0, whatever the order in which CUDA numbers them. */
static int adopt_device(evaluator *ev, const ako_device_props *device)
{
    if (ev->greeted && strcmp(ev->device.uuid, device->uuid) != 0)
        return ako_fail(AKO_INVALID, "evaluator", "this evaluator serves %s; start another one for %s", ev->device.id,
                        device->id);
    int status = ako_device_find(&ev->cpu, "cpu");
    if (status != AKO_OK)
        return status;
    if (device->place == AKO_GPU && setenv("CUDA_VISIBLE_DEVICES", device->uuid, 1) != 0)
        return ako_fail_errno("evaluator", "cannot choose the GPU");
    ev->device = *device;
    ev->greeted = true;
    return AKO_OK;
}

/* CUDA takes long to start, also for the question what there is. Where a GPU seems to be there and the first one is
 * meant, the processes that will use it start their contexts before the answer is known. */
static void start_early(evaluator *ev, const char *spec)
{
    bool first = strcmp(spec, "auto") == 0 || strcmp(spec, "cuda") == 0 || strcmp(spec, "cuda:0") == 0;
    if (ev->python.program[0] && nursery_start(ev) != AKO_OK)
        ako_log(AKO_LOG_WARN, "%s", ako_error_last()->message);
    if (ev->greeted || ev->python.program[0] || !first || access("/dev/nvidiactl", F_OK) != 0)
        return;
    builders_warm(ev, AKO_LANE_CUDA);
    if (referee_open(ev, AKO_GPU, false) != AKO_OK || arm_start(ev, ARM_CANDIDATE, AKO_LANE_CUDA) != AKO_OK)
        ako_log(AKO_LOG_WARN, "%s", ako_error_last()->message); /* they are started again when they are needed */
}

static int find_device(evaluator *ev, const char *spec)
{
    ako_device_props device;
    bool first = !ev->greeted;
    int status = ako_device_find(&device, spec);
    if (status == AKO_OK)
        status = adopt_device(ev, &device);
    if (first && (status != AKO_OK || device.place == AKO_CPU)) { /* nothing is to hold a GPU that is not used */
        child_kill(&ev->referee);
        arms_kill(ev);
    }
    if (status == AKO_OK)
        builders_warm(ev, device.place == AKO_GPU ? AKO_LANE_CUDA : AKO_LANE_C);
    return status;
}

static int answer_hello(evaluator *ev, json_t *answer)
{
    ako_json *versions = NULL, *props = NULL;
    int status = ako_versions(&versions);
    if (status == AKO_OK)
        status = ako_device_props_json(&props, &ev->device);
    if (status == AKO_OK)
        status = pack_into(answer, json_pack("{s:O, s:O}", "device", props, "versions", versions));
    json_decref(versions);
    json_decref(props);
    return status;
}

/* {"program","script","library"}; not there: no Python lane. */
static int read_python(python_facts *out, const ako_reader *hello)
{
    const json_t *object = NULL;
    ako_reader reader;
    int status = ako_read_object(&object, hello, "python", AKO_OPTIONAL);
    if (status != AKO_OK || !object)
        return status;
    status = ako_reader_init(&reader, object, "hello.python");
    if (status == AKO_OK)
        status = ako_read_text(out->program, sizeof out->program, &reader, "program", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_text(out->script, sizeof out->script, &reader, "script", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_text(out->library, sizeof out->library, &reader, "library", AKO_REQUIRED);
    return status;
}

static int on_hello(ako_server *server, const json_t *request, json_t *answer)
{
    evaluator *ev = server->state;
    ako_reader reader;
    const char *spec = "auto";
    int64_t protocol = 0;
    int status = ako_reader_init(&reader, request, "hello");
    if (status == AKO_OK)
        status = ako_read_integer(&protocol, &reader, "protocol", 1, 1, AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_string(&spec, &reader, "device", AKO_OPTIONAL);
    if (status == AKO_OK)
        status = read_python(&ev->python, &reader);
    if (status != AKO_OK)
        return status;
    start_early(ev, spec);
    status = find_device(ev, spec);
    return status == AKO_OK ? answer_hello(ev, answer) : status;
}

static int need_hello(const evaluator *ev)
{
    return ev->greeted ? AKO_OK : ako_fail(AKO_INVALID, "evaluator", "hello must come first");
}

static int write_at(int fd, const char *data, size_t size, int64_t offset)
{
    while (size > 0) {
        ssize_t n = pwrite(fd, data, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return ako_fail_errno("evaluator", "cannot store an uploaded file");
        data += n;
        size -= (size_t)n;
        offset += n;
    }
    return AKO_OK;
}

static int store_piece(const char *path, const char *data, int64_t offset)
{
    ako_buf piece = {0};
    int status = ako_base64_decode(&piece, data, strlen(data));
    int fd = status == AKO_OK ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (offset == 0 ? O_TRUNC : 0), 0600) : -1;
    if (status == AKO_OK)
        status = fd < 0 ? ako_fail_errno("evaluator", "cannot store an uploaded file")
                        : write_at(fd, piece.data, piece.size, offset);
    if (fd >= 0)
        close(fd);
    ako_buf_free(&piece);
    return status;
}

static int read_key(const char **key, const ako_reader *reader)
{
    int status = ako_read_string(key, reader, "key", AKO_REQUIRED);
    if (status == AKO_OK && (strlen(*key) > 64 || !**key || strspn(*key, "0123456789abcdef") != strlen(*key)))
        status = ako_reader_fail(reader, "key", "expected at most 64 hexadecimal digits");
    return status;
}

/* {"key","offset","data"}: a piece of a file whose content has that hash. */
static int on_file(ako_server *server, const json_t *request, json_t *answer)
{
    (void)answer;
    evaluator *ev = server->state;
    ako_reader reader;
    const char *key = NULL, *data = NULL;
    int64_t offset = 0;
    char path[PATH_MAX + 80];
    int status = ako_reader_init(&reader, request, "file");
    if (status == AKO_OK)
        status = read_key(&key, &reader);
    if (status == AKO_OK)
        status = ako_read_string(&data, &reader, "data", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_integer(&offset, &reader, "offset", 0, INT64_MAX / 2, AKO_OPTIONAL);
    if (status == AKO_OK && !ev->files[0])
        status = ako_fs_temp_dir(ev->files, sizeof ev->files, "ako-files");
    snprintf(path, sizeof path, "%s/%s", ev->files, key ? key : "");
    return status == AKO_OK ? store_piece(path, data, offset) : status;
}

static void forget_task(evaluator *ev)
{
    build_drop(&ev->reference_build);
    ako_unit_free(ev->reference);
    ako_task_free(ev->task);
    ev->reference = NULL;
    ev->task = NULL;
    ev->referee_has_task = ev->referee_has_reference = false;
}

static int parse_task(evaluator *ev, json_t *json)
{
    int status = ako_task_parse(&ev->task, json);
    if (status == AKO_OK)
        status = ako_unit_parse(&ev->reference, ev->task, json_object_get(json, "reference"), "task.reference");
    if (status == AKO_OK && ako_lane_place(ev->reference->lane) == AKO_GPU && ev->device.place != AKO_GPU)
        status = ako_fail(AKO_UNAVAILABLE, "evaluator", "a reference of lane %s needs a GPU, and the device is the CPU",
                          ako_lane_name(ev->reference->lane));
    return status;
}

/* Of the solutions to come, so that their processes can start: as the host says, or what is native to the device. */
static ako_lane likely_lane(const evaluator *ev, const json_t *request)
{
    ako_lane lane = ev->device.place == AKO_GPU ? AKO_LANE_CUDA : AKO_LANE_C;
    const char *name = json_string_value(json_object_get(request, "lane"));
    if (name && ako_lane_parse(&lane, name) != AKO_OK)
        return AKO_LANE_C;
    return lane;
}

/* Nothing here is waited for: contexts come up and the reference builds while the host goes on. */
static int on_task(ako_server *server, const json_t *request, json_t *answer)
{
    (void)answer;
    evaluator *ev = server->state;
    int status = need_hello(ev);
    if (status != AKO_OK)
        return status;
    forget_task(ev);
    status = parse_task(ev, json_object_get(request, "task"));
    if (status == AKO_OK)
        status = referee_start(ev);
    ako_lane lane = status == AKO_OK ? likely_lane(ev, request) : AKO_LANE_C;
    if (status == AKO_OK)
        status = arm_start(ev, ARM_CANDIDATE, lane);
    if (status == AKO_OK && json_is_true(json_object_get(request, "pairs")))
        status = arm_start(ev, ARM_INCUMBENT, lane);
    if (status == AKO_OK)
        status = build_start(ev, &ev->reference_build, ev->reference, 0);
    if (status != AKO_OK)
        forget_task(ev);
    /* Opens NVML for the end of the first trial, while the others are busy starting. */
    if (status == AKO_OK)
        ako_device_state_get(&(ako_device_state){0}, &ev->device);
    return status;
}

static int on_trial(ako_server *server, const json_t *request, json_t *answer)
{
    evaluator *ev = server->state;
    int status = need_hello(ev);
    if (status == AKO_OK && !ev->task)
        status = ako_fail(AKO_INVALID, "evaluator", "task must come before trial");
    return status == AKO_OK ? trial_run(ev, request, answer) : status;
}

static int on_screen(ako_server *server, const json_t *request, json_t *answer)
{
    evaluator *ev = server->state;
    int status = need_hello(ev);
    if (status == AKO_OK && !ev->task)
        status = ako_fail(AKO_INVALID, "evaluator", "task must come before screen");
    return status == AKO_OK ? screen_run(ev, request, answer) : status;
}

static int on_describe(ako_server *server, const json_t *request, json_t *answer)
{
    evaluator *ev = server->state;
    int status = need_hello(ev);
    return status == AKO_OK ? describe_run(ev, request, answer) : status;
}

static int on_attack(ako_server *server, const json_t *request, json_t *answer)
{
    evaluator *ev = server->state;
    int status = need_hello(ev);
    if (status == AKO_OK && !ev->task)
        status = ako_fail(AKO_INVALID, "evaluator", "task must come before attack");
    return status == AKO_OK ? attack_run(ev, request, answer) : status;
}

static void clear_up(evaluator *ev)
{
    arms_kill(ev);
    ako_ops_free(ev->cpu_ops);
    ev->cpu_ops = NULL;
    json_decref(ev->extensions);
    ev->extensions = NULL;
    forget_task(ev);
    child_kill(&ev->referee);
    child_kill(&ev->nursery);
    for (int i = 0; i < BUILDERS; i++)
        child_kill(&ev->builders[i]);
    if (ev->files[0])
        ako_fs_remove_tree(ev->files);
    ev->files[0] = '\0';
}

static int on_close(ako_server *server, const json_t *request, json_t *answer)
{
    (void)request, (void)answer;
    clear_up(server->state);
    server->done = true;
    return AKO_OK;
}

/* One that comes when nothing runs has lost a race with the answer. */
static int on_cancel(ako_server *server, const json_t *request, json_t *answer)
{
    (void)server, (void)request, (void)answer;
    return AKO_OK;
}

static void on_signal(int number)
{
    (void)number;
    ako_cancel_request();
}

int role_evaluator(ako_wire *wire)
{
    static const serve_op ops[] = {{"hello", on_hello},   {"file", on_file},     {"task", on_task},
                                   {"trial", on_trial},   {"close", on_close},   {"cancel", on_cancel},
                                   {"attack", on_attack}, {"screen", on_screen}, {"describe", on_describe}};
    static evaluator state;
    state.server = (ako_server){.wire = wire, .state = &state};
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    ako_process_adopt_orphans();
    int status = serve(&state.server, ops, sizeof ops / sizeof *ops);
    clear_up(&state);
    ako_wire_free(wire);
    return status != AKO_OK && status != AKO_EOF && status != AKO_CANCELLED;
}
