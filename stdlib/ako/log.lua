-- The log of a session: a line for each trial, made from its records alone.

local format = require "ako.format"
local json = require "ako.json"
local report = require "ako.report"
local trial = require "ako.trial"

local log = {}

local LONGEST_NAME = 60 -- characters of what was tried, so that the reasons behind them stay in sight

-- What a record has of its trial as a whole; `show` has the rest.
local MEMBERS = { "trial", "status", "code", "verdict", "override", "override_reason", "reason", "candidate",
    "hypothesis", "predict", "label", "speedup", "interval", "time_ns", "against", "tree", "commit", "files" }

--- An entry: the JSON form of a record in short. It has the members of report.object that are about the whole of it,
--- and `gain`, by how many per cent it was faster than the best before it.
function log.entry(record)
    local whole, entry = report.object(record), { gain = trial.gain(record) }
    for _, name in ipairs(MEMBERS) do entry[name] = whole[name] end
    return entry
end

--- What was tried, in words: the hypothesis, else the candidate's name.
function log.name(record)
    if record.hypothesis then return ('"%s"'):format(format.line(record.hypothesis)) end
    return format.line(record.candidate or "the tree as it is")
end

--- A verdict in words, with who has given it.
function log.verdict(record) return trial.verdict(record) .. (record.override and " by hand" or "") end

--- "1.92x over the original (1.90x to 1.94x)": the speed-up of an entry, or of one of its workloads, over `name` (in
--- words: `words`, "the original" for "original"); nil where it is not known.
function log.over(entry, name, words)
    local speedup, interval = (entry.speedup or {})[name], (entry.interval or {})[name]
    if speedup == nil or speedup == json.null then return nil end
    local has_range = interval ~= nil and interval ~= json.null
    local range = has_range and (" (%s to %s)"):format(format.ratio(interval[1]), format.ratio(interval[2])) or ""
    return ("%s over %s%s"):format(format.ratio(speedup), words or "the " .. name, range)
end

--- An override as a line of its session's journal has it, in words: "keep (forced), 2030-01-02 03:04:05 UTC: why".
function log.override(line)
    return ("%s%s, %s: %s"):format(line.verdict, line.forced and " (forced)" or "", format.date(line.time_s),
        format.line(line.reason))
end

--- A gain or a prediction: "+2.1 %"; "-" for nil.
function log.percent(gain) return gain and ("%+.1f %%"):format(gain) or "-" end

local HEAD = { "trial", "verdict", "status", "median", "gain", "predicted", "what and why" }
local RIGHT = { true, false, false, true, true, true, false }

--- What a line says of an entry, in cells; of nil, the head of the columns.
function log.cells(entry)
    if not entry then return HEAD end
    local reason, name = entry.override_reason or entry.reason or "", format.cut(log.name(entry), LONGEST_NAME)
    local twice = reason:sub(1, #name) == name -- "baseline: baseline; ..."
    return { tostring(entry.trial), log.verdict(entry), entry.status,
        entry.time_ns ~= json.null and format.duration(entry.time_ns.median) or "-", log.percent(entry.gain),
        log.percent(entry.predict),
        twice and format.line(reason) or name .. (reason ~= "" and ": " .. format.line(reason) or "") }
end

local function aligned(rows)
    local widths, lines = {}, {}
    for _, cells in ipairs(rows) do
        for i, cell in ipairs(cells) do widths[i] = math.max(widths[i] or 0, utf8.len(cell) or #cell) end
    end
    for i, cells in ipairs(rows) do
        local padded = {}
        for j, cell in ipairs(cells) do
            padded[j] = j == #cells and cell or format.pad(cell, widths[j], RIGHT[j])
        end
        lines[i] = table.concat(padded, "  ")
    end
    return lines
end

--- The entries of the last `most` trials (nil: of all), oldest first.
function log.newest(history, most)
    local list = json.array()
    for i = math.max(1, #history - (most or #history) + 1), #history do list[#list + 1] = log.entry(history[i]) end
    return list
end

--- A note as one line: "[topic] text (file)".
function log.note(note)
    local parts = { note.topic and ("[%s]"):format(format.line(note.topic)) }
    if (note.text or ""):find "%S" then parts[#parts + 1] = format.line(note.text) end
    if note.file then parts[#parts + 1] = ("(file %s)"):format(format.line(note.file)) end
    return table.concat(parts, " ")
end

-- Notes by the trial that they are about, -1 for those before the first one.
local function by_trial(notes)
    local lists = {}
    for _, note in ipairs(notes) do
        local about = note.trial or -1
        lists[about] = lists[about] or {}
        table.insert(lists[about], "       note: " .. log.note(note))
    end
    return lists
end

--- The log as lines, with a head, for these entries; `notes`, where given, stand behind their trials.
function log.lines(entries, notes)
    if #entries == 0 and #(notes or {}) == 0 then return { "no trial yet" } end
    local rows, lists = { HEAD }, by_trial(notes or {})
    for i, entry in ipairs(entries) do rows[i + 1] = log.cells(entry) end
    local texts = aligned(rows)
    local lines = { texts[1], table.unpack(entries[1] and entries[1].trial > 0 and {} or lists[-1] or {}) }
    for i, entry in ipairs(entries) do
        lines[#lines + 1] = texts[i + 1]
        for _, text in ipairs(lists[entry.trial] or {}) do lines[#lines + 1] = text end
    end
    return lines
end

--- The log as a JSON object: session, trials (entries), and notes where they are given.
function log.object(name, entries, notes)
    local object = { v = 1, session = name, trials = entries }
    if notes then
        object.notes = json.array()
        for i, note in ipairs(notes) do object.notes[i] = note end
    end
    return object
end

return log
