-- What a verdict by hand makes of a session, and when it would mean nothing.

local fault = require "ako.fault"

local overriding = {}

local function best_after(state, record, verdict)
    if verdict == "keep" then return record end
    for i = #state.kept, 1, -1 do
        if state.kept[i] ~= record.trial then return state.history[state.kept[i] + 1] end
    end
    return state.first_right
end

local function counts(state, record)
    for _, n in ipairs(state.kept) do
        if n == record.trial then return true end
    end
    return false
end

--- The best of a session (session.read) once `record` has this verdict ("keep" or "revert"). Raises a fault for one
--- that would change nothing, or leave nothing to go on from.
function overriding.best(state, record, verdict)
    local n, after = record.trial, best_after(state, record, verdict)
    if verdict == "keep" then
        fault.check(record ~= state.best, "trial %d is the best already", n)
        return after
    end
    fault.check(counts(state, record), "trial %d does not count (%s), so there is nothing to take back", n,
        record.override and record.override .. " by hand" or record.verdict)
    fault.check(after and after ~= record and after.override ~= "revert",
        "trial %d is all that there is to go on from; keep another one first", n)
    return after
end

return overriding
