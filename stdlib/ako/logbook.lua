-- Pieces of logs that several policies render: plain text for people, the same in every terminal and in Markdown.

local format = require "ako.format"

local logbook = {}

-- At most `most` of the points: the first, the last, and others at even distances.
local function thinned(points, most)
    if #points <= most then return points end
    local list = {}
    for i = 1, most do list[i] = points[1 + math.floor((i - 1) * (#points - 1) / (most - 1) + 0.5)] end
    return list
end

local function range_of(points)
    local low, high = math.huge, -math.huge
    for _, point in ipairs(points) do low, high = math.min(low, point.y), math.max(high, point.y) end
    return low, high
end

--- A chart of points { { label, y }, ... } as lines: `height` rows of y from the least to the greatest, a column for
--- each point, its label below. size: height (8), columns (15: of more points some are left out), unit ("x", behind y's
--- figures). No points, no lines.
function logbook.chart(points, size)
    local given = size or {}
    local height, unit = given.height or 8, given.unit or "x"
    points = thinned(points, given.columns or 15)
    if #points == 0 then return {} end
    local low, high = range_of(points)
    if high == low then height = 1 end
    local width = 0
    for _, point in ipairs(points) do width = math.max(width, #point.label + 1) end
    local lines, step = {}, height > 1 and (high - low) / (height - 1) or 0
    for row = height, 1, -1 do
        local cells = {}
        for i, point in ipairs(points) do
            local at = step > 0 and math.floor((point.y - low) / step + 0.5) + 1 or 1
            cells[i] = format.pad(at == row and "*" or "", width)
        end
        lines[#lines + 1] = (("%8.3f%s | %s"):format(low + (row - 1) * step, unit, table.concat(cells)):gsub(" +$", ""))
    end
    local labels = {}
    for i, point in ipairs(points) do labels[i] = format.pad(point.label, width) end
    local margin = (" "):rep(8 + #unit)
    lines[#lines + 1] = ("%s +%s"):format(margin, ("-"):rep(width * #points))
    lines[#lines + 1] = ("%s   %s"):format(margin, (table.concat(labels):gsub(" +$", "")))
    return lines
end

--- A table in Markdown: the names of its columns, and rows of texts. Bars in a text are escaped.
function logbook.table(names, rows)
    local function line(cells)
        local texts = {}
        for i, cell in ipairs(cells) do texts[i] = (format.line(tostring(cell)):gsub("|", "\\|")) end
        return "| " .. table.concat(texts, " | ") .. " |"
    end
    local lines = { line(names), "|" .. (" --- |"):rep(#names) }
    for _, row in ipairs(rows) do lines[#lines + 1] = line(row) end
    return lines
end

return logbook
