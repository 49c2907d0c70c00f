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

--- True for the path of a file that a policy may have in the workspace: a text, inside it, spelled plainly, in no .git.
function path.is_plain(name)
    if type(name) ~= "string" or name == "" or not path.is_text(name) then return false end
    local spelled = ("/" .. name .. "/"):lower()
    return not (spelled:find("//", 1, true) or spelled:find "/%.%.?/" or spelled:find("/.git/", 1, true))
end

local LARGEST_SOURCE = 16 << 20 -- bytes; what is larger was not written to be compiled

--- The text of a file that somebody wrote: a plain one of at most 16 MB, so that no pipe, device or mistake for a
--- source is waited for. Nil, a message and a code otherwise.
function path.read_source(file)
    if fs.exists(file) and not fs.is_file(file) then return nil, file .. ": is no plain file", "INVALID" end
    return fs.read(file, LARGEST_SOURCE)
end

return path
