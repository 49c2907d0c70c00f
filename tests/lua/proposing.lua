-- Runs whose candidates a shell command proposes, on a scripted evaluator. In the command $edit is a function's name:
--   edit SCRIPT     writes a solution that is scripted so (scripted.lua)
-- and it is run in the workspace, as always.

local fs = require "ako.fs"
local git = require "ako.git"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local proposing = {}

proposing.SHELL = "edit() { printf '// script: %s\\nvoid scale(void);\\n' \"$*\" > solution/kernel.c; }; "

proposing.BUDGET = { build = 10, check = 10, time = 10, propose = 60, no_ops = 3 }

--- A copy of the policy's budget with these members changed.
function proposing.budget(changes)
    local budget = {}
    for name, value in pairs(proposing.BUDGET) do budget[name] = value end
    for name, value in pairs(changes or {}) do budget[name] = value end
    return budget
end

--- Runs a command as the proposer. options: folder (a task's), policy (members that replace its own), host (members of
--- the context's), verb (run), verb_options, console (instead of one that keeps what is said). Returns { code, folder,
--- stdout, stderr, requests, ctx }.
function proposing.run(command, options)
    options = options or {}
    local folder = options.folder or scripted.task_folder "time=100"
    local policy = { budget = proposing.budget() }
    for name, value in pairs(options.policy or {}) do policy[name] = value end
    local host = { policy = policy }
    for name, value in pairs(options.host or {}) do host[name] = value end
    local verb_options = { propose = command and proposing.SHELL .. command }
    for name, value in pairs(options.verb_options or {}) do verb_options[name] = value end
    local ctx, requests = scripted.context(folder, host, verb_options)
    ctx.console = options.console or ctx.console
    local code = verbs[options.verb or "run"](ctx)
    return { code = code, folder = folder, stdout = ctx.console.stdout, stderr = ctx.console.stderr,
        requests = requests, ctx = ctx }
end

--- The story of a folder's newest session, with .repo and .folder (of its records).
function proposing.state(folder)
    local repo = assert(git.open(folder))
    local state = assert(session.newest { repo = repo, folder = fs.absolute(folder) })
    state.repo, state.folder = repo, repo:commondir() .. "/ako/" .. state.name
    return state
end

--- "verdict STATUS" of each trial.
function proposing.verdicts(folder)
    local list = {}
    for i, record in ipairs(proposing.state(folder).history) do list[i] = record.verdict .. " " .. record.status end
    return list
end

--- Checks that the workspace holds a solution of this script.
function proposing.holds(folder, script)
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source(script))
end

--- Lines of a file as a list.
function proposing.lines(file)
    local list = {}
    for line in assert(fs.read(file)):gmatch("[^\n]*") do list[#list + 1] = line end
    return list
end

return proposing
