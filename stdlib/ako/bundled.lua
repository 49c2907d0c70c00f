-- Files named on the command line: the user's own, else those that come with the program.

local fault = require "ako.fault"
local fs = require "ako.fs"
local host = require "ako.host"

local bundled = {}

local function is_file(path) return fs.exists(path) and not fs.is_dir(path) end

--- Names of the bundled policies, in order.
function bundled.names()
    local names = {}
    for _, file in ipairs(fs.list(fs.join(host.home, "policies")) or {}) do
        names[#names + 1] = file:match("^(.+)%.lua$")
    end
    return names
end

--- What messages call a bundled policy.
function bundled.file(name) return "policies/" .. name .. ".lua" end

local function in_home(name)
    if name:sub(1, 1) == "/" or name:find("..", 1, true) then return nil end
    for _, below in ipairs { name, bundled.file(name), "policies/" .. name } do
        if below:find("%.lua$") and is_file(fs.join(host.home, below)) then return below end
    end
end

--- The file for what was typed: what messages call it and its path. Raises faults.
function bundled.find(typed)
    if is_file(typed) then return typed, typed end
    local below = in_home(typed)
    if below then return below, fs.join(host.home, below) end
    if fs.is_dir(typed) then fault.raise("INVALID", "%s is a folder, not a Lua file", typed) end
    local names = bundled.names()
    local near = fault.nearest((fs.basename(typed):gsub("%.lua$", "")), names)
    fault.raise("NOTFOUND", "no policy or script '%s' here or among the bundled ones%s", typed, near)
end

return bundled
