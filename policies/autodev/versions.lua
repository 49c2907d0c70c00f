-- What became of the versions of a kernel. Trial n is version n + 1: v1 is the baseline.

local trial = require "ako.trial"

local versions = {}

--- "v3" for trial 2.
function versions.name(n) return "v" .. n + 1 end

local CRASHES = { COMPILE_ERROR = true, RUNTIME_ERROR = true }

--- KEEP, REVERT, CRASH or TIMEOUT, as the log has it; UNMEASURED where the machine failed and not the candidate.
function versions.outcome(record)
    if trial.verdict(record) == "keep" then return "KEEP" end
    if record.status == "TIMEOUT" then return "TIMEOUT" end
    if CRASHES[record.status] then return "CRASH" end
    return trial.is_unmeasured(record.status) and "UNMEASURED" or "REVERT"
end

--- The first version that was right: what errors and speed-ups are compared with. Nil before there is one.
function versions.baseline(history)
    for _, record in ipairs(history) do
        if record.status == "PASSED" then return record end
    end
end

--- The experiments that were kept, oldest first.
function versions.kept(history)
    local list, baseline = {}, versions.baseline(history)
    for _, record in ipairs(history) do
        if record ~= baseline and versions.outcome(record) == "KEEP" then list[#list + 1] = record end
    end
    return list
end

--- The plan that stood behind a version (policies/autodev/plans.lua); empty for one without.
function versions.plan(record) return record.facts and record.facts.plan or {} end

-- Points of one tune space: one experiment.
local function is_same_experiment(a, b)
    return a ~= nil and a.point ~= nil and b.point ~= nil and versions.plan(a).hash == versions.plan(b).hash
end

--- The experiments that failed in a row at the end of the history, oldest first. What could not be measured is passed
--- over; of the points of a tune space the last one stands for all.
function versions.failures(history)
    local list, later = {}, nil
    for i = #history, 1, -1 do
        local record, outcome = history[i], versions.outcome(history[i])
        if outcome == "KEEP" then break end
        local counts = outcome ~= "UNMEASURED" and not is_same_experiment(later, record)
        if counts then table.insert(list, 1, record) end
        later = counts and record or later
    end
    return list
end

--- Over what speed-ups are counted: the reference, or the original kernel where the reference gives no time.
function versions.yardstick(history)
    local baseline = versions.baseline(history)
    return baseline and baseline.speedup.reference and "reference" or "original"
end

--- The first line of a version's commit: "v3: 128-bit loads"; a fix has its own.
function versions.subject(record)
    local what = record.hypothesis or record.candidate or "the tree as it is"
    if what:find("^fix:") then return what end
    return ("%s: %s"):format(versions.name(record.trial), what)
end

--- Words without case and punctuation, so that "128-bit loads" and "128 bit Loads" are one.
function versions.plain(text) return ((text or ""):lower():gsub("[%s%p%c]+", " "):match("^%s*(.-)%s*$")) end

return versions
