-- A journal cut off at every byte, and damaged in every line: the next start goes on from what is whole, or names the
-- line and changes nothing.
local console = require "ako.console"
local fs = require "ako.fs"
local git = require "ako.git"
local journal = require "ako.journal"
local json = require "ako.json"
local scripted = require "scripted"
local session = require "ako.session"
local steps = require "steps"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local edit, present = scripted.edit, scripted.present
local function try(folder) return verbs.try(scripted.logging_context(folder)) end

-- A session with a line of almost every kind; its folder, its journal and its text.
local function make()
    local folder = steps.workspace()
    t.eq(try(folder), 0)
    edit(folder, "time=90")
    t.eq(try(folder), 0)
    edit(folder, "time=95")
    t.eq(try(folder), 1)
    local repo = assert(git.open(folder))
    local ws = { folder = folder, repo = repo,
        task = { name = "scale", solution = { files = { "solution/kernel.c" } } } }
    local opened = assert(session.resume(ws, assert(session.newest(ws))))
    assert(opened:note { text = "words" })
    assert(opened:note_control { floor = 0.001 })
    assert(opened:place(scripted.source "time=80"))
    t.eq(opened:withdraw "enough", false)
    assert(opened:override(2, "keep", "simpler"))
    assert(opened:override(2, "revert", "after all not"))
    opened:close()
    edit(folder, "time=85")
    t.eq(try(folder), 0)
    edit(folder, "time=84 status=COMPILE_ERROR")
    t.eq(try(folder), 10)
    local path = ("%s/ako/%s/journal.jsonl"):format(repo:commondir(), opened.name)
    return folder, path, assert(fs.read(path)), ws, opened.name
end

