-- What hooks of a policy are given of the run, and how what they say is taken.

local clock = require "ako.clock"
local fault = require "ako.fault"
local format = require "ako.format"

local view = {}

--- A copy of a plain value: what hooks may do to it changes nothing.
function view.copy(value)
    if type(value) ~= "table" then return value end
    local result = {}
    for key, item in pairs(value) do result[key] = view.copy(item) end
    return result
end

local copy = view.copy

--- What a hook gives as its reason, words or nothing; anything else is a mistake in the policy.
function view.words(hook, value)
    if value ~= nil and type(value) ~= "string" then
        fault.raise("POLICY", "hook '%s' must give its reason in words, gave a %s value", hook, type(value))
    end
    return value and format.text(value)
end

local function ids_and_weights(workloads)
    local ids, weights = {}, {}
    for i, workload in ipairs(workloads) do
        ids[i], weights[i] = workload.id or workload.name or tostring(i), workload.weight or 1.0
    end
    return ids, weights
end

local function task_view(task)
    local ids, weights = ids_and_weights(task.workloads or {})
    return { name = task.name, file = task.file, solution = copy(task.solution.files),
        reference = task.reference and copy(task.reference.files) or {}, workloads = ids, weights = weights }
end

-- How all but first looks is measured: the numbers in force, also where a policy inherits others.
local function settings_of(steps)
    return { checks = #steps.check.seeds, warmup = steps.time.warmup, launches = steps.time.launches,
        flush = steps.time.flush }
end

--- What hooks see of the run: { trials (without the baseline), next_trial, history, notes, best, original, last,
--- last_sources, elapsed_s, session, header, device, lane, workspace, task, tolerance, settings, finished }.
function view.of(loop)
    local session = loop.session
    loop.task_view = loop.task_view or task_view(loop.task)
    return { trials = math.max(0, #session.history - 1), next_trial = #session.history, history = loop.views,
        notes = loop.note_views, best = copy(session.best), original = copy(session.original),
        last = loop.views[#loop.views], last_sources = copy(loop.last_sources),
        elapsed_s = (clock.now_ns() - loop.started_ns) / 1e9, session = session.name, header = copy(session.header),
        device = copy(loop.evaluator.device), lane = loop.lane, workspace = session.ws.folder,
        task = copy(loop.task_view), tolerance = copy(loop.plan.tolerance), settings = settings_of(loop.plan.steps),
        finished = loop.finished or false }
end

return view
