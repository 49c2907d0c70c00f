-- What a killed write leaves: a file of its own beside the one that it was to replace (core/fs.c names it).

local fs = require "ako.fs"

local litter = {}

--- Removes it from a folder, not from those below. Only for who may write there alone.
function litter.sweep(folder)
    for _, name in ipairs(fs.list(folder) or {}) do
        local path = fs.join(folder, name)
        if name:find("^%.ako%-%w%w%w%w%w%w$") and fs.is_file(path) then fs.remove_tree(path) end
    end
end

--- The same for the folders that hold these files of a workspace.
function litter.sweep_beside(folder, files)
    local done = {}
    for _, file in ipairs(files) do
        local beside = fs.dirname(fs.join(folder, file))
        if not done[beside] then litter.sweep(beside) end
        done[beside] = true
    end
end

return litter
