-- The one command of the user's that the policy runs: it makes the artefact of a submission anew.

local format = require "ako.format"
local process = require "ako.process"

local outside = {}

local SECONDS = 600 -- for packing; what takes longer hangs

--- Runs --pack in the workspace. Returns what came of it in words, nil without a command.
function outside.pack(run, opt)
    if opt.pack == "" then return nil end
    local result, problem = process.run { "sh", "-c", opt.pack, cwd = run.workspace,
        limit_ns = SECONDS * 1000000000 }
    if not result then return ("%s: %s"):format(opt.pack, problem) end
    local said = format.last_line(result.stdout .. "\n" .. result.stderr)
    return ("%s: %s%s"):format(opt.pack, result.ok and "done" or "failed, " .. result.how, said and ": " .. said or "")
end

return outside
