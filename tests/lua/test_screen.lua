-- Screening in the loop, on a scripted evaluator: who is dropped and why, who is decided on, and what is recorded.
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local plan = require "ako.plan"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local function state_of(folder)
    local repo = assert(git.open(folder))
    return session.newest { repo = repo, folder = fs.absolute(folder) }, repo
end

-- With pairs, since it is their error that finalists share; the verdict is theirs.
local function policy_with(screen, changes)
    local rules = require "ako.rules"
    local timing = scripted.policy().timing
    timing.pairs = { looks = { 12 }, alpha = 0.06, threshold = 0.01, seconds = 1, control = 0 }
    timing.screen = { rounds = { 2, 4 }, hopeless = 3, finalists = "sqrt", most_finalists = 3, least = 4, points = 16 }
    for name, value in pairs(screen or {}) do timing.screen[name] = value end
    local policy = { timing = timing, accept = rules.paired() }
    for name, value in pairs(changes or {}) do policy[name] = value end
    return policy
end

local function run(scripts, host)
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, scripts)
    host = host or {}
    host.policy = host.policy or policy_with()
    local ctx, requests = scripted.context(folder, host, { candidates = folder .. "/candidates" })
    return ctx, requests, folder
end

local NINE = { ["1_best.c"] = "time=40", ["2_good.c"] = "time=50", ["3_near.c"] = "time=90", ["4_slow.c"] = "time=180",
    ["5_same.c"] = "time=100", ["6_again.c"] = "time=40 x=1",
    ["7_wrong.c"] = "time=1 status=INCORRECT_NUMERICAL reason=off",
    ["8_hopeless.c"] = "time=900", ["9_twin.c"] = "time=180 x=1" }

t.test("the dropped are recorded with their reasons, the first of the others decided on", function()
    local ctx, requests, folder = run(NINE)
    t.eq(verbs.run(ctx), 0)
    local state, repo = state_of(folder)
    local told = {}
    for i, record in ipairs(state.history) do
        told[i] = { record.candidate, record.status, record.verdict, record.reason }
    end
    t.eq(told, {
        { "baseline", "PASSED", "keep", "baseline" },
        { "4_slow.c", "PASSED", "revert", "screened out: 1.80x slower than the best over 2 rounds" },
        { "5_same.c", "PASSED", "revert", "same machine code and launches as trial 0" },
        { "6_again.c", "PASSED", "revert", "same machine code and launches as 1_best.c" },
        { "7_wrong.c", "INCORRECT_NUMERICAL", "revert", "off" },
        { "8_hopeless.c", "PASSED", "revert", "screened out: far slower at its first launches" },
        { "9_twin.c", "PASSED", "revert", "same machine code and launches as trial 1" },
        { "1_best.c", "PASSED", "keep", "60.00 % faster" },
        { "2_good.c", "PASSED", "revert", "25.00 % slower" },
        { "3_near.c", "PASSED", "revert", "125.00 % slower" },
    })
    t.eq(requests[2].steps, "screen")
    t.eq({ requests[2].screen.keep, requests[2].screen.rounds }, { 3, { 2, 4 } })
    t.eq({ state.history[2].screen.rounds, state.history[2].screen.left }, { 2, "slower" })
    t.eq(state.history[2].speedup.best, nil)
    t.eq(state.history[8].screen, { rounds = 4, speedup = 2.5, place = 1, finalists = 3 })
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=40")
    t.eq(repo:read("refs/ako/" .. state.name .. "/4", "solution/kernel.c"), scripted.source(NINE["7_wrong.c"]))
    local files = repo:commondir() .. "/ako/" .. state.name .. "/trials/4"
    t.eq(fs.read(files .. "/sources/kernel.c"), scripted.source(NINE["7_wrong.c"]))
    t.eq(json.decode(fs.read(files .. "/result.json")).verdict, "revert")
    t.match(ctx.console.stderr, "screening   9 candidates, then decisions on 3 at most\n")
end)

t.test("a replay does not ask the policy about what was screened out", function()
    local ctx, _, folder = run(NINE)
    t.eq(verbs.run(ctx), 0)
    local again = scripted.context(folder, { session = state_of(folder).name, policy = policy_with() })
    t.eq(verbs.simulate(again), 0)
    t.ok(not again.console.stdout:find("4_slow", 1, true) and not again.console.stdout:find("8_hope", 1, true),
        again.console.stdout)
end)

