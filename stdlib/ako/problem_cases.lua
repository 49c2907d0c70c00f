-- The cases of a problem in Python, as one run of it has shown them (stdlib/python/ako/referee.py), as what a task
-- consists of: tensors whose dimensions follow the cases' sizes, axes, scalars, and a workload for each.

local axes = require "ako.axes"
local fault = require "ako.fault"

local problem_cases = {}

local MOST_DIMS = 8 -- that a shape of a task has room for

-- Contiguous tensors have their shape; others are what lies in memory, from their first element to the last.
local function shape_of(facts)
    local elements, dense = 1, #facts.shape <= MOST_DIMS
    for i = #facts.shape, 1, -1 do
        dense = dense and (facts.stride[i] == elements or facts.shape[i] == 1)
        elements = elements * facts.shape[i]
    end
    return dense and facts.shape or { facts.elements }
end

-- What a call writes in place is zeroed before.
local INITS = { input = { kind = "problem" }, inout = { kind = "constant", a = 0.0, b = 0.0 } }

local function is_everywhere(sizes, value_in)
    for i, size in ipairs(sizes) do
        if value_in(i) ~= size then return false end
    end
    return true
end

-- A dimension with these sizes in the cases: its size, or the first of the settings that it follows.
local function dim_of(sizes, cases)
    if is_everywhere(sizes, function() return sizes[1] end) then return axes.parse(sizes[1]) end
    local found
    for name in pairs(cases[1].sizes or {}) do
        local follows = is_everywhere(sizes, function(i) return cases[i].sizes[name] end)
        if follows and (not found or name < found) then found = name end
    end
    return axes.parse(found or sizes[1])
end

local function dims_of(shapes, cases)
    local dims = {}
    for k in ipairs(shapes[1]) do
        local sizes = {}
        for i, shape in ipairs(shapes) do sizes[i] = shape[k] or 0 end
        dims[k] = dim_of(sizes, cases)
    end
    return dims
end

-- A tensor of the task, of which each case has its facts.
local function add_tensor(task, cases, role, list)
    local shapes, name = {}, list[1].name
    for i, facts in ipairs(list) do
        local workload = task.workloads[i]
        shapes[i] = shape_of(facts)
        workload.shapes[name], workload.elements[name] = { table.unpack(shapes[i]) }, facts.elements
        task.moved = task.moved + facts.bytes
    end
    local tensor = { name = name, dtype = list[1].dtype, dims = dims_of(shapes, cases), role = role,
        init = INITS[role] }
    task.tensors[#task.tensors + 1], task.tensor[name] = tensor, tensor
end

local MOST_TENSORS = 128 -- of a task (core/task.c)

local function tensors_text(list)
    local parts = {}
    for i, facts in ipairs(list) do parts[i] = facts.name .. " " .. facts.dtype end
    return table.concat(parts, ", ")
end

-- Cases differ in shapes alone.
local function add_tensors(task, cases, part, role, file)
    local wanted = tensors_text(cases[1][part])
    for _, case in ipairs(cases) do
        local got = tensors_text(case[part])
        fault.check(got == wanted, "%s: case %s has the %s %s, case %s has %s; they may differ in shape alone",
            file, case.workload, part, got, cases[1].workload, wanted)
    end
    for i = 1, #cases[1][part] do
        local list = {}
        for k, case in ipairs(cases) do list[k] = case[part][i] end
        add_tensor(task, cases, role, list)
    end
end

-- The module's own integers, as far as they can be axes: launch lines may use them.
local function axes_of(sizes, tensor)
    local values = {}
    for name, value in pairs(sizes) do
        if not tensor[name] and value >= 1 and name:match("^[%a_][%w_]*$") then values[name] = value end
    end
    return values
end

local function workloads_of(cases)
    local list = {}
    for i, case in ipairs(cases) do
        list[i] = { id = case.workload, axes = {}, weight = 1.0, shapes = {}, elements = {} }
    end
    return list
end

local function add_numbers(task, cases)
    for i, case in ipairs(cases) do
        task.workloads[i].axes = axes_of(case.sizes or {}, task.tensor)
        for name in pairs(task.workloads[i].axes) do task.axes[name] = { dtype = "i32" } end
    end
    for name, value in pairs(cases[1].scalars or {}) do task.scalars[name] = { value = value, dtype = "f32" } end
end

--- What the cases of the problem in `file` come to: { tensors, tensor, scalars, axes, workloads, moved }, as a task of
--- ako.task has them. Raises INVALID where they differ in more than shapes.
function problem_cases.read(cases, file)
    local task = { tensors = {}, tensor = {}, scalars = {}, axes = {}, workloads = workloads_of(cases), moved = 0 }
    add_tensors(task, cases, "inputs", "input", file)
    add_tensors(task, cases, "outputs", cases[1].in_place and "inout" or "output", file)
    fault.check(#task.tensors <= MOST_TENSORS, "%s: %d tensors go in and out; at most %d can", file, #task.tensors,
        MOST_TENSORS)
    add_numbers(task, cases)
    return task
end

return problem_cases
