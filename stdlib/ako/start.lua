-- Everything before the first trial: the task, the evaluator, the workspace, the plan. Undone by `close`.

local claiming = require "ako.claiming"
local console = require "ako.console"
local fault = require "ako.fault"
local finding = require "ako.finding"
local fs = require "ako.fs"
local guarding = require "ako.guarding"
local host = require "ako.host"
local inputs = require "ako.inputs"
local loop = require "ako.loop"
local pick = require "ako.pick"
local plan = require "ako.plan"
local plan_text = require "ako.plan_text"
local progress = require "ako.progress"
local python = require "ako.python"
local recovering = require "ako.recovering"
local session = require "ako.session"
local tightening = require "ako.tightening"
local toolkit = require "ako.toolkit"
local widening = require "ako.widening"
local workspace = require "ako.workspace"

local start = {}

local Start = {}
Start.__index = Start

local must = fault.must

-- A problem in Python needs one even where nothing is measured: what it asks for is known only once it has run.
local function new_evaluator(ctx, report, in_python)
    local begin = not in_python and ctx.stand_in or ctx.start_evaluator or require("ako.evaluator").start
    return begin { device = ctx.host.device, python = ctx.python, progress = function(event) report:event(event) end }
end

--- Loads the task and starts the evaluator that says which of its forms to take. ctx: policy, opt, host (task,
--- workspace, device, session, seed, quiet, color), verb_options; and for tests home (holds the bundled examples),
--- hook(name, ...) (calls a hook of the policy), start_evaluator, console; and for verbs that measure nothing stand_in,
--- which starts what stands where an evaluator would. Raises faults.
function start.new(ctx)
    if ctx.host.session then session.check_name(ctx.host.session) end
    ctx = pick.going_on(ctx)
    local self = setmetatable({ ctx = ctx, host = ctx.host, policy = ctx.policy, opt = ctx.opt }, Start)
    self.hook = ctx.hook or function(name, ...) return require("ako.policy").call(ctx.policy, name, ...) end
    local definition = finding.definition(self)
    self.progress = progress.new { quiet = ctx.host.quiet, color = ctx.host.color, console = ctx.console or console }
    if definition.problem then ctx.python = python.facts(ctx.host.python) end
    self.evaluator = must(new_evaluator(ctx, self.progress, definition.problem))
    finding.resolve(self, definition)
    if self.bundled then self.candidates = fs.join(self.task.folder, "candidates") end
    return self
end

--- Resolves the policy's numbers for the task, reads the reference and asks for the policy's own plan, which may have
--- a question: .own_lines. Makes nothing. Raises faults.
function Start:resolve()
    self.plan = must(plan.resolve(self.policy, self.task, self.host.seed, self.opt))
    must(inputs.check(self.task))
    self.own_lines = plan_text.own(self)
    guarding.check_read(self)
    local advice = self.task.facts and toolkit.advice(self.task.facts, self:main_text(), toolkit.nvcc)
    if advice then self.progress:note("toolkit     " .. advice) end
end

--- Makes the workspace, which is this process's until `close`, and says what it made. Raises faults.
function Start:prepare()
    self.ws = must(workspace.prepare(self.host, self.task, self.bundled))
    self.claim = claiming.take(self.ws)
    self.task = self.ws.task
    if self.ws.scratch then self.progress:note("workspace   " .. self.ws.folder .. " (new, scratch)") end
    if self.ws.created and not self.ws.scratch then
        self.progress:note("workspace   " .. self.ws.folder .. ": made a git repository")
    end
end

--- Gives the evaluator the task and makes the loop over an opened session, of which a run that is resumed was at work
--- for worked_s seconds before. Raises faults.
function Start:loop(opened, worked_s)
    local function give_task(evaluator)
        must(evaluator:task(self.task, self.plan.tolerance, self.plan.reference, self.policy.timing.pairs ~= nil))
        return evaluator
    end
    local original = opened.best and opened.original
    if original and original.tightened then tightening.adopt(self.plan, original.tightened) end
    if original and original.wider then widening.adopt(self.plan, original.wider) end
    give_task(self.evaluator)
    local marks = guarding.check_given(self)
    recovering.tell_torn(self, opened)
    self.session = opened
    return loop.new { policy = self.policy, opt = self.opt, hook = self.hook, session = opened,
        evaluator = self.evaluator, task = self.task, plan = self.plan, progress = self.progress, worked_s = worked_s,
        protected = function() return guarding.protected(self) end, read_marks = marks,
        give_task = function() return give_task(self.evaluator) end,
        restart = function()
            self.evaluator:close()
            self.evaluator = must(new_evaluator(self.ctx, self.progress, self.task.python))
            return give_task(self.evaluator)
        end }
end

--- The folder of the workspace; before it is made, where it will be, or nil for a fresh one.
function Start:folder() return self.ws and self.ws.folder or workspace.plan(self.host, self.task, self.bundled) end

--- The solution's main file as it lies there, or will; "" where there is none.
function Start:main_text()
    local folder = self:folder()
    local own = folder and fs.read(fs.join(folder, self.task.solution.files[1]))
    return own or workspace.first_text(self.task, 1) or ""
end

local function close(self)
    if self.session then
        recovering.own(self)
        self.session:close()
    end
    if self.evaluator then self.evaluator:close() end
    if self.progress then self.progress:close() end
    if self.claim then self.claim:close() end
    self.evaluator = nil
end

--- Stops the evaluator and gives the session back. A trial that is still open was interrupted: it is recorded so and
--- the best restored, whoever presses Ctrl-C meanwhile. Closing twice is fine.
function Start:close() host.undisturbed(close, self) end

Start.__close = Start.close

return start
