-- What a suite comes to, for people: a table that fits on a screen, and what failed why.

local format = require "ako.format"

local suite_table = {}

local MOST_ROWS = 40 -- what is more is in table.txt
local WIDTH = 120
local NAME_WIDTH = 40
local GAP = "  "

local HEAD = { "problem", "status", "ref ms", "ms", "speed-up", "why" }
local RIGHT = { [3] = true, [4] = true, [5] = true }

local function milliseconds(figures)
    local mean = figures and figures.mean
    return mean and ("%.4g"):format(mean / 1e6) or "-"
end

local function why(record)
    if record.status ~= "PASSED" then return record.reason or "" end
    if record.verdict == "inconclusive" then return record.reason or "" end
    return record.weakness and "a weak task: " .. record.weakness or ""
end

local function row_of(entry)
    local record = entry.record
    return { format.cut(format.line(entry.name), NAME_WIDTH), record.status, milliseconds(record.reference_ns),
        milliseconds(record.time_ns), format.ratio(record.speedup.reference), format.line(why(record)) }
end

local function widths_of(rows)
    local widths = {}
    for _, row in ipairs(rows) do
        for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, utf8.len(cell) or #cell) end
    end
    return widths
end

--- Rows of cells as lines. The last column has what is left of the line; `width` nil: all that it wants.
function suite_table.laid_out(rows, width)
    local widths, lines = widths_of(rows), {}
    for i, row in ipairs(rows) do
        local cells = {}
        for k = 1, #row - 1 do cells[k] = format.pad(row[k], widths[k], RIGHT[k]) end
        local text = table.concat(cells, GAP) .. GAP .. row[#row]
        lines[i] = (width and format.cut(text, width) or text):match("^(.-)%s*$")
    end
    return lines
end

local function rows_of(entries)
    local rows = { HEAD }
    for i, entry in ipairs(entries) do rows[i + 1] = row_of(entry) end
    return rows
end

-- Failures first, then what gains least; both in their own order.
local function most_telling(entries)
    local ranked, chosen, list = table.move(entries, 1, #entries, 1, {}), {}, {}
    local function rank(entry)
        return entry.record.status ~= "PASSED" and 0 or entry.record.speedup.reference or math.huge
    end
    table.sort(ranked, function(a, b)
        local left, right = rank(a), rank(b)
        if left ~= right then return left < right end
        return a.at_all < b.at_all
    end)
    for i = 1, MOST_ROWS do chosen[ranked[i]] = true end
    for _, entry in ipairs(entries) do
        if chosen[entry] then list[#list + 1] = entry end
    end
    return list
end

--- All rows, uncut.
function suite_table.full(entries) return suite_table.laid_out(rows_of(entries)) end

--- As many of them as fit on a screen, and a line on those that do not.
function suite_table.lines(entries)
    if #entries <= MOST_ROWS then return suite_table.laid_out(rows_of(entries), WIDTH) end
    for i, entry in ipairs(entries) do entry.at_all = i end
    local lines = suite_table.laid_out(rows_of(most_telling(entries)), WIDTH)
    lines[#lines + 1] = ("... and %d more, which have less to tell: table.txt has them all")
        :format(#entries - MOST_ROWS)
    return lines
end

--- How many there are of each status, the most frequent one first: { { status, count } }.
function suite_table.counts(entries)
    local counts, list = {}, {}
    for _, entry in ipairs(entries) do
        local status = entry.record.status
        if not counts[status] then
            counts[status] = { status = status, count = 0 }
            list[#list + 1] = counts[status]
        end
        counts[status].count = counts[status].count + 1
    end
    table.sort(list, function(a, b)
        if a.count ~= b.count then return a.count > b.count end
        return a.status < b.status
    end)
    return list
end

--- The same as a line.
function suite_table.counts_line(entries)
    local parts = {}
    for i, one in ipairs(suite_table.counts(entries)) do parts[i] = ("%d %s"):format(one.count, one.status) end
    local count = format.count(#entries, "result")
    return #parts > 0 and ("%s: %s"):format(count, table.concat(parts, ", ")) or count
end

local MOST_NAMED = 10

local function some_of(names)
    local shown = table.concat(names, ", ", 1, math.min(#names, MOST_NAMED))
    return #names > MOST_NAMED and ("%s and %d more"):format(shown, #names - MOST_NAMED) or shown
end

--- Lines on solutions that belong to no problem, or may belong to several.
function suite_table.left_out(found)
    local lines = {}
    for i, entry in ipairs(found.ambiguous) do
        if i > MOST_NAMED then break end
        lines[i] = ("left out: %s may belong to %s"):format(entry.solution, some_of(entry.problems))
    end
    if #found.unknown > 0 then lines[#lines + 1] = "left out: no problem for " .. some_of(found.unknown) end
    return lines
end

return suite_table
