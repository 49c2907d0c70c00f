-- The texts of --help, --list, --version and of the verbs check and help.

local json = require "ako.json"
local options = require "ako.options"
local schema = require "ako.schema"
local version = require "ako.version"

local help = {}

local USAGE = "usage: ako-lua [host options] POLICY.lua [verb] [--option=value ...]\n"
    .. "       ako-lua [host options] SCRIPT.lua [argument ...]\n"

local WIDTH = 26

-- Lines "  left   right" with the right side in one column.
local function columns(rows)
    local lines = {}
    for i, row in ipairs(rows) do
        local left = "  " .. row[1]
        local gap = #left + 2 > WIDTH and "\n" .. (" "):rep(WIDTH) or (" "):rep(WIDTH - #left)
        lines[i] = left .. gap .. row[2] .. "\n"
    end
    return table.concat(lines)
end

local function shown(value)
    if type(value) == "string" then return ("%q"):format(value) end
    return tostring(value)
end

local PLACEHOLDERS = { text = "TEXT", integer = "N", decimal = "N", number = "X", size = "SIZE",
    boolean = "true|false" }

local function option_row(spec)
    local short = spec.short and "-" .. spec.short .. ", " or ""
    local value = spec.value or PLACEHOLDERS[spec.kind]
    local default = spec.default ~= nil and (" (default %s)"):format(shown(spec.default)) or ""
    local allowed = spec.value and "" or options.describe_check(spec.check)
    return { short .. "--" .. spec.name .. (value and "=" .. value or ""), spec.text .. allowed .. default }
end

local function option_rows(specs)
    local rows = {}
    for i, spec in ipairs(specs) do rows[i] = option_row(spec) end
    return rows
end

