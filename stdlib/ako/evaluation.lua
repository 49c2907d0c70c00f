-- The verb `bench`: one evaluation of a solution against a reference, as AKO4ALL's evaluator does it
-- (bench/kernelbench/bench.py), flag by flag and line by line. No session, no repository, no workspace; nothing is
-- written.

local backends = require "ako.backend"
local bench_flags = require "ako.bench_flags"
local bench_lines = require "ako.bench_lines"
local bench_selftest = require "ako.bench_selftest"
local console = require "ako.console"
local contract = require "ako.contract"
local drawing = require "ako.drawing"
local evaluators = require "ako.evaluator"
local exits = require "ako.exits"
local fault = require "ako.fault"
local fs = require "ako.fs"
local measuring = require "ako.measuring"
local output = require "ako.output"
local plan = require "ako.plan"
local problem = require "ako.problem"
local problem_task = require "ako.problem_task"
local progress = require "ako.progress"
local python = require "ako.python"
local python_source = require "ako.python_source"
local unit = require "ako.unit"

local evaluation = {}

local must = fault.must

-- Nobody was in the way, yet nothing is known of the solution.
local function without(status, reason, step)
    return { status = status, step = step or "", reason = reason, code = "", workloads = {} }
end

-- The policy with the flags' numbers. The clock is the one of --timing-method, for Python, too; all calls that
-- --num-perf-trials wants are made.
local function policy_of(ctx, flags)
    local policy = ctx.policy:extend(bench_flags.overrides(flags))
    return policy:extend { timing = { python_timer = policy.timing.timer, long = false } }
end

local Evaluation = {}
Evaluation.__index = Evaluation

-- Reads what is named; a file that is not there is a wrong word on the command line.
local function new(ctx, flags)
    local lane = bench_flags.lane(flags)
    fault.check(problem.is_problem(lane.reference), "%s: the reference must be a Python file with class Model",
        lane.reference)
    local dims = ctx.host.dims and must(contract.dims(ctx.host.dims))
    local loaded = problem.load(lane.reference, lane.solution, { inputs = lane.inputs, dims = dims })
    local self = setmetatable({ ctx = ctx, lane = lane, loaded = loaded, policy = policy_of(ctx, flags),
        opt = ctx.opt, solution = problem.source(lane.solution), session = {}, warnings = {} }, Evaluation)
    self.original = lane.original and problem.source(lane.original)
    self.progress = progress.new { quiet = ctx.host.quiet, color = ctx.host.color, console = ctx.console or console }
    if problem.is_problem(self.solution.name) and python_source.facts(self.solution.text).inputs.get_inputs then
        self.progress:note(self.solution.name .. ": its get_inputs is not used, the inputs are the reference's")
    end
    return self
end

-- The task of the reference, or nil, what is wrong with it and a code.
local function task_of(self)
    local how = drawing.how(self.policy, self.ctx.opt, self.ctx.host.seed)
    how.dtype = not self.loaded.question.format and self.lane.dtype or nil -- other formats say what theirs are
    how.inputs_ignored, how.cwd = true, fs.absolute "."
    return fault.catch(problem_task.resolve, self.evaluator, self.loaded, how)
end

local function warn(self, text) self.warnings[#self.warnings + 1] = text end

-- Makes the reference the evaluator's task, and examines it as a trial does: what is weak is warned of. Returns a
-- result where there is nothing to evaluate.
local function open_task(self)
    local task, why, code = task_of(self)
    if not task and code == "INVALID" then return without("INVALID_REFERENCE", why) end
    self.task = must(task, why, code)
    for _, note in ipairs(problem_task.notes(self.task)) do warn(self, note) end
    self.plan = must(plan.resolve(self.policy, self.task, self.ctx.host.seed, self.opt))
    self.give_task = function()
        return must(self.evaluator:task(self.task, self.plan.tolerance, self.plan.reference))
    end
    self.give_task()
    local weak = measuring.examine(self, function(topic, text) warn(self, topic and topic .. ": " .. text or text) end)
    return weak and without("INVALID_REFERENCE", "a weak task: " .. weak) or nil
end

local function measure(self, source)
    local given, why = unit.make(self.task, self.task.solution, { source })
    if not given then return without("COMPILE_ERROR", why, "build") end
    return measuring.ask(self, given, measuring.ALL_STEPS)
end

-- The original kernel's figures under the same protocol, without the reference's; false where there are none.
local function measure_original(self)
    local steps = self.plan.steps
    self.plan.steps = plan.with_signal(steps, { trials = #steps.check.seeds, launches = steps.time.launches,
        reference = false })
    self.plan.steps.time.compiled = nil
    local result = measure(self, self.original)
    if result.status == "PASSED" then return result.workloads[1].time end
    warn(self, ("%s: the original kernel has no time: %s, %s"):format(self.original.name, result.status,
        result.reason))
    return false
end

-- The result of the solution, with what goes beside it in `self`.
local function evaluate(self)
    local host = self.ctx.host
    local begin = self.ctx.start_evaluator or evaluators.start
    local found <close> = must(begin { device = host.device, python = python.facts(host.python),
        progress = function(event) self.progress:event(event) end })
    self.evaluator, self.device = found, found.device
    local nothing = open_task(self)
    if nothing then return nothing end
    local result = measure(self, self.solution)
    measuring.note_weakness(self, result)
    if self.original and result.status == "PASSED" then self.baseline = measure_original(self) end
    return result
end

-- The same; what this machine cannot do is a result, too.
local function result_of(self)
    local result, why, code = fault.catch(evaluate, self)
    if self.cancelled or code == "CANCELLED" then fault.raise("CANCELLED", "interrupted") end
    return result or without("INFRA", why)
end

local function figures_of(ctx, flags)
    local self = new(ctx, flags)
    local result = result_of(self)
    local backend, origin = backends.choose(self.lane.backend, self.solution.text, self.solution.name)
    self.progress:close()
    local baseline = self.baseline
    if self.original and baseline == nil then baseline = false end
    return bench_lines.figures(result, { backend = backend, origin = origin, excessive = ctx.opt.excessive,
        trials = self.plan and #self.plan.steps.check.seeds, device = self.device, baseline = baseline,
        warnings = self.warnings })
end

local function self_test(ctx)
    local passed, tests = bench_selftest.run()
    output.either(ctx, { v = 1, passed = passed, tests = tests }, bench_selftest.text(tests))
    return passed and exits.DONE or exits.NOT_BETTER
end

--- bench: ctx.flags are those of ako.bench_flags. The exit code is the evaluator's: 0 for a solution that is correct.
function evaluation.bench(ctx)
    local flags = ctx.flags
    if flags.help then
        return output.text(ctx, bench_flags.help(ctx.policy) .. "\nOptions of the host (ako-lua --help) and of the "
            .. "policy may stand among them: --device, --json, --quiet.\n")
    end
    if flags.self_test then return self_test(ctx) end
    local figures = figures_of(ctx, flags)
    if ctx.host.json then
        output.object(ctx, bench_lines.object(figures))
    else
        output.lines(ctx, bench_lines.lines(figures, flags.verbose))
    end
    return bench_lines.exit_code(figures)
end

return evaluation
