-- What the hooks of a policy see before there is a run.

local bench = require "ako.bench"
local fs = require "ako.fs"
local protect = require "ako.protect"
local tensors = require "ako.tensors"

local survey = {}

-- A bundled policy by its name; a user's own by its path as seen from the workspace.
local function policy_name(ctx, folder)
    if not ctx.path or not folder or ctx.file ~= ctx.path then return ctx.file end
    return protect.name(ctx.path, folder)
end

local function task_facts(task)
    local files = {}
    for _, tensor in ipairs(task.tensors or {}) do files[#files + 1] = tensor.init and tensor.init.file or nil end
    return { name = task.name, file = task.file, folder = task.folder, inputs = files,
        tensors = tensors.views(task.tensors), solution = { table.unpack(task.solution.files) },
        from = task.solution.from and { table.unpack(task.solution.from) },
        reference = { table.unpack(task.reference and task.reference.files or {}) },
        bench = task.bench and bench.text(task.bench) }
end

--- { workspace (absolute; nil for a new scratch folder), task (once it is loaded: name, file, folder, solution, from
--- (where its first content lies, nil: there), reference, inputs, tensors, bench (its command in words)), policy (what
--- the program is given for it there), read(path) -> text or nil, exists(path) }; paths are of the workspace.
function survey.of(started)
    local folder = started.ws and started.ws.folder or fs.absolute(started.host.workspace or ".")
    local facts = { policy = policy_name(started.ctx, folder) }
    if started.task then
        folder = started:folder()
        facts.task = task_facts(started.task)
    end
    facts.workspace = folder
    function facts.read(name) return folder and (fs.read(fs.join(folder, name))) or nil end
    function facts.exists(name) return folder ~= nil and fs.exists(fs.join(folder, name)) end
    return facts
end

return survey
