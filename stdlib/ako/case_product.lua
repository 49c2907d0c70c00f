-- The cases of a robust-kbench task: each of its init settings with each of its input settings and each of the shared
-- ones, which go into both and have the last word.

local fault = require "ako.fault"
local json = require "ako.json"

local case_product = {}

-- The dictionaries of one list of the configuration.
local function settings(config, name)
    local list = config[name]
    fault.check(list ~= nil, "the configuration has no '%s'", name)
    fault.check(type(list) == "table" and #list > 0, "'%s' must be a list of at least one table of settings", name)
    for i, entry in ipairs(list) do
        fault.check(type(entry) == "table" and #entry == 0, "'%s', item %d: must be a table of settings", name, i)
    end
    return list
end

local function merged(first, last)
    local result = {}
    for key, value in pairs(first) do result[key] = value end
    for key, value in pairs(last) do result[key] = value end
    return result
end

local function text_of(value)
    return type(value) == "string" and value or json.encode(value)
end

-- "B=8,N=64": the settings by name, those of `known` left out where they are the same.
local function settings_text(given, known)
    local parts = {}
    for key, value in pairs(given) do
        local text = ("%s=%s"):format(key, text_of(value))
        if known[key] == nil or ("%s=%s"):format(key, text_of(known[key])) ~= text then parts[#parts + 1] = text end
    end
    table.sort(parts)
    return table.concat(parts, ",")
end

local function name_of(case, taken)
    local init, input = settings_text(case.init, {}), settings_text(case.input, case.init)
    local name = init ~= "" and input ~= "" and init .. ";" .. input or init .. input
    if name == "" then name = "default" end
    taken[name] = (taken[name] or 0) + 1
    return taken[name] > 1 and ("%s#%d"):format(name, taken[name]) or name
end

local function kind(multi) return multi and "multi" or "single" end

--- The cases of a decoded configuration (config_forward.json) in the order init, input, shared, of which the last
--- varies first. `multi` { init, input }: whether its multi_ lists are taken instead of the single_ ones; of the shared
--- ones the multi_ list only where both are. Returns { { name, init, input }, ... }: a name that no other case has, the
--- arguments of the model and those of get_inputs; or nil, a message and INVALID for a list that is missing or empty.
case_product.cases = fault.returns(function(config, multi)
    fault.check(type(config) == "table", "the configuration must be a table")
    multi = multi or {}
    local inits = settings(config, kind(multi.init) .. "_init_configs")
    local inputs = settings(config, kind(multi.input) .. "_input_configs")
    local shares = settings(config, kind(multi.init and multi.input) .. "_shared_configs")
    local cases, taken = {}, {}
    for _, init in ipairs(inits) do
        for _, input in ipairs(inputs) do
            for _, shared in ipairs(shares) do
                local case = { init = merged(init, shared), input = merged(input, shared) }
                case.name = name_of(case, taken)
                cases[#cases + 1] = case
            end
        end
    end
    return cases
end)

return case_product
