-- What sessions that were cut off leave in a workspace, made good: those before it when a start begins, its own when it
-- ends. How a single one is repaired is ako.repair's.

local bench = require "ako.bench"
local command = require "ako.command"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local litter = require "ako.litter"
local rendering = require "ako.rendering"
local repair = require "ako.repair"
local session = require "ako.session"

local recovering = {}

local must = fault.must

--- Says that a session's journal has lost its last line, where it has.
function recovering.tell_torn(started, opened)
    if opened.torn_bytes == 0 then return end
    started.progress:note(("session     %s: the last line of its journal was torn and is dropped (%s)"):format(
        opened.name, format.count(opened.torn_bytes, "byte")))
end

-- Says what a repaired session (ako.session) was saved from.
local function tell_repaired(started, repaired)
    recovering.tell_torn(started, repaired)
    local name, text = repaired.name, "was interrupted; its refs are right again"
    if repaired.cut_off then
        text = ("%s was interrupted; %s%s"):format(repaired.cut_off, repaired.left_alone or "the best is back",
            repaired.set_aside and ", its edit is kept: " .. repaired.set_aside or "")
    end
    started.progress:note(("session     %s: %s"):format(name, text))
end

-- Of a workspace that this process has for itself.
local function sweep(started)
    if not started.claim then return end
    litter.sweep_beside(started.ws.folder, started.task.solution.files)
    rendering.sweep(started.ws)
end

--- Repairs what killed sessions of this workspace left behind, so that the files are the user's or the best's again.
--- Raises CORRUPT where the newest one cannot be read, for nobody knows then whose the files are, unless a session is
--- named.
function recovering.workspace(started)
    sweep(started)
    local repo, lost = started.ws.repo, {} -- sessions that cannot be made good
    local function is_cut_off(state)
        if lost[state.name] then return false end
        if started.claim then repair.sweep(repo, state.name) end
        return repair.is_cut_off(repo, state)
    end
    local state, damaged, broken = session.newest(started.ws, is_cut_off)
    if broken and not started.host.session then
        fault.raise(broken.code, "the newest session here, %s, cannot be read: %s; --session=NAME starts another one",
            broken.name, broken.problem)
    end
    for _, problem in ipairs(damaged) do started.progress:note("session     left out: " .. problem) end
    while state do
        local folder = fs.join(started.ws.repo:commondir(), "ako/" .. state.name)
        if state.proposing then command.stop_leftovers(folder, state.proposing.proposal) end
        if state.open then bench.stop_leftovers(folder, state.open.trial) end
        local repaired, problem, code = session.resume(started.ws, state)
        if not repaired and code == "CORRUPT" and started.host.session and started.host.session ~= state.name then
            started.progress:note("session     left out: " .. problem)
            lost[state.name] = true
        else
            tell_repaired(started, must(repaired, problem, code))
            repaired:close()
        end
        state = session.newest(started.ws, is_cut_off)
    end
end

--- Records what the start's own session was at as interrupted, and restores the best. What fails is said, and left to
--- the next start.
function recovering.own(started)
    local opened = started.session
    if opened.lent then opened:take_back() end -- where that fails, the next start says so
    if not (opened.journal and (opened.open or opened.placed or opened.proposing)) then return end
    local _, problem = fault.catch(repair.session, opened)
    if problem then
        started.progress:note(("session     %s: %s; the next start does the rest: %s"):format(opened.name,
            opened.restored and "the best is back" or "the best is not back yet", problem))
    elseif opened.set_aside then
        tell_repaired(started, opened)
    end
end

return recovering
