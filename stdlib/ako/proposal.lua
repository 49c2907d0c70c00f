-- What a command has made of the solution's files, and how that is taken back without losing any of it. A command may
-- leave anything behind: no file at all, a link, a folder, gigabytes.

local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local path = require "ako.path"
local process = require "ako.process"

local proposal = {}

local must = fault.must

local WORDS = { link = "a symbolic link", dir = "a folder", other = "no plain file", file = "a file" }

-- What stands in the place of a source, or of a folder on the way to it, and words for it; false and words where
-- nothing does; nil where the source can be read.
local function obstacle(folder, name)
    local at = ""
    for part in name:gmatch("[^/]+") do
        at = at == "" and part or at .. "/" .. part
        local stat = fs.stat(fs.join(folder, at))
        if not stat then return false, name .. " is gone" end
        local wanted = at == name and "file" or "dir"
        if stat.type ~= wanted then return at, ("%s is %s now"):format(at, WORDS[stat.type]) end
    end
end

-- The text of a source, or nil, what is in its place (or false) and words.
local function read(folder, name)
    local odd, words = obstacle(folder, name)
    if words then return nil, odd, words end
    local text, problem = path.read_source(fs.join(folder, name))
    return text, name, problem
end

--- Looks at the solution's files of a session (ako.session). Returns { changed (names of those whose text is not the
--- best's), files (name -> text of those), odd (names of what is in the place of a source), problem (what is wrong, in
--- words, or nil) }.
function proposal.inspect(session)
    local found = { changed = {}, files = {}, odd = {} }
    for _, source in ipairs(must(session:sources(session.best))) do
        local name = source.name
        local text, odd, words = read(session.ws.folder, name)
        if not text then
            found.problem = found.problem or words
            if odd ~= found.odd[#found.odd] then found.odd[#found.odd + 1] = odd or nil end
        elseif text ~= source.text then
            found.changed[#found.changed + 1], found.files[name] = name, text
        end
    end
    return found
end

-- Out of the workspace, whatever it is and however large.
local function set_aside(session, name, number)
    local target = fs.join(("%s/proposals/%d.left"):format(session.folder, number), name)
    must(fs.mkdirs(fs.dirname(target)))
    local moved = must(process.run { "mv", "-f", "--", fs.join(session.ws.folder, name), target })
    if not moved.ok then fault.raise("IO", "cannot move %s away: %s", name, format.line(moved.stderr)) end
    return target
end

--- Puts the best's files back in the place of what proposal `number` has left there. Nothing of that is lost: changed
--- texts become a commit on the best's under refs/ako/<session>/proposals/<number>, anything else is moved to the
--- session's folder. `why` is for the commit. Returns where it is now, in words, or nil where there was nothing. Raises
--- faults.
function proposal.discard(session, number, why)
    local found, places = proposal.inspect(session), {}
    if #found.changed > 0 then
        local ref, parent = ("refs/ako/%s/proposals/%d"):format(session.name, number), session.best.commit
        must(session.repo:commit { tree = must(session.repo:tree(parent, found.changed)), parents = { parent },
            ref = ref, message = ("[proposal %d] %s\n"):format(number, format.line(why)) })
        places[1] = ref
    end
    for _, name in ipairs(found.odd) do places[#places + 1] = set_aside(session, name, number) end
    must(session.repo:restore(session.best.commit, session.paths, { remove = true }))
    return #places > 0 and table.concat(places, ", ") or nil
end

return proposal
