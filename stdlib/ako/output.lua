-- What a verb says on stdout. ctx is a verb's (ako.verbs); its console, where it has one, stands for the real one.

local console = require "ako.console"
local exits = require "ako.exits"
local fault = require "ako.fault"
local format = require "ako.format"
local json = require "ako.json"

local output = {}

--- Writes a text as it is. Returns the exit code of a verb that has done what it was asked for. Raises faults.
function output.text(ctx, text)
    fault.must((ctx.console or console).out(text))
    return exits.DONE
end

--- The same for a list of lines.
function output.lines(ctx, lines) return output.text(ctx, table.concat(lines, "\n") .. "\n") end

-- A copy: paths and what a policy says may hold any bytes.
local function clean(value)
    if type(value) == "string" then return format.utf8(value) end
    if type(value) ~= "table" then return value end
    local made = setmetatable({}, getmetatable(value)) -- which says of an empty one whether it is a list
    for key, item in pairs(value) do made[key] = clean(item) end
    return made
end

--- The same for a table, as one line of JSON.
function output.object(ctx, object) return output.text(ctx, json.encode(clean(object)) .. "\n") end

--- The object where --json is wanted, or else the text.
function output.either(ctx, object, text)
    if ctx.host.json then return output.object(ctx, object) end
    return output.text(ctx, text)
end

return output
