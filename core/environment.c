#include "environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t length_of(const char *const *list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return n;
}

static bool is_set_by(const char *const *settings, const char *entry)
{
    size_t name = strcspn(entry, "=") + 1;
    for (; *settings; settings++)
        if (strncmp(*settings, entry, name) == 0)
            return true;
    return false;
}

const char **ako_environment_with(const char *const *settings)
{
    const char *const *inherited = (const char *const *)environ;
    const char **list = malloc((length_of(inherited) + length_of(settings) + 1) * sizeof *list);
    size_t n = 0;
    if (!list)
        return NULL;
    for (; *inherited; inherited++)
        if (!is_set_by(settings, *inherited))
            list[n++] = *inherited;
    while (*settings)
        list[n++] = *settings++;
    list[n] = NULL;
    return list;
}
