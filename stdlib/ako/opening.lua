-- Which session a verb that measures goes on with, and how a new one begins.

local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local guarding = require "ako.guarding"
local place = require "ako.place"
local policies = require "ako.policy"
local problem_task = require "ako.problem_task"
local protect = require "ako.protect"
local session = require "ako.session"
local tensors = require "ako.tensors"
local workspace = require "ako.workspace"

local opening = {}

local must = fault.must

--- Raises a fault where a session that goes on from call to call would not find its workspace again: for the bundled
--- example, and for a task that lies elsewhere.
function opening.check_place(started)
    local folder = started.host.workspace or "."
    folder = fs.absolute(folder) or folder
    if started.bundled then -- run shows the example; a verb that means one's own kernel must not take another
        fault.raise("NOTFOUND", "no task.lua in %s%s; go to your task's folder or name it with --task", folder,
            started.host.workspace and ", nor here" or "")
    end
    if not workspace.plan(started.host, started.task) then -- a new scratch folder each time would only see baselines
        fault.raise("INVALID", "the task lies elsewhere and %s has no solution of its own; name the folder with "
            .. "--workspace=DIR", folder)
    end
end

local function cases_text(task)
    local ids = {}
    for i, workload in ipairs(task.workloads) do ids[i] = workload.id end
    return table.concat(ids, " ")
end

-- What a problem in Python was asked with; nil of another task.
local function standing_options(started)
    return started.task.python and policies.standing_options(started.policy, started.opt) or nil
end

local function options_text(started)
    local given, list = standing_options(started), {}
    for name, value in pairs(given or {}) do
        if value then list[#list + 1] = "--" .. name:gsub("_", "-") end
    end
    table.sort(list)
    return given and (#list > 0 and table.concat(list, " ") or "none") or nil
end

-- The session's names of the task and the policy that it has to go on with: { task, policy, interface, cases and
-- options (nil: the task has its own) }.
local function fixed_of(started)
    local task = started.task
    local names = protect.fixed(task, started.ws.folder, started.ctx.path)
    for what, name in pairs(names) do names[what] = format.utf8(name) end
    -- A candidate that declares other arguments would change what it is measured against.
    names.interface = task.is_declared and tensors.text(tensors.views(task.tensors)) or nil
    names.cases = task.is_chosen and cases_text(task) or nil -- by the policy's options
    names.options = options_text(started)
    return names
end

--- Raises a fault where a session was begun with another task or policy than these: what they would judge and write is
--- not of one kind with what is there. Nothing has changed then, and nothing is voided.
function opening.check_same(started, state)
    local fixed, now = state.header.fixed or {}, fixed_of(started)
    for _, what in ipairs { "task", "policy", "options", "interface", "cases" } do
        if fixed[what] and now[what] and fixed[what] ~= now[what] then
            fault.raise("PROTECTED", "session %s was begun with the %s %s, not with %s: go on with that one, or begin "
                .. "another session with --session=NAME", state.name, what, fixed[what], now[what])
        end
    end
    local was, is = table.concat(state.header.paths or {}, ", "), table.concat(started.task.solution.files, ", ")
    if state.header.paths and was ~= is then -- what its best does not have would be taken out of the workspace
        fault.raise("INVALID", "session %s is about %s, not %s: go on with that, or begin another session with "
            .. "--session=NAME", state.name, was, is)
    end
end

-- The facts of the first line of a session that a verb starts, with candidates from `source` or none.
local function facts_of(started, verb, source)
    local device, git_of, task = started.evaluator.device, started.policy.git, started.task
    return { verb = verb, proposer = source and source.facts, policy = started.policy.name,
        seed = started.host.seed, task = task.name, task_file = format.utf8(fs.absolute(task.file) or task.file),
        dims = started.host.dims, options = standing_options(started), task_made = started.made or nil,
        protected = (guarding.protected(started)),
        fixed = fixed_of(started), git = git_of and { branch = git_of.branch, every = git_of.every } or nil,
        device = { id = device.id, name = device.name, uuid = device.uuid, arch = device.arch },
        versions = started.evaluator.versions, python = problem_task.facts_text(task) }
end

--- A new session for a verb, with candidates from `source` (ako.proposer) or none. Of two that choose the same name at
--- once one is refused, and chooses again. Raises faults.
function opening.new(started, verb, source)
    local named, facts = started.host.session, facts_of(started, verb, source)
    local opened, problem, code
    repeat
        local name = named or session.fresh_name(started.ws.repo, started.task.name)
        opened, problem, code = session.create(started.ws, name, facts)
    until opened or named or not (code == "EXISTS" or code == "BUSY")
    return must(opened, problem, code)
end

-- Notes alone: the first trial is still to come, whatever verb makes it.
local function is_waiting(state)
    return #state.history == 0 and #state.notes > 0 and not state.finished and not state.open
end

--- True for what `try` goes on with: sessions that it started, have a baseline and are not finished.
function opening.is_open(state)
    local has_start = state.best ~= nil or #state.history == 0
    return is_waiting(state) or (state.header.verb == "try" and not state.finished and has_start)
end

-- The state of the session that --session names; nil where there is none yet.
local function named(started)
    local name = started.host.session
    local state, problem, code = session.read(started.ws.repo, name)
    if not state and code ~= "NOTFOUND" then fault.raise(code, "%s", problem) end
    if not state then return nil end
    if state.finished then fault.raise("INVALID", "session %s is finished; start another one", name) end
    fault.check(place.is_of(state.header, started.ws), "session %s belongs to the workspace %s; go there", name,
        state.header.workspace)
    return state
end

-- Opens the session of a state; one in which nothing was tried yet begins with this verb's facts.
local function go_on(started, state, verb, source)
    if #state.history > 0 then opening.check_same(started, state) end
    local opened = must(session.resume(started.ws, state))
    if #opened.history == 0 then must(opened:renew(facts_of(started, verb, source))) end
    return opened
end

--- The session that `try` goes on with: the one named, or the newest open one of this workspace; a new one where there
--- is none. Raises faults.
function opening.to_try(started)
    local state
    if started.host.session then state = named(started) else state = session.newest(started.ws, opening.is_open) end
    return state and go_on(started, state, "try") or opening.new(started, "try")
end

--- The session that `run` begins: one that has only notes yet, or a new one. Raises faults.
function opening.to_run(started, source)
    local state
    if started.host.session then state = named(started) else state = session.newest(started.ws, is_waiting) end
    if state and #state.history == 0 then return go_on(started, state, "run", source) end
    return opening.new(started, "run", source)
end

return opening
