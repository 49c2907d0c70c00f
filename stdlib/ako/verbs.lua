-- The verbs of the command line that work on a task: verbs[name](ctx) does it and returns the exit code. ctx is what
-- ako.start takes, with verb_options (candidates, message) and host.json. Results go to stdout, the rest to stderr.

local amend = require "ako.amend"
local console = require "ako.console"
local diagnosis = require "ako.diagnosis"
local doctor = require "ako.doctor"
local doctor_folder = require "ako.doctor_folder"
local evaluation = require "ako.evaluation"
local exits = require "ako.exits"
local fault = require "ako.fault"
local format = require "ako.format"
local json = require "ako.json"
local look = require "ako.look"
local opening = require "ako.opening"
local output = require "ako.output"
local pick = require "ako.pick"
local plan = require "ako.plan"
local plan_text = require "ako.plan_text"
local proposer = require "ako.proposer"
local recovering = require "ako.recovering"
local report = require "ako.report"
local scaffolding = require "ako.scaffolding"
local screen = require "ako.screen"
local session = require "ako.session"
local simulate = require "ako.simulate"
local start = require "ako.start"
local suite = require "ako.suite"
local suite_pairs = require "ako.suite_pairs"
local suite_plan = require "ako.suite_plan"
local suite_run = require "ako.suite_run"
local workspace = require "ako.workspace"

local verbs = {}

local must = fault.must

-- What a policy's render gives: lines, and members for the JSON object (or nil).
local function render(ctx, run)
    if not ctx.policy.render then return {}, nil end
    local lines, members = ctx.hook("render", run, ctx.opt)
    local good = type(lines) == "table" and (members == nil or type(members) == "table")
    for _, line in ipairs(good and lines or {}) do good = good and type(line) == "string" end
    if not good then
        fault.raise("POLICY", "hook 'render' must return a list of lines and a table for the JSON object, or no table")
    end
    local written, problem = pcall(json.encode, members or {})
    if not written then fault.raise("POLICY", "hook 'render' returned what JSON cannot say: %s", problem) end
    return lines, members
end

-- The same for the record on which a verb reports.
local function rendered(started, loop, record)
    local run = loop:view()
    run.last = record
    return render(started, run)
end

-- Whether the session's branch and refs hold the best: the summary of a run, as JSON.
local function run_object(started, ended)
    local opened = started.session
    return { trials = #opened.history - 1, kept = opened.counts.keep,
        best = opened.best and opened.best.trial or json.null, ended = ended or json.null,
        workspace = format.utf8(opened.ws.folder), branch = session.branch_name(opened) or json.null }
end

local function say(ctx, started, loop, record, own_lines, run)
    local lines, members = rendered(started, loop, record)
    local object = report.object(record)
    if members then object[started.policy.name] = members end
    object.run = run
    output.either(ctx, object, report.text(lines, own_lines))
end

