-- The files that a policy gives a workspace which lacks them.

local fault = require "ako.fault"
local fs = require "ako.fs"
local path = require "ako.path"
local survey = require "ako.survey"

local scaffolding = {}

local must = fault.must

local function read_entry(name, given)
    local entry = type(given) == "string" and { text = given } or given
    if type(entry) ~= "table" or type(entry.text) ~= "string" then
        fault.raise("POLICY", "hook 'scaffold' must return { [path] = text }, or { text, merge, say } for a text; "
            .. "'%s' is neither", tostring(name))
    end
    return entry
end

-- The hook's files, checked, { [path] = { text, merge, say } }.
local function entries_of(started)
    local files, entries = started.hook("scaffold", survey.of(started), started.opt), {}
    if files ~= nil and type(files) ~= "table" then
        fault.raise("POLICY", "hook 'scaffold' must return { [path] = text }, returned a %s value", type(files))
    end
    for name, given in pairs(files or {}) do
        if not path.is_plain(name) then
            fault.raise("POLICY", "hook 'scaffold': '%s' is no file of the workspace", tostring(name))
        end
        entries[name] = read_entry(name, given)
    end
    return entries
end

--- Gives the workspace the policy's files where it lacks them; one that the policy has merged into is replaced. Says
--- which. Returns the paths that were written. Raises faults.
function scaffolding.write(started)
    if not started.policy.scaffold then return {} end
    local entries, names, written = entries_of(started), {}, {}
    for name in pairs(entries) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
        local entry, full = entries[name], fs.join(started.ws.folder, name)
        local missing = not fs.stat(full) -- a link that leads nowhere is somebody's, too
        if missing or (entry.merge and fs.read(full) ~= entry.text) then
            must(fs.mkdirs(fs.dirname(full)))
            must(fs.write(full, entry.text))
            written[#written + 1] = name
            started.progress:note(("scaffold    %s"):format(entry.say or name .. ": made"))
        end
    end
    return written
end

return scaffolding
