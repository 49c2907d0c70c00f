-- Processes that a killed run has left at work. They are known by what they were given in their environment, which
-- everything that they start has, too.

local clock = require "ako.clock"
local fault = require "ako.fault"
local fs = require "ako.fs"
local process = require "ako.process"

local leftovers = {}

local SWEEPS, PAUSE_NS = 200, 50000000 -- a process may start another one between two looks, or be slow to die

local function has_all(process_name, marks)
    local text = fs.read(("/proc/%s/environ"):format(process_name))
    if not text then return false end
    for _, mark in ipairs(marks) do
        if not ("\0" .. text):find("\0" .. mark .. "\0", 1, true) then return false end
    end
    return true
end

-- Those of this user's that have all of these in their environment.
local function processes_with(marks)
    local found = {}
    for _, name in ipairs(fs.list("/proc") or {}) do
        if name:find("^%d+$") and has_all(name, marks) then found[#found + 1] = name end
    end
    return found
end

--- Ends all processes that have these entries ("NAME=value") in their environment; `what` they belong to, in words.
--- Raises BUSY where this program itself is one of them, or one cannot be ended.
function leftovers.stop(marks, what)
    if has_all("self", marks) then
        fault.raise("BUSY", "this shell belongs to %s whose run has been killed; end it, then start again", what)
    end
    for _ = 1, SWEEPS do
        local pids = processes_with(marks)
        if #pids == 0 then return end
        local killed, problem, code = process.run { "sh", "-c", 'kill -KILL "$@"', "sh", table.unpack(pids) }
        if not killed then fault.raise(code, "%s", problem) end
        clock.sleep_ns(PAUSE_NS)
    end
    fault.raise("BUSY", "processes of %s cannot be ended: %s", what, table.concat(processes_with(marks), ", "))
end

return leftovers
