-- The account of a whole session, finished or not: what it began with, what it has, every trial, and what was said
-- about them. It is made once, as facts and sections, and shown as text for a terminal or as Markdown.

local format = require "ako.format"
local json = require "ako.json"
local log = require "ako.log"
local logbook = require "ako.logbook"
local session = require "ako.session"
local tightening = require "ako.tightening"
local widening = require "ako.widening"

local account = {}

local function known(value)
    if value == json.null then return nil end
    return value
end

local function standing_text(entry)
    local parts = { ("trial %d, %s"):format(entry.trial, log.name(entry)) }
    if entry.status ~= "PASSED" then parts[2] = ("%s: %s"):format(entry.status, entry.reason) end
    local figures = known(entry.time_ns)
    if figures then
        parts[#parts + 1] = ("median %s %s"):format(format.duration(figures.median), format.spread(figures))
    end
    if entry.trial > 0 then parts[#parts + 1] = log.over(entry, "original") end
    parts[#parts + 1] = log.over(entry, "reference")
    parts[#parts + 1] = entry.commit and "commit " .. entry.commit
    return table.concat(parts, ", ")
end

-- What the best's verification at the end has measured.
local function verified_text(verified, best)
    if not known(verified) then return nil end
    local figures, paired = known(verified.time_ns), known(verified.paired)
    local parts = { figures and ("median %s"):format(format.duration(figures.median)) or verified.status }
    if paired and known(verified.speedup.original) then
        parts[2] = ("in turn with the original, %s: %s"):format(format.count(paired.pairs, "pair"),
            log.over(verified, "original"))
    end
    local text = table.concat(parts, "; ")
    if not best or best.trial == verified.trial then return text end
    return ("%s; that was trial %d, before an override"):format(text, verified.trial)
end

-- How far predictions were right: { count, predicted and measured (means in %), right_sign }, of the trials that have
-- both; nil where there is none.
local function predictions_of(entries)
    local found = { count = 0, predicted = 0.0, measured = 0.0, right_sign = 0 }
    for _, entry in ipairs(entries) do
        local predict, gain = entry.predict, entry.gain
        if predict and gain then
            found.count = found.count + 1
            found.predicted, found.measured = found.predicted + predict, found.measured + gain
            if (predict > 0) == (gain > 0) then found.right_sign = found.right_sign + 1 end
        end
    end
    if found.count == 0 then return nil end
    found.predicted, found.measured = found.predicted / found.count, found.measured / found.count
    return found
end

local function predictions_text(found)
    return found and ("%d: predicted %s, measured %s in the mean; right about faster or slower: %d"):format(found.count,
        log.percent(found.predicted), log.percent(found.measured), found.right_sign)
end

local function overrides_of(state)
    local list = json.array()
    for i, line in ipairs(state.overrides) do
        list[i] = { trial = line.trial, verdict = line.verdict, reason = line.reason, forced = line.forced,
            time_s = line.time_s }
    end
    return list
end

--- The account of a session (ako.pick's) as a JSON object: session, task, policy, device, workspace, branch, began_s,
--- worked_s, finished ({ ended, verified }, or null), baseline, best, counts, trials (as `log` has them), predictions,
--- notes, overrides; of a weak task weakness, tightened, wider; of a problem in Python python (in words).
function account.object(state)
    local header, finished = state.header, state.finished
    local entries = log.newest(state.history)
    local object = log.object(state.name, entries, state.notes)
    object.task, object.policy, object.device = header.task, header.policy, header.device
    object.workspace, object.branch = header.workspace, session.branch_name(state) or json.null
    object.began_s, object.worked_s = header.time_s, session.worked_s(state)
    object.finished = finished
        and { ended = finished.ended, verified = finished.verified, options = finished.options } or json.null
    object.baseline = state.original and log.entry(state.original) or json.null
    object.best = state.best and log.entry(state.best) or json.null
    object.counts, object.predictions = state.counts, predictions_of(entries) or json.null
    local first = state.original or {}
    object.weakness, object.tightened, object.python = first.weakness, first.tightened, first.python
    object.wider = first.wider
    object.overrides, object.files = overrides_of(state), state.folder
    return object
end

-- What is told

local function facts_of(object)
    local facts, device, counts = {}, object.device or {}, object.counts
    local function add(label, text) facts[#facts + 1] = text and { label, format.line(text) } or nil end
    add("task", ("%s, policy %s, on %s"):format(object.task or "unknown", object.policy or "unknown",
        device.name or "an unknown device"))
    add("python", object.python)
    add("weak task", object.weakness)
    add("tolerance", tightening.text(object))
    add("inputs", widening.text(object))
    add("began", ("%s, at work for %.0f s"):format(format.date(object.began_s), object.worked_s))
    local finished, best = known(object.finished), known(object.best)
    add("ended", finished and (finished.ended or "all is done") or "not yet")
    if finished and finished.options then add("options", json.encode(finished.options) .. " at the end") end
    add("workspace", object.workspace)
    add("records", object.files)
    add("branch", known(object.branch))
    add("baseline", known(object.baseline) and standing_text(object.baseline) or "not measured yet")
    local is_baseline = best and best.trial == object.baseline.trial
    add("best", best and (is_baseline and "the baseline, still" or standing_text(best)) or "none yet")
    add("verified", finished and verified_text(finished.verified, best))
    add("trials", ("%d beside the baseline: %d kept, %d reverted, %d inconclusive"):format(
        math.max(0, #object.trials - 1), counts.keep, counts.revert, counts.inconclusive))
    add("predictions", predictions_text(known(object.predictions)))
    return facts
end

-- What did not pass, by status: "COMPILE_ERROR, 2 trials: 3 (kernel.c:3: no), 5 (...)"
local function failures_of(object)
    local names, lists = {}, {}
    for _, entry in ipairs(object.trials) do
        local list = lists[entry.status]
        if entry.status ~= "PASSED" then
            if not list then
                list = {}
                lists[entry.status], names[#names + 1] = list, entry.status
            end
            list[#list + 1] = ("%d (%s)"):format(entry.trial, format.line(entry.reason or ""))
        end
    end
    local items = {}
    for i, name in ipairs(names) do
        items[i] = ("%s, %s: %s"):format(name, format.count(#lists[name], "trial"), table.concat(lists[name], ", "))
    end
    return items
end

local function override_items(object)
    local items = {}
    for i, line in ipairs(object.overrides) do
        items[i] = ("trial %d: %s"):format(line.trial, log.override(line))
    end
    return items
end

local function note_items(object)
    local items = {}
    for i, note in ipairs(object.notes) do
        items[i] = ("%s: %s"):format(note.trial and ("trial %d"):format(note.trial) or "before the first trial",
            log.note(note))
    end
    return items
end

local function sections_of(object)
    return { { "Failures", failures_of(object) }, { "Overrides by hand", override_items(object) },
        { "Notes", note_items(object) } }
end

-- The two forms

--- The account, from its object, as lines for a terminal.
function account.lines(object)
    local lines = { "session " .. object.session }
    for _, fact in ipairs(facts_of(object)) do lines[#lines + 1] = ("%-11s %s"):format(fact[1], fact[2]) end
    lines[#lines + 1] = ""
    for _, line in ipairs(log.lines(object.trials)) do lines[#lines + 1] = line end
    for _, section in ipairs(sections_of(object)) do
        if #section[2] > 0 then
            lines[#lines + 1], lines[#lines + 2] = "", section[1]
            for _, item in ipairs(section[2]) do lines[#lines + 1] = "  " .. item end
        end
    end
    return lines
end

-- Words of others are text in Markdown, too: no markup, no tags.
local function plain(text) return (text:gsub("[\\`*_{}%[%]<>#|]", "\\%0")) end

--- The same as lines of Markdown.
function account.markdown(object)
    local lines = { "# Session " .. plain(object.session), "" }
    for _, fact in ipairs(facts_of(object)) do lines[#lines + 1] = ("- **%s**: %s"):format(fact[1], plain(fact[2])) end
    local head, rows = log.cells(), {}
    for i, entry in ipairs(object.trials) do
        rows[i] = {}
        for j, cell in ipairs(log.cells(entry)) do rows[i][j] = plain(cell):gsub("\\|", "|") end
    end
    table.move({ "", "## Trials", "" }, 1, 3, #lines + 1, lines)
    for _, line in ipairs(logbook.table(head, rows)) do lines[#lines + 1] = line end
    for _, section in ipairs(sections_of(object)) do
        if #section[2] > 0 then
            table.move({ "", "## " .. section[1], "" }, 1, 3, #lines + 1, lines)
            for _, item in ipairs(section[2]) do lines[#lines + 1] = "- " .. plain(item) end
        end
    end
    return lines
end

return account
