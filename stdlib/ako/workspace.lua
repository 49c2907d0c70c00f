-- Where a solution is edited: the folder, its repository, and the task that it solves.
--   no task named: task.lua of the workspace, else the one here; without either the bundled example, in a scratch
--           workspace where none is named
--   --task: edited where the task lies when that is the workspace; in the workspace when one is named or already holds
--           files of the solution; otherwise in a scratch workspace
-- The user's own files are never overwritten: what a task brings is copied only where it is missing.

local fault = require "ako.fault"
local fs = require "ako.fs"
local git = require "ako.git"
local path = require "ako.path"
local task_files = require "ako.task"

local workspace = {}

local BUNDLED = "examples/rmsnorm"

local must = fault.must

--- The file of the task to run, and whether it is the bundled example. `host` has task and workspace as given on the
--- command line (nil where not); `home` is the folder that holds the bundled examples.
function workspace.find_task(host, home)
    if host.task then return task_files.file_of(host.task), false end
    local there = host.workspace and fs.join(host.workspace, "task.lua")
    if there and fs.exists(there) then return there, false end
    if fs.exists("task.lua") then return "task.lua", false end
    return fs.join(fs.join(home, BUNDLED), "task.lua"), true
end

local function holds_any(folder, files)
    for _, name in ipairs(files) do
        if fs.exists(fs.join(folder, name)) then return true end
    end
    return false
end

-- `solution`: texts or origins (where files come from) of the first ones, by their order; else they lie in `from` as
-- they are called.
local function copy_missing(from, to, files, solution)
    for i, name in ipairs(files) do
        local target = fs.join(to, name)
        if not fs.exists(target) then
            local text = solution.texts and solution.texts[i]
                or must(fs.read(fs.join(from, solution.from and solution.from[i] or name)))
            must(fs.mkdirs(fs.dirname(target)))
            must(fs.write(target, text))
        end
    end
end

--- Where the first content of the task's i-th solution file is read from, while the workspace has none of it.
function workspace.origin(task, i)
    local solution = task.solution
    return fs.join(task.folder, solution.from and solution.from[i] or solution.files[i])
end

--- That content; nil, a message and a code where it cannot be read.
function workspace.first_text(task, i)
    local texts = task.solution.texts
    if texts and texts[i] then return texts[i] end
    return path.read_source(workspace.origin(task, i))
end

-- Everything of a small task, so that its copy stands alone; tasks with input files are read where they lie.
local function scaffold(task)
    local files = { table.unpack(task.solution.files) }
    for _, tensor in ipairs(task.tensors) do
        if tensor.init and tensor.init.file then return files, false end
    end
    for _, name in ipairs(task.reference.files) do files[#files + 1] = name end
    files[#files + 1] = fs.basename(task.file)
    return files, true
end

-- A fresh folder and its repository, its own also where a folder above has one. Who makes the repository has the
-- folder; another process that hit upon the same name takes the next one.
local function make_scratch(task)
    local state = must(fs.user_dir("state"))
    local name = ("%s/workspaces/%s-%s"):format(state, task.name:sub(1, 60), os.date("!%Y%m%dT%H%M%SZ"))
    local folder, n = name, 1
    while true do
        local repo, created, code = nil, nil, "EXISTS"
        if not fs.exists(folder) then repo, created, code = git.init(folder, true) end
        if repo and created then return folder, repo end
        if not repo and code ~= "EXISTS" then fault.raise(code, "%s", created) end
        n = n + 1
        folder = name .. "-" .. n
    end
end

-- The folder to edit in; nil for a fresh scratch one.
local function choose_folder(host, task, bundled)
    local here = host.workspace or "."
    if host.workspace or fs.absolute(here) == fs.absolute(task.folder) then return here end
    if not bundled and holds_any(here, task.solution.files) then return here end
    return nil
end

--- Which folder that would be, without making anything: its path, or nil for a fresh scratch workspace.
function workspace.plan(host, task, bundled)
    local folder = choose_folder({ workspace = host.workspace }, task, bundled)
    return folder and (fs.absolute(folder) or folder)
end

local LINK = "%s is a symbolic link; a solution must be a file of the workspace"

-- Commits of the workspace's repository cannot hold files of another one, a submodule's for example.
local function check_repository(folder, name)
    for at in name:gmatch("()/") do
        local above = name:sub(1, at - 1)
        fault.check(not fs.exists(fs.join(folder, above .. "/.git")),
            "%s belongs to a repository of its own, %s; take that one with --workspace", name, above)
    end
end

-- What is written in the place of a link would change a file that no record has.
local function check_solution(repo, folder, files)
    for _, name in ipairs(files) do
        local other = path.no_file(fs.join(folder, name))
        fault.check(not other, "%s %s", name, other)
        must(repo:hash(name))
        check_repository(folder, name)
        local is_link = must(fs.stat(fs.join(folder, name))).type == "link"
        fault.check(not is_link, LINK, name)
    end
end

--- What is wrong with the solution's files as they lie there or would be copied from the task, without making anything:
--- nil, a message and a code as `prepare` would give them; else true.
function workspace.check(host, task, bundled)
    local folder = choose_folder(host, task, bundled)
    for i, name in ipairs(task.solution.files) do
        local own = folder and fs.join(folder, name)
        local lies_there = own and fs.exists(own)
        local text, problem, code
        if lies_there then
            text, problem, code = path.read_source(own)
        else
            text, problem, code = workspace.first_text(task, i)
        end
        if not text then return nil, problem, code end
        if lies_there and fs.stat(own).type == "link" then return nil, LINK:format(name), "INVALID" end
    end
    return true
end

--- Prepares the workspace of a resolved task: makes the folder and the repository where they are missing and copies
--- the solution there. Returns { folder (absolute), repo, scratch, created (a new repository), task } where task is
--- the resolved task as it is to be used from now on; or nil, a message and a code.
workspace.prepare = fault.returns(function(host, task, bundled)
    local folder = choose_folder(host, task, bundled)
    local scratch, repo, created, code = not folder
    if scratch then
        folder, repo = make_scratch(task)
        created = true
        local files, complete = scaffold(task)
        copy_missing(task.folder, folder, files, task.solution)
        if complete then task.folder, task.file = folder, fs.join(folder, fs.basename(task.file)) end
    else
        must(fs.mkdirs(folder))
        copy_missing(task.folder, folder, task.solution.files, task.solution)
        repo, created, code = git.init(folder)
        if not repo then fault.raise(code, "%s", created) end
    end
    check_solution(repo, folder, task.solution.files)
    return { folder = fs.absolute(folder), repo = repo, scratch = scratch, created = created == true, task = task }
end)

return workspace
