-- Attacks the task itself, before anything is optimized: results that no honest kernel gives must fail its check, every
-- input must matter, and what is right must pass (the request `attack` of docs/protocol.md). Says what is weak in
-- words, and finds a tolerance that would hold by trying.

local seeds = require "ako.seeds"

local attack = {}

-- How a null result that passed is called. `of` is an input or a dtype.
local NAMES = {
    zeros = function(_, tensor) return ("zeros everywhere pass as '%s'"):format(tensor) end,
    mean = function(_, tensor) return ("one value everywhere, the mean, passes as '%s'"):format(tensor) end,
    nan = function(_, tensor) return ("NaN everywhere passes as '%s'"):format(tensor) end,
    unwritten = function(_, tensor) return ("'%s' passes when it is never written"):format(tensor) end,
    cast = function(of, tensor) return ("'%s' rounded to %s passes"):format(tensor, of) end,
    ["other seed"] = function(_, tensor) return ("the result of other inputs passes as '%s'"):format(tensor) end,
    ["one row wrong"] = function(_, tensor) return ("'%s' passes with one row wrong"):format(tensor) end,
    copy = function(of, tensor)
        if of == tensor then return ("'%s' passes as it was before the call"):format(tensor) end
        return ("a copy of input '%s' passes as '%s'"):format(of, tensor)
    end,
}

-- What to change where no tolerance helps, because the null result is the right one. "%s" is an input, or an output.
local IN_TASK = {
    copy = "for these inputs it is the right answer: give '%s' an init for which it is not (a ReLU needs values of "
        .. "both signs, as \"normal\" has), or add such a workload",
    varied = "'%s' hardly depends on the inputs: give them an init or a workload for which it varies",
    input = "a kernel that does not read '%s' would pass: choose an init for which it matters",
}
local IN_PROBLEM = {
    copy = "for these inputs it is the right answer: let get_inputs give values of '%s' for which it is not (a ReLU "
        .. "needs both signs, as torch.randn has)",
    varied = "'%s' hardly depends on the inputs: let get_inputs give values for which it varies",
    input = "a solution that does not read '%s' would pass: let get_inputs give values for which it matters",
}
local function words_for(task) return task.python and IN_PROBLEM or IN_TASK end

local REMEDIES = {
    copy = function(words, of) return words.copy:format(of) end,
    cast = function(_, of) return ("make the tolerance finer than the rounding to %s"):format(of) end,
    unwritten = function() return "the right answer looks like memory that was never written: choose other inputs" end,
    varied = function(words, _, tensor) return words.varied:format(tensor) end,
}
local REMEDY_OF = { copy = "copy", cast = "cast", unwritten = "unwritten" }

local function number(value) return tonumber(value) or 0 / 0 end

local function output_of(workload, tensor)
    for _, output in ipairs(workload.outputs or {}) do
        if output.tensor == tensor then return output end
    end
end

