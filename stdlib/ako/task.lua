-- Tasks: what must be computed. `load` reads a task file and checks all of it; `resolve` picks the forms for a place
-- ("gpu" or "cpu") and gives every workload its shapes. A mistake comes back as one line, with file:line where the key
-- that it is about can be found in the file.

local axes = require "ako.axes"
local bench = require "ako.bench"
local fault = require "ako.fault"
local fs = require "ako.fs"
local keyline = require "ako.keyline"
local path = require "ako.path"
local robust_kbench = require "ako.robust_kbench"
local tensors = require "ako.tensors"

local task = {}

local FIELDS = { "name", "description", "tensors", "scalars", "axes", "workloads", "reference", "solution",
    "tolerance", "bytes", "flops", "bench" }
local PREDICATES = { allclose = "allclose_ref", allclose_ref = "allclose_ref", allclose_out = "allclose_out",
    ratio_cap = "ratio_cap", abs_and_rel = "abs_and_rel" }
local TOLERANCE = { "atol", "rtol", "ratio", "cap", "equal_nan", "equal_inf" }
local LONGEST_NAME = 200
local WORKLOAD_FIELDS = { weight = true, name = true }
local PLACES = { "gpu", "cpu" }

-- What a task file may use: it computes a table and has no business with files or processes.
local function environment(file)
    local given = { math = math, string = string, table = table, ipairs = ipairs, pairs = pairs, select = select,
        tostring = tostring, tonumber = tonumber, type = type, error = error, assert = assert,
        ceil_div = function(a, b) return -(-a // b) end }
    return setmetatable(given, { __index = function(_, name)
        error(("unknown name '%s' in a task file%s"):format(tostring(name), fault.nearest(tostring(name), given)), 2)
    end, __metatable = file })
end

-- What Lua or the file itself raised, with the file named.
local function refuse(problem, file)
    local text = type(problem) == "string" and problem or ("raised a %s value"):format(type(problem))
    if text == "not enough memory" then text = "needs more than the memory limit (--memory-limit)" end
    fault.raise("INVALID", "%s%s", text:find(file, 1, true) and "" or file .. ": ", text)
end

local function evaluate(text, file)
    local chunk, problem = load(text, "@" .. file, "t", environment(file))
    if not chunk then refuse(problem, file) end
    local ran, result = pcall(chunk)
    if not ran then refuse(result, file) end
    fault.check(type(result) == "table", "%s: must return a table, returned %s", file, type(result))
    return result
end

-- "task.lua:7: " for a field given by its names from the outside in; "task.lua: " where it cannot be seen in the text.
local function where(source, names)
    local line = keyline.lines(source.text, names)[1]
    return ("%s:%s "):format(source.file, line and line .. ":" or "")
end

-- Runs a reader for one field; its faults get the place.
local function field(source, key, reader, ...)
    return fault.within(where(source, { key }), reader, ...)
end

-- The same for a table of named entries, each with a place of its own.
local function entries(source, key, reader, given)
    return reader(given, function(name) return where(source, { key, name }) end)
end

local function read_strings(given, what)
    fault.check(type(given) == "table", "%s must be a list of strings", what)
    for i, item in ipairs(given) do
        fault.check(type(item) == "string" and utf8.len(item), "%s: item %d must be a string of UTF-8", what, i)
    end
    return given
end

local function known_names(definition)
    local known = {}
    for _, tensor in ipairs(definition.tensors) do
        known[tensor.name] = "a tensor"
        for _, tree in ipairs(tensor.dims) do
            for name in pairs(axes.names(tree)) do known[name] = known[name] or "an axis" end
        end
    end
    for name in pairs(definition.axes) do known[name] = known[name] or "an axis" end
    for name in pairs(definition.scalars) do
        fault.check(not known[name], "'%s' is a scalar and %s", name, tostring(known[name]))
        known[name] = "a scalar"
    end
    return known
end

-- A solution is edited in its folder; a reference may lie anywhere.
local function read_files(given, what, is_reference)
    local files = {}
    for i, name in ipairs(given) do
        local good = type(name) == "string" and (path.is_inside(name) or is_reference and name:sub(1, 1) == "/")
        fault.check(good, "%s: file %d must be a relative path inside the task's folder%s", what, i,
            is_reference and ", or an absolute one" or "")
        fault.check(path.is_text(name), "%s: the name of file %d must be UTF-8 without control characters", what, i)
        local wrong = path.fault_of_name(fs.basename(name))
        fault.check(not wrong, "%s: the name of file %d %s", what, i, wrong)
        files[i] = path.shortest(name)
    end
    fault.check(#files > 0, "%s names no file", what)
    return files
end

-- A reference or a solution: { "kernel.cu", entry = "...", args = {...}, options = {...}, from = {...} }
local function read_program(given, what, known, is_reference)
    if type(given) == "string" then given = { given } end
    fault.check(type(given) == "table", "%s must be a table like { \"kernel.cu\" }", what)
    local files = read_files(given, what, is_reference)
    tensors.check_keys(given, { "entry", "args", "options", "from" }, #files, what)
    local entry = given.entry
    fault.check(entry == nil or type(entry) == "string" and path.is_text(entry), "%s: entry must be a name", what)
    for i, name in ipairs(given.args and read_strings(given.args, what .. ": args") or {}) do
        if not known[name] then
            fault.raise("INVALID", "%s: argument %d: unknown name '%s'%s", what, i, name, fault.nearest(name, known))
        end
    end
    local options = given.options and read_strings(given.options, what .. ": options") or {}
    local from = given.from and read_strings(given.from, what .. ": from")
    fault.check(not from or #from == #files, "%s: from must name a file for each of its files", what)
    return { files = files, entry = given.entry, args = given.args, options = options, from = from }
end

-- { gpu = ..., cpu = ... } or one form for both; read(form, what) is called for each that is there.
local function per_place(given, what, read)
    local split = type(given) == "table" and (given.gpu ~= nil or given.cpu ~= nil)
    if not split then
        local both = read(given, what)
        return { gpu = both, cpu = both }
    end
    tensors.check_keys(given, PLACES, 0, what)
    local result = {}
    for _, place in ipairs(PLACES) do
        if given[place] ~= nil then result[place] = read(given[place], what .. "." .. place) end
    end
    return result
end

local function read_tolerance(given)
    if given == nil then return nil end
    fault.check(type(given) == "table", "tolerance must be a table like { \"allclose\", atol = 1e-4, rtol = 1e-4 }")
    tensors.check_keys(given, TOLERANCE, 1, "tolerance")
    local predicate = PREDICATES[given[1]]
    if not predicate then
        local name = tostring(given[1])
        fault.raise("INVALID", "tolerance: unknown predicate '%s'%s", name, fault.nearest(name, PREDICATES))
    end
    local result = { predicate = predicate, equal_nan = given.equal_nan == true, equal_inf = given.equal_inf == true }
    for name, default in pairs { atol = 0.0, rtol = 0.0, ratio = 1.0, cap = 0.0 } do
        local value = given[name] or default
        fault.check(type(value) == "number" and value >= 0 and value < math.huge,
            "tolerance: %s must be a number of at least 0", name)
        result[name] = value + 0.0
    end
    fault.check(result.ratio <= 1, "tolerance: ratio is a share of the elements, at most 1")
    return result
end

local function sorted_axes(values)
    local names = {}
    for name in pairs(values) do names[#names + 1] = name end
    table.sort(names)
    return names
end

local function identity(values)
    local parts = {}
    for i, name in ipairs(sorted_axes(values)) do parts[i] = ("%s=%d"):format(name, values[name]) end
    return table.concat(parts, ",")
end

local function read_workload(given, what)
    fault.check(type(given) == "table", "%s must be a table like { B = 8, D = 4096 }", what)
    local values = {}
    for name, value in pairs(given) do
        fault.check(type(name) == "string", "%s: give axes by name, as { B = 8 }", what)
        if not WORKLOAD_FIELDS[name] then
            fault.check(math.type(value) == "integer", "%s: axis %s must be an integer", what, name)
            fault.check(value >= 1, "%s: axis %s is %s, must be at least 1", what, name, tostring(value))
            values[name] = value
        end
    end
    local name = given.name
    fault.check(name == nil or type(name) == "string" and #name <= LONGEST_NAME and path.is_text(name),
        "%s: its name must be a string of UTF-8, at most %d bytes and no control characters", what, LONGEST_NAME)
    local weight = given.weight or 1
    fault.check(type(weight) == "number" and weight > 0 and weight < math.huge, "%s: weight must be positive", what)
    return { id = name or identity(values), axes = values, weight = weight + 0.0, what = what }
end

local function read_workloads(given, what)
    fault.check(type(given) == "table" and #given > 0, "%s must be a list of tables like { B = 8, D = 4096 }", what)
    tensors.check_keys(given, {}, #given, what)
    local list, seen = {}, {}
    for i, item in ipairs(given) do
        list[i] = read_workload(item, "workload " .. i)
        fault.check(not seen[list[i].id], "workload %d repeats %s", i, list[i].id)
        seen[list[i].id] = true
    end
    return list
end

-- Who uses an axis, for "workload 2 lacks axis D (used by tensor x)".
local function axis_users(definition)
    local users = {}
    for _, tensor in ipairs(definition.tensors) do
        for _, tree in ipairs(tensor.dims) do
            for name in pairs(axes.names(tree)) do users[name] = users[name] or "used by tensor " .. tensor.name end
        end
    end
    for name in pairs(definition.axes) do users[name] = users[name] or "declared in axes" end
    return users
end

local function check_axes(workloads, definition)
    local users = axis_users(definition)
    for _, workload in ipairs(workloads) do
        for name in pairs(workload.axes) do
            fault.check(not definition.scalars[name], "%s: '%s' is a scalar, not an axis", workload.what, name)
            users[name] = users[name] or "given by " .. workload.what
        end
    end
    for _, workload in ipairs(workloads) do
        for _, name in ipairs(sorted_axes(users)) do
            fault.check(workload.axes[name], "%s lacks axis %s (%s)", workload.what, name, users[name])
        end
    end
end

local function estimate(fn, name, workload)
    if not fn then return nil end
    local ran, value = pcall(fn, workload.axes)
    if not ran then fault.raise("INVALID", "%s(%s): %s", name, workload.id, tostring(value)) end
    local good = type(value) == "number" and value > 0 and value < math.huge
    fault.check(good, "%s(%s) must return a positive number, returned %s", name, workload.id, tostring(value))
    return value
end

local function give_shapes(workloads, definition)
    check_axes(workloads, definition)
    for _, workload in ipairs(workloads) do
        workload.shapes, workload.elements = {}, {}
        for _, tensor in ipairs(definition.tensors) do
            local shape, elements = tensors.shape(tensor, workload.axes, workload.what)
            workload.shapes[tensor.name], workload.elements[tensor.name] = shape, elements
        end
        workload.bytes = estimate(definition.bytes, "bytes", workload)
        workload.flops = estimate(definition.flops, "flops", workload)
    end
end

local function check_top(given, source)
    for key in pairs(given) do
        field(source, tostring(key), tensors.check_keys, { [key] = true }, FIELDS, 0, "task")
    end
    for _, name in ipairs { "tensors", "workloads", "reference", "solution" } do
        fault.check(given[name] ~= nil, "%s: lacks '%s'", source.file, name)
    end
    for _, name in ipairs { "bytes", "flops" } do
        local good = given[name] == nil or type(given[name]) == "function"
        field(source, name, fault.check, good, "%s must be a function of the axes", name)
    end
    local name = given.name
    field(source, "name", fault.check, name == nil or type(name) == "string" and name:match("^[%w_.-]+$"),
        "name must be a string of letters, digits, '-', '_' and '.'")
end

local function read_definition(given, source)
    check_top(given, source)
    local definition = { bytes = given.bytes, flops = given.flops, description = given.description }
    definition.tensors = entries(source, "tensors", tensors.read, given.tensors)
    definition.scalars = entries(source, "scalars", tensors.read_scalars, given.scalars)
    definition.axes = field(source, "axes", tensors.read_axes, given.axes)
    definition.tolerance = field(source, "tolerance", read_tolerance, given.tolerance)
    definition.workloads = field(source, "workloads", per_place, given.workloads, "workloads", read_workloads)
    for _, list in pairs(definition.workloads) do field(source, "workloads", give_shapes, list, definition) end
    if given.bench ~= nil then
        definition.bench = field(source, "bench", per_place, given.bench, "bench", bench.read)
    end
    local known = field(source, "scalars", known_names, definition)
    for _, list in pairs(definition.workloads) do
        for name in pairs(list[1].axes) do known[name] = known[name] or "an axis" end
    end
    for _, what in ipairs { "reference", "solution" } do
        definition[what] = field(source, what, per_place, given[what], what, function(form, form_name)
            return read_program(form, form_name, known, what == "reference")
        end)
    end
    return definition
end

--- The file of a task named by a file or a folder (then its task.lua, or what a robust-kbench task has).
function task.file_of(name)
    if not fs.is_dir(name) then return name end
    local file = fs.join(name, "task.lua")
    return not fs.exists(file) and robust_kbench.file_of(name) or file
end

-- The table that a task file returns and the text of it.
local function read(file)
    if not fs.exists(file) then fault.raise("NOTFOUND", "no task in %s: no such file", file) end
    fault.check(path.extension(file) == "lua", "%s: a task is a Lua file (task.lua)", file)
    local text, problem, code = path.read_source(file)
    if not text then fault.raise(code, "%s", problem) end
    return evaluate(text, file), text
end

local function define(given, file, folder, text)
    local definition = read_definition(given, { file = file, text = text })
    definition.file, definition.folder, definition.text = file, folder, text
    definition.name = given.name or fs.basename(fs.absolute(folder) or folder)
    return definition
end

--- Reads and checks a task file (or the task.lua of a folder). Returns its definition, to be given to `resolve`, or
--- nil, a message and a code: INVALID for a mistake in it, what the file system says otherwise.
task.load = fault.returns(function(name)
    local file = task.file_of(name)
    local given, text = read(file)
    return define(given, file, fs.dirname(file), text)
end)

--- The table that a task file returns, unchecked; nil, a message and a code as `load`.
task.read = fault.returns(function(file) return (read(file)) end)

--- The definition of a table such as a task file returns, whose files lie in `folder`; `file` is where it comes from.
--- Nil, a message and a code as `load`.
task.define = fault.returns(function(given, file, folder) return define(given, file, folder, fs.read(file) or "") end)

-- What a candidate may change proves nothing about it.
local function check_apart(file, resolved)
    for _, name in ipairs(resolved.solution.files) do
        for _, other in ipairs(resolved.reference.files) do
            fault.check(name ~= other, "%s: %s is the solution and the reference; give the reference a copy of its own",
                file, name)
        end
    end
end

--- True for what `define` and `load` give.
function task.is_definition(value)
    if type(value) ~= "table" or type(value.file) ~= "string" or type(value.tensors) ~= "table" then return false end
    return type(value.workloads) == "table" and type(value.reference) == "table" and type(value.solution) == "table"
end

--- The task for a place, "gpu" or "cpu": { name, file, folder, place, tensors (array), tensor (by name), scalars, axes,
--- workloads = { { id, axes, weight, shapes, elements, bytes, flops } }, tolerance (nil: the policy's), reference,
--- solution = { files, entry, args, options, from } }. Nil and a message when the task has no form for the place.
task.resolve = fault.returns(function(definition, place)
    local resolved = { name = definition.name, file = definition.file, folder = definition.folder, place = place,
        tensors = definition.tensors, tensor = {}, scalars = definition.scalars, axes = {},
        tolerance = definition.tolerance, bench = definition.bench and definition.bench[place] }
    for _, part in ipairs { "workloads", "reference", "solution" } do
        resolved[part] = definition[part][place]
        fault.check(resolved[part], "%s: %s has no form for the %s", definition.file, part, place:upper())
    end
    check_apart(definition.file, resolved)
    for _, tensor in ipairs(resolved.tensors) do resolved.tensor[tensor.name] = tensor end
    for name in pairs(resolved.workloads[1].axes) do
        resolved.axes[name] = definition.axes[name] or { dtype = "i32" }
    end
    return resolved
end)

--- The tolerance of a task: its own, or else the policy's: the predicate and the loosest of the numbers that `by_dtype`
--- (dtype -> atol = rtol) has for its outputs, as far as a problem says nothing else; 0 for dtypes that it does not
--- list (integers: exact).
function task.tolerance(resolved, predicate, by_dtype)
    if resolved.tolerance then return resolved.tolerance end
    local loosest = 0.0
    for _, tensor in ipairs(resolved.tensors) do
        if tensor.role ~= "input" then loosest = math.max(loosest, by_dtype[tensor.dtype] or 0.0) end
    end
    local own = resolved.closeness or {}
    return { predicate = predicate, atol = own.atol or loosest, rtol = own.rtol or loosest, ratio = 1.0, cap = 0.0,
        equal_nan = false, equal_inf = false }
end

return task
