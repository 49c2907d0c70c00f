-- Decisions by pairs in the loop: what is timed against what, and what the machine's floor does to the threshold.
local fs = require "ako.fs"
local git = require "ako.git"
local kernelbench = require "policies.kernelbench"
local session = require "ako.session"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local scripted = require "scripted"

local PAIRS = { looks = { 12, 24 }, alpha = 0.05, threshold = "threshold", seconds = 1, hopeless = 3, clock_run = 0.03,
    control = 48, floor_factor = 2, headline = 96 }

local function context(script, pairs_changes)
    local folder = scripted.task_folder(script)
    local pairs_plan = {}
    for name, value in pairs(PAIRS) do pairs_plan[name] = value end
    for name, value in pairs(pairs_changes or {}) do pairs_plan[name] = value end
    local timing = {}
    for name, value in pairs(kernelbench.timing) do timing[name] = value end
    timing.pairs = pairs_plan
    local ctx, requests = scripted.context(folder, { policy = { timing = timing,
        accept = require("ako.rules").paired() } })
    ctx.opt = { threshold = 0.01 }
    return ctx, requests, folder
end

local function run(script, candidates, pairs_changes)
    local ctx, requests, folder = context(script, pairs_changes)
    scripted.candidates(folder, candidates)
    ctx.verb_options.candidates = folder .. "/candidates"
    ctx.host.session = "s"
    local code = verbs.run(ctx)
    return { code = code, requests = requests, folder = folder, ctx = ctx,
        state = assert(session.read(assert(git.open(folder)), "s")) }
end

