-- The verbs by which somebody adds to a session by hand: note.
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local process = require "ako.process"
local scripted = require "scripted"
local steps = require "steps"
local t = require "ako.tap"
local verbs = require "ako.verbs"

-- Code, stdout and stderr of a verb in a folder.
local function call(folder, verb, operands, options, host)
    local ctx = scripted.context(folder, host, options)
    ctx.operands = operands or {}
    local code = verbs[verb](ctx)
    return code, ctx.console.stdout, ctx.console.stderr
end

local function object_of(folder, verb, operands, options, host)
    host = host or {}
    host.json = true
    local _, text, problem = call(folder, verb, operands, options, host)
    t.eq({ problem, select(2, text:gsub("\n", "")) }, { "", 1 })
    return assert(json.decode(text))
end

local function notes_of(folder) return object_of(folder, "log", nil, { notes = true }).notes end

local function gate(run)
    if #run.notes == 0 then return "note what you plan" end
end

t.test("a note before the first trial begins a session, with which the trial goes on", function()
    local folder = scripted.task_folder "time=100"
    local code, text = call(folder, "note", nil, { message = "read the paper", topic = "plan" })
    t.eq(code, 0)
    t.match(text, "^noted in the new session scale%-%d+T%d+Z, before the first trial: %[plan%] read the paper\n$")
    local name = object_of(folder, "status").session
    t.eq(object_of(folder, "note", nil, { message = "more" }).session, name)
    assert(fs.write(folder .. "/reference.c", "void scale(void); // mended before anything was tried\n"))
    t.eq(call(folder, "try", nil, nil, { policy = { gate = gate } }), 0)
    local status = object_of(folder, "status")
    t.eq({ status.session, status.trials, status.best.trial, status.device.name }, { name, 0, 0, "Scripted CPU" })
    t.eq(#notes_of(folder), 2)
end)

t.test("a note is about the session that try goes on with, where the newest one is finished", function()
    local folder = scripted.task_folder "time=100"
    t.eq(call(folder, "try", nil, nil, { session = "open" }), 0)
    t.eq(call(folder, "try", nil, nil, { session = "done" }), 0)
    t.eq(call(folder, "finish", nil, { message = "enough" }), 0)
    t.eq(object_of(folder, "note", nil, { message = "more" }).session, "open")
    t.eq(object_of(folder, "status").session, "done")
end)

t.test("a note can name the session that it begins", function()
    local folder = scripted.task_folder "time=100"
    local named = { session = "one" }
    t.eq({ select(2, call(folder, "note", nil, { message = "plan" }, named)) },
        { "noted in the new session one, before the first trial: plan\n",
            ("workspace   %s: made a git repository\n"):format(folder) })
    t.eq({ call(folder, "note", nil, { message = "more" }, named) },
        { 0, "noted in session one, before the first trial: more\n", "" })
    t.eq(call(folder, "try"), 0)
    t.eq(object_of(folder, "status").session, "one")
    t.eq({ call(folder, "note", { 0 }, { message = "x" }, { session = "two" }) },
        { 2, "", "ako-lua: there is no session 'two' here; there are: one\n" })
end)

t.test("run begins the session that only has notes, and a gate sees them", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    local options = { candidates = folder .. "/candidates" }
    t.eq(call(folder, "run", nil, options, { policy = { gate = gate } }), 13)
    local begun = object_of(folder, "note", nil, { message = "plan" })
    t.eq({ begun.started, begun.trial }, { true, json.null })
    t.eq(call(folder, "run", nil, options, { policy = { gate = gate } }), 0)
    local status = object_of(folder, "status")
    t.eq({ status.session, status.trials, status.best.trial, status.finished }, { begun.session, 1, 1, true })
    t.eq(object_of(folder, "note", nil, { message = "for the next one" }).started, true)
    t.eq(object_of(folder, "note", { 1 }, { message = "of the new one?" }, { session = begun.session }).session,
        begun.session)
end)

t.test("a note on a trial, with a file and its hash", function()
    local folder = scripted.task_folder "time=100"
    t.eq(call(folder, "try"), 0)
    assert(fs.write(folder .. "/profile.txt", "stalls\n"))
    local noted = object_of(folder, "note", { 0 }, { file = "profile.txt", topic = "profile" })
    t.eq({ noted.trial, noted.file, noted.hash, noted.text, noted.started },
        { 0, "profile.txt", git.hash "stalls\n", "", false })
    t.eq(notes_of(folder)[1].hash, git.hash "stalls\n")
    local _, said = call(folder, "note", nil, { file = "profile.txt" })
    t.match(said, "about trial 0: %(file profile.txt%)\n$")
    t.match(select(2, call(folder, "brief")), "\n%- %[profile.txt%]\n%- profile: %[profile.txt%]\n")
end)

t.test("a note is in the policy's logs at once; those of a newer session are left alone", function()
    local folder = scripted.task_folder "time=100"
    local function host(name)
        return { session = name, policy = { logs = function(run)
            local ended = run.finished and "ended" or "open"
            return { ["LOG.md"] = ("%s: %d notes, %s\n"):format(run.session, #run.notes, ended) }
        end } }
    end
    t.eq(call(folder, "try", nil, nil, host "a"), 0)
    t.eq(fs.read(folder .. "/LOG.md"), "a: 0 notes, open\n")
    t.eq({ call(folder, "note", nil, { message = "x" }, host()) }, { 0, "noted in session a, about trial 0: x\n", "" })
    t.eq(fs.read(folder .. "/LOG.md"), "a: 1 notes, open\n")
    t.eq(call(folder, "finish", nil, { message = "done" }, host()), 0)
    t.eq(call(folder, "note", { 0 }, { message = "x" }, host()), 0)
    t.eq(fs.read(folder .. "/LOG.md"), "a: 2 notes, ended\n")
    t.eq(call(folder, "try", nil, nil, host "b"), 0)
    t.eq(call(folder, "note", { 0 }, { message = "x" }, host "a"), 0)
    t.eq(fs.read(folder .. "/LOG.md"), "b: 0 notes, open\n")
    local broken = { policy = { logs = function() return 7 end } }
    local code, text, problem = call(folder, "note", nil, { message = "y" }, broken)
    t.eq({ code, text }, { 0, "noted in session b, about trial 0: y\n" })
    t.match(problem, "^the logs are not rendered: hook 'logs' must return")
end)

t.test("a note without words, on no trial, or with no file is refused and leaves nothing", function()
    local folder = scripted.task_folder "time=100"
    local function refused(options, text, operands)
        local code, _, problem = call(folder, "note", operands, options)
        t.eq({ code, problem }, { 2, "ako-lua: " .. text .. "\n" })
    end
    refused({}, "a note needs words (-m TEXT) or a file (--file=FILE)")
    refused({ message = " " }, "a note needs words (-m TEXT) or a file (--file=FILE)")
    refused({ file = "nope.txt" }, "--file: no file nope.txt")
    refused({ file = "solution" }, "--file: solution is a folder; name a file")
    refused({ message = "x" }, "there is no session yet, so there is no trial 3", { 3 })
    t.ok(not fs.exists(folder .. "/.git"))
    t.eq(call(folder, "try"), 0)
    local code, _, problem = call(folder, "note", { 3 }, { message = "x" })
    t.eq(code, 2)
    t.match(problem, "^ako%-lua: session scale%-%w+ has no trial 3; it has trial 0\n$")
end)

t.test("a note where no task is: nothing is made", function()
    local folder = t.tmpdir()
    local code, _, problem = call(folder, "note", nil, { message = "x" })
    t.eq(code, 2)
    t.match(problem, "no task")
    t.eq(fs.list(folder), {})
end)

-- Overrides

local function try(folder, script, options, host)
    assert(fs.write(folder .. "/solution/kernel.c", scripted.source(script)))
    return call(folder, "try", nil, options, host)
end

local function solution(folder) return assert(fs.read(folder .. "/solution/kernel.c")) end

-- The baseline, a kept trial, a reverted one, one that is wrong.
local function story(host)
    local folder = scripted.task_folder "time=100"
    t.eq(call(folder, "try", nil, nil, host), 0)
    t.eq(try(folder, "time=50"), 0)
    t.eq(try(folder, "time=80"), 1)
    t.eq(try(folder, "status=INCORRECT_NUMERICAL reason=wrong"), 11)
    return folder
end

t.test("keep by hand makes a reverted trial the best: files, branch, log and logs of the policy", function()
    local folder = story()
    local logs = { policy = { logs = function(run) return { ["LOG.md"] = "best " .. run.best.trial .. "\n" } end } }
    local code, text = call(folder, "keep", { 2 }, { message = "steadier under load" }, logs)
    t.eq(code, 0)
    t.match(text, "^trial 2: keep by hand: steadier under load\nbest: trial 2 %(the tree%): PASSED, [^\n]*; before it "
        .. "was trial 1\n$")
    t.eq(solution(folder), scripted.source("time=80"))
    t.eq(fs.read(folder .. "/LOG.md"), "best 2\n")
    local repo = assert(git.open(folder))
    local name = object_of(folder, "status").session
    t.match(repo:log("refs/heads/ako/" .. name, 1)[1].message, "^%[override%] keep trial 2: steadier under load\n")
    t.match(select(2, call(folder, "log")), "\n    2  keep by hand +PASSED [^\n]*: steadier under load\n")
    t.match(select(2, call(folder, "show", { 2 })), "\nby hand +keep, %d[%d-]+ [%d:]+ UTC: steadier under load\n")
end)

t.test("revert by hand brings the one kept before it back", function()
    local folder = story()
    local object = object_of(folder, "revert", { 1 }, { message = "flattered" })
    t.eq({ object.trial, object.verdict, object.override, object.override_reason, object.best, object.before },
        { 1, "keep", "revert", "flattered", 0, 1 })
    t.eq(solution(folder), scripted.source("time=100"))
    t.eq(object_of(folder, "status").best.trial, 0)
end)

t.test("a session of another worktree is amended there, and a workspace's name may have any bytes", function()
    local other, folder = t.tmpdir() .. "/other", t.tmpdir() .. "/a \xFFb"
    local source = scripted.task_folder "time=100"
    assert(process.run { "cp", "-r", source, folder })
    t.eq(call(folder, "try", nil, nil, { session = "one" }), 0)
    t.eq(try(folder, "time=50"), 0)
    local made = assert(process.run { "git", "-C", folder, "-c", "user.name=a", "-c", "user.email=b", "commit", "-q",
        "--allow-empty", "-m", "x" })
    t.ok(made.ok, made.stderr)
    made = assert(process.run { "git", "-C", folder, "worktree", "add", "-q", other })
    t.ok(made.ok, made.stderr)
    t.eq(call(folder, "revert", { 1 }, { message = "by hand" }), 0)
    t.eq(solution(folder), scripted.source("time=100"))
    t.eq(call(folder, "finish", nil, { message = "done" }), 0)
    local plain = t.tmpdir() .. "/plain"
    assert(process.run { "git", "-C", folder, "worktree", "add", "-q", plain })
    assert(process.run { "cp", "-r", source .. "/.", plain })
    t.eq(call(plain, "try", nil, nil, { session = "two" }), 0)
    t.eq(try(plain, "time=50"), 0)
    t.eq(call(other, "log"), 2, "no session of this worktree")
    t.eq(call(other, "revert", { 1 }, { message = "from elsewhere" }, { session = "two" }), 0)
    t.eq(solution(plain), scripted.source("time=100"))
    t.eq(fs.list(other), { ".git" })
end)

t.test("a first trial that failed can be kept by force, where there was no best", function()
    local folder = scripted.task_folder "status=COMPILE_ERROR"
    t.eq(call(folder, "try"), 10)
    local code, text, problem = call(folder, "keep", { 0 }, { message = "as it is", force = true })
    t.eq({ code, problem }, { 0, "" })
    t.match(text, "best: trial 0 [^\n]*COMPILE_ERROR; before it was none\n")
end)

t.test("keep of a trial that has not passed needs --force, and that is recorded", function()
    local folder = story()
    local code, _, problem = call(folder, "keep", { 3 }, { message = "the check is too strict" })
    t.eq({ code, problem }, { 2, "ako-lua: trial 3 is INCORRECT_NUMERICAL: wrong; --force keeps it all the same\n" })
    t.eq(solution(folder), scripted.source("time=50"))
    t.eq(call(folder, "keep", { 3 }, { message = "the check is too strict", force = true }), 0)
    t.eq(object_of(folder, "show", { 3 }).overrides[1].forced, true)
end)

t.test("an override without a reason, on no trial, or of nothing is refused and changes nothing", function()
    local folder = story()
    local function refused(verb, n, options, text)
        local code, _, problem = call(folder, verb, { n }, options)
        t.eq(code, 2)
        t.match(problem, "^ako%-lua: " .. text)
    end
    refused("keep", 2, {}, "keep needs a reason: keep 2 %-m TEXT\n$")
    refused("revert", 2, { message = "x" }, "trial 2 does not count %(revert%), so there is nothing to take back\n$")
    refused("keep", 1, { message = "x" }, "trial 1 is the best already\n$")
    refused("revert", 9, { message = "x" }, "session scale%-%w+ has no trial 9; it has 0 to 3\n$")
    t.eq(object_of(folder, "status").best.trial, 1)
end)

t.test("an override leaves a file alone that somebody else has changed, and says so", function()
    local folder = story()
    assert(fs.write(folder .. "/solution/kernel.c", "mine"))
    local code, text = call(folder, "keep", { 2 }, { message = "why" })
    t.eq({ code, solution(folder) }, { 0, "mine" })
    t.match(text, "\nthe files stay as they are: [^\n]*solution/kernel.c has changes that no record holds")
    t.eq(object_of(folder, "status").best.trial, 2)
end)

-- init

t.test("init makes what is missing, measures nothing and overwrites nothing", function()
    local source = scripted.task_folder "time=100"
    local folder = t.tmpdir() .. "/new"
    assert(fs.mkdirs(folder))
    assert(fs.write(folder .. "/HINTS.md", "mine\n"))
    local host = { task = source, policy = { scaffold = function()
        return { ["HINTS.md"] = "ours\n", ["scripts/bench.sh"] = "#!/bin/sh\n" }
    end } }
    local code, text = call(folder, "init", nil, nil, host)
    t.eq(code, 0)
    t.eq(text, ("workspace %s: a new git repository\nmade: solution/kernel.c, scripts/bench.sh\nnext: `ako-lua "
        .. "--task=%s --workspace=%s plain try` measures the files as they are; because everything is compared with "
        .. "the first trial\n"):format(folder, source, folder))
    t.eq({ fs.read(folder .. "/HINTS.md"), solution(folder) }, { "mine\n", scripted.source("time=100") })
    local object = object_of(folder, "init", nil, nil, host)
    t.eq({ object.workspace, object.repository, object.made }, { folder, false, {} })
    t.eq(call(folder, "status"), 2, "there is no session")
end)

t.test("init says what a policy asks for before the first trial, and refuses where there is no task", function()
    local folder = scripted.task_folder "time=100"
    local _, text = call(folder, "init", nil, nil, { policy = { gate = gate } })
    t.match(text, "\nmade: nothing, all is there\nnext: do what the policy asks for before the first trial; because "
        .. "note what you plan\n$")
    local empty = t.tmpdir()
    local code, _, problem = call(empty, "init")
    t.eq(code, 2)
    t.match(problem, "no task")
    t.eq(fs.list(empty), {})
end)

-- finish, resume

-- A verb ends with this code and one line that begins so.
local function refused(folder, verb, options, expected, text)
    local code, _, problem = call(folder, verb, nil, options)
    t.eq({ code, select(2, problem:gsub("\n", "")) }, { expected, 1 })
    t.match(problem, "^ako%-lua: " .. text)
end

t.test("finish restores and verifies the best, closes the session and says why", function()
    local folder = story()
    local code, text = call(folder, "finish", nil, { message = "good enough" })
    t.eq(code, 0)
    t.match(text, "^best: trial 1 [^\n]*; measured again: 50.00 us\nsession [^\n]*: 3 candidates [^\n]*; ended: good ")
    t.eq(solution(folder), scripted.source("time=50"))
    t.eq(object_of(folder, "status").finished, true)
    refused(folder, "finish", { message = "again" }, 2,
        "session scale%-%w+ is finished %(good enough%); `run` or `try` starts another one\n$")
    refused(folder, "finish", nil, 2, "finish needs a reason: finish %-m TEXT\n$")
end)

t.test("finish puts away what a trial could not judge: it is in that trial's record", function()
    local folder = story()
    t.eq(try(folder, "time=20 status=UNSTABLE reason=noise"), 125)
    t.eq(solution(folder), scripted.source "time=20 status=UNSTABLE reason=noise")
    t.eq(call(folder, "finish", nil, { message = "done" }), 0)
    t.eq(solution(folder), scripted.source("time=50"))
end)

t.test("finish leaves what nobody has tried, and refuses a task that has changed", function()
    local folder = story()
    assert(fs.write(folder .. "/solution/kernel.c", "mine"))
    refused(folder, "finish", { message = "done" }, 125,
        "[^\n]*solution/kernel.c has changes that no record holds: try, commit or undo them first\n$")
    t.eq(solution(folder), "mine")
    assert(fs.write(folder .. "/solution/kernel.c", scripted.source("time=50")))
    assert(fs.write(folder .. "/reference.c", "void scale(void); // another one\n"))
    refused(folder, "finish", { message = "done" }, 13,
        "protected file reference.c changed since session scale%-%w+ began: undo that change, or ")
    t.eq(object_of(folder, "status").finished, false)
end)

t.test("finish goes on where what lies in the workspace is committed, or was tried at any time", function()
    for _, text in ipairs { "mine", scripted.source "time=100" } do
        local folder = story()
        assert(fs.write(folder .. "/solution/kernel.c", text))
        if text == "mine" then
            steps.sh("git add -A && git -c user.name=A -c user.email=a@b commit -qm mine", folder)
        end
        t.eq(call(folder, "finish", nil, { message = "done" }), 0, text)
        t.eq(solution(folder), scripted.source "time=50")
    end
end)

t.test("a finish that is interrupted leaves the session open", function()
    local folder = story()
    local host = { on_trial = function() return nil, "interrupted", "CANCELLED" end }
    t.eq(call(folder, "finish", nil, { message = "done" }, host), 130)
    t.eq(object_of(folder, "status").finished, false)
    t.eq(call(folder, "finish", nil, { message = "done" }), 0)
end)

t.test("a run that has ended can be overridden, too", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    t.eq(call(folder, "run", nil, { candidates = folder .. "/candidates" }), 0)
    t.eq(call(folder, "revert", { 1 }, { message = "flattered" }), 0)
    t.eq(solution(folder), scripted.source("time=100"))
    local report = object_of(folder, "report")
    t.eq({ report.best.trial, report.finished.verified.trial }, { 0, 1 })
    t.match(select(2, call(folder, "report")), "\nverified +median 50.00 us; that was trial 1, before an override\n")
end)

t.test("finish before anything was tried has nothing to finish", function()
    local folder = scripted.task_folder "time=100"
    t.eq(call(folder, "note", nil, { message = "x" }), 0)
    refused(folder, "finish", { message = "x" }, 2,
        "nothing was tried in session scale%-%w+ yet, so there is nothing to finish\n$")
end)

-- A run of three candidates whose evaluator is gone at the second one, as after ctrl-C.
local function interrupted_run()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50", ["b.c"] = "time=40", ["c.c"] = "time=30" })
    local host = { on_trial = function(script)
        if script.time == "40" then return nil, "interrupted", "CANCELLED" end
        return true
    end }
    t.eq(call(folder, "run", nil, { candidates = folder .. "/candidates" }, host), 130)
    return folder
end

t.test("resume goes on with the candidates that were not tried, in the same session, to the end", function()
    local folder = interrupted_run()
    local name = object_of(folder, "status").session
    t.match(select(2, call(folder, "status")), "\nopen: `resume` goes on with it\n$")
    t.match(select(2, call(folder, "brief")), "\nnext: `ako%-lua %-%-workspace=/[^ ]+ plain resume`; because the ")
    local code, text = call(folder, "resume")
    t.eq(code, 0)
    t.match(text, "^best: trial 4 %(c.c%): PASSED, [^\n]*\nsession [^\n]*: 4 candidates %(3 kept, 0 reverted, 1 inc")
    t.eq(object_of(folder, "log").session, name)
    local names = {}
    for i, entry in ipairs(object_of(folder, "log").trials) do names[i] = entry.candidate end
    t.eq(names, { "baseline", "a.c", "b.c", "b.c", "c.c" }, "what was cut off is tried again")
    refused(folder, "resume", nil, 2, "session scale%-%w+ is finished %(no more candidates%); `run` or `try` starts an")
end)

t.test("resume counts the seconds that were used up before, but not those between", function()
    local folder = interrupted_run()
    local seen = {}
    local policy = { stop = function(run) seen[#seen + 1] = run.elapsed_s end }
    local file = ("%s/.git/ako/%s/journal.jsonl"):format(folder, object_of(folder, "status").session)
    local journal = assert(fs.read(file))
    local function long_ago(line) -- the session began 1000 s ago, its last trial ended 400 s later
        return (line:gsub('("time_s":)(%d+)', function(key, time)
            return key .. math.tointeger(tonumber(time)) - (line:find('"kind":"session"', 1, true) and 1000 or 600)
        end))
    end
    assert(fs.write(file, (journal:gsub("[^\n]+", long_ago))))
    t.eq(call(folder, "resume", nil, nil, { policy = policy }), 0)
    t.ok(seen[1] >= 399 and seen[1] < 500, seen[1])
end)

t.test("resume of a session of `try`, or with a changed reference, is refused", function()
    local folder = story()
    refused(folder, "resume", nil, 2,
        "session scale%-%w+ is no run: `try` goes on with it; there is nothing to resume\n$")
    folder = interrupted_run()
    local name = object_of(folder, "status").session
    t.eq(call(folder, "try", nil, nil, { session = "z" }), 0)
    refused(folder, "resume", nil, 2, "session z is no run: `try` goes on with it; %-%-session="
        .. name:gsub("%-", "%%-") .. " goes on with an older one that is open\n$")
    folder = interrupted_run()
    assert(fs.write(folder .. "/reference.c", "void scale(void); // another one\n"))
    refused(folder, "resume", nil, 13, "protected file reference.c changed since session ")
end)

t.test("resume of a run that was killed in its baseline tries that again", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    local host = { on_trial = function() return nil, "interrupted", "CANCELLED" end }
    t.eq(call(folder, "run", nil, { candidates = folder .. "/candidates" }, host), 130)
    t.eq(call(folder, "resume"), 0)
    local trials = object_of(folder, "log").trials
    t.eq({ #trials, trials[1].status, trials[2].candidate, trials[2].verdict, trials[3].candidate, trials[3].verdict },
        { 3, "INFRA", "baseline", "keep", "a.c", "keep" })
    t.eq({ trials[2].speedup.original, trials[3].speedup.original }, { 1.0, 2.0 }, "what passed is the original")
    t.eq(object_of(folder, "report").baseline.trial, 1)
end)

t.test("a first trial that failed is no original: the one that was mended is", function()
    local folder = scripted.task_folder "time=100"
    local policy = { budget = { build = 10, check = 10, time = 10, factor = 2, least = 1 } }
    local codes = {}
    for i, script in ipairs { "status=COMPILE_ERROR reason=k.c:1:no", "time=100", "time=50" } do
        codes[i] = try(folder, script, nil, { session = "s", policy = policy })
    end
    t.eq(codes, { 10, 0, 0 })
    t.eq(object_of(folder, "show", { 2 }).speedup.original, 2.0)
    local _, text = call(folder, "brief")
    t.match(text, "\nbaseline: trial 1 \"the tree as it is\", median 100.0 us, ")
    t.match(select(2, call(folder, "report")), "\nbaseline +trial 1, the tree as it is, median 100.0 us ")
end)
