#include "child.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "log.h"
#include "process.h"
#include "process_tree.h"

#define SEND_LIMIT_NS INT64_C(30000000000)
#define HOSTILE_LIMIT ((size_t)32 << 20) /* of an answer: twice the largest source that a solution may have */

/* A candidate that writes into its channel must guess this to be believed. */
static uint64_t random_id(void)
{
    uint64_t id = 0;
    if (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id)
        id = (uint64_t)ako_clock_ns();
    return id >> 2; /* JSON integers are signed, and there must be room to count */
}

static int spawn_role(pid_t *pid, const ako_child *child, int channel)
{
    char number[16];
    snprintf(number, sizeof number, "%d", channel);
    const char *argv[] = {"/proc/self/exe", child->role, "--channel", number, NULL};
    ako_spawn spawn = {.argv = argv,
                       .env = room_environment(child->room),
                       .cwd = room_folder(child->room),
                       .stdin_fd = -1,
                       .stdout_fd = -1,
                       .stderr_fd = child->room ? -1 : STDERR_FILENO,
                       .channel_fd = channel,
                       .die_with_parent = true};
    return ako_process_spawn(pid, &spawn);
}

static void leave_room(ako_child *child)
{
    room_close(child->room);
    child->room = NULL;
}

void child_give_up(ako_child *child)
{
    ako_wire_free(child->wire);
    leave_room(child);
    memset(child, 0, sizeof *child);
}

int child_begin(ako_child *child, const char *role, bool hostile, int *channel)
{
    int fds[2];
    memset(child, 0, sizeof *child);
    child->role = role;
    child->asked = child->answered = random_id();
    int status = hostile ? room_open(&child->room) : AKO_OK;
    if (status == AKO_OK && (status = ako_wire_pair(fds)) == AKO_OK) {
        *channel = fds[1];
        status = ako_wire_new(&child->wire, fds[0]);
        if (status != AKO_OK)
            close(fds[1]);
        else if (hostile)
            ako_wire_limit(child->wire, HOSTILE_LIMIT);
    }
    if (status != AKO_OK)
        child_give_up(child);
    return status;
}

void child_become(ako_child *child, pid_t pid)
{
    child->pid = pid;
    child->watch = ako_process_watch(pid);
}

int child_start(ako_child *child, const char *role, bool hostile)
{
    pid_t pid;
    int channel, status = child_begin(child, role, hostile, &channel);
    if (status != AKO_OK)
        return status;
    status = spawn_role(&pid, child, channel);
    close(channel);
    if (status == AKO_OK)
        child_become(child, pid);
    else
        child_give_up(child);
    return status;
}

bool child_is_running(const ako_child *child)
{
    return child->pid > 0;
}

bool child_is_still_running(ako_child *child)
{
    siginfo_t info = {.si_pid = 0};
    if (child_is_running(child) && waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
        info.si_pid == child->pid)
        child_kill(child);
    return child_is_running(child);
}

bool child_owes_answer(const ako_child *child)
{
    return child_is_running(child) && child->asked != child->answered;
}

/* With AKO_LOG=debug stderr tells where the time of a trial goes. */
static void trace(const ako_child *child, const char *what, const char *detail)
{
    ako_log(AKO_LOG_DEBUG, "%10.3f ms  %-9s %s %s", (double)(ako_clock_ns() % INT64_C(1000000000000)) / 1e6,
            child->role, what, detail);
}

int child_send(ako_child *child, const char *op, json_t *request, const int *fds, int n_fds)
{
    int status = AKO_OK;
    if (!child_is_running(child)) {
        json_decref(request);
        return ako_fail(AKO_CHILD, child->role ? child->role : "worker", "its process has been ended before");
    }
    trace(child, "is asked", op);
    if (!request || json_object_set_new(request, "op", json_string(op)) != 0 ||
        json_object_set_new(request, "id", json_integer((json_int_t)(child->asked + 1))) != 0)
        status = ako_fail(AKO_NOMEM, child->role, "out of memory for a request");
    if (status == AKO_OK)
        status = ako_wire_send_by(child->wire, request, fds, n_fds, ako_clock_ns() + SEND_LIMIT_NS);
    child->asked++;
    json_decref(request);
    /* A process that is gone is found, with its reason, where its answer is awaited. */
    return status == AKO_EOF ? AKO_OK : status;
}

void child_tell(ako_child *child, const char *op, json_t *wish)
{
    if (wish && json_object_set_new(wish, "op", json_string(op)) == 0)
        ako_wire_send_by(child->wire, wish, NULL, 0, ako_clock_ns() + SEND_LIMIT_NS);
    json_decref(wish);
}

static bool has_ended(const ako_child *child)
{
    struct pollfd p = {.fd = child->watch, .events = POLLIN};
    return child->watch >= 0 && poll(&p, 1, 0) == 1;
}

static int fail_ended(ako_child *child)
{
    int status = 0;
    char how[128] = "closed its channel";
    if (ako_process_wait(child->pid, &status, ako_clock_ns() + CHILD_GRACE_NS) == AKO_OK)
        ako_process_describe(how, sizeof how, status);
    child_kill(child);
    return ako_fail(ako_process_is_killed(status) ? AKO_KILLED : AKO_CHILD, child->role, "%s", how);
}

static int accept_answer(ako_child *child, json_t **answer)
{
    const json_t *id = json_object_get(*answer, "id");
    if (json_is_integer(id) && (uint64_t)json_integer_value(id) == child->answered + 1) {
        child->answered++;
        return AKO_OK;
    }
    json_decref(*answer);
    *answer = NULL;
    return ako_fail(AKO_CORRUPT, child->role, "an answer to a question that was not asked");
}

int child_poll(ako_child *child, json_t **answer)
{
    *answer = NULL;
    if (!child_is_running(child))
        return ako_fail(AKO_CHILD, child->role ? child->role : "worker", "not running");
    bool ended = has_ended(child); /* looked at first, so that its last words are read before it is given up */
    int status = ako_wire_receive(child->wire, answer, 1);
    if (status == AKO_OK) {
        trace(child, "answers", "");
        return accept_answer(child, answer);
    }
    if (status == AKO_EOF || (status == AKO_TIMEOUT && ended))
        return fail_ended(child);
    return status;
}

void child_kill(ako_child *child)
{
    if (!child_is_running(child))
        return;
    trace(child, "is ended", "");
    if (ako_process_kill_tree(child->pid, CHILD_GRACE_NS) != AKO_OK)
        fprintf(stderr, "%s\n", ako_error_last()->message);
    if (child->watch >= 0)
        close(child->watch);
    ako_wire_free(child->wire);
    leave_room(child);
    trace(child, "is gone", "");
    const char *role = child->role;
    memset(child, 0, sizeof *child);
    child->role = role;
}
