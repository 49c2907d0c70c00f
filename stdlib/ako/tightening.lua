-- Problems in Python come with no tolerance of their own, and a policy's absolute one lets zeros pass where the outputs
-- are small. Where a finer one refuses what no honest kernel gives, and nothing else, that one is taken.

local attack = require "ako.attack"

local tightening = {}

--- Whether somebody wants the original's answers, its tolerance among them, whatever that lets pass.
function tightening.is_unwanted(policy, opt)
    local name = policy.correctness.faithful
    return name ~= nil and opt ~= nil and opt[name] == true
end

local function figures(tolerance) return ("atol %g, rtol %g"):format(tolerance.atol, tolerance.rtol) end

--- Makes a tolerance found earlier the plan's: a record's `tightened`.
function tightening.adopt(plan, tightened)
    plan.given_tolerance, plan.tightened = plan.given_tolerance or plan.tolerance, tightened
    plan.tolerance = { predicate = tightened.predicate, atol = tightened.atol, rtol = tightened.rtol, ratio = 1.0,
        cap = 0.0, equal_nan = plan.given_tolerance.equal_nan, equal_inf = plan.given_tolerance.equal_inf,
        exact = plan.given_tolerance.exact }
end

local function drop(plan) plan.tolerance, plan.tightened = plan.given_tolerance or plan.tolerance, nil end

-- Attacks the task once more under another tolerance: what is still weak then, or nil when that is no less.
local function try(evaluator, task, plan, give, candidate, before)
    local own = plan.tolerance
    tightening.adopt(plan, { predicate = candidate.predicate, atol = candidate.atol, rtol = candidate.rtol,
        instead = { predicate = own.predicate, atol = own.atol, rtol = own.rtol }, why = before.weak[1].what })
    give()
    local found = attack.examine(evaluator, task, plan)
    if found and #found.weak < #before.weak then return found end
    drop(plan)
    give()
end

--- Examines a task as ako.attack does. Of a problem in Python that names no tolerance of its own, unless the policy's
--- options want the original's answers, the plan's tolerance is then the finer one where that helps: .tightened of the
--- plan says so. `give` gives the evaluator the task with the plan's tolerance.
function tightening.examine(evaluator, task, plan, give, unwanted)
    if plan.tightened then
        drop(plan)
        give()
    end
    local found, problem, code = attack.examine(evaluator, task, plan)
    local is_policys = task.python and not next(task.closeness or {}) -- what a file says, its author has chosen
    local candidate = found and is_policys and (found.tolerance or found.scaled)
    if not candidate then return found, problem, code end
    if unwanted then
        if found.tolerance then
            found.advice = ("the original's tolerance is kept, as was asked; %s would let nothing of this pass")
                :format(figures(found.tolerance))
        end
        return found
    end
    return try(evaluator, task, plan, give, candidate, found) or found
end

--- What is to be said where a plan's tolerance is not the policy's; nil where it is.
function tightening.text(plan)
    local tightened = plan.tightened
    return tightened and ("judged with %s instead of the policy's %s, under which %s"):format(figures(tightened),
        figures(tightened.instead), tightened.why)
end

-- What is not finite, in a result or left out of a record, is no small difference.
local function is_within(difference, tolerance) return type(difference) == "number" and difference <= tolerance end

--- Where a wrong result would have passed under the policy's own tolerance: so in words, else nil.
function tightening.differs(plan, record)
    local tightened = plan.tightened
    if not tightened or record.status ~= "INCORRECT_NUMERICAL" then return nil end
    for _, workload in ipairs(record.workloads) do
        if not is_within(workload.max_abs, tightened.instead.atol) then return nil end
    end
    return ("with the policy's own %s this would have passed"):format(figures(tightened.instead))
end

return tightening
