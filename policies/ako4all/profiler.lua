-- Whether ncu can be used: looked once, before the first edit, and remembered for the session. Nothing waits for it.

local fs = require "ako.fs"
local gates = require "ako.gates"
local hints = require "policies.ako4all.hints"
local process = require "ako.process"

local profiler = {}

local LIMIT_NS = 20 * 1000000000 -- a program that hangs is as good as none

local function probe(run)
    local list = hints.read(fs.read(fs.join(run.workspace, hints.FILE)))
    if hints.forbids(list, "ncu") or hints.forbids(list, "profiling") then return "left out (HINTS.md)" end
    if run.device.id == "cpu" then return "unavailable: the device is a CPU" end
    local result, problem = process.run { "ncu", "--version", limit_ns = LIMIT_NS }
    if not result then return "unavailable: " .. problem end
    if not result.ok then return "unavailable: " .. result.how end
    return result.stdout:match("Version%s+(%S+)") or "there"
end

--- A gate that refuses nothing: the first trial's facts say what was found, { ncu = text }.
function profiler.gate(run, proposal)
    if run.next_trial ~= 1 or gates.is_question(proposal) then return nil end
    return nil, { ncu = probe(run) }
end

return profiler
