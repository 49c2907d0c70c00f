#include "verdict.h"

#include <string.h>

#include "pack.h"

int verdict_put(json_t *answer, const char *status, const char *code, const char *reason)
{
    return pack_into(answer, json_pack("{s:s, s:s, s:s}", "status", status, "code", code, "reason", reason));
}

int verdict_put_passed(json_t *answer)
{
    return verdict_put(answer, "PASSED", "", "");
}

bool verdict_has_passed(const json_t *verdict)
{
    const char *status = json_string_value(json_object_get(verdict, "status"));
    return status && strcmp(status, "PASSED") == 0;
}
