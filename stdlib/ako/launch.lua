-- The `//!` lines of a kernel file, which say how it is launched:
--   //! launch rmsnorm<128, float><<<(B), (256), 0>>>(x, w, y, B, D, eps) cluster=(2)
--   //! scratch partial f32 (B, 32)
--   //! tune BLOCK = 128, 256, 512
-- `parse` reads them once a file; `bind` gives them their numbers for one workload. A fault reads
-- "kernel.cu:3: launch: unknown name 'Bs' (did you mean 'B'?)".

local axes = require "ako.axes"
local dtypes = require "ako.dtypes"
local fault = require "ako.fault"
local format = require "ako.format"

local launch = {}

-- What every CUDA device since sm_50 can take (CUDA C++ Programming Guide, "Technical Specifications").
local GRID_LIMITS = { 2 ^ 31 - 1, 65535, 65535 }
local BLOCK_LIMITS = { 1024, 1024, 64 }
local THREADS_IN_A_BLOCK = 1024
local BLOCKS_IN_A_CLUSTER = 16
local HIGHEST_RANK = 8
local LARGEST_SCRATCH = 2.0 ^ 44 -- bytes

local DIRECTIVES = { launch = true, scratch = true, tune = true }

local function extent(scanner)
    if scanner:take("%(") then
        local sizes = scanner:list(axes.expression)
        fault.check(#sizes >= 1 and #sizes <= 3, "a size has one to three parts, got %d", #sizes)
        return sizes
    end
    return { axes.expression(scanner) }
end

-- Inside <<< >>> an expression ends at a comma or at ">>>"; neither can be part of one. The cluster may stand here, as
-- a fourth field, or behind the arguments.
local function configuration(scanner)
    local config = { grid = extent(scanner) }
    scanner:expect(",", "',' and the block size")
    config.block = extent(scanner)
    config.shared = axes.parse(0)
    while scanner:take(",") do
        if scanner:take("cluster%s*=") then
            config.cluster = extent(scanner)
        else
            fault.check(not config.has_shared, "more than three sizes between <<< and >>>")
            config.shared, config.has_shared = axes.expression(scanner), true
        end
    end
    scanner:expect(">>>", "'>>>'")
    return config
end

local function kernel_name(text)
    local first, last = text:find("<<<", 1, true)
    fault.check(first, "expected kernel<<<(grid), (block), shared>>>(arguments)")
    local name = format.trim(text:sub(1, first - 1))
    fault.check(name:match("^[%a_][%w_:]*$") or name:match("^[%a_][%w_:]*%s*<.*>$"), "'%s' names no kernel", name)
    return name, last + 1
end

local readers = {}

function readers.launch(text)
    local name, at = kernel_name(text)
    local scanner = axes.scanner(text, at)
    local result = configuration(scanner)
    result.name = name
    scanner:expect("%(", "'(' and the arguments")
    result.args = scanner:list(axes.expression)
    if scanner:take("cluster%s*=") then result.cluster = extent(scanner) end
    fault.check(scanner:done(), "unexpected %s after the arguments", scanner:rest())
    return result
end

function readers.scratch(text)
    local scanner = axes.scanner(text)
    local result = { name = scanner:expect("[%a_][%w_]*", "a name") }
    result.dtype = scanner:expect("%w+", "a dtype")
    dtypes.check(result.dtype)
    scanner:expect("%(", "'(' and the shape")
    result.dims = scanner:list(axes.expression)
    fault.check(scanner:done(), "unexpected %s after the shape", scanner:rest())
    return result
end

function readers.tune(text)
    local name, list = text:match("^%s*([%a_][%w_]*)%s*=(.*)$")
    fault.check(name, "expected NAME = value, value ...")
    local values = {}
    for value in (list .. ","):gmatch("([^,]*),") do
        value = format.trim(value)
        fault.check(value ~= "", "an empty value in the list of %s", name)
        values[#values + 1] = value
    end
    return { name = name, values = values }
end

local function read_line(spec, file, number, line)
    local word, rest = line:match("^%s*//!%s*(%w+)(.*)$")
    if not word then return end
    local place = ("%s:%d: "):format(file, number)
    if not DIRECTIVES[word] then
        -- Doxygen's comments start with //! too, so only what looks like a slip of the pen is a fault.
        local hint = fault.nearest(word, DIRECTIVES)
        if hint ~= "" then fault.raise("INVALID", "%sunknown line '//! %s'%s", place, word, hint) end
        return
    end
    local entry = fault.within(place .. word .. ": ", readers[word], format.trim(rest))
    entry.line, entry.place = number, place .. word .. ": "
    table.insert(spec[word], entry)
end

local function check_names(spec)
    local seen = {}
    for _, list in ipairs { spec.scratch, spec.tune } do
        for _, entry in ipairs(list) do
            fault.check(not seen[entry.name], "%s'%s' is declared twice", entry.place, entry.name)
            seen[entry.name] = true
        end
    end
end

--- Reads the `//!` lines of a source. Returns { file, launch = {...}, scratch = {...}, tune = {...} } with expressions
--- as trees (ako.axes), or nil and a message with file and line. A source without such lines has empty lists.
launch.parse = fault.returns(function(text, file)
    local spec = { file = file, launch = {}, scratch = {}, tune = {} }
    local number = 0
    for line in (text .. "\n"):gmatch("(.-)\r?\n") do
        number = number + 1
        read_line(spec, file, number, line)
    end
    check_names(spec)
    return spec
end)

--- The defaults of the tunables, the first value of each: { BLOCK = "128" }.
function launch.first_point(spec)
    local point = {}
    for _, tune in ipairs(spec.tune) do point[tune.name] = tune.values[1] end
    return point
end

--- A kernel's name with the tunables in its template arguments replaced by their values.
function launch.instance(name, point)
    local plain, arguments = name:match("^([%a_][%w_:]*)(.*)$")
    return plain .. arguments:gsub("[%a_][%w_]*", point)
end

local function names_of(task, workload, point)
    local names = {}
    for name, value in pairs(workload.axes) do names[name] = value end
    for name, scalar in pairs(task.scalars) do names[name] = scalar.value end
    for name, value in pairs(point) do names[name] = math.tointeger(tonumber(value)) or tonumber(value) end
    return names
end

local function sizes(trees, names, limits, what, id)
    local result = { 1, 1, 1 }
    for i, tree in ipairs(trees) do
        local value = axes.integer(tree, names)
        if value < 1 then fault.raise("INVALID", "%s '%s' is %d for workload %s", what, tree.text, value, id) end
        if value > limits[i] then
            fault.raise("INVALID", "%s '%s' is %d for workload %s; at most %d", what, tree.text, value, id, limits[i])
        end
        result[i] = value
    end
    return result
end

local function cluster_size(entry, names, grid, id)
    if not entry.cluster then return { 1, 1, 1 } end
    local cluster = sizes(entry.cluster, names, { BLOCKS_IN_A_CLUSTER, BLOCKS_IN_A_CLUSTER, BLOCKS_IN_A_CLUSTER },
        "cluster", id)
    local blocks = cluster[1] * cluster[2] * cluster[3]
    fault.check(blocks <= BLOCKS_IN_A_CLUSTER, "a cluster of %d blocks; at most %d", blocks, BLOCKS_IN_A_CLUSTER)
    for i = 1, 3 do
        fault.check(grid[i] % cluster[i] == 0, "grid %d is no multiple of cluster %d for workload %s", grid[i],
            cluster[i], id)
    end
    return cluster
end

-- An integer by value: `int`, or `long long` where an axis in it is declared i64.
local function integer_argument(task, tree, value)
    for name in pairs(axes.names(tree)) do
        if task.axes[name] and task.axes[name].dtype == "i64" then return { i64 = value } end
    end
    if value >= -2 ^ 31 and value < 2 ^ 31 then return { i32 = value } end
    fault.raise("INVALID", "'%s' is %d and does not fit an int; declare its axis i64 in the task's axes", tree.text,
        value)
end

local function argument(task, spec, tree, names)
    if tree.kind == "name" then
        local name = tree.name
        if task.tensor[name] or spec.is_scratch[name] then return { tensor = name } end
        local scalar = task.scalars[name]
        if scalar then return { scalar = scalar.value, dtype = scalar.dtype, name = name } end
        if names[name] == nil then
            fault.raise("INVALID", "unknown name '%s'%s", name, fault.nearest(name, spec.every_name))
        end
    end
    local value = axes.value(tree, names)
    if math.type(value) == "float" then return { scalar = value, dtype = "f32", name = tree.text } end
    local result = integer_argument(task, tree, value)
    result.name = tree.text
    return result
end

--- The arguments of an entry point, given by name, for one workload, as docs/protocol.md has them. Raises faults.
function launch.arguments(list, task, workload)
    local bound = { is_scratch = {}, every_name = {} }
    for _, names in ipairs { task.tensor, task.axes, task.scalars } do
        for name in pairs(names) do bound.every_name[name] = true end
    end
    local names, args = names_of(task, workload, {}), {}
    for i, name in ipairs(list) do args[i] = argument(task, bound, axes.parse(name), names) end
    return args
end

local function bind_launch(entry, spec, task, workload, names)
    local id = workload.id
    local grid = sizes(entry.grid, names, GRID_LIMITS, "grid", id)
    local block = sizes(entry.block, names, BLOCK_LIMITS, "block", id)
    local threads = block[1] * block[2] * block[3]
    fault.check(threads <= THREADS_IN_A_BLOCK, "a block of %d threads; at most %d", threads, THREADS_IN_A_BLOCK)
    local shared = axes.integer(entry.shared, names)
    fault.check(shared >= 0 and shared < 2 ^ 31, "shared memory '%s' is %d bytes for workload %s", entry.shared.text,
        shared, id)
    local args = {}
    for i, tree in ipairs(entry.args) do args[i] = argument(task, spec, tree, names) end
    return { symbol = launch.instance(entry.name, spec.point), line = entry.line, grid = grid, block = block,
        cluster = cluster_size(entry, names, grid, id), shared = shared, args = args }
end

local function bind_scratch(entry, names, id)
    local shape, bytes = {}, dtypes.check(entry.dtype).size + 0.0
    fault.check(#entry.dims <= HIGHEST_RANK, "a shape of %d dimensions; at most %d", #entry.dims, HIGHEST_RANK)
    for i, tree in ipairs(entry.dims) do
        shape[i] = axes.integer(tree, names)
        fault.check(shape[i] >= 1, "dimension '%s' is %d for workload %s", tree.text, shape[i], id)
        bytes = bytes * shape[i]
    end
    fault.check(bytes <= LARGEST_SCRATCH, "%.3g bytes for workload %s; no device has so many", bytes, id)
    return { name = entry.name, dtype = entry.dtype, shape = shape }
end

-- What an argument may name; also catches a scratch or tunable that hides something of the task's.
local function bindings(spec, task, point)
    local bound = { point = point, is_scratch = {}, every_name = {} }
    for name in pairs(task.tensor) do bound.every_name[name] = "tensor" end
    for name in pairs(task.axes) do bound.every_name[name] = "axis" end
    for name in pairs(task.scalars) do bound.every_name[name] = "scalar" end
    for _, list in ipairs { spec.scratch, spec.tune } do
        for _, entry in ipairs(list) do
            local taken = bound.every_name[entry.name]
            fault.check(not taken, "%s'%s' is already %s of the task", entry.place, entry.name, taken or "")
            bound.every_name[entry.name] = "of this file"
        end
    end
    for _, entry in ipairs(spec.scratch) do bound.is_scratch[entry.name] = true end
    return bound
end

--- The launches of a parsed file for one workload of a task: { scratch = {...}, calls = {...} } as docs/protocol.md has
--- them. `point` gives each tunable's value (default: its first). Returns nil and a message with file and line.
launch.bind = fault.returns(function(spec, task, workload, point)
    local bound = bindings(spec, task, point or launch.first_point(spec))
    local names = names_of(task, workload, bound.point)
    local result = { scratch = {}, calls = {} }
    for i, entry in ipairs(spec.scratch) do
        result.scratch[i] = fault.within(entry.place, bind_scratch, entry, names, workload.id)
    end
    for i, entry in ipairs(spec.launch) do
        result.calls[i] = fault.within(entry.place, bind_launch, entry, bound, task, workload, names)
    end
    return result
end)

return launch
