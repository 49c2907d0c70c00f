-- A disk that has no room from the N-th step on, or at that step alone, for every N (test_kills.lua runs this file, see
-- kills.lua): one clear line and the right exit code, and the next start loses nothing.
local console = require "ako.console"
local fs = require "ako.fs"
local git = require "ako.git"
local scripted = require "scripted"
local session = require "ako.session"
local steps = require "steps"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local points = 0

local edit, present = scripted.edit, scripted.present

local function count_of(folder)
    local repo <close> = assert(git.open(folder))
    local state = session.newest { repo = repo, folder = folder }
    return state and #state.history + (state.open and 1 or 0) or 0, state
end

-- Either nothing came of it, or one line says that there is no room.
local function check_account(result)
    t.eq(result.signal, nil)
    t.ok(not result.stderr:find("traceback", 1, true), result.stderr)
    local said = select(2, result.stderr:gsub("ako%-lua: [^\n]*\n", ""))
    if result.code < 2 then return t.eq(said, 0, result.stderr) end
    t.eq({ result.code, said }, { 5, 1 }, result.stderr)
    t.ok(result.stderr:find "No space left on device\n$" or result.stderr:find "is the disk full%?\n$", result.stderr)
end

-- The disk has room again: the present edit is tried, and all is in order.
local function go_on(folder, users)
    local before, state = count_of(folder)
    local ctx = scripted.logging_context(folder)
    t.ok(verbs.try(ctx) < 2, ctx.console.stderr)
    local after = steps.check(folder, users)
    if state and state.best and state.header.verb == "try" then t.eq(#after.history, before + 1) end
end

local function fill_everywhere(folder, words, look)
    for _, does in ipairs { "full", "once" } do
        points = points + steps.each(folder, does, words, steps.shard(), function(result)
            check_account(result)
            look(result)
        end)
    end
end

t.test("a trial that is kept, without room at any step", function()
    local folder = steps.workspace()
    t.eq(steps.plain(folder, "try").code, 0)
    edit(folder, "time=90")
    local users = steps.users(folder)
    fill_everywhere(folder, { "try" }, function()
        t.eq(present(folder), scripted.source "time=90", "the user's edit")
        go_on(folder, users)
    end)
end)

t.test("a run over candidates, without room at any step", function()
    local folder = steps.workspace()
    local candidates = t.tmpdir()
    assert(fs.write(candidates .. "/1.c", scripted.source "time=110"))
    local users = steps.users(folder)
    fill_everywhere(folder, { "run", "candidates=" .. candidates }, function()
        go_on(folder, users)
        t.eq(present(folder), scripted.source "time=100", "the best")
    end)
end)

console.out(("# %d full disks\n"):format(points))
