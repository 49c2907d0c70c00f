-- What no candidate may change: the task, its reference and input files, its benchmark command and the files that this
-- names, the policy, and what the policy names.

local bench = require "ako.bench"
local fs = require "ako.fs"

local protect = {}

local function add_folder(hashes, folder, shown)
    for _, name in ipairs(fs.list(folder) or {}) do
        local path, below = fs.join(folder, name), shown .. "/" .. name
        if fs.is_dir(path) then
            add_folder(hashes, path, below)
        else
            hashes[below] = fs.hash(path) or "unreadable"
        end
    end
end

-- An absolute name stands for itself.
local function add(hashes, folder, name)
    local path = name:sub(1, 1) == "/" and name or fs.join(folder, name)
    if fs.is_dir(path) then
        add_folder(hashes, path, (name:gsub("/+$", "")))
    else
        hashes[name] = fs.hash(path) or "missing"
    end
end

-- The policy's file, and the folder of its companions beside it.
local function add_policy(hashes, file)
    if not file then return end
    hashes[file] = fs.hash(file) or "missing"
    local companions = file:gsub("%.lua$", "")
    if companions ~= file and fs.is_dir(companions) then add_folder(hashes, companions, companions) end
end

--- The hashes of all these files, name -> oid ("missing" for one that is not there). task: resolved (ako.task); folder:
--- the workspace; policy_file: its path, or nil; names: files and folders of the workspace that the policy protects.
function protect.hashes(task, folder, policy_file, names)
    local hashes = {}
    local file = fs.absolute(task.file) or task.file
    local own = fs.absolute(fs.join(task.folder, fs.basename(file))) == file and fs.basename(file) or file
    local files = { own, table.unpack(task.reference and task.reference.files or {}) }
    for _, tensor in ipairs(task.tensors or {}) do
        if tensor.init and tensor.init.file then files[#files + 1] = tensor.init.file end
    end
    for _, name in ipairs(files) do add(hashes, task.folder, name) end
    if task.bench then
        hashes["bench (the command)"] = bench.hash(task.bench)
        for _, name in ipairs(bench.files(task.bench, folder, task.solution.files)) do add(hashes, folder, name) end
    end
    for _, name in ipairs(names or {}) do add(hashes, folder, name) end
    add_policy(hashes, policy_file)
    return hashes
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
