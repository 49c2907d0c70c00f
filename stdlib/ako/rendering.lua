-- Files of the workspace that are rendered from the history: a policy's logs. They belong to the tool only as far as
-- they hold what it wrote: a file that somebody else has made or changed is left alone.
--
-- What was written last is known by workspace, not by session, in <common git folder>/ako/rendered/<workspace>/: a new
-- session may replace the renderings of an older one, which then keeps a copy among its records.

local fault = require "ako.fault"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local litter = require "ako.litter"
local path = require "ako.path"
local place = require "ako.place"

local rendering = {}

local must = fault.must

local function state_file(ws)
    return ("%s/ako/rendered/%s/files.json"):format(ws.repo:commondir(), git.hash(place.of(ws.repo)):sub(1, 16))
end

-- { [path] = { session, oids = { ... } } }: all that the file may hold and still be ours.
local function read_state(file)
    local text = fs.read(file)
    local good, state = pcall(json.decode, text or "{}")
    return good and type(state) == "table" and state or {}
end

local function write_state(file, state)
    must(fs.mkdirs(fs.dirname(file)))
    must(fs.write(file, json.encode(state) .. "\n"))
end

local function check(files, solution)
    if type(files) ~= "table" then
        fault.raise("POLICY", "hook 'logs' must return { [path] = text }, returned a %s", type(files))
    end
    for name, text in pairs(files) do
        local good = path.is_plain(name) and type(text) == "string"
        for _, other in ipairs(solution) do good = good and name ~= other end
        if not good then
            fault.raise("POLICY", "hook 'logs': '%s' is no file of the workspace that may be rendered", tostring(name))
        end
    end
end

local function is_among(list, value)
    for _, item in ipairs(list) do
        if item == value then return true end
    end
end

-- `now` is the content's oid, nil where nothing is. Links lead to files that are not named here.
local function is_ours(file, known, oid, now)
    local stat = fs.stat(file)
    if not stat then return true end
    return stat.type == "file" and (now == oid or (known ~= nil and is_among(known.oids, now)))
end

-- True where something that is no folder stands in a file's way.
local function is_obstructed(folder, name)
    for at in name:gmatch("()/") do
        local above = fs.join(folder, name:sub(1, at - 1))
        if fs.stat(above) and not fs.is_dir(above) then return true end
    end
    return false
end

-- What an older session rendered stays among its records.
local function keep_copy(ws, known, session_name, name)
    if not known or known.session == session_name or not fs.exists(fs.join(ws.folder, name)) then return end
    local old = ("%s/ako/%s"):format(ws.repo:commondir(), known.session)
    if not fs.is_dir(old) then return end
    local copy = fs.join(old .. "/renderings", name)
    must(fs.mkdirs(fs.dirname(copy)))
    must(fs.write(copy, must(fs.read(fs.join(ws.folder, name)))))
end

local function sorted(files)
    local paths = {}
    for name in pairs(files) do paths[#paths + 1] = name end
    table.sort(paths)
    return paths
end

-- Where a log goes on that somebody has edited: "LOG.ako.md" for "LOG.md".
local function beside(name)
    local stem, extension = name:match("^(.*[^/])(%.[^./]+)$")
    return stem and stem .. ".ako" .. extension or name .. ".ako"
end

-- Enters a text into the state and the list of what is to be written, where the file is ours or to be made. Returns
-- whether it is.
local function take(ws, session_name, state, changed, name, text)
    local full, oid, known = fs.join(ws.folder, name), git.hash(text), state[name]
    local now = fs.hash(full)
    if is_obstructed(ws.folder, name) or not is_ours(full, known, oid, now) then return false end
    if now ~= oid then changed[#changed + 1] = { full = full, text = text } end
    keep_copy(ws, known, session_name, name)
    state[name] = { session = session_name, oids = now ~= oid and { oid, now } or { oid } }
    return true
end

--- Writes files { [path in the workspace] = text } for a session. Returns the paths that hold them, sorted; those that
--- were left alone since somebody else has written them; and of these, where they were ours once, the path beside it
--- that the text has gone to, { [path] = path }. Raises POLICY for paths that no log may have, IO.
function rendering.write(ws, session_name, files, solution)
    check(files, solution)
    local file = state_file(ws)
    local state, written, left_alone, moved, changed = read_state(file), {}, {}, {}, {}
    for _, name in ipairs(sorted(files)) do
        local other, text = beside(name), files[name]
        if take(ws, session_name, state, changed, name, text) then
            written[#written + 1] = name
        else
            left_alone[#left_alone + 1] = name
            local may = state[name] and not files[other] and take(ws, session_name, state, changed, other, text)
            if may then written[#written + 1], moved[name] = other, other end
        end
    end
    if #changed > 0 then write_state(file, state) end -- first, so that a kill in between leaves them ours
    for _, entry in ipairs(changed) do
        must(fs.mkdirs(fs.dirname(entry.full)))
        must(fs.write(entry.full, entry.text))
    end
    table.sort(written)
    return written, left_alone, moved
end

--- Removes what a killed write left beside the renderings. Only for who has the workspace for itself.
function rendering.sweep(ws)
    local file = state_file(ws)
    litter.sweep(fs.dirname(file))
    litter.sweep_beside(ws.folder, sorted(read_state(file)))
end

return rendering
