-- A custom stop rule: policies/until_target.lua on literals, in a run, tried on a session's journal and on synthetic
-- noise.
local bundled = require "policies.until_target"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local rules = require "ako.rules"
local scripted = require "scripted"
local session = require "ako.session"
local simulate = require "ako.simulate"
local t = require "ako.tap"
local verbs = require "ako.verbs"

t.test("the rule on literals", function()
    local function stop(speedup, target)
        return bundled.stop({ best = { speedup = { original = speedup } } }, { target = target })
    end
    t.eq({ stop(2.0, 2.0), stop(2.345, 2.0) }, { "2.00x over the original", "2.35x over the original" })
    t.eq(stop(1.99, 2.0), nil)
    t.eq(stop(nil, 2.0), nil, "nothing has been timed")
    t.eq(bundled.stop({}, { target = 2.0 }), nil, "nothing has passed yet")
end)

t.test("it is under fifteen lines", function()
    local text = assert(fs.read(fs.join(t.home, "policies/until_target.lua")))
    t.ok(select(2, text:gsub("\n", "")) < 15)
end)

local SCRIPTS = { ["1_small.c"] = "time=90", ["2_half.c"] = "time=50", ["3_more.c"] = "time=40",
    ["4_most.c"] = "time=30" }

-- A run of all candidates as session "s".
local function ran(policy, opt)
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, SCRIPTS)
    local ctx = scripted.context(folder, { session = "s", policy = policy }, { candidates = folder .. "/candidates" })
    ctx.opt = opt or {}
    t.eq(verbs.run(ctx), 0)
    return folder, ctx.console
end

t.test("a run ends at the target, with the best restored", function()
    local folder, console = ran({ stop = bundled.stop }, { target = 2.0 })
    t.match(console.stdout, "2 candidates %(2 kept, 0 reverted, 0 inconclusive%); ended: 2.00x over the original\n")
    t.match(fs.read(folder .. "/solution/kernel.c"), "time=50")
end)

-- Replays

local function replay(folder, changes, opt, host)
    local ctx = scripted.context(folder, { session = "s", policy = changes, json = host and host.json })
    ctx.opt = opt or {}
    t.eq(verbs.simulate(ctx), 0)
    return ctx.console.stdout
end

