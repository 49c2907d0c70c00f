-- Policies: tables that inherit from one another and hold nothing but what ako.schema knows.
--
--   local base = require "policies.kernelbench"
--   return base:extend { name = "mine", description = "...", timing = { launches = 20 } }
--
-- Tables of numbers are merged at every depth, hooks and lists replaced. A mistake ends the program with one line that
-- names the file and, when it can be seen in the text, the line.

local exits = require "ako.exits"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local host = require "ako.host"
local keyline = require "ako.keyline"
local options = require "ako.options"
local schema = require "ako.schema"

local policy = {}

local Policy = { __name = "ako.policy", __index = {} }

-- The line on which a field is set: the first one behind the start of the call; of a call whose line is not known, as
-- it is the last of its file, the last one. nil when none can be seen.
local function line_of(source, path)
    local text = fs.read(source.file) or fs.read(fs.join(host.home, source.file)) or ""
    local lines = keyline.lines(text, path)
    if not source.line then return lines[#lines] end
    for _, line in ipairs(lines) do
        if line >= source.line then return line end
    end
end

-- Raises a leave. `source`: file, as messages call it, and line where the policy's table begins, nil at the file's end;
-- `path`: the field's names from the outside in.
local function refuse(source, path, pattern, ...)
    local line = path and line_of(source, path)
    local place = source.file .. (line and ":" .. line or "")
    error(host.leave(exits.POLICY, ("%s: %s"):format(place, pattern:format(...))), 0)
end

local function with(path, name)
    local longer = table.move(path, 1, #path, 1, {})
    longer[#longer + 1] = name
    return longer
end

local function dotted(path) return table.concat(path, ".") end

local TYPES = {
    string = function(value) return type(value) == "string" end,
    boolean = function(value) return type(value) == "boolean" end,
    ["function"] = function(value) return type(value) == "function" end,
    number = function(value) return type(value) == "number" and value == value end,
    integer = function(value) return math.type(value) == "integer" end,
    table = function(value) return type(value) == "table" end,
    figure = function(value) return type(value) == "string" or (type(value) == "number" and value == value) end,
}
TYPES.map, TYPES.options, TYPES.list = TYPES.table, TYPES.table, TYPES.table

local ARTICLES = { integer = "an integer", map = "a table", options = "a table", list = "a list",
    figure = "a number or the name of an option" }

local check_value

-- The names of a table in order; other keys are mistakes.
local function sorted_names(source, path, value)
    local names = {}
    for name in pairs(value) do
        if type(name) ~= "string" then
            local where = #path > 0 and ("field '%s'"):format(dotted(path)) or "a policy"
            refuse(source, path, "%s holds names, got the key %s", where, tostring(name))
        end
        names[#names + 1] = name
    end
    table.sort(names)
    return names
end

local function check_fields(source, path, value, rules)
    for _, name in ipairs(sorted_names(source, path, value)) do
        local here, rule = with(path, name), rules[name]
        if not rule then refuse(source, here, "unknown field '%s'%s", dotted(here), fault.nearest(name, rules)) end
        if rule.reserved then refuse(source, here, "field '%s' has no effect in this version", dotted(here)) end
        check_value(source, here, value[name], rule)
    end
end

local function check_map(source, path, value, rule)
    for _, name in ipairs(sorted_names(source, path, value)) do
        local here, good, why = with(path, name), true, nil
        if rule.keys then good, why = rule.keys(name) end
        if not good then refuse(source, here, "field '%s': %s", dotted(path), why) end
        check_value(source, here, value[name], rule.items)
    end
end

-- What a shell and `--name=value` can say.
local function check_option_name(source, path, name)
    if name:find("^%a[%w_-]*$") then return end
    refuse(source, path, "option '%s' cannot be typed: a letter, then letters, digits, '_' or '-'", name)
end

local function check_option(source, path, entry)
    local where = dotted(path)
    if type(entry) ~= "table" then
        refuse(source, path, "field '%s' must be { default, text }, got %s", where, type(entry))
    end
    local default, text, check = entry[1], entry[2], entry[3]
    if not options.kind_of(default) then
        refuse(source, path, "field '%s': the default must be a number, string or boolean, got %s", where,
            type(default))
    end
    if type(text) ~= "string" then
        refuse(source, path, "field '%s': the second item must be the help text, got %s", where, type(text))
    end
    if check ~= nil and type(check) ~= "table" and type(check) ~= "function" then
        refuse(source, path, "field '%s': the check must be a list, a range or a function, got %s", where, type(check))
    end
    local good, why = options.check(default, check)
    if not good then refuse(source, path, "field '%s': the default %s", where, why) end
end

function check_value(source, path, value, rule)
    if value == false and rule.off then return end
    if not TYPES[rule.type](value) then
        local wanted = ARTICLES[rule.type] or "a " .. rule.type
        local got = type(value)
        if got == "number" and (rule.type == "integer" or rule.type == "number") then
            got = value ~= value and "nan" or tostring(value)
        end
        refuse(source, path, "field '%s' must be %s, got %s", dotted(path), wanted, got)
    end
    local good, why = options.check(value, rule.check)
    if not good then
        local got = type(value) == "table" and "" or ", got " .. tostring(value)
        refuse(source, path, "field '%s' %s%s", dotted(path), why, got)
    end
    if rule.fields then check_fields(source, path, value, rule.fields) end
    if rule.type == "map" then check_map(source, path, value, rule) end
    if rule.type == "options" then
        for _, name in ipairs(sorted_names(source, path, value)) do
            check_option_name(source, with(path, name), name)
            check_option(source, with(path, name), value[name])
        end
    end
end

-- Inheritance

local function is_list(value) return #value > 0 end

local function merged(base, own)
    if type(own) ~= "table" then return own end
    local result = {}
    local inherits = type(base) == "table" and not is_list(base) and not is_list(own)
    if inherits then
        for key, value in pairs(base) do result[key] = merged(nil, value) end
    end
    for key, value in pairs(own) do result[key] = merged(inherits and base[key] or nil, value) end
    return result
end

local function extended(base, own, source)
    if type(own) ~= "table" then refuse(source, nil, "extend takes a table, got %s", type(own)) end
    check_fields(source, {}, own, schema)
    return setmetatable(merged(base, own), Policy)
end

--- A policy with the fields of `own`, and of this policy where those are absent. `policy.extend { ... }` starts from
--- nothing. Ends the program (exit 4) when a field is unknown or of a wrong type.
function policy.extend(...)
    local base, own = ...
    if select("#", ...) == 1 then base, own = {}, base end
    local file, line = host.caller()
    return extended(base, own, { file = file, line = line })
end

Policy.__index.extend = policy.extend

-- Completeness

local function check_required(source, path, value, rules)
    local names = {}
    for name in pairs(rules) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
        local rule, here = rules[name], with(path, name)
        if rule.required and value[name] == nil then
            refuse(source, #path > 0 and path or nil, "missing field '%s'; a policy that extends another inherits it",
                dotted(here))
        end
        if rule.fields and value[name] then check_required(source, here, value[name], rule.fields) end
    end
end

-- Names that differ in - and _ alone are one on the command line.
local function check_option_names(source, given)
    local typed = {}
    for _, name in ipairs(sorted_names(source, { "options" }, given)) do
        local spelled = name:gsub("_", "-")
        if typed[spelled] then
            refuse(source, { "options", name }, "options '%s' and '%s' are both --%s", typed[spelled], name, spelled)
        end
        typed[spelled] = name
    end
end

-- timing.pairs.threshold may name an option: then that is one, and holds a share.
local function check_threshold(source, given)
    local pairs_of, opts = given.timing.pairs, given.options or {}
    local name = pairs_of and pairs_of.threshold
    if type(name) ~= "string" then return end
    local path, entry = { "timing", "pairs", "threshold" }, opts[name]
    if not entry then
        refuse(source, path, "field 'timing.pairs.threshold': the policy has no option '%s'%s", name,
            fault.nearest(name, opts))
    end
    local default = entry[1]
    if type(default) ~= "number" then
        refuse(source, path, "field 'timing.pairs.threshold': option '%s' is no number", name)
    end
    if not (default >= 0 and default < 1) then
        refuse(source, { "options", name }, "option '%s' is timing.pairs.threshold and must be a share from 0 to below "
            .. "1, got %s", name, default)
    end
end

-- What was switched off is absent for whoever uses the policy.
local function without_off(value, rules)
    for name, rule in pairs(rules) do
        if rule.off and value[name] == false then value[name] = nil end
        if rule.fields and type(value[name]) == "table" then without_off(value[name], rule.fields) end
    end
end

--- The policy that a file has returned, complete and valid. `file` is what messages call the file.
function policy.adopt(value, file)
    local source = { file = file }
    if getmetatable(value) ~= Policy then value = extended({}, value, source) end
    without_off(value, schema)
    check_required(source, {}, value, schema)
    check_option_names(source, value.options or {})
    check_threshold(source, value)
    return value
end

--- The policy's options as specs of ako.options, by name.
function policy.option_specs(given)
    local specs = {}
    for name, entry in pairs(given.options or {}) do
        specs[#specs + 1] = { name = (name:gsub("_", "-")), key = name, kind = options.kind_of(entry[1]),
            default = entry[1], text = entry[2], check = entry[3] }
    end
    table.sort(specs, function(a, b) return a.name < b.name end)
    return specs
end

--- The values of the policy's options: the given ones, else the defaults.
function policy.option_values(given, values)
    local opt = {}
    for name, entry in pairs(given.options or {}) do
        if values[name] ~= nil then opt[name] = values[name] else opt[name] = entry[1] end
    end
    return opt
end

--- The values of `opt` that are not the policy's defaults, by name; nil where all are. Rules follow from them, so
--- records have them.
function policy.changed_options(given, opt)
    local changed = {}
    for name, entry in pairs(given.options or {}) do
        local value = opt[name]
        if value ~= nil and value ~= entry[1] then
            changed[name] = type(value) == "string" and format.utf8(value) or value
        end
    end
    return next(changed) and changed or nil
end

--- The values of those options on which all results of a session on a problem in Python stand, by name: what is asked
--- of the problem, and whether the original's answers count.
function policy.standing_options(given, opt)
    local correctness = given.correctness
    local multi, standing = correctness.multi or {}, {}
    for _, name in pairs { correctness.faithful, multi.init, multi.input } do standing[name] = opt[name] end
    return standing
end

-- The hook of this name, in which "git.subject" is one of a table; nil where there is none.
local function hook_of(given, name)
    for part in name:gmatch("[^.]+") do given = given and given[part] end
    return given
end

--- Calls the policy's hook under the time limit of a call; the running time of the whole program starts anew. A hook
--- that fails ends the program (exit 4).
function policy.call(given, name, ...)
    host.refill()
    local results = table.pack(host.call(hook_of(given, name), ...))
    if results[1] then return table.unpack(results, 2, results.n) end
    local problem = results[2]
    if host.is_leave(problem) then error(problem, 0) end
    local text = type(problem) == "string" and problem or ("raised a %s value"):format(type(problem))
    error(host.leave(exits.POLICY, ("hook '%s' failed: %s"):format(name, text)), 0)
end

return policy
