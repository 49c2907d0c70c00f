-- A session's journal out of hand while a proposer works, which may add notes there and must leave the rest alone.

local fault = require "ako.fault"
local fs = require "ako.fs"
local intact = require "ako.intact"
local json = require "ako.json"
local seal = require "ako.seal"
local story = require "ako.story"

local lending = {}

local must = fault.ours

--- Closes the journal at `path` of an opened session (ako.session) and remembers what is in it. Raises faults.
function lending.lend(session, path)
    session.seal = session.seal or seal.of(must(fs.read(path)))
    session.lent = { identity = seal.identity(path), size = must(fs.stat(path)).size }
    session:close()
end

-- The lines behind byte `at` that were added: notes and nothing else.
local function take_added(session, text, at)
    for line in text:sub(at + 1):gmatch("[^\n]*\n") do
        local added = json.decode(line)
        if type(added) ~= "table" or added.kind ~= "note" or intact.line(added) then return false end
        if added.trial and added.trial >= #session.history then return false end
        story.take(session.state, added, at)
        session.seal, at = seal.add(session.seal, line:sub(1, -2)), at + #line
    end
    return at == #text and story.save(session.state) ~= false
end

--- Takes the journal back, which `open(path)` opens, with the notes that were added. Raises CORRUPT when anybody has
--- changed what was in it, or added anything else.
function lending.take_back(session, path, open)
    local lent = session.lent
    session.lent = nil
    local good = (fs.stat(path) or {}).type == "file" -- a link would lead our lines elsewhere
    if good then session.journal = open(path) end
    if good and seal.identity(path) ~= lent.identity then
        local text = must(fs.read(path))
        good = seal.of(text:sub(1, lent.size)) == session.seal and take_added(session, text, lent.size)
    end
    if good then return end
    session:close()
    fault.raise("CORRUPT", "%s was changed while the proposer ran; restore the file from a copy, or begin another "
        .. "session with --session=NAME", path)
end

return lending
