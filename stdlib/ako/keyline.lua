-- Finds the lines of a source text on which a field of a table constructor is set, for messages.

local keyline = {}

local LONG_OPEN = "^%[(=*)%["

-- The place behind the quoted string that starts at `at`.
local function behind_string(text, at)
    local special = "[\\\n" .. text:sub(at, at) .. "]"
    local stop = text:find(special, at + 1)
    while stop and text:sub(stop, stop) == "\\" do stop = text:find(special, stop + 2) end
    return (stop or #text) + 1
end

-- The place behind the comment or string that starts at `at`, or nil when none does.
local function skip(text, at)
    local level = text:match(LONG_OPEN, at)
    if level then return (select(2, text:find("]" .. level .. "]", at, true)) or #text) + 1 end
    if text:sub(at, at + 1) == "--" then
        return text:match(LONG_OPEN, at + 2) and skip(text, at + 2) or (text:find("\n", at, true) or #text) + 1
    end
    if text:find("^[\"']", at) then return behind_string(text, at) end
end

-- The name of the field that starts at `at` and the place behind its "=", for `name =` and `["name"] =`.
local function field(text, at)
    local name, behind = text:match("^([%a_][%w_]*)%s*=()", at)
    if not name then name, behind = text:match("^%[%s*[\"']([^\"'\n]*)[\"']%s*%]%s*=()", at) end
    if name and text:sub(behind, behind) ~= "=" then return name, behind end
end

local function is_suffix(path, stack, name)
    if path[#path] ~= name then return false end
    for i = 1, #path - 1 do
        if stack[#stack - #path + 1 + i] ~= path[i] then return false end
    end
    return true
end

local function line_at(text, at)
    return select(2, text:sub(1, at - 1):gsub("\n", "")) + 1
end

--- The lines of all fields that `path` ({ "timing", "launches" }) names. The tables further out may have any name: a
--- policy may be wrapped in extend { }.
function keyline.lines(text, path)
    local at, stack, pending, lines = 1, {}, "", {}
    while at <= #text do
        local name, behind = field(text, at)
        if name and is_suffix(path, stack, name) then lines[#lines + 1] = line_at(text, at) end
        local token = text:match("^[%w_]+", at) or text:sub(at, at)
        if token == "{" then stack[#stack + 1] = pending end
        if token == "}" then stack[#stack] = nil end
        if name or not token:find("%s") then pending = name or "" end
        at = behind or skip(text, at) or at + #token
    end
    return lines
end

return keyline
