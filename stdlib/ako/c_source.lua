-- What of a text in C, C++ or CUDA is code: a // in a string is no comment, and a quote in a comment begins no string.

local c_source = {}

-- What is taken as it is: names, numbers (of which 1'000'000 is one), and what is between those.
local PLAIN = { "^[%a_][%w_]*", "^%d[%w_.']*", "^[^%w_\"'/]+" }
local LONGEST_WORD = 16 -- that the language allows in a raw literal
local RAW = { R = true, LR = true, uR = true, UR = true, u8R = true } -- R"x(...)x" ends with its own word

-- The place behind the literal whose quote is at `at`. What is not closed ends with its line.
local function behind_literal(text, at)
    local special = "[\\\n" .. text:sub(at, at) .. "]"
    local stop = text:find(special, at + 1)
    while stop and text:sub(stop, stop) == "\\" do stop = text:find(special, stop + 2) end
    if not stop then return #text + 1 end
    return text:sub(stop, stop) == "\n" and stop or stop + 1
end

local function behind_raw_literal(text, at)
    local word = text:sub(at, at + LONGEST_WORD + 1):match('^"([^%s()\\]*)%(')
    if not word then return behind_literal(text, at) end
    local _, last = text:find(")" .. word .. '"', at, true)
    return (last or #text) + 1
end

-- A backslash carries it on to the next line.
local function behind_line(text, at)
    local stop = text:find("\n", at, true)
    while stop and text:sub(stop - 1, stop - 1) == "\\" do stop = text:find("\n", stop + 1, true) end
    return stop or #text + 1
end

-- The place behind the comment that begins at `at`, nil where none does.
local function behind_comment(text, at)
    local mark = text:sub(at, at + 1)
    if mark == "//" then return behind_line(text, at) end
    if mark ~= "/*" then return nil end
    local _, last = text:find("*/", at + 2, true)
    return (last or #text) + 1
end

local function newlines_of(text) return (text:gsub("[^\n]+", "")) end

-- "C" is part of a declaration.
local function emptied(literal)
    if literal == '"C"' then return literal end
    return literal:sub(1, 1):rep(2) .. newlines_of(literal)
end

-- What is left in code of what is at `at`, and the place behind it. `before` is the piece of code before it.
local function take(text, at, before)
    for _, pattern in ipairs(PLAIN) do
        local _, last = text:find(pattern, at)
        if last then return text:sub(at, last), last + 1 end
    end
    local stop = behind_comment(text, at)
    if stop then return " " .. newlines_of(text:sub(at, stop - 1)), stop end
    local quote = text:sub(at, at)
    if quote == "/" then return quote, at + 1 end
    stop = (quote == '"' and RAW[before] and behind_raw_literal or behind_literal)(text, at)
    return emptied(text:sub(at, stop - 1)), stop
end

--- The text without comments, literals empty but for "C", every line in its place.
function c_source.code(text)
    local pieces, piece, at = {}, "", 1
    while at <= #text do
        piece, at = take(text, at, piece)
        pieces[#pieces + 1] = piece
    end
    return table.concat(pieces)
end

return c_source
