-- What ako.fs does not say about names of files and sources.

local fs = require "ako.fs"

local path = {}

--- The extension without its dot, in lower case; "" when there is none.
function path.extension(name)
    return (fs.basename(name):match("^.+%.([^.]+)$") or ""):lower()
end

--- True for a relative path that stays inside its folder: no "..", not absolute, not empty.
function path.is_inside(name)
    if name == "" or name:sub(1, 1) == "/" then return false end
    return not ("/" .. name .. "/"):find("/../", 1, true)
end

--- True for a name that records can hold: UTF-8 without control characters.
function path.is_text(name) return utf8.len(name) ~= nil and not name:find("%c") end

local NOT_IN_A_NAME = "[\"\\'<>|&;$`*?]" -- as core/build_source.c has it
local LONGEST_NAME = 200

--- What is wrong with a text that is to be JSON, in words ("is not UTF-8 (byte 5)"); nil for nothing.
function path.fault_of_text(text)
    local _, at = utf8.len(text)
    if at then return ("is not UTF-8 (byte %d)"):format(at) end
    at = text:find("\0", 1, true)
    return at and ("has a NUL byte (byte %d)"):format(at)
end

--- What is wrong with the name of a source file, its last part, in words; nil for nothing.
function path.fault_of_name(name)
    local wrong = path.fault_of_text(name)
    if wrong then return wrong end
    if name:find("%c") then return "has a line break or another control character in it" end
    if name:sub(1, 1) == "-" then return "begins with a dash" end
    local mark = name:match(NOT_IN_A_NAME)
    if mark then return ("has %s in it"):format(mark) end
    return #name > LONGEST_NAME and ("is longer than %d bytes"):format(LONGEST_NAME) or nil
end

--- A path as it is shortest without another meaning: "./sub//x.py" is "sub/x.py". A ".." stays, since what stands
--- before it may be a link.
function path.shortest(name)
    local parts = {}
    for part in name:gmatch("[^/]+") do
        if part ~= "." then parts[#parts + 1] = part end
    end
    local rest = table.concat(parts, "/")
    if name:sub(1, 1) == "/" then return "/" .. rest end
    return rest == "" and name ~= "" and "." or rest
end

--- True for the path of a file that a policy may have in the workspace: a text, inside it, spelled plainly, in no .git.
function path.is_plain(name)
    if type(name) ~= "string" or name == "" or not path.is_text(name) then return false end
    local spelled = ("/" .. name .. "/"):lower()
    return not (spelled:find("//", 1, true) or spelled:find "/%.%.?/" or spelled:find("/.git/", 1, true))
end

--- What lies there instead of a file, in words ("is a folder"); nil for a file, and for nothing at all.
function path.no_file(name)
    local found = fs.stat(name)
    if not found or fs.is_file(name) then return nil end
    if fs.is_dir(name) then return "is a folder, not a file" end
    return found.type == "link" and not fs.exists(name) and "is a symbolic link to nothing" or "is no plain file"
end

local LARGEST_SOURCE = 16 << 20 -- bytes; what is larger was not written to be compiled

--- The text of a file that somebody wrote: a plain one of at most 16 MB, so that no pipe, device or mistake for a
--- source is waited for. Nil, a message and a code otherwise.
function path.read_source(file)
    local other = fs.exists(file) and path.no_file(file)
    if other then return nil, file .. ": " .. other, "INVALID" end
    return fs.read(file, LARGEST_SOURCE)
end

return path
