-- Which folder a solution is edited in, and what is copied there.
local fs = require "ako.fs"
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
