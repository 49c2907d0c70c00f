-- A workspace is for one process at a time: two runs in one would take each other's candidates for the user's work.

local fault = require "ako.fault"
local fs = require "ako.fs"
local session = require "ako.session"

local claiming = {}

-- Who is at work in a workspace, as far as its newest session that somebody holds tells.
local function worker_of(ws)
    local state = session.newest(ws, function(state) return session.holder(ws.repo, state.name) ~= nil end)
    if not state then return "another ako-lua" end
    local id, open = session.holder(ws.repo, state.name), state.open
    local what = open and ("trial %d of session %s is open since %s UTC, in"):format(open.trial, state.name,
        os.date("!%H:%M:%S", open.time_s)) or ("session %s is in the hands of"):format(state.name)
    return ("%s process %d"):format(what, id), id
end

local function refuse_busy(ws)
    local who, id = worker_of(ws)
    if not id then
        fault.raise("BUSY", "the workspace %s is in use by %s; wait for it, or take another --workspace", ws.folder,
            who)
    end
    fault.raise("BUSY", "the workspace %s is in use: %s; wait until that ends, or stop it with `kill %d`",
        ws.folder, who, id)
end

--- The lock of a workspace, to be closed. Nil where folders cannot be locked, on some network file systems. Raises BUSY
--- where another process has it, and says which.
function claiming.take(ws)
    local folder = ws.folder
    local lock, _, code = fs.lock(folder)
    if code == "BUSY" and os.getenv("AKO_WORKSPACE") == folder then
        fault.raise(code, "the run that wants this proposal is at work in %s: exit with 0, and it will try the edit",
            folder)
    elseif code == "BUSY" then
        refuse_busy(ws)
    end
    return lock
end

return claiming
