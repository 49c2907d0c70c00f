-- The brief: what it says of a run, and that it fits whatever the run holds.
local brief = require "ako.brief"
local fs = require "ako.fs"
local json = require "ako.json"
local rules = require "ako.rules"
local scripted = require "scripted"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local function record(n, verdict, what, changes)
    local made = { trial = n, verdict = verdict, status = "PASSED", hypothesis = what, reason = verdict .. " it",
        speedup = { best = 1.02, original = 1.5, reference = 3.0 }, interval = {}, workloads = {},
        time_ns = { median = 3928200 } }
    for name, value in pairs(changes or {}) do made[name] = value end
    return made
end

local function run_of(history, changes)
    local run = { trials = math.max(0, #history - 1), next_trial = #history, history = history, notes = {},
        original = history[1], best = history[1], last = history[#history], elapsed_s = 5.0, session = "s1",
        workspace = "/w", device = { name = "NVIDIA H200" }, header = {}, finished = false,
        task = { name = "rmsnorm", file = "/w/task.lua", solution = { "solution/k.cu" }, reference = { "r.c" },
            workloads = { "a", "b" } } }
    for _, one in ipairs(history) do
        if one.verdict == "keep" then run.best = one end
    end
    for name, value in pairs(changes or {}) do run[name] = value end
    return run
end

local function parts_of(policy, opt)
    local made = scripted.policy(policy)
    return { policy = made, opt = opt or {}, command = "ako-lua mine.lua",
        hook = function(name, ...) return made[name](...) end }
end

local function text_of(run, parts)
    local text = brief.text(run, parts or parts_of())
    t.ok(#text <= 2048, ("%d bytes"):format(#text))
    t.ok(utf8.len(text), "UTF-8")
    t.match(text, "\n$")
    return text
end

t.test("goal, rules, baseline, best, trials, failures, ideas and the next step are all there", function()
    local run = run_of({ record(0, "keep"), record(1, "keep", "vector loads", { predict = 5.0 }),
        record(2, "revert", "half precision", { status = "INCORRECT_NUMERICAL", reason = "y differs", speedup = {} }),
        record(3, "revert", "unroll", { next = "the best is back; try another idea" }) })
    run.notes = { { trial = 1, text = "shared memory next", topic = "idea" },
        { trial = 1, text = "unroll", topic = "next" }, { trial = 2, text = "fp16 sums overflow" } }
    local text = text_of(run, parts_of { stop = rules.budget { trials = 20 } })
    t.match(text, "^goal: make solution/k.cu of task rmsnorm faster over its 2 workloads, results unchanged; on NVIDIA")
    t.match(text, "H200. Edit nothing else of it %(r.c, task, policy%)\n")
    t.match(text, "\nsession s1 in /w, policy plain: for tests\n")
    t.match(text, "\nkept: what is more than 1 %% faster than the best; what is faster than the best by more than both")
    t.match(text, "\nstops: after 20 trials\n")
    t.match(text, "\nbaseline: trial 0, median 3.928 ms, 3.00x over the reference\n")
    t.match(text, '\nbest: trial 1 "vector loads", median 3.928 ms, 1.50x over the original, 3.00x over the ref')
    t.match(text, "\ntrials: 3 %(1 kept, 2 reverted, 0 inconclusive%), newest first:\n%- 3 revert, \"unroll\": rev")
    t.match(text, '\n%- 2 revert INCORRECT_NUMERICAL, "half precision": y differs\n')
    t.match(text, '\n%- 1 keep, "vector loads" %(predicted %+5.0 %%, measured %+2.0 %%%): keep it\n')
    t.match(text, "\nopen ideas:\n%- shared memory next %(trial 1%)\nnotes:\n%- fp16 sums overflow %(trial 2%)\n")
    t.ok(not text:find("- unroll"), "an idea that was tried is open no more")
    t.match(text, '\nnext: change one thing in solution/k.cu, then `ako%-lua mine.lua try %-m "why it is faster"`; '
        .. "because an open idea: shared memory next\n$")
end)

t.test("what is next follows from where the session stands", function()
    local baseline, kept = record(0, "keep"), record(1, "keep", "a")
    local function next_of(run, policy)
        local object = brief.object(run, parts_of(policy))
        return object.next.step .. " <" .. object.next.reason .. ">"
    end
    t.match(next_of(run_of {}), "^`ako%-lua mine.lua try` measures the files as they are <everything is compared")
    t.match(next_of(run_of({ baseline }, { finished = { ended = "x" } })), "starts another session <this one is fin")
    local cut_off = run_of({ baseline }, { open = { trial = 1 } })
    t.match(next_of(cut_off), "^`ako%-lua mine.lua try` <trial 1 was cut off: this closes it and goes on>")
    local held = parts_of()
    held.holder = "process 7"
    t.eq(brief.object(cut_off, held).next, { step = "wait until it ends",
        reason = "trial 1 is being measured by process 7" })
    t.match(next_of(run_of({ baseline }, { header = { verb = "run" } })),
        "^`ako%-lua mine.lua resume` <the run was interrupted")
    local failing = run_of { record(0, "revert", nil, { status = "COMPILE_ERROR", reason = "k.cu:3: no" }) }
    failing.best = nil
    t.match(next_of(failing, { stop = function(run) return run.best.nothing end }),
        "^mend the first trial: .*<COMPILE_ERROR: k.cu:3: no>")
    local function gate(_, proposal) return "write note " .. proposal.trial end
    t.match(next_of(run_of { baseline, kept }, { gate = gate }),
        "^do what the policy asks for before the next trial <write note 2>")
    t.match(next_of(run_of { baseline, kept }, { stop = function() return "enough" end }),
        "^`ako%-lua mine.lua finish %-m \"why\"` <the policy stops here: enough>")
    t.match(next_of(run_of { baseline, kept }, { stalled = function() return "3 without" end }),
        "^think anew .*%-%-topic=idea.*<no progress: 3 without>")
    local by_hand = record(2, "keep", "b", { override = "revert", override_reason = "flattered" })
    t.match(next_of(run_of { baseline, kept, by_hand }), "<trial 2 was overridden by hand %(revert%): flattered>")
    local broken = record(1, "revert", "b", { status = "COMPILE_ERROR", next = "mend it" })
    t.match(next_of(run_of { baseline, broken }), "<trial 1: mend it>")
    t.match(next_of(run_of { baseline, kept }), "<trial 1: keep it>")
end)

t.test("a policy's own rules are told in its own words, or by their name", function()
    local own = function() end
    t.match(text_of(run_of {}, parts_of { stop = own }), "\nstops: the policy's own rule 'stop' decides\n")
    rules.described(own, function(opt) return ("at %gx"):format(opt.target) end)
    t.match(text_of(run_of {}, parts_of({ stop = own }, { target = 3 })), "\nstops: at 3x\n")
    t.match(text_of(run_of {}), "\nstops: nothing but the end of the candidates\n")
    local off = rules.budget { trials = "most" }
    local nothing = "\nstops: nothing but the end of the candidates\n"
    t.match(text_of(run_of {}, parts_of({ stop = off }, { most = 0 })), nothing)
    t.match(text_of(run_of {}, parts_of({ stop = rules.any(off, off) }, { most = 0 })), nothing)
    t.match(text_of(run_of {}, parts_of({ stop = rules.any(off, function() end) }, { most = 0 })), "own rule 'stop'")
    local kernelbench = require "policies.kernelbench"
    t.eq(rules.words(kernelbench.accept, { excessive = 10.0, threshold = 0.01 }, kernelbench),
        "more than 10x over the reference needs --justify=TEXT; what is at least 1 % faster than the best, timed in "
        .. "turn with it, and surely so")
end)

t.test("what a noisy machine makes of the threshold is told beside it", function()
    local kernelbench = require "policies.kernelbench"
    local parts = { policy = kernelbench, opt = { threshold = 0.01, excessive = 10.0 }, command = "ako-lua k.lua",
        hook = function() end }
    local noisy = record(0, "keep", nil, { control = { floor = 0.1 } })
    t.match(text_of(run_of { noisy }, parts), "and surely so: for this machine's noise, at least 2%d%.?%d* %%; else")
    t.ok(brief.object(run_of { noisy }, parts).policy.raised_threshold > 0.1)
    local quiet = record(0, "keep", nil, { control = { floor = 0.0 } })
    t.match(text_of(run_of { quiet }, parts), "and surely so; else the best's files come back\n")
end)

t.test("names of any length and hundreds of trials fit; the newest trial and the next step stay", function()
    local long = ("wörter und "):rep(400)
    local history, notes = { record(0, "keep", long) }, {}
    for n = 1, 500 do
        local status = n % 3 == 0 and "COMPILE_ERROR" or "PASSED"
        local verdict = n % 7 == 0 and "keep" or "revert"
        history[n + 1] = record(n, verdict, n .. long, { status = status, reason = long, predict = 12.5, next = long })
        notes[n] = { trial = n, text = n .. long, topic = n % 2 == 0 and "idea" or long, file = long }
    end
    local run = run_of(history, { notes = notes, session = long, workspace = long, device = { name = long } })
    run.task = { name = long, file = long, solution = { long, long }, reference = { long }, workloads = {} }
    local parts = parts_of { description = long, name = long, stop = function() end, gate = function() return long end }
    parts.command = long
    local text = text_of(run, parts)
    t.match(text, "\n%- 500 revert, \"500w")
    t.match(text, "\nnext: do what the policy asks for before the next trial; because ")
    t.match(text, "\na trial is refused now: w")
    local object = json.decode(json.encode(brief.object(run, parts)))
    t.eq({ object.v, object.trials, #object.last, object.last[1].trial }, { 1, 500, 10, 500 })
    t.ok(#object.last[1].reason <= 400)
end)

t.test("control characters and bytes that are no UTF-8 are no more than text", function()
    local run = run_of { record(0, "keep"), record(1, "revert", "a\n\27[2Jb\xFF", { reason = "x\ny" }) }
    t.match(text_of(run), '\n%- 1 revert, "a \\x1B%[2Jb\\xFF": x y\n')
end)

local function brief_in(folder, host)
    local ctx = scripted.context(folder, host)
    local code = verbs.brief(ctx)
    return code, ctx.console.stdout, ctx.console.stderr
end

t.test("the verb: before any session, in one, and of one that is named", function()
    local folder = scripted.task_folder "time=100"
    local code, text = brief_in(folder)
    t.eq(code, 0)
    t.match(text, "^goal: make solution/kernel.c of task scale faster, ")
    t.match(text, "\nnext: `ako%-lua %-%-workspace=/[^ ]+ plain try` measures the ")
    t.ok(not fs.exists(folder .. "/.git"), "it makes nothing")
    t.eq(verbs.try((scripted.context(folder))), 0)
    code, text = brief_in(folder)
    t.eq(code, 0)
    t.match(text, "on Scripted CPU. Edit nothing else of it %(reference.c, task, policy%)\n")
    t.match(text, "\nbest: the baseline, still\ntrials: 0 ")
    local _, line = brief_in(folder, { json = true })
    local object = json.decode(line)
    t.eq({ object.goal.task, object.best.trial, object.next.step ~= nil }, { "scale", 0, true })
    local problem
    code, text, problem = brief_in(folder, { session = "nope" })
    t.eq({ code, text }, { 2, "" })
    t.match(problem, "^ako%-lua: there is no session 'nope' here; there are: scale%-%d+T%d+Z\n$")
    assert(fs.write(folder .. "/task.lua", "nonsense"))
    t.match(select(2, brief_in(folder)), "^goal: make solution/kernel.c of task scale faster")
end)

t.test("before a session the task that is named is told of; where none is, how to name it", function()
    local folder = scripted.task_folder "time=100"
    assert(fs.write(folder .. "/36_Norm.py", "class Model: pass\n"))
    local host = { task = folder .. "/36_Norm.py", solution = "mine.py", json = true }
    local ctx = scripted.context(folder, host)
    t.eq(verbs.brief(ctx), 0)
    local goal = json.decode(ctx.console.stdout).goal
    t.eq({ goal.task, goal.solution, goal.reference, goal.workloads }, { "36_Norm", { "mine.py" }, { "36_Norm.py" } })
    assert(fs.mkdirs(folder .. "/empty"))
    local empty = scripted.context(folder .. "/empty")
    t.eq(verbs.brief(empty), 0)
    t.match(empty.console.stdout, "^goal: make the solution of task unknown faster, ")
    t.match(empty.console.stdout, "\nnext: `ako%-lua %-%-task=FILE [^\n]+ try`; because no task is named")
end)

t.test("the next step is as it must be typed here", function()
    local pick = require "ako.pick"
    local function command(host) return pick.command { file = "mine.lua", host = host } end
    t.eq(command { device = "auto" }, "ako-lua mine.lua")
    t.eq(command { device = "cpu", workspace = "a b", session = "s" },
        "ako-lua --workspace='a b' --device=cpu --session=s mine.lua")
    local parts = parts_of()
    parts.command = "ako-lua --session=s mine.lua"
    t.match(brief.object(run_of({ record(0, "keep") }, { finished = { ended = "x" } }), parts).next.step,
        "^`ako%-lua mine.lua try %-%-session=NAME`")
end)

t.test("ideas are open until a later trial takes them; the history is read no further than it must be", function()
    local history, read = {}, 0
    for n = 0, 3000 do history[n + 1] = record(n, "revert", n == 2000 and "vector loads" or "other") end
    local counted = setmetatable({}, { __len = function() return #history end, __index = function(_, i)
        read = read + 1
        return history[i]
    end })
    local run = run_of(history, { notes = { { trial = 2500, text = "vector loads", topic = "idea" } } })
    run.history, run.counts = counted, { keep = 1, revert = 2999, inconclusive = 0 }
    local object = brief.object(run, parts_of())
    t.eq({ #object.ideas, object.ideas[1].text }, { 1, "vector loads" }, "it was tried before the note, not behind it")
    t.ok(read < 1500, read)
    run.notes[1].trial = 1500
    t.eq(#brief.object(run, parts_of()).ideas, 0)
end)

t.test("a hook that empties what it is given empties nothing else", function()
    local function empty(given)
        for name in pairs(given) do given[name] = nil end
    end
    local run = run_of { record(0, "keep", nil) }
    t.match(text_of(run, parts_of { gate = empty, stop = empty, stalled = empty }), "next: ")
    t.eq(run.session, "s1")
end)
