-- Phase C: what a person reads at the end.

local ending = require "policies.autodev.ending"
local format = require "ako.format"
local logbook = require "ako.logbook"
local matrix = require "policies.autodev.matrix"
local versions = require "policies.autodev.versions"

local submission = {}

local function append(lines, list) table.move(list, 1, #list, #lines + 1, lines) end

-- The verified record when all is well with it: correct, and no slower than the yardstick.
local function shippable(run)
    local record = run.finished and run.finished.verified
    local speedup = record and record.speedup[versions.yardstick(run.history)]
    return record and record.status == "PASSED" and speedup and speedup >= 1 and record or nil
end

--- "submission-<session>-vN", nil for a best that is not to be shipped.
function submission.tag(run)
    local record = shippable(run)
    return record and ("submission-%s-%s"):format(run.session, versions.name(record.trial))
end

--- "v3: 1.52x over the reference, mean of 5 runs"
function submission.headline(run)
    local over, record = versions.yardstick(run.history), run.finished.verified
    local runs = record.runs and #record.runs or 1
    return ("%s: %s over the %s, %s"):format(versions.name(record.trial), format.ratio(record.speedup[over]), over,
        runs > 1 and ("mean of %d runs"):format(runs) or "measured once more")
end

local function section(title, list, none)
    local lines = { "", "## " .. title, "" }
    for _, text in ipairs(list) do lines[#lines + 1] = "- " .. format.line(text) end
    if #list == 0 then lines[#lines + 1] = none end
    return lines
end

local function version_text(record, over)
    local plan = versions.plan(record)
    return ("%s %s: %s (%s; %s)"):format(versions.name(record.trial), versions.outcome(record),
        plan.change or record.hypothesis or record.candidate or "the tree as it was",
        record.speedup[over] and format.ratio(record.speedup[over]) or record.status, record.reason)
end

local function tried(run, over)
    local kept, failed = {}, {}
    for _, record in ipairs(run.history) do
        local list = record.trial > 0 and (versions.outcome(record) == "KEEP" and kept or failed)
        if list then list[#list + 1] = version_text(record, over) end
    end
    return kept, failed
end

-- Ideas of notes that no experiment has taken up.
local function ideas(run)
    local taken, list = {}, {}
    for _, record in ipairs(run.history) do taken[versions.plain(record.hypothesis)] = true end
    for _, note in ipairs(run.notes or {}) do
        local is_idea = note.topic == "idea" or note.topic == "next"
        if is_idea and not taken[versions.plain(note.text)] then list[#list + 1] = note.text end
    end
    return list
end

local function lifts(run)
    local list = {}
    for i, lift in ipairs(ending.heavy_lifts(run)) do
        list[i] = lift.text .. (lift.reason and "" or " (not accepted: a prerequisite, a missing template or the "
            .. "hardware is a reason, cost and doubt are none)")
    end
    return list
end

local function runs_table(record, over)
    local rows = {}
    for i, one in ipairs(record.runs or {}) do
        rows[i] = { i, format.duration(one.median), format.ratio(one.speedup[over]) }
    end
    return #rows > 0 and logbook.table({ "run", "median", "speed-up" }, rows) or {}
end

--- The text of notes/submission_<session>.md; said: what the command that packs the artefact answered, or nil.
function submission.text(run, opt, said)
    local over, record = versions.yardstick(run.history), run.finished.verified
    local kept, failed = tried(run, over)
    local tag, left = submission.tag(run), matrix.left(run)
    local lines = { ("# Submission: %s, session %s"):format(run.task.name, run.session), "",
        submission.headline(run) .. ".", "",
        ("- Full evaluation: %s on %s"):format(record.status, format.count(#record.workloads, "workload")),
        "- Ended: " .. format.line(run.finished.ended or "by hand"),
        "- Tag: " .. (tag and ("%s; nothing was pushed: `git push origin %s`"):format(tag, tag)
            or "none, since it is not both correct and at least as fast as the " .. over),
        "- Artefact: " .. (opt.pack == "" and "no command (--pack='...')" or format.line(said or opt.pack)) }
    append(lines, { "" })
    append(lines, runs_table(record, over))
    append(lines, section("What was kept", kept, "Nothing."))
    append(lines, section("What did not work", failed, "Nothing was reverted."))
    append(lines, section("Ideas that are left", ideas(run), "None is noted (`note --topic=idea`)."))
    append(lines, section("Heavy lifts that were not tried", lifts(run), "None is noted (`note --topic=heavy-lift`)."))
    append(lines, section("Tactical sweep, still to do", left, "All of it is done."))
    lines[#lines + 1] = ""
    return table.concat(lines, "\n")
end

return submission
