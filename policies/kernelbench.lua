-- KernelBench's meaning, natively: a kernel is right when five random inputs give what the reference gives, and as fast
-- as its mean over 100 launches, each after a flush of the L2 cache, says. Read it, copy it, change a number.

local backends = require "ako.backend"
local format = require "ako.format"
local policy = require "ako.policy"
local rules = require "ako.rules"
local scoreboard = require "ako.scoreboard"

-- Worst shape first: with several workloads KernelBench's figures are those of the one that gains least.
local function worst(record)
    local found, least
    for _, workload in ipairs(record.workloads) do
        local speedup = workload.speedup and workload.speedup.reference or math.huge
        if not found or speedup < least then found, least = workload, speedup end
    end
    return found or {}
end

local function milliseconds(figures)
    if not figures then return nil end
    local stats = { num_trials = figures.n }
    for _, name in ipairs { "mean", "std", "min", "max", "median" } do
        stats[name] = figures[name] and figures[name] / 1e6
    end
    return stats
end

-- The share of the entries { status, speedup } that are right and more than p times (strictly) faster, for each p.
local function fast_p(list, entries)
    local judged, shares, texts = {}, {}, {}
    for i, entry in ipairs(entries) do
        judged[i] = { correct = entry.status == "PASSED", speedup = entry.speedup and entry.speedup.reference }
    end
    for i, p in ipairs(scoreboard.thresholds(list)) do
        local name, share = "fast_" .. format.exact(p), rules.fast_p(judged, p) or 0
        shares[name], texts[i] = share, ("%s: %.4f"):format(name, share)
    end
    return shares, table.concat(texts, "  ")
end

-- Over several tasks an entry is a task, judged by its worst workload.
local function over_tasks(tasks, opt)
    if #tasks == 0 then return {} end -- no scores, not scores of zero
    local entries, results = {}, {}
    for i, task in ipairs(tasks) do
        local status, speedup = task.record.status, worst(task.record).speedup
        entries[i] = { status = status, speedup = speedup }
        results[i] = { name = task.task, correct = status == "PASSED", speedup = speedup and speedup.reference }
    end
    local shares, text = fast_p(opt.fast_p, entries)
    local scores, lines = scoreboard.object(results, {}), scoreboard.mean_lines(results)
    table.insert(lines, 1, text)
    return lines, { fast_p = shares, geomean = scores.geomean, geomean_missing = scores.geomean_missing,
        unknown = scores.unknown }
end

local function fields(record, opt)
    local workload = worst(record)
    local runtime, reference = milliseconds(workload.time_ns), milliseconds(workload.reference_ns)
    local speedup, overall = workload.speedup and workload.speedup.reference, record.speedup.reference
    local several = speedup ~= nil and #record.workloads > 1
    return {
        compiled = record.machine_code ~= nil and record.status ~= "COMPILE_ERROR",
        correct = record.status == "PASSED",
        backend = opt.backend ~= "" and opt.backend or record.backend or "none",
        origin = opt.backend ~= "" and "explicit" or "auto",
        runtime = runtime and runtime.mean or -1, runtime_stats = runtime,
        ref_runtime = reference and reference.mean or -1, ref_runtime_stats = reference,
        compile_runtime = milliseconds(workload.compiled_ns), compile_note = workload.compiled_note,
        compile_speedup = workload.speedup and workload.speedup.compiled,
        speedup = speedup or -1, workload = several and workload.id or nil, overall_speedup = overall,
        excessive = overall ~= nil and overall > opt.excessive,
        error = record.status == "INFRA" and record.reason or nil, fast_p = (fast_p(opt.fast_p, record.workloads)),
    }
end

local function python_bool(value) return value and "True" or "False" end
local function figure(value, unit) return value == -1 and "-1" or ("%.4f%s"):format(value, unit) end

