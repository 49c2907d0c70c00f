-- All that is known of one trial, from its session's journal and the commit of its attempt alone: nothing else has to
-- be there any more.

local bench = require "ako.bench"
local branch = require "ako.branch"
local fault = require "ako.fault"
local format = require "ako.format"
local json = require "ako.json"
local log = require "ako.log"
local report = require "ako.report"
local session = require "ako.session"
local tightening = require "ako.tightening"
local trial = require "ako.trial"
local widening = require "ako.widening"

local show = {}

local must = fault.must

-- The change

-- What an attempt was made from: the best of then, or what the session began on; nil where that was nothing.
local function parent_of(repo, record)
    local parent = must(repo:log(record.commit, 1))[1].parent
    return parent ~= "" and parent or nil
end

-- The number of the trial of which a commit is the attempt; nil where it is none of the session's.
local function trial_of(state, record, commit)
    local known = record.against and state.history[record.against + 1]
    if known and known.commit == commit then return known.trial end
    for i = record.trial, 1, -1 do
        if state.history[i].commit == commit then return state.history[i].trial end
    end
end

--- What trial `record` of a session (ako.pick's state) changed: as repo:diff has it, with from and to (commits),
--- against (the number of the trial that it is compared with; nil for what the session began on). `base`: the record to
--- compare it with instead of what it was judged against. Raises faults.
function show.change(state, record, base, with_patch)
    session.check_kept(state.repo, record)
    if base then session.check_kept(state.repo, base) end
    local from = base and base.commit or parent_of(state.repo, record)
    local diff = must(state.repo:diff(from, record.commit, { patch = with_patch or nil }))
    diff.from, diff.to = from, record.commit
    if base then diff.against = base.trial else diff.against = trial_of(state, record, from) end
    return diff
end

--- "trial 5", or "what the session began on" for nil.
function show.base_text(number) return number and ("trial %d"):format(number) or "what the session began on" end

--- "1 file, +3 -1"
function show.stat(change)
    return ("%s, +%d -%d"):format(format.count(#change.changes, "file"), change.insertions, change.deletions)
end

-- Collecting

local function notes_about(state, record)
    local list = json.array()
    for _, note in ipairs(state.notes) do
        if note.trial == record.trial then list[#list + 1] = note end
    end
    return list
end

local function overrides_of(state, record)
    local list = json.array()
    for _, line in ipairs(state.overrides) do
        if line.trial == record.trial then
            list[#list + 1] = { verdict = line.verdict, reason = line.reason, forced = line.forced,
                time_s = line.time_s }
        end
    end
    return list
end

-- The texts as they were tried, from the attempt's commit.
local function sources_of(state, record)
    local list = json.array()
    for i, name in ipairs(state.paths) do
        local text, problem, code = state.repo:read(record.commit, name)
        if not text and code ~= "NOTFOUND" then fault.raise(code, "%s", problem) end
        list[i] = { name = name, text = text or json.null }
    end
    return list
end

--- Everything about a trial as the JSON object of the verb: the members that `try --json` has, gain and
--- gain_interval (in %), time_s, ref, change (against, from, to, changes, insertions, deletions), notes, overrides, and
--- with `with_sources` the texts.
function show.object(state, record, with_sources)
    local object, change = report.object(record), show.change(state, record)
    object.v, object.session, object.time_s = 1, state.name, record.time_s
    object.gain, object.gain_interval = trial.gain(record), trial.gain_interval(record)
    object.ref = branch.attempt_ref(state.name, record.trial)
    object.change = { against = change.against or json.null, from = change.from or json.null, to = change.to,
        changes = change.changes, insertions = change.insertions, deletions = change.deletions }
    object.notes, object.overrides = notes_about(state, record), overrides_of(state, record)
    object.branch = session.branch_name(state)
    if with_sources then object.sources = sources_of(state, record) end
    return object
end

-- As text

local function known(value) return value ~= nil and value ~= json.null end

local NAMES = { { "original", "the original" }, { "reference", "the reference" }, { "best", "the best before" } }

-- "1.92x over the original (1.90x to 1.94x), ..."
local function speedup_text(entry)
    local parts = {}
    for _, name in ipairs(NAMES) do
        parts[#parts + 1] = log.over(entry, name[1], name[2])
    end
    return #parts > 0 and table.concat(parts, ", ") or nil
end

local function figures_text(figures)
    local parts = { ("median %s%s"):format(format.duration(figures.median),
        figures.ci and " " .. format.spread(figures) or "") }
    for _, name in ipairs { "mean", "min", "p95" } do
        if figures[name] then parts[#parts + 1] = name .. " " .. format.duration(figures[name]) end
    end
    if figures.events then parts[#parts + 1] = "by events " .. format.duration(figures.events) end
    if figures.n then parts[#parts + 1] = format.count(figures.n, "sample") end
    return table.concat(parts, ", ")
end

local function gain_text(object)
    local paired, gain, interval = object.paired, object.gain, object.gain_interval
    if not gain and not object.predict then return nil end
    local predicted = ("predicted %s"):format(object.predict and log.percent(object.predict) or "nothing")
    if not gain then return predicted .. ", nothing measured" end
    local range = interval and (" (%s to %s)"):format(log.percent(interval[1]), log.percent(interval[2])) or ""
    local count = paired and paired.pairs and " in " .. format.count(paired.pairs, "pair") or ""
    return ("%s, measured %s%s%s against trial %d"):format(predicted, log.percent(gain), range, count, object.against)
end

local function workload_text(workload)
    if (workload.status or "") == "" then return workload.id .. ": not reached" end
    local parts = { workload.status }
    if workload.reason and workload.reason ~= "" then
        return ("%s: %s: %s"):format(workload.id, workload.status, workload.reason)
    end
    if workload.time_ns then parts[#parts + 1] = "median " .. format.duration(workload.time_ns.median) end
    parts[#parts + 1] = speedup_text(workload)
    if workload.max_abs then
        parts[#parts + 1] = ("error %.3g absolute, %.3g relative"):format(workload.max_abs, workload.max_rel or 0)
    end
    local exact = workload.exact
    if exact and exact.max_abs then
        parts[#parts + 1] = ("against fp64 %.3g, the reference's own %.3g"):format(exact.max_abs,
            exact.reference_max_abs or 0)
    end
    if workload.mismatch and workload.mismatch > 0 then parts[#parts + 1] = ("%d wrong"):format(workload.mismatch) end
    return ("%s: %s"):format(workload.id, table.concat(parts, ", "))
end

-- "build 21 ms, check 105 ms": the members of a table that are no zeros, in a fixed order.
local function members_text(given, names, unit)
    local parts = {}
    for _, name in ipairs(names) do
        if given and given[name] and given[name] ~= 0 then
            parts[#parts + 1] = ("%s %s%s"):format(name, tostring(given[name]), unit)
        end
    end
    return #parts > 0 and table.concat(parts, ", ") or nil
end

-- What a kernel has chosen at its first call, which nobody but itself can know.
local function autotuned_text(kernel)
    return ("%s%s: %s (the solution's own words)"):format(kernel.kernel, kernel.key and " " .. kernel.key or "",
        kernel.config)
end

local function add(lines, label, text)
    if not text or text == "" then return end
    lines[#lines + 1] = ("%-11s %s"):format(label, format.line(text))
end

local function add_verdict(lines, object)
    local status = object.code and ("%s (%s)"):format(object.status, object.code) or object.status
    lines[1] = ("trial %d: %s, %s"):format(object.trial, log.verdict(object), status)
    add(lines, "what", object.hypothesis and ('"%s"'):format(object.hypothesis) or object.candidate
        or "the tree as it is")
    add(lines, "candidate", object.hypothesis and object.candidate)
    add(lines, "label", object.label)
    add(lines, "options", object.options and json.encode(object.options))
    add(lines, "reason", object.reason)
    add(lines, "weak task", object.weakness)
    add(lines, "tolerance", tightening.text(object))
    add(lines, "inputs", widening.text(object))
    for _, line in ipairs(object.overrides) do add(lines, "by hand", log.override(line)) end
    add(lines, "next", object.next)
end

local function add_figures(lines, object)
    add(lines, "gain", gain_text(object))
    if known(object.time_ns) then
        add(lines, "time", figures_text(object.time_ns) .. (object.timer and ", timer " .. object.timer or ""))
    end
    add(lines, "speedup", speedup_text(object))
    for _, workload in ipairs(object.workloads) do add(lines, "workload", workload_text(workload)) end
    add(lines, "disturbed", object.disturbed)
    add(lines, "python", object.python)
    for _, kernel in ipairs(object.autotuned or {}) do add(lines, "autotuned", autotuned_text(kernel)) end
    add(lines, "resources", members_text(object.resources, { "registers", "shared", "spill" }, ""))
    add(lines, "size", members_text(object.size, { "lines", "branches", "knobs" }, ""))
    add(lines, "costs", members_text(object.costs_ms, { "build", "check", "time", "profile", "total" }, " ms"))
    if object.bench then add(lines, "bench", bench.account(object.bench)) end
    if object.facts then add(lines, "facts", json.encode(object.facts)) end
end

local function add_places(lines, object, ref)
    local change = object.change
    add(lines, "change", ("%s against %s"):format(show.stat(change),
        show.base_text(known(change.against) and change.against or nil)))
    add(lines, "tree", object.tree)
    add(lines, "commit", ("%s, %s"):format(object.commit, ref))
    add(lines, "files", object.files)
    local date = object.time_s and format.date(object.time_s) or "time unknown"
    add(lines, "session", ("%s, %s"):format(object.session, date))
    for _, note in ipairs(object.notes) do add(lines, "note", log.note(note)) end
end

--- The same as lines. Sources, where the object has them, are behind a line with their name, fit for a terminal.
function show.lines(object)
    local lines = {}
    add_verdict(lines, object)
    add_figures(lines, object)
    add_places(lines, object, object.ref)
    for _, source in ipairs(object.sources or {}) do
        lines[#lines + 1] = ("--- %s"):format(format.line(source.name))
        local text = known(source.text) and format.text(source.text) or "(there was no such file)"
        lines[#lines + 1] = text:gsub("\n$", "")
    end
    return lines
end

return show
