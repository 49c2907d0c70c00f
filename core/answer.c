#include "answer.h"

#include <jansson.h>
#include <string.h>

#include "error.h"

static int status_of_name(const char *name)
{
    static const struct {
        const char *name;
        int status;
    } table[] = {
#define AKO_STATUS_ROW(name, value, text) {#name, (value)},
        AKO_STATUS_LIST(AKO_STATUS_ROW)
#undef AKO_STATUS_ROW
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].status != AKO_OK && strcmp(table[i].name, name) == 0)
            return table[i].status;
    return AKO_ERROR;
}

ako_json *ako_answer_failure(ako_json *id, int status)
{
    return json_pack("{s:O*, s:b, s:s, s:s}", "id", id, "ok", 0, "code", ako_status_name(status), "error",
                     ako_error_last()->message);
}

int ako_answer_status(const ako_json *answer, const char *domain)
{
    const json_t *ok = json_object_get(answer, "ok");
    if (json_is_true(ok))
        return AKO_OK;
    const char *code = json_string_value(json_object_get(answer, "code"));
    const char *text = json_string_value(json_object_get(answer, "error"));
    if (!json_is_false(ok) || !code || !text)
        return ako_fail(AKO_CORRUPT, domain, "an answer without result or reason");
    return ako_fail(status_of_name(code), domain, "%s", text);
}
