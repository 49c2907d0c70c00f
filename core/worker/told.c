#include "told.h"

#include <stdlib.h>

#include "error.h"
#include "hooks.h"

int start_hooks(ako_place place)
{
    const ako_hooks *hooks = ako_hooks_get();
    return hooks ? hooks->start(place == AKO_GPU) : AKO_OK;
}

int tell_task(ako_lane lane, const json_t *task)
{
    const ako_hooks *hooks = ako_hooks_get();
    if (!ako_lane_is_python(lane) || !hooks)
        return AKO_OK;
    char *text = json_dumps(task, JSON_COMPACT);
    int status = text ? hooks->task(text) : ako_fail(AKO_NOMEM, "worker", "out of memory");
    free(text);
    return status;
}
