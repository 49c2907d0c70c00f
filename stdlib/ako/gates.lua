-- Building blocks for a policy's `gate`: what must be there before a trial begins. Each takes its numbers and names and
-- returns a gate; there is no threshold in here. A number may be the name of a policy's option, as in ako.rules.
--
-- gate(run, proposal, opt) -> nil, or what is missing and how to supply it; after nil, facts for the trial's record
--
-- A proposal without sources is only a question, as `brief` asks it: what is missing now, whatever will be proposed.

local fs = require "ako.fs"
local git = require "ako.git"
local rules = require "ako.rules"
local trial = require "ako.trial"

local gates = {}

local number = rules.number

local function is_blank(text) return type(text) ~= "string" or text:match("^%s*$") ~= nil end

--- All of these gates: the first reason counts; without one, the facts of all of them.
function gates.all(...)
    local list = { ... }
    return function(run, proposal, opt)
        local all
        for _, gate in ipairs(list) do
            local reason, facts = gate(run, proposal, opt)
            if reason then return reason end
            for name, value in pairs(facts or {}) do
                all = all or {}
                all[name] = value
            end
        end
        return nil, all
    end
end

--- A gate that is asked from trial `first` on; 0 is the baseline, 1 the first edit.
function gates.from(first, gate)
    return function(run, proposal, opt)
        if run.next_trial >= number(first, opt) then return gate(run, proposal, opt) end
    end
end

-- Notes

-- Where a note stands among the trials: that before the baseline is -1.
local function place(note) return note.trial or -1 end

-- A note that is evidence has a file, or says why there is none: "unavailable: no rights to the counters".
local function is_evidence(note)
    local why = (note.text or ""):lower():match("^%s*unavailable(.*)$")
    return note.file ~= nil or (why ~= nil and why:find("%w") ~= nil)
end

--- The newest note with one of these topics (a topic, or a list of alternatives) that has words or a file. where:
--- first and last (about no trial before and behind these), evidence (it must name a file, or begin with "unavailable"
--- and say why). Nil when there is none.
function gates.find(run, topics, where)
    local wanted, given = {}, where or {}
    for _, topic in ipairs(type(topics) == "table" and topics or { topics }) do wanted[topic] = true end
    for i = #(run.notes or {}), 1, -1 do
        local note = run.notes[i]
        local about = place(note)
        local counts = wanted[note.topic] and about >= (given.first or -1) and about <= (given.last or math.huge)
            and (note.file ~= nil or not is_blank(note.text))
        if counts and (not given.evidence or is_evidence(note)) then return note end
    end
end

local function topic_text(topics, where)
    local names = type(topics) == "table" and table.concat(topics, " or ") or topics
    local first = type(topics) == "table" and topics[1] or topics
    local how = where.evidence and "--file=FILE, or -m 'unavailable: why'" or "-m TEXT"
    return ("%s (note %s--topic=%s %s)"):format(names, where.last and where.last .. " " or "", first, how)
end

