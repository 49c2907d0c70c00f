-- What a policy's hooks beside the verdict bring about: gate, logs, branch, protected files, scaffold, plan.
local clock = require "ako.clock"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local scripted = require "scripted"
local session = require "ako.session"
local steps = require "steps"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local edit = scripted.edit

local function try(folder, policy, options, host)
    local given = host or {}
    given.policy = policy
    local ctx, requests = scripted.context(folder, given, options)
    return verbs.try(ctx), ctx.console, requests
end

local function newest(folder)
    local repo = assert(git.open(folder))
    return session.newest { repo = repo, folder = fs.absolute(folder) }, repo
end

t.test("a gate refuses a trial before it begins: one line, 13, no number burned", function()
    local folder = scripted.task_folder "time=100"
    local seen = {}
    local policy = { gate = function(run, proposal)
        seen[#seen + 1] = { run.next_trial, proposal.trial, #proposal.changed, proposal.hypothesis or "",
            proposal.label or "", proposal.predict or 0 }
        if proposal.trial > 0 and not proposal.hypothesis then return "no hypothesis; give one with -m TEXT" end
    end }
    t.eq(try(folder, policy), 0)
    edit(folder, "time=50")
    local code, console, requests = try(folder, policy)
    t.eq({ code, #requests }, { 13, 0 })
    t.eq(console.stdout, "trial 1 may not begin: no hypothesis; give one with -m TEXT\n")
    code, console = try(folder, policy, nil, { json = true })
    local object = json.decode(console.stdout)
    t.eq({ code, object.trial, object.refused }, { 13, 1, "no hypothesis; give one with -m TEXT" })
    t.eq(#newest(folder).history, 1)
    t.eq(try(folder, policy, { message = "half", predict = 40.5, label = "iter-1" }), 0)
    t.eq(seen[1], { 0, 0, 1, "", "", 0 })
    t.eq(seen[4], { 1, 1, 1, "half", "iter-1", 40.5 })
    local record = newest(folder).history[2]
    t.eq({ record.trial, record.predict, record.label, record.against }, { 1, 40.5, "iter-1", 0 })
    t.eq(record.size, { lines = 1, branches = 0, knobs = 0 })
end)

t.test("a gate that refuses the first trial leaves no session behind", function()
    local folder = scripted.task_folder "time=100"
    local policy = { gate = function() return "the contract is missing; write it" end }
    t.eq(try(folder, policy), 13)
    local ctx = scripted.context(folder, { policy = policy })
    t.eq(verbs.run(ctx), 13)
    t.eq(ctx.console.stdout, "trial 0 may not begin: the contract is missing; write it\n")
    local found, repo = newest(folder)
    t.eq({ found, #session.names(repo) }, { nil, 0 })
end)

t.test("the facts that a gate gives are announced with the trial and in its record; others are a mistake", function()
    local folder = scripted.task_folder "time=100"
    local policy = { gate = function(run)
        if run.next_trial == 1 then return nil, { plan = "v2", expected = 0.05 } end
    end }
    t.eq(try(folder, policy), 0)
    edit(folder, "time=50")
    t.eq(try(folder, policy), 0)
    edit(folder, "time=60")
    t.eq(try(folder, policy), 1)
    local state, repo = newest(folder)
    t.eq({ state.history[1].facts, state.history[3].facts }, {})
    t.eq(state.history[2].facts, { plan = "v2", expected = 0.05 })
    local journal = fs.read(("%s/ako/%s/journal.jsonl"):format(repo:commondir(), state.name))
    t.match(journal, '"expected":0.05[^\n]*"kind":"intent"')
    edit(folder, "time=40")
    local code, console = try(folder, { gate = function() return nil, "v2" end })
    t.eq(code, 4)
    t.match(console.stderr, "hook 'gate' must give facts that JSON can say, gave a string value")
    t.eq(#newest(folder).history, 3)
end)

t.test("a run's baseline has the gate's facts, too; the view knows the workloads' weights", function()
    local folder = scripted.task_folder "time=100"
    local seen
    local policy = { gate = function(run)
        seen = { run.task.workloads, run.task.weights }
        return nil, { lane = "c" }
    end }
    local ctx = scripted.context(folder, { policy = policy })
    t.eq(verbs.run(ctx), 0)
    t.eq(newest(folder).history[1].facts, { lane = "c" })
    t.eq(seen, { { "N=64" }, { 1.0 } })
    t.eq(verbs.brief(ctx), 0)
end)

t.test("the same machine code is measured where the policy wants it", function()
    local folder = scripted.task_folder "time=100"
    local asked
    local policy = { unchanged = function(change)
        asked = { change.size.lines, change.best.size.lines, #change.sources }
        return change.size.lines < change.best.size.lines
    end, accept = function(trial, best) return trial.size.lines < best.size.lines and "keep" or "revert", "size" end }
    assert(fs.write(folder .. "/solution/kernel.c", scripted.source "time=100 hash=a" .. "int one;\nint two;\n"))
    t.eq(try(folder, policy), 0)
    local function edit_text(more)
        assert(fs.write(folder .. "/solution/kernel.c", scripted.source "time=100 hash=a" .. more))
    end
    edit_text "int one;\nint two;\nint three;\n"
    local code, console, requests = try(folder, policy)
    t.eq({ code, asked, #requests }, { 1, { 4, 3, 1 }, 1 })
    t.match(console.stdout, "no effect")
    edit_text "int one;\n"
    code, console, requests = try(folder, policy)
    t.eq({ code, asked, #requests }, { 0, { 2, 3, 1 }, 2 })
    t.match(console.stdout, "\nkeep: size\n")
    t.eq(newest(folder).best.trial, 2)
end)

t.test("a gate that says anything but words is the policy's mistake", function()
    local folder = scripted.task_folder "time=100"
    local code, console = try(folder, { gate = function() return true end })
    t.eq(code, 4)
    t.match(console.stderr, "hook 'gate' must give its reason in words")
end)

local function log_of(run)
    local lines = {}
    for i, record in ipairs(run.history) do lines[i] = ("%d %s"):format(record.trial, record.verdict) end
    return { ["LOG.md"] = table.concat(lines, "\n") .. "\n", ["sub/last.txt"] = run.last_sources[1].text }
end

t.test("logs are rendered after every trial and at the end", function()
    local folder = scripted.task_folder "time=100"
    local policy = { logs = function(run)
        local files = log_of(run)
        if run.finished then files["END.md"] = run.finished.ended .. " " .. run.finished.verified.status .. "\n" end
        return files
    end }
    scripted.candidates(folder, { ["a.c"] = "time=50", ["b.c"] = "time=80" })
    local ctx = scripted.context(folder, { policy = policy }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    t.eq(fs.read(folder .. "/LOG.md"), "0 keep\n1 keep\n2 revert\n")
    t.eq(fs.read(folder .. "/sub/last.txt"), scripted.source "time=80")
    t.eq(fs.read(folder .. "/END.md"), "no more candidates PASSED\n")
end)

t.test("a log that somebody has edited, or made before, is left alone and said so, once", function()
    local folder = scripted.task_folder "time=100"
    assert(fs.write(folder .. "/LOG.md", "mine\n"))
    local policy = { logs = log_of }
    local code, console = try(folder, policy)
    t.eq(code, 0)
    t.match(console.stderr, "LOG.md holds what somebody else has written: left alone")
    t.eq(fs.read(folder .. "/LOG.md"), "mine\n")
    assert(fs.write(folder .. "/sub/last.txt", "edited\n"))
    edit(folder, "time=50")
    code, console = try(folder, policy)
    t.eq(code, 0)
    t.match(console.stderr, "sub/last.txt holds [^\n]*: left alone, rendered to sub/last.ako.txt")
    t.eq(fs.read(folder .. "/sub/last.txt"), "edited\n")
    t.eq(fs.read(folder .. "/sub/last.ako.txt"), scripted.source "time=50")
    assert(fs.remove_tree(folder .. "/LOG.md"))
    edit(folder, "time=40")
    try(folder, policy)
    t.eq(fs.read(folder .. "/LOG.md"), "0 keep\n1 keep\n2 keep\n")
end)

t.test("where a log cannot lie is somebody else's: the trial and its commit stand", function()
    local folder = scripted.task_folder "time=100"
    assert(fs.write(folder .. "/sub", "mine\n"))
    assert(fs.mkdirs(folder .. "/LOG.md"))
    for _, script in ipairs { "time=100", "time=50" } do
        edit(folder, script)
        local code, console = try(folder, { logs = log_of, git = { paths = { "notes", "pipe" } } })
        t.eq(code, 0)
        t.match(console.stderr, "sub/last.txt holds what somebody else has written: left alone")
        assert(fs.mkdirs(folder .. "/notes/own"))
        steps.sh("mkfifo notes/pipe pipe 2>/dev/null; echo n >notes/n", folder) -- no obstacle to a commit either
    end
    local state, repo = newest(folder)
    t.eq(fs.read(folder .. "/sub"), "mine\n")
    t.eq(#state.pending, 0)
    t.eq(repo:read(state.branch.ref, "notes/n"), "n\n")
end)

t.test("a new session's logs replace an old one's, which keeps a copy", function()
    local folder = scripted.task_folder "time=100"
    local policy = { logs = log_of }
    for _, name in ipairs { "one", "two" } do
        t.eq(try(folder, policy, nil, { session = name }), 0)
        edit(folder, "time=50")
        if name == "one" then try(folder, policy, nil, { session = name }) end
    end
    t.eq(fs.read(folder .. "/LOG.md"), "0 keep\n")
    t.eq(fs.read(folder .. "/.git/ako/one/renderings/LOG.md"), "0 keep\n1 keep\n")
end)

t.test("logs that would leave the workspace or hide the solution are the policy's mistake; the trial stands", function()
    for _, path in ipairs { "../x", "/tmp/x", ".git/config", "sub/.GIT/x", "solution/kernel.c", "a//b", "a/", "" } do
        local folder = scripted.task_folder "time=100"
        local code, console = try(folder, { logs = function() return { [path] = "text" } end })
        t.eq(code, 4, path)
        t.match(console.stderr, "is no file of the workspace that may be rendered")
        t.eq(#newest(folder).history, 1)
        t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=100")
    end
end)

local BRANCH = { branch = "opt/{task}", every = true, paths = { "notes" },
    subject = function(record) return ("[iter %d] %s"):format(record.trial, record.verdict) end,
    final = function(run) return ("[final] Restore iter-%d"):format(run.best.trial) end,
    tag = function(run) return "done-" .. run.task.name end }

local function subjects(repo, ref)
    local list = {}
    for i, commit in ipairs(repo:log(ref)) do list[i] = commit.message:match("^[^\n]*") end
    return list
end

t.test("a policy's branch has every trial, the logs and the end", function()
    local folder = scripted.task_folder "time=100"
    assert(fs.mkdirs(folder .. "/notes"))
    assert(fs.write(folder .. "/notes/a.txt", "note\n"))
    scripted.candidates(folder, { ["a.c"] = "time=50", ["b.c"] = "time=80" })
    local ctx = scripted.context(folder, { policy = { git = BRANCH, logs = log_of } },
        { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    local _, repo = newest(folder)
    local branch = "refs/heads/opt/scale"
    t.eq(subjects(repo, branch),
        { "[final] Restore iter-1", "[iter 2] revert", "[iter 1] keep", "[iter 0] keep" })
    t.eq(repo:read(branch .. "~1", "solution/kernel.c"), scripted.source "time=80")
    t.eq(repo:read(branch .. "~1", "LOG.md"), "0 keep\n1 keep\n2 revert\n")
    t.eq(repo:read(branch, "solution/kernel.c"), scripted.source "time=50")
    t.eq(repo:read(branch, "notes/a.txt"), "note\n")
    t.eq(repo:resolve "refs/tags/done-scale^{commit}", repo:resolve(branch))
    t.match(ctx.console.stdout, "branch opt/scale,")
    t.eq(repo:head().unborn, true)
end)

t.test("a branch that is there, checked out or in the way is not ours: the next name, and said", function()
    local folder = scripted.task_folder "time=100"
    local repo = assert(git.init(folder))
    local commit = assert(repo:commit { tree = assert(repo:tree(nil, { "." })), parents = {}, message = "mine",
        ref = "refs/heads/main" })
    assert(repo:set_ref("refs/heads/opt/scale", commit))
    local _, console = try(folder, { git = BRANCH })
    t.match(console.stderr, "branch      opt/scale%-2\n")
    t.eq(repo:resolve "refs/heads/opt/scale", commit)
    -- The user checks ours out: from now on it is his.
    local tip = repo:resolve "refs/heads/opt/scale-2"
    assert(fs.write(folder .. "/.git/HEAD", "ref: refs/heads/opt/scale-2\n"))
    edit(folder, "time=50")
    _, console = try(folder, { git = BRANCH })
    t.match(console.stderr, "branch      opt/scale%-3\n")
    t.eq(repo:resolve "refs/heads/opt/scale-2", tip)
    t.eq(subjects(repo, "refs/heads/opt/scale-3"), { "[iter 1] keep", "[iter 0] keep", "mine" })
    -- And one that somebody has moved.
    assert(repo:set_ref("refs/heads/opt/scale-3", commit))
    edit(folder, "time=40")
    try(folder, { git = BRANCH })
    t.eq(repo:resolve "refs/heads/opt/scale-3", commit)
    t.eq(#repo:log "refs/heads/opt/scale-4", 4)
    -- A branch "x" leaves no room for "x/y".
    assert(repo:set_ref("refs/heads/x", commit))
    _, console = try(folder, { git = { branch = "x/{task}" } }, nil, { session = "other" })
    t.match(console.stderr, "branch      x%-scale\n")
end)

t.test("a subject that fails is the policy's mistake; the trial stands", function()
    local folder = scripted.task_folder "time=100"
    local code = try(folder, { git = { subject = function() return 3 end } })
    t.eq(code, 4)
    t.eq(#newest(folder).history, 1)
end)

t.test("a reason of any bytes, or none that is text, costs nothing but itself", function()
    local bytes = "it\0is \xFF\27[2J"
    for _, accept in ipairs { function() return "revert", bytes end, function() error(bytes, 0) end,
        function() return bytes end } do
        local folder = scripted.task_folder "time=100"
        t.eq(try(folder), 0)
        edit(folder, "time=50")
        pcall(try, folder, { accept = accept, git = { every = true } })
        t.eq(#newest(folder).history, 2)
        t.match(newest(folder).history[2].reason, "it\\x00is \\xFF\\x1B")
        edit(folder, "time=40")
        t.eq(try(folder, { git = { every = true } }), 0)
        t.eq(#newest(folder).pending, 0)
        local ctx = scripted.context(folder, nil, { message = "done" })
        t.eq(verbs.finish(ctx), 0, ctx.console.stderr)
    end
end)

t.test("what is written to while it is read decides nothing, though it is put back", function()
    local folder = scripted.task_folder "time=100"
    local file = folder .. "/mine.lua"
    assert(fs.write(file, "-- a policy\n"))
    local function attempt(put_back, at)
        local function on_trial()
            if at == "trial" then assert(fs.write(put_back, assert(fs.read(put_back)))) end
            return true
        end
        local ctx = scripted.context(folder, { on_trial = on_trial })
        ctx.path, ctx.started_ns = file, clock.wall_ns()
        local begin = ctx.start_evaluator
        function ctx.start_evaluator()
            if at == "start" then assert(fs.write(put_back, assert(fs.read(put_back)))) end
            return begin()
        end
        clock.sleep_ns(20 * 1000000) -- a file system's clock is coarse
        return verbs.try(ctx), ctx.console.stdout .. ctx.console.stderr
    end
    t.eq(attempt(), 0)
    for _, name in ipairs { folder .. "/task.lua", folder .. "/reference.c", file } do
        edit(folder, "time=50")
        local code, text = attempt(name, "start")
        t.eq(code, 13, text)
        t.match(text, "protected file [^\n]* was written to while it was being read; try again\n")
        t.eq(#newest(folder).history, 1)
    end
    for _, name in ipairs { folder .. "/task.lua", file } do -- between the reading and the trial
        local policy = { gate = function() assert(fs.write(name, assert(fs.read(name)))) end }
        local ctx = scripted.context(folder, { policy = policy })
        ctx.path, ctx.started_ns = file, clock.wall_ns()
        edit(folder, "time=50")
        t.eq(verbs.try(ctx), 13)
        t.match(ctx.console.stdout, "protected file [^\n]* changed since the session began")
    end
    edit(folder, "time=50")
    local code, text = attempt(folder .. "/reference.c", "trial")
    t.eq(code, 13)
    t.match(text, "protected file reference.c changed while this ran")
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=100")
end)

t.test("a protected folder with a link that leads back to what holds it", function()
    local folder = scripted.task_folder "time=100"
    assert(fs.mkdirs(folder .. "/scripts/deep"))
    steps.sh("ln -s .. scripts/loop; ln -s ../../scripts/deep scripts/deep/self; ln -s nowhere scripts/gone", folder)
    local policy = { protected = { "scripts" } }
    t.eq(try(folder, policy), 0)
    edit(folder, "time=50")
    t.eq(try(folder, policy), 0)
    steps.sh("rm scripts/loop", folder)
    edit(folder, "time=20")
    local code, console = try(folder, policy)
    t.eq(code, 13)
    t.match(console.stdout, "protected file scripts/loop changed")
end)

t.test("what a policy protects, new files in its folders, and the policy itself", function()
    local folder = scripted.task_folder "time=100"
    assert(fs.mkdirs(folder .. "/scripts/deep"))
    assert(fs.write(folder .. "/scripts/deep/eval.sh", "true\n"))
    local file = folder .. "/mine.lua"
    assert(fs.write(file, "-- a policy\n"))
    local function attempt(change, script)
        change()
        edit(folder, script)
        local ctx = scripted.context(folder, { policy = { protected = { "scripts", "README.md" } } })
        ctx.path = file
        return verbs.try(ctx), ctx.console.stdout
    end
    t.eq(attempt(function() end, "time=100"), 0)
    t.eq(attempt(function() end, "time=50"), 0)
    local function refused(name, change, undo)
        local code, text = attempt(change, "time=20")
        t.eq(code, 13, name)
        t.match(text, "protected file " .. name:gsub("%p", "%%%0") .. " changed since the session began")
        undo()
    end
    refused("scripts/deep/eval.sh", function() fs.write(folder .. "/scripts/deep/eval.sh", "false\n") end,
        function() fs.write(folder .. "/scripts/deep/eval.sh", "true\n") end)
    refused("scripts/new.sh", function() fs.write(folder .. "/scripts/new.sh", "x") end,
        function() fs.remove_tree(folder .. "/scripts/new.sh") end)
    refused("README.md", function() fs.write(folder .. "/README.md", "x") end,
        function() fs.remove_tree(folder .. "/README.md") end)
    for _, name in ipairs { "scripts/.eval.sh.swp", "scripts/eval.sh~", "scripts/deep/#eval.sh#" } do
        assert(fs.write(folder .. "/" .. name, "an editor's"))
    end
    t.eq(attempt(function() end, "time=20"), 0, "looked at in an editor")
    refused("mine.lua", function() fs.write(file, "-- another\n") end, function() fs.write(file, "-- a policy\n") end)
    t.eq(attempt(function() end, "time=10"), 0)
end)

t.test("a scaffold is given where it is missing; a merge is said", function()
    local folder = scripted.task_folder "time=100"
    assert(fs.write(folder .. "/HINTS.md", "old\n"))
    assert(fs.write(folder .. "/ITERATIONS.md", "history\n"))
    local policy = { scaffold = function(facts)
        local hints = facts.read "HINTS.md" or ""
        return { ["ITERATIONS.md"] = "new\n", ["scripts/bench.sh"] = "#!/bin/sh\n",
            ["HINTS.md"] = { text = hints:find("new hint", 1, true) and hints or hints .. "new hint\n", merge = true,
                say = "HINTS.md: added 'new hint' from the command line" } }
    end }
    local _, console = try(folder, policy)
    t.match(console.stderr, "scaffold    HINTS.md: added 'new hint' from the command line\n")
    t.match(console.stderr, "scaffold    scripts/bench.sh: made\n")
    t.eq(fs.read(folder .. "/HINTS.md"), "old\nnew hint\n")
    t.eq(fs.read(folder .. "/ITERATIONS.md"), "history\n")
    steps.sh("rm ITERATIONS.md && ln -s ../elsewhere.md ITERATIONS.md", folder)
    _, console = try(folder, policy, nil, { session = "again" })
    t.eq(console.stderr:find("scaffold", 1, true), nil)
    t.eq(fs.stat(folder .. "/ITERATIONS.md").type, "link", "one that leads nowhere")
end)

t.test("a scaffold that is none, or would leave the workspace, is the policy's mistake and makes nothing", function()
    for _, files in ipairs { 3, "x", true, { 5 }, { a = 3 }, { ["../ako-test-out"] = "" }, { ["/tmp/outside"] = "" },
        { [".git/x"] = "" }, { ["a/../../ako-test-out"] = "" }, { ["a\xFF"] = "" } } do
        local folder = scripted.task_folder "time=100"
        local code, console = try(folder, { scaffold = function() return files end })
        t.eq(code, 4)
        t.match(console.stderr, "\nako%-lua: hook 'scaffold'[^\n]+\n$")
        t.eq({ fs.exists(folder .. "/a"), fs.exists(folder .. "/../ako-test-out") }, { false, false })
    end
end)

t.test("options that are not at their defaults are on record, for a trial and for the end", function()
    local folder = scripted.task_folder "time=100"
    local policy = { options = { least = { 0.01, "of a gain" }, why = { "", "words" } } }
    local function call(verb, script, opt, options)
        if script then edit(folder, script) end
        local ctx = scripted.context(folder, { policy = policy, json = verb ~= "report" }, options)
        ctx.opt, ctx.operands = opt, { 1 }
        local code = verbs[verb](ctx)
        return code, ctx.console.stdout
    end
    t.eq(call("try", nil, { least = 0.01, why = "" }), 0)
    t.eq(call("try", "time=50", { least = 0.5, why = "\xFF" }), 0)
    t.eq(newest(folder).history[1].options, nil)
    t.eq(newest(folder).history[2].options, { least = 0.5, why = "\\xFF" })
    t.eq(json.decode(select(2, call("show", nil, {}))).options, { least = 0.5, why = "\\xFF" })
    t.eq(call("finish", nil, { least = 2.0, why = "" }, { message = "done" }), 0)
    t.eq(newest(folder).finished.options, { least = 2.0 })
    t.match(select(2, call("report", nil, {})), '\noptions +{"least":2.0} at the end\n')
end)

t.test("a policy's own plan comes first; a question of it ends with 2", function()
    local folder = scripted.task_folder "time=100"
    local function plan_with(policy, host)
        host = host or {}
        host.policy = policy
        local ctx = scripted.context(folder, host)
        return verbs.plan(ctx), ctx.console
    end
    local own = function(facts)
        t.eq(facts.task.tensors[1], { name = "x", dtype = "f32", dims = { "N" }, role = "input" })
        return { { "Kernel", facts.task.solution[1] }, { "Workspace", facts.workspace } }
    end
    local code, console = plan_with { plan = own }
    t.eq(code, 0)
    t.match(console.stdout, "^Kernel      solution/kernel.c\nWorkspace   /")
    t.match(console.stdout, "\ncandidates  none")
    code, console = plan_with({ plan = own }, { json = true })
    t.eq(code, 0)
    t.eq(json.decode(console.stdout).resolved.Kernel, "solution/kernel.c")
    code, console = plan_with { plan = function() return nil, "which of a.cu and b.cu is the kernel?" end }
    t.eq({ code, console.stderr }, { 2, "ako-lua: which of a.cu and b.cu is the kernel?\n" })
end)

t.test("the best is verified as often as the policy says, and the mean is given", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    local timing = scripted.policy().timing
    timing.verify = 5
    local ctx, requests = scripted.context(folder, { policy = { timing = timing }, json = true },
        { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    local object = json.decode(ctx.console.stdout)
    t.eq({ #object.runs, object.time_ns.median, object.runs[5].median }, { 5, 50000, 50000 })
    local timed = 0
    for _, request in ipairs(requests) do
        if request.script.time == "50" and request.steps:find("time") then timed = timed + 1 end
    end
    t.eq(timed, 6)
end)

t.test("a first look is cheaper and keeps nothing: what it would keep is measured in full", function()
    local folder = scripted.task_folder "time=100"
    local timing = scripted.policy().timing
    timing.signal = { trials = 1, launches = "few", no_reference = "no_ref" }
    local function attempt(script, opt)
        edit(folder, script)
        local ctx, requests = scripted.context(folder, { policy = { timing = timing } })
        ctx.opt = opt
        local code, seen = verbs.try(ctx), {}
        for _, request in ipairs(requests) do
            local numbers = request.numbers
            if request.steps:find("time") then
                seen[#seen + 1] = { #numbers.check.seeds, numbers.time.launches, numbers.time.reference }
            end
        end
        return code, seen, newest(folder).history
    end
    local FULL = { 2, 10, true }
    local code, seen, history = attempt("time=100", { few = 3, no_ref = true })
    t.eq({ code, seen, history[1].signal }, { 0, { FULL } })
    code, seen, history = attempt("time=150", { few = 3, no_ref = true })
    t.eq({ code, seen, history[2].signal }, { 1, { { 1, 3, false } }, { trials = 1, launches = 3, reference = false } })
    code, seen, history = attempt("time=50", { few = 3, no_ref = false })
    t.eq({ code, seen, history[3].signal }, { 0, { { 1, 3, true }, FULL } })
    timing.signal.trials = 2
    code, seen = attempt("time=40", { few = 10, no_ref = false })
    t.eq({ code, seen }, { 0, { FULL } })
    code = attempt("time=30", {})
    t.eq(code, 2)
end)

t.test("a task's first content may lie elsewhere, and is left there", function()
    local folder = scripted.task_folder "time=100"
    assert(fs.mkdirs(folder .. "/source"))
    assert(fs.write(folder .. "/source/scale.c", scripted.source "time=70"))
    assert(fs.remove_tree(folder .. "/solution"))
    local text = fs.read(folder .. "/task.lua"):gsub('"solution/kernel.c" }',
        '"solution/kernel.c", from = { "source/scale.c" } }')
    assert(fs.write(folder .. "/task.lua", text))
    t.eq(try(folder), 0)
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=70")
    edit(folder, "time=50")
    t.eq(try(folder), 0)
    t.eq(fs.read(folder .. "/source/scale.c"), scripted.source "time=70")
end)

t.test("a question of the policy's plan comes before anything is made", function()
    local folder = scripted.task_folder "time=100"
    local code, console = try(folder, { plan = function() return nil, "which of the two?" end })
    t.eq({ code, console.stderr }, { 2, "ako-lua: which of the two?\n" })
    t.eq(fs.exists(folder .. "/.git"), false)
end)

t.test("a policy's own end comes before its last logs, its commit and its tag", function()
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    local policy = { submit = function(run) return ("packed %d"):format(run.finished.verified.trial) end,
        logs = function(run) return { ["LOG.md"] = (run.finished and run.finished.said or "open") .. "\n" } end }
    local ctx = scripted.context(folder, { policy = policy }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    t.eq(fs.read(folder .. "/LOG.md"), "packed 1\n")
    t.match(ctx.console.stderr, "submit      packed 1\n")
    folder = scripted.task_folder "time=100"
    ctx = scripted.context(folder, { policy = { submit = function() return true end } })
    t.eq(verbs.run(ctx), 4)
    t.match(ctx.console.stderr, "hook 'submit' must give its reason in words")
end)

t.test("a policy may have something against an end by hand: one line, 13, and the session goes on", function()
    local folder = scripted.task_folder "time=100"
    local seen
    local policy = { finish = function(run, why)
        seen = { run.next_trial, why }
        if why ~= "enough" then return "two directions are still to be tried" end
    end }
    t.eq(try(folder, policy), 0)
    local function finish(why, host)
        host = host or {}
        host.policy = policy
        local ctx = scripted.context(folder, host, { message = why })
        return verbs.finish(ctx), ctx.console.stdout
    end
    local name = newest(folder).name
    local code, said = finish "tired"
    t.eq({ code, said, seen }, { 13,
        ("session %s is not finished: two directions are still to be tried\n"):format(name), { 1, "tired" } })
    t.eq(json.decode((select(2, finish("tired", { json = true })))).refused, "two directions are still to be tried")
    t.eq(newest(folder).finished, nil)
    t.eq((finish "enough"), 0)
    t.eq(newest(folder).finished.ended, "enough")
end)

t.test("a gate sees which point of a tune space it is asked about", function()
    local folder = scripted.task_folder "time=100"
    local source = "//! tune BLOCK = 1, 2\n" .. scripted.source "time=100" .. "// with BLOCK=2: time=50 hash=b\n"
    assert(fs.write(folder .. "/solution/kernel.c", source))
    local timing, points = scripted.policy().timing, {}
    timing.screen = { rounds = { 2 }, finalists = 1, least = 9, points = 9 }
    local ctx = scripted.context(folder, { policy = { timing = timing, gate = function(_, proposal)
        points[#points + 1] = proposal.point or "none"
    end } })
    t.eq(verbs.run(ctx), 0)
    t.eq(points, { "none", { BLOCK = "2" } })
end)

t.test("a policy may name a benchmark command, or none where the task has one", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder, { bench = function(facts) return { "sh", "-c", "echo " .. facts.task.name } end }), 0)
    t.eq(newest(folder).history[1].bench.how, "exit 0")
    local text = fs.read(folder .. "/task.lua"):gsub("name =", 'bench = { "false" },\n  name =')
    assert(fs.write(folder .. "/task.lua", text))
    local seen
    t.eq(try(folder, { bench = function(facts) seen = facts.task.bench end }, nil, { session = "two" }), 13)
    t.eq(seen, "false")
    t.eq(try(folder, { bench = function() return false end }, nil, { session = "three" }), 0)
    t.eq(try(folder, { bench = function() return "true" end }, nil, { session = "four" }), 2)
end)
