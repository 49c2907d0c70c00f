-- Several tasks in one run: a folder whose folders hold tasks. Each is run in a workspace of its own.

local fault = require "ako.fault"
local fs = require "ako.fs"
local task_files = require "ako.task"

local suite = {}

--- The folders of the tasks that `host.task` stands for, in the byte order of their names; nil when it is one task.
function suite.folders(host)
    local top = host.task
    if not top or not fs.is_dir(top) or fs.exists(task_files.file_of(top)) then return nil end
    local folders = {}
    for _, name in ipairs(fs.list(top) or {}) do
        local folder = fs.join(top, name)
        if fs.exists(fs.join(folder, "task.lua")) then folders[#folders + 1] = folder end
    end
    if #folders == 0 then
        fault.raise("NOTFOUND", "no task in %s: neither task.lua, nor folders with one, nor problems (.py)", top)
    end
    return folders
end

--- The context for one of them: as ctx, with its task, a workspace of its own where one was named, a session likewise.
function suite.context(ctx, folder)
    local name = fs.basename(folder)
    local host = {}
    for key, value in pairs(ctx.host) do host[key] = value end
    host.task = folder
    host.workspace = ctx.host.workspace and fs.join(ctx.host.workspace, name)
    host.session = ctx.host.session and ctx.host.session .. "-" .. name
    return setmetatable({ host = host }, { __index = ctx })
end

return suite
