-- Workspaces in Python: a problem as KernelBench has it (class Model and get_inputs), whose inputs may stand in a file
-- of their own, and a kernel (ModelNew, or Model without inputs) in Python, CUDA or C.

local fs = require "ako.fs"
local path = require "ako.path"
local problems = require "ako.problem"
local python_source = require "ako.python_source"

local python_problem = {}

--- What a Python file of the folder can be: "reference", "inputs" or "kernel"; nil for none of these. A model without
--- inputs is a kernel, unless the file `is_called` a reference.
function python_problem.role(folder, file, is_called)
    if path.extension(file) ~= "py" then return nil end
    local facts = python_source.facts(path.read_source(fs.join(folder, file)) or "")
    local gives_inputs = facts.inputs.get_inputs ~= nil
    if facts.model == "ModelNew" then return not gives_inputs and "kernel" or nil end
    if facts.model then return (gives_inputs or is_called) and "reference" or "kernel" end
    return gives_inputs and "inputs" or nil
end

local LANGUAGES = { triton = true, tilelang = true, cutlass = true }

--- True for a Python file that holds a kernel: a model without inputs, or one of the languages for kernels.
function python_problem.is_kernel(folder, file)
    if path.extension(file) ~= "py" then return false end
    if python_problem.role(folder, file) == "kernel" then return true end
    for _, import in ipairs(python_source.facts(path.read_source(fs.join(folder, file)) or "").imports) do
        if LANGUAGES[import.module:match("^[^.]+")] then return true end
    end
    return false
end

-- The problem's files as they lie, seen from the workspace.
local function protected(loaded, files)
    local list, base = {}, fs.dirname(files.reference)
    for i, name in ipairs(loaded.reference.files) do list[i] = base == "." and name or base .. "/" .. name end
    list[#list + 1] = files.inputs
    return list
end

--- The problem (ako.problem) of a workspace, from the paths of its files: reference; inputs and kernel, nil for none.
--- The kernel is edited in solution/ and left where it lies; without one the reference's own model is where one begins.
function python_problem.load(folder, files)
    local inputs = files.inputs and fs.join(folder, files.inputs)
    local kernel = files.kernel or "solution/" .. fs.basename(files.reference)
    local is_own, stem = kernel:find("^solution/") ~= nil, fs.basename(kernel):gsub("%.[^.]+$", "")
    local loaded = problems.load(fs.join(folder, files.reference), nil, { inputs = inputs })
    loaded.folder, loaded.reference.files = folder, protected(loaded, files)
    loaded.name = stem:gsub("[^%w_.-]", "_")
    loaded.solution.files = { is_own and kernel or "solution/" .. fs.basename(kernel) }
    loaded.solution.from = not is_own and { kernel } or nil
    return loaded
end

return python_problem
