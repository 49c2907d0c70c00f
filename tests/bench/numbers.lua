-- The tables that show whether verdicts hold: unchanged kernels, planted gains, absolute times, costs, cheats.
local clock = require "ako.clock"
local decisions = require "decisions"
local fs = require "ako.fs"
local plan = require "ako.plan"
local process = require "ako.process"
local stats = require "ako.stats"
local unit = require "ako.unit"

local COMMAND = "tests/bench/bench.lua"
local kernelbench = require "policies.kernelbench"

local function median_ns(lists)
    local all = {}
    for _, pairs_of in ipairs(lists) do table.move(pairs_of.incumbent_ns, 1, #pairs_of.incumbent_ns, #all + 1, all) end
    return #all > 0 and stats.quantile(all, 0.5) or 0
end

local function refusals(refused)
    return #refused > 0 and ("; %d trials refused: %s"):format(#refused, refused[1]) or ""
end

-- A kernel against itself.
local function unchanged(row, trials, label, sizes, most_kept)
    for _, size in ipairs(sizes) do
        local name, options, most = table.unpack(size)
        local lists, ms, refused = decisions.run(options, trials, most)
        local counts, gains, used = decisions.judge(lists, options.workloads)
        local bias = #gains > 0 and 100 * stats.quantile(gains, 0.5) or 0
        row(("%s, %s (%.2f us): kept of %d"):format(label, name, median_ns(lists) / 1e3, #lists), most_kept,
            ("%d; %d reverted, %d inconclusive; median gain %+.3f %%, mean pairs %.0f, %.0f ms each%s"):format(
                counts.keep, counts.revert, counts.inconclusive + counts.unstable, bias, used, ms, refusals(refused)),
            COMMAND)
    end
end

-- The same kernel with so much less work: per cent, the share that must be kept, trials.
local GAINS = { { 1, "", 3 }, { 2, "95 %", 10 }, { 3, "99 %", 10 }, { 5, "99 %", 3 } }

local function planted(row, sizes, scale)
    for _, size in ipairs(sizes) do
        local name, options, most = table.unpack(size)
        for _, gain in ipairs(GAINS) do
            local percent, goal, trials = table.unpack(gain)
            local lists, _, refused = decisions.run(options, math.ceil(scale * trials), most,
                decisions.less_work(percent))
            local counts, gains, used = decisions.judge(lists)
            local share = #lists > 0 and 100 * counts.keep / #lists or 0
            row(("%d %% less work, %s (%.1f us): kept of %d"):format(percent, name, median_ns(lists) / 1e3, #lists),
                goal, ("%.1f %%; estimated %.2f %% (all within %.2f..%.2f), mean pairs %.0f%s"):format(
                    share, #gains > 0 and 100 * stats.quantile(gains, 0.5) or 0, 100 * (gains[1] or 0),
                    100 * (gains[#gains] or 0), used, refusals(refused)), COMMAND)
        end
    end
end

-- Absolute times against a program that shares nothing with ours, and against ncu.
local function build_independent()
    local file = os.getenv "AKO_INDEPENDENT"
    if file then return file end
    local folder = assert(fs.temp_dir("ako-bench"))
    file = folder .. "/independent"
    local cuda = os.getenv "CUDA_HOME" or "/usr/local/cuda"
    local made = process.run { cuda .. "/bin/nvcc", "-std=c++17", "-arch=native", "-Itests/bench",
        "-I" .. cuda .. "/extras/CUPTI/include", "-L" .. cuda .. "/extras/CUPTI/lib64", "-lcupti", "-o", file,
        "tests/bench/independent.cu" }
    return made and made.code == 0 and file or nil
end

local function ncu_ns(program, n)
    local result = process.run { "ncu", "--metrics", "gpu__time_duration.sum", "--clock-control", "none",
        "--cache-control", "none", "--kernel-name", "stream", "--csv", "--print-units", "base", program, n, "10",
        env = { AKO_NO_CUPTI = "1" } }
    local values = {}
    for value in (result and result.stdout or ""):gmatch('"gpu__time_duration.sum","[^"]*","([%d.,]+)"') do
        values[#values + 1] = tonumber((value:gsub(",", "")))
    end
    return #values > 3 and stats.quantile(table.move(values, 4, #values, 1, {}), 0.5) or nil
end

local function against(ours, other) return other and ("%+.2f %%"):format(100 * (ours / other - 1)) or "unavailable" end

local function absolute(row)
    local program = build_independent()
    if not program then return row("absolute times", "1 %", "unavailable: no nvcc to build the program", COMMAND) end
    for _, size in ipairs(decisions.sizes) do
        local options = { name = "stream", axes = size[2].axes, workloads = 1 }
        local n = options.axes:match("%d+")
        local e <close>, task, resolved, folder = decisions.open(options)
        resolved.steps.time.timer, resolved.steps.time.reference = "cupti", false
        local sources = assert(unit.read(task.folder, task.solution.files))
        local made = assert(unit.make(task, task.solution, sources, task.reference))
        local result = assert(e:trial(made, { "build", "check", "time" }, resolved.steps))
        e:close()
        fs.remove_tree(folder)
        local ours = result.status == "PASSED" and result.workloads[1].time.median or 0
        local cupti = tonumber(assert(process.run { program, n }).stdout)
        row(("median of the %s kernel, %.2f us: from an independent program's CUPTI, from ncu"):format(size[1],
            ours / 1e3), "1 %", ("%s, %s"):format(against(ours, cupti), against(ours, ncu_ns(program, n))), COMMAND)
    end
end

-- A whole decision: build found in the cache, contexts, check, pairs until it is decided, 100 launches, reference.
local function cost(row)
    for _, size in ipairs(decisions.sizes) do
        local options = { name = "stream", axes = size[2].axes, workloads = 1 }
        local e <close>, task, resolved, folder = decisions.open(options)
        local sources = assert(unit.read(task.folder, task.solution.files))
        local made = assert(unit.make(task, task.solution, sources, task.reference))
        local steps, samples, shares, extra = resolved.steps, {}, {}, {}
        steps.time.pairs = plan.pairs(kernelbench, { threshold = 0.01 })
        for i = 1, 6 do
            local begin = clock.now_ns()
            local result = assert(e:trial(made, { "build", "check", "time" }, steps, made))
            local ns, w = clock.now_ns() - begin, result.workloads[1]
            if i > 1 and result.status == "PASSED" then -- the first waits for contexts that later ones find ready
                local asked, proof = w.paired.request_ns + w.time.request_ns, w.paired.proof_ns + w.time.proof_ns
                samples[#samples + 1], shares[#shares + 1] = ns, proof / asked
                extra[#extra + 1] = (proof + result.costs_ns.check) / (ns - proof - result.costs_ns.check)
            end
        end
        e:close()
        fs.remove_tree(folder)
        if #samples == 0 then
            row("a decision, " .. size[1], "1.5 s", "refused", COMMAND)
        else
            row("a decision (trial with pairs, 100 launches, reference), " .. size[1], "1.5 s",
                ("%.2f s"):format(stats.quantile(samples, 0.5) / 1e9), COMMAND)
            row("comparing outputs of timed calls, share of their requests, " .. size[1], "15 %",
                ("%.1f %%"):format(100 * stats.quantile(shares, 0.5)), COMMAND)
            row("check and defence on top of the rest of a trial, " .. size[1], "20 %",
                ("%.1f %%"):format(100 * stats.quantile(extra, 0.5)), COMMAND)
        end
    end
end

-- Beside a stranger that keeps the card busy (tests/bench/hammer.sh starts it and then this, as a program of its own).
local function hammered(row)
    local program = build_independent()
    if not program then return row("a second process on the card", "2 in 200", "unavailable: no nvcc", COMMAND) end
    local result = assert(process.run { "sh", "tests/bench/hammer.sh", program, fs.join(fs.program_dir(), "ako-lua"),
        limit_ns = 500 * 1000000000 })
    for what, figure in result.stdout:gmatch("([^\n]+)\t([^\n]+)\n") do
        row(what, "2 in 200, or refused", figure, "tests/bench/hammer.sh")
    end
    if result.code ~= 0 then row("a second process", "", "failed: " .. result.stderr:sub(1, 200), COMMAND) end
end

local numbers = {}

function numbers.beside_a_stranger(row, trials)
    for _, size in ipairs(decisions.sizes) do
        local lists, _, refused, disturbed = decisions.run(size[2], trials, size[3], nil, true)
        local counts = decisions.judge(lists)
        row(("unchanged kernel beside a busy stranger, %s: kept of %d"):format(size[1], #lists),
            ("%d; in %d of %d trials the stranger was seen, and the loop would have refused them%s"):format(counts.keep,
                disturbed, trials, refusals(refused)))
    end
end

--- `scale` 1 takes two hundred decisions of each unchanged kernel.
function numbers.unchanged(row, sizes, scale)
    unchanged(row, math.ceil(20 * scale), "unchanged kernel", sizes, "1 in 200")
end

numbers.planted = planted

function numbers.quiet(row)
    numbers.unchanged(row, decisions.sizes, 1)
    planted(row, decisions.planted, 1)
end

numbers.absolute, numbers.cost = absolute, cost

function numbers.costs(row)
    absolute(row)
    cost(row)
end

-- The cheats of tests/cheats and the examples' honest kernels, each in a trial with pairs.
function numbers.cheats(row)
    local argv = { fs.join(fs.program_dir(), "ako-lua"), "tests/lua/run.lua", "tests/lua/test_cheats.lua",
        limit_ns = 500 * 1000000000 }
    local result = assert(process.run(argv))
    local command = "ako-lua tests/lua/run.lua tests/lua/test_cheats.lua"
    local kept, cheats = result.stdout:match("# (%d+) of (%d+) cheats kept")
    local refused, honest = result.stdout:match("# (%d+) of (%d+) honest kernels refused")
    row("planted cheats kept, on GPU and CPU", "0", kept and ("%s of %s"):format(kept, cheats) or "failed", command)
    row("honest kernels refused, on GPU and CPU", "0", refused and ("%s of %s"):format(refused, honest) or "failed",
        command)
end

numbers.hammered = hammered

return numbers
