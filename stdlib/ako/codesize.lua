-- How large code is, as far as text can say it: by this "simpler" is a figure and no opinion.

local c_source = require "ako.c_source"

local codesize = {}

-- Comments and what stands between quotes hold no code; a line that is carried on is one line.
local function stripped(text) return (c_source.code(text):gsub("\\\n", " ")) end

local BRANCHES = { ["if"] = true, ["for"] = true, ["while"] = true, ["case"] = true, ["elif"] = true }

local function branches_of(code)
    local count = 0
    for word in code:gmatch("[%a_][%w_]*") do
        if BRANCHES[word] then count = count + 1 end
    end
    for _ in code:gmatch("[?]") do count = count + 1 end
    return count
end

-- Values that somebody has chosen and may choose otherwise: macros with a number, constants, tune lines.
local function knobs_of(text, code)
    local count = 0
    for _ in text:gmatch("//! *tune%s") do count = count + 1 end
    for line in code:gmatch("[^\n]+") do
        if line:find("^%s*#%s*define%s+[%a_][%w_]*%s+%(?[%d%-]") then count = count + 1 end
    end
    for declared, behind in code:gmatch("([^=;\n]+)()") do
        if declared:find("constexpr", 1, true) and code:find("^=%s*%d", behind) then count = count + 1 end
    end
    return count
end

--- Of sources { { name, text }, ... }: { lines (with code on them), branches (if, for, while, case, ?:), knobs (numbers
--- by #define or constexpr, tune lines) }.
function codesize.of(sources)
    local size = { lines = 0, branches = 0, knobs = 0 }
    for _, source in ipairs(sources) do
        local code = stripped(source.text)
        for line in code:gmatch("[^\n]+") do
            if line:find("%S") then size.lines = size.lines + 1 end
        end
        size.branches = size.branches + branches_of(code)
        size.knobs = size.knobs + knobs_of(source.text, code)
    end
    return size
end

return codesize
