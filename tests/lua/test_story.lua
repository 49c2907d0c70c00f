-- The index beside a journal: what it says is what the whole journal says, and it says it of that very journal alone.
local fs = require "ako.fs"
local git = require "ako.git"
local lines = require "ako.lines"
local process = require "ako.process"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local SHOWN = { "header", "control", "history", "notes", "counts", "original", "best", "first_right", "kept",
    "overrides", "branch", "pending", "unpublished", "open", "placed", "overriding", "finished" }

local function workspace()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["1.c"] = "time=50", ["2.c"] = "time=60", ["3.c"] = "time=40" })
    local ctx = scripted.context(folder, { session = "s" }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    local ws = { folder = fs.absolute(folder), repo = assert(git.open(folder)),
        task = { name = "scale", solution = { files = { "solution/kernel.c" } } } }
    return ws, ws.repo:commondir() .. "/ako/s"
end

local function shown(state)
    local result = {}
    for _, name in ipairs(SHOWN) do result[name] = state[name] end
    return result
end

-- The same story with the index and without.
local function both_ways(ws, folder)
    local by_index = assert(session.read(ws.repo, "s"))
    assert(fs.remove_tree(folder .. "/index.json"))
    local by_journal = assert(session.read(ws.repo, "s"))
    t.eq(shown(by_index), shown(by_journal))
    return by_journal
end

t.test("after every kind of line the index says what the journal says", function()
    local ws, folder = workspace()
    t.ok(fs.exists(folder .. "/index.json"))
    t.eq(#both_ways(ws, folder).history, 4)
    local opened = assert(session.resume(ws, assert(session.read(ws.repo, "s"))))
    local steps = {
        function() return opened:note { text = "of the last" } end,
        function() return opened:override(3, "revert", "a fluke") end,
        function() return opened:note { text = "of the first", trial = 0 } end,
        function() return opened:override(2, "keep", "simpler") end,
        function() return opened:place "// placed\n" end,
        function() return opened:begin { candidate = "next.c" } end,
        function()
            return opened:close_trial({ trial = opened.open.trial, session = "s", status = "PASSED", verdict = "keep",
                reason = "why", speedup = {}, interval = {}, workloads = {}, costs_ms = {} }, {})
        end,
        function() return opened:note_control { floor = 0.01 } end,
        function() return opened:finish { ended = "enough" } end,
    }
    for _, step in ipairs(steps) do
        assert(step())
        local state = both_ways(ws, folder)
        t.eq(shown(opened), shown(state))
    end
    t.eq(opened.history[3].override, "keep")
    t.eq(opened.counts, { keep = 3, revert = 1, inconclusive = 0 })
    opened:close()
end)

-- Overwrites one byte of a file where it lies, with the same size.
local function flip(file, at)
    local script = "printf Z | dd of=\"$1\" bs=1 seek=\"$2\" conv=notrunc"
    t.eq(assert(process.run { "sh", "-c", script, "sh", file, tostring(at) }).code, 0)
end

t.test("one byte changed in the middle is refused with its line, by every verb", function()
    local ws, folder = workspace()
    local file = folder .. "/journal.jsonl"
    local text = assert(fs.read(file))
    local second = text:find("\n", 1, true)
    local third = text:find("\n", second + 1, true)
    flip(file, third + 0) -- the brace that begins the third line
    t.fails("jsonl:3: damaged", session.read(ws.repo, "s"))
    for _, verb in ipairs { "status", "simulate" } do
        local ctx = scripted.context(ws.folder, { session = "s" })
        t.eq(verbs[verb](ctx), 125, verb)
        t.match(ctx.console.stderr, "^ako%-lua: [^\n]*jsonl:3: damaged[^\n]*\n$")
    end
    for _, verb in ipairs { "run", "try" } do
        local ctx = scripted.context(ws.folder)
        t.eq(verbs[verb](ctx), 125, verb)
        t.match(ctx.console.stderr, "jsonl:3: damaged")
    end
end)

t.test("a line of no kind, or of one that only a newer version may write, and one that is gone, are damage", function()
    local ws, folder = workspace()
    local path = folder .. "/journal.jsonl"
    local whole, number, at = assert(fs.read(path)), 0, 1
    for line in whole:gmatch "[^\n]*\n" do
        number = number + 1
        local function read(given)
            assert(fs.write(path, whole:sub(1, at - 1) .. given .. whole:sub(at + #line)))
            return session.read(ws.repo, "s")
        end
        t.fails(("jsonl:%d: damaged: 'kind' is missing"):format(number), read((line:gsub('"kind"', '"kine"'))))
        t.fails(("jsonl:%d: damaged: 'k%%l+"):format(number), read((line:gsub('"kind":"%l', '"kind":"k'))))
        if line:find '"kind":"trial"' and whole:find('"kind":"trial"', at + #line, true) then
            t.fails("damaged: %l+: trial %d+ where trial %d+ is next", read "")
        end
        at = at + #line
    end
    assert(fs.write(path, whole .. '{"v":2,"kind":"dream"}\n'))
    t.eq(#assert(session.read(ws.repo, "s")).history, 4)
end)

t.test("an index that is damaged, or of other content, is no word to go by", function()
    local ws, folder = workspace()
    local whole = assert(fs.read(folder .. "/index.json"))
    for _, text in ipairs { "", "{", whole:sub(1, #whole // 2), "[]", '{"v":1}', (whole:gsub('"v":"', '"v":"0')),
        (whole:gsub('"best":%d+', '"best":99')), (whole:gsub('"history":"0', '"history":"z')) } do
        assert(fs.write(folder .. "/index.json", text))
        t.eq(assert(session.read(ws.repo, "s")).best.trial, 3, text)
    end
    for at = 1, #whole, 41 do -- a byte of it
        local other = string.char((whole:byte(at) + 1) % 256)
        assert(fs.write(folder .. "/index.json", whole:sub(1, at - 1) .. other .. whole:sub(at + 1)))
        local state = assert(session.read(ws.repo, "s"))
        t.eq({ state.best.trial, #state.history, state.branch.ref, state.finished ~= nil }, { 3, 4,
            "refs/heads/ako/s", true }, "byte " .. at)
    end
    assert(fs.write(folder .. "/index.json", whole))
    assert(fs.write(folder .. "/journal.jsonl", (fs.read(folder .. "/journal.jsonl"):gsub("[^\n]*\n$", ""))))
    t.eq(assert(session.read(ws.repo, "s")).finished, nil)
end)

t.test("who opens a session goes by what another process has written since it was read", function()
    local ws = workspace()
    local state = assert(session.read(ws.repo, "s"))
    local other = assert(session.resume(ws, assert(session.read(ws.repo, "s"))))
    assert(other:begin {})
    assert(other:close_trial({ trial = 4, session = "s", status = "PASSED", verdict = "revert", reason = "why",
        speedup = {}, interval = {}, workloads = {}, costs_ms = {} }, {}))
    other:close()
    local opened = assert(session.resume(ws, state))
    t.eq(#opened.history, 5)
    t.eq(opened.repaired, nil)
    opened:close()
end)

t.test("a list of lines is read once, kept while it is used, and looks like any list", function()
    local read = 0
    local list = lines.new(function(at) read = read + 1; return { at = at } end)
    for i = 1, 3 do lines.add(list, { at = i * 10 }, i * 10) end
    t.eq(#list, 3)
    local again = lines.new(function(at) read = read + 1; return { at = at } end, lines.text(list))
    lines.add(again, { at = 40 }, 40)
    local seen = {}
    for i, line in ipairs(again) do seen[i] = line.at end
    t.eq(seen, { 10, 20, 30, 40 })
    t.eq(again[5], nil)
    t.eq(again.x, nil)
    t.err("grows with the journal alone", function() again[5] = {} end)
    t.eq(lines.text(again), lines.text(list) .. ("%012x"):format(40))
    local view = lines.view(again, function(line) return { at = line.at, copy = true } end)
    local first = view[1]
    first.mine = true
    t.eq(view[1].mine, true)
    t.eq(again[1].mine, nil)
    lines.touch(again, 1)
    t.eq(view[1].mine, nil)
    t.eq(#view, 4)
    t.ok(read >= 3)
end)
