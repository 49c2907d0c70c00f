/* ako.journal over core/journal.h. A handle owns an open journal; reading needs none. */
#include "journal.h"

#include "decode.h"

#define TYPE "ako.journal"
#define READER_TYPE "ako.journal.reader"

typedef struct handle {
    ako_journal *journal; /* NULL when closed */
} handle;

static ako_journal *check_journal(lua_State *L)
{
    handle *h = luaL_checkudata(L, 1, TYPE);
    luaL_argcheck(L, h->journal, 1, "the journal is closed");
    return h->journal;
}

/* ---- reading ---- */

static int reader_close(lua_State *L)
{
    ako_journal_reader **reader = luaL_checkudata(L, 1, READER_TYPE);
    ako_journal_reader_close(*reader);
    *reader = NULL;
    return 0;
}

/* [-0, +1, e] The next record; nothing, and a status other than AKO_OK, at the end. */
static int push_next(lua_State *L, ako_journal_reader *reader, akl_decoder *decoder, ako_buf *scratch)
{
    const char *text;
    size_t size;
    int status = ako_journal_next_text(reader, &text, &size);
    if (status != AKO_OK)
        return status;
    return akl_decode(L, decoder, text, size, scratch) == AKO_OK ? AKO_OK : ako_journal_refuse(reader);
}

/* [-0, +2 or +3, e] All records, or an empty array after giving each to the function at `each` (0: none); then the
 * bytes of a torn last line. */
static int read_all(lua_State *L, const char *path, int each)
{
    ako_journal_reader **reader = akl_new(L, sizeof *reader, READER_TYPE);
    akl_decoder *decoder = lua_newuserdatauv(L, sizeof *decoder, 0);
    *decoder = (akl_decoder){0};
    ako_buf *scratch = akl_buf(L);
    lua_newtable(L);
    int records = lua_gettop(L), status = ako_journal_reader_open(reader, path);
    for (lua_Integer n = 1; status == AKO_OK; n++) {
        if (each)
            lua_pushvalue(L, each);
        status = push_next(L, *reader, decoder, scratch);
        if (status == AKO_OK && each) {
            lua_pushinteger(L, ako_journal_reader_offset(*reader));
            lua_call(L, 2, 0);
        } else if (status == AKO_OK)
            lua_rawseti(L, records, n);
    }
    if (status != AKO_EOF)
        return akl_fail(L);
    lua_pushvalue(L, records);
    lua_pushinteger(L, ako_journal_torn_bytes(*reader));
    return 2;
}

/* Argument `arg`, a function or nothing, as an index for read_all. */
static int check_each(lua_State *L, int arg)
{
    if (lua_isnoneornil(L, arg))
        return 0;
    luaL_checktype(L, arg, LUA_TFUNCTION);
    return arg;
}

/* journal.read(path[, each]): an array of the records, or each given to a function with the byte at which its line
 * begins; then the bytes of a torn last line. CORRUPT names the damaged line. Takes no lock and writes nothing. */
static int journal_read(lua_State *L)
{
    return read_all(L, akl_check_path(L, 1), check_each(L, 2));
}

/* journal.at(path, offset): the record whose line begins at this byte; CORRUPT when none does. */
static int journal_at(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    lua_Integer offset = luaL_checkinteger(L, 2);
    luaL_argcheck(L, offset >= 0, 2, "an offset is not negative");
    ako_journal_reader **reader = akl_new(L, sizeof *reader, READER_TYPE);
    akl_decoder *decoder = lua_newuserdatauv(L, sizeof *decoder, 0);
    *decoder = (akl_decoder){0};
    ako_buf *scratch = akl_buf(L);
    int status = ako_journal_reader_open(reader, path);
    if (status == AKO_OK)
        status = ako_journal_reader_seek(*reader, offset);
    if (status == AKO_OK)
        status = push_next(L, *reader, decoder, scratch);
    if (status == AKO_EOF)
        status = ako_fail(AKO_CORRUPT, "journal", "%s has no record at byte %lld", path, (long long)offset);
    return status == AKO_OK ? 1 : akl_fail(L);
}

/* j:entries([each]): the same of an open journal. */
static int journal_entries(lua_State *L)
{
    return read_all(L, ako_journal_path(check_journal(L)), check_each(L, 2));
}

/* ---- writing ---- */

/* j:append(record): true once the table is on disk, and the byte at which its line begins; IO leaves the journal as it
 * was. */
static int journal_append(lua_State *L)
{
    ako_journal *journal = check_journal(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    const ako_json *record = akl_to_json(L, 2);
    akl_clock_stop(L);
    int64_t offset = ako_journal_size(journal);
    int status = ako_journal_append(journal, record);
    akl_clock_start(L);
    if (status != AKO_OK)
        return akl_fail(L);
    lua_pushboolean(L, 1);
    lua_pushinteger(L, offset);
    return 2;
}

/* j:append_many(records): the same for an array, in one write. */
static int journal_append_many(lua_State *L)
{
    ako_journal *journal = check_journal(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    size_t n = lua_rawlen(L, 2);
    const ako_json **records = lua_newuserdatauv(L, (n + 1) * sizeof *records, 0);
    lua_createtable(L, (int)n, 0); /* keeps the boxes that own the records */
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(L, 2, (lua_Integer)i + 1);
        luaL_argexpected(L, lua_istable(L, -1), 2, "array of tables");
        records[i] = akl_to_json(L, -1);
        lua_rawseti(L, -3, (lua_Integer)i + 1);
        lua_pop(L, 1);
    }
    akl_clock_stop(L);
    int status = ako_journal_append_many(journal, records, n);
    akl_clock_start(L);
    return akl_result(L, status);
}

static int journal_close(lua_State *L)
{
    handle *h = luaL_checkudata(L, 1, TYPE);
    ako_journal_close(h->journal);
    h->journal = NULL;
    return 0;
}

static int journal_tostring(lua_State *L)
{
    const handle *h = luaL_checkudata(L, 1, TYPE);
    lua_pushfstring(L, "ako.journal (%s)", h->journal ? ako_journal_path(h->journal) : "closed");
    return 1;
}

/* ---- the module ---- */

/* journal.open(path): for writing; the journal, and the bytes of a torn last line that this cut off. BUSY names who
 * has it open. */
static int journal_open(lua_State *L)
{
    const char *path = akl_check_path(L, 1);
    handle *h = akl_new(L, sizeof *h, TYPE);
    int64_t torn = 0;
    if (ako_journal_open(&h->journal, path, &torn) != AKO_OK)
        return akl_fail(L);
    lua_pushinteger(L, torn);
    return 2;
}

static const luaL_Reg methods[] = {
    {"append", journal_append},
    {"append_many", journal_append_many},
    {"entries", journal_entries},
    {NULL, NULL},
};

static const luaL_Reg meta[] = {{"__tostring", journal_tostring}, {NULL, NULL}};
static const luaL_Reg functions[] = {{"open", journal_open}, {"read", journal_read}, {"at", journal_at}, {NULL, NULL}};

int luaopen_ako_journal(lua_State *L);

int luaopen_ako_journal(lua_State *L)
{
    akl_type(L, TYPE, methods, meta, journal_close);
    akl_type(L, READER_TYPE, NULL, NULL, reader_close);
    luaL_newlib(L, functions);
    return 1;
}
