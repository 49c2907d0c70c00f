/* The nursery: a Python process that has imported PyTorch, which takes seconds, and has done nothing else. Referees and
 * candidates of the Python lanes are forks of it, which takes milliseconds; each is handed to us as a child, so that it
 * is watched, limited and reaped like any other process below the evaluator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "clock.h"
#include "error.h"
#include "evaluator.h"
#include "process.h"
#include "process_tree.h"

#define IMPORT_LIMIT_NS INT64_C(180000000000) /* of PyTorch, from a cold disk */

static int spawn(pid_t *pid, const evaluator *ev, int channel)
{
    char number[16];
    snprintf(number, sizeof number, "%d", channel);
    const char *argv[] = {ev->python.program, "-B", ev->python.script, ev->python.library, number, NULL};
    ako_spawn spawn = {.argv = argv,
                       .env = room_environment(ev->nursery.room),
                       .cwd = room_folder(ev->nursery.room),
                       .stdin_fd = -1,
                       .stdout_fd = -1,
                       .stderr_fd = STDERR_FILENO,
                       .channel_fd = channel,
                       .die_with_parent = true};
    return ako_process_spawn(pid, &spawn);
}

int nursery_start(evaluator *ev)
{
    pid_t pid;
    int channel;
    if (child_is_still_running(&ev->nursery))
        return AKO_OK;
    if (!ev->python.program[0])
        return ako_fail(AKO_UNAVAILABLE, "evaluator", "no Python interpreter was named for the Python lane");
    int status = child_begin(&ev->nursery, "python", true, &channel);
    if (status != AKO_OK)
        return status;
    status = spawn(&pid, ev, channel);
    close(channel);
    if (status == AKO_OK)
        child_become(&ev->nursery, pid);
    else
        child_give_up(&ev->nursery);
    return status;
}

/* One that has not answered is ended: its answer, when it came, would be taken for one to the next question. */
static int ask(evaluator *ev, json_t **answer, json_t *request, int channel)
{
    char text[700];
    int status = child_send(&ev->nursery, "fork", request, &channel, 1);
    if (status == AKO_OK)
        status = evaluator_await(ev, &ev->nursery, answer, ako_clock_ns() + IMPORT_LIMIT_NS);
    if (status == AKO_OK)
        return ako_answer_status(*answer, "python");
    snprintf(text, sizeof text, "%.690s", ako_error_last()->message);
    child_kill(&ev->nursery);
    if (status == AKO_CANCELLED || status == AKO_EOF)
        return ako_fail(status, "evaluator", "%s", text);
    return ako_fail(status == AKO_KILLED ? status : AKO_UNAVAILABLE, "evaluator", "%s: the Python process %.600s",
                    ev->python.program, text);
}

/* The process is a child of ours the moment its parent, the nursery's own fork, has ended. */
static int adopt(ako_child *child, const json_t *answer)
{
    pid_t pid = (pid_t)json_integer_value(json_object_get(answer, "pid"));
    int status = pid > 1 ? ako_tree_register(pid) : ako_fail(AKO_CORRUPT, "evaluator", "the nursery named no process");
    if (status == AKO_OK)
        child_become(child, pid);
    return status;
}

int nursery_fork(evaluator *ev, ako_child *child, const char *role, bool hostile)
{
    json_t *answer = NULL;
    int channel, status = nursery_start(ev);
    if (status == AKO_OK)
        status = child_begin(child, role, hostile, &channel);
    if (status != AKO_OK)
        return status;
    const char *folder = room_folder(child->room);
    status = ask(ev, &answer,
                 json_pack("{s:s, s:s, s:s*}", "role", role, "folder", folder ? folder : "", "devices",
                           getenv("CUDA_VISIBLE_DEVICES")),
                 channel);
    close(channel);
    if (status == AKO_OK)
        status = adopt(child, answer);
    json_decref(answer);
    if (status != AKO_OK)
        child_give_up(child);
    return status;
}