-- Findings are the same in several workloads more often than not.
local function find(list, key, make)
    for _, entry in ipairs(list) do
        if entry.key == key then return entry end
    end
    local entry = make()
    entry.key, entry.workloads = key, {}
    list[#list + 1] = entry
    return entry
end

local function figures(output)
    if not output then return "" end
    local least, most = number(output.min), number(output.max)
    if least == most then return ("; it is %g throughout"):format(least) end
    return ("; its values lie in [%.3g, %.3g], rms %.3g"):format(least, most, number(output.rms))
end

local function add_attacks(weak, workload, words)
    for _, tried in ipairs(workload.attacks or {}) do
        if tried.passed then
            local entry = find(weak, table.concat({ tried.name, tried.of, tried.tensor }, "\0"), function()
                local output = output_of(workload, tried.tensor)
                return { name = tried.name, tensor = tried.tensor, of = tried.of ~= "" and tried.of or nil,
                    what = NAMES[tried.name](tried.of, tried.tensor), figures = figures(output),
                    exact = number(tried.mismatch) == 0 and number(tried.max_abs) == 0,
                    remedy = REMEDIES[REMEDY_OF[tried.name] or "varied"](words, tried.of, tried.tensor) }
            end)
            entry.workloads[#entry.workloads + 1] = workload.id
        end
    end
end

local function add_golden(weak, workload, tolerance)
    local usable = true
    for _, output in ipairs(workload.outputs or {}) do
        local nan, inf = output.nan, output.inf
        if (nan > 0 and not tolerance.equal_nan) or (inf > 0 and not tolerance.equal_inf) then
            usable = false
            local entry = find(weak, "golden\0" .. output.tensor, function()
                return { name = "golden", tensor = output.tensor, figures = "",
                    what = ("the reference gives %d NaN and %d infinite values in '%s', which the tolerance forbids")
                        :format(nan, inf, output.tensor),
                    remedy = "mend the reference or the inputs, or allow them: equal_nan = true, equal_inf = true" }
            end)
            entry.workloads[#entry.workloads + 1] = workload.id
        end
    end
    return usable
end

local function add_again(weak, workload)
    for _, run in ipairs(workload.again or {}) do
        if not run.passed then
            local entry = find(weak, "again\0" .. run.tensor, function()
                return { name = "again", tensor = run.tensor, figures = "",
                    what = ("two runs of the reference on the same inputs differ by up to %.3g in '%s', more than the "
                        .. "tolerance"):format(number(run.max_abs), run.tensor),
                    remedy = "make the reference deterministic, or the tolerance wider than its own noise" }
            end)
            entry.workloads[#entry.workloads + 1] = workload.id
        end
    end
end

local function add_inputs(weak, workload, words)
    for _, input in ipairs(workload.inputs or {}) do
        if input.changes == false or input.fresh == false then
            local stale = input.fresh == false
            local entry = find(weak, "input\0" .. input.tensor, function()
                return { name = "input", tensor = input.tensor, figures = "",
                    what = stale and ("a new seed gives '%s' the same content"):format(input.tensor)
                        or ("no output leaves the tolerance when input '%s' alone is drawn anew"):format(input.tensor),
                    remedy = words.input:format(input.tensor) }
            end)
            entry.workloads[#entry.workloads + 1] = workload.id
        end
    end
end

local function where(entry, task)
    if #task.workloads == 1 then return "" end
    if #entry.workloads == #task.workloads then return " in every workload" end
    return " in workload " .. table.concat(entry.workloads, " and ")
end

-- What policies and people read.
local function finish(weak, task)
    for _, entry in ipairs(weak) do
        entry.what = entry.what .. where(entry, task)
        entry.reason = entry.what .. entry.figures
        entry.figures, entry.key = nil, nil
    end
    return weak
end

local function collect(answer, task, tolerance)
    local weak, words = {}, words_for(task)
    for _, workload in ipairs(answer.workloads) do
        -- Beside NaN in the golden the rest means nothing.
        if add_golden(weak, workload, tolerance) then
            add_again(weak, workload)
            add_attacks(weak, workload, words)
            add_inputs(weak, workload, words)
        end
    end
    return finish(weak, task)
end

-- Warnings: what cannot be shown with this task

local function fixed_inputs(workload, kind)
    local names = {}
    for _, input in ipairs(workload.inputs or {}) do
        if input.init == kind then names[#names + 1] = ("'%s'"):format(input.tensor) end
    end
    return names
end

local function warn(list, name, message, ...) list[#list + 1] = { name = name, reason = message:format(...) } end

local function warnings(answer, task)
    local list = {}
    local first = answer.workloads[1]
    local fixed, files = fixed_inputs(first, "fixed"), fixed_inputs(first, "file")
    if #task.workloads == 1 and not task.python then -- a problem has one shape
        warn(list, "one shape", "with one workload, a kernel that knows its shape alone cannot be told from one that "
            .. "knows all: add another (an odd size finds most)")
    end
    if #first.inputs > 0 and #fixed + #files == #first.inputs then
        warn(list, "no seed", "every call has the same inputs: a kernel that keeps its first result cannot be told "
            .. "from one that computes; give an input a random init")
    elseif #fixed > 0 then
        warn(list, "fixed input", "%s %s the same in every call: a kernel that does not read it would pass; draw it at "
            .. "random", table.concat(fixed, ", "), #fixed == 1 and "is" or "are")
    end
    return list
end

-- A tolerance that would hold

local DECADES = 8
local STEPS = { 1, 0.5, 0.2 } -- of a decade
local LOOSEST = 0.1 -- a relative tolerance above it tells hardly anything
local HONEST = 0.1 -- of rtol times an output's rms: what an honest sum may be off where it comes near zero

-- `value` with one digit, not above it: 3e-05. Nothing is, of what is none or beyond all numbers.
local function one_digit(value)
    if not (value > 0 and value < math.huge) then return 0.0 end
    local exponent = math.floor(math.log(value, 10) + 1e-9)
    return tonumber(("%de%d"):format(math.floor(value / 10.0 ^ exponent + 1e-6), exponent)) + 0.0
end

-- The smallest scale of an output: what a tolerance must be able to tell from nothing.
local function smallest_rms(answer)
    local least
    for _, workload in ipairs(answer.workloads) do
        for _, output in ipairs(workload.outputs or {}) do
            local rms = number(output.rms)
            if rms > 0 and (not least or rms < least) then least = rms end
        end
    end
    return least
end

-- Values of one sign are told by their relative error alone; others need some room around zero.
local function is_honest(answer, offered)
    for _, workload in ipairs(answer.workloads) do
        for _, output in ipairs(workload.outputs or {}) do
            local crosses = number(output.min) <= 0 and number(output.max) >= 0
            if crosses and offered.atol < one_digit(HONEST * offered.rtol * number(output.rms)) then return false end
        end
    end
    return true
end

--- From the loosest to the tightest: rtol from the tolerance's own downwards, atol with it in the outputs' scale
--- (`rms`, nil where all are zero) and never above its own; exact at last. A list of { atol, rtol }. `decades`: how far
--- down, without the exact one; nil: as far as makes sense.
function attack.ladder(tolerance, rms, decades)
    local rtol = tolerance.rtol
    if rtol == 0 and rms then rtol = tolerance.atol / rms end
    rtol = math.min(rtol, LOOSEST)
    local list = {}
    for decade = 0, rms and rtol > 0 and (decades or DECADES) or -1 do
        for _, step in ipairs(STEPS) do
            local r = rtol * step * 10.0 ^ -decade
            list[#list + 1] = { atol = one_digit(math.min(tolerance.atol, r * rms)), rtol = one_digit(r) }
        end
    end
    if not decades then list[#list + 1] = { atol = 0.0, rtol = 0.0 } end
    return list
end

-- Nobody proves with a solution of his own what is found for a problem, so it must let pass what is honest.
local function offers(answer, task, tolerance)
    if not task.python then return attack.ladder(tolerance, smallest_rms(answer)) end
    local list = {}
    for _, offered in ipairs(attack.ladder(tolerance, smallest_rms(answer), 0)) do
        if is_honest(answer, offered) then list[#list + 1] = offered end
    end
    return list
end

local function first_that_holds(answer, n)
    for i = 1, n do
        local holds = true
        for _, workload in ipairs(answer.workloads) do
            holds = holds and workload.holds ~= nil and workload.holds[i] == true
        end
        if holds then return i end
    end
end

local function tolerance_of(offered, tolerance)
    return offered and { predicate = "allclose_ref", atol = offered.atol, rtol = offered.rtol, ratio = 1.0, cap = 0.0,
        equal_nan = tolerance.equal_nan == true, equal_inf = tolerance.equal_inf == true }
end

-- nil when there is none, or when there was no answer. Also the loosest in the outputs' scale, where it is finer than
-- the task's: it may help against some of what is weak.
local function find_tolerance(evaluator, request, answer, task, tolerance)
    local offered = offers(answer, task, tolerance)
    if #offered == 0 then return nil end
    request.tolerances = offered
    local tried = evaluator:attack(request)
    if not (tried and tried.status == "PASSED") then return nil end
    local i = first_that_holds(tried, #offered)
    return tolerance_of(i and offered[i], tolerance),
        offered[1].atol < tolerance.atol and tolerance_of(offered[1], tolerance) or nil
end

-- Where no tolerance helps, what is right for these inputs and yet no work is the reason more than anything else.
local function first_remedy(weak)
    for _, entry in ipairs(weak) do
        if entry.exact then return entry.remedy end
    end
    return weak[1].remedy
end

-- The line of a task file that says this tolerance.
local function tolerance_text(tolerance)
    local flags = (tolerance.equal_nan and ", equal_nan = true" or "")
        .. (tolerance.equal_inf and ", equal_inf = true" or "")
    return ("tolerance = { \"allclose\", atol = %g, rtol = %g%s }"):format(tolerance.atol, tolerance.rtol, flags)
end

-- What no attack can show, since the random state is the same before each call.
local function add_chance(found, task)
    if not (task.facts and task.facts.random) then return end
    local what = "the model draws random numbers (a dropout?); both sides begin each call with the same random state"
    local remedy = "a solution must draw the same numbers in the same order, or be wrong: take chance out of the "
        .. "problem (eval(), p = 0)"
    found.weak[#found.weak + 1] = { name = "random", reason = what, what = what, remedy = remedy, workloads = {} }
    found.advice = found.advice or remedy
end

local function request_of(plan)
    local first, second = table.unpack(plan.steps.check.seeds) -- whose inputs are wanted in any case
    local wider = plan.wider and #plan.wider > 0 and plan.wider or nil
    return { seed = first, other = second or seeds.expand(first, 1)[1], limit = plan.steps.limits.check,
        wider = wider }
end

-- The plan's wider inputs that the reference has an answer for in every workload; nil where it has none to try.
local function usable_forms(answer, plan)
    local list = {}
    if not plan.wider or #plan.wider == 0 then return nil end
    for i, form in ipairs(plan.wider) do
        local usable = true
        for _, workload in ipairs(answer.workloads) do
            usable = usable and workload.wider ~= nil and workload.wider[i] == true
        end
        if usable then list[#list + 1] = form end
    end
    return list
end

--- Attacks the task that the evaluator has been given (as ako.plan resolved it). Returns
--- { weak = { { name, reason, what (the same without figures), remedy, tensor, of, workloads (ids), exact } ... },
---   warnings = { { name, reason } ... },
---   tolerance = one under which nothing is weak any more, or nil, scaled = the task's in the scale of its outputs, or
---   nil, wider = the plan's wider inputs that the reference has an answer for, where something is weak,
---   advice = what to do about `weak` in one line }
--- or nil, a message and a code when the machine could not say. `weak` is empty for a good task.
function attack.examine(evaluator, task, plan)
    local request = request_of(plan)
    local answer, problem, code = evaluator:attack(request)
    if not answer then return nil, problem, code end
    if answer.status == "INVALID_REFERENCE" then
        local entry = { name = "reference", reason = answer.reason, what = answer.reason,
            remedy = "mend the reference", workloads = {} }
        return { weak = { entry }, warnings = {}, advice = entry.remedy }
    end
    if answer.status ~= "PASSED" then return nil, answer.reason, answer.code end
    local found = { weak = collect(answer, task, plan.tolerance), warnings = warnings(answer, task) }
    if #found.weak > 0 then
        found.wider, request.wider = usable_forms(answer, plan), nil
        found.tolerance, found.scaled = find_tolerance(evaluator, request, answer, task, plan.tolerance)
        local words = task.python and "nothing of this passes with " or "put into task.lua: "
        found.advice = found.tolerance and words .. tolerance_text(found.tolerance)
            or first_remedy(found.weak)
    end
    add_chance(found, task)
    return found
end

--- Whether no policy can overlook it: a reference that fails, or a golden that nothing can match.
function attack.is_beyond_opinion(weak)
    for _, entry in ipairs(weak) do
        if entry.name == "reference" or entry.name == "golden" then return true end
    end
    return false
end

--- Whether a task with these weaknesses is refused under a policy (correctness.weak, and for a problem in Python
--- correctness.weak_problem).
function attack.is_refused(weak, policy, task)
    local correctness = policy.correctness
    local word = task and task.python and correctness.weak_problem or correctness.weak
    return #weak > 0 and (word ~= "warn" or attack.is_beyond_opinion(weak))
end

--- What is weak in one line, with figures of the first: "zeros everywhere pass as 'y'; its values lie in ...; and 3
--- more". `most`: how many are named.
function attack.summary(weak, most)
    local parts = {}
    for i = 1, math.min(#weak, most) do parts[i] = i == 1 and weak[i].reason or weak[i].what end
    if #weak > #parts then parts[#parts + 1] = ("and %d more"):format(#weak - #parts) end
    return table.concat(parts, "; ")
end

return attack
