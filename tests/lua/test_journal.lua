local t = require "ako.tap"
local fs = require "ako.fs"
local journal = require "ako.journal"
local json = require "ako.json"

local function fresh() return fs.join(t.tmpdir(), "ako", "run", "journal.jsonl") end

t.test("what is appended is read back", function()
    local path = fresh()
    local j, torn = assert(journal.open(path))
    t.eq(torn, 0)
    t.eq(j:append { v = 1, kind = "trial", time_ns = 9007199254740993, list = json.array {}, none = json.null }, true)
    t.eq(j:append_many { { v = 1, n = 2 }, { v = 1, n = 3 } }, true)
    t.eq(j:append_many {}, true)
    local entries, left = j:entries()
    t.eq(left, 0)
    t.eq(#entries, 3)
    t.eq(entries[1].time_ns, 9007199254740993)
    t.ok(entries[1].none == json.null)
    t.eq(json.encode(entries[1].list), "[]")
    j:close()
    t.eq(fs.read(path), '{"kind":"trial","list":[],"none":null,"time_ns":9007199254740993,"v":1}\n'
        .. '{"n":2,"v":1}\n{"n":3,"v":1}\n')
    t.eq(journal.read(path), entries)
end)

t.test("records can be taken one by one", function()
    local path = fresh()
    local j <close> = assert(journal.open(path))
    for n = 1, 5 do j:append { n = n } end
    local sum = 0
    local kept, torn = journal.read(path, function(entry) sum = sum + entry.n end)
    t.eq({ kept, torn, sum }, { {}, 0, 15 })
    t.err("stop here", journal.read, path, function(entry) if entry.n == 3 then error "stop here" end end)
    t.eq(#j:entries(), 5)
end)

t.test("a torn last line is dropped, said and cut off", function()
    local path = fresh()
    fs.mkdirs(fs.dirname(path))
    fs.write(path, '{"n":1}\n{"n":2')
    local entries, torn = journal.read(path)
    t.eq({ entries, torn }, { { { n = 1 } }, 6 })
    local j, cut = assert(journal.open(path))
    t.eq(cut, 6)
    j:append { n = 2 }
    j:close()
    t.eq(fs.read(path), '{"n":1}\n{"n":2}\n')
end)

t.test("damage elsewhere is refused with its line", function()
    local path = fresh()
    fs.mkdirs(fs.dirname(path))
    fs.write(path, '{"n":1}\n{"n":\n{"n":3}\n')
    local entries, message, code = journal.read(path)
    t.fails("journal.jsonl:2: damaged", entries, message, code, "CORRUPT")
    entries, message, code = journal.read(path .. "x")
    t.fails("No such file", entries, message, code, "NOTFOUND")
end)

t.test("one writer at a time", function()
    local path = fresh()
    local first <close> = assert(journal.open(path))
    local second, message, code = journal.open(path)
    t.fails("is being written by process %d+", second, message, code, "BUSY")
    t.match(tostring(first), "^ako.journal %(.*journal.jsonl%)$")
    first:close()
    first:close()
    t.eq(tostring(first), "ako.journal (closed)")
    t.err("is closed", first.append, first, {})
    assert(journal.open(path)):close()
end)

t.test("what is no record raises and writes nothing", function()
    local path = fresh()
    local j <close> = assert(journal.open(path))
    t.err("table expected", j.append, j, 1)
    t.err("a function is not JSON", j.append, j, { f = print })
    t.err("array of tables expected", j.append_many, j, { { n = 1 }, 2 })
    t.fails("must be a JSON object", j:append { 1, 2 })
    t.eq(fs.read(path), "")
end)

t.test("ten thousand records", function()
    local path = fresh()
    local j <close> = assert(journal.open(path))
    local records = {}
    for n = 1, 10000 do
        records[n] = { v = 1, kind = "trial", trial = n, verdict = "revert", time_ns = { median = n } }
    end
    t.eq(j:append_many(records), true)
    t.eq(j:entries(), records)
end)

t.test("what is no regular file is refused at once, also behind a link", function()
    local folder = t.tmpdir()
    local process = require "ako.process"
    local function made(path, ...)
        t.eq(assert(process.run { ... }).code, 0)
        return path
    end
    local second_ns = 1000000000
    for _, path in ipairs { made(folder .. "/pipe", "mkfifo", folder .. "/pipe"),
        made(folder .. "/zero", "ln", "-s", "/dev/zero", folder .. "/zero"),
        made(folder .. "/folder", "mkdir", folder .. "/folder") } do
        fs.write(folder .. "/look.lua", ([[
            local journal = require "ako.journal"
            for _, open in ipairs { journal.read, journal.open } do
                local entries, message, code = open(%q)
                print(entries, message, code)
            end]]):format(path))
        local result = assert(process.run { fs.join(fs.program_dir(), "ako-lua"), folder .. "/look.lua",
            env = { AKO_HOME = t.home }, limit_ns = 20 * second_ns })
        t.eq({ result.code, result.stderr }, { 0, "" }, path)
        t.match(result.stdout, "^nil\t[^\n]* is no regular file\tCORRUPT\nnil\t")
    end
    assert(journal.open(folder .. "/real")):close()
    made(nil, "ln", "-s", "real", folder .. "/link")
    t.eq(journal.read(folder .. "/link"), {})
end)
