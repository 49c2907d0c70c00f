-- What goes to stdout: at most ten lines for people, or one JSON object.

local format = require "ako.format"
local json = require "ako.json"
local trial = require "ako.trial"

local report = {}

local MOST_LINES = 10

-- Members of a record that only the journal needs.
local INTERNAL = { kind = true, launches = true, machine_code = true, step = true, time_s = true }

--- The JSON form of a record; what is unknown in it is null.
function report.object(record)
    local object = {}
    for key, value in pairs(record) do
        if not INTERNAL[key] then object[key] = value end
    end
    object.speedup = {}
    for _, name in ipairs { "reference", "original", "best" } do
        object.speedup[name] = record.speedup[name] or json.null
    end
    object.time_ns = record.time_ns or json.null
    return object
end

local function speedups(record)
    local parts = {}
    for _, name in ipairs { "original", "reference" } do
        local speedup = record.speedup[name]
        if speedup then parts[#parts + 1] = ("%s over the %s"):format(format.ratio(speedup), name) end
    end
    return table.concat(parts, ", ")
end

--- One line on a record: what, how fast, against what.
function report.line(record)
    local name = record.candidate or record.hypothesis or "the tree"
    local text = ("trial %d (%s): %s%s"):format(record.trial, name, record.status,
        record.weakness and " on a weak task" or "")
    if record.time_ns then
        text = ("%s, median %s, %s"):format(text, format.duration(record.time_ns.median), speedups(record))
    end
    return (text:gsub(", $", ""))
end

local function counts(of)
    return ("%d kept, %d reverted, %d inconclusive"):format(of.keep, of.revert, of.inconclusive)
end

-- What the best's verification measured. A figure that its own repetition contradicts is said to be so.
local function again(verified)
    if not verified or not verified.time_ns then return "" end
    local interval = not verified.paired and verified.interval.best
    local apart = interval and (interval[1] > 1 or interval[2] < 1)
    return ("; measured again: %s%s"):format(format.duration(verified.time_ns.median),
        apart and ", the intervals are apart: the machine drifts or is not quiet" or "")
end

-- The session's figure: one run of pairs of the original and the final best, after all else.
local function headline(verified)
    local paired = verified and verified.paired
    if not paired or not verified.speedup.original then return "" end
    local interval = verified.interval.original
    local range = interval and (" (%s to %s)"):format(format.ratio(interval[1]), format.ratio(interval[2])) or ""
    return ("; in turn with the original, %s: %s%s"):format(format.count(paired.pairs, "pair"),
        format.ratio(verified.speedup.original), range)
end

--- The lines on a whole run that every policy's account ends with. `verified`: the record of the best's verification.
function report.run_lines(session, ended, verified)
    local lines = {}
    if session.best then
        lines[1] = "best: " .. report.line(session.best) .. again(verified) .. headline(verified)
        if trial.verdict(session.best) == "inconclusive" then
            lines[1] = ("%s; not kept: %s"):format(lines[1], session.best.reason)
        end
    elseif session.original then
        lines[1] = ("the baseline failed: %s: %s"):format(session.original.status, session.original.reason)
    end
    lines[#lines + 1] = ("session %s: %s (%s)%s"):format(session.name,
        format.count(math.max(0, #session.history - 1), "candidate"), counts(session.counts),
        ended and "; ended: " .. ended or "")
    local root = session.ws.folder .. "/"
    local records = session.folder
    if records:sub(1, #root) == root then records = records:sub(#root + 1) end
    local branch = session.branch and ", branch " .. session.branch.ref:gsub("^refs/heads/", "") or ""
    lines[#lines + 1] = ("in %s: the solution%s, records in %s"):format(session.ws.folder, branch, records)
    return lines
end

--- A line for each of several tasks: { task, record }.
function report.suite_lines(entries)
    local lines = {}
    for i, entry in ipairs(entries) do
        lines[i] = ("%s: %s"):format(entry.task, report.line(entry.record):gsub("^trial %d+ %b(): ", ""))
    end
    return lines
end

--- The lines on one trial.
function report.trial_lines(record)
    local lines = { report.line(record), ("%s: %s"):format(record.verdict, record.reason) }
    local where = record.files and "records in " .. record.files or nil
    local after = record.next and "next: " .. record.next or nil
    lines[#lines + 1] = where and after and where .. "; " .. after or where or after
    return lines
end

--- The text for stdout of these lines, at most ten of them.
function report.text(...)
    local lines = {}
    for _, list in ipairs { ... } do
        for _, line in ipairs(list) do lines[#lines + 1] = format.line(line) end
    end
    return table.concat(lines, "\n", 1, math.min(#lines, MOST_LINES)) .. "\n"
end

return report
