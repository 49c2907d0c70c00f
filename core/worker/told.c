#include "told.h"

#include <stdlib.h>

#include "error.h"
#include "hooks.h"
#include "pack.h"
#include "reader.h"

int start_hooks(ako_place place)
{
    const ako_hooks *hooks = ako_hooks_get();
    if (!hooks)
        return AKO_OK;
    hooks->start(place == AKO_GPU);
    return ako_hooks_answer();
}

int choose_variant(const char *name)
{
    const ako_hooks *hooks = ako_hooks_get();
    if (!hooks)
        return *name ? ako_fail(AKO_UNAVAILABLE, "worker", "only a reference in Python has one") : AKO_OK;
    hooks->variant(name);
    return ako_hooks_answer();
}

static int tell(void (*hook)(const char *), const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    if (!text)
        return ako_fail(AKO_NOMEM, "worker", "out of memory");
    hook(text);
    free(text);
    return ako_hooks_answer();
}

int tell_task(ako_lane lane, const json_t *task)
{
    const ako_hooks *hooks = ako_hooks_get();
    return ako_lane_is_python(lane) && hooks ? tell(hooks->task, task) : AKO_OK;
}

int tell_extensions(ako_lane lane, const json_t *built)
{
    const ako_hooks *hooks = ako_hooks_get();
    return ako_lane_is_python(lane) && hooks && built ? tell(hooks->extensions, built) : AKO_OK;
}

int ask_autotuned(ako_lane lane, json_t *answer)
{
    const ako_hooks *hooks = ako_hooks_get();
    if (!ako_lane_is_python(lane) || !hooks)
        return AKO_OK;
    hooks->autotuned();
    json_t *list = ako_hooks_answer() == AKO_OK ? json_loads(hooks->text, 0, NULL) : NULL;
    return list ? pack_into(answer, json_pack("{s:o}", "autotuned", list)) : AKO_OK;
}

int describe_file(const json_t *request, json_t *answer)
{
    ako_reader reader;
    const ako_hooks *hooks = ako_hooks_get();
    const json_t *question = NULL;
    const char *path = NULL;
    int status = ako_reader_init(&reader, request, "describe");
    if (status == AKO_OK)
        status = ako_read_string(&path, &reader, "path", AKO_REQUIRED);
    if (status == AKO_OK)
        status = ako_read_object(&question, &reader, "question", AKO_OPTIONAL);
    if (status == AKO_OK && !hooks)
        status = ako_fail(AKO_INVALID, "worker", "only a Python process can describe a file");
    if (status != AKO_OK)
        return status;
    char *asked = question ? json_dumps(question, JSON_COMPACT) : NULL;
    hooks->describe(path, asked ? asked : "{}");
    free(asked);
    status = ako_hooks_answer();
    if (status != AKO_OK)
        return status;
    json_t *description = json_loads(hooks->text, 0, NULL);
    return pack_into(answer, description ? json_pack("{s:o}", "description", description) : NULL);
}