t.test("a replay stops where the rule would have stopped, and judges nothing behind that", function()
    local folder = ran()
    local text = replay(folder, { stop = bundled.stop }, { target = 2.0 })
    t.match(text, "^session s: kept then %(policy plain%): 1 2 3 4; kept by plain: 1 2\n"
        .. "stops after trial 2 %(the session went on for 2 trials, %d+ s%): 2.00x over the original\n"
        .. "best: trial 2 %(2_half.c%): PASSED")
    local object = json.decode(replay(folder, { stop = bundled.stop }, { target = 2.0 }, { json = true }))
    t.eq({ object.stop.trial, object.stop.trials, object.stop.reason }, { 2, 2, "2.00x over the original" })
    t.eq({ #object.trials, object.trials[3].verdict, object.trials[4].verdict, object.trials[4].recorded.verdict },
        { 5, "keep", nil, "keep" })
    t.eq({ object.best.trial, #object.stalls }, { 2, 0 })
end)

t.test("at the last trial, and never", function()
    local folder = ran()
    t.match(replay(folder, { stop = bundled.stop }, { target = 3.3 }),
        "\nstops after trial 4 %(the last one%): 3.33x over the original\n")
    local text = replay(folder, { stop = bundled.stop }, { target = 9.0 })
    t.match(text, "\ndoes not stop: after trial 4, the last one, it would have gone on\nbest: trial 4")
    local object = json.decode(replay(folder, { stop = bundled.stop }, { target = 9.0 }, { json = true }))
    t.eq(object.stop, json.null)
end)

t.test("a replay agrees with the run that the rule ended", function()
    local policy = { stop = rules.plateau(2, 0.5) }
    local folder, console = ran(policy)
    local last, reason = console.stdout:match("(%d+) candidates? %b(); ended: ([^\n]+)")
    t.eq({ last, reason }, { "4", "2 trials without a gain of more than 50 %" })
    t.match(replay(folder, policy),
        "\nstops after trial 4 %(the last one%): 2 trials without a gain of more than 50 %%\n")
end)

t.test("a rule sees the run as it was then", function()
    local seen = {}
    local folder = ran()
    local repo = assert(git.open(folder))
    local opened = assert(session.read(repo, "s"))
    t.eq(opened.header.session, "s")
    replay(folder, { stop = function(run)
        seen[#seen + 1] = { run.trials, run.next_trial, #run.history, run.last.trial, run.best.trial,
            run.original.trial, run.session, run.task.name, run.task.solution[1], run.task.workloads[1],
            run.finished, math.type(run.elapsed_s), run.header.policy, run.device.id }
        run.best.speedup.original, run.history[1].verdict = 99, "revert" -- nobody else is to see that
    end })
    t.eq(#seen, 5)
    t.eq(seen[1], { 0, 1, 1, 0, 0, 0, "s", "scale", "solution/kernel.c", "N=64", false, "float", "plain", "cpu" })
    t.eq({ table.unpack(seen[3], 1, 6) }, { 2, 3, 3, 2, 2, 0 })
end)

t.test("notes are seen from the trial on at which they were written", function()
    local history, notes = {}, { { text = "early", time_s = 12 }, { text = "late", time_s = 35 } }
    for n = 0, 3 do
        history[n + 1] = { trial = n, status = "PASSED", verdict = "keep", reason = "", speedup = {}, interval = {},
            workloads = {}, time_s = 10 + n * 10, candidate = "c" }
    end
    local seen = {}
    local policy = { accept = function() return "keep", "" end, stop = function(run)
        seen[#seen + 1] = { #run.notes, run.elapsed_s }
    end }
    local ctx = { policy = scripted.policy(policy), opt = {}, hook = function(name, ...) return policy[name](...) end }
    require("ako.replay").trials(ctx, history, nil, { header = { time_s = 5 }, notes = notes })
    t.eq(seen, { { 1, 5.0 }, { 1, 15.0 }, { 2, 25.0 }, { 2, 35.0 } })
end)

t.test("what stalls is said, the first time and how often", function()
    local folder = ran()
    local policy = { stalled = function(run)
        if run.trials >= 2 then return ("trial %d is slow"):format(run.trials) end
    end }
    t.match(replay(folder, policy), "\nstalled after trial 2: trial 2 is slow %(and 2 times later%)\nbest: ")
    t.eq(#json.decode(replay(folder, policy, nil, { json = true })).stalls, 3)
end)

t.test("a screening is tried to its end", function()
    local asked = {}
    local history = {}
    for n = 0, 4 do
        history[n + 1] = { trial = n, status = "PASSED", verdict = "revert", reason = "", speedup = {}, interval = {},
            workloads = {}, screen = n > 0 and n < 4 and { left = "slower" } or nil }
    end
    local policy = { accept = function() return "revert", "" end,
        stop = function(run) asked[#asked + 1] = run.last.trial end }
    local ctx = { policy = scripted.policy(policy), opt = {}, hook = function(name, ...) return policy[name](...) end }
    require("ako.replay").trials(ctx, history)
    t.eq(asked, { 0, 3, 4 })
end)

t.test("a rule that answers with anything but words is the policy's mistake", function()
    local folder = ran()
    local ctx = scripted.context(folder, { session = "s", policy = { stop = function() return true end } })
    t.eq(verbs.simulate(ctx), 4)
    t.match(ctx.console.stderr, "^ako%-lua: hook 'stop' must give its reason in words, gave a boolean value\n$")
end)

-- What a policy of these hooks makes of records with these members, none of which has a figure.
local function retold(hooks, records)
    local history = {}
    for n, members in ipairs(records) do
        history[n] = { trial = n - 1, status = "PASSED", verdict = "keep", reason = "", speedup = {}, interval = {},
            workloads = {} }
        for name, value in pairs(members) do history[n][name] = value end
    end
    local ctx = { policy = scripted.policy(hooks), opt = {}, hook = function(name, ...) return hooks[name](...) end }
    return require("ako.replay").trials(ctx, history)
end

t.test("nothing is asked before anything is right, as no loop begins then", function()
    local asked = {}
    retold({ accept = function() return "keep", "" end,
        stop = function(run) asked[#asked + 1] = run.last.trial end }, { { status = "COMPILE_ERROR" }, {}, {} })
    t.eq(asked, { 1, 2 })
end)

t.test("a verdict by hand was about another one", function()
    local seen = {}
    retold({ accept = function() return "revert", "" end, stop = function(run)
        seen[#seen + 1] = { run.last.verdict, run.last.override }
    end }, { {}, { override = "keep", override_reason = "why" } })
    t.eq(seen, { { "keep" }, { "revert" } })
end)

t.test("what a rule does to its tables is its own affair", function()
    local replayed = retold({ accept = function(_, best) return "revert", tostring(best.mark) end, stop = function(run)
        run.best.mark, run.history[1].mark, run.original.mark = "touched", "touched", "touched"
    end }, { {}, {} })
    t.eq({ replayed.trials[2].reason, replayed.best.mark }, { "nil" })
end)

-- Synthetic runs

local function synthetic(policy, opt)
    policy = scripted.policy(policy)
    policy.timing.reference, policy.timing.statistic = false, "median"
    return { policy = policy, opt = opt or {}, console = scripted.console(), host = {},
        hook = function(name, ...) return policy[name](...) end }
end

local function runs(policy, opt, gains, most)
    local by_noise = {}
    for _, run in ipairs(simulate.runs(synthetic(policy, opt), gains, most, 1)) do by_noise[run.noise] = run end
    return by_noise
end

t.test("a made-up run goes on from what was kept, until the rule ends it", function()
    local policy = { stop = bundled.stop, accept = rules.faster_by(0.01) }
    local found = runs(policy, { target = 1.5 }, { 0, 0.1 }, 100)
    -- 0.9^4 of the time is 1.52x: the fourth gain of a tenth, the eighth candidate.
    t.eq({ found.quiet.stop.trial, found.quiet.best, found.quiet.trials }, { 8, 8, 8 })
    t.ok(found.quiet.speedup >= 1.5 and found.quiet.speedup < 1.6)
    t.match(found.quiet.stop.reason, "^1.5%dx over the original$")
    found = runs(policy, { target = 1.5 }, { 0, 0.1 }, 5)
    t.eq({ found.quiet.stop, found.quiet.trials }, { nil, 5 })
    found = runs(policy, { target = 1.5 }, { -0.1 }, 7)
    t.eq({ found.quiet.stop, found.quiet.best }, { nil, 0 })
end)

t.test("simulate says where the rule ends such runs, and only of policies that have one", function()
    local function said(policy, opt)
        local ctx = synthetic(policy, opt)
        ctx.verb_options = { trials = 20, gains = "0,50" }
        t.eq(verbs.simulate(ctx), 0)
        return ctx.console.stdout
    end
    local text = said({ stop = bundled.stop, stalled = rules.plateau(1, 0), accept = rules.faster_by(0.2) },
        { target = 3.5 })
    t.match(text, "\na run of candidates with these gains in turn, each over the best before it:\n"
        .. "stalls  quiet after trial 1 %(1 trials without[^;]*; drift after trial 1[^\n]*\n"
        .. "stops   quiet after trial 4 %(4.%d%dx over the original%); drift after trial 4 [^\n]*\n$")
    t.match(said({ stop = bundled.stop, accept = rules.faster_by(0.2) }, { target = 1e9 }),
        "\nstops   quiet not within 20 trials; ")
    t.eq(said({ accept = rules.faster_by(0.2) }):find("a run of candidates", 1, true), nil)
end)
