-- What no candidate may change: the task, its reference and input files, its benchmark command and the files that this
-- names, the policy, and what the policy names.

local bench = require "ako.bench"
local clock = require "ako.clock"
local fs = require "ako.fs"
local git = require "ako.git"

local protect = {}

-- Of a collection: hashes and marks, by name. A mark is another one after every write, also of the same bytes, for
-- nobody can set a file's change time.
local function add_file(found, path, shown)
    local stat = fs.stat(fs.absolute(path) or path)
    found.hashes[shown] = fs.hash(path)
    if not found.hashes[shown] then found.hashes[shown] = stat and "unreadable" or "missing" end
    found.marks[shown] = stat and ("%d %d"):format(stat.ctime_ns, stat.inode) or "missing"
end

-- True where a folder holds another one, or is it.
local function holds(folder, other)
    local outer, inner = fs.absolute(folder) or folder, fs.absolute(other) or other
    return (inner .. "/"):sub(1, #outer + 1) == outer .. "/"
end

-- True where a folder is one of those that hold it: a link that leads back.
local function leads_back(folder, holders)
    for _, holder in ipairs(holders) do
        if holds(folder, holder) then return true end
    end
    return false
end

-- What vi and Emacs leave beside a file that somebody looks at: nothing runs it.
local EDITORS_OWN = { "^%..*%.sw%l$", "^%.#", "^#.*#$", "~$" }

local function is_editors_own(name)
    for _, pattern in ipairs(EDITORS_OWN) do
        if name:find(pattern) then return true end
    end
    return false
end

-- What `require` can load: beside it a companion folder may hold what a build or a backup leaves.
local function is_module(name) return name:find("^[^.].*%.lua$") ~= nil end

-- All files below; with `counts(name)` those for which it holds.
local function add_folder(found, folder, shown, counts, holders)
    local inside = { fs.absolute(folder) or folder, table.unpack(holders or {}) }
    for _, name in ipairs(fs.list(folder) or {}) do
        local path, below = fs.join(folder, name), shown .. "/" .. name
        if fs.is_dir(path) and leads_back(path, inside) then
            found.hashes[below] = "a link to a folder that holds it"
        elseif fs.is_dir(path) then
            add_folder(found, path, below, counts, inside)
        elseif not is_editors_own(name) and (not counts or counts(name)) then
            add_file(found, path, below)
        end
    end
end

-- An absolute name stands for itself.
local function add(found, folder, name)
    local path = name:sub(1, 1) == "/" and name or fs.join(folder, name)
    if fs.is_dir(path) then
        add_folder(found, path, (name:gsub("/+$", "")))
    else
        add_file(found, path, name)
    end
end

-- A link keeps its own name; the file need not be there.
local function full_path(file)
    local folder = fs.absolute(fs.dirname(file))
    return folder and fs.join(folder, fs.basename(file)) or file
end

local function top_of(folder)
    local repo <close> = git.open(folder)
    return repo and repo:workdir() or folder
end

--- What a file is called in a session, however and from where it was named: from the workspace `folder` where it lies
--- in the same repository, which may be moved; else by its whole path.
function protect.name(file, folder)
    local full, level, up = full_path(file), fs.absolute(folder) or folder, ""
    local top = top_of(level)
    while full:sub(1, #level + 1) ~= level .. "/" do
        if level == top or level == fs.dirname(level) then return full end
        level, up = fs.dirname(level), "../" .. up
    end
    return up .. full:sub(#level + 2)
end

-- The policy's file, and the folder of its companions beside it; a workspace that is called like it is none.
local function add_policy(found, file, workspace)
    if not file then return end
    local name = protect.name(file, workspace)
    add_file(found, file, name)
    local companions = file:gsub("%.lua$", "")
    local has_some = companions ~= file and fs.is_dir(companions) and not holds(companions, workspace)
    if has_some then add_folder(found, companions, (name:gsub("%.lua$", "")), is_module) end
end

-- A task that lies elsewhere than its other files was found by the policy.
local function task_name(task, workspace)
    local file = fs.absolute(task.file) or task.file
    local is_beside = fs.absolute(fs.join(task.folder, fs.basename(file))) == file
    return is_beside and fs.basename(file) or protect.name(file, workspace)
end

--- The names in a session of what must stay the same one all the time: { task, policy (nil without a file) }.
function protect.fixed(task, folder, policy_file)
    return { task = task_name(task, folder), policy = policy_file and protect.name(policy_file, folder) }
end

--- The hashes of all these files, name -> oid ("missing" for one that is not there), and their marks, name -> a text
--- that is another one after every write. task: resolved (ako.task); folder: the workspace; policy_file: its path, or
--- nil; names: files and folders of the workspace that the policy protects.
function protect.hashes(task, folder, policy_file, names)
    local found = { hashes = {}, marks = {} }
    add_file(found, task.file, task_name(task, folder))
    local files = { table.unpack(task.reference and task.reference.files or {}) }
    for _, tensor in ipairs(task.tensors or {}) do
        if tensor.init and tensor.init.file then files[#files + 1] = tensor.init.file end
    end
    for _, name in ipairs(files) do add(found, task.folder, name) end
    if task.bench then
        found.hashes["bench (the command)"] = bench.hash(task.bench)
        for _, name in ipairs(bench.files(task.bench, folder, task.solution.files)) do add(found, folder, name) end
    end
    for _, name in ipairs(names or {}) do add(found, folder, name) end
    add_policy(found, policy_file, folder)
    return found.hashes, found.marks
end

--- The first name, in byte order, of a file with such a mark that was written to at `since_ns` or later, by the wall
--- clock; nil when none was. A time yet to come is another clock's, and says nothing.
function protect.written_since(marks, since_ns)
    local names, now_ns = {}, clock.wall_ns()
    for name, mark in pairs(marks) do
        local at = math.tointeger(tonumber(mark:match("^%d+")))
        if at and at >= since_ns and at <= now_ns then names[#names + 1] = name end
    end
    table.sort(names)
    return names[1]
end

--- The first name, in byte order, by which two such tables differ; nil when they are the same.
function protect.difference(before, after)
    local names = {}
    for name in pairs(before) do names[#names + 1] = name end
    for name in pairs(after) do
        if before[name] == nil then names[#names + 1] = name end
    end
    table.sort(names)
    for _, name in ipairs(names) do
        if before[name] ~= after[name] then return name end
    end
end

return protect
