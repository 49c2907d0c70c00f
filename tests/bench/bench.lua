-- `make bench`: the figures of docs/measurements.md, measured, a section each. Without a GPU some are left out.
--   ako-lua tests/bench/bench.lua [output file] [number of a section ...]
local clock = require "ako.clock"
local device = require "ako.device"
local evaluator = require "ako.evaluator"
local fs = require "ako.fs"
local json = require "ako.json"
local plan = require "ako.plan"
local process = require "ako.process"
local stats = require "ako.stats"
local task_files = require "ako.task"
local unit = require "ako.unit"

local program = fs.join(fs.program_dir(), "ako-lua")
local rows = {}

local function row(what, goal, figure, command)
    rows[#rows + 1] = { what, goal, figure, command }
    print(("%-66s %-18s %s"):format(what, goal, figure))
end

local function median(samples)
    table.sort(samples)
    return stats.quantile(samples, 0.5)
end

local function timed(argv)
    local begin = clock.now_ns()
    local result = assert(process.run(argv))
    return (clock.now_ns() - begin) / 1e6, result
end

local function version_time()
    local samples = {}
    for i = 1, 21 do samples[i] = timed { program, "--version" } end
    row("`ako-lua --version`, median of 21", "20 ms", ("%.1f ms"):format(median(samples)), "ako-lua --version")
end

local function long_session()
    local command = "tests/lua/long_session.lua"
    local found = assert(json.decode((select(2, timed { program, command })).stdout))
    row("`status` of a session of 10,000 trials, median of 11", "50 ms", ("%.1f ms"):format(found.status_ms), command)
    row("the same, its journal's index removed", "", ("%.0f ms"):format(found.status_without_index_ms), command)
    row("all that the host does in one more trial of it, median of 11", "15 ms", ("%.1f ms"):format(found.trial_ms),
        command)
    row("the same, when its policy renders a log of all trials", "", ("%.0f ms"):format(found.trial_with_log_ms),
        command)
end

-- The host's own peak, after this whole program has run trials in it.
local function host_memory()
    local peak = fs.read("/proc/self/status"):match("VmHWM:%s*(%d+) kB")
    row("peak memory of the host process, after all of the above", "32 MB", ("%.1f MB"):format(peak / 1024),
        "tests/bench/bench.lua")
end

local kernelbench = require "policies.kernelbench"

-- A task on a fresh evaluator of its own.
local function open(folder, place)
    local e = assert(evaluator.start { device = place == "gpu" and "cuda:0" or "cpu" })
    local task = assert(task_files.resolve(assert(task_files.load(folder .. "/task.lua")), e.place))
    local resolved = assert(plan.resolve(kernelbench, task))
    assert(e:task(task, resolved.tolerance, resolved.reference))
    return e, task, resolved
end

local function solution_of(task, edit, file)
    local sources = assert(unit.read(task.folder, file and { file } or task.solution.files))
    if edit then sources[1].text = edit(sources[1].text) end
    return assert(unit.make(task, task.solution, sources, task.reference))
end

-- `goal` is for the smallest of kernels; more code takes NVRTC longer.
local function edit_to_code(name, file, goal)
    local e <close>, task, resolved = open("examples/" .. name, "gpu")
    local samples, fresh = {}, clock.wall_ns() % 1000000000
    assert(e:check(solution_of(task), resolved.steps)) -- until contexts and the reference no longer come up beside it
    for i = 1, 21 do
        local edited = solution_of(task, function(text)
            return text .. ("\n__device__ int edit_%d(int x) { return x + %d; }\n"):format(i, fresh + i)
        end, file)
        local result = assert(e:build(edited, resolved.steps))
        samples[i] = result.build.ns / 1e6
    end
    table.remove(samples, 1)
    row(("edit to cubin, %s/%s, warm builder, median of 20"):format(name, file), goal,
        ("%.1f ms"):format(median(samples)), "tests/bench/bench.lua")
end

-- Three runs of one unchanged kernel, each with an evaluator and processes of its own.
local function repeatability(name, place, goal, timer)
    local medians = {}
    for i = 1, 3 do
        local e <close>, task, resolved = open("examples/" .. name, place)
        resolved.steps.time.timer = timer
        local result = assert(e:trial(solution_of(task), { "build", "check", "time" }, resolved.steps))
        assert(result.status == "PASSED", result.reason)
        medians[i] = result.workloads[1].time.median
    end
    local low, high = math.min(table.unpack(medians)), math.max(table.unpack(medians))
    row(("medians of three runs, %s, %.3f ms, %s"):format(name, medians[1] / 1e6, timer), goal,
        ("%.2f %% apart"):format(100 * (high - low) / low), "tests/bench/bench.lua")
end

-- From the shell's start of the program to its exit: build, five checks, 100 flushed launches each of solution and
-- reference, verdict, record. `candidate` replaces the task's solution; a first run on a machine has an empty cache.
local function whole_verdict(name, goal, candidate, cold)
    local folder = assert(fs.temp_dir("ako-bench"))
    local workspace = fs.join(folder, "workspace")
    assert(fs.mkdirs(fs.join(workspace, "solution")))
    local source = ("examples/%s/%s"):format(name, candidate or "solution/kernel.cu")
    assert(fs.copy_file(source, fs.join(workspace, "solution/kernel.cu")))
    local argv = { program, "policies/kernelbench.lua", "try", "--json", "--quiet", "--task", "examples/" .. name,
        "--workspace", workspace, env = cold and { XDG_CACHE_HOME = folder } or nil }
    local ms, result = timed(argv)
    row(("whole verdict of %s, %s, build cache %s"):format(name, fs.basename(source), cold and "empty" or "filled"),
        goal, result.code == 0 and ("%.2f s"):format(ms / 1e3) or "failed: " .. result.stderr,
        "ako-lua policies/kernelbench.lua try --task examples/" .. name)
    fs.remove_tree(folder)
end

-- Times `file` as the solution of the task in `folder`; gives the result and the task.
local function time_file(folder, file, program_of)
    local e <close>, task, resolved = open(folder, "gpu")
    local sources = assert(unit.read(".", { file }))
    local made = assert(unit.make(task, program_of or task.solution, sources, task.reference))
    local result = assert(e:trial(made, { "build", "check", "time" }, resolved.steps))
    assert(result.status == "PASSED", result.reason)
    return result, task
end

local function rate(folder, file, what, workload, program_of)
    local result, task = time_file(folder, file, program_of)
    return task.workloads[workload][what] / result.workloads[workload].time.median
end

-- The best memory-bound candidates against a copy, GEMM against the vendor's library, each on its largest workload.
local function best_candidates()
    local copy = rate("tests/bench/copy", "tests/bench/copy/copy.cu", "bytes", 1)
    row("copy, 1 GiB read and written", "", ("%.2f TB/s"):format(copy / 1e3), "tests/bench/bench.lua")
    for _, path in ipairs {
        "rmsnorm/candidates/09_registers.cu", "softmax/candidates/09_cluster_registers.cu",
        "silu_gate/candidates/09_vectors.cu",
    } do
        local name = path:match("^[^/]+")
        local share = rate("examples/" .. name, "examples/" .. path, "bytes", 1) / copy
        row(path .. ", share of the copy", "0.85", ("%.3f"):format(share), "tests/bench/bench.lua")
    end
    local vendor = { entry = "gemm", args = { "x", "w", "y", "M", "N", "K" }, options = { "-lcublas" } }
    local cublas = rate("examples/gemm", "tests/bench/cublas.cu", "flops", 2, vendor)
    local ours = rate("examples/gemm", "examples/gemm/candidates/09_wgmma.cu", "flops", 2)
    row("cuBLAS, bf16, 2048 x 14336 x 4096", "", ("%.0f TFLOP/s"):format(cublas / 1e3), "tests/bench/bench.lua")
    row("gemm/candidates/09_wgmma.cu, share of cuBLAS", "0.5", ("%.3f"):format(ours / cublas),
        "tests/bench/bench.lua")
end

-- The account of the bundled example, as a newcomer sees it.
local function demo()
    local ms, result = timed { program, "policies/kernelbench.lua" }
    row("the bundled example, nine candidates, one of which hangs for 10 s", "", ("%.1f s"):format(ms / 1e3),
        "ako-lua policies/kernelbench.lua")
    local state, here = fs.dirname(assert(fs.user_dir "state")), assert(fs.absolute ".") .. "/"
    local text = result.stderr .. result.stdout
    for from, to in pairs { [state] = "~/.local/state", [here] = "" } do
        text = text:gsub(from:gsub("%p", "%%%0"), to)
    end
    return text
end

local function machine()
    local found = assert(device.find("auto"))
    local listing = assert(process.run { program, "--version" }).stdout
    local driver = found.place == "gpu" and listing:match("[Dd]river%s+(%S+)")
    local state = device.state(found.id) or {}
    return found, ("%s%s%s"):format(found.name, driver and ", driver " .. driver or "",
        state.sm_clock_mhz and (", SM clock %d MHz at the start"):format(state.sm_clock_mhz) or "")
end

-- Replaces one section of the file, or adds it, and leaves the others as they are.
local function write(path, title, lines)
    local sections, order, current = {}, {}, nil
    for line in (fs.read(path) or ""):gmatch("([^\n]*)\n?") do
        local name = line:match("^## (.+)$")
        if name then
            current = name
            sections[name], order[#order + 1] = {}, name
        elseif current then
            table.insert(sections[current], line)
        end
    end
    if not sections[title] then order[#order + 1] = title end
    sections[title] = table.move(lines, 1, #lines, 2, { "" })
    local text = { "# Measurements", "", "Written by `make bench`, a section each." }
    for _, name in ipairs(order) do
        local body = table.concat(sections[name], "\n"):gsub("%s+$", "")
        text[#text + 1] = ("\n## %s\n%s"):format(name, body)
    end
    assert(fs.write(path, table.concat(text, "\n") .. "\n"))
end

local found, card = machine()
local numbers = require "numbers"

local function speed()
    version_time()
    long_session()
    if found.place == "gpu" then
        edit_to_code("relu", "reference.cu", "30 ms")
        edit_to_code("relu", "solution/kernel.cu", "")
        edit_to_code("rmsnorm", "solution/kernel.cu", "")
        local best = "candidates/02_shared_channels.cu"
        whole_verdict("rmsnorm_large", "", best, true)
        whole_verdict("rmsnorm_large", "2 s", best)
        whole_verdict("rmsnorm_large", "", nil)
        whole_verdict("relu", "0.7 s", nil)
        repeatability("relu", "gpu", "1 %", "cupti")
        repeatability("relu", "gpu", "1 %", "events")
        repeatability("rmsnorm_large", "gpu", "0.3 %", "events")
        best_candidates()
    else
        print("no GPU: the figures that need one are left out")
        repeatability("rmsnorm", "cpu", "", "wall")
    end
    host_memory()
end

local function account() return { "", "```", demo() .. "```" } end

-- Title, what measures it, and what follows the table. All but the first need a GPU.
local PARTS = {
    { "Speed", speed },
    { "Verdicts on kernels that are known", function() numbers.quiet(row) end },
    { "Absolute times and costs", function() numbers.costs(row) end },
    { "Beside a stranger", function() numbers.hammered(row) end },
    { "Cheats and honest kernels", function() numbers.cheats(row) end },
    { "Problems in Python", function() require("problems").rows(row) end },
    { "The bundled example", function() end, account },
}

-- ako-lua tests/bench/bench.lua [file] [number of a part ...]
local path, wanted = (arg and arg[1]) or "docs/measurements.md", {}
for i = 2, #(arg or {}) do wanted[tonumber(arg[i])] = true end
print(card)
for i, part in ipairs(PARTS) do
    local chosen = next(wanted) == nil or wanted[i]
    if chosen and (found.place == "gpu" or i == 1 or i == #PARTS) then
        rows = {}
        part[2]()
        local lines = { "Card: " .. card .. "; " .. clock.date(clock.wall_ns()):sub(1, 10) }
        if #rows > 0 then
            local head = { "", "| what | to reach | measured | command |", "| --- | --- | --- | --- |" }
            table.move(head, 1, 3, #lines + 1, lines)
        end
        for _, r in ipairs(rows) do lines[#lines + 1] = ("| %s | %s | %s | `%s` |"):format(table.unpack(r)) end
        local more = part[3] and part[3]() or {}
        table.move(more, 1, #more, #lines + 1, lines)
        write(path, part[1], lines)
    end
end
print("written to " .. path)
