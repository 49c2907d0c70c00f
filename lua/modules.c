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
    X(process)     \
    X(regex)       \
    X(stats)       \
    X(tensor)      \
    X(worker)

#define DECLARE(name) __attribute__((weak)) int luaopen_ako_##name(lua_State *L);
MODULES(DECLARE)

#define ENTRY(name) {"ako." #name, luaopen_ako_##name},

bool akh_push_opener(lua_State *L, const char *name)
{
    const luaL_Reg table[] = {MODULES(ENTRY)};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) != 0 || !table[i].func)
            continue;
        lua_pushcfunction(L, table[i].func);
        return true;
    }
    return false;
}
