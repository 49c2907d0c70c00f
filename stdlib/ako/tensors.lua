-- The `tensors`, `scalars` and `axes` of a task: what they may say, and their plain form.
--   x = { "f32", { "B", "D" }, init = "normal" }      eps = { "f32", 1e-6 }      axes = { N = "i64" }

local axes = require "ako.axes"
local dtypes = require "ako.dtypes"
local fault = require "ako.fault"
local path = require "ako.path"

local tensors = {}

local ROLES = { input = true, output = true, inout = true }
local FIELDS = { "init", "role" }
local HIGHEST_RANK = 8
local FILE_FORMATS = { npy = "npy", npz = "npz", safetensors = "safetensors", raw = "raw", bin = "raw" }
local PICKLED = { pt = true, pth = true, pkl = true }

--- Raises unless every key of `given` is one of `known` (an array) or an integer up to `positional`.
function tensors.check_keys(given, known, positional, what)
    local set = {}
    for _, name in ipairs(known) do set[name] = true end
    for key in pairs(given) do
        local counted = math.type(key) == "integer" and key >= 1 and key <= positional
        if not counted and not set[key] then
            fault.raise("INVALID", "%s: unknown key '%s'%s", what, tostring(key), fault.nearest(tostring(key), known))
        end
    end
end

local function check_number(value, default, what)
    if value == nil then return default end
    local good = type(value) == "number" and value == value and math.abs(value) < math.huge
    return fault.check(good, "%s must be a finite number", what) and value
end

local function pair_reader(kind, default_a, default_b)
    return function(init, what)
        tensors.check_keys(init, {}, 3, what)
        return { kind = kind, a = check_number(init[2], default_a, what), b = check_number(init[3], default_b, what) }
    end
end

local init_readers = {
    normal = pair_reader("normal", 0, 1),
    uniform = pair_reader("uniform", 0, 1),
    arange = pair_reader("arange", 0, 1),
    constant = pair_reader("constant", 0, 0),
    zeros = function() return { kind = "constant", a = 0, b = 0 } end,
    ones = function() return { kind = "constant", a = 1, b = 0 } end,
}

local function read_file_init(init, name, what)
    tensors.check_keys(init, { "key" }, 1, what)
    fault.check(path.is_text(init[1]), "%s: the name of the file must be UTF-8 without control characters", what)
    fault.check(init.key == nil or type(init.key) == "string", "%s: key must be a string", what)
    return { file = init[1], format = FILE_FORMATS[path.extension(init[1])], member = init.key or name }
end

-- Integers without a stated range stay small, so that sums of them stay exact in every dtype.
local function default_init(dtype)
    local kind = dtypes.check(dtype).kind
    if kind == "float" then return { kind = "normal", a = 0, b = 1 } end
    return { kind = "uniform", a = 0, b = kind == "bool" and 1 or 9 }
end

local function read_init(init, name, dtype, what)
    if init == nil then return default_init(dtype) end
    if type(init) == "string" then init = { init } end
    fault.check(type(init) == "table" and type(init[1]) == "string",
        "%s: init must be a kind (\"normal\"), a list ({ \"uniform\", 0, 1 }) or a file (\"x.npy\")", what)
    if init_readers[init[1]] then return init_readers[init[1]](init, what .. ": init") end
    if FILE_FORMATS[path.extension(init[1])] then return read_file_init(init, name, what .. ": init") end
    fault.check(not PICKLED[path.extension(init[1])], "%s: %s can be read by Python alone: save its tensors as "
        .. ".safetensors or .npy, or let get_inputs of a problem in Python load it", what, init[1])
    fault.raise("INVALID", "%s: unknown init '%s'%s", what, init[1], fault.nearest(init[1], init_readers))
end