local function verb_rows(verbs)
    local rows = {}
    for _, verb in ipairs(verbs) do
        rows[#rows + 1] = { verb.operands and verb.name .. " " .. verb.operands or verb.name, verb.text }
        for _, row in ipairs(option_rows(verb.options)) do rows[#rows + 1] = { "  " .. row[1], row[2] } end
    end
    return rows
end

--- Options (specs of ako.options) as help shows them, a line or two each.
function help.options(specs) return columns(option_rows(specs)) end

--- Two lines for who typed nothing.
function help.usage() return USAGE .. "       ako-lua --help says more; ako-lua --list names the bundled policies\n" end

--- The text of `ako-lua --help`.
function help.program(verbs, host_specs)
    return USAGE .. "\nCompiles, checks and times GPU and CPU kernels, and keeps what a policy says is better.\n"
        .. "Without a verb it runs the policy; a script is a Lua file that returns nothing.\n"
        .. "\nVerbs\n" .. columns(verb_rows(verbs)) .. "\nHost options\n" .. columns(option_rows(host_specs))
end

--- The help of one verb of a policy.
function help.verb(verb, file)
    local operands = verb.operands and " " .. verb.operands or ""
    local text = ("usage: ako-lua %s %s%s [--option=value ...]\n\n%s\n"):format(file, verb.name, operands, verb.text)
    if verb.operands then
        text = text .. "\nOperands\n" .. columns {
            { verb.operands, "numbers of trials, which `log` lists; what is in brackets may be left out" } }
    end
    if #verb.options > 0 then text = text .. "\nOptions\n" .. columns(option_rows(verb.options)) end
    return text .. ("\nako-lua %s --help names the options of the policy, ako-lua --help those of the host.\n")
        :format(file)
end

local function hook_rows(policy)
    local rows = {}
    for name, rule in pairs(schema) do
        if rule.type == "function" and policy[name] then rows[#rows + 1] = { name, rule.text } end
    end
    table.sort(rows, function(a, b) return a[1] < b[1] end)
    return rows
end

--- The help of a policy.
function help.policy(policy, file, specs, verbs)
    local text = ("%s: %s\n\nusage: ako-lua %s [verb] [--option=value ...]\n"):format(policy.name, policy.description,
        file)
    if #specs > 0 then text = text .. "\nOptions\n" .. columns(option_rows(specs)) end
    return text .. "\nVerbs\n" .. columns(verb_rows(verbs)) .. "\nHooks it defines\n" .. columns(hook_rows(policy))
        .. "\nako-lua --help names the host options.\n"
end

local values_text

local function value_text(value)
    return type(value) == "table" and "(" .. values_text(value) .. ")" or tostring(value)
end

-- "trials 5, seed 42": the values of a table, in order.
function values_text(value)
    local names, parts = {}, {}
    for i, item in ipairs(value) do parts[i] = value_text(item) end
    if #value > 0 then return table.concat(parts, ", ") end
    for name in pairs(value) do names[#names + 1] = name end
    table.sort(names)
    for i, name in ipairs(names) do parts[i] = name .. " " .. value_text(value[name]) end
    return table.concat(parts, ", ")
end

--- What a valid policy defines.
function help.check(policy, file, specs)
    local rows, hooks, opts = {}, {}, {}
    for _, name in ipairs { "correctness", "timing", "budget" } do
        rows[#rows + 1] = { name, values_text(policy[name]) }
    end
    for _, row in ipairs(hook_rows(policy)) do hooks[#hooks + 1] = row[1] end
    for i, spec in ipairs(specs) do opts[i] = ("--%s=%s"):format(spec.name, shown(spec.default)) end
    rows[#rows + 1] = { "hooks", table.concat(hooks, ", ") }
    rows[#rows + 1] = { "options", #opts > 0 and table.concat(opts, " ") or "none" }
    return ("%s: OK, policy %s\n"):format(file, policy.name) .. columns(rows)
end

-- JSON forms

-- What JSON cannot say (an infinity) becomes its text.
local function plain(value)
    if type(value) == "number" and (value ~= value or math.abs(value) == math.huge) then return tostring(value) end
    if type(value) ~= "table" then return value end
    local result = {}
    for key, item in pairs(value) do result[key] = plain(item) end
    return #result > 0 and json.array(result) or result
end

local function option_objects(specs)
    local objects = json.array()
    for i, spec in ipairs(specs) do
        local check = type(spec.check) == "table" and plain(spec.check) or nil
        objects[i] = { name = spec.name, short = spec.short, kind = spec.kind, text = spec.text, check = check }
        if spec.default ~= nil then objects[i].default = plain(spec.default) end
    end
    return objects
end

local function verb_object(verb)
    return { name = verb.name, operands = verb.operands, text = verb.text, options = option_objects(verb.options) }
end

local function verb_objects(verbs)
    local objects = json.array()
    for i, verb in ipairs(verbs) do objects[i] = verb_object(verb) end
    return objects
end

local function encode(object)
    object.v = 1
    return json.encode(object) .. "\n"
end

--- The JSON object of the verbs check and help (and of --help behind a policy): name, description, file, options with
--- their defaults, hooks and numbers. `verbs` where they belong to it.
function help.policy_object(policy, file, specs, verbs)
    local hooks = json.array()
    for i, row in ipairs(hook_rows(policy)) do hooks[i] = { name = row[1], text = row[2] } end
    return encode { name = policy.name, description = policy.description, file = file, hooks = hooks,
        options = option_objects(specs), verbs = verbs and verb_objects(verbs), numbers = {
            correctness = plain(policy.correctness), timing = plain(policy.timing), budget = plain(policy.budget) } }
end

--- The JSON object of one verb's --help.
function help.verb_object(verb) return encode(verb_object(verb)) end

--- The same for `ako-lua --help`.
function help.program_object(verbs, host_specs)
    return encode { verbs = verb_objects(verbs), options = option_objects(host_specs) }
end

--- The same for `ako-lua --list`.
function help.list_object(entries) return encode { policies = json.array(entries) } end

--- Names and descriptions of policies; entries are { name, description } or { name, problem = text }.
function help.list(entries)
    local rows = {}
    for i, entry in ipairs(entries) do rows[i] = { entry.name, entry.description or "not valid: " .. entry.problem } end
    return columns(rows)
end

--- What the program is made of and what it found on this machine.
function help.version(as_json)
    local libraries = assert(version.libraries())
    if as_json then
        return json.encode { v = 1, ako = version.ako, lua = version.lua, libraries = libraries } .. "\n"
    end
    local rows = { { version.lua, "linked" } }
    for _, library in ipairs(libraries) do
        rows[#rows + 1] = { library.name .. " " .. library.version, library.path or library.why }
    end
    return ("ako-lua %s\n"):format(version.ako) .. columns(rows)
end

return help
