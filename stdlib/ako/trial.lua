-- The record of a trial, from an evaluator's result: what the journal keeps, policies judge and --json prints.
-- Durations are ns; ratios are floats, above 1 when the candidate is the faster one; what is not known is absent (null
-- in JSON). No NaN or infinity gets in here.

local json = require "ako.json"

local trial = {}

--- The reason of a trial that a kill cut off.
trial.INTERRUPTED = "interrupted"

-- Statuses that say nothing about the candidate.
local UNMEASURED = { INVALID_REFERENCE = true, UNTRUSTED_TIMING = true, UNSTABLE = true, INFRA = true }

--- True when a trial with this status could not be measured, whatever its candidate is worth.
function trial.is_unmeasured(status) return UNMEASURED[status] == true end

--- True when the user, or a kill, ended the trial: it has not come to an end of its own.
function trial.is_interrupted(record)
    return record.status == "INFRA" and (record.code == "CANCELLED" or record.reason == trial.INTERRUPTED)
end

--- What counts of a record: the verdict that somebody gave by hand, else the policy's.
function trial.verdict(record) return record.override or record.verdict end

--- A gain or a threshold, a share of the time, as "x % faster" in per cent: half the time is 100 % faster.
function trial.faster(share) return 100 * share / (1 - share) end

--- The text of a threshold, in the same unit.
function trial.threshold(share)
    local shown = trial.faster(share)
    return (shown < 10 and "%.2g %%" or "%.3g %%"):format(shown)
end

--- By how many per cent a record was faster than the best before it (negative: slower): a speed-up of 2 is 100 %, as
--- reasons and predictions count it. Nil where nothing is known.
function trial.gain(record)
    local speedup = record.trial > 0 and record.speedup.best
    return speedup and (speedup - 1) * 100 or nil
end

--- The interval of that, { low, high } in per cent; nil where there is none.
function trial.gain_interval(record)
    local interval = record.trial > 0 and record.interval and record.interval.best
    return interval and { (interval[1] - 1) * 100, (interval[2] - 1) * 100 } or nil
end

local function finite(value)
    if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge then return nil end
    return math.tointeger(value) or value
end

local FIGURES = { "median", "mean", "min", "max", "std", "p95", "n", "events" }

local function figures_of(time)
    if type(time) ~= "table" then return nil end
    local figures = {}
    for _, name in ipairs(FIGURES) do figures[name] = finite(time[name]) end
    if type(time.ci) == "table" and finite(time.ci[1]) and finite(time.ci[2]) then
        figures.ci = { finite(time.ci[1]), finite(time.ci[2]) }
    end
    return figures.median and figures.median > 0 and figures or nil
end

local function ratio(numerator, denominator)
    if not numerator or not denominator or denominator <= 0 then return nil end
    return finite(numerator / denominator + 0.0) and numerator / denominator + 0.0
end

-- How many times faster `figures` is than `base`, and the range that both intervals allow.
local function gain(base, figures)
    local gained = ratio(base.median, figures.median)
    local low, high
    if base.ci and figures.ci then
        low, high = ratio(base.ci[1], figures.ci[2]), ratio(base.ci[2], figures.ci[1])
    end
    return gained, low, high
end

local CHECK_FIGURES = { "max_abs", "max_rel", "mismatch", "count", "ratio" }

-- Where the answer in fp64 was asked: how far from it result and reference are, or why there is none.
local function exact_of(given)
    local exact = given.exact
    return exact and { tensor = exact.tensor, max_abs = finite(exact.max_abs),
        reference_max_abs = finite(exact.reference_max_abs), unavailable = exact.unavailable }
end

local function workload_record(given, task_workload, statistic)
    local record = { id = given.id, status = given.status, reason = given.reason, tensor = given.tensor,
        first = given.first, weight = task_workload.weight, exact = exact_of(given) }
    for _, name in ipairs(CHECK_FIGURES) do record[name] = finite(given[name]) end
    record.time_ns, record.reference_ns = figures_of(given.time), figures_of(given.reference)
    if record.time_ns and record.reference_ns then
        record.speedup = { reference = ratio(record.reference_ns[statistic], record.time_ns[statistic]) }
    end
    record.compiled_ns = figures_of(given.compiled)
    if record.speedup and record.compiled_ns then
        record.speedup.compiled = ratio(record.compiled_ns[statistic], record.time_ns[statistic])
    end
    record.compiled_note = given.compiled and given.compiled.unavailable
    return record
end

