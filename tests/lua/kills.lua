-- A kill -9 at every step of a trial that changes the disk, in real processes, and in the middle of every write: the
-- next start goes on or undoes. No trial is lost, doubled or numbered anew, no file is half written, the branch and the
-- files in the workspace are the best's, the user's edit stays. test_kills.lua runs this file, several times at once;
-- AKO_SHARD=2/3 is every third step from the second on.
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

local function newest(folder)
    local repo <close> = assert(git.open(folder))
    return session.newest { repo = repo, folder = folder }
end

-- How many trials the journal had announced. A baseline that was cut off ends its session: the next one is another's.
local function announced(folder)
    local state = newest(folder)
    local count = state and #state.history + (state.open and 1 or 0) or 0
    return state and not state.best and 0 or count
end

-- A status after the kill says something and changes nothing.
local function look_on(folder)
    local ctx = scripted.logging_context(folder)
    local code = verbs.status(ctx)
    t.ok(code == 0 or code == 2 and ctx.console.stderr:find("no session"), ctx.console.stderr)
end

-- The next start: a `try`. Its trial is the one behind all that had been announced.
local function go_on(folder, users)
    look_on(folder)
    local before = announced(folder)
    local ctx = scripted.logging_context(folder)
    local code = verbs.try(ctx)
    t.ok(code < 2, ctx.console.stderr)
    local state = steps.check(folder, users)
    t.eq(#state.history, before + 1)
    t.eq(state.history[before + 1].status, "PASSED")
    return state
end

local first_trial = {} -- how many steps of a kind one has

-- Kills a verb at every step and in every write; look(result) checks. With `later` steps that the first trial had are
-- left out.
local function kill_everywhere(folder, words, look, later)
    for _, does in ipairs { "kill", "half" } do
        local shard = steps.shard()
        shard.first = shard.first + (later and first_trial[does] or 0)
        local count = steps.each(folder, does, words, shard, function(result)
            t.eq(result.signal, "SIGKILL", result.stderr)
            look(result)
        end)
        first_trial[does] = first_trial[does] or (count - 1) * shard.stride
        points = points + count
    end
end

t.test("a first trial, killed at every step", function()
    local folder = steps.workspace()
    local users = steps.users(folder)
    kill_everywhere(folder, { "try" }, function()
        local state = go_on(folder, users)
        t.eq(present(folder), scripted.source "time=100")
        t.eq(state.best.time_ns.median, 100000)
    end)
end)

t.test("a trial that is kept, killed at every step", function()
    local folder = steps.workspace()
    t.eq(steps.plain(folder, "try").code, 0)
    edit(folder, "time=90")
    local users = steps.users(folder)
    kill_everywhere(folder, { "try", "message=faster" }, function()
        local state = go_on(folder, users)
        t.eq(present(folder), scripted.source "time=90", "the user's edit")
        t.eq(state.best.time_ns.median, 90000)
    end)
end)

t.test("a trial that is reverted, killed at every step", function()
    local folder = steps.workspace()
    t.eq(steps.plain(folder, "try").code, 0)
    edit(folder, "time=110")
    local users = steps.users(folder)
    kill_everywhere(folder, { "try", "message=slower" }, function()
        local state = go_on(folder, users)
        t.eq(present(folder), scripted.source "time=100", "the best")
        t.eq(state.best.time_ns.median, 100000)
    end)
end)

-- A run that was killed: its session is whole again and its best, or the user's text before there was one, lies in the
-- workspace; the trial of the next start is another session's.
local function recover(folder, users)
    look_on(folder)
    local killed = newest(folder)
    local count = killed and #killed.history + (killed.open and 1 or 0)
    local ctx = scripted.logging_context(folder)
    t.eq(verbs.try(ctx), 0, ctx.console.stderr)
    local state = steps.check(folder, users)
    t.eq(#state.history, 1)
    local source = scripted.source "time=100"
    if killed then
        t.ok(killed.name ~= state.name)
        killed = steps.check(folder, users, killed.name)
        t.eq(#killed.history, count)
        local repo <close> = assert(git.open(folder))
        source = killed.best and repo:read(killed.best.commit, "solution/kernel.c") or source
    end
    t.eq(present(folder), source)
end

t.test("a run over candidates, killed at every step", function()
    local folder = steps.workspace()
    local candidates = t.tmpdir()
    assert(fs.write(candidates .. "/1.c", scripted.source "time=90"))
    assert(fs.write(candidates .. "/2.c", scripted.source "time=110"))
    local users = steps.users(folder)
    kill_everywhere(folder, { "run", "candidates=" .. candidates }, function() recover(folder, users) end, true)
end)

t.test("a run of a proposer, killed at every step", function()
    local folder = steps.workspace()
    local users = steps.users(folder)
    local command = "propose=sed -i s/time=100/time=90/ solution/kernel.c"
    kill_everywhere(folder, { "run", command }, function() recover(folder, users) end, true)
end)

t.test("the repair of a killed run, killed at every step", function()
    local folder = steps.workspace()
    local candidates = t.tmpdir()
    assert(fs.write(candidates .. "/1.c", scripted.source "time=90"))
    local users, n = steps.users(folder), 0
    local state
    local back = steps.keep(folder)
    repeat
        back()
        n = n + 1
        steps.run(folder, n, "kill", "run", "candidates=" .. candidates)
        state = newest(folder)
    until state and state.open and state.open.trial == 1
    local name = state.name
    kill_everywhere(folder, { "try" }, function()
        local ctx = scripted.logging_context(folder)
        t.ok(verbs.try(ctx) < 2, ctx.console.stderr)
        t.eq(#steps.check(folder, users, name).history, 2)
        t.eq(present(folder), scripted.source "time=100")
        steps.check(folder, users)
    end)
end)

-- A workspace with a baseline, a kept trial 1 and a reverted trial 2.
local function with_trials()
    local folder = steps.workspace()
    t.eq(steps.plain(folder, "try").code, 0)
    edit(folder, "time=90")
    t.eq(steps.plain(folder, "try").code, 0)
    edit(folder, "time=95")
    t.eq(steps.plain(folder, "try").code, 1)
    return folder, steps.users(folder)
end

-- The next start tries the best again, for nothing was edited.
local function best_is_tried_again(folder, users, best)
    local ctx = scripted.logging_context(folder)
    t.ok(verbs.try(ctx) < 2, ctx.console.stderr)
    local state = steps.check(folder, users)
    t.eq({ #state.history, state.history[4].no_effect }, { 4, true })
    t.eq(present(folder), scripted.source("time=" .. best(state)))
end

t.test("an override, killed at every step", function()
    local folder, users = with_trials()
    kill_everywhere(folder, { "keep", "2", "message=simpler" }, function()
        best_is_tried_again(folder, users, function(state) return #state.overrides == 1 and 95 or 90 end)
    end)
end)

t.test("a note, killed at every step", function()
    local folder, users = with_trials()
    kill_everywhere(folder, { "note", "1", "message=words" }, function()
        best_is_tried_again(folder, users, function() return 90 end)
    end)
end)

t.test("the end of a session, killed at every step", function()
    local folder, users = with_trials()
    kill_everywhere(folder, { "finish", "message=enough" }, function()
        local state = newest(folder)
        if not state.finished then t.eq(steps.plain(folder, "finish", "message=enough").code, 0) end
        t.eq(verbs.try(scripted.logging_context(folder)), 0) -- of another session, and looks for litter
        state = steps.check(folder, users, state.name)
        t.eq({ #state.history, state.finished.ended }, { 3, "enough" })
        t.eq(present(folder), scripted.source "time=90")
        local repo <close> = assert(git.open(folder))
        t.eq(repo:resolve("refs/tags/best/" .. state.name .. "^{commit}"), state.branch.oid)
    end)
end)

console.out(("# %d kills\n"):format(points))
