-- --propose: what a command is told, what comes of its edits, and how such a run ends.
local command = require "ako.command"
local fs = require "ako.fs"
local json = require "ako.json"
local proposing = require "proposing"
local scripted = require "scripted"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local run, state, verdicts, holds = proposing.run, proposing.state, proposing.verdicts, proposing.holds

-- Three proposals: faster, slower, fastest; then nothing more.
local EDITS = "case $AKO_PROPOSAL in 1) edit time=50;; 2) edit time=80;; 3) edit time=25;; esac"

t.test("each edit is a trial; what is not kept is taken out, the best stays", function()
    local r = run(EDITS)
    t.eq(r.code, 0)
    t.eq(verdicts(r.folder), { "keep PASSED", "keep PASSED", "revert PASSED", "keep PASSED" })
    holds(r.folder, "time=25")
    t.eq(state(r.folder).best.candidate, "proposal 3")
    t.match(r.stdout, "ended: 3 proposals in a row without a change to try, the last one: it left the solution as it")
    t.match(r.stderr, "candidates  [^\n]*esac, 60 s each\n")
end)

t.test("the brief comes on standard input and as a file, with what is asked of a proposer", function()
    local r = run('cat > in; cmp in "$AKO_BRIEF" && mv in brief.$AKO_PROPOSAL; [ $AKO_PROPOSAL = 1 ] && edit time=50')
    t.eq(r.code, 0)
    local first, second = fs.read(r.folder .. "/brief.1"), fs.read(r.folder .. "/brief.2")
    t.match(first, "change one thing in solution/kernel.c, write why it is faster to %$AKO_HYPOTHESIS_FILE, exit with")
    t.ok(#first <= 2048, "no longer than a brief may be")
    t.match(second, "proposal 1")
    t.ok(not first:find("your last proposal was not tried", 1, true))
end)

t.test("a proposer is told why its last edit was not tried, and how many are left", function()
    local r = run('cat > brief.$AKO_PROPOSAL; echo "$AKO_REFUSALS:$AKO_REFUSED" > refused.$AKO_PROPOSAL')
    t.match(fs.read(r.folder .. "/brief.2"),
        "your last proposal was not tried: it left the solution as it was; that makes 1 in a row, after 3 the run ends")
    t.eq(fs.read(r.folder .. "/refused.1"), "0:\n")
    t.eq(fs.read(r.folder .. "/refused.3"), "2:it left the solution as it was\n")
end)

t.test("the environment says which session, trial, paths and verdict", function()
    local r = run("env > env.$AKO_PROPOSAL; pwd -P > pwd; " .. EDITS, { verb_options = { propose_seconds = 30 } })
    local known = state(r.folder)
    local function value(name, n)
        return ("\n" .. fs.read(r.folder .. "/env." .. n)):match("\n" .. name .. "=([^\n]*)")
    end
    local folder, records = fs.absolute(r.folder), known.folder
    local always = { AKO_SESSION = known.name, AKO_WORKSPACE = folder, AKO_SOLUTION = folder .. "/solution/kernel.c",
        AKO_SOLUTION_FILES = folder .. "/solution/kernel.c", AKO_TASK = folder .. "/task.lua", AKO_DEVICE = "cpu",
        AKO_SECONDS = "30", AKO_RECORDS = records, AKO_BRIEF = records .. "/brief.txt",
        AKO_HYPOTHESIS_FILE = records .. "/hypothesis.txt", AKO_LUA = fs.join(fs.program_dir(), "ako-lua") }
    for name, want in pairs(always) do t.eq(value(name, 1), want, name) end
    t.eq(fs.read(r.folder .. "/pwd"), folder .. "\n")
    local first = { AKO_TRIAL = "1", AKO_PROPOSAL = "1", AKO_BEST = "0", AKO_LAST_TRIAL = "0", AKO_STATUS = "PASSED",
        AKO_VERDICT = "keep", AKO_REASON = "baseline", AKO_LAST_FILES = records .. "/trials/0" }
    local third = { AKO_TRIAL = "3", AKO_PROPOSAL = "3", AKO_BEST = "1", AKO_LAST_TRIAL = "2", AKO_STATUS = "PASSED",
        AKO_VERDICT = "revert", AKO_LAST_FILES = records .. "/trials/2" }
    for name, want in pairs(first) do t.eq(value(name, 1), want, name) end
    for name, want in pairs(third) do t.eq(value(name, 3), want, name) end
    t.match(value("AKO_REASON", 3), "slower")
    t.eq(value("AKO_TRIAL", 6), "4", "proposals that are not tried use up no trial")
end)

t.test("docs/proposers.md names each variable that a command gets, and no other", function()
    local folder = scripted.task_folder "time=100"
    local ctx = scripted.context(folder, { policy = { budget = proposing.BUDGET } }, { propose = "env > env" })
    ctx.path = folder .. "/task.lua"
    t.eq(verbs.run(ctx), 0)
    local given, named = {}, {}
    for name in fs.read(folder .. "/env"):gmatch("%f[^\n\0](AKO_[%u_]+)=") do given[name] = true end
    local text = assert(fs.read(t.home .. "/docs/proposers.md"))
    for row in text:match("\n| variable | is |\n(.-)\n\n"):gmatch("[^\n]+") do
        for name in row:match("^|(.-)|"):gmatch("AKO_[%u_]+") do named[name] = true end
    end
    given.AKO_HOME = nil -- of whoever runs the tests
    t.eq(named, given)
end)

t.test("the hypothesis and the gain that it predicts go with the trial", function()
    local r = run([[[ $AKO_PROPOSAL = 1 ] && edit time=50
        printf 'half the loads\npredict: 40 %%\nsince w stays in L1\n' > "$AKO_HYPOTHESIS_FILE"]])
    local record = state(r.folder).history[2]
    t.eq({ record.hypothesis, record.predict }, { "half the loads since w stays in L1", 40 })
    t.eq(command.read_hypothesis "a\n\nPREDICT: -1.5%\n  b ", "a b")
    t.eq(select(2, command.read_hypothesis "a\nPREDICT: -1.5%\n"), -1.5)
    t.eq({ command.read_hypothesis "\n \n" }, {})
    t.eq({ command.read_hypothesis "predict: soon" }, { "predict: soon" })
    t.ok(utf8.len((command.read_hypothesis(("ä"):rep(5000)))) <= 1001, "a flood is cut")
    t.ok(utf8.len((command.read_hypothesis "\xff\0\27[2J")), "what is no text is shown as one")
end)

t.test("a hypothesis of an earlier proposal is not taken for the next one", function()
    local r = run('case $AKO_PROPOSAL in 1) edit time=50; echo first > "$AKO_HYPOTHESIS_FILE";; 2) edit time=25;; esac')
    local history = state(r.folder).history
    t.eq({ history[2].hypothesis, history[3].hypothesis }, { "first" })
end)

t.test("output goes to a file: of a trial beside its other files, else under the proposal's number", function()
    local r = run("echo to-stdout; echo to-stderr >&2; [ $AKO_PROPOSAL = 1 ] && edit time=50")
    local records = state(r.folder).folder
    t.match(fs.read(records .. "/trials/1/proposer.log"),
        "^proposal 1: .-\nexit 0 after %d+%.%d s\n\nto%-stdout\nto%-stderr\n$")
    t.match(fs.read(records .. "/proposals/2.log"), "^proposal 2: .-\nexit 1 after .-\n\nto%-stdout\nto%-stderr\n$")
    t.ok(not fs.exists(records .. "/proposals/1.log"))
    t.ok(not r.stderr:find("to-stdout\n", 1, true) and not r.stdout:find("to-stdout\n", 1, true))
end)

t.test("an exit other than 0 is no proposal, and what it left is kept", function()
    local r = run("edit time=10; echo 'quota used up'; exit 7")
    t.eq(r.code, 0)
    t.eq(verdicts(r.folder), { "keep PASSED" })
    holds(r.folder, "time=100")
    local known = state(r.folder)
    t.match(r.stderr, "not tried %(1 of 3 in a row%): exit 7: quota used up %(what it left is kept: refs/ako/[^\n]*/1")
    local ref = ("refs/ako/%s/proposals/1"):format(known.name)
    t.eq(known.repo:read(ref, "solution/kernel.c"), scripted.source "time=10")
    r = run "kill -SEGV $$"
    t.match(r.stderr, "not tried %(3 of 3 in a row%): killed by SIGSEGV")
end)

t.test("past its time a command is ended with all that it has started", function()
    local r = run("sleep 1000 & echo $! > pid; edit time=10; echo begun; sleep 1000",
        { policy = { budget = proposing.budget { no_ops = 1 } }, verb_options = { propose_seconds = 1 } })
    t.eq(r.code, 0)
    t.match(r.stderr, "not tried %(1 of 1 in a row%): no proposal within 1 s %(what it left is kept: ")
    t.ok(not fs.exists("/proc/" .. fs.read(r.folder .. "/pid"):match("%d+")))
    t.match(fs.read(state(r.folder).folder .. "/proposals/1.log"), "\nout of time after 1%.%d s\n\nbegun\n")
    holds(r.folder, "time=100")
end)

t.test("the policy says how many proposals without a change end a run; a trial begins the count anew", function()
    local policy = { budget = proposing.budget { no_ops = 2 } }
    local r = run("case $AKO_PROPOSAL in 2) edit time=90;; 4) edit time=80;; esac", { policy = policy })
    t.eq(state(r.folder).proposals, 6)
    t.match(r.stdout, "ended: 2 proposals in a row without a change to try")
    local known = { name = "lazy", description = "no numbers", budget = { build = 1, check = 1, time = 1 } }
    r = run("true", { policy = known })
    t.eq(r.code, 2)
    t.eq(r.stderr, "ako-lua: the policy lazy does not say budget.no_ops, which a proposer needs\n")
    known.budget.no_ops = 3
    r = run("true", { policy = known })
    t.eq(r.stderr, "ako-lua: the policy lazy does not say budget.propose, which a proposer needs; give it or "
        .. "--propose-seconds\n")
    t.eq(run("true", { policy = known, verb_options = { propose_seconds = 5 } }).code, 0)
end)

t.test("an edit that was just tried and reverted is not tried again: it counts as none", function()
    local r = run "edit time=150"
    t.eq(r.code, 0)
    t.eq(verdicts(r.folder), { "keep PASSED", "revert PASSED" })
    t.match(r.stdout, "3 proposals in a row [^\n]*: it is what trial 1 was, which is reverted")
    holds(r.folder, "time=100")
end)

t.test("a proposer that makes git forget the best is told of", function()
    local r = run [[edit time=$((90-AKO_PROPOSAL))
        rm -rf .git/refs/ako .git/refs/heads/ako .git/logs && git gc -q --prune=now]]
    t.eq(r.code, 125)
    t.match(r.stderr, "ako%-lua: git has lost the commit of trial %d, for somebody has deleted its ref; what was tried")
end)

t.test("what a policy's gate refuses counts as not tried, and the proposer reads why", function()
    local r = run('cat > brief.$AKO_PROPOSAL; edit time=$((50 - AKO_PROPOSAL))', { policy = { gate = function(_, given)
        if given.candidate ~= "baseline" and not given.hypothesis then return "say why it is faster" end
    end } })
    t.eq(verdicts(r.folder), { "keep PASSED" })
    t.match(r.stderr, "not tried %(1 of 3 in a row%): say why it is faster %(this edit is kept: refs/ako/")
    t.match(fs.read(r.folder .. "/brief.2"), "your last proposal was not tried: say why it is faster")
    holds(r.folder, "time=100")
end)

t.test("the policy's stop ends it, and leaves the best installed and verified", function()
    local rules = require "ako.rules"
    local r = run("case $AKO_PROPOSAL in 1) edit time=50;; *) edit time=$((100 + AKO_PROPOSAL));; esac",
        { policy = { stop = rules.budget { trials = 3 } } })
    t.eq(r.code, 0)
    t.eq(#state(r.folder).history, 4)
    holds(r.folder, "time=50")
    t.eq(state(r.folder).finished.best, 1)
    t.match(r.stdout, "ended: the budget of 3 trials is spent\n")
    r = run("sleep 0.3; edit time=$((100 - AKO_PROPOSAL))", { policy = { stop = rules.budget { seconds = 0.2 } } })
    t.match(r.stdout, "ended: the budget of 0.2 s is spent\n")
    holds(r.folder, "time=99")
end)

-- Where candidates come from

t.test("what cannot work is said before anything is made", function()
    local cases = {
        { { propose = "no-such-command --flag" }, "%-%-propose: there is no command no%-such%-command" },
        { { propose = "./no-such-script" }, "%-%-propose: there is no command ./no%-such%-script" },
        { { propose = " " }, "%-%-propose needs a command" },
        { { propose = "true", candidates = "candidates" }, "%-%-candidates and %-%-propose exclude each other" },
        { { propose_seconds = 5 }, "%-%-propose%-seconds belongs to %-%-propose" },
        { { candidates = "nowhere" }, "nowhere" },
    }
    for _, verb in ipairs { "run", "plan" } do
        for _, case in ipairs(cases) do
            local folder = scripted.task_folder "time=100"
            local ctx = scripted.context(folder, { policy = { budget = proposing.BUDGET } }, case[1])
            t.eq(verbs[verb](ctx), 2, case[2])
            t.match(ctx.console.stderr, "^ako%-lua: [^\n]*" .. case[2] .. "[^\n]*\n$")
            t.ok(not fs.exists(folder .. "/.git"), "nothing is made")
        end
    end
end)

t.test("a command's first word may be anything that the shell knows", function()
    local folder = t.tmpdir()
    assert(fs.write(folder .. "/edit.sh", "exit 0\n"))
    for _, text in ipairs { "true", "FOO=1 true", "(true)", "exec true", "sh edit.sh", ": ; true", "'true'", "$X true",
        "if true; then true; fi", "cd . && true", "{ true; }", "~/x" } do
        command.check(text, folder)
    end
    t.err("there is no command no_such$", command.check, "no_such|cat", folder)
end)

t.test("plan shows the command and runs none of it; a run's JSON says why it ended", function()
    local r = run("touch ran", { verb = "plan" })
    t.eq(r.code, 0)
    t.match(r.stdout, "\ncandidates  [^\n]*; touch ran, 60 s each\n")
    t.ok(not fs.exists(r.folder .. "/ran") and not fs.exists(r.folder .. "/.git"))
    r = run(EDITS, { host = { json = true, quiet = true } })
    local object = json.decode(r.stdout)
    t.eq({ object.trial, object.candidate, object.run.trials, object.run.kept }, { 3, "proposal 3", 3, 2 })
    t.match(object.run.ended, "^3 proposals in a row without a change to try")
    t.eq(r.stderr, "")
end)

t.test("a run that is resumed goes on with its command", function()
    local folder = scripted.task_folder "time=100"
    local function interrupt(script) if script.time == "40" then return nil, "interrupted", "CANCELLED" end end
    local r = run("edit time=$((60 - 10 * AKO_PROPOSAL))", { folder = folder, host = { on_trial = interrupt } })
    t.eq(r.code, 130)
    holds(folder, "time=50")
    r = run(nil, { folder = folder, verb = "resume", policy = { stop = function(given)
        if given.trials >= 4 then return "enough" end
    end } })
    t.eq(r.code, 0, r.stderr)
    t.match(r.stdout, "ended: enough\n")
    holds(folder, "time=20")
    t.eq(state(folder).history[5].candidate, "proposal 4")
end)

t.test("resume with a folder leaves the command", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=20" })
    local r = run("edit time=40", { folder = folder, host = { on_trial = function(script)
        if script.time == "40" then return nil, "interrupted", "CANCELLED" end
    end } })
    t.eq(r.code, 130)
    r = run(nil, { folder = folder, verb = "resume", verb_options = { candidates = folder .. "/candidates" } })
    t.eq({ r.code, state(folder).best.candidate }, { 0, "a.c" })
    t.match(r.stdout, "ended: no more candidates\n")
end)

-- A function of the policy

local function with_function(propose, changes)
    local policy = { budget = proposing.budget(), propose = propose }
    for name, value in pairs(changes or {}) do policy[name] = value end
    return run(nil, { policy = policy })
end

t.test("a policy's function proposes: its candidates are tried, nil and a reason end the run", function()
    local seen = {}
    local r = with_function(function(given)
        seen[#seen + 1] = { given.next_trial, given.best.trial, given.last.verdict }
        if given.trials == 0 then
            return { name = "half", text = scripted.source "time=50", hypothesis = "half the work", predict = 50 }
        elseif given.trials == 1 then
            return { files = { ["solution/kernel.c"] = scripted.source "time=70" } }
        end
        return nil, "the table is empty"
    end)
    t.eq(r.code, 0)
    t.eq(seen, { { 1, 0, "keep" }, { 2, 1, "keep" }, { 3, 1, "revert" } })
    local history = state(r.folder).history
    t.eq({ history[2].candidate, history[2].hypothesis, history[2].predict, history[3].candidate },
        { "half", "half the work", 50, "proposal 2" })
    holds(r.folder, "time=50")
    t.match(r.stdout, "ended: the table is empty\n")
    t.match(r.stderr, "candidates  the policy's own function\n")
end)

t.test("a function that gives the best again does nothing; three times end the run", function()
    local r = with_function(function() return { name = "again", text = scripted.source "time=100" } end)
    t.eq(verdicts(r.folder), { "keep PASSED" })
    t.match(r.stdout, "ended: 3 proposals in a row without a change to try, the last one: again is what the best is")
end)

t.test("what is no candidate is a mistake in the policy, with its field named; the best stays", function()
    local cases = {
        { 7, "it gave a number value" },
        { {}, "it needs a text or files, one of the two" },
        { { text = "x", files = {} }, "it needs a text or files, one of the two" },
        { { text = 7 }, "its text is a number value" },
        { { txt = "x" }, "it has a field 'txt' %(did you mean 'text'%?%)" },
        { { files = {} }, "its files are none" },
        { { files = { ["task.lua"] = "x" } }, "'task.lua' is no file of the solution %(solution/kernel.c%)" },
        { { files = { ["solution/kernel.c"] = 7 } }, "files%['solution/kernel.c'%] is a number value" },
        { { text = "x", predict = 0 / 0 }, "its predict, %-?nan, is no gain in per cent" },
        { { text = "x", predict = math.huge }, "its predict, inf, is no gain in per cent" },
        { { text = "x", predict = "5 %" }, "its predict is a string value" },
    }
    for _, case in ipairs(cases) do
        local r = with_function(function() return case[1] end)
        t.eq(r.code, 4, case[2])
        t.match(r.stderr, "\nako%-lua: hook 'propose' must return a candidate, or nil and why not: " .. case[2] .. "\n")
        holds(r.folder, "time=100")
    end
end)

t.test("a folder and a command go before a policy's function; a function before the tune lines", function()
    local function never() error "asked all the same" end
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    local policy = { budget = proposing.budget(), propose = never }
    local r = run(nil, { folder = folder, policy = policy, verb_options = { candidates = folder .. "/candidates" } })
    t.eq({ r.code, state(folder).best.candidate }, { 0, "a.c" })
    r = run("[ $AKO_PROPOSAL = 1 ] && edit time=50", { policy = policy })
    t.eq({ r.code, state(r.folder).best.candidate }, { 0, "proposal 1" })
    folder = scripted.task_folder "time=100"
    assert(fs.write(folder .. "/solution/kernel.c", "//! tune N = 1, 2\n" .. scripted.source "time=100"))
    local screen = { rounds = { 2 }, finalists = 2, least = 6, points = 16 }
    policy.propose = function() return nil, "asked" end
    policy.timing = { warmup = 1, launches = 10, flush = true, timer = "auto", alpha = 0.05, reference = true,
        statistic = "mean", screen = screen }
    r = run(nil, { folder = folder, policy = policy })
    t.match(r.stdout, "ended: asked\n")
end)

t.test("all ways of proposing leave the same records", function()
    local records = {}
    local function take(r)
        local record = state(r.folder).history[2]
        records[#records + 1] = { record.trial, record.status, record.verdict, record.reason, record.speedup,
            record.size, record.time_ns, record.workloads }
    end
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    take(run(nil, { folder = folder, verb_options = { candidates = folder .. "/candidates" } }))
    take(run "[ $AKO_PROPOSAL = 1 ] && edit time=50")
    take(with_function(function(given)
        if given.trials > 0 then return nil end
        return { text = scripted.source "time=50" }
    end))
    t.eq(records[2], records[1])
    t.eq(records[3], records[1])
end)