-- Lines of a plan, their values below each other.
local function labelled(list)
    local width, lines = 11, {}
    for _, line in ipairs(list) do width = math.max(width, #line[1]) end
    for i, line in ipairs(list) do lines[i] = format.pad(line[1], width) .. " " .. line[2] end
    return lines
end

local function show_plan(started, source)
    for _, list in ipairs { started.own_lines, plan_text.common(started, source) } do
        for _, line in ipairs(labelled(list)) do started.progress:note(line) end
    end
end

-- Says what the policy has against something, `what` of the session; the code for it.
local function refuse(started, what, reason, object)
    local ctx = started.ctx
    object.v, object.session, object.refused = 1, started.session.name, reason
    output.either(ctx, object, report.text { ("%s: %s"):format(what, reason) })
    return exits.REJECTED
end

-- What the policy's gate says against a trial: said, and the code for it; nil when it may begin.
local function refused(started, loop, info)
    local reason, n = loop:refusal(info), #started.session.history
    return reason and refuse(started, ("trial %d may not begin"):format(n), reason, { trial = n })
end

-- A trial for each, or a screening first where the policy wants one. Returns why it ended.
local function try_all(started, loop, source)
    local list = source.list
    if list and screen.is_wanted(started.policy, #list) then return screen.run(loop, list) end
    return loop:run(source.next)
end

-- From the baseline on, to the end. Returns exit code and record.
local function conclude(started, loop, source, tell)
    local ended
    if started.session.best and source then ended = try_all(started, loop, source) end
    local record = loop:finish(ended)
    tell(started, loop, record, ended)
    return loop.cancelled and exits.INTERRUPTED or exits.of_record(record), record
end

-- One task from baseline to finish. tell(started, loop, record, ended) gives the account. Returns exit code and record.
local function run_task(ctx, tell)
    local started <close> = start.new(ctx)
    started:resolve()
    local source = proposer.choose(started)
    started:prepare()
    recovering.workspace(started)
    source = source or proposer.points(started)
    local loop = started:loop(opening.to_run(started, source))
    show_plan(started, source)
    scaffolding.write(started)
    local first = { candidate = "baseline" }
    local code = refused(started, loop, first)
    if code then
        started.session:discard()
        return code
    end
    loop:try(first)
    return conclude(started, loop, source, tell)
end

local function say_run(started, loop, record, ended)
    local opened = started.session
    local verified = record ~= opened.best and record ~= opened.original and record or nil
    say(started.ctx, started, loop, record, report.run_lines(opened, ended, verified), run_object(started, ended))
end

-- Several tasks: the account of each goes to stderr, that of all of them to stdout.
local function say_suite(ctx, records)
    local lines, members = render(ctx, { tasks = records })
    if not ctx.host.json then return output.text(ctx, report.text(lines, report.suite_lines(records))) end
    local object = { v = 1, tasks = json.array() }
    for i, entry in ipairs(records) do
        object.tasks[i] = report.object(entry.record)
        object.tasks[i].task = entry.task
    end
    if members then object[ctx.policy.name] = members end
    output.object(ctx, object)
end

local function run_suite(ctx, folders)
    if ctx.verb_options.candidates then
        fault.raise("INVALID", "--candidates belongs to one task, but %s holds %d", ctx.host.task, #folders)
    end
    local records, worst = {}, exits.DONE
    for _, folder in ipairs(folders) do
        local name
        local code, record = run_task(suite.context(ctx, folder), function(started) name = started.task.name end)
        records[#records + 1] = { task = name, record = record }
        if worst == exits.DONE then worst = code end
        if code == exits.INTERRUPTED then return code end
    end
    say_suite(ctx, records)
    return worst
end

-- Whether it is a folder of problems in Python that is to be run. Raises a fault for options that belong to the other.
local function takes_problems(ctx)
    local is_suite, given = suite_pairs.is_suite(ctx.host), ctx.verb_options or {}
    for _, name in ipairs(is_suite and { "candidates", "propose" } or {}) do
        fault.check(not given[name], "--%s belongs to one task, but %s holds problems", name, ctx.host.task)
    end
    for _, name in ipairs(is_suite and {} or { "results", "devices", "builders" }) do
        fault.check(not given[name], "--%s is for a folder of problems (--task)", name)
    end
    return is_suite
end

--- run: the baseline, then a trial for each candidate, then the best restored and verified. A --task that is a folder
--- of tasks runs them all; the exit code is then that of the first one that failed. A folder of problems in Python is
--- evaluated against a folder of solutions (ako.suite_run).
function verbs.run(ctx)
    if takes_problems(ctx) then return suite_run.run(ctx, function(run) return render(ctx, run) end) end
    local folders = suite.folders(ctx.host)
    if folders then return run_suite(ctx, folders) end
    return (run_task(ctx, say_run))
end

--- try: one trial of the tree as it is; the first one of a session is its baseline.
function verbs.try(ctx)
    ctx = pick.as_begun(ctx, opening.is_open)
    local started <close> = start.new(ctx)
    opening.check_place(started)
    started:resolve()
    started:prepare()
    recovering.workspace(started)
    local loop = started:loop(opening.to_try(started))
    if #started.session.history == 0 then show_plan(started) end
    scaffolding.write(started)
    local given = ctx.verb_options or {}
    local info = { hypothesis = given.message, predict = given.predict, label = given.label }
    local code = refused(started, loop, info)
    if code then
        started.session:discard()
        return code
    end
    local record = loop:try(info)
    say(ctx, started, loop, record, report.trial_lines(record))
    return loop.cancelled and exits.INTERRUPTED or exits.of_record(record)
end

-- Going on with a session

local function is_interrupted(state) return state.header.verb == "run" and not state.finished end

-- The session that a verb goes on with: the one named or the newest. An older one, of which the workspace's files are
-- not, is only spoken of.
local function to_go_on(ctx, accept)
    local state = pick.session(ctx)
    if accept(state) then return state end
    local older = not ctx.host.session and pick.find(ctx, accept)
    local what = state.finished and ("is finished (%s)"):format(state.finished.ended or "no reason given")
        or "is no run: `try` goes on with it"
    fault.raise("INVALID", "session %s %s; %s", state.name, what, older
        and ("--session=%s goes on with an older one that is open"):format(older.name)
        or state.finished and "`run` or `try` starts another one" or "there is nothing to resume")
end

-- Opens the session of `state` in a started workspace. What is verified or tried must be of its own task and policy.
local function go_on(started, state, worked_s)
    started:prepare()
    opening.check_same(started, state)
    recovering.workspace(started)
    local opened = must(session.resume(started.ws, must(session.read(started.ws.repo, state.name))))
    local loop = started:loop(opened, worked_s)
    local name = loop:changed_protected()
    if name then
        fault.raise("PROTECTED", "protected file %s changed since session %s began: undo that change, or begin "
            .. "another session", name, state.name)
    end
    return loop
end

--- resume: a run that was interrupted goes on, with its candidates and what its policy's budget has left.
function verbs.resume(ctx)
    local state = to_go_on(ctx, is_interrupted)
    local worked_s = session.worked_s(state)
    local started <close> = start.new(pick.own(ctx, state))
    started:resolve()
    local source = proposer.choose(started, state.header, state.history)
    local loop = go_on(started, state, worked_s)
    local opened = started.session
    must(opened:note_resumed(worked_s))
    source = source or proposer.points(started, opened.history)
    local first = { candidate = "baseline" }
    local code = not opened.best and refused(started, loop, first)
    if code then return code end
    if not opened.best then loop:try(first) end
    return (conclude(started, loop, source, say_run))
end

--- finish: the best is restored, byte for byte, and verified, the policy's last commit made, and the session closed,
--- unless the policy's `finish` has something against it.
function verbs.finish(ctx)
    local reason = format.line((ctx.verb_options or {}).message or "")
    if not reason:find("%S") then fault.raise("INVALID", "finish needs a reason: finish -m TEXT") end
    local state = to_go_on(ctx, pick.is_unfinished)
    fault.check(#state.history > 0, "nothing was tried in session %s yet, so there is nothing to finish", state.name)
    local started <close> = start.new(pick.own(ctx, state))
    started:resolve()
    local loop = go_on(started, state)
    local against = loop:finish_refusal(reason)
    if against then return refuse(started, ("session %s is not finished"):format(state.name), against, {}) end
    local record = loop:finish(reason)
    say_run(started, loop, record, reason)
    return loop.cancelled and exits.INTERRUPTED or exits.of_record(record)
end

--- plan: what run would do, without doing any of it; what a run would refuse before its first trial is refused here,
--- too, with the same exit code.
function verbs.plan(ctx)
    if takes_problems(ctx) then return suite_plan.tell(ctx) end
    local started <close> = start.new(ctx)
    started:resolve()
    local source = proposer.choose(started)
    must(workspace.check(ctx.host, started.task, started.bundled))
    source = source or proposer.points(started)
    local own, common = started.own_lines, plan_text.common(started, source)
    local list, lines, object = source and source.list, labelled(own), { v = 1 }
    for _, line in ipairs(own) do
        object.resolved = object.resolved or {}
        object.resolved[line[1]] = line[2]
    end
    table.move(labelled(common), 1, #common, #lines + 1, lines)
    for _, line in ipairs(common) do
        object[line[1]] = line[2]
    end
    object.steps, object.tolerance = started.plan.steps, started.plan.tolerance
    object.pairs = plan.pairs(ctx.policy, ctx.opt) or json.null
    object.screen = list and screen.is_wanted(ctx.policy, #list) and plan.screen(ctx.policy, #list) or json.null
    for i, line in ipairs(lines) do lines[i] = format.line(line) .. "\n" end
    return output.either(ctx, object, table.concat(lines))
end

--- simulate: the policy's rule on synthetic noise, or on the trials of the session that is named.
function verbs.simulate(ctx)
    local lines, object = simulate.answer(ctx)
    return output.either(ctx, object, report.text(lines))
end

local function start_one(ctx)
    local folders = suite.folders(ctx.host)
    fault.check(not folders, "%s holds tasks: name one of them, --task %s", ctx.host.task, folders and folders[1])
    return start.new(ctx)
end

local function examine_one(started)
    started:resolve()
    return doctor.examine(started)
end

--- doctor: attacks the task and looks at the machine, before any optimizing; changes nothing. A task on which a result
--- that no honest kernel gives would pass is refused (exit 13), unless the policy's correctness.weak is "warn"; so is a
--- folder of problems in Python with one. Where nothing can be started the machine alone is looked at.
function verbs.doctor(ctx)
    local begin, examine = start_one, examine_one
    if suite_pairs.is_suite(ctx.host) then begin, examine = doctor_folder.start, doctor_folder.examine end
    local started <close>, problem, code = fault.catch(begin, ctx)
    local found = started and examine(started) or doctor.look_around(ctx, problem, code)
    output.either(ctx, diagnosis.object(found), report.text(diagnosis.lines(found)))
    return found.code
end

for _, module in ipairs { look, amend, evaluation } do
    for name, verb in pairs(module) do verbs[name] = verb end
end

-- What went wrong outside of any candidate is one line on stderr and an exit code.
local function guarded(verb)
    return function(ctx)
        local code, problem, kind = fault.catch(verb, ctx)
        if code then return code end
        local console_of = ctx.console or console
        console_of.err("ako-lua: " .. format.line(tostring(problem)) .. "\n")
        return exits.of_code(kind)
    end
end

for name, verb in pairs(verbs) do verbs[name] = guarded(verb) end

return verbs
