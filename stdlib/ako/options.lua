-- Options of the command line: --name=value, --name value, --flag, -x value.
--
-- A spec is { name, kind, text, value, short, key, default, check }:
--   kind   "flag" (no value), "text", "path", "integer", "decimal" (an integer by its digits alone), "number",
--          "boolean" (no value means true), "size" (64M)
--   value  what stands for the value in help: "DIR"
--   short  one letter
--   key    name in the resulting table; default: the name with _ for -
--   check  list of allowed texts, { min = .., max = .. }, or function(value) -> true | false, message

local fault = require "ako.fault"
local paths = require "ako.path"

local options = {}

local UNITS = { [""] = 1, K = 2 ^ 10, M = 2 ^ 20, G = 2 ^ 30 }
local BOOLEANS = { ["true"] = true, yes = true, on = true, ["1"] = true, ["false"] = false, no = false, off = false,
    ["0"] = false }

local readers = {}

function readers.text(text) return text end

readers.path = paths.shortest

function readers.integer(text)
    local value = math.tointeger(tonumber(text))
    if not value then return nil, "a whole number" end
    return value
end

-- As Python's int() has it.
function readers.decimal(text)
    local value = text:find "^%s*[+-]?%d+%s*$" and math.tointeger(tonumber(text))
    if not value then return nil, "a whole number in digits" end
    return value
end

function readers.number(text)
    local value = tonumber(text)
    if not value or value ~= value or math.abs(value) == math.huge then return nil, "a number" end
    return value + 0.0
end

function readers.boolean(text)
    local value = BOOLEANS[text:lower()]
    if value == nil then return nil, "true or false" end
    return value
end

function readers.size(text)
    local digits, unit = text:match("^(%d+%.?%d*)([KMG]?)B?$")
    local bytes = digits and math.tointeger(math.floor(tonumber(digits) * UNITS[unit]))
    if not bytes then return nil, "a size such as 64M" end
    return bytes
end

local function list_text(list)
    local texts = {}
    for i, allowed in ipairs(list) do texts[i] = tostring(allowed) end
    return table.concat(texts, ", ")
end

local function check_list(value, list)
    for _, allowed in ipairs(list) do
        if allowed == value then return true end
    end
    return false, "must be one of " .. list_text(list)
end

local function check_range(value, range)
    if range.min and value < range.min then return false, ("must be at least %s"):format(range.min) end
    if range.max and value > range.max then return false, ("must be at most %s"):format(range.max) end
    return true
end

--- Applies a check to a value: true, or false and why not. A check that is nil allows everything.
function options.check(value, check)
    if check == nil then return true end
    if type(check) == "function" then
        local good, why = check(value)
        return good, why or "is not allowed"
    end
    if #check > 0 then return check_list(value, check) end
    return check_range(value, check)
end

--- What a check allows, for help: ": a, b", ", at least 1", or "" when it cannot be said.
function options.describe_check(check)
    if type(check) ~= "table" then return "" end
    if #check > 0 then return ": " .. list_text(check) end
    local parts = {}
    if check.min then parts[#parts + 1] = (", at least %s"):format(check.min) end
    if check.max then parts[#parts + 1] = (", at most %s"):format(check.max) end
    return table.concat(parts)
end

--- The kind of option whose default is `value`; nil when there is none such.
function options.kind_of(value)
    local kind = math.type(value) or type(value)
    return ({ integer = "integer", float = "number", boolean = "boolean", string = "text" })[kind]
end

--- Value of a text for a spec, or raises a fault.
function options.read(spec, text)
    local value, wanted = readers[spec.kind](text)
    if value == nil then fault.raise("INVALID", "option --%s must be %s, got '%s'", spec.name, wanted, text) end
    local good, why = options.check(value, spec.check)
    if not good then fault.raise("INVALID", "option --%s %s, got '%s'", spec.name, why, text) end
    return value
end

local function key_of(spec) return spec.key or (spec.name:gsub("-", "_")) end

-- Specs by what can be typed: "--name" and "-x". Policies write option names with _, shells with -.
local function index(groups)
    local typed, names = {}, {}
    for group, specs in pairs(groups) do
        for _, spec in ipairs(specs) do
            typed["--" .. spec.name:gsub("_", "-")] = { spec = spec, group = group }
            if spec.short then typed["-" .. spec.short] = { spec = spec, group = group } end
            names["--" .. spec.name] = true
        end
    end
    return typed, names
end

local function takes_value(spec) return spec.kind ~= "flag" and spec.kind ~= "boolean" end

-- Splits "--name=value" and "-xvalue" into what was typed for the name and the value, which may be nil.
local function split(argument)
    local name, value = argument:match("^(%-%-[^=]+)=(.*)$")
    if name then return name, value end
    if argument:find("^%-%a.") then return argument:sub(1, 2), argument:sub(3) end
    return argument, nil
end

local function flag_value(spec, text)
    if not text then return true end
    if spec.kind == "flag" then fault.raise("INVALID", "option --%s takes no value", spec.name) end
    return options.read(spec, text)
end

--- Raises the fault of an unknown option; `known` are names of others, the rest is as for `parse`.
function options.unknown(name, text, following, known, explain)
    local near = fault.nearest(name, known)
    local better = explain and explain(name, text, following, near)
    fault.raise("INVALID", "%s", better or ("unknown option '%s'%s"):format(name, near))
end

--- Reads args[first...]. `groups` maps group names to lists of specs. With `only_options` it stops at the first word
--- that is none. `explain(name, text, following, near)` gives a better message for an unknown option, or nil; it is
--- told the option's value, the next argument and the words about a name nearby. Returns values by group and key, the
--- other words, and the index behind what was read. Raises faults.
function options.parse(args, first, groups, only_options, explain)
    local typed, names = index(groups)
    local values, words, i = {}, {}, first
    for group in pairs(groups) do values[group] = {} end
    while i <= #args do
        local argument = args[i]
        if argument:sub(1, 1) ~= "-" or argument == "-" then
            if only_options then break end
            words[#words + 1] = argument
        else
            local name, text = split(argument)
            local entry = typed[name:sub(1, 2) .. name:sub(3):gsub("_", "-")]
            if not entry then options.unknown(name, text, args[i + 1], names, explain) end
            local spec = entry.spec
            if takes_value(spec) and not text then
                i = i + 1
                text = args[i]
                if not text then fault.raise("INVALID", "option --%s needs a value", spec.name) end
            end
            values[entry.group][key_of(spec)] = takes_value(spec) and options.read(spec, text)
                or flag_value(spec, text)
        end
        i = i + 1
    end
    return values, words, i
end

return options
