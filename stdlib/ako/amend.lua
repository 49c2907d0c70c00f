-- The verbs by which somebody prepares a workspace or adds to a session by hand, without measuring anything: init,
-- note, keep, revert.

local brief = require "ako.brief"
local console = require "ako.console"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local idle = require "ako.idle"
local json = require "ako.json"
local log = require "ako.log"
local opening = require "ako.opening"
local output = require "ako.output"
local pick = require "ako.pick"
local place = require "ako.place"
local recovering = require "ako.recovering"
local report = require "ako.report"
local scaffolding = require "ako.scaffolding"
local session = require "ako.session"
local workspace = require "ako.workspace"

local amend = {}

local must = fault.must

local function answer(ctx, lines, object) return output.either(ctx, object, report.text(lines)) end

-- A loop that renders and commits but measures nothing, over a session as it is opened by open(ws, state).
local function idle_loop(started, open)
    local opened = must(open(started.ws, must(session.read(started.ws.repo, started.host.session))))
    local loop, finished = started:loop(opened), opened.finished
    if finished then loop.finished = { ended = finished.ended, verified = finished.verified } end
    return loop
end

-- The logs in a workspace are those of its newest session.
local function is_newest(state)
    local folder = place.is_of(state.header, state.ws) and state.ws.folder or state.header.workspace
    local newest = session.newest { repo = state.repo, folder = folder }
    return newest ~= nil and newest.name == state.name
end

local function begin_idle(ctx, state)
    local started = idle.start(pick.own(ctx, state), state.header.device)
    started:resolve()
    started:prepare()
    opening.check_same(started, state)
    return started
end

-- Notes

