-- Trying a policy before a GPU second is spent: what its `accept` says of candidates whose true gain is known, timed on
-- machines that do not exist (ako.noise), and where it would end a run of such candidates. It needs no device and no
-- task.

local control = require "ako.control"
local ending = require "ako.ending"
local fault = require "ako.fault"
local format = require "ako.format"
local json = require "ako.json"
local noise = require "ako.noise"
local paired = require "ako.paired"
local plan = require "ako.plan"
local replay = require "ako.replay"
local stats = require "ako.stats"
local trial = require "ako.trial"

local simulate = {}

-- What the synthetic kernel and its reference take, and of how many launches a sample in a pair is the median: what
-- evaluators take of a kernel of this length.
local BASE_NS, REFERENCE_NS, LAUNCHES_A_SAMPLE = 100000, 200000, 5

local TASK = { name = "synthetic", workloads = { { id = "synthetic", weight = 1 } } }

-- Streams of random numbers of each trial: times so far apart that they share no noise.
local STREAMS, BEST, CANDIDATE, REFERENCE, PAIRS, CONTROL = 5, 0, 1, 2, 3, 4

local function launches(run, model, number, what, base_ns)
    local ns = noise.launches(model, run.seed, number * STREAMS + what, base_ns, run.timing.launches)
    local figures = stats.summary(ns, run.timing.alpha)
    figures.timer, figures.note = "synthetic", ""
    return figures
end

local FIGURES = { "median", "mean", "min", "max", "std", "p95" }

-- The figures of a kernel that takes `share` of the time. Noise is a factor, so that all of them scale.
local function scaled(figures, share)
    local result = { n = figures.n, timer = figures.timer, note = figures.note }
    for _, name in ipairs(FIGURES) do result[name] = figures[name] * share end
    if figures.ci then result.ci = { figures.ci[1] * share, figures.ci[2] * share } end
    return result
end

local function scaled_pairs(measured, share)
    local candidate_ns = {}
    for i, ns in ipairs(measured.candidate_ns) do candidate_ns[i] = math.floor(ns * share + 0.5) end
    return { candidate_ns = candidate_ns, incumbent_ns = measured.incumbent_ns }
end

-- What an evaluator would answer (docs/protocol.md): figures of the candidate and of the reference, a decided pair run.
local function result_of(time, reference, decided, measured)
    local workload = { id = TASK.workloads[1].id, status = "PASSED", reason = "", max_abs = 0.0, max_rel = 0.0,
        mismatch = 0, count = 1, ratio = 1.0, time = time, reference = reference }
    if decided then
        workload.paired = { n = decided.pairs - decided.dropped, gain = decided.gain, interval = decided.interval,
            candidate_ns = measured.candidate_ns, incumbent_ns = measured.incumbent_ns }
    end
    return { status = "PASSED", step = "time", reason = "", code = "", workloads = { workload }, paired = decided,
        build = { hash = "", log = "", registers = -1, shared = 0, spill = -1 }, costs_ns = {} }
end

local function record_of(run, result, number, best, original)
    local record = trial.record(result, { session = "synthetic", trial = number, task = TASK, best = best,
        original = original or best, statistic = run.timing.statistic, flush = run.timing.flush })
    record.machine_code, record.launches = tostring(number), "" -- never the best's own
    return record
end

local function measure_pairs(run, model, number, what, n)
    return noise.pairs(model, run.seed, number * STREAMS + what, BASE_NS, n, LAUNCHES_A_SAMPLE)
end

-- The pairs' numbers on this machine: with its floor, when that is asked for, as a run finds it out.
local function plan_on(run, model, number)
    local count = run.with_floor and run.timing.pairs.control or 0
    if count == 0 then return run.plan end
    local numbers = plan.pairs(run.ctx.policy, run.ctx.opt)
    numbers.looks = { count }
    local same = measure_pairs(run, model, number, CONTROL, count)
    local found = control.of { paired = paired.decide { plan = numbers, pairs = { same } } }
    return (plan.pairs(run.ctx.policy, run.ctx.opt, found.floor))
end

