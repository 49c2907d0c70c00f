-- The policies of the seed systems from the first word to the last, on a real evaluator with a proposer that is a
-- script: on the GPU where there is one, else on the CPU. What they leave behind is looked at.
local console = require "ako.console"
local device = require "ako.device"
local fs = require "ako.fs"
local git = require "ako.git"
local process = require "ako.process"
local program = require "program"
local session = require "ako.session"
local t = require "ako.tap"

local PLACE = assert(device.find "auto").id == "cpu" and "cpu" or "gpu"
local EXTENSION = PLACE == "cpu" and ".c" or ".cu"
local CANDIDATES = { cpu = { "01_renamed.c", "03_half.c", "04_simd.c" },
    gpu = { "01_renamed.cu", "03_half.cu", "04_float4.cu" } }
local EXAMPLE = t.home .. "/examples/rmsnorm/"
local BRANCHES = { ako4all = "opt/rmsnorm", ako4all_gated = "gated/rmsnorm", autodev = "autodev/whole" }

local function sh(folder, command)
    local done = assert(process.run { "sh", "-c", command, cwd = folder, limit_ns = 60 * program.second_ns })
    t.eq(done.code, 0, command .. ": " .. done.stderr)
    return done.stdout
end

-- A repository of a user's with the example in it, made small enough for a test.
local function workspace(name)
    local folder = fs.join(program.folder, name)
    for _, file in ipairs { "reference" .. EXTENSION, "solution/kernel" .. EXTENSION } do
        program.write(name .. "/" .. file, assert(fs.read(EXAMPLE .. file)))
    end
    local text = fs.read(EXAMPLE .. "task.lua")
    local small = "{ { B = 16, D = 1024 }, { B = 7, D = 1023, weight = 0.2 } }"
    local workloads = ("workloads = { %s = %s }"):format(PLACE, small)
    program.write(name .. "/task.lua", (text:gsub("workloads = %b{}", workloads)))
    program.write(name .. "/mine.txt", "mine\n")
    for _, file in ipairs(CANDIDATES[PLACE]) do
        program.write(name .. ".candidates/" .. file, assert(fs.read(EXAMPLE .. "candidates/" .. file)))
    end
    sh(folder, "git init -q -b main . && git config user.name U && git config user.email u@x && git add -A "
        .. "&& git commit -qm mine && echo loose > loose.txt && echo more >> mine.txt")
    return folder
end

-- The policy as it is on a GPU; on a CPU, where a flushed cache takes milliseconds, with fewer launches and pairs.
local function file_of(policy)
    if PLACE == "gpu" then return ("%s/policies/%s.lua"):format(t.home, policy) end
    return fs.join(program.folder, program.write(policy .. ".lua", ([[
        return (require "policies.%s"):extend { timing = { warmup = 2, launches = 20, seconds = 0,
            pairs = { looks = { 12 }, control = 12, headline = 12 } } }
    ]]):format(policy)))
end

local function ako(folder, policy, ...)
    local candidates = folder .. ".candidates"
    return assert(process.run { program.path, file_of(policy), "--workspace=" .. folder, env = { AKO_HOME = t.home,
        CANDIDATES = candidates }, limit_ns = 300 * program.second_ns, ... })
end

local PROPOSE = ("--propose=sh '%s/tests/lua/homework.sh'"):format(t.home)

-- Runs it; returns what became of it.
local function run(folder, policy, ...)
    local done = ako(folder, policy, "run", "--session=whole", PROPOSE, ...)
    t.eq(done.code, 0, done.stdout .. done.stderr)
    local repo = assert(git.open(folder))
    return assert(session.read(repo, "whole")), repo
end

