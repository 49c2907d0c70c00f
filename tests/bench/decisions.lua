-- Decisions whose right answer is known, in large numbers: a kernel against itself (A/A), and against the same kernel
-- with less work. One trial has many workloads of equal size, each with pairs of its own, in two fresh processes; each
-- workload's pairs are then judged look by look by the policy's own numbers, as a trial of its own would have been.
local clock = require "ako.clock"
local control = require "ako.control"
local evaluator = require "ako.evaluator"
local fs = require "ako.fs"
local paired = require "ako.paired"
local plan = require "ako.plan"
local quiet = require "ako.quiet"
local stats = require "ako.stats"
local task_files = require "ako.task"
local unit = require "ako.unit"

local decisions = {}

local kernelbench = require "policies.kernelbench"

-- A task of `count` workloads, all of them `axes` (Lua text), on the sources of tests/bench/NAME.
local function make_task(name, axes, count, extra)
    local folder = assert(fs.temp_dir("ako-bench"))
    for _, file in ipairs(fs.list("tests/bench/" .. name)) do
        assert(fs.copy_file(("tests/bench/%s/%s"):format(name, file), fs.join(folder, file)))
    end
    if not fs.exists(folder .. "/reference.cu") then
        assert(fs.copy_file(("%s/%s.cu"):format(folder, name), folder .. "/reference.cu"))
    end
    local workloads = {}
    for i = 1, count do workloads[i] = ('{ %s, name = "%d" }'):format(axes, i) end
    assert(fs.write(fs.join(folder, "task.lua"), ([[
return { name = "%s", tensors = { x = { "f32", { "N" }, init = "normal" }, y = { "f32", { "N" }, role = "output" } },
  workloads = { %s }, tolerance = { "allclose", atol = 1e-5, rtol = 1e-5 }, %s }
]]):format(name, table.concat(workloads, ", "), extra)))
    return folder
end

local function numbers_of(policy, most)
    local numbers = plan.pairs(policy, { threshold = 0.01 })
    local all = { looks = { most }, hopeless = 0, budget = 600 * 1000000000 }
    for name, value in pairs(numbers) do
        if all[name] == nil then all[name] = value end
    end
    return numbers, all
end

-- `edit` makes the candidate out of the incumbent's text. Returns a list of pairs (ako.paired), a workload each, and
-- the whole result.
function decisions.measure(e, task, resolved, most, edit)
    local sources = assert(unit.read(task.folder, task.solution.files))
    local incumbent = assert(unit.make(task, task.solution, sources, task.reference))
    local changed = { { name = sources[1].name, text = edit and edit(sources[1].text) or sources[1].text } }
    local candidate = assert(unit.make(task, task.solution, changed, task.reference))
    local _, all = numbers_of(kernelbench, most)
    local steps = { limits = resolved.steps.limits, time = {} }
    for name, value in pairs(resolved.steps.time) do steps.time[name] = value end
    steps.time.launches, steps.time.most, steps.time.reference, steps.time.pairs = 1, 1, false, all
    local result = assert(e:trial(candidate, { "build", "time" }, steps, incumbent))
    local list = {}
    for i, workload in ipairs(result.workloads) do list[i] = workload.paired or nil end
    return list, result
end

-- A step of the clock as a share, as the evaluator finds it.
local function step_share(samples)
    local summary = stats.summary(samples)
    return summary.step / summary.median
end

