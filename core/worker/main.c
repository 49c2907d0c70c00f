/* ako-worker ROLE --channel FD: one program, four roles (DESIGN: processes and trust). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "ako.h"
#include "confine.h"
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

static int parse_channel(const char *text)
{
    char *end;
    long fd = strtol(text, &end, 10);
    return *text && !*end && fd > 2 && fd < 1 << 20 ? (int)fd : -1;
}

/* Code of others that faults must end its process by the signal, for the evaluator to see; the handlers of a sanitizer
 * build would turn it into an exit. */
static void reset_faults(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
}

int main(int argc, char **argv)
{
    const struct role *role = argc == 4 && strcmp(argv[2], "--channel") == 0 ? find_role(argv[1]) : NULL;
    int channel = role ? parse_channel(argv[3]) : -1;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("ako-worker %s\n", AKO_VERSION) < 0;
    if (channel < 0) {
        fprintf(stderr, "usage: ako-worker evaluator|builder|referee|candidate --channel FD\n"
                        "ako-lua starts it; there is nothing to do with it by hand.\n");
        return 2;
    }
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
        fprintf(stderr, "ako-worker: %s\n", ako_error_last()->message);
        return 1;
    }
    return role->run(wire);
}
