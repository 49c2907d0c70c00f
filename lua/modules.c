/* Every C module that Lua can require. */
#include "host.h"

#include <string.h>

#define MODULES(X) \
    X(host)        \
    X(console)     \
    X(version)     \
    X(clock)       \
    X(device)      \
    X(fs)          \
    X(git)         \
    X(journal)     \
    X(json)        \
    X(noise)       \
    X(paired)      \
    X(process)     \
    X(regex)       \
    X(stats)       \
    X(tensor)      \
    X(worker)

#define DECLARE(name) int luaopen_ako_##name(lua_State *L);
MODULES(DECLARE)

#define ENTRY(name) {"ako." #name, luaopen_ako_##name},
static const luaL_Reg table[] = {MODULES(ENTRY)};

bool akh_push_opener(lua_State *L, const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        lua_pushcfunction(L, table[i].func);
        return true;
    }
    return false;
}
