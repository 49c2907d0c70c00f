#include "hooks.h"

#include <stddef.h>
#include <unistd.h>

#include "error.h"

static ako_hooks *registered;
static pid_t owner; /* the process that they were registered in */

void ako_hooks_set(ako_hooks *hooks)
{
    registered = hooks;
    owner = getpid();
    if (hooks)
        hooks->status = AKO_HOOK_SILENT;
}

const ako_hooks *ako_hooks_get(void)
{
    return registered;
}

/* Code of others that forks, and whose copy comes back, makes a second process of ours, on the same memory: it ends. */
int ako_hooks_answer(void)
{
    if (getpid() != owner)
        _exit(1);
    int status = registered->status;
    registered->status = AKO_HOOK_SILENT;
    return status <= AKO_OK ? status : ako_fail(AKO_ERROR, "python", "raised something of which nothing can be said");
}

int ako_fail_text(int status, const char *domain, const char *text)
{
    return ako_fail(status < AKO_OK ? status : AKO_ERROR, domain, "%s", text);
}