-- Weighted mean over the workloads of each figure: what one call of each would take, in proportion.
local function mean_figures(workloads, field)
    local sums, weights = {}, 0
    for _, workload in ipairs(workloads) do
        local figures = workload[field]
        if not figures then return nil end
        if #workloads == 1 then return figures end
        for _, name in ipairs { "median", "mean", "min", "max", "p95" } do
            sums[name] = (sums[name] or 0) + workload.weight * (figures[name] or figures.median)
        end
        local ci = figures.ci or { figures.min, figures.max }
        sums.low, sums.high = (sums.low or 0) + workload.weight * ci[1], (sums.high or 0) + workload.weight * ci[2]
        sums.n = math.min(sums.n or figures.n, figures.n)
        weights = weights + workload.weight
    end
    if weights == 0 then return nil end
    local result = { n = sums.n, ci = { finite(sums.low / weights), finite(sums.high / weights) } }
    for _, name in ipairs { "median", "mean", "min", "max", "p95" } do result[name] = finite(sums[name] / weights) end
    return result
end

-- Weighted geometric mean of value(workload) over the workloads; nil when one has none.
local function geomean(workloads, value)
    local logs, weights = 0.0, 0.0
    for i, workload in ipairs(workloads) do
        local factor = value(workload, i)
        if not factor then return nil end
        logs, weights = logs + workload.weight * math.log(factor), weights + workload.weight
    end
    return weights > 0 and math.exp(logs / weights) or nil
end

-- Speed-ups over an earlier record of the same task, for each workload and over all of them.
local function compare(record, base, name)
    if not (base and record.time_ns and base.time_ns) then return end
    local lows, highs = {}, {}
    for i, workload in ipairs(record.workloads) do
        workload.speedup = workload.speedup or {}
        workload.speedup[name], lows[i], highs[i] = gain(base.workloads[i].time_ns, workload.time_ns)
    end
    record.speedup[name] = geomean(record.workloads, function(workload) return workload.speedup[name] end)
    local low = geomean(record.workloads, function(_, i) return lows[i] end)
    local high = geomean(record.workloads, function(_, i) return highs[i] end)
    if low and high then record.interval[name] = { low, high } end
end

-- Gains of pairs as speed-ups: a gain of 0.5, half the time, is a speed-up of 2.
local function speedup_of(share) return share and share < 1 and 1 / (1 - share) or nil end

local function speedups_of(interval)
    if type(interval) ~= "table" then return nil end
    local low, high = speedup_of(finite(interval[1])), speedup_of(finite(interval[2]))
    return low and high and { low, high } or nil
end

local PAIRED = { "verdict", "reason", "look", "pairs", "dropped", "gain", "threshold", "raised_from", "order_effect",
    "clock_coupled", "correlated", "lag1", "timer" }

local function paired_record(given)
    if type(given) ~= "table" then return nil end
    local paired = {}
    for _, name in ipairs(PAIRED) do
        local value = given[name]
        if type(value) == "number" then value = finite(value) end
        paired[name] = value
    end
    if type(given.interval) == "table" then paired.interval = { given.interval[1], given.interval[2] } end
    return paired
end

-- What pairs say about a speed-up counts more than two medians taken one after the other.
local function compare_paired(record, result, name)
    local paired = record.paired
    if not paired then return end
    record.speedup[name] = speedup_of(paired.gain)
    record.interval[name] = speedups_of(paired.interval) -- that of the medians is of another figure
    for i, workload in ipairs(result.workloads) do
        if type(workload.paired) == "table" then
            local own = record.workloads[i]
            own.speedup = own.speedup or {}
            own.speedup[name] = speedup_of(workload.paired.gain)
            local interval = speedups_of(workload.paired.interval)
            if interval then own.interval = own.interval or {} end
            if interval then own.interval[name] = interval end
        end
    end
end

-- What pairs were taken against, by all of its names: the best may be the original.
local function paired_with(context)
    if context.against ~= nil then return { context.against or nil } end
    local best, original = context.best, context.original
    return best and original and best.trial == original.trial and { "best", "original" } or { "best" }
end

local function costs_ms(costs)
    local result = { build = 0, check = 0, time = 0, profile = 0, total = 0 }
    for name, ns in pairs(costs or {}) do result[name] = (ns + 500000) // 1000000 end
    return result
end

local function build_facts(record, build)
    if type(build) ~= "table" then return end
    record.machine_code = build.hash ~= "" and build.hash or nil
    record.resources = {}
    for _, name in ipairs { "registers", "shared", "spill" } do
        local value = finite(build[name])
        if value and value >= 0 then record.resources[name] = value end -- -1 where the compiler does not say
    end
    if type(build.error) == "table" then record.build_error = build.error end
