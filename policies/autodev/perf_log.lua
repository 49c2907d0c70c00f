-- perf_log.md: an entry a version, which never changes once the next one is there, and behind them what is rendered
-- anew each time: where the run stands and the chart.

local ending = require "policies.autodev.ending"
local evidence = require "policies.autodev.evidence"
local format = require "ako.format"
local logbook = require "ako.logbook"
local matrix = require "policies.autodev.matrix"
local submission = require "policies.autodev.submission"
local trial = require "ako.trial"
local versions = require "policies.autodev.versions"
local watch = require "policies.autodev.watch"

local perf_log = {}

local function add(lines, text, ...) lines[#lines + 1] = text:format(...) end

local function figure(value) return value and ("%.3fx"):format(value) or "unknown" end

-- Entries

-- The notes of each entry, by its trial: that which was the last one when they were written, for those before are
-- closed. What was noted before the baseline is the baseline's.
local function notes_by_entry(run)
    local by_entry = {}
    for _, note in ipairs(run.notes or {}) do
        local place = note.after or note.trial or 0
        by_entry[place] = by_entry[place] or {}
        table.insert(by_entry[place], note)
    end
    return by_entry
end

local function counts(record)
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
            texts[#texts + 1] = note_line(note, n):gsub("^[^:]*: ", "")
        end
    end
    return #texts > 0 and table.concat(texts, "; ") or fallback
end

local function percent(gain) return gain and ("%+.1f %%"):format(gain) or "unknown" end

-- What each workload gained on the best before it, and how far its error is from the baseline's.
function perf_log.workloads(record, over, baseline, opt, number)
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

-- One entry; `notes` are those that were written while it was the last.
local function entry(run, record, notes, context)
    local n, plan, facts, lines = record.trial, versions.plan(record), record.facts or {}, {}
    local outcome, correct, total = versions.outcome(record), counts(record)
    local average, least, most = speedups(record, context.over)
    add(lines, "## %s — %s", versions.name(n), format.line(plan.change or record.hypothesis or record.candidate
        or (n == 0 and "baseline" or "the tree as it was")))
    add(lines, "- Status: %s%s", outcome, override_text(record))
    add(lines, "- Date: %s", os.date("!%Y-%m-%d %H:%M:%S UTC", record.time_s))
    add(lines, "- Commit: %s (refs/ako/%s/%d)", (record.commit or ""):sub(1, 12), run.session or "", n)
    add(lines, "- Speedup: avg %s, min %s, max %s%s (%d CORRECT / %d total)", figure(average), figure(least),
        figure(most), average and " over the " .. context.over or "", correct, total)
    add(lines, "- Change: %s", format.line(plan.change or record.candidate or "none"))
    add(lines, "- Hypothesis: %s", format.line(record.hypothesis or plan.mechanism or "none"))
    local forecast = forecast_text(record, plan)
    if forecast then add(lines, "- Forecast: %s", format.line(forecast)) end
    if plan.file then add(lines, "- Plan: %s (%s), %s", plan.file, plan.hash:sub(1, 12), format.line(plan.cell)) end
    if plan.sources then add(lines, "- Sources: %s", format.line(plan.sources)) end
    for _, warning in ipairs(facts.warnings or {}) do
        add(lines, "- Warning before it: %s: %s", warning.name, warning.text)
    end
    add(lines, "- Outcome: %s: %s", record.status, format.line(record.reason))
    if is_suspicious(record, plan, context.number) then
        add(lines, "- Suspicion: a proven technique lost: look for an unrelated fault (alignment, a stale buffer, the "
            .. "wrong sm_*a target) before it is given up")
    end
    add(lines, "- Profile summary: %s", said(notes, "profile", n, facts.unavailable
        and "unavailable: " .. facts.unavailable or "none"))
    add(lines, "- Next: %s", said(notes, "next", n, format.line(outcome ~= "KEEP" and plan.fallback
        or record.next or "none")))
    for _, note in ipairs(notes) do
        local is_shown = (note.topic == "profile" or note.topic == "next") and (note.trial or n) == n
        if not is_shown then add(lines, "- Note, %s", note_line(note, n)) end
    end
    if outcome == "KEEP" then
        lines[#lines + 1] = ""
        local list = perf_log.workloads(record, context.over, context.baseline, context.opt, context.number)
        table.move(list, 1, #list, #lines + 1, lines)
    end
    lines[#lines + 1] = ""
    return lines
end

-- What is rendered anew

--- The chart of KEEPs: the best speed-up by then.
function perf_log.chart(run)
    local over, best, points = versions.yardstick(run.history), 0, {}
    local baseline = versions.baseline(run.history)
    for _, record in ipairs(run.history) do
        if record == baseline or (baseline and versions.outcome(record) == "KEEP") then
            best = math.max(best, record.speedup[over] or 0)
            points[#points + 1] = { label = versions.name(record.trial), y = best }
        end
    end
    return logbook.chart(points)
end

--- "A", "B" or "C".
function perf_log.stage(run)
    if run.finished then return "C" end
    return versions.baseline(run.history) and "B" or "A"
end

local STAGES = { A = "A, setup: a correct baseline is wanted", B = "B, the loop: experiment %d of %d",
    C = "C, submission" }

local function strategy_lines(lines, run, number)
    local profile = evidence.profile(run, number)
    local class = profile and profile.class or "unclassified"
    local phase, why = matrix.phase(run, number)
    add(lines, "- Class: %s%s (%s)", class, profile and profile.both and ", compute and bandwidth both" or "",
        profile and profile.file or "no profile with figures")
    add(lines, "- Phase of the matrix: %s%s", phase, why and (" (%s)"):format(why) or "")
    for _, hint in ipairs(matrix.hints(profile and profile.fields.stalls)) do add(lines, "- Stall, %s", hint) end
    for _, name in ipairs(matrix.TECHNIQUES[class] and { class } or matrix.CLASSES) do
        add(lines, "- To try, %s / %s: %s", name, phase, matrix.TECHNIQUES[name][phase])
    end
end

local function standing(run, opt, number)
    local lines, stage = { "## Where it stands", "" }, perf_log.stage(run)
    add(lines, "- Phase: " .. STAGES[stage], #run.history, opt.experiments)
    if stage == "A" then return lines end
    if stage == "B" then
        strategy_lines(lines, run, number)
        local left = matrix.left(run)
        add(lines, "- Tactical sweep: %d of %d done%s", #matrix.SWEEP - #left, #matrix.SWEEP,
            left[1] and ", next: " .. left[1] or "")
        for _, due in ipairs { evidence.missing_profile(run, opt, number) or "",
            evidence.missing_search(run, number.search) or "" } do
            if due ~= "" then add(lines, "- Due: %s", due) end
        end
        for _, warning in ipairs(watch.active(run, opt, number)) do
            add(lines, "- Warning: %s: %s", warning.name, warning.text)
        end
        if opt.target > 0 then
            add(lines, "- Missing for an early end: %s", table.concat(ending.missing(run, opt, number), "; "))
        end
    else
        add(lines, "- Ended: %s", run.finished.ended or "by hand")
    end
    return lines
end

local function block_lines(title, block)
    local lines = { "## " .. title, "" }
    for _, line in ipairs(block or {}) do
        add(lines, "- %s: %s%s", line[1], format.line(line[2]), line[3] and (" (%s)"):format(line[3]) or "")
    end
    lines[#lines + 1] = ""
    return lines
end

local function append(lines, list) table.move(list, 1, #list, #lines + 1, lines) end

--- The text of perf_log.md. `block`: what is in front where the first record has none: { objective, hardware }.
function perf_log.text(run, opt, number, block)
    local baseline = versions.baseline(run.history)
    local facts = run.history[1] and run.history[1].facts or block
    local context = { over = versions.yardstick(run.history), baseline = baseline, opt = opt, number = number }
    local lines = { ("# Performance log: %s, session %s"):format(run.task.name, run.session or "none"), "",
        "Rendered from the session's records after every version. Entries stay as they are; corrections stand in the "
        .. "next one.", "" }
    append(lines, block_lines("Objective", facts.objective or block.objective))
    append(lines, block_lines("Hardware", facts.hardware or block.hardware))
    local notes = notes_by_entry(run)
    for _, record in ipairs(run.history) do
        append(lines, entry(run, record, notes[record.trial] or {}, context))
    end
    append(lines, standing(run, opt, number))
    append(lines, { "", "## Chart: best speed-up by version", "", "```" })
    append(lines, perf_log.chart(run))
    append(lines, { "```", "" })
    return table.concat(lines, "\n")
end

--- The text of results/all_eval_vN.txt.
function perf_log.results(run, record)
    local over, correct, total = versions.yardstick(run.history), counts(record)
    local lines = {}
    local device = run.device or {}
    add(lines, "%s %s, session %s, on %s (%s)", run.task.name, versions.name(record.trial), run.session or "none",
        device.name or "unknown", device.uuid or "unknown")
    add(lines, "commit %s, tree %s, samples in %s/samples.json", record.commit or "unknown", record.tree or "unknown",
        record.files or "unknown")
    for _, workload in ipairs(record.workloads) do
        local time = workload.time_ns
        add(lines, "%s: %s speedup=%s median=%s p95=%s max_abs=%s max_rel=%s mismatch=%s", workload.id,
            workload.status or "unknown", figure(workload.speedup and workload.speedup[over]),
            format.duration(time and time.median), format.duration(time and time.p95),
            workload.max_abs or "unknown", workload.max_rel or "unknown", workload.mismatch or "unknown")
    end
    append(lines, { "", "=== SUMMARY ===" })
    add(lines, "status: %s", record.status)
    add(lines, "verdict: %s", versions.outcome(record))
    add(lines, "reason: %s", format.line(record.reason))
    add(lines, "speedup_over: %s", over)
    add(lines, "speedup_geomean: %s", record.speedup[over] and ("%.4f"):format(record.speedup[over]) or "unknown")
    add(lines, "all_correct: %s (%d CORRECT / %d total)", tostring(total > 0 and correct == total), correct, total)
    lines[#lines + 1] = ""
    return table.concat(lines, "\n")
end

--- The files of a run, { [path] = text }: the log, the evaluations of the KEEPs and of the last version, and at the end
--- the submission.
function perf_log.files(run, opt, number, block)
    local files = { ["notes/perf_log.md"] = perf_log.text(run, opt, number, block) }
    for i, record in ipairs(run.history) do
        if i == #run.history or versions.outcome(record) == "KEEP" then
            local path = ("results/all_eval_%s.txt"):format(versions.name(record.trial))
            files[path] = perf_log.results(run, record)
        end
    end
    if run.finished and run.finished.verified and versions.baseline(run.history) then
        files[("notes/submission_%s.md"):format(run.session)] = submission.text(run, opt, run.finished.said)
    end
    return files
end

--- The policy's lines on stdout, and the members of its JSON object.
function perf_log.lines(run, opt, number)
    local stage, last = perf_log.stage(run), run.last
    local profile = evidence.profile(run, number)
    local members = { phase = stage, version = last and versions.name(last.trial), outcome = last
        and versions.outcome(last), class = profile and profile.class or "unclassified",
        strategy = (matrix.phase(run, number)), warnings = watch.active(run, opt, number) }
    local lines = { ("%s %s; phase %s; log in notes/perf_log.md"):format(members.version or "no version",
        members.outcome or "", STAGES[stage]:format(#run.history, opt.experiments)) }
    for _, warning in ipairs(members.warnings) do
        lines[#lines + 1] = ("warning: %s: %s"):format(warning.name, warning.text)
    end
    return lines, members
end

return perf_log
