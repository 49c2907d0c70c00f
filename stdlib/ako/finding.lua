-- Which task a start is about: the one that is named, one that the policy makes, or the bundled example; and what it
-- is in the evaluator's place.

local bench = require "ako.bench"
local contract = require "ako.contract"
local drawing = require "ako.drawing"
local fault = require "ako.fault"
local fs = require "ako.fs"
local host = require "ako.host"
local problem_task = require "ako.problem_task"
local path = require "ako.path"
local problems = require "ako.problem"
local suite_pairs = require "ako.suite_pairs"
local survey = require "ako.survey"
local task_files = require "ako.task"
local workspace = require "ako.workspace"

local finding = {}

local must = fault.must

-- The task of a policy that can make one where none is named and no task.lua lies: nil, or a fault with its question.
local function made_by_policy(started)
    if not started.policy.find_task then return nil end
    local made, question = started.hook("find_task", survey.of(started), started.opt)
    if made == nil and question ~= nil then fault.raise("INVALID", "%s", tostring(question)) end
    if made and not problems.is_loaded(made) and not task_files.is_definition(made) then
        fault.raise("POLICY", "hook 'find_task' must return a task as ako.task's define makes it, or a problem as "
            .. "ako.problem's load does, or nil and a question, returned a %s value", type(made))
    end
    return made
end

-- Which of a robust-kbench task's settings the policy's options ask for.
local function multi_of(started)
    local names = started.policy.correctness.multi or {}
    return { init = started.opt[names.init], input = started.opt[names.input] }
end

local function check_name(name)
    local wrong = path.is_text(name) and path.fault_of_name(fs.basename(name)) or path.fault_of_name(name)
    fault.check(not wrong, "--solution %s: its name %s: rename it", name, wrong)
end

-- A solution that is named lies in the workspace, or beside the problem, from where it is copied. A slip of the pen
-- makes no file.
local function check_named(host_values, loaded)
    local name = host_values.solution
    local here = host_values.workspace or "."
    if not name then return end
    check_name(name)
    local other = path.no_file(loaded.solution.from and loaded.solution.from[1] or fs.join(here, name))
    fault.check(not other, "--solution %s %s", name, other)
    if loaded.solution.from or fs.exists(fs.join(here, name)) then return end
    local beside = fs.join(loaded.folder, name)
    if fs.exists(beside) then
        loaded.solution.from = { fs.absolute(beside) }
        return
    end
    fault.raise("INVALID", "--solution %s: no such file in %s%s; without --solution it is %s, which begins as a copy "
        .. "of the problem's Model", name, here == "." and "the current folder" or here,
        fault.nearest(name, fs.list(here) or {}), problems.FIRST_SOLUTION)
end

--- The definition of the task. Sets .bundled where it is the bundled example, .made where the policy has made it.
--- Raises faults.
function finding.definition(started)
    suite_pairs.check_single(started.host)
    local file, bundled = workspace.find_task(started.host, started.ctx.home or host.home)
    local made = bundled and made_by_policy(started)
    started.made = made ~= nil and made ~= false
    if started.made then return made end
    started.bundled = bundled
    local dims = started.host.dims and must(contract.dims(started.host.dims))
    if problems.is_problem(file) then
        local loaded = problems.load(file, started.host.solution, { dims = dims, multi = multi_of(started) })
        check_named(started.host, loaded)
        return loaded
    end
    fault.check(not dims, "option --dims is for a task in Python; %s has its sizes in its workloads", file)
    fault.check(not started.host.solution, "option --solution is for a task in Python; %s names its solution itself",
        file)
    return must(task_files.load(file))
end

-- The user's own benchmark command: the one that the policy knows of, else the task's.
local function bench_of(started)
    local given = started.policy.bench and started.hook("bench", survey.of(started), started.opt)
    if given == false and started.policy.bench then return nil end
    return given and bench.read(given, "hook 'bench'") or started.task.bench
end

-- A problem in Python is run once to see what it asks for.
local function resolve_problem(started, definition)
    started.progress:note("problem     " .. definition.file .. ": run once to see its inputs and outputs")
    local how = drawing.how(started.policy, started.opt, started.host.seed)
    local task = problem_task.resolve(started.evaluator, definition, how)
    for _, note in ipairs(problem_task.notes(task)) do started.progress:note("problem     " .. note) end
    return task
end

--- Sets .task: what the definition is in the evaluator's place, with its benchmark command. Raises faults.
function finding.resolve(started, definition)
    started.task = definition.problem and resolve_problem(started, definition)
        or must(task_files.resolve(definition, started.evaluator.place))
    started.task.bench = bench_of(started)
end

return finding
