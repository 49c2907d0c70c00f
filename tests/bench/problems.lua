-- Verdicts on problems in Python: a cold process, the next verdict of a run, three verdicts of one kernel, and a
-- problem whose tensors fill a quarter of the card.
local clock = require "ako.clock"
local evaluator = require "ako.evaluator"
local fs = require "ako.fs"
local plan = require "ako.plan"
local problem = require "ako.problem"
local problem_task = require "ako.problem_task"
local process = require "ako.process"
local python = require "ako.python"
local stats = require "ako.stats"
local unit = require "ako.unit"

local bench = {}

local kernelbench = require "policies.kernelbench"

local FOLDER = "tests/bench/python/"
local PAUSE_NS = 3000000000 -- an edit takes longer; meanwhile the processes of the next trial come up
local SECOND = 1000000000

local function text_of(file) return assert(fs.read(FOLDER .. file)) end

-- An evaluator that knows the problem, and what its trials ask for.
local function open(file)
    local e = assert(evaluator.start { python = python.facts() })
    local loaded = problem.load(FOLDER .. file)
    local task = problem_task.resolve(e, loaded, { seed = kernelbench.correctness.seed })
    local resolved = assert(plan.resolve(kernelbench, task))
    assert(e:task(task, resolved.tolerance, resolved.reference, true))
    return e, task, resolved
end

local function unit_of(task, file, edit)
    return assert(unit.make(task, task.solution, { { name = file, text = text_of(file) .. (edit or "") } }))
end

local function trial(e, solution, resolved, incumbent)
    local begin = clock.now_ns()
    resolved.steps.time.pairs = incumbent and plan.pairs(kernelbench, { threshold = 0.01 }) or nil
    local result = assert(e:trial(solution, { "build", "check", "time" }, resolved.steps, incumbent))
    assert(result.status == "PASSED", result.reason)
    return result, (clock.now_ns() - begin) / 1e9
end

local function pause() assert(process.run { "sleep", tostring(PAUSE_NS / SECOND) }) end

-- Where a trial's time went, in seconds.
local function costs_text(result)
    local parts = {}
    for i, step in ipairs { "build", "check", "time" } do
        parts[i] = ("%s %.2f"):format(step, (result.costs_ns[step] or 0) / 1e9)
    end
    return table.concat(parts, ", ")
end

-- Trials of edited solutions one after the other: the first builds, the others are what an edit costs.
local function following(row, label, goal, file, solution)
    local e <close>, task, resolved = open(file)
    local incumbent = unit_of(task, solution)
    trial(e, incumbent, resolved)
    local seconds, medians, last = {}, {}, nil
    for i = 1, 4 do
        pause()
        local result, took = trial(e, unit_of(task, solution, ("\n# edit %d\n"):format(i)), resolved, incumbent)
        if i > 1 then seconds[#seconds + 1] = took end
        medians[i], last = result.workloads[1].time.median, result
    end
    row(label .. ", the next verdict of a run, median of 3", goal, ("%.2f s (the last: %s)"):format(
        stats.quantile(seconds, 0.5), costs_text(last)), "tests/bench/bench.lua")
    table.move(medians, 2, 4, 1)
    medians[4] = nil
    row(label .. ", medians of three verdicts of one kernel", "1 %", ("%.2f %% apart (%.2f us)"):format(
        100 * (math.max(table.unpack(medians)) / math.min(table.unpack(medians)) - 1), medians[1] / 1e3),
        "tests/bench/bench.lua")
end

-- A process is cold, the disk is not: what is measured is no disk.
local function read_from_disk()
    assert(process.run { python.facts().program, "-c", "import torch, triton", limit_ns = 300 * SECOND })
end

-- Seconds from the shell's start of the program to its exit; nil and what it said when it failed.
local function seconds_cold(file, solution)
    local workspace = assert(fs.temp_dir("ako-bench"))
    if solution then assert(fs.copy_file(FOLDER .. solution, fs.join(workspace, solution))) end
    local argv = { fs.join(fs.program_dir(), "ako-lua"), "policies/kernelbench.lua", "try", "--json", "--quiet",
        "--task", FOLDER .. file, "--workspace", workspace, limit_ns = 300 * SECOND }
    if solution then table.move({ "--solution", solution }, 1, 2, #argv + 1, argv) end
    local begin = clock.now_ns()
    local result = assert(process.run(argv))
    local took = (clock.now_ns() - begin) / 1e9
    fs.remove_tree(workspace)
    if result.code ~= 0 then return nil, result.stderr .. result.stdout end
    return took
end

local function figure_cold(file, solution, times)
    local seconds = {}
    for i = 1, times do
        local took, why = seconds_cold(file, solution)
        if not took then return "failed: " .. why end
        seconds[i] = took
    end
    return ("%.2f s"):format(stats.quantile(seconds, 0.5)) .. (times > 1 and (" (median of %d)"):format(times) or "")
end

local function cold(row, label, goal, file, solution, times)
    row(label, goal, figure_cold(file, solution, times or 1),
        ("ako-lua policies/kernelbench.lua try --task %s%s%s"):format(FOLDER, file,
            solution and " --solution " .. solution or ""))
end

--- All of it, in rows { what, goal, figure, command }. Needs a GPU and PyTorch.
function bench.rows(row)
    read_from_disk()
    cold(row, "Triton ReLU 1024x16384, cold process", "7 s", "relu.py", "relu_triton.py", 3)
    following(row, "Triton ReLU 1024x16384", "1 s", "relu.py", "relu_triton.py")
    following(row, "PyTorch ReLU 1024x16384", "1 s", "relu.py", "relu_torch.py")
    cold(row, "ReLU whose two tensors fill a quarter of the card, cold process", "passes", "quarter.py")
    local rms = "load_inline RMSNorm 112x64x512x512"
    cold(row, rms .. ", not built yet, cold process", "", "rmsnorm.py", "rmsnorm_inline.py")
    cold(row, rms .. ", built before, cold process", "12 s", "rmsnorm.py", "rmsnorm_inline.py", 3)
    following(row, rms, "3 s", "rmsnorm.py", "rmsnorm_inline.py")
end

return bench
