-- The entry point of a C or CUDA file, as its text declares it: extern "C" void solve(const float *x, float *out,
-- int n). What has no launch lines is called so; each parameter is a tensor, a size or a scalar of the task.

local c_source = require "ako.c_source"
local dtypes = require "ako.dtypes"
local fault = require "ako.fault"
local format = require "ako.format"

local entry = {}

local USUAL = "solve"

local TYPES = { float = "f32", double = "f64", half = "f16", __half = "f16", bool = "bool", _Bool = "bool",
    __nv_bfloat16 = "bf16", nv_bfloat16 = "bf16", __nv_fp8_e4m3 = "f8e4m3", __nv_fp8_e5m2 = "f8e5m2", char = "i8",
    ["signed char"] = "i8", ["unsigned char"] = "u8", short = "i16", ["short int"] = "i16", ["unsigned short"] = "u16",
    int = "i32", unsigned = "u32", ["unsigned int"] = "u32", long = "i64", ["long int"] = "i64", ["long long"] = "i64",
    ["long long int"] = "i64", ["unsigned long"] = "u64", ["unsigned long long"] = "u64", size_t = "u64", int8_t = "i8",
    uint8_t = "u8", int16_t = "i16", uint16_t = "u16", int32_t = "i32", uint32_t = "u32", int64_t = "i64",
    uint64_t = "u64" }

-- What plain C has no type for is passed as its bits.
local BITS = { f16 = "u16", bf16 = "u16", f8e4m3 = "u8", f8e5m2 = "u8", bool = "u8" }

-- What says nothing about what is passed.
local IGNORED = { const = true, volatile = true, restrict = true, __restrict__ = true, __restrict = true }

