-- Before any optimizing: attacks the task, tries the original kernel and the original against itself, looks at the
-- machine. Nothing is changed or recorded. The account of it is ako.diagnosis'.

local attack = require "ako.attack"
local control = require "ako.control"
local device_of = require "ako.device"
local diagnosis = require "ako.diagnosis"
local exits = require "ako.exits"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local machine = require "ako.machine"
local plan = require "ako.plan"
local problems = require "ako.problem"
local python = require "ako.python"
local suite_pairs = require "ako.suite_pairs"
local task_files = require "ako.task"
local tightening = require "ako.tightening"
local toolkit = require "ako.toolkit"
local trial = require "ako.trial"
local unit = require "ako.unit"
local version = require "ako.version"
local workspace = require "ako.workspace"

local doctor = {}

local MOST_NAMED = 3 -- of the weaknesses of a task

local must, add, give_code = fault.must, diagnosis.add, diagnosis.give_code

-- The task

-- With `pairs_plan` it is timed in turn with itself.
local function try(started, given, steps, pairs_plan)
    local numbers = started.plan.steps
    if pairs_plan then
        numbers = { check = numbers.check, limits = numbers.limits, time = { pairs = pairs_plan } }
        for name, value in pairs(started.plan.steps.time) do numbers.time[name] = value end
    end
    local result, problem, code = started.evaluator:trial(given, steps, numbers, pairs_plan and given)
    if result then return result end
    return { status = "INFRA", reason = problem, code = code }
end

-- A tolerance that refuses everything holds too: the original kernel says whether this one is usable.
local function prove_tolerance(found, started, given)
    must(started.evaluator:task(started.task, found.tolerance, started.plan.reference))
    local result = try(started, given, { "build", "check" })
    if result.status == "PASSED" then return "; the original kernel passes with it" end
    return ("; but then the original kernel: %s: %s"):format(result.status, result.reason)
end

--- Attacks the task of `started`, { evaluator, task, plan, policy, opt }, which the evaluator has; `given`: the unit of
--- the original kernel, or nil. Adds to the account. False where nothing more can be told of the task. Raises faults.
function doctor.attack(found, started, given)
    local function give() must(started.evaluator:task(started.task, started.plan.tolerance, started.plan.reference)) end
    local result, problem, code = tightening.examine(started.evaluator, started.task, started.plan, give,
        tightening.is_unwanted(started.policy, started.opt))
    if not result then
        add(found, "task", "bad", "could not be attacked: " .. tostring(problem))
        give_code(found, exits.of_code(code))
        return false
    end
    found.weak, found.tolerance = result.weak, result.tolerance
    if started.plan.tightened then found.tolerance = started.plan.tolerance end
    local refused = attack.is_refused(result.weak, started.policy, started.task)
    local tightened = tightening.text(started.plan)
    if tightened then add(found, "tolerance", "warning", "a run is " .. tightened) end
    if #result.weak > 0 then
        local provable = result.tolerance and given and not started.task.python -- which no task.lua has a place for
        local proof = provable and prove_tolerance(found, started, given) or ""
        add(found, "task", refused and "bad" or "warning", attack.summary(result.weak, MOST_NAMED),
            result.advice .. proof)
    else
        add(found, "task", "ok", "every null result fails, every input matters")
    end
    for _, warning in ipairs(result.warnings) do add(found, warning.name, "warning", warning.reason) end
    if refused then give_code(found, exits.REJECTED) end
    found.refused = refused
    return not attack.is_beyond_opinion(result.weak)
end

-- The original kernel

-- The files as `run` would find them: the workspace's, or where it has none yet the task's.
local function read_solution(started)
    local task = started.task
    local folder = workspace.plan(started.host, task, started.bundled)
    local lies_there = folder and fs.exists(fs.join(folder, task.solution.files[1]))
    local sources, problem
    if task.python and not lies_there then
        local text
        text, problem = workspace.first_text(task, 1)
        sources = text and { { name = fs.basename(task.solution.files[1]), text = text } }
    else
        sources, problem = unit.read(lies_there and folder or task.folder, task.solution.files)
    end
    if not sources then return nil, problem end
    return unit.make(task, task.solution, sources, task.reference)
end

-- What is not known, as an interval of too few pairs, is null.
local function gain_text(paired)
    local interval = paired.interval
    if type(paired.gain) ~= "number" then return "" end
    if type(interval) ~= "table" then return (": gain %.2f %%"):format(trial.faster(paired.gain)) end
    return (": gain %.2f %%, interval [%.2f %%, %.2f %%]"):format(trial.faster(paired.gain), trial.faster(interval[1]),
        trial.faster(interval[2]))
end

-- A gain finer than what the same code seems to have over itself is none.
local function floor_of(found, started, result)
    local known = control.of(result)
    local numbers, raised_from = plan.pairs(started.policy, started.opt, known and known.floor)
    if not raised_from then return end
    add(found, "floor", "warning", ("what this machine takes for a gain of the same code over itself is up to %s: "
        .. "a run will keep nothing below %s instead of the policy's %.3g %%"):format(trial.threshold(known.floor),
        trial.threshold(numbers.threshold), 100 * raised_from),
        "a quieter machine, larger workloads or more pairs see smaller gains")
end