t.test("finalists share the error; one that was kept takes no share of the others", function()
    local ctx, requests = run { ["1.c"] = "time=99.9", ["2.c"] = "time=50", ["3.c"] = "time=80", ["4.c"] = "time=99.95",
        ["5.c"] = "time=400", ["6.c"] = "time=401", ["7.c"] = "time=402" }
    t.eq(verbs.run(ctx), 0)
    local shares, headline = {}, nil
    for i, request in ipairs(requests) do
        if request.pairs and i < #requests then
            shares[#shares + 1] = request.script.time .. " " .. request.pairs.alpha
        end
        headline = request.pairs and request.pairs.alpha or headline
    end
    t.eq(shares, { "50 0.02", "80 0.03", "99.9 0.03" })
    t.eq(headline, 0.06)
end)

t.test("what is surely slower is not decided on; what was never timed does not count among the K", function()
    local function on_screen(scripts)
        local answer = { status = "PASSED", candidates = {} }
        for i, script in ipairs(scripts) do
            local speedup = 100 / tonumber(script.time)
            answer.candidates[i] = { status = "PASSED", code = "", reason = "", workloads = {},
                left = script.left or "", rounds = script.left and 0 or 4, speedup = speedup,
                same_as = script.left and -1 or json.null, interval = { speedup - 0.1, speedup + 0.1 } }
        end
        return answer
    end
    local ctx, _, folder = run({ ["1.c"] = "time=200", ["2.c"] = "time=50", ["3.c"] = "time=110", ["4.c"] = "time=60",
        ["5.c"] = "time=100 left=same", ["6.c"] = "time=100 left=same" },
        { on_screen = on_screen, policy = policy_with { finalists = "sqrt", most_finalists = 9 } })
    t.eq(verbs.run(ctx), 0)
    local told = {}
    for i, record in ipairs(state_of(folder).history) do told[i] = record.candidate end
    t.eq(told, { "baseline", "1.c", "3.c", "5.c", "6.c", "2.c", "4.c" })
    t.eq(state_of(folder).history[2].reason, "screened out: 2.00x slower than the best over 4 rounds")
    ctx, _, folder = run({ ["1.c"] = "time=200", ["2.c"] = "time=210", ["3.c"] = "time=220", ["4.c"] = "time=230" },
        { on_screen = on_screen })
    t.eq(verbs.run(ctx), 0)
    t.eq(#state_of(folder).history, 5)
    t.match(ctx.console.stdout, "best: trial 0")
end)

t.test("fewer than a screening is worth are tried one by one, also when others cannot run", function()
    local ctx, requests = run { ["1.c"] = "time=50", ["2.c"] = "time=60", ["3.c"] = "time=70" }
    t.eq(verbs.run(ctx), 0)
    for _, request in ipairs(requests) do t.ok(request.steps ~= "screen") end
    local admit = function(change) return not change.sources[1].text:find("goto"), "no goto" end
    local folder
    ctx, requests, folder = run({ ["1.c"] = "time=50", ["2.c"] = "time=60 goto=1", ["3.c"] = "time=70",
        ["4.c"] = "time=80" }, { policy = policy_with(nil, { admit = admit }) })
    t.eq(verbs.run(ctx), 0)
    for _, request in ipairs(requests) do t.ok(request.steps ~= "screen" and not request.script["goto"]) end
    t.eq({ state_of(folder).history[2].candidate, state_of(folder).history[2].status }, { "2.c", "REJECTED" })
end)

t.test("what is not admitted, or cannot be read, is recorded and not screened", function()
    local admit = function(change) return not change.sources[1].text:find("goto"), "no goto" end
    local ctx, requests, folder = run({ ["1.c"] = "time=50", ["2.c"] = "time=60 goto=1", ["3.c"] = "time=70",
        ["4.c"] = "time=80", ["5.c"] = "time=90", ["6.c"] = "time=1\n//! tune A = ,\n" },
        { policy = policy_with({ most_finalists = 1 }, { admit = admit }) })
    t.eq(verbs.run(ctx), 0)
    t.eq(#requests[2].scripts, 4)
    local history = state_of(folder).history
    t.eq({ history[2].candidate, history[2].reason }, { "2.c", "no goto" })
    t.eq({ history[3].candidate, history[3].status }, { "6.c", "COMPILE_ERROR" })
    t.eq(#history, 7)
end)

t.test("a screening that fails as a whole leaves all to be tried one by one", function()
    local failures = {
        function() return { status = "INFRA", reason = "no device", candidates = {} } end,
        function() return nil, "the evaluator died", "CHILD" end,
    }
    for i, on_screen in ipairs(failures) do
        local ctx, requests, folder = run({ ["1.c"] = "time=50", ["2.c"] = "time=60", ["3.c"] = "time=70",
            ["4.c"] = "time=40" }, { on_screen = on_screen })
        t.eq(verbs.run(ctx), 0)
        t.eq(requests.starts, i)
        t.match(ctx.console.stderr, "screening   failed: [^\n]+; the candidates are tried one by one\n")
        t.eq(state_of(folder).best.candidate, "4.c")
        t.eq(#state_of(folder).history, 5)
    end
end)

t.test("Ctrl-C in the screening and between finalists", function()
    local ctx, _, folder = run({ ["1.c"] = "time=50", ["2.c"] = "time=60", ["3.c"] = "time=70", ["4.c"] = "time=40" },
        { on_screen = function() return nil, "interrupted", "CANCELLED" end })
    t.eq(verbs.run(ctx), 130)
    t.eq(#state_of(folder).history, 1)
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=100")
    ctx, _, folder = run({ ["1.c"] = "time=50", ["2.c"] = "time=60", ["3.c"] = "time=70", ["4.c"] = "time=40 stop=1" },
        { on_trial = function(script) if script.stop then return nil, "interrupted", "CANCELLED" end end })
    t.eq(verbs.run(ctx), 130)
    t.eq(#state_of(folder).history, 4)
end)

t.test("an end in the middle leaves what was screened in the journal, and the best in the workspace", function()
    local ctx, _, folder = run({ ["1.c"] = "time=50", ["2.c"] = "time=60", ["3.c"] = "time=70", ["4.c"] = "time=40" },
        { on_trial = function(script) if script.time == "40" then error("killed", 0) end end })
    t.err("killed", verbs.run, ctx)
    local state = state_of(folder)
    local told = {}
    for i, record in ipairs(state.history) do told[i] = record.candidate .. " " .. record.reason:sub(1, 12) end
    t.eq(told, { "baseline baseline", "2.c screened out", "3.c screened out", "4.c interrupted" })
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=100")
end)

t.test("one that could not be measured is not held against its candidate", function()
    local ctx, _, folder = run({ ["1.c"] = "time=50 status=UNTRUSTED_TIMING reason=clocks", ["2.c"] = "time=60",
        ["3.c"] = "time=70", ["4.c"] = "time=40" })
    t.eq(verbs.run(ctx), 0)
    local record = state_of(folder).history[2]
    t.eq({ record.candidate, record.status, record.verdict, record.reason },
        { "1.c", "UNTRUSTED_TIMING", "inconclusive", "clocks" })
end)

t.test("stop is asked before a screening, not within it", function()
    local asked = 0
    local stop = function(given)
        asked = asked + 1
        if given.trials >= 1 then return "enough" end
    end
    local scripts = { ["1.c"] = "time=50", ["2.c"] = "time=60", ["3.c"] = "time=70", ["4.c"] = "time=40" }
    local ctx, _, folder = run(scripts, { policy = policy_with(nil, { stop = stop }) })
    t.eq(verbs.run(ctx), 0)
    t.eq({ asked, state_of(folder).best.candidate }, { 1, "4.c" })
    stop = function() return "not today" end
    ctx, _, folder = run(scripts, { policy = policy_with(nil, { stop = stop }) })
    t.eq(verbs.run(ctx), 0)
    t.eq(#state_of(folder).history, 1)
    t.match(ctx.console.stdout, "ended: not today")
end)

t.test("how many are decided on", function()
    local function keep(finalists, most, count)
        local screen = { rounds = { 4 }, finalists = finalists, most_finalists = most }
        return plan.screen({ timing = { screen = screen } }, count).keep
    end
    t.eq({ keep("sqrt", 5, 9), keep("sqrt", 5, 10), keep("sqrt", 5, 100), keep("sqrt", nil, 100), keep(7, nil, 4) },
        { 3, 4, 5, 10, 4 })
end)

t.test("the numbers are checked when a policy is loaded", function()
    local policy = require "ako.policy"
    local base = require "policies.kernelbench"
    local function refused(numbers, reason)
        local left, problem = pcall(policy.extend, base, { timing = { screen = numbers } })
        t.ok(not left)
        t.match(tostring(problem), reason)
    end
    refused({ rounds = { 8, 4 } }, "timing.screen.rounds' must be whole numbers of rounds")
    refused({ finalists = "most" }, 'timing.screen.finalists\' must be "sqrt" or a whole number')
    refused({ leest = 3 }, "unknown field 'timing.screen.leest' %(did you mean 'least'%?%)")
end)
