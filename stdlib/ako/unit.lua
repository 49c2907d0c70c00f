-- From the files of a reference or a solution to a unit of docs/protocol.md: something that builds and runs.
-- A fault in them is the candidate's: it comes back as nil and the one line that a COMPILE_ERROR gives as its reason.

local entries = require "ako.entry"
local extension = require "ako.extension"
local fault = require "ako.fault"
local fs = require "ako.fs"
local json = require "ako.json"
local launch = require "ako.launch"
local path = require "ako.path"
local problems = require "ako.problem"

local unit = {}

local PLACE_OF = { cuda = "gpu", ["cuda-host"] = "gpu", c = "cpu", python = "gpu", ["python-cpu"] = "cpu" }

--- Where a lane runs: "gpu" or "cpu".
function unit.place(lane) return PLACE_OF[lane] end

--- The lane that runs Python in a place.
function unit.python_lane(place) return place == "gpu" and "python" or "python-cpu" end

--- The extension of the files that a place's native lanes take as a candidate's main file.
function unit.extension(place) return place == "gpu" and "cu" or "c" end

--- Reads files of a folder: { { name, text }, ... }, named as they lie below the first one's folder, so that the others
--- can be included by name. Nil, a message and a code when one cannot be read.
function unit.read(folder, files)
    local base, sources = fs.dirname(files[1]), {}
    for i, name in ipairs(files) do
        local text, problem, code = path.read_source(fs.join(folder, name))
        if not text then return nil, problem, code end
        local below = base ~= "." and name:sub(1, #base + 1) == base .. "/"
        sources[i] = { name = below and name:sub(#base + 2) or name, text = text }
    end
    return sources
end

local function lane_of(main, spec)
    local suffix = path.extension(main.name)
    if suffix == "cu" then return #spec.launch > 0 and "cuda" or "cuda-host" end
    if suffix == "c" then return "c" end
    fault.raise("INVALID", "%s: no lane takes '.%s' files; known are .cu, .c and .py", main.name, suffix)
end

--- Raises a fault where sources cannot be given to an evaluator: it names the file.
function unit.check(sources)
    for _, source in ipairs(sources) do
        local wrong = path.fault_of_name(fs.basename(source.name))
        fault.check(not wrong, "%s: its name %s: rename it", source.name, wrong)
        wrong = path.fault_of_text(source.text)
        fault.check(not wrong, "%s: its text %s: save it as UTF-8", source.name, wrong)
    end
end

local function kernel_names(spec, point)
    local names, seen = {}, {}
    for _, entry in ipairs(spec.launch) do
        local name = launch.instance(entry.name, point)
        if not seen[name] then
            seen[name] = true
            names[#names + 1] = name
        end
    end
    return names
end

local function defines(spec, point)
    local list = {}
    for _, tune in ipairs(spec.tune) do
        list[#list + 1] = tune.name
        list[#list + 1] = point[tune.name]
    end
    return list
end

-- Lua cannot tell an empty list from an empty object.
local function mark_lists(bound)
    json.array(bound.scratch)
    for _, call in ipairs(bound.calls) do json.array(call.args) end
    return bound
end

local function bind_kernels(spec, task, point)
    local workloads = {}
    for i, workload in ipairs(task.workloads) do
        local bound, problem = launch.bind(spec, task, workload, point)
        if not bound then fault.raise("INVALID", "%s", problem) end
        workloads[i] = mark_lists(bound)
    end
    return workloads
end

-- A task in Python names no entry: the file declares one.
local function bind_declared(task, main)
    local spec, workloads = entries.parse(main), {}
    for i, workload in ipairs(task.workloads) do
        local call = { symbol = spec.name, line = spec.line, args = entries.arguments(spec, task, workload) }
        workloads[i] = mark_lists { scratch = {}, calls = { call } }
    end
    return workloads
end

local function bind_entry(program, fallback, task, main)
    if task.python and not program.entry then return bind_declared(task, main) end
    local entry = program.entry or (fallback and fallback.entry)
    local args = program.args or (fallback and fallback.args)
    fault.check(entry and args, "%s: has no '//! launch' line, and the task names no entry and args for it", main.name)
    local workloads = {}
    for i, workload in ipairs(task.workloads) do
        local call = { symbol = entry, line = 0, args = launch.arguments(args, task, workload) }
        workloads[i] = mark_lists { scratch = {}, calls = { call } }
    end
    return workloads
end

--- The unit of a problem's or a solution's files in Python: { { name, text }, ... }, the main one first. `task` needs
--- no more than a place and workloads.
function unit.in_python(task, sources)
    local workloads = {}
    for i, workload in ipairs(task.workloads) do
        workloads[i] = mark_lists { scratch = {}, calls = { { symbol = workload.id, line = 0, args = {} } } }
    end
    return { lane = unit.python_lane(task.place), sources = sources, options = json.array {},
        defines = json.array {}, workloads = workloads }
end

--- Makes a unit of `sources` (the first is the main file). `program` is the task's reference or solution with its
--- entry, args and options; `fallback` gives entry and args where it has none; `point` gives values for the tunables
--- (default: the first of each). Returns the unit or nil and a line that says what is wrong.
unit.make = fault.returns(function(task, program, sources, fallback, point)
    local main = sources[1]
    unit.check(sources)
    if problems.is_problem(main.name) or task.python and extension.is_one(main) then
        fault.check(task.python, "%s: a solution in Python is for a task in Python", main.name)
        return unit.in_python(task, sources)
    end
    local spec, why = launch.parse(main.text, main.name)
    if not spec then fault.raise("INVALID", "%s", why) end
    point = point or launch.first_point(spec)
    local lane = lane_of(main, spec)
    local result = { lane = lane, sources = sources, options = json.array(program.options) }
    result.defines = json.array(defines(spec, point))
    if lane == "cuda" then
        result.names = kernel_names(spec, point)
        result.workloads = bind_kernels(spec, task, point)
    else
        result.workloads = bind_entry(program, fallback, task, main)
    end
    return result
end)

--- What decides how a unit is launched, as text: equal machine code and equal launches have equal effects.
function unit.launches(given) return json.encode(given.workloads) end

return unit
