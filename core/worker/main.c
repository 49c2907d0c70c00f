/* ako-worker ROLE --channel FD: one program, four roles (DESIGN: processes and trust). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ako.h"
#include "roles.h"

static int parse_channel(const char *text)
{
    char *end;
    long fd = strtol(text, &end, 10);
    return *text && !*end && fd > 2 && fd < 1 << 20 ? (int)fd : -1;
}

int main(int argc, char **argv)
{
    bool asked = argc == 4 && strcmp(argv[2], "--channel") == 0 && role_exists(argv[1]);
    int channel = asked ? parse_channel(argv[3]) : -1;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("ako-worker %s\n", AKO_VERSION) < 0;
    if (channel < 0) {
        fprintf(stderr, "usage: ako-worker evaluator|builder|referee|candidate --channel FD\n"
                        "ako-lua starts it; there is nothing to do with it by hand.\n");
        return 2;
    }
    return role_run(argv[1], channel);
}