-- Where the parenthesis that opens at a place closes; nil for one that does not.
local function closings(code)
    local closing, open = {}, {}
    for at, mark in code:gmatch("()([()])") do
        if mark == "(" then
            open[#open + 1] = at
        elseif #open > 0 then
            closing[table.remove(open)] = at
        end
    end
    return closing
end

-- Code without attributes, lines kept.
local function bare(text)
    local code = c_source.code(text)
    local closing, pieces, from = closings(code), {}, 1
    for at, open in code:gmatch("%f[%w_]()__attribute__%s*()%(") do
        if at >= from and closing[open] then
            pieces[#pieces + 1] = code:sub(from, at - 1)
            from = closing[open] + 1
        end
    end
    pieces[#pieces + 1] = code:sub(from)
    return table.concat(pieces)
end

-- "const float *x" as { name, type, pointer, const }.
local function parameter(text)
    local bracket = text:find("[", 1, true)
    if bracket then text = text:sub(1, bracket - 1) .. " *" end
    local _, stars = text:gsub("%*", "")
    fault.check(stars <= 1, "'%s': a pointer to pointers cannot be given", text)
    local words, is_const = {}, false
    local before = stars == 1 and text:match("^(.-)%*") or ""
    for word in text:gsub("%*", " "):gsub("std::", ""):gmatch("[%w_:]+") do
        if not IGNORED[word] then words[#words + 1] = word end
    end
    for word in before:gmatch("[%w_]+") do is_const = is_const or word == "const" end
    fault.check(#words >= 2, "'%s': a parameter needs a type and a name", format.trim(text))
    local name, kind = table.remove(words), table.concat(words, " ")
    local dtype = TYPES[kind]
    fault.check(dtype or stars == 1 and kind == "void", "parameter '%s': the type '%s' is none that can be given", name,
        kind)
    return { name = name, dtype = dtype, pointer = stars == 1, const = is_const }
end

local function parameters(list)
    local found = {}
    if not list:find("%S") or list:match("^%s*void%s*$") then return found end
    for text in (list .. ","):gmatch("([^,]*),") do found[#found + 1] = parameter(text) end
    return found
end

local function newlines_in(text) return select(2, text:gsub("\n", "")) end

-- Functions without a result that are defined: { name, list, line, is_extern, is_static }. What stands before a
-- parenthesis is read from its first letter alone, which the %f finds: else a long text would be read from each again.
local function definitions(text)
    local found, closing, line, counted = {}, closings(text), 1, 1
    for from, head, open in text:gmatch('%f[%w_:%s*"]()([%w_:%s*"]+)()%(') do
        local before, at, name = head:match("^(.*)%f[%w_]()([%a_][%w_]*)%s*$")
        local close = closing[open]
        local is_defined = name and close and text:find("^[%a%s]*{", close + 1)
        if is_defined and before:find("%f[%w_]void%s*$") and not before:find("__global__", 1, true) then
            at = from + at - 1
            line, counted = line + newlines_in(text:sub(counted, at - 1)), at
            found[#found + 1] = { name = name, list = text:sub(open + 1, close - 1), line = line,
                is_extern = before:find('extern%s+"C"') ~= nil,
                is_static = before:find("%f[%w_]static%f[%W]") ~= nil }
        end
    end
    return found
end

local function choose(text, file, is_c)
    local found = {}
    local is_in_block = text:find('extern%s+"C"%s*{') ~= nil
    for _, one in ipairs(definitions(text)) do
        local is_seen = not one.is_static and (is_c or one.is_extern or is_in_block)
        if one.name == USUAL then
            fault.check(is_seen, "%s: %s must be extern \"C\"", file, USUAL)
            return one
        end
        if is_seen then found[#found + 1] = one end
    end
    fault.check(#found > 0, "%s: has no '//! launch' line and no extern \"C\" void %s(...)", file, USUAL)
    fault.check(#found == 1, "%s: has several functions that could be called; call one of them %s", file, USUAL)
    return found[1]
end

--- The entry point of a source { name, text }: { name, line, place (for messages), params = { { name, dtype (nil for
--- void), pointer, const } } }. It is the function `solve`, or the only one that can be seen from outside. Raises
--- faults.
function entry.parse(source)
    local found = choose(bare(source.text), source.name, source.name:find("%.c$") ~= nil)
    local place = ("%s: %s: "):format(source.name, found.name)
    return { name = found.name, line = found.line, place = place, params = fault.within(place, parameters, found.list) }
end

-- Tensors for pointers: by their names where all are known, else inputs for const ones and outputs for the others, in
-- order.
local function tensors_for(spec, task)
    local result, is_named = {}, true
    local lists = { [true] = {}, [false] = {} }
    for _, tensor in ipairs(task.tensors) do
        local list = lists[tensor.role == "input"]
        list[#list + 1] = tensor
    end
    local taken = { [true] = 0, [false] = 0 }
    for _, param in ipairs(spec.params) do
        if param.pointer then
            is_named = is_named and task.tensor[param.name] ~= nil
            taken[param.const] = taken[param.const] + 1
            result[param] = lists[param.const][taken[param.const]]
        end
    end
    if is_named then
        for param in pairs(result) do result[param] = task.tensor[param.name] end
        return result
    end
    fault.check(taken[true] == #lists[true] and taken[false] == #lists[false],
        "takes %d const and %d other pointers, the task has %d inputs and %d outputs", taken[true], taken[false],
        #lists[true], #lists[false])
    return result
end

-- "_Bool, bool, uint8_t or unsigned char" for bool.
local function types_of(dtype)
    local names = {}
    for name, meant in pairs(TYPES) do
        if meant == dtype or meant == BITS[dtype] then names[#names + 1] = name end
    end
    table.sort(names)
    local last = table.remove(names)
    return #names > 0 and table.concat(names, ", ") .. " or " .. last or last
end

local function check_dtype(param, tensor)
    local dtype = tensor.dtype
    if not param.dtype or param.dtype == dtype or param.dtype == BITS[dtype] then return end
    fault.raise("INVALID", "'%s' points to %s, and %s is %s: write %s", param.name, param.dtype, tensor.name, dtype,
        types_of(dtype))
end

local function is_float(dtype) return dtypes.check(dtype).kind == "float" end

local function number_for(param, task, workload)
    local scalar, name = task.scalars[param.name], param.name
    local value = scalar and scalar.value or workload.axes[name]
    if value == nil then
        local known = {}
        for other in pairs(workload.axes) do known[#known + 1] = other end
        for other in pairs(task.scalars) do known[#known + 1] = other end
        table.sort(known)
        fault.raise("INVALID", "'%s' is no size of the task%s; it has %s", name, fault.nearest(name, known),
            #known > 0 and table.concat(known, ", ") or "none")
    end
    if is_float(param.dtype) then return { scalar = value + 0.0, dtype = param.dtype, name = name } end
    local whole = math.tointeger(value)
    fault.check(whole, "'%s' is %g, and its type is an integer's", name, value)
    if param.dtype == "i32" or param.dtype == "i64" then return { [param.dtype] = whole, name = name } end
    return { scalar = value + 0.0, dtype = param.dtype, name = name }
end

--- The arguments of an entry point for one workload, as docs/protocol.md has them. Raises faults.
function entry.arguments(spec, task, workload)
    return fault.within(spec.place, function()
        local tensors, args = tensors_for(spec, task), {}
        for i, param in ipairs(spec.params) do
            if param.pointer then
                check_dtype(param, tensors[param])
                args[i] = { tensor = tensors[param].name }
            else
                args[i] = number_for(param, task, workload)
            end
        end
        return args
    end)
end

return entry