-- A file as a note has it: its path in the workspace, or an absolute one, and the hash of what it holds.
local function note_file(typed, folder)
    local path = fs.exists(typed) and typed or fs.join(folder, typed)
    local full = fs.absolute(path)
    if not full then fault.raise("NOTFOUND", "--file: no file %s", typed) end
    fault.check(not fs.is_dir(full), "--file: %s is a folder; name a file", typed)
    local hash = must(fs.hash(full))
    local root = folder .. "/"
    return full:sub(1, #root) == root and full:sub(#root + 1) or full, hash
end

-- What is under way in the session stays as it is: a proposer may add notes while the run that wants its edit waits.
local function open_as_it_is(state)
    local ws = { repo = state.repo, folder = state.ws.folder, task = { solution = { files = state.paths } } }
    return must(session.open(ws, state.state))
end

-- Renders the policy's logs with the note in them, where nothing is under way in the session. Raises faults.
local function render(ctx, state)
    local is_idle = not (state.open or state.placed or state.proposing) and #state.history > 0
    if not (ctx.policy.logs and is_idle and is_newest(state)) then return end
    local started <close> = begin_idle(ctx, state)
    idle_loop(started, session.open):render_logs()
end

-- The note stands, whatever becomes of the logs; who is at work in the workspace renders them anew.
local function try_to_render(ctx, state)
    local _, problem, code = fault.catch(render, ctx, state)
    if problem and code ~= "BUSY" then
        (ctx.console or console).err(("the logs are not rendered: %s\n"):format(format.line(problem)))
    end
end

-- A session that begins with a note: the first trial goes on with it.
local function begin(ctx)
    local started <close> = idle.start(ctx)
    opening.check_place(started)
    started:prepare()
    return opening.new(started, "note")
end

-- The session that a note belongs to, and what was known of it, nil for a new one. One that is finished is meant only
-- where it, or a trial of it, is named; else the newest one that is not, which `try` goes on with, too.
local function session_of(ctx, about)
    local is_any = about or ctx.host.session
    local state, problem, code = fault.catch(pick.find, ctx, not is_any and pick.is_unfinished or nil)
    if problem and (code ~= "NOTFOUND" or about) then fault.raise(code, "%s", problem) end
    local is_meant = state and (not state.finished or about or ctx.host.session)
    if is_meant then return open_as_it_is(state), state end
    if about then fault.raise("NOTFOUND", "there is no session yet, so there is no trial %d", about) end
    return begin(ctx)
end

--- note [N]: words or a file of the author's, about trial N or the last one; before the first trial they begin a
--- session that it goes on with.
function amend.note(ctx)
    local given, about = ctx.verb_options or {}, (ctx.operands or {})[1]
    local text, folder = given.message or "", ctx.host.workspace or "."
    if not text:find("%S") and not given.file then
        fault.raise("INVALID", "a note needs words (-m TEXT) or a file (--file=FILE)")
    end
    local file, hash
    if given.file then file, hash = note_file(given.file, fs.absolute(folder) or folder) end
    local opened, state = session_of(ctx, about)
    local words = { text = text, trial = about, topic = given.topic, file = file, hash = hash }
    local line, problem, code = opened:note(words)
    if not state then opened:discard() end -- where nothing was noted
    opened:close()
    must(line, problem, code)
    if state then try_to_render(ctx, state) end
    local object = { v = 1, session = opened.name, started = state == nil, trial = line.trial or json.null,
        topic = line.topic, text = line.text, file = line.file, hash = line.hash }
    local where = line.trial and ("about trial %d"):format(line.trial) or "before the first trial"
    local text_line = ("noted in %ssession %s, %s: %s"):format(state and "" or "the new ", opened.name, where,
        log.note(line))
    return answer(ctx, { text_line }, object)
end

-- Overrides

local function check_override(record, verdict, given)
    local n = record.trial
    if not (given.message or ""):find("%S") then
        fault.raise("INVALID", "%s needs a reason: %s %d -m TEXT", verdict, verdict, n)
    end
    if verdict == "keep" and record.status ~= "PASSED" and not given.force then
        fault.raise("INVALID", "trial %d is %s: %s; --force keeps it all the same", n, record.status,
            format.line(record.reason))
    end
end

local function override_lines(result, verdict, reason)
    local lines = { ("trial %d: %s by hand: %s"):format(result.record.trial, verdict, reason) }
    if result.best ~= result.before then
        lines[2] = ("best: %s; before it was %s"):format(report.line(result.best),
            result.before and "trial " .. result.before.trial or "none")
    else
        lines[2] = ("best: %s, as before"):format(report.line(result.best))
    end
    lines[3] = result.left_alone and "the files stay as they are: " .. result.left_alone or nil
    return lines
end

local function override_object(result, name)
    local object = report.object(result.record)
    object.v, object.session, object.left_alone = 1, name, result.left_alone
    object.best = result.best.trial
    object.before = result.before and result.before.trial or json.null
    return object
end

local function override(ctx, verdict)
    local state, given = pick.session(ctx), ctx.verb_options or {}
    local n = ctx.operands[1]
    check_override(session.record(state, n), verdict, given)
    local started <close> = begin_idle(ctx, state)
    recovering.workspace(started)
    local loop, reason = idle_loop(started, session.resume), format.line(given.message)
    local result = must(started.session:override(n, verdict, reason, given.force))
    if is_newest(state) then loop:publish() end
    return answer(ctx, override_lines(result, verdict, reason), override_object(result, state.name))
end

--- keep N: by hand, trial N counts as kept and is the best.
function amend.keep(ctx) return override(ctx, "keep") end

--- revert N: by hand, trial N does not count; the one kept before it is the best again.
function amend.revert(ctx) return override(ctx, "revert") end

-- Workspaces

local function missing_solution(started)
    local missing, folder = {}, started:folder()
    for _, name in ipairs(started.task.solution.files) do
        if not fs.exists(fs.join(folder, name)) then missing[#missing + 1] = name end
    end
    return missing
end

-- What a session would begin with, as `brief` says it.
local function next_step(ctx, started)
    local run = pick.run(ctx, nil)
    run.workspace = started.ws.folder
    local parts = { policy = ctx.policy, opt = ctx.opt, hook = ctx.hook, command = pick.command(ctx) }
    return brief.object(run, parts).next
end

--- init: makes the workspace ready for its first trial and measures nothing: the repository, the solution's files and
--- the policy's scaffold, where they are missing. What is there stays as it is.
function amend.init(ctx)
    local started <close> = idle.start(ctx)
    opening.check_place(started)
    started:resolve()
    local made = missing_solution(started)
    must(workspace.check(started.host, started.task, started.bundled))
    started:prepare()
    for _, path in ipairs(scaffolding.write(started)) do made[#made + 1] = path end
    local folder, step = started.ws.folder, next_step(ctx, started)
    local lines = { ("workspace %s%s"):format(folder, started.ws.created and ": a new git repository" or "") }
    lines[2] = #made > 0 and "made: " .. table.concat(made, ", ") or "made: nothing, all is there"
    lines[3] = ("next: %s; because %s"):format(step.step, step.reason)
    return answer(ctx, lines, { v = 1, workspace = format.utf8(folder), repository = started.ws.created,
        made = json.array(made), next = step })
end

return amend
