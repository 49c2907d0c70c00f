-- Which folder a solution is edited in, and what is copied there.
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local process = require "ako.process"
local program = require "program"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local task_files = require "ako.task"
local verbs = require "ako.verbs"
local workspace = require "ako.workspace"

local function task_of(folder) return assert(task_files.resolve(assert(task_files.load(folder)), "cpu")) end

t.test("the task's own folder is the workspace", function()
    local folder = scripted.task_folder "time=100"
    local ws = assert(workspace.prepare({ workspace = folder }, task_of(folder), false))
    t.eq(ws.folder, fs.absolute(folder))
    t.eq(ws.created, true)
    t.eq(ws.scratch, false)
    t.eq(assert(workspace.prepare({ workspace = folder }, task_of(folder), false)).created, false)
end)

t.test("a workspace that is named gets the solution, once", function()
    local folder, other = scripted.task_folder "time=100", t.tmpdir() .. "/new/place"
    local ws = assert(workspace.prepare({ workspace = other }, task_of(folder), false))
    t.eq(fs.read(other .. "/solution/kernel.c"), scripted.source "time=100")
    t.ok(not fs.exists(other .. "/reference.c"), "the reference stays with the task")
    t.eq(ws.task.folder, folder)
    assert(fs.write(other .. "/solution/kernel.c", "mine"))
    assert(workspace.prepare({ workspace = other }, task_of(folder), false))
    t.eq(fs.read(other .. "/solution/kernel.c"), "mine")
end)

t.test("which task: the one named, the one that lies here, the bundled one", function()
    local folder = scripted.task_folder "time=100"
    t.eq(workspace.find_task({ task = folder }, "/home"), folder .. "/task.lua")
    t.eq({ workspace.find_task({ workspace = folder }, "/home") }, { folder .. "/task.lua", false })
    t.eq({ workspace.find_task({ workspace = t.tmpdir() }, "/home") }, { "/home/examples/rmsnorm/task.lua", true })
end)

t.test("the task of the current folder is the one for a workspace without", function()
    local folder, other = scripted.task_folder "time=100", t.tmpdir()
    local function plan(...)
        local result = assert(process.run { program.path, "--device=cpu", "--json", "kernelbench", "plan", cwd = folder,
            env = { AKO_HOME = t.home }, limit_ns = 60 * program.second_ns, ... })
        t.eq({ result.code, result.stderr }, { 0, "" })
        return json.decode(result.stdout)
    end
    local said = plan("--workspace=" .. other)
    t.match(said.task, "^scale: ")
    t.eq(said.solution, "solution/kernel.c in " .. fs.absolute(other))
    assert(fs.write(other .. "/task.lua", (fs.read(folder .. "/task.lua"):gsub('"scale",', '"other",', 1))))
    assert(fs.write(other .. "/reference.c", "void scale(void);\n"))
    assert(fs.mkdirs(other .. "/solution"))
    assert(fs.write(other .. "/solution/kernel.c", "void scale(void);\n"))
    t.match(plan("--workspace=" .. other).task, "^other: ")
end)

t.test("a try in a folder that is not there names it", function()
    local ctx = scripted.context("/tmp/ako-no-such-folder")
    ctx.home = scripted.task_folder "time=100"
    assert(fs.mkdirs(ctx.home .. "/examples/rmsnorm"))
    for _, name in ipairs { "task.lua", "reference.c" } do
        assert(fs.write(ctx.home .. "/examples/rmsnorm/" .. name, fs.read(ctx.home .. "/" .. name)))
    end
    t.eq(verbs.try(ctx), 2)
    t.match(ctx.console.stderr, "^ako%-lua: no task.lua in /tmp/ako%-no%-such%-folder, nor here; ")
    t.ok(not fs.exists("/tmp/ako-no-such-folder"))
end)

-- Of plan and run in copies of one folder, made by a function: exit code and last line on stderr of each.
local function both(make, verb_options)
    local codes, lines = {}, {}
    for i, verb in ipairs { "plan", "run" } do
        local folder = scripted.task_folder "time=100"
        local ctx = scripted.context(folder, nil, verb_options)
        make(folder)
        codes[i] = verbs[verb](ctx)
        lines[i] = ctx.console.stderr:gsub(folder:gsub("%p", "%%%0"), "F"):match("([^\n]*)\n$")
        if verb == "plan" then t.ok(not fs.exists(folder .. "/.git"), "plan makes nothing") end
    end
    return codes, lines
end

t.test("plan refuses what run refuses before its first trial, with the same line", function()
    local makes = {
        function(folder) assert(fs.remove_tree(folder .. "/solution")) end,
        function(folder)
            local file = folder .. "/solution/kernel.c"
            assert(fs.remove_tree(file))
            t.eq(assert(process.run { "ln", "-s", folder .. "/reference.c", file }).code, 0)
        end,
    }
    for _, make in ipairs(makes) do
        local codes, lines = both(make)
        t.eq(codes, { 2, 2 })
        t.eq(lines[1], lines[2])
        t.match(lines[1], "^ako%-lua: .*solution/kernel.c")
    end
    local codes, lines = both(function() end, { candidates = "/tmp/ako-no-such-folder" })
    t.eq(codes, { 2, 2 })
    t.eq(lines[1], lines[2])
end)

