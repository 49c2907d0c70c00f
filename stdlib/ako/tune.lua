-- The tune space of a source: each choice of one value for every `//! tune` line is a point. A point is a candidate
-- like any other: the same source with the chosen value first in each of those lines, so that what is kept says by
-- itself which point it is.

local fault = require "ako.fault"
local format = require "ako.format"
local launch = require "ako.launch"
local seeds = require "ako.seeds"

local tune = {}

local MOST_POINTS = 1 << 53

local function distinct(values)
    local list, seen = {}, {}
    for _, value in ipairs(values) do
        if not seen[value] then list[#list + 1] = value end
        seen[value] = true
    end
    return list
end

-- The dimensions: { name, values (distinct) }, and how many points they span.
local function dimensions(spec)
    local list, total = {}, 1
    for i, entry in ipairs(spec.tune) do
        list[i] = { name = entry.name, values = distinct(entry.values) }
        fault.check(total <= MOST_POINTS // #list[i].values, "%sthe tune lines span more points than can be counted",
            entry.place)
        total = total * #list[i].values
    end
    return list, total
end

-- Point number 0 has the first value of each line; the last line varies fastest.
local function point_of(list, number)
    local point = {}
    for i = #list, 1, -1 do
        local count = #list[i].values
        point[list[i].name] = list[i].values[number % count + 1]
        number = number // count
    end
    return point
end

-- `most` different numbers from 1 to `count`, ascending: all where there are no more, else a draw that follows from the
-- seed (Fisher and Yates, of which only the places that were touched are kept).
local function choose(count, most, seed)
    local chosen, moved = {}, {}
    local random = count > most and seeds.expand(seed, most) or {}
    for i = 1, math.min(count, most) do
        local j = random[i] and i + random[i] % (count - i + 1) or i
        chosen[i] = moved[j] or j
        moved[j] = moved[i] or i
    end
    table.sort(chosen)
    return chosen
end

--- A point in words, in the order of its lines: "BLOCK=256,VEC=4".
function tune.name(spec, point)
    local parts = {}
    for i, entry in ipairs(spec.tune) do parts[i] = entry.name .. "=" .. point[entry.name] end
    return table.concat(parts, ",")
end

--- The source with a point's value first in each tune line; nothing else changes.
function tune.rewrite(text, point)
    local function line_with(line)
        local head, name, list = line:match("^(%s*//!%s*tune%s+([%a_][%w_]*)%s*=%s*)(.*)$")
        if not head or point[name] == nil then return nil end
        local values = { point[name] }
        for value in list:gmatch("[^,]+") do
            value = format.trim(value)
            if value ~= point[name] then values[#values + 1] = value end
        end
        return head .. table.concat(values, ", ") .. list:sub(list:match("^.*%S()") or 1)
    end
    return (text:gsub("[^\n]+", line_with))
end

--- The candidates of a source's tune space, without the point that the source has already: { name, text, point }, at
--- most `most` of them, and the number of points in all (0 without tune lines). Where there are more, the seed chooses.
--- Nil and a message with file and line for a source whose lines cannot be read.
tune.candidates = fault.returns(function(text, file, most, seed)
    local spec, problem = launch.parse(text, file)
    if not spec then fault.raise("INVALID", "%s", problem) end
    local candidates = {}
    if #spec.tune == 0 then return candidates, 0 end
    local list, total = dimensions(spec)
    for i, number in ipairs(choose(total - 1, most, seed)) do
        local point = point_of(list, number)
        candidates[i] = { name = tune.name(spec, point), text = tune.rewrite(text, point), point = point }
    end
    return candidates, total
end)

return tune