local function read_dims(dims, what)
    fault.check(type(dims) == "table", "%s: the second field must be its shape, as { \"B\", \"D\" }", what)
    local trees = {}
    fault.check(#dims <= HIGHEST_RANK, "%s: a shape of %d dimensions; at most %d", what, #dims, HIGHEST_RANK)
    for i, dim in ipairs(dims) do
        local good = type(dim) == "string" or math.type(dim) == "integer"
        fault.check(good, "%s: dimension %d must be an axis, an expression or an integer", what, i)
        trees[i] = fault.within(what .. ": ", axes.parse, dim)
    end
    tensors.check_keys(dims, {}, #trees, what .. ": shape")
    return trees
end

local function read_tensor(name, given)
    local what = "tensor " .. name
    fault.check(type(given) == "table", "%s must be a table like { \"f32\", { \"B\", \"D\" } }", what)
    tensors.check_keys(given, FIELDS, 2, what)
    fault.within(what .. ": ", dtypes.check, given[1])
    local role = given.role or "input"
    fault.check(ROLES[role], "%s: unknown role '%s'%s", what, tostring(role), fault.nearest(tostring(role), ROLES))
    fault.check(role ~= "output" or given.init == nil, "%s: an output has no init (role 'inout' has)", what)
    local init
    if role ~= "output" then init = read_init(given.init, name, given[1], what) end
    return { name = name, dtype = given[1], dims = read_dims(given[2], what), role = role, init = init }
end

local function sorted_names(given, what, place)
    fault.check(type(given) == "table", "%s%s must be a table", place, what)
    local names = {}
    for name in pairs(given) do
        local good = type(name) == "string" and name:match("^[%a_][%w_]*$")
        fault.check(good, "%s%s: '%s' is not a name (letters, digits, _)", place, what, tostring(name))
        names[#names + 1] = name
    end
    table.sort(names)
    return names
end

--- Reads `tensors`; returns an array in name order { name, dtype, dims (trees), role, init, place }. place(name) says
--- where an entry stands ("task.lua:4: "), without a name where all of them do. Raises faults.
function tensors.read(given, place)
    local list, outputs = {}, 0
    for i, name in ipairs(sorted_names(given, "tensors", place())) do
        list[i] = fault.within(place(name), read_tensor, name, given[name])
        list[i].place = place(name)
        if list[i].role ~= "input" then outputs = outputs + 1 end
    end
    fault.check(outputs > 0, "%sno tensor has role 'output' or 'inout': there would be nothing to check", place())
    return list
end

local function integer_range(dtype)
    local bits = dtypes.check(dtype).size * 8
    if dtype:sub(1, 1) == "u" then return 0, bits == 64 and math.maxinteger or (1 << bits) - 1 end
    return -(1 << bits - 1), (1 << bits - 1) - 1
end

local function scalar_value(dtype, value, what)
    local kind = dtypes.check(dtype).kind
    if kind == "bool" then
        fault.check(type(value) == "boolean", "%s: a bool is true or false", what)
        return value and 1 or 0
    end
    check_number(value, nil, what .. ": the value")
    fault.check(value, "%s: the second field must be its value", what)
    if kind == "float" then return value + 0.0 end
    local low, high = integer_range(dtype)
    local whole = math.tointeger(value)
    fault.check(whole and whole >= low and whole <= high, "%s: %s is no %s", what, tostring(value), dtype)
    return whole
end

local function read_scalar(name, given)
    local what = "scalar " .. name
    fault.check(type(given) == "table", "%s must be a table like { \"f32\", 1e-6 }", what)
    tensors.check_keys(given, {}, 2, what)
    fault.within(what .. ": ", dtypes.check, given[1])
    return { name = name, dtype = given[1], value = scalar_value(given[1], given[2], what) }
end

--- Reads `scalars` (may be nil); returns name -> { name, dtype, value }. `place` is as in `read`. Raises faults.
function tensors.read_scalars(given, place)
    local scalars = {}
    for _, name in ipairs(sorted_names(given or {}, "scalars", place())) do
        scalars[name] = fault.within(place(name), read_scalar, name, given[name])
    end
    return scalars
end

--- Reads `axes` (may be nil): name -> { dtype = "i32" | "i64" }, for the axes that say so. Raises faults.
function tensors.read_axes(given)
    local result = {}
    for _, name in ipairs(sorted_names(given or {}, "axes", "")) do
        local dtype = given[name]
        fault.check(dtype == "i32" or dtype == "i64", "axis %s: must be \"i32\" or \"i64\"", name)
        result[name] = { dtype = dtype }
    end
    return result
end

--- The shape of a tensor under `values` (axis -> integer), and its elements. Raises faults that name tensor and dim.
function tensors.shape(tensor, values, what)
    local shape, elements = {}, 1
    for i, tree in ipairs(tensor.dims) do
        local size = fault.within(("%s: tensor %s: "):format(what, tensor.name), axes.integer, tree, values)
        fault.check(size >= 1, "%s: tensor %s: dimension '%s' is %d, must be at least 1", what, tensor.name, tree.text,
            size)
        shape[i] = size
        local bytes = (elements + 0.0) * size * dtypes.check(tensor.dtype).size
        fault.check(bytes < 2.0 ^ 63, "%s: tensor %s: its size overflows 64 bits", what, tensor.name)
        elements = elements * size
    end
    return shape, elements
end

--- A task's tensors for people and policies: { { name, dtype, dims (as they are written), role }, ... }. None for nil.
function tensors.views(list)
    local views = {}
    for i, tensor in ipairs(list or {}) do
        local dims = {}
        for k, tree in ipairs(tensor.dims) do dims[k] = tree.text end
        views[i] = { name = tensor.name, dtype = tensor.dtype, dims = dims, role = tensor.role }
    end
    return views
end

--- Such views in one line: "x f32(B, D) -> y f32(B, D)".
function tensors.text(views)
    local given, outputs = {}, {}
    for _, tensor in ipairs(views) do
        local side = tensor.role == "input" and given or outputs
        side[#side + 1] = ("%s %s(%s)"):format(tensor.name, tensor.dtype, table.concat(tensor.dims, ", "))
    end
    return table.concat(given, ", ") .. " -> " .. table.concat(outputs, ", ")
end

return tensors
