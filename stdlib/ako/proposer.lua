-- Where candidates come from. A proposer is a function that gives the next { name, text } or nil at the end; `text`
-- replaces the solution's main file. One that cannot be read is { name, problem }: it costs its own trial.

local fs = require "ako.fs"
local path = require "ako.path"

local proposer = {}

--- The files of a folder with the extension of this device's lane ("cu" or "c"), in the byte order of their names.
--- Folders are left out. Returns the proposer and the number of files; or nil, a message and a code.
function proposer.folder(folder, extension)
    local entries, message, code = fs.list(folder)
    if not entries then return nil, message, code end
    local names = {}
    for _, name in ipairs(entries) do
        local wanted = path.extension(name) == extension and not fs.is_dir(fs.join(folder, name))
        if wanted then names[#names + 1] = name end
    end
    if #names == 0 then return nil, ("%s: holds no .%s files"):format(folder, extension), "NOTFOUND" end
    table.sort(names)
    local i = 0
    local function next_candidate()
        i = i + 1
        if not names[i] then return nil end
        local text, problem = path.read_source(fs.join(folder, names[i]))
        return { name = names[i], text = text, problem = not text and problem or nil }
    end
    return next_candidate, #names
end

return proposer
