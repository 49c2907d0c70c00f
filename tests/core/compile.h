/* Small pieces of code, built while a test runs. */
#ifndef AKO_TEST_COMPILE_H
#define AKO_TEST_COMPILE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ako.h"

/* A folder that is removed by compile_done. */
static char compile_dir[PATH_MAX];

static inline int compile_setup(void **state)
{
    (void)state;
    return ako_fs_temp_dir(compile_dir, sizeof compile_dir, "ako-test");
}

static inline int compile_done(void **state)
{
    (void)state;
    return ako_fs_remove_tree(compile_dir);
}

/* Builds `source` as the shared object `path` below the folder, making folders on the way. Static memory: valid until
 * the next call. NULL when there is no working cc. */
static inline const char *compile_shared(const char *path, const char *source)
{
    static char file[2 * PATH_MAX];
    char text[2 * PATH_MAX + 8], command[5 * PATH_MAX];
    snprintf(file, sizeof file, "%s/%s", compile_dir, path);
    snprintf(text, sizeof text, "%s.c", file);
    char *slash = strrchr(file, '/');
    *slash = '\0';
    int status = ako_fs_mkdirs(file);
    *slash = '/';
    if (status != AKO_OK || ako_fs_write(text, source, strlen(source), false) != AKO_OK)
        return NULL;
    snprintf(command, sizeof command, "cc -shared -fPIC -O1 -o '%s' '%s'", file, text);
    return system(command) == 0 ? file : NULL;
}

#endif
