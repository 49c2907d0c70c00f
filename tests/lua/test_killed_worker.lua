-- A kill -9 while a real worker builds, checks and times: the next start goes on, and no process stays.
local clock = require "ako.clock"
local console = require "ako.console"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local process = require "ako.process"
local program = require "program"
local session = require "ako.session"
local steps = require "steps"
local t = require "ako.tap"

local KILLS = 8
local PATIENCE_S = 20 -- for processes that are to end

local POLICY = [[
return require("policies.kernelbench"):extend { name = "light",
    correctness = { trials = 1 },
    timing = { warmup = 1, launches = 5, pairs = { looks = { 4 }, control = 4, headline = 4 } } }
]]

local TASK = [[
return { name = "scale",
    tensors = { x = { "f32", { "N" } }, y = { "f32", { "N" }, role = "output" } },
    workloads = { { N = 4096 } },
    reference = { "reference.c", entry = "scale", args = { "x", "y", "N" } },
    solution = { "solution/kernel.c" } }
]]

local LOOP = "void scale(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = %s; }\n"

local function workspace()
    local folder = fs.absolute(t.tmpdir())
    assert(fs.mkdirs(folder .. "/solution"))
    assert(fs.write(folder .. "/task.lua", TASK))
    assert(fs.write(folder .. "/reference.c", LOOP:format "2 * x[i]"))
    assert(fs.write(folder .. "/solution/kernel.c", LOOP:format "x[i] + x[i]"))
    assert(fs.write(folder .. "/light.lua", POLICY))
    steps.sh("git init -q .", folder)
    return folder
end

-- Runs a verb, killed after so many seconds (nil: never). A mark in the environment tells its processes from others.
local function run(folder, seconds, ...)
    local argv = { cwd = folder, env = { AKO_HOME = t.home, AKO_TEST_MARK = folder } }
    for _, word in ipairs(seconds and { "timeout", "-s", "KILL", ("%.3f"):format(seconds) } or {}) do
        argv[#argv + 1] = word
    end
    for _, word in ipairs { program.path, "--device=cpu", "light.lua", ... } do argv[#argv + 1] = word end
    return assert(process.run(argv))
end

local function marked(folder)
    for _, name in ipairs(fs.list "/proc") do
        local text = name:find "^%d+$" and fs.read(("/proc/%s/environ"):format(name))
        if text and ("\0" .. text):find("\0AKO_TEST_MARK=" .. folder .. "\0", 1, true) then return name end
    end
end

-- Waits until none is left.
local function check_processes(folder)
    local limit = clock.now_ns() + PATIENCE_S * program.second_ns
    while marked(folder) do
        t.ok(clock.now_ns() < limit, "a process has outlived the kill")
        clock.sleep_ns(20000000)
    end
end

-- All sessions of a folder: every trial once, in order, with its files. Returns how many were cut off.
local function check_sessions(folder)
    local repo <close> = assert(git.open(folder))
    local interrupted = 0
    for _, name in ipairs(session.names(repo)) do
        local state = session.read(repo, name)
        for i, record in ipairs(state and state.history or {}) do
            t.eq(record.trial, i - 1)
            t.eq(repo:resolve(("refs/ako/%s/%d"):format(name, i - 1)), record.commit)
            local kept = assert(json.decode(assert(fs.read(("%s/%s/result.json"):format(folder, record.files)))))
            t.eq(kept.status, record.status)
            if record.reason == "interrupted" then interrupted = interrupted + 1 end
        end
        if state then t.eq(state.open, nil) end
    end
    t.eq(steps.sh("find . -name '.ako-*'; find .git/refs -name '*.lock'", folder), "")
    return interrupted
end

t.test("a try that is killed at any time is gone on with", function()
    local folder = workspace()
    local first = run(folder, nil, "try")
    t.eq(first.code, 0, first.stderr)
    local edit = LOOP:format "x[i] * 2.0f + 0 * x[0]"
    assert(fs.write(folder .. "/solution/kernel.c", edit))
    for i = 1, KILLS do
        run(folder, first.wall_ns / 1e9 * i / (KILLS + 1), "try", "-m", "kill " .. i)
        local now = fs.read(folder .. "/solution/kernel.c")
        t.ok(now == edit or now == LOOP:format "x[i] + x[i]")
        t.eq(run(folder, nil, "status").code, 0)
        assert(fs.write(folder .. "/solution/kernel.c", edit))
    end
    check_processes(folder)
    t.ok(run(folder, nil, "try").code <= 3)
    console.out(("# %d kills, %d trials cut off\n"):format(KILLS, check_sessions(folder)))
end)

t.test("a run that is killed at any time leaves the best", function()
    local folder = workspace()
    local candidates = t.tmpdir()
    assert(fs.write(candidates .. "/1.c", LOOP:format "2.0f * x[i] + 0 * x[0]"))
    local first = run(folder, nil, "run", "--candidates=" .. candidates)
    t.ok(first.code <= 3, first.stderr)
    local original = LOOP:format "x[i] + x[i]"
    for i = 1, KILLS do
        assert(fs.write(folder .. "/solution/kernel.c", original))
        run(folder, first.wall_ns / 1e9 * i / (KILLS + 1), "run", "--candidates=" .. candidates)
        t.eq(run(folder, nil, "status").code, 0)
    end
    check_processes(folder)
    t.ok(run(folder, nil, "run").code <= 3)
    local now = fs.read(folder .. "/solution/kernel.c")
    t.ok(now == original or now == fs.read(candidates .. "/1.c"))
    console.out(("# %d kills, %d trials cut off\n"):format(KILLS, check_sessions(folder)))
end)
