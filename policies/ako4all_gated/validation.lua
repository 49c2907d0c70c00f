-- When a win is done: the checklist behind the port-back. Notes about the best trial, and no other, tick its items.

local contract = require "policies.ako4all_gated.contract"
local gates = require "ako.gates"

local validation = {}

-- Topic(s) of the note, what it must show, and: evidence (a file, or "unavailable: why"), file, figure ("1.08x").
-- `model` is only asked for where the contract names a model path. Add one and `done` waits for it, too.
local ITEMS = {
    { name = "port", text = "the winner alone is ported back, the old path stays", file = true },
    { name = "build", text = "syntax, import or build check of the modified path" },
    { name = "correctness", text = "the ported operator against the reference and the previous one" },
    { name = "operator", text = "the operator against the previous implementation", figure = true },
    { name = "profile", topics = { "ncu", "nsys" }, text = "what the profiler says of the winner", evidence = true },
    { name = "model", text = "the smallest benchmark of the model that calls it", figure = true },
    { name = "risk", text = "what has not been tested" },
}
local TRANSFERS = { "operator", "model" }

local function about_best(run, topics, evidence)
    local n = run.best.trial
    return gates.find(run, topics, { first = n, last = n, evidence = evidence })
end

local function figure_of(note) return tonumber((note.text or ""):match("(%d+%.?%d*)x%f[%W]") or "") end

local function is_flat(note, least)
    local figure = figure_of(note)
    return (note.text or ""):lower():find("^%s*flat") ~= nil or (figure ~= nil and figure <= 1 + least)
end

--- The note that says that the best's win does not reach the operator or the model; nil without one. `least` is the
--- gain up to which it is none.
function validation.flat(run, least)
    if not run.best or run.best.trial == 0 then return nil end
    for _, topic in ipairs(TRANSFERS) do
        local note = about_best(run, topic)
        if note and is_flat(note, least) then return note end
    end
end

-- Why a note does not tick an item, or nil.
local function lack(item, note)
    if not note then return "no note" end
    if item.figure and not figure_of(note) then return "no figure such as 1.08x" end
    if item.file and not note.file then return "no file" end
end

local function is_wanted(item, fields)
    return item.name ~= "model" or not contract.is_none(fields["model path"])
end

--- The items: { name, text, note, missing (why it is not ticked, nil when it is) }. Empty without a win.
function validation.list(run)
    local list, fields = {}, contract.read(run)
    if not run.best or run.best.trial == 0 then return list end
    for _, item in ipairs(ITEMS) do
        if is_wanted(item, fields) then
            local note = about_best(run, item.topics or item.name, item.evidence)
            list[#list + 1] = { name = item.name, text = item.text, note = note, missing = lack(item, note) }
        end
    end
    return list
end

--- The names of what is missing until the session's best is done, in words; nil when nothing is.
function validation.missing(run, least)
    if not run.best or run.best.trial == 0 then return "nothing beats the baseline" end
    local flat, names = validation.flat(run, least), {}
    if flat then return ("the win does not transfer (%s: %s)"):format(flat.topic, flat.text) end
    local changed = contract.unexplained(run)
    if changed then return changed end
    for _, item in ipairs(validation.list(run)) do
        if item.missing then names[#names + 1] = item.name end
    end
    local verified = run.finished and run.finished.verified
    -- Behind the end an override may have made another trial the best.
    local is_good = verified and verified.trial == run.best.trial and verified.status == "PASSED"
    if verified and not is_good then names[#names + 1] = "the last verification" end
    return #names > 0 and "missing: " .. table.concat(names, ", ") or nil
end

--- A gate: a win that does not transfer is taken back before anything is built on it. `least`: an option's name.
function validation.gate(least)
    return function(run, _, opt)
        local flat = validation.flat(run, opt[least])
        return flat and ("the win of trial %d does not transfer (%s: %s): take it back with revert %d -m WHY"):format(
            run.best.trial, flat.topic, flat.text, run.best.trial)
    end
end

--- A finish hook: by hand a session ends when its win is done, or with "unfinished: " and why. `least`: an option's
--- name.
function validation.finish(least)
    return function(run, why, opt)
        local missing = validation.missing(run, opt[least])
        local is_admitted = (why or ""):lower():find("^%s*unfinished:%s*%S") ~= nil
        if not missing or is_admitted or not run.best or run.best.trial == 0 then return nil end
        return ("not done, %s; ITERATIONS.md says what each wants (note %d --topic=NAME); finish -m 'unfinished: WHY' "
            .. "ends it all the same"):format(missing, run.best.trial)
    end
end

return validation