local function lines(f, opt)
    local list, whose = {}, f.workload and f.workload .. ", of all workloads the one that gains least"
    if f.excessive then
        list[1] = ("[WARNING] Excessive speedup %.2fx over %gx threshold detected%s"):format(f.overall_speedup,
            opt.excessive, whose and "; below: " .. whose or "")
    end
    list[#list + 1] = "COMPILED: " .. python_bool(f.compiled)
    list[#list + 1] = "CORRECT: " .. python_bool(f.correct)
    list[#list + 1] = ("BACKEND: %s (%s)"):format(f.backend, f.origin)
    list[#list + 1] = "RUNTIME: " .. figure(f.runtime, "")
    list[#list + 1] = "REF_RUNTIME: " .. figure(f.ref_runtime, "")
    list[#list + 1] = "SPEEDUP: " .. figure(f.speedup, "x")
    if f.compile_runtime then
        list[#list + 1] = ("COMPILE_RUNTIME: %s  COMPILE_SPEEDUP: %s"):format(figure(f.compile_runtime.mean, ""),
            figure(f.compile_speedup or -1, "x"))
    elseif f.compile_note then
        list[#list + 1] = "COMPILE_RUNTIME: -1 (" .. f.compile_note .. ")"
    end
    if whose and not f.excessive then list[#list + 1] = "WORKLOAD: " .. whose end
    if f.error then list[#list + 1] = "ERROR: " .. f.error end
    return list
end

local function is_positive(value) return value > 0, "must be more than 0" end

local function is_thresholds(text)
    local list, why = scoreboard.thresholds(text)
    return list ~= nil, why
end

local function is_backend(text)
    for _, name in ipairs(backends.NAMES) do
        if name == text then return true end
    end
    return text == "", "must be one of " .. table.concat(backends.NAMES, ", ")
end

return policy.extend {
    name = "kernelbench",
    description = "KernelBench's checks and timing; keeps what is measurably faster than the best so far",

    options = {
        -- Smaller keeps smaller wins, and with them noise that happens to look like one; larger throws wins away.
        threshold = { 0.01, "share by which the median must beat the best's to be kept", rules.is_share },
        -- Beyond this a figure is more often a mistake than a miracle. Raising it silences the warning, nothing else.
        excessive = { 10.0, "speedup over the reference that needs a justification", is_positive },
        justify = { "", "why a speedup beyond --excessive is real; recorded with the verdict" },
        compiled = { false, "time the reference of a Python problem under torch.compile, too" },
        faithful = { false, "inputs and weights of a Python problem as the original draws them: on the CPU, slowly" },
        fast_p = { "0,1,2", "thresholds p for fast_p: the share of tasks (or workloads) more than p times faster",
            is_thresholds },
        -- A label of results; nothing else follows from it.
        backend = { "", "what BACKEND says of the solution, instead of what its text does", is_backend },
    },

    correctness = {
        trials = 5, -- more finds rarer faults and costs one reference run and one candidate run each
        seed = 42, -- the five seeds follow from it; another one gives other inputs, equally good
        -- Problems in Python come as they are, weak ones too: a ReLU of numbers that are never negative, a dropout.
        -- "warn" measures them, says what is weak and marks every trial; "refuse" wants the problem mended first.
        weak_problem = "warn",
        -- A solution of a weak problem must be right for these inputs, too, where the reference has an answer for them:
        -- the problem's own, with the other sign by chance, so many times as large. false believes a ReLU that copies.
        wider = { { signed = true }, { signed = true, times = 8 } },
        -- Where reference and solution differ, the model in fp64 says who is off: a solution may be so many times as
        -- far from that as the reference is. 0 refuses what is more exact than TF32, 10 lets half precision pass there.
        exact = 1.5,
        faithful = "faithful", -- the option; without it inputs are drawn on the device, and what stands above counts
        predicate = "allclose_out", -- |r - c| <= atol + rtol |c|, as torch.allclose(reference, candidate) has it
        -- atol = rtol by the dtype of the outputs. Ten times tighter fails honest reorderings of a sum, ten times
        -- looser passes kernels that compute in half precision. Dtypes that are not here (integers) must be equal.
        tolerance = { f64 = 1e-4, f32 = 1e-4, f16 = 1e-2, bf16 = 1e-2, f8e4m3 = 1e-2, f8e5m2 = 1e-2 },
    },

    timing = {
        warmup = 3, -- fewer times the first launches' set-up; more changes nothing
        launches = 100, -- the interval narrows with the square root of this
        -- Launches that take longer than so many seconds together end there, but for so many: kernels of milliseconds
        -- have close times. More seconds change figures by less than a machine does; false always makes `launches`.
        long = { seconds = 0.5, launches = 20 },
        flush = true, -- false measures a warm L2, which flatters kernels whose data fits into it
        timer = "events", -- "cupti" excludes the launch itself: smaller figures, not comparable with KernelBench's
        -- From the first start to the last end on all streams: "events" would count what the interpreter needs before
        -- the first kernel starts, which differs from call to call by more than kernels do.
        python_timer = "cupti",
        alpha = 0.05, -- error of the intervals; smaller makes them wider and verdicts rarer
        compiled = "compiled", -- the option
        reference = true, -- measured anew with each candidate: clocks drift, and a stale reference lies
        statistic = "mean", -- of SPEEDUP, as KernelBench has it; keep and revert look at pairs
        proof_share = 0.12, -- of the time goes to comparing outputs of timed calls; less makes cheats bolder
        proof_least = 1, -- but so many calls of each workload are compared in full whatever that costs
        -- A measurement with strangers on the device, or at clocks that differ, is taken so many times more, then given
        -- up (exit 125). More costs time on a machine that is never quiet; 0 gives up at once.
        repeats = 1,
        -- A figure of a task's own benchmark that is so many times better than ours is refused. 1.5 refuses benchmarks
        -- that leave the cache warm, 100 believes in miracles.
        claims = 3,

        -- Keep or revert: candidate and best in turn, each pair close in time and on the same buffers.
        pairs = {
            looks = { 12, 24, 48, 96 }, -- pairs after which it may be decided; fewer looks miss small gains
            alpha = 0.05, -- error of all looks together; larger decides earlier and keeps more noise
            threshold = "threshold",
            score = "geomean", -- of the workloads; "worst" keeps only what makes none of them slower
            clock_pair = 0.015, clock_run = 0.03, -- pairs at other clocks are dropped; tighter drops more of them
            most_dropped = 0.3, -- with more gone the machine is called unstable
            one_sided = 0.8, -- unless they mostly go one way: then the candidate itself moves the clock
            order_effect = 0.005, -- between A B and B A pairs: recorded, changes no verdict
            correlation = 0.2, -- neighbours that are more alike need twice the pairs; 1 ignores drift
            hopeless = 3, -- times slower at its first launches is given up there; 0 measures everything
            seconds = 10, -- wall time for all pairs; what it does not reach is inconclusive
            control = 48, -- pairs of the original against itself: what this machine takes for a gain
            floor_factor = 2, -- the threshold is never below so many times that
            headline = 96, -- pairs of original against final; fewer widen the interval of the final figure
        },

        -- Many candidates, of a folder or of a kernel's tune lines: in each round all of them and the best have a turn.
        screen = {
            least = 12, -- fewer are tried one by one, each with pairs of its own
            rounds = { 4, 8, 16 }, share = 0.5, -- of those in it so many stay after each; fewer rounds lose good ones
            hopeless = 3, -- times slower at its first launches leaves at once
            -- Decided on by pairs, with `alpha` divided among them: more find more, and each needs a larger gain.
            finalists = "sqrt", most_finalists = 5,
            most = 16, -- processes at once; each takes some hundred MB of a GPU
            points = 64, -- of a larger tune space so many are drawn; more cost time
        },
    },

    -- Seconds for each step of one trial; what takes longer is stopped and counts as TIMEOUT. A candidate's step also
    -- ends after `factor` times what it took the original, but not before `least` seconds: raise them when slow
    -- intermediate versions deserve to be measured, lower them when candidates often hang.
    -- `propose` is for one run of a --propose command: less cuts agents off in the middle of their work, more waits
    -- longer for one that hangs. After `no_ops` proposals in a row without a change to try a run ends: 1 ends it at an
    -- agent's first mistake, a hundred pays for an agent that has given up. `bench` is for a task's own benchmark
    -- command that does not say how long it may take.
    budget = { build = 300, check = 180, time = 180, factor = 10, least = 10, propose = 1800, no_ops = 3, bench = 900 },

    -- A baseline that is too fast to be believed is where candidates start from, but nothing that was kept.
    baseline = rules.plausible("excessive", "justify", "inconclusive"),

    -- In this order; the first that does not say "keep" decides.
    accept = rules.all(
        rules.plausible("excessive", "justify"),
        rules.paired()),

    -- The lines on stdout, and the same as members of the JSON object.
    render = function(run, opt)
        if run.tasks then return over_tasks(run.tasks, opt) end
        local f = fields(run.last, opt)
        return lines(f, opt), f
    end,
}