-- What is missing of these topics, in words; nil when nothing is.
local function missing_notes(run, needs, evidence, first, last)
    local missing = {}
    for _, topics in ipairs(needs) do
        local where = { first = first, last = last, evidence = evidence[topics] }
        if not gates.find(run, topics, where) then missing[#missing + 1] = topic_text(topics, where) end
    end
    return #missing > 0 and table.concat(missing, ", ") or nil
end

local function set_of(list)
    local set = {}
    for _, name in ipairs(list or {}) do set[name] = true end
    return set
end

-- The trials that a note may be about, from and to.
local RANGES = {
    start = function() return -1 end,
    last = function(run)
        local record = run.history[#run.history]
        return record and record.trial or -1
    end,
    best = function(run)
        local n = run.best and run.best.trial or 0
        return n, n
    end,
}

--- Notes that must exist. given: topics (each a topic, or a list of which one is enough), about ("start", the default:
--- any trial; "last": the last trial; "best": the best and no other), evidence (those topics for which a note must name
--- a file or say why there is none), text (why they are wanted).
function gates.notes(given)
    local evidence, range = set_of(given.evidence), RANGES[given.about or "start"]
    return function(run)
        local missing = missing_notes(run, given.topics, evidence, range(run))
        return missing and ("%s: wanted %s"):format(given.text or "notes are missing", missing)
    end
end

local function verdict_of(record) return record.override or record.verdict end

local function is_gain(record, least)
    return verdict_of(record) == "keep" and (record.speedup.best or 1) > 1 + least
end

--- The trial at which the present stall was reached: `count` trials in a row of which none was kept with a gain of more
--- than `share`. Those that could not be measured do not count. A stall ends, and the counting begins anew, with a gain
--- or as soon as is_over(trial), where given, says so of the trial at which it was reached. Nil without a stall.
function gates.stall(run, count, share, is_over)
    local without, reached = 0, nil
    for _, record in ipairs(run.history) do
        if record.trial > 0 and not trial.is_unmeasured(record.status) then
            if reached and is_over and is_over(reached) then without, reached = 0, nil end
            without = without + 1
            if is_gain(record, share) then without, reached = 0, nil end
            if without == count then reached = record.trial end
        end
    end
    if reached and is_over and is_over(reached) then return nil end
    return reached
end

--- After `given.count` trials in a row without a gain of more than `given.share`, notes with the topics `given.needs`
--- (and `given.evidence`, as in `notes`) are wanted that are newer than the stall; then counting begins anew. A count
--- of 0 means never.
function gates.stalled(given)
    local evidence = set_of(given.evidence)
    return function(run, _, opt)
        local count, share = number(given.count, opt), number(given.share, opt)
        if count <= 0 then return nil end
        local function missing(reached) return missing_notes(run, given.needs, evidence, reached) end
        local reached = gates.stall(run, count, share, function(at) return not missing(at) end)
        if not reached then return nil end
        return ("%d trials up to trial %d without a gain of more than %.3g %%: wanted before the next one: %s"):format(
            count, reached, share * 100, missing(reached))
    end
end

-- Files

local PLACEHOLDERS = { [""] = true, todo = true, tbd = true, ["?"] = true, ["-"] = true, ["..."] = true }

-- What is in a field, nil when that is only what a template put there: nothing, <a hint>, a comment.
local function content(text)
    local plain = text:gsub("<!%-%-.-%-%->", ""):match("^%s*(.-)%s*$")
    if PLACEHOLDERS[plain:lower()] or plain:find("^<[^<>]*>$") then return nil end
    return plain
end

-- "**Name**: value", "- Name: value" or "Name: value"
local function field_of(line)
    local name, value = line:match("^[%s%-*]*(%a[^:*|]-)[*]*:[*]*%s*(.-)%s*$")
    if name and #name <= 60 then return name, value end
end

local function add(fields, open)
    local value = open and content(table.concat(open.lines, "\n"))
    if value then fields[open.name:lower()] = value end
end

--- The filled-in fields of a text for people: name in lower case -> value. A field is a heading with all that follows
--- up to the next one, or a line "- Name: value" (bold or not) with the lines below it. One that holds only <a hint>, a
--- comment or "TODO" is not filled in.
function gates.fields(text)
    local fields, section, field = {}, nil, nil
    for line in (text:gsub("\r", "") .. "\n"):gmatch("(.-)\n") do
        local heading = line:match("^#+%s+(.-)%s*$")
        local name, value = field_of(line)
        if heading then
            add(fields, section)
            section = { name = heading, lines = {} }
        elseif section then
            section.lines[#section.lines + 1] = line
        end
        if heading or name then
            add(fields, field)
            field = name and not heading and { name = name, lines = { value } } or nil
        elseif field then
            field.lines[#field.lines + 1] = line
        end
    end
    add(fields, section)
    add(fields, field)
    return fields
end

--- A path with the run's names in it: {n} the next trial, {v} one more, {task}, {kernel} the solution's main file
--- without its extension.
function gates.path(pattern, run)
    local task = run.task or {}
    local main = task.solution and task.solution[1] or "kernel"
    local names = { n = tostring(run.next_trial), v = tostring(run.next_trial + 1), task = task.name or "task",
        kernel = (fs.basename(main):gsub("%.[^.]+$", "")) }
    return (pattern:gsub("{(%a+)}", names))
end

--- A file of the workspace that must exist and have these fields filled in. given: path (as in `path`), fields, text
--- (what the file is).
function gates.file(given)
    return function(run)
        local path = gates.path(given.path, run)
        local what = given.text and given.text .. ": " or ""
        local text = fs.read(fs.join(run.workspace, path))
        if not text then return ("%s%s is missing; write it with the fields %s"):format(what, path,
            table.concat(given.fields or {}, ", ")) end
        local filled, missing = gates.fields(text), {}
        for _, name in ipairs(given.fields or {}) do
            if not filled[name:lower()] then missing[#missing + 1] = name end
        end
        if #missing == 0 then return nil end
        return ("%s%s lacks %s; fill in 'Name: value' for each"):format(what, path, table.concat(missing, ", "))
    end
end

-- The change

--- True when nobody proposes anything and what is missing is only asked for.
function gates.is_question(proposal) return #(proposal.sources or {}) == 0 end

-- A name that somebody has given; the edits of a proposer's command are only counted.
local function is_named(candidate) return not is_blank(candidate) and not candidate:find("^proposal %d+$") end

--- From the first edit on each trial says beforehand why it will be faster. With given.candidates the name of a
--- candidate's file is enough.
function gates.hypothesis(given)
    return function(run, proposal)
        if run.next_trial == 0 or gates.is_question(proposal) or not is_blank(proposal.hypothesis) then return nil end
        if given and given.candidates and is_named(proposal.candidate) then return nil end
        return "no hypothesis: say with -m in one sentence why this change is faster"
    end
end

--- From the first edit on each trial says how many per cent faster it expects to be.
function gates.prediction()
    return function(run, proposal)
        if run.next_trial == 0 or gates.is_question(proposal) or proposal.predict then return nil end
        return "no prediction: say with --predict=PERCENT how much faster it will be"
    end
end

-- The places at which the workspace differs from the best; nil and why they cannot be counted.
local function hunks(run, paths)
    local repo, problem = git.open(run.workspace)
    if not repo then return nil, problem end
    local tree, diff
    tree, problem = repo:tree(run.best.commit, paths)
    if tree then diff, problem = repo:diff(run.best.commit, tree, { patch = true }) end
    repo:close()
    if not diff then return nil, problem end
    local _, count = ("\n" .. diff.patch):gsub("\n@@ ", "")
    return count
end

--- One change a trial: at most `given.hunks` places may differ from the best, unless the hypothesis begins with
--- "rewrite:" and so names what is done as a whole.
function gates.one_change(given)
    return function(run, proposal, opt)
        if not run.best or #(proposal.changed or {}) == 0 then return nil end
        if (proposal.hypothesis or ""):lower():find("^%s*rewrite:%s*%S") then return nil end
        local most = number(given.hunks, opt)
        local count, problem = hunks(run, proposal.changed)
        if not count then return "the change cannot be compared with the best: " .. problem end
        if count <= most then return nil end
        return ("%d places differ from the best, at most %d in one trial: try one idea at a time, or begin the "
            .. "hypothesis with 'rewrite: ' and its name"):format(count, most)
    end
end

return gates
