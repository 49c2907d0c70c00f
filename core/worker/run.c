/* What every role's process does first, be it ako-worker or an interpreter that has loaded libako.so. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "confine.h"
#include "error.h"
#include "hooks.h"
#include "log.h"
#include "roles.h"

static const struct role {
    const char *name, *process_name;
    int (*run)(ako_wire *wire);
} roles[] = {
    {"evaluator", "ako-evaluator", role_evaluator},
    {"builder", "ako-builder", role_builder},
    {"referee", "ako-referee", role_referee},
    {"candidate", "ako-candidate", role_candidate},
};

static const struct role *find_role(const char *name)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].name, name) == 0)
            return &roles[i];
    return NULL;
}

bool role_exists(const char *name)
{
    return find_role(name) != NULL;
}

/* Code of others that faults must end its process by the signal, for the evaluator to see; the handlers of a sanitizer
 * build would turn it into an exit. */
static void reset_faults(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
}

int role_run(const char *name, int channel)
{
    const struct role *role = find_role(name);
    const char *level = getenv("AKO_LOG");
    if (level && strcmp(level, "debug") == 0)
        ako_log_set_level(AKO_LOG_DEBUG);
    signal(SIGPIPE, SIG_IGN);
    reset_faults();
    prctl(PR_SET_NAME, role->process_name);
    if (role->run != role_candidate) /* seeds, goldens and builds are not for candidates of the same user to see */
        ako_confine_memory();
    ako_wire *wire;
    if (ako_wire_new(&wire, channel) != AKO_OK) {
        fprintf(stderr, "%s: %s\n", role->process_name, ako_error_last()->message);
        return 1;
    }
    return role->run(wire);
}

int ako_role_run(const char *role, int channel, ako_hooks *hooks)
{
    if (!role_exists(role))
        return 2;
    ako_hooks_set(hooks);
    return role_run(role, channel);
}
