/* ako.version: what this program is made of. */
#include "akl.h"

#include "ako.h"
#include "versions.h"

/* ako.version.libraries(): an array of { name, version, path or why }, linked ones and those found on the machine */
static int version_libraries(lua_State *L)
{
    ako_json **slot = akl_json_slot(L);
    int status = ako_versions(slot);
    if (status < 0)
        return akl_fail(L);
    akl_push_json(L, *slot);
    return 1;
}

int luaopen_ako_version(lua_State *L);

int luaopen_ako_version(lua_State *L)
{
    static const luaL_Reg functions[] = {{"libraries", version_libraries}, {NULL, NULL}};
    luaL_newlib(L, functions);
    lua_pushliteral(L, AKO_VERSION);
    lua_setfield(L, -2, "ako");
    lua_pushliteral(L, LUA_RELEASE);
    lua_setfield(L, -2, "lua");
    return 1;
}
