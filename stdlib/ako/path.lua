-- What ako.fs does not say about names of files.

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

return path
