#include "confined.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "hooks.h"
#include "pack.h"

int confined_begin(confined *c, ako_place place)
{
    const char *folder = getenv("TMPDIR");
    if (c->begun)
        return AKO_OK;
    if (!folder || *folder != '/')
        return ako_fail(AKO_INVALID, "candidate", "it has no folder of its own");
    c->begun = true;
    ako_confine_process(&c->report, place, folder);
    return AKO_OK;
}

/* The names alone. */
static json_t *pack_environment(void)
{
    json_t *names = json_array();
    for (char **entry = environ; names && *entry; entry++)
        json_array_append_new(names, pack_text(*entry, strcspn(*entry, "=")));
    return names;
}

int confined_finish(confined *c, json_t *answer, ako_place place)
{
    if (!c->finished)
        ako_confine_code(&c->report, place, ako_hooks_get() != NULL);
    c->finished = true;
    const ako_confinement *r = &c->report;
    return pack_into(answer, json_pack("{s:{s:b, s:s, s:s, s:s, s:s, s:s, s:s, s:o}}", "confinement", "no_new_privs",
                                       r->no_new_privs, "capabilities", r->capabilities, "landlock", r->landlock,
                                       "network", r->network, "folder", r->folder, "seccomp", r->seccomp, "limits",
                                       r->limits, "environment", pack_environment()));
}

int confined_settle(json_t *answer, ako_place place)
{
    char report[160];
    ako_confine_settle(report, sizeof report, place);
    return pack_into(answer, json_pack("{s:s}", "seccomp", report));
}

void confined_leave_home(void)
{
    const char *folder = getenv("TMPDIR");
    if (folder)
        setenv("HOME", folder, 1);
}
