-- ITERATIONS.md and trajectory/: renderings of the session's records. Every figure is one that was measured; people
-- write hypotheses and notes, and nothing else in here.

local format = require "ako.format"
local fs = require "ako.fs"
local git = require "ako.git"
local hints = require "policies.ako4all.hints"
local logbook = require "ako.logbook"
local stopping = require "policies.ako4all.stopping"
local trial = require "ako.trial"

local log = {}

local MARK = "<!-- Rendered by ako-lua after each trial; write with `ako-lua policies/ako4all.lua note`. -->"
local OWN, BESIDE = "ITERATIONS.md", "ITERATIONS.ako.md" -- the second where the user has a file of the first name
local STALL = { profile = "re-profiled", statistics = "statistics read again", search = "searched",
    review = "log reviewed" }

--- Where the log lies: not in a file of that name that somebody else has written.
function log.path(run)
    local file = fs.join(run.workspace, OWN)
    return (not fs.exists(file) or (fs.read(file) or ""):find(MARK, 1, true)) and OWN or BESIDE
end

-- Figures

local function ms(ns) return ns and ("%.4f ms"):format(ns / 1e6) or "unknown" end
local function times(value) return value and ("%.2fx"):format(value) or "unknown" end

local function between(low, high, text) return low and high and (" (%s ~ %s)"):format(text(low), text(high)) or "" end

-- Over the reference: figures of the same trial, the ends from the slowest and the fastest launch.
local function speedup_text(record)
    local speedup, reference, time = record.speedup.reference, record.reference_ns, record.time_ns
    if not speedup then return "unknown over the reference" end
    local ends = reference and time and between(reference.mean / time.max, reference.mean / time.min, times) or ""
    return times(speedup) .. ends .. " over the reference"
end

--- What became of a trial, computed: improved, no-change, regression or failed.
function log.status(record)
    if record.trial == 0 then return record.status == "PASSED" and "baseline" or "failed" end
    if record.status ~= "PASSED" then return "failed" end
    if trial.verdict(record) == "keep" then return "improved" end
    local paired = record.paired
    local high = paired and paired.interval and paired.interval[2]
    if high then return high < 0 and "regression" or "no-change" end
    local gain = trial.gain(record)
    return gain and gain < 0 and "regression" or "no-change"
end

local function title(record)
    if record.trial == 0 then return "the original kernel" end
    return format.line(record.hypothesis or record.candidate or "the tree as it was")
end

local function row(record)
    local status = log.status(record)
    if record.override then status = ("%s (%s by hand)"):format(status, record.override) end
    if record.signal then status = status .. " (signal)" end
    return { record.trial, title(record), times(record.speedup.reference), ms(record.time_ns and record.time_ns.mean),
        status }
end

-- Notes

local ANALYSIS, NEXT = { analysis = true, [""] = true }, { next = true, idea = true }
local PROFILE = { profile = true, statistics = true }

local function note_text(note)
    return format.line(note.text) .. (note.file and (" [%s]"):format(note.file) or "")
end

-- By the number of the trial that they are about.
local function sorted_notes(run)
    local by_trial = {}
    for _, note in ipairs(run.notes) do
        local n = note.trial or 0
        by_trial[n] = by_trial[n] or {}
        table.insert(by_trial[n], note)
    end
    return by_trial
end

