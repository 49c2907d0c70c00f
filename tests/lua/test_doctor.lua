-- The doctor: its words on what the evaluator answers, its exit codes, the machine's findings on literal facts.
local attack = require "ako.attack"
local diagnosis = require "ako.diagnosis"
local evaluator = require "ako.evaluator"
local fs = require "ako.fs"
local json = require "ako.json"
local machine = require "ako.machine"
local plan = require "ako.plan"
local scripted = require "scripted"
local seeds = require "ako.seeds"
local t = require "ako.tap"
local task_files = require "ako.task"
local verbs = require "ako.verbs"

local PLAN = { steps = { check = { seeds = { 7, 8 } }, limits = { check = 5 } },
    tolerance = { predicate = "allclose_ref", atol = 1e-2, rtol = 1e-2, equal_nan = false, equal_inf = false } }
local TWO_WORKLOADS = { workloads = { { id = "N=64" }, { id = "N=7" } } }

-- A workload of an answer on a task from x to y on which nothing is weak; `changes` replace members.
local function workload(id, changes)
    local result = { id = id, holds = {}, again = { { tensor = "y", passed = true, max_abs = 0.0, mismatch = 0 } },
        outputs = { { tensor = "y", dtype = "f32", rms = 0.5, mean = 0.0, min = -1.0, max = 1.0, nan = 0, inf = 0 } },
        inputs = { { tensor = "x", init = "drawn", fresh = true, changes = true } },
        attacks = { { name = "zeros", tensor = "y", of = "", passed = false, max_abs = 1.0, mismatch = 64 } } }
    for name, value in pairs(changes or {}) do result[name] = value end
    return result
end

local function passed(name, of, max_abs)
    return { name = name, tensor = "y", of = of or "", passed = true, max_abs = max_abs or 0.1, mismatch = 0 }
end

