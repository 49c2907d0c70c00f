-- An entry of perf_log.md: all that is said of one version.

local format = require "ako.format"
local logbook = require "ako.logbook"
local matrix = require "policies.autodev.matrix"
local trial = require "ako.trial"
local versions = require "policies.autodev.versions"
local watch = require "policies.autodev.watch"

local entry = {}

local function add(lines, text, ...) lines[#lines + 1] = text:format(...) end

--- A speed-up; "unknown" for nil.
function entry.figure(value) return value and ("%.3fx"):format(value) or "unknown" end

local figure = entry.figure

--- The notes of each entry, by its trial: that which was the last one when they were written, for those before are
--- closed. What was noted before the baseline is the baseline's.
function entry.notes(run)
    local by_entry = {}
    for _, note in ipairs(run.notes or {}) do
        local place = note.after or note.trial or 0
        by_entry[place] = by_entry[place] or {}
        table.insert(by_entry[place], note)
    end
    return by_entry
end

--- How many workloads are correct, and how many there are.
function entry.counts(record)
    local correct = 0
    for _, workload in ipairs(record.workloads) do correct = correct + (workload.status == "PASSED" and 1 or 0) end
    return correct, #record.workloads
end

-- Average, least and greatest speed-up; a version that was stopped has 0, one that never ran has none.
local function speedups(record, over)
    if record.status == "TIMEOUT" then return 0.0, 0.0, 0.0 end
    local least, most
    for _, workload in ipairs(record.workloads) do
        local value = workload.speedup and workload.speedup[over]
        if value then least, most = math.min(least or value, value), math.max(most or value, value) end
    end
    return record.speedup[over], least, most
end

local function note_line(note, n)
    local about = note.trial and note.trial ~= n and (" (on %s)"):format(versions.name(note.trial)) or ""
    local file = note.file and (" [%s]"):format(note.file) or ""
    return ("%s%s: %s%s"):format(note.topic or "note", about, format.line(note.text or ""), file)
end

-- What the notes of one topic say, joined; the fallback without any.
local function said(notes, topic, n, fallback)
    local texts = {}
    for _, note in ipairs(notes) do
        if note.topic == topic and (note.trial or n) == n then
            texts[#texts + 1] = note_line(note, n):match("^[^:]*:%s*(.*)$")
        end
    end
    return #texts > 0 and table.concat(texts, "; ") or fallback
end

local function percent(gain) return gain and ("%+.1f %%"):format(gain) or "unknown" end

-- What each workload gained on the best before it, and how far its error is from the baseline's.
local function workload_table(record, over, baseline, opt, number)
    local losers, drifted, rows = {}, {}, {}
    for _, loser in ipairs(watch.losers(record, opt)) do losers[loser.workload.id] = true end
    for _, drift in ipairs(watch.drifted(record, baseline, number.drift, number.drift_floor)) do
        drifted[drift.workload.id] = drift.before
    end
    for i, workload in ipairs(record.workloads) do
        local speedup, flags = workload.speedup or {}, {}
        if losers[workload.id] then flags[#flags + 1] = "SLOWER" end
        if drifted[workload.id] then flags[#flags + 1] = ("DRIFT from %.3g"):format(drifted[workload.id]) end
        rows[i] = { workload.id, workload.status or "unknown", figure(speedup[over]),
            percent(speedup.best and (speedup.best - 1) * 100),
            workload.max_abs and ("%.3g"):format(workload.max_abs) or "unknown",
            workload.max_rel and ("%.3g"):format(workload.max_rel) or "unknown", table.concat(flags, ", ") }
    end
    return logbook.table({ "workload", "status", "speed-up", "change", "max_abs", "max_rel", "flags" }, rows)
end

local function forecast_text(record, plan)
    if record.predict then
        return ("%+.1f %% forecast, %s measured"):format(record.predict, percent(trial.gain(record)))
    end
    return plan.magnitude and ("%s forecast, %s measured"):format(plan.magnitude, percent(trial.gain(record)))
end

local function override_text(record)
    if not record.override then return "" end
    return (" (by hand: %s; the rule said %s)"):format(record.override_reason or "no reason", record.verdict)
end

-- A technique that others gain with and that loses here is rarely to blame itself.
local function is_suspicious(record, plan, number)
    local gain = record.status == "PASSED" and trial.gain(record)
    return gain and gain <= -number.change * 100 and matrix.is_proven(plan)
end

-- Status, figures and commit.
local function add_result(lines, run, record, over)
    local n, correct, total = record.trial, entry.counts(record)
    local average, least, most = speedups(record, over)
    add(lines, "- Status: %s%s", versions.outcome(record), override_text(record))
    add(lines, "- Date: %s", format.date(record.time_s))
    add(lines, "- Commit: %s (refs/ako/%s/%d)", (record.commit or ""):sub(1, 12), run.session or "", n)
    add(lines, "- Speedup: avg %s, min %s, max %s%s (%d CORRECT / %d total)", figure(average), figure(least),
        figure(most), average and " over the " .. over or "", correct, total)
end

-- What was meant.
local function add_plan(lines, record, plan)
    add(lines, "- Change: %s", format.line(plan.change or record.candidate or "none"))
    add(lines, "- Hypothesis: %s", format.line(record.hypothesis or plan.mechanism or "none"))
    local forecast = forecast_text(record, plan)
    if forecast then add(lines, "- Forecast: %s", format.line(forecast)) end
    if plan.file then add(lines, "- Plan: %s (%s), %s", plan.file, plan.hash:sub(1, 12), format.line(plan.cell)) end
    if plan.sources then add(lines, "- Sources: %s", format.line(plan.sources)) end
    for _, warning in ipairs(record.facts and record.facts.warnings or {}) do
        add(lines, "- Warning before it: %s: %s", warning.name, warning.text)
    end
end

-- What came of it.
local function add_outcome(lines, record, plan, number)
    add(lines, "- Outcome: %s: %s", record.status, format.line(record.reason))
    if is_suspicious(record, plan, number) then
        add(lines, "- Suspicion: a proven technique lost: look for an unrelated fault (alignment, a stale buffer, the "
            .. "wrong sm_*a target) before it is given up")
    end
end

-- What was written about it while it was the last one.
local function add_notes(lines, record, plan, notes)
    local n, unavailable = record.trial, record.facts and record.facts.unavailable
    local next_step = versions.outcome(record) ~= "KEEP" and plan.fallback or record.next or "none"
    add(lines, "- Profile summary: %s", said(notes, "profile", n, unavailable and "unavailable: " .. unavailable
        or "none"))
    add(lines, "- Next: %s", said(notes, "next", n, format.line(next_step)))
    for _, note in ipairs(notes) do
        local is_shown = (note.topic == "profile" or note.topic == "next") and (note.trial or n) == n
        if not is_shown then add(lines, "- Note, %s", note_line(note, n)) end
    end
end

--- The lines of an entry. `notes` are its own; `context`: over (the yardstick), baseline, opt and number, for the table
--- by workload.
function entry.lines(run, record, notes, context)
    local plan, lines = versions.plan(record), {}
    add(lines, "## %s — %s", versions.name(record.trial), format.line(plan.change or record.hypothesis
        or record.candidate or (record.trial == 0 and "baseline" or "the tree as it was")))
    add_result(lines, run, record, context.over)
    add_plan(lines, record, plan)
    add_outcome(lines, record, plan, context.number)
    add_notes(lines, record, plan, notes)
    if versions.outcome(record) == "KEEP" then
        lines[#lines + 1] = ""
        local rows = workload_table(record, context.over, context.baseline, context.opt, context.number)
        table.move(rows, 1, #rows, #lines + 1, lines)
    end
    lines[#lines + 1] = ""
    return lines
end

return entry
