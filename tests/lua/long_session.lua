-- ako-lua tests/lua/long_session.lua [TRIALS]: what a session of so many trials (10000) costs, as JSON: the wall time
-- of a `status` process, with the journal's index and without, and that of a `try` within a process, whose evaluator
-- answers at once; and the same of a policy that renders a log of all trials. Medians of 11 (3), in milliseconds.
local clock = require "ako.clock"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local program = require "program"
local process = require "ako.process"
local scripted = require "scripted"
local session = require "ako.session"
local stats = require "ako.stats"
local steps = require "steps"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local count = tonumber(arg[1] or "10000")

local function median(samples)
    table.sort(samples)
    return stats.quantile(samples, 0.5)
end

local edit = scripted.edit

-- A folder with a session of two real trials, whose second one is repeated until there are enough.
local function make()
    local folder = steps.workspace()
    assert(verbs.try(scripted.context(folder)) == 0)
    edit(folder, "time=110")
    assert(verbs.try(scripted.context(folder)) == 1)
    local repo <close> = assert(git.open(folder))
    local state = assert(session.newest { repo = repo, folder = folder })
    local text = assert(fs.read(state.path))
    local intent, record = text:match("([^\n]*\n)([^\n]*\n)$")
    local parts = { text }
    local refs = ("%s/refs/ako/%s/"):format(repo:commondir(), state.name)
    for n = 2, count do
        for _, line in ipairs { intent, record } do
            parts[#parts + 1] = line:gsub('"trial":1,', ('"trial":%d,'):format(n))
        end
        assert(fs.write(refs .. n, state.history[2].commit .. "\n"))
    end
    assert(fs.write(state.path, table.concat(parts)))
    return folder, state.path
end

local function time_status(folder)
    local begin = clock.now_ns()
    local done = assert(process.run { program.path, "policies/kernelbench.lua", "status", "--workspace=" .. folder,
        cwd = t.home, env = { AKO_HOME = t.home } })
    assert(done.code == 0, done.stderr)
    return (clock.now_ns() - begin) / 1e6
end

local function time_statuses(folder, before)
    local samples = {}
    for i = 1, 11 do
        if before then before() end
        samples[i] = time_status(folder)
    end
    return median(samples)
end

local function time_trials(folder, context, times)
    local samples = {}
    for i = 1, times do
        edit(folder, "time=" .. 110 + i)
        local begin = clock.now_ns()
        assert(verbs.try(context(folder)) == 1)
        samples[i] = (clock.now_ns() - begin) / 1e6
    end
    return median(samples)
end

local folder, path = make()
local function forget() fs.remove_tree(fs.dirname(path) .. "/index.json") end
local found = { trials = count, status_without_index_ms = time_statuses(folder, forget) }
assert(verbs.try(scripted.context(folder)) < 2) -- which leaves an index
found.status_ms, found.trial_ms = time_statuses(folder), time_trials(folder, scripted.context, 11)
found.trial_with_log_ms = time_trials(folder, scripted.logging_context, 3)
fs.remove_tree(folder)
print(json.encode(found))