local function timed(requests)
    local list = {}
    for _, request in ipairs(requests) do
        if request.incumbent then
            list[#list + 1] = ("%s/%s"):format(request.script.time, request.incumbent.time)
        end
    end
    return table.concat(list, " ")
end

t.test("the baseline against itself, candidates against the best, the best against the original", function()
    local r = run("time=100", { ["1.c"] = "time=80", ["2.c"] = "time=90", ["3.c"] = "time=60" })
    t.eq(r.code, 0)
    t.eq(timed(r.requests), "100/100 80/100 90/80 60/80 60/100")
    local verdicts = {}
    for i, record in ipairs(r.state.history) do verdicts[i] = record.verdict end
    t.eq(verdicts, { "keep", "keep", "revert", "keep" })
    t.eq(r.requests[#r.requests].pairs.looks, { 96 })
    t.eq({ r.requests[1].pairs.looks, r.requests[1].pairs.threshold }, { { 12, 24, 48 }, 0.005 })
    t.eq(r.requests[1].pairs.hopeless, 0)
    t.match(r.ctx.console.stdout, "in turn with the original, 96 pairs: 1.67x %(1.66x to 1.67x%)")
end)

t.test("speed-ups are those of the pairs", function()
    local r = run("time=100", { ["1.c"] = "time=80" })
    local record = r.state.history[2]
    t.eq(record.paired.gain, 1 - 80 / 100)
    local workload = record.workloads[1]
    t.eq(workload.interval.best, { 1 / (1 - (record.paired.gain - 0.001)), 1 / (1 - (record.paired.gain + 0.001)) })
    t.ok(math.abs(record.speedup.best - 1.25) < 1e-12)
    t.ok(math.abs(record.interval.best[1] - 1 / (1 - 0.199)) < 1e-12)
    t.eq(record.workloads[1].speedup.best, record.speedup.best)
    t.match(record.reason, "^20.00 %% faster$")
end)

t.test("the floor of the machine raises the threshold, and the record says so", function()
    local r = run("time=100", { ["1.c"] = "time=98.5" }, { floor_factor = 20 })
    local baseline, record = r.state.history[1], r.state.history[2]
    t.eq({ baseline.control.gain, baseline.control.pairs, baseline.paired }, { 0.0, 12 })
    t.ok(math.abs(baseline.control.floor - 0.001) < 1e-6)
    t.eq(record.verdict, "revert")
    t.ok(math.abs(record.paired.threshold - (1 - 0.999 ^ 20)) < 1e-5)
    t.eq(record.paired.raised_from, 0.01)
    t.match(record.reason, "threshold raised from 1 %% by the machine's floor")
    t.eq(run("time=100", { ["1.c"] = "time=98.5" }).state.history[2].verdict, "keep")
end)

t.test("another clock needs another control", function()
    local r = run("time=100 mhz=1980", { ["1.c"] = "time=80 mhz=1900", ["2.c"] = "time=70 mhz=1900" })
    t.eq(timed(r.requests), "100/100 80/100 80/80 70/80 70/100")
    t.eq(r.state.control.clock_mhz, 1900)
    r = run("time=100 mhz=1980", { ["1.c"] = "time=80 mhz=1970", ["2.c"] = "time=70 mhz=1960" })
    t.eq(timed(r.requests), "100/100 80/100 70/80 70/100")
end)

t.test("a policy may do without control and headline numbers", function()
    local r = run("time=100", { ["1.c"] = "time=80" }, { control = 0, headline = false })
    t.eq(timed(r.requests), "80/100 80/100")
    t.eq(r.requests[#r.requests].pairs.looks, { 24 })
    t.eq(r.state.history[1].control, nil)
end)

t.test("identical machine code is known before any launch", function()
    local r = run("time=100 hash=a", { ["1.c"] = "time=80 hash=a" })
    t.eq(timed(r.requests), "100/100")
    t.match(r.state.history[2].reason, "^no effect: same machine code")
end)

-- An evaluator that knows of zeros that pass.
local function weaken(ctx)
    local start = ctx.start_evaluator
    ctx.start_evaluator = function()
        local evaluator = start()
        local good = scripted.attacked { attacks = { { name = "zeros", tensor = "y", of = "", passed = true,
            reason = "" } } }
        function evaluator.attack() return good end
        return evaluator
    end
end

t.test("a weak task is refused before it is measured, or marks every record", function()
    local ctx, requests, folder = context("time=100")
    ctx.host.session = "s"
    weaken(ctx)
    t.eq(verbs.run(ctx), 125)
    local state = assert(session.read(assert(git.open(folder)), "s"))
    t.eq({ state.history[1].status, state.history[1].verdict, #requests }, { "INVALID_REFERENCE", "inconclusive", 0 })
    t.match(state.history[1].reason, "^a weak task: zeros everywhere pass as 'y'")
    ctx, requests, folder = context("time=100")
    scripted.candidates(folder, { ["1.c"] = "time=80" })
    ctx.verb_options.candidates, ctx.host.session = folder .. "/candidates", "s"
    ctx.policy.correctness = { trials = 2, seed = 1, predicate = "allclose_ref", tolerance = { f32 = 1e-4 },
        weak = "warn" }
    weaken(ctx)
    t.eq(verbs.run(ctx), 0)
    state = assert(session.read(assert(git.open(folder)), "s"))
    for _, record in ipairs(state.history) do t.match(record.weakness, "^zeros everywhere pass") end
    t.eq({ #state.history, #requests > 0 }, { 2, true })
end)

t.test("wrong numbers are refused with their field", function()
    local program = require "program"
    local function check(fields)
        local folder = t.tmpdir()
        assert(fs.write(folder .. "/mine.lua", 'local base = require "policies.kernelbench"\nreturn base:extend {\n'
            .. 'name = "m", description = "m", timing = { pairs = { ' .. fields .. " } } }\n"))
        return program.run(folder .. "/mine.lua", "check")
    end
    t.match(check("looks = { 24, 12 }").stderr, "field 'timing.pairs.looks' must be whole numbers of pairs, each more")
    t.match(check("looks = { 12, 24.5 }").stderr, "must be whole numbers")
    t.match(check("score = 'median'").stderr, "field 'timing.pairs.score' must be one of geomean, total, worst")
    t.match(check("threshold = true").stderr, "must be a number or the name of an option, got boolean")
    t.match(check("look = { 12 }").stderr, "unknown field 'timing.pairs.look' %(did you mean 'looks'%?%)")
end)