end

-- Errors of linkers and of options have no line in the sources, which reads as line 0.
local function without_line_zero(reason)
    local before, file, text = reason:match("^(the reference does not compile: )([^:]*):0: (.*)$")
    if not before then before, file, text = "", reason:match("^([^:]*):0: (.*)$") end
    if not text then return reason end
    return before .. (file == "" and "" or file .. ": ") .. text
end

local function first_timer(workloads)
    for _, workload in ipairs(workloads or {}) do
        if type(workload.time) == "table" then return workload.time.timer, workload.time.note end
    end
end

--- Makes the record of a result. `context`: task (resolved), session, trial (number), candidate (name), hypothesis,
--- predict and label as their author gave them, facts as the policy's gate did, statistic ("mean" or "median", for the
--- speed-up over the reference), flush, original and best (records, nil for the baseline itself), against (what pairs
--- were taken against: "best", the default, "original", or false for itself). Verdict and reason are the caller's.
function trial.record(result, context)
    local record = { v = 1, session = context.session, trial = context.trial, candidate = context.candidate,
        hypothesis = context.hypothesis, predict = context.predict, label = context.label, facts = context.facts,
        status = result.status, step = result.step,
        reason = without_line_zero(result.reason or ""),
        code = result.code ~= "" and result.code or nil, speedup = {}, interval = {}, workloads = json.array {},
        costs_ms = costs_ms(result.costs_ns), flush = context.flush, confinement = result.confinement,
        autotuned = result.autotuned }
    record.timed_at, record.disturbed, record.repeats = result.timed_at, result.disturbed, result.repeats
    build_facts(record, result.build)
    for i, workload in ipairs(result.workloads or {}) do
        record.workloads[i] = workload_record(workload, context.task.workloads[i], context.statistic)
    end
    record.timer, record.timer_note = first_timer(result.workloads)
    if #record.workloads == #context.task.workloads then
        record.time_ns = mean_figures(record.workloads, "time_ns")
        record.reference_ns = mean_figures(record.workloads, "reference_ns")
        for _, against in ipairs { "reference", "compiled" } do
            record.speedup[against] = geomean(record.workloads, function(workload)
                return workload.speedup and workload.speedup[against]
            end)
        end
    end
    compare(record, context.original or record, "original")
    compare(record, context.best or record, "best")
    record.against = context.best and context.best.trial
    record.paired = paired_record(result.paired)
    for _, name in ipairs(paired_with(context)) do compare_paired(record, result, name) end
    if record.paired and record.paired.verdict == "unstable" and record.status == "PASSED" then
        record.status, record.code, record.reason = "UNSTABLE", "M7", record.paired.reason
    end
    return record
end

--- The record of a trial that never reached the evaluator, or for which it had no answer.
function trial.without_result(status, reason, context)
    return trial.record({ status = status, step = "", reason = reason, workloads = {} }, context)
end

local function mean_of(records, value)
    local sum = 0.0
    for _, record in ipairs(records) do
        local number = value(record)
        if not number then return nil end
        sum = sum + number
    end
    return finite(sum / #records)
end

--- Several records of the same code as one: the first with the means of all medians and speed-ups, the widest interval,
--- and `runs`, a { median, speedup } for each.
function trial.mean(records)
    local record = records[1]
    if #records == 1 then return record end
    record.runs = json.array {}
    for i, one in ipairs(records) do record.runs[i] = { median = one.time_ns.median, speedup = one.speedup } end
    local median = mean_of(records, function(one) return one.time_ns.median end)
    local speedup = {}
    for name in pairs(record.speedup) do
        speedup[name] = mean_of(records, function(one) return one.speedup[name] end)
    end
    for name, interval in pairs(record.interval) do
        for _, one in ipairs(records) do
            local other = one.interval[name] or interval
            interval[1], interval[2] = math.min(interval[1], other[1]), math.max(interval[2], other[2])
        end
    end
    record.time_ns.median, record.speedup = median, speedup
    return record
end

--- The raw samples of a result, by workload id: { time = {ns ...}, reference = {ns ...} }.
function trial.samples(result)
    local samples = {}
    for _, workload in ipairs(result.workloads or {}) do
        samples[workload.id] = { time = workload.time and workload.time.samples_ns,
            reference = workload.reference and workload.reference.samples_ns, paired = workload.paired }
    end
    return samples
end

return trial
