-- What many problems come to: the share that is right and more than p times faster, as KernelBench counts it,
-- geometric means of the speed-ups, and a table that says what failed why. A result is { name, correct, speedup (over
-- its reference, nil: not known), status, reason }, the last two where there are any.

local fault = require "ako.fault"
local format = require "ako.format"
local json = require "ako.json"
local rules = require "ako.rules"
local stats = require "ako.stats"

local scoreboard = {}

local function is_speedup(value)
    return type(value) == "number" and value > 0 and value < math.huge
end

-- The results with nothing in them that is no speed-up; what is wrong has none.
local function cleaned(results)
    local list = {}
    for i, result in ipairs(results) do
        local correct = result.correct == true
        list[i] = { name = result.name, correct = correct, status = result.status, reason = result.reason,
            speedup = correct and is_speedup(result.speedup) and result.speedup or nil }
    end
    return list
end

--- The thresholds of a text such as "0,1,2": a list of numbers; or nil, a message and INVALID.
scoreboard.thresholds = fault.returns(function(text)
    local list = {}
    for word in text:gmatch("[^,%s]+") do
        local p = word:find "^[%d.]+$" and tonumber(word)
        fault.check(p, "'%s' is no threshold p: wanted are numbers such as 0,1,2", word)
        list[#list + 1] = p
    end
    fault.check(#list > 0, "no threshold p: wanted are numbers such as 0,1,2")
    return list
end)

--- The geometric mean of a list { { name, speedup } }, from the logarithms; or nil and why there is none: the list is
--- empty, or a speed-up is missing, zero or no number.
function scoreboard.geomean(list)
    local values = {}
    for i, entry in ipairs(list) do
        if not is_speedup(entry.speedup) then
            return nil, ("the speed-up of %s is %s"):format(entry.name,
                entry.speedup == nil and "not known" or tostring(entry.speedup))
        end
        values[i] = entry.speedup
    end
    if #values == 0 then return nil, "there is none" end
    return stats.geomean(values)
end

local function where(list, holds)
    local found = {}
    for _, entry in ipairs(list) do
        if holds(entry) then found[#found + 1] = entry end
    end
    return found
end

local function mean_of(list)
    local value, why = scoreboard.geomean(list)
    return { value = value, count = #list, why = why }
end

local function is_correct(entry) return entry.correct end
local function is_faster(entry) return entry.correct and entry.speedup ~= nil and entry.speedup > 1 end
local function is_unknown(entry) return entry.correct and entry.speedup == nil end

--- The scores of a list of results for the thresholds `ps`: { problems, correct (counts), fast = { { p, share } }
--- (share nil without results), geomean = { correct, faster } (each { value, count, why }: of the correct ones, and of
--- those that are faster than their reference), unknown (correct results of no known speed-up, which count as slow) }.
function scoreboard.score(results, ps)
    local list = cleaned(results)
    local correct = where(list, is_correct)
    local fast = {}
    for i, p in ipairs(ps) do fast[i] = { p = p, share = rules.fast_p(list, p) } end
    return { problems = #list, correct = #correct, fast = fast, unknown = where(list, is_unknown),
        geomean = { correct = mean_of(correct), faster = mean_of(where(list, is_faster)) } }
end

-- As text

local function row_of(entry)
    local status = entry.status or (entry.correct and "correct" or "wrong")
    local reason = not entry.correct and entry.reason and entry.reason ~= "" and format.line(entry.reason) or ""
    return { format.line(entry.name), status, format.ratio(entry.speedup), reason }
end

local function widths_of(rows)
    local widths = { 0, 0, 0 }
    for _, row in ipairs(rows) do
        for i = 1, 3 do widths[i] = math.max(widths[i], utf8.len(row[i]) or #row[i]) end
    end
    return widths
end

local function table_lines(list)
    local rows = { { "problem", "status", "speed-up", "" } }
    for _, entry in ipairs(list) do rows[#rows + 1] = row_of(entry) end
    local widths, lines = widths_of(rows), {}
    for i, row in ipairs(rows) do
        local line = ("%s  %s  %s  %s"):format(format.pad(row[1], widths[1]), format.pad(row[2], widths[2]),
            format.pad(row[3], widths[3], true), row[4])
        lines[i] = line:match("^(.-)%s*$")
    end
    return lines
end

local function mean_text(mean)
    if mean.value then return ("%s (%d)"):format(format.ratio(mean.value), mean.count) end
    return "none: " .. format.line(mean.why)
end

local function names_of(list)
    local names = {}
    for i, entry in ipairs(list) do names[i] = entry.name end
    return names
end

-- The geometric means as lines, and what they leave open.
local function means_of(scores)
    local lines = { ("geometric mean: of the correct ones %s, of the faster ones %s"):format(
        mean_text(scores.geomean.correct), mean_text(scores.geomean.faster)) }
    if #scores.unknown > 0 then
        lines[2] = "correct, of no known speed-up, counted as slow: "
            .. format.line(table.concat(names_of(scores.unknown), ", "))
    end
    return lines
end

--- The lines on the geometric means of a list of results.
function scoreboard.mean_lines(results) return means_of(scoreboard.score(results, {})) end

--- The lines of a table for people: a line for each result, then the scores.
function scoreboard.lines(results, ps)
    local scores = scoreboard.score(results, ps)
    local lines, shares = table_lines(cleaned(results)), {}
    for i, entry in ipairs(scores.fast) do
        shares[i] = ("fast_%s: %s"):format(format.exact(entry.p), entry.share and ("%.4f"):format(entry.share) or "-")
    end
    lines[#lines + 1] = ("%d of %s correct  %s"):format(scores.correct, format.count(scores.problems, "problem"),
        table.concat(shares, "  "))
    local means = means_of(scores)
    return table.move(means, 1, #means, #lines + 1, lines)
end

-- As JSON

local function or_null(value)
    if value == nil then return json.null end
    return value
end

local function entry_object(entry)
    return { name = entry.name, correct = entry.correct, speedup = or_null(entry.speedup),
        status = or_null(entry.status), reason = or_null(entry.reason) }
end

--- The same for ako.json: { problems = results, total, correct, fast_p = { fast_1 = share, ... }, geomean = { correct,
--- faster }, geomean_missing = why there is none, by the same names, unknown = names }; what is not known is null.
function scoreboard.object(results, ps)
    local scores, list, fast = scoreboard.score(results, ps), json.array {}, {}
    for i, entry in ipairs(cleaned(results)) do list[i] = entry_object(entry) end
    for _, entry in ipairs(scores.fast) do fast["fast_" .. format.exact(entry.p)] = or_null(entry.share) end
    local means = scores.geomean
    return { problems = list, total = scores.problems, correct = scores.correct, fast_p = fast,
        geomean = { correct = or_null(means.correct.value), faster = or_null(means.faster.value) },
        geomean_missing = { correct = or_null(means.correct.why), faster = or_null(means.faster.why) },
        unknown = json.array(names_of(scores.unknown)) }
end

return scoreboard