-- The lines of a text: { kind, trial, first, last } in bytes, the newline included.
local function lines_of(text)
    local lines, at = {}, 1
    for line in text:gmatch("[^\n]*\n") do
        local entry = assert(json.decode(line))
        lines[#lines + 1] = { kind = entry.kind, trial = entry.trial, first = at, last = at + #line - 1 }
        at = at + #line
    end
    return lines
end

-- What whole lines of the first `size` bytes say: how many trials there are, and whether one is announced.
local function expected(lines, size)
    local trials, open, whole = 0, nil, 0
    for _, line in ipairs(lines) do
        if line.last > size then break end
        whole = line.last
        if line.kind == "intent" then open = line.trial end
        if line.kind == "trial" then trials, open = trials + 1, nil end
    end
    return trials, open, whole
end

-- A journal of which `size` bytes are left is read as far as it is whole, and the rest is cut.
local function check_cut(path, text, lines, ws, name, size)
    assert(fs.write(path, text:sub(1, size)))
    local trials, open, whole = expected(lines, size)
    local state, problem, code = session.read(ws.repo, name)
    if whole == 0 then
        t.fails("has not begun", state, problem, code, "NOTFOUND")
    else
        t.eq({ #state.history, state.open and state.open.trial, state.torn }, { trials, open, nil }, size)
    end
    local opened, torn = journal.open(path)
    t.eq(torn, size - whole, "torn bytes")
    opened:close()
    t.eq(fs.stat(path).size, whole)
end

local PARTS = 8 -- a test has a few seconds of running time
local cuts, session_made = 0, nil

for part = 1, PARTS do
    t.test(("cut off at every byte, a journal is read as far as it is whole, %d of %d"):format(part, PARTS), function()
        session_made = session_made or { make() }
        local _, path, text, ws, name = table.unpack(session_made)
        local lines = lines_of(text)
        fs.remove_tree(fs.dirname(path) .. "/index.json")
        for size = (part - 1) * (#text + 1) // PARTS, part * (#text + 1) // PARTS - 1 do
            check_cut(path, text, lines, ws, name, size)
            cuts = cuts + 1
        end
        if part == PARTS then console.out(("# %d journals truncated, losses: none\n"):format(cuts)) end
    end)
end

-- A journal of which `size` bytes are left: the next try goes on from what is whole of it.
local function start_after(folder, path, text, lines, size)
    assert(fs.write(path, text:sub(1, size)))
    local trials, open, whole = expected(lines, size)
    local mine = present(folder)
    t.eq(verbs.status(scripted.logging_context(folder)), whole == 0 and 2 or 0)
    t.eq(assert(fs.read(path)), text:sub(1, size), "a status writes nothing")
    local ctx = scripted.logging_context(folder)
    local code = verbs.try(ctx)
    t.ok(code < 2 or code == 10, ctx.console.stderr)
    if whole > 0 and size > whole then t.match(ctx.console.stderr, "torn") end
    t.ok(present(folder) == mine or code ~= 0)
    local repo <close> = assert(git.open(folder))
    local state = assert(session.newest { repo = repo, folder = folder })
    t.eq(#state.history, trials > 0 and trials + (open and 1 or 0) + 1 or 1)
    for i, record in ipairs(state.history) do
        t.eq(record.trial, i - 1)
        t.eq(repo:resolve(("refs/ako/%s/%d"):format(state.name, record.trial)), record.commit)
    end
end

local starts, starting = 0, nil

for part = 1, PARTS do
    t.test(("the next start after a cut goes on with the next number, and says what it dropped, %d of %d"):format(part,
        PARTS), function()
        if not starting then
            local folder, path, text = make()
            starting = { folder, path, text, lines_of(text), steps.keep(folder) }
        end
        local folder, path, text, lines, back = table.unpack(starting)
        for i = (part - 1) * #lines // PARTS + 1, part * #lines // PARTS do
            for _, size in ipairs { lines[i].first + 10, lines[i].last - 1, lines[i].last } do
                back()
                start_after(folder, path, text, lines, size)
                starts = starts + 1
            end
        end
        if part == PARTS then
            t.eq(starts, 3 * #lines)
            console.out(("# %d starts after a cut\n"):format(starts))
        end
    end)
end

t.test("attempts that a cut journal has forgotten keep a ref", function()
    local folder, path, text, ws, name = make()
    local lines = lines_of(text)
    local forgotten = ws.repo:resolve(("refs/ako/%s/4"):format(name))
    for _, line in ipairs(lines) do
        if line.kind == "intent" and line.trial == 3 then assert(fs.write(path, text:sub(1, line.first - 1))) end
    end
    edit(folder, "time=70")
    t.eq(try(folder), 0)
    edit(folder, "time=60")
    t.eq(try(folder), 0)
    local state = assert(session.read(ws.repo, name))
    t.eq(#state.history, 5)
    t.ok(state.history[5].commit ~= forgotten)
    local kept = {}
    for _, ref in ipairs(ws.repo:refs(("refs/ako/%s/lost/*"):format(name))) do kept[ref.oid] = ref.name end
    t.ok(kept[forgotten], "the attempt that had number 4")
end)

t.test("damage in any line but the last is named and changes nothing, index or not", function()
    local folder, path, text = make()
    local lines = lines_of(text)
    local back = steps.keep(folder)
    for number = 1, #lines - 1 do
        local line = lines[number]
        for _, damage in ipairs { "\0", "\n", "x" } do
            back()
            local at = line.first + (damage == "\n" and 5 or 0)
            local changed = text:sub(1, at - 1) .. damage .. text:sub(at + 1)
            assert(fs.write(path, changed))
            for _, verb in ipairs { "status", "try" } do
                local ctx = scripted.logging_context(folder)
                t.eq(verbs[verb](ctx), 125, verb)
                t.match(ctx.console.stderr, ("jsonl:%d: damaged"):format(number))
                t.eq(select(2, ctx.console.stderr:gsub("\n", "")), 1, ctx.console.stderr)
            end
            t.eq(fs.read(path), changed)
        end
    end
end)
