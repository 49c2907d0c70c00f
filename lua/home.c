/* Where the Lua files of the program are. */
#include "host.h"

#include <stdlib.h>

#include "buf.h"
#include "fs.h"

static bool holds_stdlib(const char *folder)
{
    ako_buf path = {0};
    ako_buf_printf(&path, "%s/stdlib/ako/cli.lua", folder);
    bool found = !path.oom && ako_fs_exists(path.data);
    ako_buf_free(&path);
    return found;
}

/* Sets *out to the absolute path of the folder when it holds the standard library. */
static bool try_home(char **out, const char *parent, const char *below)
{
    ako_buf path = {0};
    ako_buf_printf(&path, "%s%s", parent, below);
    bool found = !path.oom && holds_stdlib(path.data) && ako_fs_absolute(out, path.data) == AKO_OK;
    ako_buf_free(&path);
    return found;
}

int akh_find_home(char **out)
{
    const char *named = getenv("AKO_HOME");
    if (named && *named && try_home(out, named, ""))
        return AKO_OK;
    char *program = NULL;
    int status = ako_fs_program_dir(&program);
    if (status < 0)
        return status;
    /* A build tree, then an installation. */
    if (!try_home(out, program, "/..") && !try_home(out, program, "/../share/ako-lua"))
        status = ako_fail(AKO_NOTFOUND, "host", "no stdlib/ako/cli.lua in %s/.. or %s/../share/ako-lua; set AKO_HOME",
                          program, program);
    free(program);
    return status;
}
