-- The contract of the roofline optimizer: a reference `reference(**kwargs)` in Python, kernels as CUDA or C with extern
-- "C" void solve(...), or as Python with run_kernel(**kwargs) and a setup(**dims, seed) that makes its arguments. Sizes
-- are given on the command line. stdlib/python/ako/contracts.py makes a problem of what is found out here.

local dtypes = require "ako.dtypes"
local entry = require "ako.entry"
local fault = require "ako.fault"
local path = require "ako.path"
local python_source = require "ako.python_source"

local contract = {}

-- Of the contract: elements of a buffer whose size nobody gives.
local LEAST, MOST = 1 << 20, 1 << 28

local function has(list, name)
    for _, one in ipairs(list) do
        if one.name == name then return true end
    end
    return false
end

--- True where a Python text is such a reference, and no problem of KernelBench's.
function contract.is_reference(text)
    local facts = python_source.facts(text)
    return not has(facts.classes, "Model") and has(facts.functions, "reference")
end

-- What is one capital letter counts elements; other numbers may be anything, an EPS too.
local function whole_size(value, part)
    local whole = math.tointeger(value)
    return fault.check(whole and whole > 0 and whole, "'%s' is no size: it must be a whole number, at least 1", part)
end

--- The sizes in a text such as "M=4096,alpha=0.5", by name; or nil, a message and INVALID.
contract.dims = fault.returns(function(text)
    local dims = {}
    for part in text:gmatch("[^,]+") do
        local name, value = part:match("^%s*([%a_][%w_]*)%s*=%s*(%S+)%s*$")
        value = tonumber(value)
        fault.check(value and value == value and math.abs(value) < math.huge,
            "'%s' is no size: wanted is NAME=NUMBER, and commas between several", part)
        dims[name] = name:find "^%u$" and whole_size(value, part) or value
    end
    return dims
end)

-- The product of the two largest sizes.
local function usual_size(dims)
    local sizes = {}
    for _, value in pairs(dims) do
        if math.type(value) == "integer" and value > 0 then sizes[#sizes + 1] = value end
    end
    if #sizes == 0 then return LEAST end
    table.sort(sizes, function(a, b) return a > b end)
    return math.tointeger(math.min(MOST, sizes[1] * 1.0 * (sizes[2] or 1)))
end

local function argument(param, dims, size)
    if param.pointer then
        fault.check(param.dtype, "'%s' is a void pointer: its elements need a type", param.name)
        return { name = param.name, dtype = param.dtype, shape = { size }, role = param.const and "input" or "output" }
    end
    local value = dims[param.name]
    fault.check(dtypes.check(param.dtype).kind == "float" or math.tointeger(value),
        "'%s' is %g, and its type is an integer's", param.name, value)
    return { name = param.name, value = value }
end

-- What the parameters ask for must be there. Other sizes may be: buffers have theirs by all of them.
local function check_given(params, dims)
    local missing, given = {}, {}
    for _, param in ipairs(params) do
        if not param.pointer then
            local value = dims[param.name]
            if value == nil then missing[#missing + 1] = ("'%s'"):format(param.name) end
            given[#given + 1] = ("%s=%s"):format(param.name, value or "NUMBER")
        end
    end
    fault.check(#missing == 0, "no size %s: give --dims=%s", table.concat(missing, ", "), table.concat(given, ","))
end

--- The arguments of an entry point (a source { name, text }) as stdlib/python takes them. Raises faults.
function contract.arguments(source, dims)
    local spec, size = entry.parse(source), usual_size(dims)
    return fault.within(spec.place, function()
        check_given(spec.params, dims)
        local list = {}
        for i, param in ipairs(spec.params) do list[i] = argument(param, dims, size) end
        return list
    end)
end

--- What is asked of such a reference: `source` (nil for a kernel in Python) has the entry point whose arguments it
--- takes. Raises faults.
function contract.question(dims, source)
    local is_native = source and path.extension(source.name) ~= "py"
    return { format = "roofline", dims = dims, arguments = is_native and contract.arguments(source, dims) or nil }
end

return contract