t.test("plan shows the candidates and the numbers of the decision", function()
    local folder = scripted.task_folder "time=100"
    local scripts = {}
    for i = 1, 4 do scripts[i .. ".c"] = "time=" .. i end
    scripted.candidates(folder, scripts)
    local function decide(timing, host)
        host = host or {}
        host.policy = scripted.policy()
        for name, value in pairs(timing) do host.policy.timing[name] = value end
        local ctx = scripted.context(folder, host, { candidates = folder .. "/candidates" })
        t.eq(verbs.plan(ctx), 0)
        return ctx.console.stdout:match "\ndecide +([^\n]*)\n" or ctx.console.stdout
    end
    t.eq(decide {}, "by the policy's rule on figures alone")
    local pairs_of = { looks = { 12, 24 }, alpha = 0.05, threshold = 0.015, seconds = 4 }
    t.eq(decide { pairs = pairs_of }, "looks after 12, 24 pairs, threshold 1.5 %, 4 s at most")
    local screen = { least = 4, rounds = { 4, 8 }, finalists = 2, points = 8 }
    t.eq(decide { pairs = pairs_of, screen = screen },
        "4 screened in up to 8 rounds, then 2 at most: looks after 12, 24 pairs, threshold 1.5 %, 4 s at most")
    screen.least = 5
    t.match(decide { pairs = pairs_of, screen = screen }, "^looks after")
    screen.least = 4
    local object = json.decode(decide({ pairs = pairs_of, screen = screen }, { json = true }))
    t.eq({ object.pairs.looks, object.pairs.threshold, object.screen.keep }, { { 12, 24 }, 0.015, 2 })
end)

t.test("a run in a named workspace leaves the task's folder as it was", function()
    local folder, other = scripted.task_folder "time=100", t.tmpdir()
    scripted.candidates(folder, { ["a.c"] = "time=50" })
    local ctx = scripted.context(folder, { workspace = other, task = folder }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=100")
    t.eq(fs.read(other .. "/solution/kernel.c"), scripted.source "time=50")
    t.ok(not fs.exists(folder .. "/.git"))
end)

t.test("a try of a task that lies elsewhere asks for its workspace", function()
    local ctx = scripted.context(nil, { task = scripted.task_folder "time=100", workspace = false })
    t.eq(verbs.try(ctx), 2)
    t.match(ctx.console.stderr, "^ako%-lua: the task lies elsewhere and [^\n]*%-%-workspace=DIR\n$")
end)

t.test("a workspace below the repository's top, with names that are not UTF-8", function()
    local top = t.tmpdir()
    assert(require("ako.git").init(top))
    local folder = top .. "/sub/caf\xE9"
    assert(fs.mkdirs(folder .. "/solution"))
    assert(fs.mkdirs(folder .. "/candidates"))
    local from = scripted.task_folder "time=100"
    for _, name in ipairs { "task.lua", "reference.c", "solution/kernel.c" } do
        assert(fs.write(folder .. "/" .. name, fs.read(from .. "/" .. name)))
    end
    scripted.candidates(folder, { ["\xFF.c"] = "time=50" })
    local ctx = scripted.context(folder, { json = true }, { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    local repo = assert(require("ako.git").open(folder))
    local state = session.newest { repo = repo, folder = fs.absolute(folder) }
    t.eq(state.best.candidate, "\\xFF.c")
    t.eq(repo:read(state.best.commit, "solution/kernel.c"), scripted.source "time=50")
    t.match(state.best.files, "trials/1$")
    ctx = scripted.context(folder)
    t.eq(verbs.status(ctx), 0)
end)

t.test("a task that lies elsewhere is named once: later verbs go on with the session's", function()
    local other = t.tmpdir()
    local function try(task, name)
        local ctx = scripted.context(other, { task = task, session = name, workspace = other })
        return verbs.try(ctx), ctx.console.stderr
    end
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    assert(fs.write(other .. "/solution/kernel.c", scripted.source "time=50"))
    local code, said = try(nil)
    t.eq(code, 0, said)
    t.match(said, "  1  the tree +PASSED")
    assert(fs.write(other .. "/task.lua", "return {}"))
    code, said = try(nil)
    t.eq(code, 2, "a task that lies there goes first")
    t.match(said, "task.lua")
    assert(fs.remove_tree(other .. "/task.lua"))
    assert(fs.remove_tree(folder))
    code, said = try(nil)
    t.eq(code, 2)
    local advice = "/task.lua, is not there any more: put it back, or name the task with --task"
    t.ok(said:find(folder .. advice, 1, true), said)
    local git_folder = assert(git.open(other)):commondir()
    local journal = ("%s/ako/%s/journal.jsonl"):format(git_folder, said:match "task of session (%S+),")
    assert(fs.write(journal, "{}\n" .. fs.read(journal)))
    code, said = try(nil)
    t.ok(code ~= 0 and said:find("which knows the task, cannot be read: ", 1, true), said)
end)