-- An evaluator that gives one answer after the other and keeps what it was asked.
local function answering(...)
    local answers, asked = { ... }, {}
    local function give(_, request)
        asked[#asked + 1] = json.decode(json.encode(request))
        local answer = answers[math.min(#asked, #answers)]
        if type(answer) == "string" then return nil, answer, "CHILD" end
        return answer
    end
    return { attack = give }, asked
end

local function answer(...) return { status = "PASSED", reason = "", code = "", workloads = { ... } } end

local function names(list)
    local found = {}
    for i, entry in ipairs(list) do found[i] = entry.name end
    return found
end

t.test("nothing is weak in a good task", function()
    local given, asked = answering(answer(workload "N=64", workload "N=7"))
    local found = assert(attack.examine(given, TWO_WORKLOADS, PLAN))
    t.eq(found, { weak = {}, warnings = {} })
    t.eq(asked, { { seed = 7, other = 8, limit = 5 } })
    local once = { steps = { check = { seeds = { 7 } }, limits = PLAN.steps.limits } }
    given, asked = answering(answer(workload "N=64", workload "N=7"))
    assert(attack.examine(given, TWO_WORKLOADS, once))
    t.eq(asked[1].other, seeds.expand(7, 1)[1], "of one trial alone")
end)

t.test("what passes is named once, with its workloads and figures", function()
    local zeros, cast = passed "zeros", passed("cast", "bf16")
    local given = answering(answer(workload("N=64", { attacks = { zeros, cast } }),
        workload("N=7", { attacks = { zeros } })))
    local found = assert(attack.examine(given, TWO_WORKLOADS, PLAN))
    t.eq(names(found.weak), { "zeros", "cast" })
    t.eq(found.weak[1].reason,
        "zeros everywhere pass as 'y' in every workload; its values lie in [-1, 1], rms 0.5")
    t.eq(found.weak[2].what, "'y' rounded to bf16 passes in workload N=64")
    t.eq(found.weak[2].workloads, { "N=64" })
    t.eq(attack.summary(found.weak, 1), found.weak[1].reason .. "; and 1 more")
end)

t.test("a tolerance that would hold is the loosest that all workloads hold", function()
    local weak = workload("N=64", { attacks = { passed "zeros" } })
    local first, second = {}, {}
    for i = 1, 30 do first[i], second[i] = i >= 3, i >= 5 and i < 20 end
    local tried = answer(workload("N=64", { holds = first }), workload("N=7", { holds = second }))
    local given, asked = answering(answer(weak, workload "N=7"), tried)
    local found = assert(attack.examine(given, TWO_WORKLOADS, PLAN))
    local ladder = attack.ladder(PLAN.tolerance, 0.5)
    t.eq(asked[2].tolerances, ladder)
    t.eq({ found.tolerance.atol, found.tolerance.rtol }, { ladder[5].atol, ladder[5].rtol })
    t.eq(found.advice, "put into task.lua: tolerance = { \"allclose\", atol = 0.0002, rtol = 0.0005 }")
end)

t.test("the ladder goes down from the tolerance's own, in the outputs' scale, to exactness", function()
    local ladder = attack.ladder({ atol = 1e-2, rtol = 1e-2 }, 1e-3)
    t.eq(ladder[1], { atol = 1e-5, rtol = 1e-2 })
    t.eq(ladder[2], { atol = 5e-6, rtol = 5e-3 })
    t.eq(ladder[#ladder], { atol = 0.0, rtol = 0.0 })
    for i = 2, #ladder do t.ok(ladder[i].rtol < ladder[i - 1].rtol and ladder[i].atol <= ladder[i - 1].atol) end
    t.ok(#ladder <= 64, "as many as the protocol takes")
    t.eq(attack.ladder({ atol = 1e-9, rtol = 1e-4 }, 1.0)[1], { atol = 1e-9, rtol = 1e-4 })
    t.eq(attack.ladder({ atol = 1.0, rtol = 0.0 }, 2.0)[1].rtol, 0.1)
    t.eq(attack.ladder({ atol = 0.0, rtol = 0.0 }, 2.0), { { atol = 0.0, rtol = 0.0 } })
    t.eq(attack.ladder({ atol = 1.0, rtol = 1.0 }, nil), { { atol = 0.0, rtol = 0.0 } })
end)

t.test("of an output whose scale is beyond all numbers nothing is asked", function()
    local outputs = workload("N=64").outputs
    outputs[2] = { tensor = "z", dtype = "f64", rms = "inf", mean = "nan", min = -1e200, max = 1e200, nan = 0, inf = 0 }
    local weak = answer(workload("N=64", { attacks = { passed "zeros" }, outputs = outputs }))
    local given, asked = answering(weak)
    local found = assert(attack.examine(given, { workloads = { { id = "N=64" } }, python = "a problem" }, PLAN))
    t.eq(names(found.weak), { "zeros" })
    t.eq(#asked, 2)
end)

t.test("where no tolerance holds the task itself is to be changed", function()
    local copy = passed("copy", "x", 0.0)
    local weak = answer(workload("N=64", { attacks = { passed("cast", "f16"), copy } }), workload "N=7")
    local found = assert(attack.examine(answering(weak), TWO_WORKLOADS, PLAN))
    t.eq(found.tolerance, nil)
    t.match(found.weak[2].reason, "^a copy of input 'x' passes as 'y' in workload N=64")
    t.match(found.advice, "give 'x' an init for which it is not %(a ReLU needs values of both signs")
end)

t.test("an input that does not matter, a reference that differs from itself, NaN in the golden", function()
    local ignored = { { tensor = "x", init = "drawn", fresh = true, changes = false } }
    local noisy = { { tensor = "y", passed = false, max_abs = 0.25, mismatch = 3 } }
    local given = answering(answer(workload("N=64", { inputs = ignored }), workload("N=7", { again = noisy })))
    local found = assert(attack.examine(given, TWO_WORKLOADS, PLAN))
    t.eq(names(found.weak), { "input", "again" })
    t.match(found.weak[1].reason, "no output leaves the tolerance when input 'x' alone is drawn anew in workload N=64")
    t.match(found.weak[2].reason, "two runs of the reference .* differ by up to 0.25 in 'y'")
    local nan = { { tensor = "y", dtype = "f32", rms = 1.0, min = 0.0, max = 1.0, nan = 5, inf = 0 } }
    given = answering(answer(workload("N=64", { outputs = nan, again = noisy }), workload "N=7"))
    found = assert(attack.examine(given, TWO_WORKLOADS, PLAN))
    t.eq(names(found.weak), { "golden" })
    t.match(found.weak[1].reason, "gives 5 NaN and 0 infinite values in 'y', which the tolerance forbids")
end)

t.test("warnings: one shape, inputs that are always the same", function()
    local fixed = { { tensor = "x", init = "drawn", fresh = true, changes = true }, { tensor = "w", init = "fixed" } }
    local task = { workloads = { { id = "N=64" } } }
    local found = assert(attack.examine(answering(answer(workload("N=64", { inputs = fixed }))), task, PLAN))
    t.eq(names(found.warnings), { "one shape", "fixed input" })
    t.match(found.warnings[2].reason, "^'w' is the same in every call")
    fixed = { { tensor = "x", init = "file" } }
    found = assert(attack.examine(answering(answer(workload("N=64", { inputs = fixed }))), task, PLAN))
    t.eq(names(found.warnings), { "one shape", "no seed" })
end)

t.test("a reference that fails is weak, a machine that fails is an error", function()
    local given = answering { status = "INVALID_REFERENCE", reason = "it died", code = "reference", workloads = {} }
    local found = assert(attack.examine(given, TWO_WORKLOADS, PLAN))
    t.eq({ found.weak[1].name, found.weak[1].reason }, { "reference", "it died" })
    t.fails("no room", attack.examine(answering { status = "INFRA", reason = "no room", code = "NOMEM" }, TWO_WORKLOADS,
        PLAN))
    t.fails("gone", attack.examine(answering "gone", TWO_WORKLOADS, PLAN))
end)

-- The verb

local function context(script, answers, host)
    local folder = scripted.task_folder(script)
    local ctx, requests = scripted.context(folder, host)
    local begin = ctx.start_evaluator
    function ctx.start_evaluator(options)
        local started = begin(options)
        started.attack = answering(table.unpack(answers)).attack
        if host and host.paired then
            local trial = started.trial
            function started.trial(...)
                local result = trial(...)
                result.paired = host.paired
                return result
            end
        end
        return started
    end
    return ctx, requests, folder
end

local WEAK = answer(workload("N=64", { attacks = { passed "zeros", passed "mean", passed("cast", "f16") } }))
local HOLDS = answer(workload("N=64", { holds = { true } }))
local GOOD = answer(workload "N=64")

local function has_line(ctx, pattern) t.match("\n" .. ctx.console.stdout, "\n" .. pattern) end

t.test("a good task is fine; nothing is written", function()
    local ctx, requests, folder = context("time=100", { GOOD })
    t.eq(verbs.doctor(ctx), 0)
    has_line(ctx, "task scale on cpu, Scripted CPU: fine\n")
    has_line(ctx, "warning  one shape: with one workload")
    has_line(ctx, "unknown  against itself: not measured: the policy has no timing.pairs\n")
    has_line(ctx, "ok       task: every null result fails, every input matters; original: the original kernel passes")
    t.eq(requests[1].steps, "build check time")
    t.eq(#requests, 1)
    t.eq(fs.exists(folder .. "/.git"), false)
    local _, lines = ctx.console.stdout:gsub("\n", "")
    t.ok(lines <= 10, "at most ten lines")
end)

t.test("a weak task is refused, with a tolerance that the original kernel passes", function()
    local ctx, requests = context("time=100", { WEAK, HOLDS })
    t.eq(verbs.doctor(ctx), 13)
    has_line(ctx, "task scale on cpu, Scripted CPU: refused\n")
    has_line(ctx, "bad      task: zeros everywhere pass as 'y'; its values [^\n]*; one value [^\n]*rounded to "
        .. "f16 passes; put into task.lua: tolerance = { \"allclose\", atol = 5e%-05, rtol = 0.0001 }; the original "
        .. "kernel passes with it\n")
    t.eq({ requests[1].steps, requests[2].steps }, { "build check", "build check time" })
end)

t.test("the policy may warn instead, but not about a reference that fails", function()
    local correctness = { trials = 2, seed = 1, predicate = "allclose_ref", tolerance = { f32 = 1e-4 }, weak = "warn" }
    local ctx = context("time=100", { WEAK, HOLDS }, { policy = { correctness = correctness } })
    t.eq(verbs.doctor(ctx), 0)
    has_line(ctx, "warning  task: zeros everywhere pass")
    local failing = { status = "INVALID_REFERENCE", reason = "it died", code = "reference", workloads = {} }
    local requests
    ctx, requests = context("time=100", { failing }, { policy = { correctness = correctness } })
    t.eq(verbs.doctor(ctx), 13)
    has_line(ctx, "bad      task: it died; mend the reference\n")
    t.eq(#requests, 0)
end)

t.test("the original kernel must pass", function()
    for status, code in pairs { COMPILE_ERROR = 10, INCORRECT_NUMERICAL = 11, RUNTIME_ERROR = 12, TIMEOUT = 124 } do
        local ctx = context("time=100 reason=because status=" .. status, { GOOD })
        t.eq(verbs.doctor(ctx), code)
        has_line(ctx, "bad      original: " .. status .. ": because; mend it")
    end
end)

t.test("the unchanged kernel against itself must not be kept", function()
    local paired = { verdict = "keep", gain = 0.02, interval = { 0.015, 0.025 }, pairs = 12 }
    local ctx = context("time=100", { GOOD }, { paired = paired })
    t.eq(verbs.doctor(ctx), 125)
    has_line(ctx, "bad      against itself: the unchanged kernel was kept: keep after 12 pairs: gain 2.04 %%, interval "
        .. "%[1.52 %%, 2.56 %%%]; the machine is not quiet enough")
    paired = { verdict = "inconclusive", gain = json.null, interval = json.null, pairs = 0 }
    ctx = context("time=100", { GOOD }, { paired = paired })
    t.eq(verbs.doctor(ctx), 0)
    has_line(ctx, "ok [^\n]*against itself: inconclusive after 0 pairs; ")
    paired.verdict, paired.reason = "unstable", "clocks differ"
    ctx = context("time=100", { GOOD }, { paired = paired })
    t.eq(verbs.doctor(ctx), 0)
    has_line(ctx, "warning  against itself: unstable: clocks differ; find what")
    paired.verdict = "revert"
    ctx = context("time=100", { GOOD }, { paired = paired })
    t.eq(verbs.doctor(ctx), 0)
    has_line(ctx, "ok [^\n]*against itself: revert after 0 pairs")
end)

t.test("a machine that is not quiet raises the threshold, and the doctor says so", function()
    local paired = { verdict = "inconclusive", gain = 0.01, interval = { -0.02, 0.04 }, pairs = 48 }
    local timing = scripted.policy().timing
    timing.pairs = { looks = { 12, 24 }, alpha = 0.05, threshold = 0.01, seconds = 4, control = 48, floor_factor = 2 }
    local ctx = context("time=100", { GOOD }, { paired = paired, policy = { timing = timing } })
    t.eq(verbs.doctor(ctx), 0)
    has_line(ctx, "warning  floor: [^\n]* is up to 4.1 %%: a run will keep nothing below 8.4 %% instead of the "
        .. "policy's 1 %%; a quieter machine")
end)

t.test("the JSON twin", function()
    local ctx = context("time=100", { WEAK, HOLDS }, { json = true })
    t.eq(verbs.doctor(ctx), 13)
    local object = json.decode(ctx.console.stdout)
    t.eq({ object.v, object.task, object.device, object.verdict, object.exit }, { 1, "scale", "cpu", "refused", 13 })
    t.eq(names(object.weak), { "zeros", "mean", "cast" })
    t.eq(object.tolerance.predicate, "allclose_ref")
    t.eq(object.checks[1].state, "bad")
    ctx = context("time=100", { GOOD }, { json = true })
    t.eq(verbs.doctor(ctx), 0)
    object = json.decode(ctx.console.stdout)
    t.eq({ object.verdict, object.tolerance == json.null, #object.weak }, { "fine", true, 0 })
end)

t.test("an evaluator that cannot say", function()
    local ctx = context("time=100", { "the worker is gone" })
    t.eq(verbs.doctor(ctx), 125)
    has_line(ctx, "bad      task: could not be attacked: the worker is gone\n")
end)

t.test("where nothing can be started the machine alone is looked at", function()
    local ctx, _, folder = context("time=100", { GOOD })
    function ctx.start_evaluator() return nil, "no device cuda:7", "UNAVAILABLE" end
    ctx.host.device = "cuda:7"
    t.eq(verbs.doctor(ctx), 5)
    has_line(ctx, "bad      start: no device cuda:7\n")
    has_line(ctx, "ok [^\n]*disk: ")
    local text = fs.read(folder .. "/task.lua")
    assert(fs.write(folder .. "/task.lua", "return nonsense"))
    ctx = context("time=100", { GOOD }, { device = "cpu" })
    assert(fs.write(ctx.host.workspace .. "/task.lua", "return nonsense"))
    t.eq(verbs.doctor(ctx), 2)
    has_line(ctx, "bad      start: [^\n]*task.lua")
    ctx = context("time=100", { GOOD }, { device = "auto" })
    local gpu_only = text:gsub('"reference.c"', 'gpu = { "reference.c"'):gsub('"N" } },\n  sol', '"N" } } },\n  sol')
    assert(fs.write(ctx.host.workspace .. "/task.lua", gpu_only))
    t.eq(verbs.doctor(ctx), 5)
    has_line(ctx, "bad      start: [^\n]*reference has no form for the CPU")
end)

-- The machine

local GIB = 1024 * 1024 * 1024

local function facts(changes)
    local result = { device = { id = "cpu", place = "cpu", threads = 8, memory_bytes = 64 * GIB }, libraries = {},
        cc = { version = "gcc 12" }, memory_mib = 32768, load = 0.1, governor = "performance", cache_mib = 2048,
        rooms = { { what = "the cache", path = "/c", writable = true, available = 90 * GIB },
            { what = "the workspace", path = "/w", writable = true, available = 90 * GIB } },
        locks = { path = "/tmp/locks", writable = true } }
    for name, value in pairs(changes or {}) do result[name] = value end
    return result
end

local function gpu_facts(changes)
    local libraries = {}
    for _, name in ipairs { "NVIDIA driver", "CUDA Runtime", "NVRTC", "CUPTI", "NVML" } do
        libraries[name] = { name = name, version = "13.0", path = "/x" }
    end
    local result = facts { libraries = libraries, nvcc = { version = "release 13.0" }, admin_only = false,
        device = { id = "cuda:0", place = "gpu", memory_bytes = 80 * GIB },
        state = { throttle = "gpu_idle", sm_clock_mhz = 345, sm_clock_max_mhz = 1980, persistence = 1, mig = 0,
            memory_used_bytes = GIB, n_processes = 0, processes = {} } }
    for name, value in pairs(changes or {}) do result[name] = value end
    return result
end

-- The one finding of that name; and every other one must be fine.
local function finding(given, name)
    local found
    for _, entry in ipairs(machine.judge(given)) do
        if entry.name == name and (not found or entry.state ~= "ok") then
            found = entry
        elseif entry.state ~= "ok" and entry.name ~= "GPU" then
            t.eq(entry, nil, "nothing else is wrong")
        end
    end
    t.ok(found, "there is a finding on " .. name)
    return found
end

t.test("a machine in order", function()
    t.eq(finding(facts(), "disk").text, "90 GiB for the cache and the workspace")
    t.eq(finding(gpu_facts(), "clocks").text, "345 of 1980 MHz now")
    t.eq(finding(gpu_facts(), "tenants").state, "ok")
    t.eq(finding(gpu_facts(), "counters").state, "ok")
end)

t.test("what a CPU lacks, and what disturbs it", function()
    t.eq(finding(facts { cc = { why = "no cc" } }, "C compiler").state, "bad")
    t.eq(finding(facts { no_gpu = "no driver" }, "GPU").state, "unknown")
    t.match(finding(facts { governor = "powersave" }, "clocks").advice, "cpupower")
    t.eq(finding(facts { load = 6.0 }, "other load").state, "warning")
    t.eq(finding(facts { needs_bytes = 40 * GIB }, "memory").state, "bad")
    t.eq(finding(facts { needs_bytes = 4 * GIB }, "memory").state, "ok")
    t.eq(finding(facts { locks = { path = "/l", writable = false } }, "locks").state, "warning")
    local room = { what = "temporary files", path = "/t", writable = false, available = GIB }
    t.match(finding(facts { rooms = { room } }, "disk").advice, "TMPDIR")
    room = { what = "the cache", path = "/c", writable = true, available = GIB }
    t.match(finding(facts { rooms = { room } }, "disk").text, "/c has 1024 MiB left")
end)

t.test("what a GPU lacks, and what disturbs it", function()
    local function state(changes)
        local given = gpu_facts()
        for name, value in pairs(changes) do given.state[name] = value end
        return given
    end
    local function without(name)
        local given = gpu_facts()
        given.libraries[name] = { name = name, version = "", why = "none here" }
        return given
    end
    t.eq(finding(without "NVRTC", "NVRTC").state, "bad")
    t.match(finding(without "CUPTI", "CUPTI").advice, "timed by events")
    t.eq(finding(gpu_facts { nvcc = { why = "none" } }, "nvcc").state, "unknown")
    t.eq(finding(gpu_facts { cc = { why = "none" } }, "C compiler").state, "warning")
    t.match(finding(gpu_facts { admin_only = true, sys_admin = false }, "counters").advice, "CAP_SYS_ADMIN")
    t.eq(finding(gpu_facts { admin_only = true, sys_admin = true }, "counters").state, "ok")
    t.match(finding(state { throttle = "gpu_idle hw_slowdown" }, "clocks").text, "throttled: hw_slowdown")
    t.match(finding(state { persistence = 0 }, "persistence").advice, "nvidia%-smi %-pm 1")
    t.match(finding(state { n_processes = 2, processes = { 11, 12 } }, "tenants").text, "2 other processes .*: 11, 12")
    t.match(finding(state { memory_used_bytes = 79 * GIB }, "memory").text, "1024 MiB free")
    local unseen = gpu_facts()
    unseen.state.n_processes = nil
    t.match(finding(unseen, "tenants").text, "cannot be seen from inside this container")
    unseen = gpu_facts { admin_only = false }
    unseen.admin_only = nil
    t.eq(finding(unseen, "counters").state, "unknown")
end)

t.test("this machine is looked at without a word too many", function()
    local given = machine.look { device = { id = "cpu", place = "cpu", threads = 2 }, folder = t.tmpdir() }
    t.ok(given.memory_mib > 0 and given.load and #given.rooms == 3)
    for _, entry in ipairs(machine.judge(given)) do
        t.ok(#entry.text > 0 and (entry.state ~= "bad" or entry.advice), entry.name .. " says what to do")
    end
end)

-- The bundled examples

local function examples()
    local found = {}
    local folder = fs.join(t.home, "examples")
    for _, name in ipairs(assert(fs.list(folder))) do
        if fs.exists(fs.join(folder, name .. "/task.lua")) then found[#found + 1] = fs.join(folder, name) end
    end
    return found
end

t.test("no bundled example is weak", function()
    local policy, seen = scripted.policy(), 0
    for _, folder in ipairs(examples()) do
        local task = task_files.resolve(assert(task_files.load(folder)), "cpu")
        if task then -- some are for the GPU alone
            local given <close> = assert(evaluator.start { device = "cpu" })
            local resolved = assert(plan.resolve(policy, task))
            assert(given:task(task, resolved.tolerance, resolved.reference))
            t.eq(assert(attack.examine(given, task, resolved)).weak, {}, folder)
            seen = seen + 1
        end
    end
    t.eq(seen, 5)
end)

t.test("the account has room for ten lines at most", function()
    local checks = {}
    for i = 1, 20 do checks[i] = { name = "n" .. i, state = i > 15 and "bad" or "warning", text = "text" } end
    checks[21] = { name = "good", state = "ok", text = "text" }
    local lines = diagnosis.lines { task = "t", device = { id = "cpu", name = "CPU" }, checks = checks, code = 5,
        lacking = true }
    t.eq(#lines, 10)
    t.eq(lines[1], "task t on cpu, CPU: the machine lacks something")
    t.eq({ lines[2], lines[9], lines[10] }, { "bad      n16: text", "and 13 more: --json has them all",
        "ok       good: text" })
end)
