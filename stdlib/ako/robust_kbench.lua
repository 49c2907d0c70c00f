-- Tasks in the format of robust-kbench: a folder with func_forward.py (forward_fn, a Model whose forward takes it as
-- fn, get_inputs) and config_forward.json, whose settings are the cases: a workload each.

local case_product = require "ako.case_product"
local fault = require "ako.fault"
local fs = require "ako.fs"
local json = require "ako.json"

local robust_kbench = {}

local FUNCTION, CONFIG = "func_forward.py", "config_forward.json"

--- The configuration that belongs to a task's file.
function robust_kbench.config_of(file) return fs.join(fs.dirname(file), CONFIG) end

--- True for the Python file of such a task.
function robust_kbench.is_task(file)
    return fs.basename(file) == FUNCTION and fs.exists(robust_kbench.config_of(file))
end

--- The Python file of the task that a folder is; nil for another folder. Raises INVALID for one that lacks the
--- configuration, or has a backward task alone.
function robust_kbench.file_of(folder)
    local file, config = fs.join(folder, FUNCTION), fs.join(folder, CONFIG)
    if fs.exists(file) then
        fault.check(fs.exists(config), "%s: lacks the %s beside it, which has its cases", file, CONFIG)
        return file
    end
    fault.check(not fs.exists(fs.join(folder, "func_backward.py")), "%s: has func_backward.py alone; of a "
        .. "robust-kbench task the forward part is read (%s, %s)", folder, FUNCTION, CONFIG)
    return nil
end

--- What is asked of such a task (ako.problem): its cases. `config` is the configuration as a source { name, text };
--- `multi` as ako.case_product has it. Raises INVALID.
function robust_kbench.question(config, multi)
    local decoded, problem = json.decode(config.text)
    fault.check(decoded, "%s: %s", config.name, problem)
    local found, why = case_product.cases(decoded, multi)
    fault.check(found, "%s: %s", config.name, why)
    local cases = json.array {}
    for i, case in ipairs(found) do
        cases[i] = { workload = case.name, init_config = case.init, input_config = case.input }
    end
    -- Its programs turn both off, where PyTorch has one of them on.
    return { format = "robust-kbench", cases = cases, precision = { tf32_matmul = false, tf32_cudnn = false } }
end

return robust_kbench
