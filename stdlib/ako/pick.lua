-- Which session a verb means that measures nothing, and what is known of it without an evaluator.

local console = require "ako.console"
local fault = require "ako.fault"
local fs = require "ako.fs"
local git = require "ako.git"
local place = require "ako.place"
local problems = require "ako.problem"
local session = require "ako.session"
local task_files = require "ako.task"
local workspace = require "ako.workspace"

local pick = {}

local must = fault.must

local function quoted(text) return text:find("^[%w_./:@=+-]+$") and text or "'" .. text:gsub("'", "'\\''") .. "'" end

--- How the program is called here, as far as it goes with every verb: with the policy and what says which task,
--- solution, workspace, device and session are meant.
function pick.command(ctx)
    local words = { "ako-lua" }
    for _, name in ipairs { "task", "solution", "dims", "workspace", "device", "python", "session" } do
        local value = ctx.host[name]
        if value and not (name == "device" and value == "auto") then
            words[#words + 1] = ("--%s=%s"):format(name, quoted(value))
        end
    end
    words[#words + 1] = quoted(ctx.file or ctx.policy.name)
    return table.concat(words, " ")
end

--- The workspace of a verb: { repo, folder }; nil where no repository holds it.
function pick.workspace(ctx)
    local folder = ctx.host.workspace or "."
    if ctx.host.session then session.check_name(ctx.host.session) end
    if not fs.is_dir(folder) then fault.raise("NOTFOUND", "there is no folder %s", folder) end
    local repo, problem, code = git.open(folder)
    if not repo and code == "NOTFOUND" then return nil end
    return { repo = must(repo, problem, code), folder = must(fs.absolute(folder)) }
end

--- True for the state of a session that can be gone on with.
function pick.is_unfinished(state) return not state.finished end

local MOST_NAMED = 5

-- Which sessions there are instead.
local function others(repo)
    local there = session.names(repo)
    if #there == 0 then return "" end
    local shown = table.concat(there, ", ", math.max(1, #there - MOST_NAMED + 1))
    return #there > MOST_NAMED and ("; the last of %d: %s"):format(#there, shown) or "; there are: " .. shown
end

local function read_named(repo, name)
    local state, problem, code = session.read(repo, name)
    if not state and code == "NOTFOUND" then problem = problem .. others(repo) end
    return must(state, problem, code)
end

--- The session that --session names, or the workspace's newest one: its .state (session.read), whose fields it shows as
--- its own, with repo, ws, paths, folder and holder (the process at work in it); nil where there is none. What is wrong
--- with others is said on stderr; a newest one that cannot be read is a fault. `accept(state)`: only one for which that
--- holds.
function pick.find(ctx, accept)
    local ws = pick.workspace(ctx)
    local name = ctx.host.session
    if not ws then
        if name then fault.raise("NOTFOUND", "there is no session '%s' here", name) end
        return nil
    end
    local state
    if name then
        state = read_named(ws.repo, name)
    else
        local damaged, broken
        state, damaged, broken = session.newest(ws, accept)
        if broken then fault.raise(broken.code, "session %s cannot be read: %s", broken.name, broken.problem) end
        for _, problem in ipairs(damaged) do (ctx.console or console).err("left out: " .. problem .. "\n") end
    end
    if not state or (accept and not accept(state)) then return nil end
    local found = { ws = ws, repo = ws.repo, paths = state.header.paths or {}, state = state,
        holder = session.holder(ws.repo, state.name), folder = fs.join(ws.repo:commondir(), "ako/" .. state.name) }
    return setmetatable(found, { __index = state })
end

--- The same; NOTFOUND where there is none.
function pick.session(ctx)
    local state = pick.find(ctx)
    if state then return state end
    local folder = ctx.host.workspace or "."
    fault.raise("NOTFOUND", "no session in %s yet; `run` or `try` starts one", fs.absolute(folder) or folder)
end

local function with_host(ctx)
    local host = {}
    for name, value in pairs(ctx.host) do host[name] = value end
    return setmetatable({ host = host }, { __index = ctx })
end

-- The task file that a session was begun with; nil where its policy has made the task.
local function named_task(header)
    local file = header.task_file or ""
    return not header.task_made and (problems.is_problem(file) or file:find("%.lua$")) and file or nil
end

-- Takes the task that a session was begun with, which its policy has not made; of one in Python its solution and sizes,
-- too.
local function adopt(host, header)
    local file = named_task(header)
    local is_problem = file and problems.is_problem(file)
    if not (file and fs.is_file(file)) then return end
    host.task = file
    if is_problem then
        host.solution, host.dims = host.solution or (header.paths or {})[1], host.dims or header.dims
    end
end

-- The context with the options on which a session's results stand (ako.policy), where the command line has none.
local function with_options(ctx, header)
    local was, given, opt = header.options, ctx.given or {}, {}
    if not was or header.policy ~= ctx.policy.name then return ctx end
    for name, value in pairs(ctx.opt) do
        opt[name] = value
        if given[name] == nil and was[name] ~= nil then opt[name] = was[name] end
    end
    return setmetatable({ opt = opt }, { __index = ctx })
end

--- The context with the task, where none is named or lies here, and those options of the session that --session names,
--- or else of the workspace's newest one for which accept(state) holds, so that they are named once; as it is without a
--- session.
function pick.as_begun(ctx, accept)
    local ws, name = fs.is_dir(ctx.host.workspace or ".") and pick.workspace(ctx), ctx.host.session
    local state
    if ws and name then state = session.read(ws.repo, name) elseif ws then state = session.newest(ws, accept) end
    if not state then return ctx end
    local _, bundled = workspace.find_task(ctx.host, ctx.home or require("ako.host").home)
    local own = bundled and with_host(ctx) or ctx
    if bundled then adopt(own.host, state.header) end
    return with_options(own, state.header)
end

--- The context for a verb that goes on with a session: in that one's workspace, with its task where none is named and
--- its policy has not made it, and with its options.
function pick.own(ctx, state)
    local header = state.header
    local own = with_host(with_options(ctx, header))
    local host, is_here = own.host, place.is_of(header, state.ws) -- records have names of any bytes as text
    host.session, host.workspace = state.name, is_here and state.ws.folder or header.workspace
    if not host.task and not fs.exists(fs.join(host.workspace, "task.lua")) then adopt(host, header) end
    return own
end

-- The session that --session names, or else the workspace's newest one; nil without.
local function known_session(ctx)
    local host = ctx.host
    local ws = fs.is_dir(host.workspace or ".") and pick.workspace(ctx)
    if not ws then return nil end
    local state, _, broken = host.session and session.read(ws.repo, host.session), nil, nil
    if not state then state, _, broken = session.newest(ws) end
    if broken then
        fault.raise(broken.code, "session %s, which knows the task, cannot be read: %s; name the task with --task",
            broken.name, broken.problem)
    end
    return state
end

--- The context where a task is named or lies here; else with the task of the session that --session names or of the
--- workspace's newest one, so that a session's task is named once. Raises NOTFOUND where that one's file is gone, and
--- what is wrong with a newest session that cannot be read.
function pick.going_on(ctx)
    local _, bundled = workspace.find_task(ctx.host, ctx.home or require("ako.host").home)
    local state = bundled and known_session(ctx)
    if not state then return ctx end
    local own, file = with_host(ctx), named_task(state.header)
    adopt(own.host, state.header)
    if file and not own.host.task then
        fault.raise("NOTFOUND", "the task of session %s, %s, is not there any more: put it back, or name the task with "
            .. "--task", state.name, file)
    end
    return own
end

local function place_of(device) return device and device.id ~= "cpu" and "gpu" or "cpu" end

-- A problem in Python, as far as is known without running it.
local function problem_of(ctx, header, file)
    return { name = header.task or fs.basename(file):gsub("%.py$", ""), file = file,
        solution = { files = header.paths or { ctx.host.solution or problems.FIRST_SOLUTION } },
        reference = { files = { fs.basename(file) } } }
end

-- The task of a session as far as it can be read; a broken one is no reason to say nothing about its session.
local function task_of(ctx, header)
    local file, bundled = header.task_file, false
    if not file then file, bundled = workspace.find_task(ctx.host, ctx.home or require("ako.host").home) end
    if bundled then return nil end
    if problems.is_problem(file) then return problem_of(ctx, header, file) end
    local definition = task_files.load(file)
    return definition and task_files.resolve(definition, place_of(header.device)) or nil
end

local function ids_and_weights(workloads)
    local ids, weights = {}, {}
    for i, workload in ipairs(workloads) do ids[i], weights[i] = workload.id, workload.weight end
    return ids, weights
end

-- What a run has used of its budget; a session of `try` is as old as its first line.
local function elapsed_of(state)
    if state.header.verb == "run" then return session.worked_s(state) end
    return (state.finished and state.finished.time_s or os.time()) - state.header.time_s
end

--- What hooks get of a session's run (ako.Run), made from its journal alone. `state` as pick.find gives it, nil for a
--- session that has not begun.
function pick.run(ctx, state)
    local header = state and state.header or {}
    local task = task_of(ctx, header)
    local folder, workloads = ctx.host.workspace or ".", task and task.workloads
    local ids, weights = ids_and_weights(workloads or {})
    local run = { trials = 0, next_trial = 0, history = {}, notes = {}, elapsed_s = 0.0, header = header,
        device = header.device or {}, workspace = fs.absolute(folder) or folder, finished = false,
        task = { name = task and task.name or header.task, file = task and task.file or header.task_file,
            solution = task and task.solution.files or header.paths or {},
            reference = task and task.reference.files or {}, workloads = workloads and ids,
            weights = workloads and weights } }
    if not state then return run end
    local finished, history = state.finished, state.history
    run.session, run.history, run.notes, run.open = state.name, history, state.notes, state.open
    run.trials, run.next_trial, run.last = math.max(0, #history - 1), #history, history[#history]
    run.counts = state.counts
    run.best, run.original, run.lane = state.best, state.original, run.last and run.last.lane
    run.elapsed_s = math.max(0, elapsed_of(state)) + 0.0
    if finished then run.finished = { ended = finished.ended, verified = finished.verified } end
    return run
end

return pick