-- One trial on one machine: what was measured of two equal kernels serves all gains, so that cells of a row differ by
-- their gain alone.
local function measure(run, model, number)
    local measured = { time = launches(run, model, number, CANDIDATE, BASE_NS) }
    if run.timing.reference then measured.reference = launches(run, model, number, REFERENCE, REFERENCE_NS) end
    local best = result_of(launches(run, model, number, BEST, BASE_NS), measured.reference)
    measured.best = record_of(run, best, 0)
    measured.best.verdict, measured.best.reason = "keep", "baseline"
    if run.plan then
        measured.plan = plan_on(run, model, number)
        measured.pairs = measure_pairs(run, model, number, PAIRS, run.plan.looks[#run.plan.looks])
    end
    return measured
end

local function decide(measured, samples)
    local decided = paired.decide { plan = measured.plan, pairs = { samples } }
    decided.threshold, decided.reason = measured.plan.threshold, ""
    return decided
end

-- The record, with its verdict, of a candidate that takes 1 - gain of the best's time, which is `share` (1) of what was
-- measured; and its decided pairs.
local function judge(run, measured, gain, number, share)
    local decided, samples
    if run.plan then
        samples = scaled_pairs(measured.pairs, 1 - gain)
        decided = decide(measured, samples)
    end
    local time = scaled(measured.time, (share or 1) * (1 - gain))
    local record = record_of(run, result_of(time, measured.reference, decided, samples), number, measured.best,
        measured.original)
    if trial.is_unmeasured(record.status) then
        record.verdict = "inconclusive"
    else
        record.verdict, record.reason = replay.ask(run.ctx, record, measured.best)
    end
    return record, decided
end

local function count_in(cell, record, decided)
    cell[record.verdict] = cell[record.verdict] + 1
    if decided then cell.pairs = (cell.pairs or 0) + decided.pairs end
end

local function rates(cell, trials)
    cell.kept = cell.keep / trials
    if cell.gain <= 0 then cell.false_keep = cell.kept else cell.missed_win = 1 - cell.kept end
    if cell.pairs then cell.pairs = cell.pairs / trials end
    return cell
end

local function new_run(ctx, seed, with_floor)
    return { ctx = ctx, timing = ctx.policy.timing, plan = plan.pairs(ctx.policy, ctx.opt), seed = seed,
        with_floor = with_floor }
end

--- What the policy keeps of `trials` candidates for each noise and each true gain (a share: 0.02 takes 2 % less time):
--- a list of rows { noise, cells }, a cell { gain, keep, revert, inconclusive (counts), kept (share), false_keep (where
--- there is no gain) or missed_win (where there is one), pairs (mean; nil for a policy without) }. ctx: policy, opt,
--- hook(name, ...). `with_floor`: each machine's floor raises the threshold of the pairs, as in a run.
function simulate.synthetic(ctx, gains, trials, seed, with_floor)
    local run = new_run(ctx, seed, with_floor)
    local rows = {}
    for i, model in ipairs(noise.models()) do
        local cells = {}
        for k, gain in ipairs(gains) do cells[k] = { gain = gain, keep = 0, revert = 0, inconclusive = 0 } end
        for number = 1, trials do
            local measured = measure(run, model, number)
            for k, gain in ipairs(gains) do count_in(cells[k], judge(run, measured, gain, number)) end
        end
        for _, cell in ipairs(cells) do rates(cell, trials) end
        rows[i] = { noise = model, cells = cells }
    end
    return rows
end

-- What stays the same of a run that never was.
local FACTS = { session = "synthetic", header = {}, device = {}, workspace = ".",
    task = { name = TASK.name, solution = {}, reference = {}, workloads = { TASK.workloads[1].id } } }

-- Candidates with these gains in turn, each against the best before it, on one machine.
local function run_on(run, model, gains, most)
    local asked, number, share = ending.new(run.ctx, FACTS), 0, 1.0
    local original = measure(run, model, 0).best
    local best, record = original, original
    local reason
    while true do
        asked:take(record)
        reason = asked:reason(best, 0.0)
        if reason or number >= most then break end
        number = number + 1
        local measured, gain = measure(run, model, number), gains[(number - 1) % #gains + 1]
        measured.best, measured.original = best, original
        record = judge(run, measured, gain, number, share)
        if record.verdict == "keep" then best, share = record, share * (1 - gain) end
    end
    return { noise = model, trials = number, stop = reason and { trial = number, reason = reason },
        stalls = json.array(asked.stalls), speedup = best.speedup.original, best = best.trial }
end

--- Where the policy would end a run of candidates that have these gains in turn, each over the best before it: for each
--- noise { noise, trials, stop ({ trial, reason }, or nil after `most` trials), stalls (a list of the same), best (a
--- trial), speedup (that one's, measured, over the original) }. Nobody writes notes in such a run, and it takes no
--- time.
function simulate.runs(ctx, gains, most, seed)
    local run, list = new_run(ctx, seed), {}
    for i, model in ipairs(noise.models()) do list[i] = run_on(run, model, gains, most) end
    return list
end

-- The verb

local function per_cent(share) return ("%.4g"):format(share * 100) end

-- "0.7", "44", "100": with a decimal below ten, where it matters.
local function rate(share)
    local value = share * 100
    return (value == 0 and "0" or value < 9.95 and "%.1f" or "%.0f"):format(value)
end

local function columns(cells)
    for i, cell in ipairs(cells) do cells[i] = format.pad(cell, i == 1 and 7 or 9, i > 1) end
    return table.concat(cells)
end

local function synthetic_lines(policy, rows, trials, seed)
    local head, uses_pairs = { "gain" }, rows[1].cells[1].pairs ~= nil
    for i, cell in ipairs(rows[1].cells) do head[i + 1] = per_cent(cell.gain) .. " %" end
    local lines = { ("policy %s, seed %d: kept of %d candidates with this true gain, in %%%s"):format(policy.name, seed,
        trials, uses_pairs and " (pairs, in the mean)" or ""), columns(head) }
    for _, row in ipairs(rows) do
        local texts = { row.noise }
        for i, cell in ipairs(row.cells) do
            texts[i + 1] = rate(cell.kept) .. (uses_pairs and (" (%.0f)"):format(cell.pairs) or "")
        end
        lines[#lines + 1] = columns(texts)
    end
    lines[#lines + 1] = "up to 0 % these are false keeps; above, what they lack to 100 are missed wins"
    return lines
end

local function joined(runs, text_of)
    local texts = {}
    for _, run in ipairs(runs) do texts[#texts + 1] = text_of(run) end
    return table.concat(texts, "; ")
end

local function stall_text(run)
    local first = run.stalls[1]
    return first and ("%s after trial %d (%s)"):format(run.noise, first.trial, first.reason)
end

local function stop_text(run)
    if not run.stop then return ("%s not within %d trials"):format(run.noise, run.trials) end
    return ("%s after trial %d (%s)"):format(run.noise, run.stop.trial, run.stop.reason)
end

-- Where runs of these candidates, in turn, stall and end.
local function ending_lines(policy, runs)
    local lines = { "a run of candidates with these gains in turn, each over the best before it:" }
    local stalls = joined(runs, stall_text)
    if policy.stalled then lines[2] = "stalls  " .. (stalls == "" and "never" or stalls) end
    if policy.stop then lines[#lines + 1] = "stops   " .. joined(runs, stop_text) end
    return lines
end

local LEAST_GAIN, MOST_GAIN, MOST_GAINS = -900, 99, 16

-- "-2,0,1.5" in per cent as shares.
local function read_gains(text)
    local gains = {}
    for word in (text .. ","):gmatch("([^,]*),") do
        local gain = tonumber(word)
        if not gain or not (gain >= LEAST_GAIN and gain <= MOST_GAIN) then
            fault.raise("INVALID", "--gains: '%s' is no gain in per cent from %d to %d", word, LEAST_GAIN, MOST_GAIN)
        end
        gains[#gains + 1] = gain / 100
    end
    if #gains > MOST_GAINS then fault.raise("INVALID", "--gains: more than %d", MOST_GAINS) end
    return gains
end

--- The lines and the JSON object for the verb: a replay where ctx.host.session names a session, else synthetic noise.
--- ctx.verb_options: trials (a cell), gains (text, per cent), floor.
function simulate.answer(ctx)
    if ctx.host.session then return replay.answer(ctx) end
    local given = ctx.verb_options or {}
    local trials, seed = given.trials or 1000, ctx.host.seed or ctx.policy.correctness.seed
    local gains = read_gains(given.gains or "-2,0,0.5,1,1.5,2,3,5")
    local rows = simulate.synthetic(ctx, gains, trials, seed, given.floor)
    local lines, runs = synthetic_lines(ctx.policy, rows, trials, seed), nil
    if ending.is_asked(ctx.policy) then
        runs = simulate.runs(ctx, gains, trials, seed)
        table.move(ending_lines(ctx.policy, runs), 1, 3, #lines + 1, lines)
    end
    return lines, { v = 1, policy = ctx.policy.name, trials = trials,
        seed = seed, floor = given.floor == true, base_ns = BASE_NS, launches_per_sample = LAUNCHES_A_SAMPLE,
        noise = rows, runs = runs and json.array(runs) }
end

return simulate
