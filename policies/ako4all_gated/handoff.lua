-- HANDOFF.md: the report at the end, in seven parts, rendered from the records.

local contract = require "policies.ako4all_gated.contract"
local format = require "ako.format"
local gates = require "ako.gates"
local iterations = require "policies.ako4all_gated.iterations"
local lanes = require "policies.ako4all_gated.lanes"
local logbook = require "ako.logbook"
local references = require "policies.ako4all_gated.references"
local shapes = require "policies.ako4all_gated.shapes"
local validation = require "policies.ako4all_gated.validation"

local handoff = {}

-- Fields of the contract that somebody who ports the kernel must keep true.
local ASSUMPTIONS = { "Shape", "Dtype", "Layout", "Alignment", "Architecture" }

local note_text = iterations.note_text

local function append(lines, more) table.move(more, 1, #more, #lines + 1, lines) end

local function read(run)
    local rows = {}
    for i, receipt in ipairs(references.read(run)) do
        rows[i] = { receipt.document, receipt.source or "not read", receipt.hash or "-" }
    end
    return logbook.table({ "document", "read as", "hash" }, rows)
end

local function lane_and_files(run, fields)
    local best, lines = run.best, {}
    lines[1] = "- **Lane**: " .. (lanes.of_record(best) or "unknown")
    for _, record in ipairs(run.history) do
        local facts = record.facts or {}
        if facts.lane_from then
            lines[#lines + 1] = ("- **Lane switch**: trial %d, from %s to %s: %s"):format(record.trial, facts.lane_from,
                facts.lane, facts.lane_why)
        end
    end
    local port = gates.find(run, "port", { first = best.trial, last = best.trial })
    append(lines, { "- **Files**: " .. table.concat(run.task.solution, ", "),
        ("- **The winner**: trial %d, commit %s, tree %s"):format(best.trial, best.commit, best.tree),
        ("- **The old path**: input/, and refs/ako/%s/0"):format(run.session),
        "- **Ported to**: " .. note_text(port, "not yet") })
    for _, name in ipairs(ASSUMPTIONS) do
        local value = format.line(fields[name:lower()] or "unknown")
        lines[#lines + 1] = ("- **Assumes %s**: %s"):format(name:lower(), value)
    end
    return lines
end

-- The record that says how good the best is: its verification, or, where an override behind the end has made another
-- trial the best, that trial itself.
local function measured(run)
    local verified = run.finished.verified
    local is_of_best = verified.trial == run.best.trial
    return is_of_best and verified or run.best, is_of_best and "At the end" or "Not verified, as tried"
end

local function correctness(run, record, when)
    local allowed, max_abs, max_rel = run.tolerance or { predicate = "unknown", atol = 0, rtol = 0 }, 0.0, 0.0
    for _, row in ipairs(shapes.rows(record)) do
        max_abs, max_rel = math.max(max_abs, row.max_abs or 0), math.max(max_rel, row.max_rel or 0)
    end
    local lines = { ("%s: %s. Before each timing %s on fresh inputs, against %s."):format(when, record.status,
        format.count(run.settings.checks, "check"), table.concat(run.task.reference, ", ")),
        ("Allowed: %s, atol %g, rtol %g; found at most: max_abs %.2e, max_rel %.2e."):format(allowed.predicate,
            allowed.atol, allowed.rtol, max_abs, max_rel), "" }
    append(lines, iterations.checklist(run))
    return lines
end

local function by_id(record)
    local rows = {}
    for _, row in ipairs(shapes.rows(record)) do rows[row.id] = row end
    return rows
end

local function cell(pattern, value) return value and pattern:format(value) or "-" end

-- The original and the best, shape by shape, as the last measurement of the best has them.
local function compared(run, record)
    local before, speedups, rows = by_id(run.original), {}, {}
    for _, workload in ipairs(record.workloads) do speedups[workload.id] = workload.speedup or {} end
    for i, row in ipairs(shapes.rows(record)) do
        local old = before[row.id] or {}
        local speedup = speedups[row.id]
        rows[i] = { row.id, row.role, cell("%.2f", old.median_us), cell("%.2f", old.p95_us),
            cell("%.2f", row.median_us), cell("%.2f", row.p95_us), cell("%.3fx", speedup.original),
            cell("%.3fx", speedup.reference) }
    end
    local lines = logbook.table({ "shape", "", "baseline median_us", "p95_us", "optimized median_us", "p95_us",
        "over the original", "over the reference" }, rows)
    lines[#lines + 1] = ("\nOver all shapes: %s over the original, %s over the reference, on %s (%s)."):format(
        format.ratio(record.speedup.original), format.ratio(record.speedup.reference), run.device.name or "unknown",
        run.device.uuid or "no UUID")
    return lines
end

local function profile(run)
    local n, lines = run.best.trial, {}
    for _, topic in ipairs { "ncu", "nsys" } do
        local before = gates.find(run, topic, { last = 0, evidence = true })
        local after = n > 0 and gates.find(run, topic, { first = n, last = n, evidence = true }) or nil
        lines[#lines + 1] = ("- **%s, baseline**: %s"):format(topic, note_text(before))
        lines[#lines + 1] = ("- **%s, winner**: %s"):format(topic, note_text(after))
    end
    lines[#lines + 1] = "- **Root cause**: " .. note_text(gates.find(run, "cause"), "unknown")
    return lines
end

-- The register: what is known without anybody's note, then the notes.
local function risks(run, opt, fields)
    local lines, best = {}, run.best
    local function risk(name, text) lines[#lines + 1] = ("- **%s**: %s"):format(name, format.line(text)) end
    risk("Architectures", ("measured on %s alone; wanted: %s"):format(run.device.arch or "an unknown one",
        fields.architecture or "unknown"))
    risk("Layouts", "checked as the task has them; wanted: " .. (fields.layout or "unknown"))
    risk("Dtype variants", fields["dtype variants"] or "unknown")
    risk("Tail shapes", fields["tail shapes"] or "unknown")
    local before = best.against and run.history[best.against + 1]
    for _, flag in ipairs(best.trial > 0 and shapes.flags(best, before, opt.flag) or {}) do risk("Flagged", flag) end
    for _, item in ipairs(validation.list(run)) do
        if item.missing then risk("Not validated", ("%s: %s"):format(item.name, item.missing)) end
    end
    for _, note in ipairs(run.notes) do
        if note.topic == "risk" then risk("Noted", note_text(note)) end
    end
    return lines
end

--- The text of HANDOFF.md, of a finished run with a best.
function handoff.text(run, opt)
    local fields, record, when = contract.read(run), measured(run)
    local missing = validation.missing(run, opt.transfer)
    local lines = { "# Hand-off of " .. run.task.name, "",
        ("Status: %s. Session %s, ended: %s"):format(missing and "not done, " .. missing or "done", run.session,
            run.finished.ended or "by hand") }
    local function part(title, body)
        append(lines, { "", "## " .. title, "" })
        append(lines, body)
    end
    part("1. References read", read(run))
    part("2. Lane, files, port-back", lane_and_files(run, fields))
    part("3. Correctness and validation", correctness(run, record, when))
    part("4. Baseline against optimized", compared(run, record))
    part("5. Iterations", { ("ITERATIONS.md has all %s; each is a commit on the session's branch, and refs/ako/%s/N.")
        :format(format.count(#run.history - 1, "trial"), run.session) })
    part("6. Profile", profile(run))
    part("7. Remaining risks", risks(run, opt, fields))
    return table.concat(lines, "\n") .. "\n"
end

return handoff
