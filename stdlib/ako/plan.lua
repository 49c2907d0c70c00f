-- What a policy's numbers mean for an evaluator: the check, time and limits members of a trial (docs/protocol.md).

local fault = require "ako.fault"
local seeds = require "ako.seeds"
local task_files = require "ako.task"
local tightening = require "ako.tightening"
local unit = require "ako.unit"

local plan = {}

local function nanoseconds(seconds) return math.tointeger(math.floor(seconds * 1e9)) end

--- The steps' numbers for a policy. `seed` (from the command line) replaces the policy's; `in_python`: the task's
--- solutions are. The correctness trials take seeds that follow from it (ako.seeds), or the `given` ones; timed inputs
--- come from seeds that nobody can know.
function plan.steps(policy, seed, in_python, given)
    local correctness, timing, budget = policy.correctness, policy.timing, policy.budget
    local values = given or seeds.expand(seed or correctness.seed, correctness.trials)
    return {
        check = { seeds = values },
        time = { warmup = timing.warmup, launches = timing.launches, flush = timing.flush,
            timer = in_python and timing.python_timer or timing.timer,
            alpha = timing.alpha, reference = timing.reference, proof_share = timing.proof_share,
            proof_least = timing.proof_least, most = timing.most and math.max(timing.most, timing.launches),
            budget = timing.seconds and nanoseconds(timing.seconds),
            long = timing.long and nanoseconds(timing.long.seconds) or nil,
            long_launches = timing.long and timing.long.launches or nil },
        limits = { build = nanoseconds(budget.build), check = nanoseconds(budget.check),
            time = nanoseconds(budget.time) },
    }
end

local PAIR_NUMBERS = { "looks", "alpha", "strict", "score", "clock_pair", "clock_run", "most_dropped", "one_sided",
    "order_effect", "correlation", "hopeless" }

--- The numbers of a paired decision (time.pairs of docs/protocol.md), nil for a policy without. `opt` are the values of
--- the policy's options, one of which may hold the threshold; `floor`, when known, is the machine's: what the best
--- against itself seems to gain. Also returns the policy's own threshold when the floor has raised it.
function plan.pairs(policy, opt, floor)
    local given = policy.timing.pairs
    if not given then return nil end
    local numbers = { budget = nanoseconds(given.seconds) }
    for _, name in ipairs(PAIR_NUMBERS) do numbers[name] = given[name] end
    local threshold = given.threshold
    if type(threshold) == "string" then
        threshold = opt and opt[threshold]
        fault.check(type(threshold) == "number",
            "timing.pairs.threshold: the policy has no number '%s' among its options", given.threshold)
        fault.check(threshold >= 0 and threshold < 1, "option --%s must be a share from 0 to below 1, got %g",
            (given.threshold:gsub("_", "-")), threshold)
    end
    local least = 1 - (1 - (floor or 0)) ^ (given.floor_factor or 0) -- so many such gains, each over the one before it
    numbers.threshold = math.max(threshold, least)
    return numbers, numbers.threshold > threshold and threshold or nil
end

local function option_or_number(given, opt, what)
    if type(given) ~= "string" then return given end
    local value = opt and opt[given]
    fault.check(value ~= nil, "%s: the policy has no option '%s'", what, given)
    return value
end

--- The numbers of a cheaper first look, { trials, launches, reference }, in place of the steps' own; nil for a policy
--- without, and where `opt` leaves nothing to be cheaper.
function plan.signal(policy, steps, opt)
    local given = policy.timing.signal
    if not given then return nil end
    local numbers = { reference = steps.time.reference,
        trials = math.min(#steps.check.seeds, option_or_number(given.trials, opt, "timing.signal.trials")),
        launches = math.min(steps.time.launches, option_or_number(given.launches, opt, "timing.signal.launches")) }
    if given.no_reference and option_or_number(given.no_reference, opt, "timing.signal.no_reference") then
        numbers.reference = false
    end
    local is_cheaper = numbers.trials < #steps.check.seeds or numbers.launches < steps.time.launches
        or numbers.reference ~= steps.time.reference
    return is_cheaper and numbers or nil
end

--- The steps with the numbers of a first look.
function plan.with_signal(steps, numbers)
    local time = {}
    for name, value in pairs(steps.time) do time[name] = value end
    time.launches, time.reference, time.budget = numbers.launches, numbers.reference, nil
    return { check = { seeds = { table.unpack(steps.check.seeds, 1, numbers.trials) }, wider = steps.check.wider },
        time = time, limits = steps.limits }
end

local SCREEN_NUMBERS = { "rounds", "hopeless", "share", "most" }

--- The numbers of a screening of `count` candidates (time.screen of docs/protocol.md); `keep` is how many of them get a
--- decision of their own: the policy's number, or for "sqrt" the root of `count`, and never more than most_finalists.
function plan.screen(policy, count)
    local given = policy.timing.screen
    local wanted = given.finalists == "sqrt" and math.ceil(math.sqrt(count)) or given.finalists
    local numbers = { keep = math.tointeger(math.min(wanted, given.most_finalists or wanted, count)) }
    for _, name in ipairs(SCREEN_NUMBERS) do numbers[name] = given[name] end
    return numbers
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

local function form_name(form)
    local times = form.times and form.times ~= 1 and ("%g times as large"):format(form.times)
    return (form.signed and "of both signs" or "") .. (form.signed and times and ", " or "") .. (times or "")
end

-- The wider inputs of a policy (docs/protocol.md), each with a seed that none of the check's is.
local function wider_forms(policy, seed)
    local forms, trials = {}, policy.correctness.trials
    local given = policy.correctness.wider or {}
    local values = seeds.expand(seed or policy.correctness.seed, trials + #given)
    for i, form in ipairs(given) do
        forms[i] = { name = form_name(form), seed = values[trials + i], signed = form.signed, times = form.times }
    end
    return forms
end

-- What counts for a problem in Python beside its tolerance, where nobody wants the original's answers.
-- A model that draws random numbers draws others in fp64.
local function add_fairness(resolved, policy, task, seed)
    resolved.tolerance.exact = not task.facts.random and policy.correctness.exact or nil
    resolved.wider = wider_forms(policy, seed)
end

--- Everything that is decided before the first trial: { steps, tolerance, reference (unit), comparable (the reference
--- runs on the solution's kind of device, so that it gives a speed-up), wider (forms of inputs, of which those that
--- the reference has an answer for are tried where the task is weak) }, or nil, a message and a code. `opt` has the
--- values of the policy's options, where there are any.
function plan.resolve(policy, task, seed, opt)
    local sources, problem, code = task.reference.sources
    if not sources then sources, problem, code = unit.read(task.folder, task.reference.files) end
    if not sources then return nil, problem, code end
    local reference
    reference, problem = unit.make(task, task.reference, sources)
    if not reference then return nil, ("%s: reference: %s"):format(task.file, problem), "INVALID" end
    local faithful = tightening.is_unwanted(policy, opt)
    local steps = plan.steps(policy, seed, task.python ~= nil, task.facts and task.facts.seeds)
    local comparable = unit.place(reference.lane) == task.place
    steps.time.reference = steps.time.reference and comparable
    steps.time.compiled = task.python and opt and opt[policy.timing.compiled] or nil
    local correctness = policy.correctness
    local resolved = { steps = steps, reference = reference, comparable = comparable,
        tolerance = task_files.tolerance(task, correctness.predicate, correctness.tolerance) }
    if faithful then
        steps.time.long = nil
    elseif task.python then
        add_fairness(resolved, policy, task, seed)
    end
    return resolved
end

return plan
