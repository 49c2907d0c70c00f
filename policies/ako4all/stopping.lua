-- When a session may end: at a cap that the user set, at a floor for which evidence is cited, or when several
-- directions that are distinct and documented have been tried. A tool that is missing is never a reason.

local fs = require "ako.fs"
local gates = require "ako.gates"
local hints = require "policies.ako4all.hints"
local rules = require "ako.rules"

local stopping = {}

local function hints_of(run) return hints.read(fs.read(fs.join(run.workspace or ".", hints.FILE))) end

--- The user's cap on iterations, of the option or else of HINTS.md, and where it stands; nil without one.
function stopping.cap(run, opt)
    if opt.iterations > 0 then return opt.iterations, "--iterations" end
    return hints.cap(hints_of(run)), hints.FILE
end

local function at_cap(run, opt)
    local cap, source = stopping.cap(run, opt)
    if not cap or run.trials < cap then return nil end
    return ("the cap of %d iterations (%s) is reached"):format(cap, source)
end

local MISSING = { "unavailable", "not available", "not installed", "is missing", "no ncu", "cannot profile",
    "no rights", "permission" }

-- True for words that only say that a tool is missing.
local function is_missing_tool(text)
    for _, words in ipairs(MISSING) do
        if (text or ""):lower():find(words, 1, true) then return true end
    end
    return false
end

-- Evidence is a file, or a figure and what it is compared with.
local function is_evidence(note)
    if is_missing_tool(note.text) then return false end
    local text = note.text or ""
    local _, words = text:gsub("%a%a+", "")
    return note.file ~= nil or text:find("%d") ~= nil and words > 1 -- a bare figure is compared with nothing
end

local function cited_floor(run)
    for i = #run.notes, 1, -1 do
        local note = run.notes[i]
        if note.topic == "floor" and is_evidence(note) then
            local cited = note.file and ("%s [%s]"):format(note.text, note.file) or note.text
            return "at a floor: " .. cited:gsub("^%s+", "")
        end
    end
end

local function plain(text) return (text:lower():gsub("%W+", " "):gsub("^ ", ""):gsub(" $", "")) end

--- The documented directions, { text, trial } each: notes with that topic about an iteration that there was. What says
--- the same, or is about the same iteration, counts once.
function stopping.directions(run)
    local list, seen = {}, {}
    for _, note in ipairs(run.notes) do
        local name = plain(note.text or "")
        local about = note.trial and note.trial > 0 and note.trial < #run.history and note.trial or nil
        if note.topic == "direction" and name ~= "" and about and not seen[name] and not seen[about] then
            seen[name], seen[about] = true, true
            list[#list + 1] = { text = note.text, trial = about }
        end
    end
    return list
end

local function directions_tried(run, opt)
    local list = stopping.directions(run)
    if #list < opt.directions or not gates.find(run, "exhausted") then return nil end
    local texts = {}
    for i, direction in ipairs(list) do texts[i] = ("%s (iter %d)"):format(direction.text, direction.trial) end
    return ("%d directions tried: %s"):format(#list, table.concat(texts, ", "))
end

--- The stop rule.
stopping.stop = rules.described(rules.any(at_cap, rules.floor "floor_share", cited_floor, directions_tried),
    function(opt)
        local cap = opt.iterations > 0 and ("after %d iterations, "):format(opt.iterations) or "at HINTS.md's cap, "
        return ("%son evidence of a floor (note --topic=floor), or after %d documented directions"):format(cap,
            opt.directions)
    end)

--- The hook `finish`: why a session may not be ended by hand yet.
function stopping.not_yet(run, why, opt)
    if stopping.stop(run, opt) then return nil end
    local missing = is_missing_tool(why) and "a missing tool is no reason to stop; " or ""
    return ("%sit ends at an iteration cap (--iterations or %s), with evidence of a floor (note --topic=floor -m "
        .. "'figure and limit'), or with %d directions on record, %d now (note N --topic=direction -m WHAT, then note "
        .. "--topic=exhausted -m WHY)"):format(missing, hints.FILE, opt.directions, #stopping.directions(run))
end

--- A gate: no iteration beyond the user's cap.
function stopping.gate(run, _, opt)
    local reached = run.next_trial > 0 and at_cap(run, opt)
    if not reached then return nil end
    return reached .. "; `finish -m WHY` restores and verifies the best"
end

return stopping