-- What holds for each of them: a correct baseline, every candidate a trial with the right end, the best in its place,
-- nothing of the user's touched.
local function check(folder, policy, state, repo)
    t.eq(#state.history, 4)
    t.eq({ state.history[1].status, state.history[3].status }, { "PASSED", "INCORRECT_NUMERICAL" })
    t.eq(state.history[2].reason, "no effect: same machine code and launches as the best")
    t.eq(state.history[4].status, "PASSED", state.history[4].reason)
    for i = 2, 4 do t.eq(state.history[i].hypothesis, "rewrite: " .. CANDIDATES[PLACE][i - 1]) end
    t.ok(state.finished, "it is finished")
    t.eq(fs.read(fs.join(folder, state.header.paths[1])), repo:read(state.best.commit, state.header.paths[1]))
    t.eq(sh(folder, "git symbolic-ref --short HEAD; cat mine.txt loose.txt; git stash list; git log --format=%s"),
        "main\nmine\nmore\nloose\nmine\n")
    t.eq(session.branch_name(state), BRANCHES[policy])
end

local function subjects(folder, branch) return sh(folder, "git log --reverse --format=%s main.." .. branch) end

local function note_files(folder, policy)
    local files = sh(folder, "git ls-files -o | sed 's|trajectory/[^/]*Z_|trajectory/TIME_|' | tr '\\n' ' '")
    console.out(("# %s on %s leaves: %s\n"):format(policy, PLACE, files))
end

t.test("ako4all: a run with a proposer leaves log, trajectory, scripts and a branch with every iteration", function()
    local folder = workspace "ako4all"
    local state, repo = run(folder, "ako4all")
    check(folder, "ako4all", state, repo)
    local log = assert(fs.read(folder .. "/ITERATIONS.md"))
    for _, file in ipairs(CANDIDATES[PLACE]) do t.match(log, file:gsub("%.", "%%.")) end
    local list = subjects(folder, "opt/rmsnorm")
    t.match(list, "^%[baseline%] Initialize solution and benchmark\n%[iter 1%] [^\n]+\n%[iter 2%] [^\n]+\n%[iter 3%]")
    t.match(list, "\n%[final%] Restore iter%-%d %(%d+%.%d%dx%)")
    t.match(table.concat(fs.list(folder .. "/trajectory"), " "), "_iter%-3")
    t.ok(fs.exists(folder .. "/scripts/bench.sh"))
    note_files(folder, "ako4all")
end)

t.test("autodev: a run with a proposer leaves plans, log, chart and a submission of five runs", function()
    local folder = workspace "autodev"
    assert(fs.mkdirs(folder .. "/plan"))
    local state, repo = run(folder, "autodev")
    check(folder, "autodev", state, repo)
    local log = assert(fs.read(folder .. "/notes/perf_log.md"))
    for version = 1, 4 do t.match(log, ("\n#+ v%d[^%%d]"):format(version)) end
    t.match(assert(fs.read(folder .. "/notes/submission_whole.md")), "5 runs")
    t.ok(fs.exists(folder .. "/results/all_eval_v1.txt"))
    note_files(folder, "autodev")
end)

t.test("ako4all_gated: the contract first, then a run that hands off and says what is missing", function()
    local folder = workspace "ako4all_gated"
    local refused = ako(folder, "ako4all_gated", "run", "--session=whole", PROPOSE, "--checkout=false")
    t.eq(refused.code, 13)
    t.match(refused.stdout, "trial 0 may not begin: the contract: context/kernel_notes.md lacks Kernel")
    t.eq(ako(folder, "ako4all_gated", "init", "--checkout=false").code, 0)
    sh(folder, "sed -i 's/<[^>]*>/none, because a test has filled this in/' context/kernel_notes.md")
    local state, repo = run(folder, "ako4all_gated", "--checkout=false")
    check(folder, "ako4all_gated", state, repo)
    t.match(subjects(folder, "gated/rmsnorm"), "^%[iter 0%] baseline[^\n]*\n%[iter 1%] [^\n]+\n%[iter 2%]")
    t.match(assert(fs.read(folder .. "/HANDOFF.md")), "B=7,D=1023")
    t.match(assert(fs.read(folder .. "/ITERATIONS.md")), "rewrite: " .. CANDIDATES[PLACE][3]:gsub("%.", "%%."))
    note_files(folder, "ako4all_gated")
end)
