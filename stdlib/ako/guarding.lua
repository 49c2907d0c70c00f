-- Whether what no candidate may change (ako.protect) is what a start has read.

local fault = require "ako.fault"
local format = require "ako.format"
local protect = require "ako.protect"

local guarding = {}

local function with_clean_names(values)
    local result = {}
    for name, value in pairs(values) do result[format.utf8(name)] = value end
    return result
end

--- The hashes and marks of all of it, by names that are text. Of a workspace that has been made.
function guarding.protected(started)
    local hashes, marks = protect.hashes(started.task, started.ws.folder, started.ctx.path, started.policy.protected)
    return with_clean_names(hashes), with_clean_names(marks)
end

--- What was read must be what is hashed: what was changed for the moment of reading, and then put back, would else
--- decide unseen. So nobody may have written to it since this program began. Raises PROTECTED.
function guarding.check_read(started)
    local folder = started:folder()
    local names = folder and started.policy.protected or nil
    local _, marks = protect.hashes(started.task, folder or started.task.folder, started.ctx.path, names)
    local written = started.ctx.started_ns and protect.written_since(marks, started.ctx.started_ns)
    if written then
        fault.raise("PROTECTED", "protected file %s was written to while it was being read; try again",
            format.utf8(written))
    end
    started.marks = folder and marks or nil
end

--- The same for what the evaluator has taken since: input files. Returns the marks; nil for a new scratch folder.
function guarding.check_given(started)
    if not started.marks then return nil end
    local _, marks = guarding.protected(started)
    local name = protect.difference(with_clean_names(started.marks), marks)
    if name then
        fault.raise("PROTECTED", "protected file %s was written to while it was being read; try again", name)
    end
    return marks
end

return guarding
