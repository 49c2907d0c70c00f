-- A resolved plan in words, for those who look before it runs: the policy's own lines, and those that all have.

local bench = require "ako.bench"
local fault = require "ako.fault"
local format = require "ako.format"
local plan = require "ako.plan"
local problem_task = require "ako.problem_task"
local screen = require "ako.screen"
local survey = require "ako.survey"
local tensors = require "ako.tensors"

local plan_text = {}

local function measure_text(steps, tolerance, place)
    local check = ("%s, %s atol %g rtol %g"):format(format.count(#steps.check.seeds, "check"), tolerance.predicate,
        tolerance.atol, tolerance.rtol)
    local time = steps.time
    local is_cut = time.long and time.long_launches < time.launches
    local least = " (at least %d, where all would take over %g s)"
    local cut = is_cut and least:format(time.long_launches, time.long / 1e9) or ""
    return check, ("%d warm-ups, %d launches%s%s, timer %s"):format(time.warmup, time.launches, cut,
        time.flush and ", cache flushed before each" or "", place == "cpu" and "wall" or time.timer)
end

-- How verdicts come about, `count` candidates known.
local function decide_text(policy, opt, count)
    local numbers = plan.pairs(policy, opt)
    local text = "by the policy's rule on figures alone"
    if numbers then
        text = ("looks after %s pairs, threshold %.3g %%, %g s at most"):format(table.concat(numbers.looks, ", "),
            numbers.threshold * 100, numbers.budget / 1e9)
    end
    if not screen.is_wanted(policy, count) then return text end
    local screened = plan.screen(policy, count)
    return ("%d screened in up to %d rounds, then %d at most: %s"):format(count, screened.rounds[#screened.rounds],
        screened.keep, text)
end

--- The policy's own lines, { { label, value }, ... }; none without that hook. What the policy cannot resolve is a fault
--- with its question.
function plan_text.own(started)
    if not started.policy.plan then return {} end
    local lines, question = started.hook("plan", survey.of(started), started.opt)
    if lines == nil and question ~= nil then fault.raise("INVALID", "%s", tostring(question)) end
    for _, line in ipairs(lines or {}) do
        if type(line) ~= "table" or type(line[1]) ~= "string" or type(line[2]) ~= "string" then
            fault.raise("POLICY", "hook 'plan' must return { { label, value }, ... }, all of them texts")
        end
    end
    return lines or {}
end

--- The others, { name, text }, in reading order, for candidates from `source` (ako.proposer) or none.
function plan_text.common(started, source)
    local task, device = started.task, started.evaluator.device
    local count = source and source.list and #source.list or 0
    local check, time = measure_text(started.plan.steps, started.plan.tolerance, task.place)
    local folder = started:folder() or "a new scratch folder"
    local against = started.plan.comparable and "" or " (other kind of device: correctness only, no speed-up)"
    local lines = {
        { "task", ("%s: %s; %s"):format(task.name, tensors.text(tensors.views(task.tensors)),
            format.count(#task.workloads, "workload")) },
        { "device", ("%s, %s"):format(device.id, device.name) },
        { "policy", ("%s: %s"):format(started.policy.name, started.policy.description) },
        { "check", check },
        { "time", time },
        { "decide", decide_text(started.policy, started.opt, count) },
        { "reference", ("%s, %s lane%s"):format(task.reference.files[1], started.plan.reference.lane, against) },
        { "solution", ("%s in %s"):format(table.concat(task.solution.files, ", "), folder) },
        { "candidates", source and source.text or "none: the tree as it is" },
    }
    if task.facts then lines[#lines + 1] = { "python", problem_task.facts_text(task) } end
    if task.bench then
        lines[#lines + 1] = { "bench", ("%s; %g s at most, what it says is a claim"):format(bench.text(task.bench),
            bench.seconds(task.bench, started.policy)) }
    end
    if started.session then lines[#lines + 1] = { "session", started.session.name } end
    return lines
end

return plan_text
