-- Numbers for people.

local format = {}

local UNITS = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } }

--- A duration in ns with three or four digits and its unit: "3.928 ms"; "-" for nil.
function format.duration(ns)
    if not ns then return "-" end
    for _, unit in ipairs(UNITS) do
        local value = ns / unit[1]
        if value >= 1 or unit[1] == 1 then
            local digits = value >= 100 and 1 or value >= 10 and 2 or 3
            return ("%." .. (unit[1] == 1 and 0 or digits) .. "f %s"):format(value, unit[2])
        end
    end
end

--- A ratio: "1.92x"; "-" for nil.
function format.ratio(value)
    if not value then return "-" end
    if value < 0.001 then return ("%.2gx"):format(value) end -- 0.000x would be none
    return (value >= 100 and "%.0fx" or value >= 10 and "%.1fx" or value < 1.1 and "%.3fx" or "%.2fx"):format(value)
end

--- A number as %g has it, but with as many digits as give it back: "10", "1.0000001".
function format.exact(value)
    for digits = 6, 17 do
        local text = ("%%.%dg"):format(digits):format(value)
        if tonumber(text) == value then return text end
    end
    return tostring(value)
end

--- The half width of an interval round its median: "+-0.2%"; "" when there is none.
function format.spread(figures)
    if not (figures and figures.ci) then return "" end
    return ("+-%.1f%%"):format((figures.ci[2] - figures.ci[1]) / 2 / figures.median * 100)
end

--- A time in seconds since 1970: "2030-01-02 03:04:05 UTC".
function format.date(time_s) return os.date("!%Y-%m-%d %H:%M:%S UTC", time_s) end

--- Cuts text to `width` characters, the last of them "~" when something is missing.
function format.cut(text, width)
    local length = utf8.len(text) or #text
    if length <= width then return text end
    return text:sub(1, (utf8.offset(text, width) or width) - 1) .. "~"
end

--- Cuts text to `bytes` bytes at the end of a character, "~" behind what is left when something is missing.
function format.fit(text, bytes)
    if #text <= bytes then return text end
    local length = bytes - 1
    while length > 0 and (text:byte(length + 1) or 0) & 0xC0 == 0x80 do length = length - 1 end
    return text:sub(1, math.max(length, 0)) .. "~"
end

--- Text without the blanks round it. A pattern that looks for both ends at once takes the square of a run of blanks.
function format.trim(text)
    local first = text:find("%S")
    return first and text:match("^.*%S", first) or ""
end

--- Text filled up with blanks to `width` characters, on its left when `right` is set.
function format.pad(text, width, right)
    local blanks = (" "):rep(width - (utf8.len(text) or #text))
    return right and blanks .. text or text .. blanks
end

--- Text of any bytes as valid UTF-8: every byte that is none becomes "\\xNN". JSON and records take nothing else.
function format.utf8(text)
    local clean, at = {}, 1
    while at <= #text do
        local _, bad = utf8.len(text, at)
        clean[#clean + 1] = text:sub(at, (bad or #text + 1) - 1)
        if not bad then break end
        clean[#clean + 1] = ("\\x%02X"):format(text:byte(bad))
        at = bad + 1
    end
    return table.concat(clean)
end

-- What a terminal obeys instead of showing it: control characters (also those above 127), and those that turn the
-- direction of writing or break lines.
local HIDDEN = { "%c", "\xC2[\x80-\x9F]", "\xE2\x80[\xA8-\xAE]", "\xE2\x81[\xA6-\xA9]" }

local function shown(character)
    local code = utf8.codepoint(character)
    return (code < 0x80 and "\\x%02X" or "\\u{%X}"):format(code)
end

local function without_hidden(text)
    for _, pattern in ipairs(HIDDEN) do text = text:gsub(pattern, shown) end
    return text
end

local LONGEST_LINE = 2000

-- Blanks in which a line ends are one; others stay.
local function joined(blanks) return blanks:find("[\r\n]") and " " or nil end

--- Text from anywhere as what may stand on one line of a terminal: no line breaks, no control characters, no end of it.
function format.line(text)
    local line = without_hidden(format.utf8(text):gsub("%s+", joined))
    return #line > LONGEST_LINE and format.cut(line, LONGEST_LINE) or line
end

--- The last line of a text that has words, as `line` gives it, or nil: where most programs say what went wrong.
function format.last_line(text)
    local found
    for line in text:gmatch("[^\n]+") do found = line:find("%S") and line or found end
    return found and format.line(found)
end

--- Text from anywhere with its lines and tabs, but no other control characters.
function format.text(text)
    return (format.utf8(text):gsub("\r\n", "\n"):gsub("[^\n\t]+", without_hidden))
end

--- "1 trial", "2 trials"
function format.count(n, word) return ("%d %s%s"):format(n, word, n == 1 and "" or "s") end

return format
