-- perf_log.md: an entry a version, which never changes once the next one is there, and behind them what is rendered
-- anew each time: where the run stands and the chart.

local ending = require "policies.autodev.ending"
local entry = require "policies.autodev.entry"
local evidence = require "policies.autodev.evidence"
local format = require "ako.format"
local fs = require "ako.fs"
local logbook = require "ako.logbook"
local matrix = require "policies.autodev.matrix"
local submission = require "policies.autodev.submission"
local versions = require "policies.autodev.versions"
local watch = require "policies.autodev.watch"

local perf_log = {}

local MARK = "Rendered from the session's records after every version. Entries stay as they are; corrections stand in "
    .. "the next one."
local OWN, BESIDE = "notes/perf_log.md", "notes/perf_log.ako.md" -- the second where the user has a file of that name

-- Where the log lies: not in a file that somebody else has written.
local function path(run)
    local file = fs.join(run.workspace, OWN)
    return (not fs.exists(file) or (fs.read(file) or ""):find(MARK, 1, true)) and OWN or BESIDE
end

local function add(lines, text, ...) lines[#lines + 1] = text:format(...) end

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

-- "A", "B" or "C".
local function stage_of(run)
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
    local lines, stage = { "## Where it stands", "" }, stage_of(run)
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
        MARK, "" }
    append(lines, block_lines("Objective", facts.objective or block.objective))
    append(lines, block_lines("Hardware", facts.hardware or block.hardware))
    local notes = entry.notes(run)
    for _, record in ipairs(run.history) do
        append(lines, entry.lines(run, record, notes[record.trial] or {}, context))
    end
    append(lines, standing(run, opt, number))
    append(lines, { "", "## Chart: best speed-up by version", "", "```" })
    append(lines, perf_log.chart(run))
    append(lines, { "```", "" })
    return table.concat(lines, "\n")
end

-- The text of results/all_eval_vN.txt.
local function results(run, record)
    local over, correct, total = versions.yardstick(run.history), entry.counts(record)
    local lines = {}
    local device = run.device or {}
    add(lines, "%s %s, session %s, on %s (%s)", run.task.name, versions.name(record.trial), run.session or "none",
        device.name or "unknown", device.uuid or "unknown")
    add(lines, "commit %s, tree %s, samples in %s/samples.json", record.commit or "unknown", record.tree or "unknown",
        record.files or "unknown")
    for _, workload in ipairs(record.workloads) do
        local time = workload.time_ns
        add(lines, "%s: %s speedup=%s median=%s p95=%s max_abs=%s max_rel=%s mismatch=%s", workload.id,
            workload.status or "unknown", entry.figure(workload.speedup and workload.speedup[over]),
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
    local files = { [path(run)] = perf_log.text(run, opt, number, block) }
    for i, record in ipairs(run.history) do
        if i == #run.history or versions.outcome(record) == "KEEP" then
            local name = ("results/all_eval_%s.txt"):format(versions.name(record.trial))
            files[name] = results(run, record)
        end
    end
    if run.finished and run.finished.verified and versions.baseline(run.history) then
        files[("notes/submission_%s.md"):format(run.session)] = submission.text(run, opt, run.finished.said)
    end
    return files
end

--- The policy's lines on stdout, and the members of its JSON object.
function perf_log.lines(run, opt, number)
    local stage, last = stage_of(run), run.last
    local profile = evidence.profile(run, number)
    local members = { phase = stage, version = last and versions.name(last.trial), outcome = last
        and versions.outcome(last), class = profile and profile.class or "unclassified",
        strategy = (matrix.phase(run, number)), warnings = watch.active(run, opt, number) }
    local lines = { ("%s %s; phase %s; log in %s"):format(members.version or "no version",
        members.outcome or "", STAGES[stage]:format(#run.history, opt.experiments), path(run)) }
    for _, warning in ipairs(members.warnings) do
        lines[#lines + 1] = ("warning: %s: %s"):format(warning.name, warning.text)
    end
    return lines, members
end

return perf_log
