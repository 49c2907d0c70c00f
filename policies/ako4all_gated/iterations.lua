-- ITERATIONS.md: every trial with its hypothesis, figures and decision, rendered from the records. People and agents
-- write notes; no figure in here was typed.

local contract = require "policies.ako4all_gated.contract"
local format = require "ako.format"
local gates = require "ako.gates"
local lanes = require "policies.ako4all_gated.lanes"
local logbook = require "ako.logbook"
local shapes = require "policies.ako4all_gated.shapes"
local trial = require "ako.trial"
local validation = require "policies.ako4all_gated.validation"

local iterations = {}

local function append(lines, more) table.move(more, 1, #more, #lines + 1, lines) end
local function item(name, value) return ("- **%s**: %s"):format(name, format.line(value or "unknown")) end

--- A note in words, with its file; "unavailable" and why where there is none.
function iterations.note_text(note, otherwise)
    if not note then return otherwise or "none" end
    local file = note.file and (" [%s%s]"):format(note.file, note.hash and ", " .. note.hash:sub(1, 12) or "") or ""
    return format.line((note.text or "") .. file)
end

local note_text = iterations.note_text

local function note_about(run, topic, first, last)
    return gates.find(run, topic, { first = first, last = last, evidence = topic == "ncu" or topic == "nsys" })
end

-- The shapes of a record as a table in Markdown.
local function shape_table(record)
    local rows = {}
    for i, row in ipairs(shapes.rows(record)) do
        local function cell(pattern, value) return value and pattern:format(value) or "-" end
        rows[i] = { row.id, row.role, cell("%g", row.weight), cell("%.2f", row.median_us), cell("%.2f", row.p95_us),
            cell("%.2f", row.min_us), cell("%.2e", row.max_abs), cell("%.2e", row.max_rel) }
    end
    return logbook.table({ "shape", "", "weight", "median_us", "p95_us", "min_us", "max_abs", "max_rel" }, rows)
end

local function hot_of(record)
    local names = {}
    for _, row in ipairs(record and shapes.rows(record) or {}) do
        if row.role == "hot" then names[#names + 1] = row.id end
    end
    return #names > 0 and table.concat(names, "; ") or nil
end

local function head(run, fields)
    local device, task = run.device or {}, run.task or {}
    return { "# Iterations of " .. (task.name or "the task"), "",
        item("Kernel", table.concat(task.solution or {}, ", ") .. (fields.kernel and ": " .. fields.kernel or "")),
        item("Lane", lanes.of_record(run.best or run.original)),
        item("Device", ("%s, %s, %s"):format(device.name or "unknown", device.arch or "-", device.uuid or "-")),
        item("Shape", fields.shape), item("Dtype", fields.dtype), item("Layout", fields.layout),
        item("Hot shape", hot_of(run.original)),
        item("Bottleneck", note_text(gates.find(run, "bottleneck"), "unknown (note --topic=bottleneck)")),
        item("Reference", table.concat(task.reference or {}, ", ")), item("Best baseline known", fields.baseline),
        item("Harness checkout", run.original and run.original.facts and run.original.facts.checkout), "" }
end

local function baseline(run)
    local record, settings = run.original, run.settings
    if not record then return {} end
    local lines = { "## Baseline", "",
        ("%s: %d warm-ups, %d launches, %s; p95 by linear interpolation between the two nearest samples"):format(
            record.status, settings.warmup, settings.launches, settings.flush and "cold L2" or "warm L2"), "" }
    append(lines, shape_table(record))
    append(lines, { "", item("ncu", note_text(note_about(run, "ncu", -1, 0), "not recorded yet")),
        item("nsys", note_text(note_about(run, "nsys", -1, 0))), "" })
    return lines
end

local function figures(record)
    local time = record.time_ns
    if not time then return "not timed" end
    local gain = trial.gain(record)
    return ("median %s%s, p95 %s; %s over the original, %s over the reference"):format(format.duration(time.median),
        gain and (" (%+.1f %% against trial %d)"):format(gain, record.against or 0) or "", format.duration(time.p95),
        format.ratio(record.speedup.original), format.ratio(record.speedup.reference))
end

local NOTED = { { "ncu", "ncu" }, { "nsys", "nsys" }, { "direction", "Direction" }, { "reread", "Log read again" },
    { "operator", "Operator" }, { "model", "Model" } }

-- Notes about a trial; those with no heading of their own come last.
local function notes_about(run, n)
    local lines = {}
    for _, entry in ipairs(NOTED) do
        local note = note_about(run, entry[1], n, n)
        if note then lines[#lines + 1] = item(entry[2], note_text(note)) end
    end
    for _, note in ipairs(run.notes) do
        if note.trial == n and not note.topic then lines[#lines + 1] = item("Note", note_text(note)) end
    end
    return lines
end

local function entry(run, record, opt)
    local facts = record.facts or {}
    local lines = { ("### Iter %d: %s"):format(record.trial, record.hypothesis or record.candidate or "untitled"), "",
        item("Hypothesis", record.hypothesis or record.candidate),
        item("Change", ("commit %s, %s"):format((record.commit or "none"):sub(1, 12),
            record.size and format.count(record.size.lines, "line") or "size unknown")),
        item("Correctness", record.status .. (record.status ~= "PASSED" and ": " .. record.reason or "")),
        item("Microbench", figures(record)), item("Decision", shapes.decision(run, record, opt.flag)) }
    if facts.lane_from then
        lines[#lines + 1] = item("Lane switch", ("%s to %s: %s"):format(facts.lane_from, facts.lane, facts.lane_why))
    end
    append(lines, notes_about(run, record.trial))
    lines[#lines + 1] = ""
    return lines
end

local function summary(run, opt)
    local rows = {}
    for i, record in ipairs(run.history) do
        rows[i] = { record.trial, record.hypothesis or record.candidate or "baseline", record.status,
            record.time_ns and format.duration(record.time_ns.median) or "-", format.ratio(record.speedup.original),
            lanes.of_record(record) or "-", (shapes.decision(run, record, opt.flag):match("^[^:]*")) }
    end
    local lines = { "## Summary", "" }
    append(lines, logbook.table({ "iter", "hypothesis", "status", "median", "over the original", "lane", "decision" },
        rows))
    lines[#lines + 1] = ""
    return lines
end

--- The validation checklist as lines in Markdown.
function iterations.checklist(run)
    local lines = {}
    for i, entry_of in ipairs(validation.list(run)) do
        lines[i] = ("- [%s] %s: %s (%s)"):format(entry_of.missing and " " or "x", entry_of.name, entry_of.text,
            entry_of.missing or note_text(entry_of.note))
    end
    return #lines > 0 and lines or { "Nothing to port back yet." }
end

--- The text of ITERATIONS.md.
function iterations.text(run, opt)
    local lines = head(run, contract.read(run))
    append(lines, baseline(run))
    append(lines, summary(run, opt))
    for _, record in ipairs(run.history) do
        if record.trial > 0 then append(lines, entry(run, record, opt)) end
    end
    append(lines, { "## Before it is done", "" })
    append(lines, iterations.checklist(run))
    append(lines, { "", item("Root cause", note_text(gates.find(run, "cause"), "unknown (note --topic=cause)")) })
    return table.concat(lines, "\n") .. "\n"
end

return iterations
