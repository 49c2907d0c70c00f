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

int referee_open(evaluator *ev, ako_place place)
{
    int status = child_start(&ev->referee, "referee", false);
    if (status == AKO_OK)
        status = child_send(&ev->referee, "open", json_pack("{s:s}", "place", exchange_place_name(place)), NULL, 0);
    ev->referee_has_task = ev->referee_has_reference = false;
    return status;
}

int referee_start(evaluator *ev)
{
    int status = child_is_running(&ev->referee) ? AKO_OK : referee_open(ev, ev->device.place);
    if (status != AKO_OK || ev->referee_has_task)
        return status;
    status = child_send(&ev->referee, "task",
                        json_pack("{s:o, s:s, s:I}", "task", task_without_sources(ev), "files", ev->files, "memory",
                                  (json_int_t)ev->device.memory_bytes),
                        NULL, 0);
    ev->referee_has_task = status == AKO_OK;
    return status;
}

static int open_candidate(evaluator *ev, ako_place place, const char *timer)
{
    ev->candidate_place = place;
    snprintf(ev->candidate_timer, sizeof ev->candidate_timer, "%s", timer);
    return child_send(&ev->candidate, "open",
                      json_pack("{s:s, s:s}", "place", exchange_place_name(place), "timer", timer), NULL, 0);
}

int candidate_start(evaluator *ev, ako_place place, const char *timer)
{
    if (child_is_running(&ev->candidate) && ev->candidate_place == place)
        return strcmp(ev->candidate_timer, timer) == 0 ? AKO_OK : open_candidate(ev, place, timer);
    child_kill(&ev->candidate);
    int status = child_start(&ev->candidate, "candidate", true);
    return status == AKO_OK ? open_candidate(ev, place, timer) : status;
}
