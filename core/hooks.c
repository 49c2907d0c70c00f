#include "hooks.h"

#include <stddef.h>

#include "error.h"

static const ako_hooks *registered;

void ako_hooks_set(const ako_hooks *hooks)
{
    registered = hooks;
}

const ako_hooks *ako_hooks_get(void)
{
    return registered;
}

int ako_fail_text(int status, const char *domain, const char *text)
{
    return ako_fail(status, domain, "%s", text);
}