-- The threshold that a session would have whose control these pairs of a kernel against itself were.
local function threshold_by(pairs_of)
    local numbers, policy_pairs = numbers_of(kernelbench, 96), kernelbench.timing.pairs
    numbers.looks = { math.min(policy_pairs.control, #pairs_of.candidate_ns) }
    local given = paired.decide { plan = numbers, pairs = { pairs_of } }
    return plan.pairs(kernelbench, { threshold = 0.01 }, control.of({ paired = given }).floor).threshold
end

--- What the policy's looks make of each list of pairs: counts of keep, revert, inconclusive, unstable; and the gains.
--- With `per_trial`, the number of workloads of a trial of a kernel against itself, the first pairs of another trial
--- are each trial's control, as a session's baseline is.
function decisions.judge(lists, per_trial)
    local numbers = numbers_of(kernelbench, 96)
    local counts, gains, used = { keep = 0, revert = 0, inconclusive = 0, unstable = 0 }, {}, 0
    for i, pairs_of in ipairs(lists) do
        if per_trial and #lists > per_trial then
            local other = ((i - 1) // per_trial - 1) * per_trial % #lists + 1
            numbers.threshold = threshold_by(lists[other])
        end
        numbers.resolution = math.max(step_share(pairs_of.candidate_samples_ns),
            step_share(pairs_of.incumbent_samples_ns))
        local verdict = paired.decide { plan = numbers, pairs = { pairs_of } }
        counts[verdict.verdict] = counts[verdict.verdict] + 1
        gains[i], used = pairs_of.gain, used + verdict.pairs
    end
    table.sort(gains)
    return counts, gains, used / math.max(1, #lists)
end

--- Opens an evaluator on a generated task. options: name (folder of the kernel), axes, workloads, bytes (Lua text).
function decisions.open(options, place)
    local extra = ('reference = { "reference.cu" }, solution = { "%s.cu" }%s'):format(options.name,
        options.bytes and ", bytes = function(a) return " .. options.bytes .. " end" or "")
    local folder = make_task(options.name, options.axes, options.workloads, extra)
    local e = assert(evaluator.start { device = place or "cuda:0" })
    local task = assert(task_files.resolve(assert(task_files.load(folder .. "/task.lua")), e.place))
    local resolved = assert(plan.resolve(kernelbench, task))
    assert(e:task(task, resolved.tolerance, resolved.reference))
    return e, task, resolved, folder
end

--- `trials` trials with options.workloads decisions each. Returns the lists of pairs, the ms a decision took, what was
--- said of trials that were refused, and how many were disturbed, which are refused too unless `disturbed_too`.
function decisions.run(options, trials, most, edit, disturbed_too)
    local e <close>, task, resolved, folder = decisions.open(options)
    local lists, refused, disturbed, begin = {}, {}, 0, clock.now_ns()
    for _ = 1, trials do
        local list, result = decisions.measure(e, task, resolved, most, edit)
        local problem = quiet.disturbance(result, false)
        if problem then disturbed = disturbed + 1 end
        if result.status == "PASSED" and (disturbed_too or not problem) then
            table.move(list, 1, #list, #lists + 1, lists)
        else
            refused[#refused + 1] = problem or ("%s %s: %s"):format(result.status, result.code, result.reason)
        end
    end
    fs.remove_tree(folder)
    return lists, (clock.now_ns() - begin) / 1e6 / (trials * options.workloads), refused, disturbed
end

--- The sizes of the A/A table: { label, options, most pairs }.
decisions.sizes = {
    { "2 us", { name = "stream", axes = "N = 65536", workloads = 10 }, 96 },
    { "8 us", { name = "stream", axes = "N = 2097152", workloads = 10 }, 96 },
    { "70 us", { name = "stream", axes = "N = 33554432", workloads = 10 }, 96 },
    { "200 us", { name = "stream", axes = "N = 100663296", workloads = 10 }, 96 },
    { "5 ms", { name = "stream", axes = "N = 2147479552", workloads = 10 }, 24 },
}

--- The kernels of the table of planted gains.
decisions.planted = {
    { "8 us", { name = "work", axes = "N = 135168, R = 1600", workloads = 10 }, 96 },
    { "70 us", { name = "work", axes = "N = 135168, R = 17000", workloads = 10 }, 96 },
    { "200 us", { name = "work", axes = "N = 135168, R = 49000", workloads = 10 }, 96 },
    { "5 ms", { name = "work", axes = "N = 135168, R = 1230000", workloads = 10 }, 24 },
}

function decisions.less_work(percent)
    return function(text) return ("#define LESS %d\n"):format(percent) .. text end
end

return decisions
