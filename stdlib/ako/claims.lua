-- What somebody else's benchmark prints about its results: claims, found in its output by the patterns of a task.
-- Whoever can print can forge them, the kernel under test before all; here is what such a line must be to count as one.

local fault = require "ako.fault"
local path = require "ako.path"
local regex = require "ako.regex"
local tensors = require "ako.tensors"

local claims = {}

local UNIT_NS = { s = 1e9, ms = 1e6, us = 1e3, ns = 1 }
local WORDS = "%a%a%a" -- less of a word than this names no result

local function read_one(given, name, what)
    local entry = type(given) == "string" and { given } or given
    local good = type(entry) == "table" and type(entry[1]) == "string"
    fault.check(good, "%s must be a pattern, or { pattern, unit = \"ms\" }", what)
    tensors.check_keys(entry, { "unit", "yes" }, 1, what)
    local compiled, re = pcall(regex.new, entry[1], "m")
    if not compiled then fault.raise("INVALID", "%s: %s", what, tostring(re):gsub("^[^:]+:%d+: ", "")) end
    fault.check(entry.unit == nil or UNIT_NS[entry.unit], "%s: unit must be s, ms, us or ns", what)
    fault.check(name ~= "time" or entry.unit, "%s needs a unit: { pattern, unit = \"ms\" }", what)
    fault.check((name == "correct") == (type(entry.yes) == "string"),
        "%s: yes = \"...\" is what 'correct', and nothing else, says of a right result", what)
    return { name = name, regex = re, pattern = entry[1], unit = entry.unit, yes = entry.yes }
end

--- Reads what a task says about claims, { name = pattern, or { pattern, unit = "s" | "ms" | "us" | "ns" }, correct =
--- { pattern, yes = text } }, into a list by name. The first group of a PCRE2 pattern is the value; ^ and $ are a
--- line's.
function claims.read(given, what)
    fault.check(type(given) == "table" and next(given) ~= nil, "%s must be a table like { speedup = \"...\" }", what)
    local list = {}
    for name, entry in pairs(given) do
        fault.check(type(name) == "string" and name:match("^[%a_][%w_]*$"), "%s: give patterns by name", what)
        list[#list + 1] = read_one(entry, name, what .. "." .. name)
    end
    table.sort(list, function(a, b) return a.name < b.name end)
    return list
end

-- The value that the only match has, and the match's text before it; nil and why not.
local function only_match(claim, text)
    local searched, first, last, value = pcall(claim.regex.find, claim.regex, text)
    if not searched then return nil, ("the pattern of '%s' asks too much of its output"):format(claim.name) end
    if not first then return nil, ("it prints no '%s'"):format(claim.name) end
    if claim.regex:find(text, math.max(first, last) + 1) then
        return nil, ("it prints '%s' more than once"):format(claim.name)
    end
    local line = text:sub(first, last)
    value = value or line
    local at = line:find(value, 1, true)
    return value, line:sub(1, (at or 1) - 1):match("^%s*(.-)%s*$")
end

local function number_of(claim, text)
    local value = text:match("^[%d.eE+-]+$") and tonumber(text)
    if not value or value ~= value or math.abs(value) == math.huge then
        return nil, ("its '%s' is no number: %s"):format(claim.name, path.is_text(text) and text or "bytes")
    end
    if value <= 0 then return nil, ("its '%s' is %s, not above 0"):format(claim.name, text) end
    return value
end

--- True where the output says that the result is right; nil where it says nothing about that, or not clearly.
function claims.says_correct(list, text)
    for _, claim in ipairs(list) do
        local value = claim.yes and only_match(claim, text)
        if value then return value == claim.yes end
    end
end

--- The claims in an output: { correct = boolean, NAME_ns = duration, NAME = number } and the words before each, name ->
--- text; or nil and why they are none.
function claims.find(list, text)
    local found, labels = {}, {}
    for _, claim in ipairs(list) do
        local value, label = only_match(claim, text)
        if not value then return nil, label end
        if label:find(WORDS) then labels[claim.name] = label end
        if claim.yes then
            found[claim.name] = value == claim.yes
        else
            local number, problem = number_of(claim, value)
            if not number then return nil, problem end
            local name = claim.unit and claim.name .. "_ns" or claim.name
            found[name] = claim.unit and math.floor(number * UNIT_NS[claim.unit] + 0.5) or number
        end
    end
    return found, labels
end

return claims
