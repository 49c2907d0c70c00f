-- The brief: all that somebody without a memory needs to go on with a session, in at most 2048 bytes. Goal, rules in
-- force, baseline, best, last trials, what failed and why, open ideas, what a trial would be refused for now, and the
-- next step with its reason.
--
-- It is made twice: as an object (`object`), in which everything is, and from that as a text (`text`), which gets
-- shorter where it must: first the oldest go, then long texts are cut.

local format = require "ako.format"
local json = require "ako.json"
local rules = require "ako.rules"
local plan = require "ako.plan"
local trial = require "ako.trial"

local brief = {}

--- No text is longer, in bytes.
brief.MOST_BYTES = 2048

local LONGEST_TEXT = 400 -- of one text of an author's or a policy's in the object, in bytes
-- What a text may hold, most first: how many last trials, earlier failures, ideas and notes, and bytes of one text.
local SIZES = { { 10, 5, 5, 3, 160 }, { 8, 4, 4, 2, 120 }, { 7, 3, 3, 2, 96 }, { 5, 3, 3, 1, 72 }, { 4, 2, 2, 1, 56 },
    { 3, 1, 1, 1, 44 }, { 2, 1, 1, 0, 32 } }
local MOST = { last = SIZES[1][1], failed = SIZES[1][2], ideas = SIZES[1][3], notes = SIZES[1][4] }
local LOOK_BACK = 500 -- trials among which earlier failures are looked for
local IDEAS = { idea = true, next = true } -- topics of notes

local function short(text, bytes) return format.fit(format.line(text), bytes or LONGEST_TEXT) end

local function name_of(record) return record.hypothesis or record.candidate or "the tree as it is" end

-- What a policy's answer is in words, nil for none.
local function words(value) return type(value) == "string" and value ~= "" and short(value) or nil end

-- Rules in words

local function ask(parts, name, ...)
    if parts.hook then return parts.hook(name, ...) end
    return require("ako.policy").call(parts.policy, name, ...)
end

local function rule_text(parts, name)
    local rule = parts.policy[name]
    if not rule then return nil end
    local text = rules.words(rule, parts.opt, parts.policy)
    if text == nil then return ("the policy's own rule '%s' decides"):format(name) end
    return text or nil
end

-- What the machine's noise has made of the policy's threshold: a share; nil where it stays what it is.
local function raised_threshold(run, parts)
    local known = run.original and run.original.control
    local numbers, raised_from = plan.pairs(parts.policy, parts.opt, known and known.floor)
    return raised_from and numbers.threshold or nil
end

local function policy_of(run, parts)
    local policy = parts.policy
    return { name = policy.name, description = short(policy.description),
        keeps = short(rule_text(parts, "accept") or "the policy decides"),
        stops = short(rule_text(parts, "stop") or "nothing but the end of the candidates"),
        stalls = words(rule_text(parts, "stalled")), raised_threshold = raised_threshold(run, parts) }
end

-- Trials

local function row(record)
    return { trial = record.trial, verdict = trial.verdict(record), by_hand = record.override and true or nil,
        status = record.status, what = short(name_of(record)), gain = trial.gain(record), predict = record.predict,
        median_ns = record.time_ns and record.time_ns.median,
        reason = short(record.override_reason or record.reason or "") }
end

local function standing(record)
    if not record then return nil end
    local entry = row(record)
    entry.speedup = { original = record.speedup.original, reference = record.speedup.reference }
    entry.interval = record.interval and record.interval.original
    return entry
end

local function counts_of(run)
    if run.counts then return run.counts end
    local counts = { keep = 0, revert = 0, inconclusive = 0 }
    for _, record in ipairs(run.history) do
        local verdict = trial.verdict(record)
        if record.trial > 0 then counts[verdict] = counts[verdict] + 1 end
    end
    return counts
end

