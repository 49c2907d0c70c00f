-- The loop on a scripted evaluator: what is kept, what is restored, what is said, how it ends.
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local report = require "ako.report"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local unit = require "ako.unit"
local verbs = require "ako.verbs"

local function state_of(folder)
    local repo = assert(git.open(folder))
    return session.newest { repo = repo, folder = fs.absolute(folder) }, repo
end

local function verdicts(history)
    local list = {}
    for i, record in ipairs(history) do list[i] = record.verdict .. " " .. record.status end
    return list
end

t.test("the tree as it is, with nothing to try", function()
    local folder = scripted.task_folder "time=100"
    local ctx, requests = scripted.context(folder)
    t.eq(verbs.run(ctx), 0)
    t.eq(#requests, 1)
    t.eq(requests[1].steps, "build check time")
    local state = state_of(folder)
    t.eq(verdicts(state.history), { "keep PASSED" })
    t.eq(state.history[1].speedup.reference, 200000.5 / 100000.5)
    t.match(ctx.console.stdout, "^best: trial 0 %(baseline%): PASSED, median 100.0 us")
    t.match(ctx.console.stderr, "Scripted CPU")
end)

t.test("candidates: kept, reverted, no effect, wrong; the best restored and verified", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, {
        ["1_faster.c"] = "time=50", ["2_slower.c"] = "time=60", ["3_same.c"] = "time=50 hash=50",
        ["4_wrong.c"] = "time=10 status=INCORRECT_NUMERICAL reason=off", ["5_noise.c"] = "time=49.99",
        ["6_best.c"] = "time=25", ["notes.txt"] = "time=1", ["7_gpu.cu"] = "time=1",
    })
    local ctx, requests = scripted.context(folder, nil, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    local state, repo = state_of(folder)
    t.eq(verdicts(state.history), { "keep PASSED", "keep PASSED", "revert PASSED", "revert PASSED",
        "revert INCORRECT_NUMERICAL", "revert PASSED", "keep PASSED" })
    t.match(state.history[4].reason, "no effect: same machine code")
    t.match(state.history[6].reason, "not more than 1 %%")
    t.eq(requests[6].steps .. requests[6].script.time, "build50")
    t.eq(requests[#requests].script.time, "25")
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=25")
    t.eq(state.finished.best, 6)
    t.eq(state.finished.status, "PASSED")
    t.match(ctx.console.stdout, "best: trial 6 [^\n]*; measured again: 25.00 us\n")
    t.eq(state.best.speedup.original, 4.0)
    t.eq(state.best.speedup.best, 2.0)
    t.eq(repo:read("refs/heads/ako/" .. state.name, "solution/kernel.c"), scripted.source "time=25")
    t.eq(repo:read("refs/ako/" .. state.name .. "/4", "solution/kernel.c"),
        scripted.source "time=10 status=INCORRECT_NUMERICAL reason=off")
    t.eq(#repo:log("refs/heads/ako/" .. state.name), 3)
    t.eq(repo:head().unborn, true)
    local files = repo:commondir() .. "/ako/" .. state.name .. "/trials/6"
    t.eq(fs.read(files .. "/sources/kernel.c"), scripted.source "time=25")
    t.eq(fs.read(files .. "/build.log"), "built")
    t.eq(json.decode(fs.read(files .. "/samples.json"))["N=64"].time, { 25000, 25000 })
    t.eq(json.decode(fs.read(files .. "/result.json")).verdict, "keep")
    local _, lines = ctx.console.stdout:gsub("\n", "")
    t.ok(lines <= 10, "at most ten lines")
end)

t.test("a verification that contradicts the best's own figure is said to", function()
    local best = { trial = 1, status = "PASSED", time_ns = { median = 1000 }, speedup = { original = 2.0 } }
    local given = { name = "s", best = best, history = { { trial = 0 }, { trial = 1, verdict = "keep" } },
        counts = { keep = 1, revert = 0, inconclusive = 0 }, ws = { folder = "/w" }, folder = "/w/.git/ako/s" }
    local function first_line(low, high)
        return report.run_lines(given, nil, { time_ns = { median = 1500 }, interval = { best = { low, high } } })[1]
    end
    t.match(first_line(0.9, 1.1), "; measured again: 1.500 us$")
    t.match(first_line(0.6, 0.7), "; measured again: 1.500 us, the intervals are apart")
end)

t.test("a baseline that fails ends the run with its code", function()
    for status, code in pairs { COMPILE_ERROR = 10, INCORRECT_NUMERICAL = 11, RUNTIME_ERROR = 12, TIMEOUT = 124 } do
        local folder = scripted.task_folder("time=100 reason=because status=" .. status)
        scripted.candidates(folder, { ["a.c"] = "time=50" })
        local ctx, requests = scripted.context(folder, nil, { candidates = folder .. "/candidates" })
        t.eq(verbs.run(ctx), code)
        t.match(ctx.console.stdout, "the baseline failed: " .. status .. ": because")
        t.eq(#requests, 1)
        t.eq(fs.read(folder .. "/solution/kernel.c"),
            scripted.source("time=100 reason=because status=" .. status))
    end
end)

t.test("json: one object with the names of the manual", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    local ctx = scripted.context(folder, { json = true }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    local object = json.decode(ctx.console.stdout)
    t.eq(object.v, 1)
    t.eq(object.trial, 1)
    t.eq(object.status, "PASSED")
    t.eq(object.verdict, "keep")
    t.eq(object.time_ns.median, 50000)
    t.eq(object.time_ns.ci, { 49950, 50050 })
    t.eq(object.speedup.original, 2.0)
    t.eq(object.workloads[1].id, "N=64")
    t.eq(object.resources.registers, 8)
    t.eq(object.run.kept, 1)
    t.eq(object.timer, "wall")
    t.eq(object.flush, true)
    t.ok(object.tree and object.commit and object.files)
end)

t.test("try: baseline first, then keep and revert with their codes", function()
    local folder = scripted.task_folder "time=100"
    local function try(script, message)
        if script then fs.write(folder .. "/solution/kernel.c", scripted.source(script)) end
        local ctx = scripted.context(folder, nil, { message = message })
        return verbs.try(ctx), ctx.console.stdout
    end
    t.eq(try(), 0)
    t.eq(try("time=50", "half the work"), 0)
    local code, text = try("time=80", "more of it")
    t.eq(code, 1)
    t.match(text, "revert: 37.5 %% slower")
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=50")
    t.eq(try("time=50 x=1", "other text"), 1)
    t.eq(try("status=COMPILE_ERROR", "typo"), 10)
    local state, repo = state_of(folder)
    t.eq(#state.history, 5)
    t.eq(state.history[2].hypothesis, "half the work")
    t.match(repo:log("refs/heads/ako/" .. state.name)[1].message, "^%[trial 1%] half the work\n")
    t.eq(#session.names(repo), 1)
end)

t.test("a policy's stop ends the run; its failure is recorded and ends it too", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50", ["b.c"] = "time=20" })
    local options = { candidates = folder .. "/candidates" }
    local stop = { stop = function(run) if run.trials >= 1 then return "enough" end end }
    local ctx = scripted.context(folder, { policy = stop }, options)
    t.eq(verbs.run(ctx), 0)
    t.match(ctx.console.stdout, "ended: enough")
    t.eq(#state_of(folder).history, 2)

    local broken = { accept = function(trial) return trial.nothing.at_all end }
    ctx = scripted.context(scripted.task_folder "time=100", { policy = broken }, options)
    t.err("attempt to index a nil value", verbs.run, ctx)
    ctx = scripted.context(scripted.task_folder "time=100", { policy = { accept = function() return "maybe" end } },
        options)
    t.eq(verbs.run(ctx), 4)
    t.match(ctx.console.stderr, "hook 'accept' must return 'keep', 'revert' or 'inconclusive'")
end)

t.test("a hook cannot change what is recorded", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    local accept = function(trial)
        trial.time_ns.median, trial.status = 1, "REJECTED"
        return "keep", "as I like it"
    end
    local ctx = scripted.context(folder, { policy = { accept = accept } }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    t.eq(state_of(folder).history[2].time_ns.median, 50000)
end)

t.test("an evaluator that dies costs its own trial", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50 die=1", ["b.c"] = "time=20" })
    local function on_trial(script) if script.die then return nil, "the evaluator died", "CHILD" end end
    local ctx, requests = scripted.context(folder, { on_trial = on_trial }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    t.eq(requests.starts, 2)
    t.eq(verdicts(state_of(folder).history), { "keep PASSED", "inconclusive INFRA", "keep PASSED" })
end)

t.test("Ctrl-C: the trial is recorded, the best is back, 130", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50 stop=1", ["b.c"] = "time=20" })
    local function on_trial(script) if script.stop then return nil, "interrupted", "CANCELLED" end end
    local ctx = scripted.context(folder, { on_trial = on_trial }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 130)
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=100")
    t.eq(verdicts(state_of(folder).history), { "keep PASSED", "inconclusive INFRA" })
end)

t.test("an error in the middle of a trial restores the best as well", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50 raise=1" })
    local function on_trial(script) if script.raise then error("interrupted!", 0) end end
    local ctx = scripted.context(folder, { on_trial = on_trial }, { candidates = folder .. "/candidates" })
    t.err("interrupted!", verbs.run, ctx)
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=100")
    t.eq(state_of(folder).history[2].reason, "interrupted")
end)

t.test("what the user changed meanwhile stays", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=150" })
    local function on_trial(script)
        if script.time == "150" then fs.write(folder .. "/solution/kernel.c", "mine") end
    end
    local ctx = scripted.context(folder, { on_trial = on_trial }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 125)
    t.eq(fs.read(folder .. "/solution/kernel.c"), "mine")
    t.match(ctx.console.stderr, "left as it is")
end)

t.test("protected files and the policy's admission", function()
    local folder = scripted.task_folder "time=100"
    t.eq(verbs.try((scripted.context(folder))), 0)
    fs.write(folder .. "/solution/kernel.c", scripted.source "time=50")
    fs.write(folder .. "/reference.c", "void scale(void); /* easier */\n")
    local ctx, requests = scripted.context(folder)
    t.eq(verbs.try(ctx), 13)
    t.eq(#requests, 0)
    t.match(ctx.console.stdout, "protected file reference.c changed")
    fs.write(folder .. "/reference.c", "void scale(void);\n")
    local admit = function(candidate) return not candidate.sources[1].text:find("goto"), "no goto here" end
    fs.write(folder .. "/solution/kernel.c", scripted.source "time=50 goto=1")
    ctx = scripted.context(folder, { policy = { admit = admit } })
    t.eq(verbs.try(ctx), 13)
    t.match(ctx.console.stdout, "no goto here")
end)

t.test("try wants a task of one's own, and says what to do next", function()
    local folder = scripted.task_folder "time=100"
    for _, name in ipairs { "task.lua", "reference.c", "solution/kernel.c" } do
        local copy = folder .. "/examples/rmsnorm/" .. name
        fs.mkdirs(fs.dirname(copy))
        fs.write(copy, fs.read(folder .. "/" .. name))
    end
    local ctx, requests = scripted.context(folder, { workspace = t.tmpdir() })
    t.eq(verbs.try(ctx), 2)
    t.eq(#requests, 0)
    t.match(ctx.console.stderr, "^ako%-lua: no task.lua in [^\n]+; go to your task's folder or name it")
    t.eq(verbs.try((scripted.context(folder))), 0)
    fs.write(folder .. "/reference.c", "void scale(void); /* easier */\n")
    ctx = scripted.context(folder)
    t.eq(verbs.try(ctx), 13)
    t.match(ctx.console.stdout, "next: undo that change, or begin another session with %-%-session=NAME; the best")
end)

-- What is said to be next of a try with this script after a baseline of 100 us, or of that baseline.
local function next_after(script, host, is_first)
    local folder = scripted.task_folder(is_first and script or "time=100")
    if not is_first then
        t.eq(verbs.try((scripted.context(folder))), 0)
        assert(fs.write(folder .. "/solution/kernel.c", scripted.source(script)))
    end
    local ctx = scripted.context(folder, host)
    verbs.try(ctx)
    return ctx.console.stdout:match("next: ([^\n]*)\n"), folder
end

t.test("what is next follows from what went wrong", function()
    local after, folder = next_after "time=1 status=COMPILE_ERROR reason=bad"
    local log = after:match("^mend the first error in (%S+/trials/1/build.log); the best is back")
    t.eq(fs.read(folder .. "/" .. (log or "")), "built")
    t.match(next_after "time=100 ", "^change something that reaches the machine code; the best is back")
    t.match(next_after "time=1 status=INVALID_REFERENCE reason=weak",
        "stay as they are; mend the task, not the kernel, and begin another session with %-%-session=NAME$")
    t.match(next_after("time=1 status=INVALID_REFERENCE reason=weak", nil, true),
        "stay as they are; mend the task, not the kernel %(`doctor` says more%)$")
    local function no_room(script)
        if script.time ~= "100" then return nil, "8 bytes do not fit: 4 are free", "NOMEM" end
        return true
    end
    t.match(next_after("time=50", { on_trial = no_room }),
        "stay as they are; take smaller workloads, or another %-%-device$")
    local function doubtful()
        return "revert", "20.00x over the reference is more than 10x and not justified (--why-so)"
    end
    t.match(next_after("time=10", { policy = { accept = doubtful } }),
        "^find what the kernel or the task leaves out, or say why it is real with %-%-why%-so=TEXT; the best is back")
    t.match(next_after "time=200", "^the best is back in the workspace; try another idea$")
end)

t.test("plan and status", function()
    local folder = scripted.task_folder "time=100"
    local ctx, requests = scripted.context(folder)
    t.eq(verbs.plan(ctx), 0)
    t.eq(#requests, 0)
    t.match(ctx.console.stdout, "task        scale: x f32%(N%) %-> y f32%(N%); 1 workload\n")
    t.ok(not fs.exists(folder .. "/.git"), "plan makes nothing")
    ctx = scripted.context(folder)
    t.eq(verbs.status(ctx), 2)
    t.eq(verbs.try((scripted.context(folder))), 0)
    ctx = scripted.context(folder)
    t.eq(verbs.status(ctx), 0)
    t.match(ctx.console.stdout, "best: trial 0")
    t.match(ctx.console.stdout, "`try` goes on with it")
    ctx = scripted.context(folder, { json = true })
    t.eq(verbs.status(ctx), 0)
    t.eq(json.decode(ctx.console.stdout).best.trial, 0)
end)

t.test("mistakes are one line and a code", function()
    local folder = scripted.task_folder "time=100"
    local ctx = scripted.context(folder, nil, { candidates = folder .. "/nowhere" })
    t.eq(verbs.run(ctx), 2)
    t.match(ctx.console.stderr, "^ako%-lua: [^\n]*nowhere[^\n]*\n$")
    ctx = scripted.context(folder, nil, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 2)
    t.match(ctx.console.stderr, "holds no .c files")
    t.ok(not fs.exists(folder .. "/.git"), "nothing is left behind")
    ctx = scripted.context(folder, { task = folder .. "/other.lua" })
    t.eq(verbs.run(ctx), 2)
    ctx = scripted.context(folder, { session = "../x" })
    t.eq(verbs.run(ctx), 2)
    t.match(ctx.console.stderr, "is no name for a session")
end)

t.test("what is measured is what was announced: a file that changes meanwhile is not judged, and stays", function()
    local folder = scripted.task_folder "time=100"
    t.eq(verbs.try(scripted.context(folder)), 0)
    local read, source = unit.read, scripted.source "time=10"
    assert(fs.write(folder .. "/solution/kernel.c", scripted.source "time=90"))
    local ctx, requests = scripted.context(folder, { policy = { admit = function() return true end } })
    unit.read = function(from, files)
        if files[1] == "solution/kernel.c" then assert(fs.write(folder .. "/solution/kernel.c", source)) end
        return read(from, files)
    end
    local code = verbs.try(ctx)
    unit.read = read
    t.eq({ code, #requests }, { 125, 0 })
    t.match(ctx.console.stdout, "solution/kernel.c was changed while the trial began: try again")
    t.eq(fs.read(folder .. "/solution/kernel.c"), source)
    t.eq(verbs.try(scripted.context(folder)), 0)
end)
