-- What an inputs' file could say of a kernel that nothing describes: its arguments as its text declares them, the data
-- files that are called like them, and sizes that are yet to be put right.

local entry = require "ako.entry"
local fault = require "ako.fault"
local fs = require "ako.fs"
local path = require "ako.path"

local example = {}

local DATA = { npy = true, npz = true, safetensors = true, raw = true, bin = true }
local SIZE = 1024 -- of every axis, in an example

-- The data file that is called like a parameter.
local function data_of(name, files)
    for _, file in ipairs(files) do
        local is_data = DATA[path.extension(file)]
        if is_data and fs.basename(file):match("^(.*)%.") == name then return file end
    end
end

local function tensor_text(param, axis, files)
    local data, more = param.const and data_of(param.name, files), ""
    if not param.const then more = ', role = "output"' end
    if data then more = (', init = "%s"'):format(data) end
    return ('%s = { "%s", { "%s" }%s }'):format(param.name, param.dtype or "f32", axis, more)
end

local function is_axis(param) return not param.pointer and (param.dtype == "i32" or param.dtype == "i64") end

local function axes_of(params)
    local names = {}
    for _, param in ipairs(params) do
        if is_axis(param) then names[#names + 1] = param.name end
    end
    return names[1] and names or { "N" }
end

local function text_of(spec, files)
    local axes, sizes, tensors, scalars, args = axes_of(spec.params), {}, {}, {}, {}
    for i, name in ipairs(axes) do sizes[i] = ("%s = %d"):format(name, SIZE) end
    for i, param in ipairs(spec.params) do
        args[i] = ('"%s"'):format(param.name)
        if param.pointer then
            tensors[#tensors + 1] = tensor_text(param, axes[1], files)
        elseif not is_axis(param) then
            scalars[#scalars + 1] = ('%s = { "%s", 1 }'):format(param.name, param.dtype)
        end
    end
    local numbers = scalars[1] and ("scalars = { %s }, "):format(table.concat(scalars, ", ")) or ""
    return ('return { tensors = { %s }, %sworkloads = { { %s } }, solution = { entry = "%s", args = { %s } } }'):format(
        table.concat(tensors, ", "), numbers, table.concat(sizes, ", "), spec.name, table.concat(args, ", "))
end

--- The text of such a file for the kernel `file` of a folder, whose `files` are known; nil where the kernel's text
--- declares no function that could be called.
function example.of(folder, file, files)
    local spec = fault.catch(function()
        return entry.parse { name = fs.basename(file), text = fault.must(path.read_source(fs.join(folder, file))) }
    end)
    return spec and text_of(spec, files)
end

return example