-- The newest records for which `wanted` holds, from index `from` down to `to` (the first trial), newest first.
local function newest(history, from, most, wanted, to)
    local list = json.array()
    for i = from, math.max(to or 2, 2), -1 do
        if #list == most then break end
        if not wanted or wanted(history[i]) then list[#list + 1] = row(history[i]) end
    end
    return list
end

-- Beside the last trials: what did not even pass, and why.
local function failures(history)
    local from = #history - MOST.last
    return newest(history, from, MOST.failed, function(record) return record.status ~= "PASSED" end, from - LOOK_BACK)
end

local function plain(text) return (text:lower():gsub("%W+", " "):gsub("^ ", ""):gsub(" $", "")) end

-- was_tried(note): whether a trial behind a note has taken it for its hypothesis. To be asked of newer notes first: the
-- history is read no further back than it must be.
local function memory_of(history)
    local tried, from = {}, #history
    return function(note)
        local about = note.trial or -1
        while from > about + 1 do
            local hypothesis = history[from].hypothesis
            if hypothesis then tried[plain(hypothesis)] = true end
            from = from - 1
        end
        return tried[plain(note.text)]
    end
end

-- Notes of the topics idea and next that no later trial has taken for its hypothesis, newest first; then the others.
local function notes_of(run)
    local notes, ideas, others = run.notes or {}, json.array(), json.array()
    local was_tried = memory_of(run.history)
    for i = #notes, 1, -1 do
        if #ideas == MOST.ideas and #others == MOST.notes then break end
        local note = notes[i]
        local is_idea = IDEAS[(note.topic or ""):lower()]
        local list, most = is_idea and ideas or others, is_idea and MOST.ideas or MOST.notes
        if #list < most and not (is_idea and was_tried(note)) then
            list[#list + 1] = { trial = note.trial, topic = note.topic, text = short(note.text), file = note.file }
        end
    end
    return ideas, others
end

local function is_run(run) return (run.header or {}).verb == "run" end

-- True where nobody is at work any more on what has an end of its own: a trial, or a run.
local function is_left(run, parts)
    return not parts.holder and not parts.proposer and (run.open ~= nil or (is_run(run) and run.session ~= nil))
end

local function after_the_end(run, command, last, solution)
    local step = ("`%s try --session=NAME` starts another session"):format((command:gsub(" %-%-session=%S+", "")))
    if run.best or not last then return step, "this one is finished" end
    return ("mend %s, then %s"):format(solution, step), ("the first trial was no start, %s: %s"):format(last.status,
        last.reason)
end

-- Where nothing but the next edit is to be done, and a trial is there to learn from.
local function next_edit(run, object, command, edit)
    local last = run.history[#run.history]
    if not run.best then
        return "mend the first trial: " .. edit, ("%s: %s"):format(last.status, last.reason)
    elseif last.override then
        return edit, ("trial %d was overridden by hand (%s): %s"):format(last.trial, last.override,
            last.override_reason or "")
    elseif object.stalled then
        return ("think anew and write it down (`%s note -m TEXT --topic=idea`), then change course"):format(command),
            "no progress: " .. object.stalled
    elseif last.status == "PASSED" and object.ideas[1] then
        return edit, ("an open idea: %s"):format(object.ideas[1].text)
    end
    return edit, ("trial %d: %s"):format(last.trial, last.next or last.reason)
end

-- What to do now: { step, reason }.
local function next_step(run, parts, object)
    local command = parts.command or "ako-lua POLICY.lua"
    local last, solution = run.history[#run.history], table.concat(object.goal.solution, ", ")
    local edit = parts.proposer
        and ("change one thing in %s, write why it is faster to $AKO_HYPOTHESIS_FILE, exit with 0"):format(solution)
        or ("change one thing in %s, then `%s try -m \"why it is faster\"`"):format(solution, command)
    if run.finished then
        return after_the_end(run, command, last, solution)
    elseif run.open and (parts.holder or parts.proposer) then
        return "wait until it ends", ("trial %d is being measured by %s"):format(run.open.trial,
            parts.holder or "the run")
    elseif is_left(run, parts) then
        return ("`%s %s`"):format(command, is_run(run) and "resume" or "try"), run.open
            and ("trial %d was cut off: this closes it and goes on"):format(run.open.trial)
            or "the run was interrupted: this goes on with its candidates"
    elseif object.gate then
        return ("do what the policy asks for before the %s trial"):format(last and "next" or "first"), object.gate
    elseif not last and not (run.task or {}).name and not parts.policy.find_task then
        local named = command:gsub("^ako%-lua", "%0 --task=FILE")
        return ("`%s try`"):format(named), "no task is named, and none lies here"
    elseif not last then
        local step = ("`%s try` measures the files as they are"):format(command)
        return step, "everything is compared with the first trial"
    elseif object.stop then
        return ("`%s finish -m \"why\"`"):format(command), "the policy stops here: " .. object.stop
    end
    return next_edit(run, object, command, edit)
end

-- What the hooks say of the present: a hook of a policy that has nothing to compare yet is not asked.
local function ask_hooks(run, parts, object)
    local policy = parts.policy
    if run.finished then return end
    local function copy() -- what a hook does to it is not what others see
        local made = {}
        for name, value in pairs(run) do made[name] = value end
        return made
    end
    if policy.gate then
        local proposal = { trial = run.next_trial or #run.history, changed = {}, sources = {} }
        object.gate = words(ask(parts, "gate", copy(), proposal, parts.opt))
    end
    if not run.best then return end
    object.stop = policy.stop and words(ask(parts, "stop", copy(), parts.opt)) or nil
    object.stalled = policy.stalled and words(ask(parts, "stalled", copy(), parts.opt)) or nil
end

--- All that a brief is made of, as the JSON object of the verb has it. `run` is what hooks get (ako.loop's view);
--- `parts`: policy, opt, hook(name, ...) (calls a hook of the policy; default: under the host's limits), command (how
--- the program is called, "ako-lua mine.lua"), holder (who is at work in the session, in words), proposer (true: it is
--- for a proposer's command, which edits and exits). Raises what the policy's hooks raise.
function brief.object(run, parts)
    local task, device = run.task or {}, run.device or {}
    local object = { v = 1, session = run.session,
        goal = { task = task.name or "unknown", file = task.file, workloads = task.workloads and #task.workloads,
            solution = json.array(task.solution or {}), reference = json.array(task.reference or {}),
            device = device.name or device.id or "unknown", workspace = run.workspace },
        policy = policy_of(run, parts), baseline = standing(run.original), best = standing(run.best),
        trials = math.max(0, #run.history - 1), counts = counts_of(run),
        last = newest(run.history, #run.history, MOST.last), failed = failures(run.history) }
    object.ideas, object.notes = notes_of(run)
    ask_hooks(run, parts, object)
    local step, reason = next_step(run, parts, object)
    object.next = { step = short(step), reason = short(reason) }
    return object
end

-- As text

local function percent(gain) return ("%+.1f %%"):format(gain) end

local function row_text(entry, bytes)
    local parts = { ("%d %s"):format(entry.trial, entry.verdict) }
    if entry.by_hand then parts[1] = parts[1] .. " by hand" end
    if entry.status ~= "PASSED" then parts[#parts + 1] = entry.status end
    local what = short(entry.what, bytes)
    local reason = entry.reason ~= "" and ": " .. short(entry.reason, bytes) or ""
    local predicted = entry.predict and (" (predicted %s%s)"):format(percent(entry.predict),
        entry.gain and ", measured " .. percent(entry.gain) or "") or ""
    return ("- %s, \"%s\"%s%s"):format(table.concat(parts, " "), what, predicted, reason)
end

local function standing_text(entry, bytes)
    local parts = { ("trial %d"):format(entry.trial) }
    if entry.trial > 0 then parts[1] = ("%s \"%s\""):format(parts[1], short(entry.what, bytes)) end
    if entry.status ~= "PASSED" then
        parts[#parts + 1] = ("%s: %s"):format(entry.status, short(entry.reason, bytes))
    end
    if entry.median_ns then parts[#parts + 1] = "median " .. format.duration(entry.median_ns) end
    for _, name in ipairs { "original", "reference" } do
        local speedup = entry.speedup[name]
        if speedup and (entry.trial > 0 or name ~= "original") then
            parts[#parts + 1] = ("%s over the %s"):format(format.ratio(speedup), name)
        end
    end
    return table.concat(parts, ", ")
end

local function add_list(lines, title, list, most, line_of)
    if #list == 0 or most == 0 then return end
    lines[#lines + 1] = title
    for i = 1, math.min(#list, most) do lines[#lines + 1] = line_of(list[i]) end
end

local function note_text(note, bytes)
    local about = note.trial and note.trial > 0 and (" (trial %d)"):format(note.trial) or ""
    local topic = note.topic and not IDEAS[note.topic:lower()] and short(note.topic, bytes) .. ": " or ""
    local text = short(note.text, bytes)
    local file = note.file and ("%s[%s]"):format(text ~= "" and " " or "", short(note.file, bytes)) or ""
    return ("- %s%s%s%s"):format(topic, text, file, about)
end

local function head(object, bytes)
    local goal, policy = object.goal, object.policy
    local solution = #goal.solution > 0 and short(table.concat(goal.solution, ", "), bytes) or "the solution"
    local guarded = short(table.concat(goal.reference, ", "), bytes)
    local raised = policy.raised_threshold and (": for this machine's noise, at least %s"):format(
        trial.threshold(policy.raised_threshold)) or ""
    local several = goal.workloads and goal.workloads > 1 and (" over its %d workloads"):format(goal.workloads) or ""
    return {
        ("goal: make %s of task %s faster%s, results unchanged; on %s. Edit nothing else of it (%stask, policy)")
            :format(solution, short(goal.task, bytes), several, short(goal.device, bytes),
                guarded ~= "" and guarded .. ", " or ""),
        ("session %s in %s, policy %s: %s"):format(short(object.session or "none yet", bytes),
            short(goal.workspace or ".", bytes), short(policy.name, bytes), short(policy.description, bytes)),
        "kept: " .. short(policy.keeps, 2 * bytes) .. raised .. "; else the best's files come back",
        "stops: " .. short(policy.stops, bytes),
        "baseline: " .. (object.baseline and standing_text(object.baseline, bytes) or "not measured yet"),
        "best: " .. (not object.best and "none yet"
            or object.baseline and object.best.trial == object.baseline.trial and "the baseline, still"
            or standing_text(object.best, bytes)),
    }
end

local function text_of(object, size)
    local last, failed, ideas, notes, bytes = table.unpack(size)
    local lines, counts = head(object, bytes), object.counts
    local function rows(entry) return row_text(entry, bytes) end
    local function of_note(note) return note_text(note, bytes) end
    lines[#lines + 1] = ("trials: %d (%d kept, %d reverted, %d inconclusive)%s"):format(object.trials, counts.keep,
        counts.revert, counts.inconclusive, #object.last > 0 and ", newest first:" or "")
    for i = 1, math.min(#object.last, last) do lines[#lines + 1] = rows(object.last[i]) end
    add_list(lines, "failed before:", object.failed, failed, rows)
    add_list(lines, "open ideas:", object.ideas, ideas, of_note)
    add_list(lines, "notes:", object.notes, notes, of_note)
    if object.gate then lines[#lines + 1] = "a trial is refused now: " .. short(object.gate, 2 * bytes) end
    if object.stalled then lines[#lines + 1] = "stalled: " .. short(object.stalled, bytes) end
    lines[#lines + 1] = ("next: %s; because %s"):format(short(object.next.step, 2 * bytes),
        short(object.next.reason, 2 * bytes))
    return table.concat(lines, "\n") .. "\n"
end

--- A brief as text, at most brief.MOST_BYTES long, from its object.
function brief.shown(object)
    local text
    for _, size in ipairs(SIZES) do
        text = text_of(object, size)
        if #text <= brief.MOST_BYTES then return text end
    end
    return format.fit(text, brief.MOST_BYTES - 1) .. "\n"
end

--- The brief of a run as text; takes what `object` takes.
function brief.text(run, parts) return brief.shown(brief.object(run, parts)) end

return brief