local function against_itself(found, started, result)
    local paired = result.paired
    if type(paired) ~= "table" then
        return add(found, "against itself", "unknown", "not measured: the policy has no timing.pairs")
    end
    local text = ("%s after %s%s"):format(paired.verdict, format.count(paired.pairs or 0, "pair"), gain_text(paired))
    if paired.verdict == "unstable" then
        add(found, "against itself", "warning", ("unstable: %s"):format(paired.reason or text),
            "find what disturbs the machine: such measurements decide nothing")
    elseif paired.verdict == "keep" then
        add(found, "against itself", "bad", "the unchanged kernel was kept: " .. text,
            "the machine is not quiet enough, or the policy's threshold too small: no keep can be believed")
        give_code(found, exits.UNMEASURED)
    else
        add(found, "against itself", "ok", text)
        floor_of(found, started, result)
    end
end

-- As a run times its baseline: so many pairs, whatever they say; without such a number as a candidate is judged.
local function pairs_against_itself(started)
    local numbers = plan.pairs(started.policy, started.opt)
    local count = numbers and started.policy.timing.pairs.control or 0
    if count > 0 then numbers.looks, numbers.hopeless = { count }, 0 end
    return numbers
end

-- Processes of others that the trial has seen on the device, nil where nobody could tell.
local function strangers_of(result)
    local tenants = type(result.tenants) == "table" and result.tenants or {}
    local before, after = math.tointeger(tenants.before), math.tointeger(tenants.after)
    return before and after and math.max(before, after)
end

local function examine_original(found, started, given, problem)
    if not given then
        add(found, "original", "bad", problem, "mend the solution: the original kernel must pass")
        return give_code(found, exits.BUILD)
    end
    started.progress:note "doctor      the original kernel, then against itself"
    must(started.evaluator:task(started.task, started.plan.tolerance, started.plan.reference))
    local result = try(started, given, { "build", "check", "time" }, pairs_against_itself(started))
    if result.status ~= "PASSED" then
        add(found, "original", "bad", ("%s: %s"):format(result.status, result.reason),
            "mend it, the reference or the tolerance: the original kernel must pass")
        return give_code(found, exits.of_record(result))
    end
    add(found, "original", "ok", "the original kernel passes")
    found.strangers = strangers_of(result)
    against_itself(found, started, result)
end

-- The machine

-- Inputs, outputs and goldens of the largest workload: what the referee cannot do without.
local function needed_bytes(task)
    local most = 0
    for _, workload in ipairs(task.workloads) do
        local bytes = 0
        for _, tensor in ipairs(task.tensors) do
            local width = tonumber(tensor.dtype:match("%d+")) or 8 -- bits; bool has no number
            local copies = tensor.role == "input" and 1 or 2
            bytes = bytes + copies * workload.elements[tensor.name] * width // 8
        end
        most = math.max(most, bytes)
    end
    return most
end

local function look_at_machine(started)
    local evaluator = started.evaluator
    return machine.look { device = evaluator.device, versions = evaluator.versions,
        folder = workspace.plan(started.host, started.task, started.bundled) or fs.user_dir("state"),
        needs_bytes = needed_bytes(started.task) }
end

--- Adds the machine's findings to an account, on facts of ako.machine. A trial sees who is on a GPU also from inside a
--- container, where the driver's list alone cannot be read.
function doctor.add_machine(found, facts)
    if facts.state and not facts.state.n_processes then facts.state.n_processes = found.strangers end
    for _, finding in ipairs(machine.judge(facts)) do
        diagnosis.put(found, finding)
        if finding.state == "bad" then
            found.lacking = true
            give_code(found, exits.LACKING)
        end
    end
end

--- Adds what is known of the interpreter to an account; `given` as for ako.python's find. Where none will do, that is
--- said already, as the reason why nothing could be started.
function doctor.add_interpreter(found, given)
    local program, known = fault.catch(python.find, given)
    if not program then return end
    diagnosis.put(found, toolkit.finding(known, found.device.place == "gpu" and toolkit.nvcc or nil))
end

--- Examines the task, the original kernel and the machine of what ako.start has resolved. Returns the account. Raises
--- faults.
function doctor.examine(started)
    local found = diagnosis.blank(started.task.name, started.evaluator.device)
    local facts = look_at_machine(started) -- before there is any load of ours
    must(started.evaluator:task(started.task, started.plan.tolerance, started.plan.reference))
    local given, problem = read_solution(started)
    started.progress:note "doctor      attacking the task"
    if doctor.attack(found, started, given) then examine_original(found, started, given, problem) end
    if started.task.python then doctor.add_interpreter(found, started.host.python) end
    doctor.add_machine(found, facts)
    return found
end

-- Whether the task would do on the kind of device that is not there.
local function wants_gpu(ctx)
    if ctx.host.device ~= "auto" then return ctx.host.device ~= "cpu" end
    local definition = task_files.load((workspace.find_task(ctx.host, ctx.home)))
    return definition and not task_files.resolve(definition, "cpu") and task_files.resolve(definition, "gpu") ~= nil
end

local function is_in_python(ctx)
    return suite_pairs.is_suite(ctx.host) or problems.is_problem((workspace.find_task(ctx.host, ctx.home)))
end

--- The same where nothing could be started, for the reason and code given: the machine alone, and the interpreter of a
--- task in Python. ctx as for ako.start.
function doctor.look_around(ctx, problem, code)
    local device = device_of.find(ctx.host.device) or device_of.find "cpu"
    local found = diagnosis.blank("-", device)
    found.code = exits.of_code(code)
    add(found, "start", "bad", problem)
    if is_in_python(ctx) then doctor.add_interpreter(found, ctx.host.python) end
    local gpu = wants_gpu(ctx)
    if gpu and device.place == "cpu" then found.code = exits.LACKING end
    doctor.add_machine(found, machine.look { device = device, versions = version.libraries(),
        folder = ctx.host.workspace, wants_gpu = gpu })
    return found
end

return doctor
