-- policies/kernelbench.lua: its verdicts on literals, its lines, its numbers in what the evaluator is asked.
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local kernelbench = require "policies.kernelbench"
local plan = require "ako.plan"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local function options(changes)
    local opt = {}
    for name, option in pairs(kernelbench.options) do opt[name] = option[1] end
    for name, value in pairs(changes or {}) do opt[name] = value end
    return opt
end

local function context(script, changes, host)
    local folder = scripted.task_folder(script)
    local ctx, requests = scripted.context(folder, host)
    ctx.policy, ctx.opt = kernelbench, options(changes)
    return ctx, requests, folder
end

local function state_of(folder)
    local repo = assert(git.open(folder))
    local state = session.newest { repo = repo, folder = fs.absolute(folder) }
    state.repo = repo
    return state
end

local function lines(text)
    local list = {}
    for line in text:gmatch("[^\n]+") do list[#list + 1] = line end
    return list
end

t.test("result lines in KernelBench's order and format", function()
    local ctx = context "time=50"
    t.eq(verbs.run(ctx), 0)
    local list = lines(ctx.console.stdout)
    t.eq({ table.unpack(list, 1, 6) }, { "COMPILED: True", "CORRECT: True", "BACKEND: c (auto)", "RUNTIME: 0.0500",
        "REF_RUNTIME: 0.2000", "SPEEDUP: 4.0000x" })
    t.ok(#list <= 10)
end)

t.test("a wrong kernel", function()
    local ctx = context "time=50 status=INCORRECT_NUMERICAL reason=off"
    t.eq(verbs.run(ctx), 11)
    t.eq({ table.unpack(lines(ctx.console.stdout), 1, 6) }, { "COMPILED: True", "CORRECT: False", "BACKEND: c (auto)",
        "RUNTIME: -1", "REF_RUNTIME: -1", "SPEEDUP: -1" })
end)

t.test("a kernel that does not compile", function()
    local ctx = context "time=50 status=COMPILE_ERROR reason=kernel.c:1"
    t.eq(verbs.run(ctx), 10)
    t.match(ctx.console.stdout, "^COMPILED: False\nCORRECT: False\n")
end)

t.test("no result at all has an ERROR line", function()
    local ctx = context("time=50", nil, { on_trial = function() return nil, "the GPU is gone", "CUDA" end })
    t.eq(verbs.run(ctx), 125)
    t.match(ctx.console.stdout, "COMPILED: False\nCORRECT: False\n.*SPEEDUP: %-1\nERROR: the GPU is gone\n")
end)

t.test("more than ten times the reference is flagged", function()
    local ctx, _, folder = context "time=10"
    t.eq(verbs.run(ctx), 3)
    t.match(ctx.console.stdout, "^%[WARNING%] Excessive speedup 20.00x over 10x threshold detected\nCOMPILED")
    t.match(ctx.console.stdout, "; not kept: 20.00x over the reference is more than 10x and not justified %(%-%-just")
    t.ok(#lines(ctx.console.stdout) <= 10)
    local state = state_of(folder)
    t.eq({ state.best.trial, state.best.verdict }, { 0, "inconclusive" })
    t.eq(#state.repo:refs("refs/heads/*"), 0)
    ctx = context "time=10"
    t.eq(verbs.try(ctx), 3)
    t.match(ctx.console.stdout, "inconclusive: 20.00x over .*next: find what the kernel or the task leaves out, or say "
        .. "why it is real in another session: %-%-session=NAME and %-%-justify=TEXT, or go on from it all the same\n$")
    ctx = context("time=10", { justify = "fused" })
    t.eq(verbs.run(ctx), 0)
end)

t.test("an unbelievable baseline is still where candidates start from and what comes back", function()
    local ctx, _, folder = context "time=10"
    scripted.candidates(folder, { ["1_wrong.c"] = "time=5 status=INCORRECT_NUMERICAL", ["2_slow.c"] = "time=100",
        ["3_fast.c"] = "time=5" })
    ctx.verb_options.candidates = folder .. "/candidates"
    t.eq(verbs.run(ctx), 3)
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=10")
    local verdicts = {}
    for i, record in ipairs(state_of(folder).history) do verdicts[i] = record.verdict end
    t.eq(verdicts, { "inconclusive", "revert", "revert", "revert" })
    ctx, _, folder = context("time=10", { excessive = 30.0 })
    scripted.candidates(folder, { ["1_fast.c"] = "time=9" })
    ctx.verb_options.candidates = folder .. "/candidates"
    t.eq(verbs.run(ctx), 0)
    t.eq(state_of(folder).best.trial, 1)
end)

t.test("with several workloads the lines say whose figures they are", function()
    local function workload(id, speedup)
        local figures = { n = 100, mean = 1e6, std = 1, min = 1e6, max = 1e6, median = 1e6 }
        return { id = id, status = "PASSED", weight = 1.0, time_ns = figures, reference_ns = figures,
            speedup = { reference = speedup } }
    end
    local function shown(overall, ...)
        local record = { status = "PASSED", lane = "cuda", machine_code = "x", speedup = { reference = overall },
            workloads = { ... } }
        return (kernelbench.render({ last = record }, options()))
    end
    local slow, fast = workload("N=7", 1.5), workload("N=4096", 3.0)
    t.eq(shown(2.0, slow, fast)[7], "WORKLOAD: N=7, of all workloads the one that gains least")
    t.eq(#shown(2.0, slow, fast), 7)
    t.eq(#shown(nil, { id = "N=7" }, { id = "N=8" }), 6)
    t.eq(shown(1.5, slow)[1], "COMPILED: True")
    t.eq(shown(12.0, fast, slow)[1], "[WARNING] Excessive speedup 12.00x over 10x threshold detected; "
        .. "below: N=7, of all workloads the one that gains least")
    t.eq(#shown(12.0, fast, slow), 7)
end)

t.test("the JSON twin has unrounded milliseconds", function()
    local ctx = context("time=50", nil, { json = true })
    t.eq(verbs.run(ctx), 0)
    local twin = json.decode(ctx.console.stdout).kernelbench
    t.eq(twin.compiled, true)
    t.eq(twin.runtime, 0.0500005)
    t.eq(twin.runtime_stats.num_trials, 100)
    t.eq(twin.speedup, 200000.5 / 50000.5)
    t.eq(twin.fast_p, { fast_0 = 1.0, fast_1 = 1.0, fast_2 = 1.0 })
end)

t.test("a folder of which nothing is known yet has no scores", function()
    t.eq({ kernelbench.render({ tasks = {} }, { fast_p = "0,1,2" }) }, { {} })
end)

t.test("fast_p over a folder of tasks", function()
    local top = t.tmpdir()
    for name, script in pairs { a = "time=50", b = "time=150", c = "time=50 status=INCORRECT_NUMERICAL reason=off" } do
        local from = scripted.task_folder(script)
        assert(fs.mkdirs(top .. "/" .. name .. "/solution"))
        for _, file in ipairs { "task.lua", "reference.c", "solution/kernel.c" } do
            assert(fs.write(top .. "/" .. name .. "/" .. file, fs.read(from .. "/" .. file)))
        end
    end
    local ctx = context("time=1", { fast_p = "1,2,1.0000001" })
    ctx.host.task, ctx.host.workspace = top, t.tmpdir()
    t.eq(verbs.run(ctx), 11)
    local list = lines(ctx.console.stdout)
    t.eq(list[1], "fast_1: 0.6667  fast_2: 0.3333  fast_1.0000001: 0.6667")
    t.eq(list[2], "geometric mean: of the correct ones 2.31x (2), of the faster ones 2.31x (2)")
    t.match(list[3], "^scale: PASSED, median 50.00 us")
    t.match(list[5], "^scale: INCORRECT_NUMERICAL")
    ctx.verb_options.candidates = "x"
    t.eq(verbs.run(ctx), 2)
end)

local function trial(verdict, reference)
    return { speedup = { best = 1.02, reference = reference or 2.0 },
        paired = { verdict = verdict, reason = "2 % faster" } }
end

t.test("verdicts", function()
    local function verdict(...) return (kernelbench.accept(...)) end
    for _, word in ipairs { "keep", "revert", "inconclusive" } do t.eq(verdict(trial(word), {}, options()), word) end
    t.eq(select(2, kernelbench.accept(trial "keep", {}, options())), "2 % faster")
    t.eq(verdict({ speedup = { reference = 2.0 } }, {}, options()), "inconclusive")
    t.eq(verdict(trial("keep", 11), {}, options()), "revert")
    t.eq(verdict(trial("keep", 11), {}, options { justify = "fused six kernels" }), "keep")
end)

t.test("a candidate's steps end soon after what the original took", function()
    local steps = plan.steps(kernelbench, nil)
    local limits = plan.for_candidate(steps, kernelbench.budget, { build = 20, check = 3000, time = 60000 }).limits
    t.eq(limits, { build = 10000000000, check = 30000000000, time = 180000000000 })
    t.eq(plan.for_candidate(steps, { build = 1 }, {}), steps)
end)

t.test("its numbers reach the evaluator", function()
    local steps = plan.steps(kernelbench, nil)
    t.eq(#steps.check.seeds, 5)
    t.eq(steps.check.seeds, plan.steps(kernelbench, 42).check.seeds)
    t.eq(steps.time.warmup, 3)
    t.eq(steps.time.launches, 100)
    t.eq(steps.time.flush, true)
    t.eq(steps.time.timer, "events")
    t.eq(steps.limits.build, 300000000000)
    t.eq(steps.time.seed, nil, "nobody can know the seeds of timed inputs")
    t.eq({ steps.time.proof_share, steps.time.proof_least }, { 0.12, 1 })
    t.eq({ steps.time.long, steps.time.long_launches }, { 500000000, 20 })
    local numbers = plan.pairs(kernelbench, { threshold = 0.01 })
    t.eq({ numbers.looks, numbers.threshold, numbers.budget }, { { 12, 24, 48, 96 }, 0.01, 10000000000 })
    local raised, from = plan.pairs(kernelbench, { threshold = 0.01 }, 0.02)
    t.eq({ ("%.4f"):format(raised.threshold), from }, { "0.0396", 0.01 }, "two gains of 2 %, one over the other")
    t.ok(plan.pairs(kernelbench, { threshold = 0.01 }, 0.9).threshold < 1, "however noisy")
    t.eq({ plan.pairs(kernelbench, { threshold = 0.01 }, 0.004) }, { numbers })
end)

t.test("BACKEND is what the text says, or what is given by hand; a list for fast_p is one of numbers", function()
    local ctx = context("time=50", { backend = "triton" })
    t.eq(verbs.run(ctx), 0)
    t.match(ctx.console.stdout, "\nBACKEND: triton %(explicit%)\n")
    t.eq({ (kernelbench.options.backend[3] ""), (kernelbench.options.backend[3] "cute") }, { true, true })
    for _, text in ipairs { "fortran", "cuda, triton", "c" } do
        t.eq({ kernelbench.options.backend[3](text) }, { false, "must be one of cuda, triton, tilelang, cute, hip" })
    end
    t.eq((kernelbench.options.fast_p[3] "0,1.5"), true)
    t.eq({ kernelbench.options.fast_p[3] "1,x" }, { false, "'x' is no threshold p: wanted are numbers such as 0,1,2" })
end)
