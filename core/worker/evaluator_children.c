#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "evaluator.h"
#include "exchange.h"

json_t *unit_without_sources(const ako_unit *unit)
{
    json_t *bare = json_copy(unit->json);
    if (bare)
        json_object_del(bare, "sources");
    return bare;
}

json_t *task_without_sources(const evaluator *ev)
{
    json_t *bare = json_copy(ev->task->json), *reference = unit_without_sources(ev->reference);
    if (bare && reference && json_object_set(bare, "reference", reference) == 0) {
        json_decref(reference);
        return bare;
    }
    json_decref(bare);
    json_decref(reference);
    return NULL;
}

static int start_role(evaluator *ev, ako_child *child, const char *role, bool hostile, bool python)
{
    return python ? nursery_fork(ev, child, role, hostile) : child_start(child, role, hostile);
}

int referee_open(evaluator *ev, ako_place place, bool python)
{
    int status = start_role(ev, &ev->referee, "referee", false, python);
    ev->referee_is_python = python;
    if (status == AKO_OK)
        status = child_send(&ev->referee, "open", json_pack("{s:s}", "place", exchange_place_name(place)), NULL, 0);
    ev->referee_has_task = ev->referee_has_reference = false;
    return status;
}

int referee_start(evaluator *ev)
{
    bool python = ako_lane_is_python(ev->reference->lane);
    if (ev->referee_is_python != python)
        child_kill(&ev->referee);
    int status = child_is_still_running(&ev->referee) ? AKO_OK : referee_open(ev, ev->device.place, python);
    if (status != AKO_OK || ev->referee_has_task)
        return status;
    status = child_send(&ev->referee, "task",
                        json_pack("{s:o, s:s, s:I}", "task", task_without_sources(ev), "files", ev->files, "memory",
                                  (json_int_t)ev->device.memory_bytes),
                        NULL, 0);
    ev->referee_has_task = status == AKO_OK;
    return status;
}

int arm_start(evaluator *ev, arm which, ako_lane lane)
{
    arm_process *process = &ev->arms[which];
    ako_place place = ako_lane_place(lane);
    bool python = ako_lane_is_python(lane);
    if (child_is_still_running(&process->child) && process->place == place && process->python == python)
        return AKO_OK;
    child_kill(&process->child);
    process->place = place;
    process->python = python;
    int status = start_role(ev, &process->child, "candidate", true, python);
    return status == AKO_OK
               ? child_send(&process->child, "open", json_pack("{s:s}", "place", exchange_place_name(place)), NULL, 0)
               : status;
}

/* The end of a context takes long and needs nobody's attention: all of them end at once. */
static void hurry(const arm_process *process)
{
    if (child_is_running(&process->child))
        kill(process->child.pid, SIGKILL);
}

void arms_kill(evaluator *ev)
{
    for (int i = 0; i < ARMS; i++)
        hurry(&ev->arms[i]);
    for (int i = 0; i < ARMS; i++) {
        turn_allow(ev, i); /* one that stands still does not hear that it is to end */
        child_kill(&ev->arms[i].child);
    }
}
