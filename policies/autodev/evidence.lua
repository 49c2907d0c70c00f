-- Profiles and searches: when one is due, and what it says. Both are notes in the journal: a profile has a file or says
-- why there is none, a search names its sources.

local fs = require "ako.fs"
local gates = require "ako.gates"
local matrix = require "policies.autodev.matrix"
local trial = require "ako.trial"
local versions = require "policies.autodev.versions"

local evidence = {}

evidence.TEMPLATE = [[
# Profile of a version

Copy this to profile_vN.md, fill it in from the profiler's report, then
`note --topic=profile --file=profile/profile_vN.md`.

- Compute: <sm__throughput, % of peak>
- DRAM: <dram__throughput, % of peak>
- L2 hit: <%>
- Occupancy: <sm__warps_active, % of peak>
- Stalls: <the three that cost most>
- Bank conflicts: <shared loads and stores>
- Difference: <to the profile before>
]]

-- Profiles

--- Why no profile can be had in this run, nil where one can: what the user says of it, or a CPU's lack of counters.
function evidence.unavailable(run, opt)
    local why = opt.profiler:match("^%s*[Uu]navailable%W*(.-)%s*$")
    if why then return why ~= "" and why or "the user says so" end
    if run.device and run.device.id == "cpu" then return "the CPU lane has no hardware counters" end
end

local function differs_from_forecast(record, gain, points)
    return record.predict ~= nil and math.abs(gain - record.predict) >= points
end

-- Why this version wants a profile, or nil.
local function wants_profile(record, number)
    local gain = trial.gain(record)
    if versions.outcome(record) == "KEEP" then return "it was kept" end
    if gain and math.abs(gain) >= number.change * 100 then return ("it changed the speed by %.1f %%"):format(gain) end
    if gain and differs_from_forecast(record, gain, number.puzzling * 100) then
        return ("%+.1f %% where %+.1f %% was forecast is a puzzle"):format(gain, record.predict)
    end
end

--- What is missing of the profiles, nil when nothing is or none can be had.
function evidence.missing_profile(run, opt, number)
    if evidence.unavailable(run, opt) then return nil end
    for i = #run.history, 1, -1 do
        local n = run.history[i].trial
        if gates.find(run, "profile", { first = n, evidence = true }) then return nil end
        local why = wants_profile(run.history[i], number)
        if why then
            return ("a profile of %s is due, since %s: `note --topic=profile --file=profile/profile_%s.md`, or -m "
                .. "'unavailable: why'"):format(versions.name(n), why, versions.name(n))
        end
    end
end

-- The first figure of a text: "71.5 %" is 71.5.
local function figure(text) return text and tonumber(text:match("%d+%.?%d*")) end

--- What the newest profile with a file says: { file, trial, class, both, fields }; nil without one.
function evidence.profile(run, number)
    for i = #(run.notes or {}), 1, -1 do
        local note = run.notes[i]
        if note.topic == "profile" and note.file then
            local fields = gates.fields(fs.read(fs.join(run.workspace, note.file)) or "")
            local class, both = matrix.classify(figure(fields.compute), figure(fields.dram),
                figure(fields.occupancy), number)
            return { file = note.file, trial = note.trial, class = class, both = both, fields = fields }
        end
    end
end

-- Searches

-- A search that nobody can follow is none: it names a file or an address.
local function has_source(note) return note.file ~= nil or (note.text or ""):find("%w+://%S") ~= nil end

--- The newest search with sources about trial `first` or a later one, or nil.
function evidence.search(run, first)
    for i = #(run.notes or {}), 1, -1 do
        local note = run.notes[i]
        if note.topic == "search" and (note.trial or -1) >= first and has_source(note) then return note end
    end
end

--- What is missing of the searches: after `count` failures in a row one is due, and after as many again another.
function evidence.missing_search(run, count)
    local failures = versions.failures(run.history)
    local last = failures[1] and evidence.search(run, failures[1].trial)
    local since = 0
    for _, record in ipairs(failures) do
        if not last or record.trial > last.trial then since = since + 1 end
    end
    if since < count then return nil end
    return ("%d failures in a row up to %s: look for new ideas elsewhere, then `note --topic=search -m 'idea; source: "
        .. "https://...'` (or --file=F)"):format(since, versions.name(failures[#failures].trial))
end

--- The search that the failures at the end of the history have brought, nil when there is none.
function evidence.search_of_streak(run)
    local failures = versions.failures(run.history)
    return failures[1] and evidence.search(run, failures[1].trial)
end

return evidence