-- The texts of those with one of these topics.
local function texts_of(notes, topics)
    local texts = {}
    for _, note in ipairs(notes) do
        if topics[note.topic or ""] then texts[#texts + 1] = note_text(note) end
    end
    return texts
end

-- An entry

local function size_text(record, history)
    local size = record.size
    local before = record.against and history[record.against + 1]
    if not size then return nil end
    if not before or not before.size then return format.count(size.lines, "line") end
    return ("%+d lines, %+d branches, %+d knobs against iter %d"):format(size.lines - before.size.lines,
        size.branches - before.size.branches, size.knobs - before.size.knobs, record.against)
end

local function changes_text(record, run)
    local parts = { table.concat(run.task.solution, ", ") }
    parts[#parts + 1] = size_text(record, run.history)
    parts[#parts + 1] = ("`show %d`"):format(record.trial)
    return table.concat(parts, "; ")
end

local function bench_lines(record)
    local time = record.time_ns
    local lines = { "- Compiled: " .. (record.machine_code and "True" or "False"),
        "- Correct: " .. (record.status == "PASSED" and "True" or "False"),
        "- Runtime mean: " .. ms(time and time.mean) .. (time and between(time.min, time.max, ms) or ""),
        "- Speedup mean: " .. speedup_text(record) }
    local faster = record.trial > 0 and record.speedup.best
    if faster then
        lines[#lines + 1] = ("- Against iter %d: %s; against the original: %s"):format(record.against or 0,
            format.ratio(faster), format.ratio(record.speedup.original))
    end
    if record.signal then
        lines[#lines + 1] = ("- Signal run: %s, %d launches, reference %s"):format(
            format.count(record.signal.trials, "correctness trial"), record.signal.launches,
            record.signal.reference and "timed" or "not timed")
    end
    local own = record.bench
    if own then
        local figure = own.claimed and own.claimed.figure
        lines[#lines + 1] = ("- Your bench: %s%s%s"):format(own.how, figure and (", claims %g"):format(figure) or "",
            own.refused and "; refused: " .. format.line(own.refused) or "")
    end
    return lines
end

local function profiler_text(notes, run)
    local texts = texts_of(notes, PROFILE)
    if #texts > 0 then return table.concat(texts, "; ") end
    local probed = run.history[2] and run.history[2].facts and run.history[2].facts.ncu
    return probed and "ncu " .. probed or "not probed yet"
end

local function analysis_text(record, notes)
    local texts = texts_of(notes, ANALYSIS)
    local verdict = ("%s: %s"):format(record.verdict, record.reason)
    local gain = trial.gain(record)
    if record.predict then
        verdict = ("%s; predicted %+.1f %%, measured %s"):format(verdict, record.predict,
            gain and ("%+.1f %%"):format(gain) or "nothing")
    end
    if record.override then
        verdict = ("%s; %s by hand: %s"):format(verdict, record.override, record.override_reason or "")
    end
    table.insert(texts, 1, verdict)
    return format.line(table.concat(texts, "; "))
end

local function next_text(record, notes)
    local texts = texts_of(notes, NEXT)
    return #texts > 0 and table.concat(texts, "; ") or format.line(record.next or "none")
end

local function entry(lines, record, run, notes)
    lines[#lines + 1] = ""
    lines[#lines + 1] = ("### Iter %d — %s"):format(record.trial, title(record))
    lines[#lines + 1] = ""
    lines[#lines + 1] = "**Hypothesis**: " .. (record.trial == 0 and "none, this is where it starts"
        or format.line(record.hypothesis or "none given"))
    lines[#lines + 1] = "**Changes**: " .. changes_text(record, run)
    lines[#lines + 1] = "**Bench**:"
    for _, line in ipairs(bench_lines(record)) do lines[#lines + 1] = line end
    lines[#lines + 1] = "**Profiler**: " .. profiler_text(notes, run)
    lines[#lines + 1] = "**Analysis**: " .. analysis_text(record, notes)
    lines[#lines + 1] = "**Next**: " .. next_text(record, notes)
end

-- The file

local function head(run)
    local best, lines = run.best, { "# Iterations", MARK, "" }
    lines[#lines + 1] = ("- Task: %s on %s; session %s"):format(run.task.name, run.device.name or run.device.id,
        run.session)
    local verified = best and run.finished and run.finished.verified
    local is_of_best = verified and verified.trial == best.trial -- an override may have come behind the end
    if best and best.trial == 0 then
        lines[#lines + 1] = "- Best: the original kernel, still"
    elseif best then
        lines[#lines + 1] = ("- Best: iter %d, %s over the original%s"):format(best.trial,
            format.ratio((is_of_best and verified or best).speedup.original), is_of_best and ", verified at the end"
            or verified and ", by hand after the end, not verified" or "")
    end
    for _, directive in ipairs(hints.read(fs.read(fs.join(run.workspace, hints.FILE)))) do
        lines[#lines + 1] = ("- Hint: %s (from %s)"):format(directive.text, directive.source)
    end
    if run.finished and run.finished.ended then lines[#lines + 1] = "- Ended: " .. run.finished.ended end
    return lines
end

local function reassessments(run)
    local texts = {}
    for _, note in ipairs(run.notes) do
        local what = STALL[note.topic or ""]
        if what then
            texts[#texts + 1] = ("- after iter %d, %s: %s"):format(note.trial or 0, what, note_text(note))
        end
    end
    return texts
end

local function directions(run)
    local texts = {}
    for i, direction in ipairs(stopping.directions(run)) do
        texts[i] = ("- %s (iter %d)"):format(format.line(direction.text), direction.trial)
    end
    return texts
end

local function section(lines, name, texts)
    if #texts == 0 then return end
    for _, line in ipairs { "", "## " .. name, "" } do lines[#lines + 1] = line end
    table.move(texts, 1, #texts, #lines + 1, lines)
end

local function text_of(run)
    local lines, rows, entries, notes = head(run), {}, {}, sorted_notes(run)
    for i, record in ipairs(run.history) do
        rows[i] = row(record)
        entry(entries, record, run, notes[record.trial] or {})
    end
    section(lines, "Summary", logbook.table({ "Iter", "Title", "Speedup(mean)", "Runtime(mean)", "Status" }, rows))
    section(lines, "Re-assessments", reassessments(run))
    section(lines, "Directions tried", directions(run))
    section(lines, "Entries", table.move(entries, 2, #entries, 1, {}))
    return table.concat(lines, "\n") .. "\n"
end

-- Trajectories

local function label_of(record)
    if record.trial == 0 then return "baseline" end
    return "iter-" .. record.trial
end

local function stamp(record) return os.date("!%Y%m%d_%H%M%S", record.time_s or 0) end

-- The files as they were tried, from the attempt's own commit.
local function add_sources(files, folder, run, record)
    local repo = git.open(run.workspace)
    for _, name in ipairs(run.task.solution) do
        local text = repo and record.commit and repo:read(record.commit, name)
        if text then files[("%s/%s"):format(folder, (name:gsub("^solution/", "")))] = text end
    end
    if repo then repo:close() end
end

local function output_of(lines, record)
    lines[#lines + 1] = ("VERDICT: %s: %s"):format(record.verdict, format.line(record.reason))
    local time = record.time_ns
    if time then
        lines[#lines + 1] = ("STATISTICS: mean %s, min %s, max %s, std %s, n %s"):format(ms(time.mean), ms(time.min),
            ms(time.max), ms(time.std), time.n)
    end
    return table.concat(lines, "\n") .. "\n"
end

-- The folder of the last trial, and of the verification at the end; earlier ones lie there already.
local function add_trajectory(files, run, lines_of)
    local last = run.history[#run.history]
    if not last then return end
    local record, label = last, label_of(last)
    if run.finished and run.best then record, label = run.finished.verified, "final" end
    local folder = ("trajectory/%s_%s"):format(stamp(last), label)
    add_sources(files, folder, run, record)
    files[folder .. "/output.txt"] = output_of(lines_of(record), record)
    local own = label ~= "final" and last.files and fs.read(fs.join(fs.join(run.workspace, last.files), "bench.log"))
    if own then files[folder .. "/bench.txt"] = format.utf8(own) end
end

--- The hook `logs`. lines_of(record) gives the lines that a bench prints.
function log.files(run, lines_of)
    local files = { [log.path(run)] = text_of(run) }
    add_trajectory(files, run, lines_of)
    return files
end

--- The first line of a trial's commit.
function log.subject(record)
    if record.trial > 0 then return ("[iter %d] %s"):format(record.trial, title(record)) end
    if record.status == "PASSED" then return "[baseline] Initialize solution and benchmark" end
    return "[baseline] failed: " .. record.status
end

--- The message of the last commit: nil where nothing was tried.
function log.final(run)
    local best, verified = run.best, run.finished.verified
    if #run.history < 2 or not best then return nil end
    local speedup = verified.speedup.reference or verified.speedup.original
    speedup = speedup and ("%.2fx"):format(speedup) or "-"
    local time = verified.time_ns
    local why = best.trial == 0 and "nothing that was tried is faster"
        or ("fastest of %d, %s over the original"):format(run.trials, format.ratio(verified.speedup.original))
    if time then why = ("%s, mean %s, min %s"):format(why, ms(time.mean), ms(time.min)) end
    if time and time.std then why = ("%s, std %s"):format(why, ms(time.std)) end
    if verified.status ~= "PASSED" then why = ("%s; its verification: %s"):format(why, verified.status) end
    return format.line(("[final] Restore iter-%d (%s) — %s"):format(best.trial, speedup, why))
end

return log
