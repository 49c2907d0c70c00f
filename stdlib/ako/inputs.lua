-- Inputs that a task takes from files, checked before anything runs.

local fault = require "ako.fault"
local fs = require "ako.fs"
local tensor_files = require "ako.tensor"

local inputs = {}

local function shape_text(shape) return #shape == 0 and "a scalar" or table.concat(shape, " x ") end

local function check_file(task, tensor, workload)
    local init, shape = tensor.init, workload.shapes[tensor.name]
    local what = ("%stensor %s: "):format(tensor.place, tensor.name)
    local file = fs.join(task.folder, init.file)
    local named = (init.format == "npz" or init.format == "safetensors") and init.member or nil
    local found, problem, code = tensor_files.describe(file, init.format, named, tensor.dtype, shape)
    if not found then fault.raise(code == "CORRUPT" and "INVALID" or code, "%s%s", what, problem) end
    fault.check(found.dtype == tensor.dtype, "%s%s holds %s, not %s", what, init.file, found.dtype, tensor.dtype)
    local got, wanted = shape_text(found.shape), shape_text(shape)
    fault.check(got == wanted, "%s%s holds %s, workload %s wants %s", what, init.file, got, workload.id, wanted)
end

--- Checks that the files of a resolved task's inputs are there and hold the dtype and the shape that every workload
--- wants. Returns true; or nil, a message and a code.
inputs.check = fault.returns(function(task)
    for _, tensor in ipairs(task.tensors) do
        for _, workload in ipairs(tensor.init and tensor.init.file and task.workloads or {}) do
            check_file(task, tensor, workload)
        end
    end
    return true
end)

return inputs
