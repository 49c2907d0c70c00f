-- What a policy's numbers mean for an evaluator: the check, time and limits members of a trial (docs/protocol.md).

local seeds = require "ako.seeds"
local task_files = require "ako.task"
local unit = require "ako.unit"

local plan = {}

local function nanoseconds(seconds) return math.tointeger(math.floor(seconds * 1e9)) end

--- The steps' numbers for a policy. `seed` (from the command line) replaces the policy's. The correctness trials take
--- the first seeds that follow from it (ako.seeds), the timed inputs the one after them.
function plan.steps(policy, seed)
    local correctness, timing, budget = policy.correctness, policy.timing, policy.budget
    local values = seeds.expand(seed or correctness.seed, correctness.trials + 1)
    local time_seed = table.remove(values)
    return {
        check = { seeds = values },
        time = { warmup = timing.warmup, launches = timing.launches, flush = timing.flush, timer = timing.timer,
            alpha = timing.alpha, reference = timing.reference, seed = time_seed },
        limits = { build = nanoseconds(budget.build), check = nanoseconds(budget.check),
            time = nanoseconds(budget.time) },
    }
end

--- The same numbers for a candidate, once it is known what the steps took the original (`costs_ms` of its record): no
--- step may take longer than the budget's `factor` times that, if it has one; `least` seconds are always granted.
function plan.for_candidate(steps, budget, costs_ms)
    if not budget.factor then return steps end
    local least, limits = nanoseconds(budget.least or 0), {}
    for step, most in pairs(steps.limits) do
        local usual = math.tointeger(math.ceil(budget.factor * (costs_ms[step] or 0) * 1e6))
        limits[step] = math.min(most, math.max(least, usual))
    end
    return { check = steps.check, time = steps.time, limits = limits }
end

--- Everything that is decided before the first trial: { steps, tolerance, reference (unit), comparable (the reference
--- runs on the solution's kind of device, so that it gives a speed-up) }, or nil, a message and a code.
function plan.resolve(policy, task, seed)
    local sources, problem, code = unit.read(task.folder, task.reference.files)
    if not sources then return nil, problem, code end
    local reference
    reference, problem = unit.make(task, task.reference, sources)
    if not reference then return nil, ("%s: reference: %s"):format(task.file, problem), "INVALID" end
    local steps = plan.steps(policy, seed)
    local comparable = unit.place(reference.lane) == task.place
    steps.time.reference = steps.time.reference and comparable
    local correctness = policy.correctness
    return { steps = steps, reference = reference, comparable = comparable,
        tolerance = task_files.tolerance(task, correctness.predicate, correctness.tolerance) }
end

return plan
