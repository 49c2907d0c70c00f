-- The doctor for a folder of problems in Python: each is run once and attacked. No solution is looked at, and nothing
-- is timed.

local diagnosis = require "ako.diagnosis"
local doctor = require "ako.doctor"
local drawing = require "ako.drawing"
local exits = require "ako.exits"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local host = require "ako.host"
local machine = require "ako.machine"
local plan = require "ako.plan"
local problem = require "ako.problem"
local problem_task = require "ako.problem_task"
local progress = require "ako.progress"
local python = require "ako.python"
local suite_pairs = require "ako.suite_pairs"

local doctor_folder = {}

local Folder = {} -- also what ako.doctor calls `started`: evaluator, task, plan, policy, opt

local must = fault.must

local function start_evaluator(self)
    local begin = self.ctx.start_evaluator or require("ako.evaluator").start
    self.evaluator = must(begin { device = self.ctx.host.device, python = self.python })
end

local function drop_evaluator(self)
    if self.evaluator then self.evaluator:close() end
    self.evaluator = nil
end

Folder.__close = function(self)
    drop_evaluator(self)
    self.progress:close()
end

local function attack(self, item, found)
    local given = self.ctx.host
    if not self.evaluator then start_evaluator(self) end
    self.task = problem_task.resolve(self.evaluator, problem.load(item.problem),
        drawing.how(self.policy, self.opt, given.seed))
    self.plan = must(plan.resolve(self.policy, self.task, given.seed, self.opt))
    must(self.evaluator:task(self.task, self.plan.tolerance, self.plan.reference))
    doctor.attack(found, self)
    if found.code == exits.INTERRUPTED then fault.raise("CANCELLED", "interrupted") end
end

local OF_ALL = { CANCELLED = true, POLICY = true } -- no one problem is at fault for it

-- The account of one problem. One that ends the evaluator leaves the next one a fresh one.
local function examine(self, item)
    local found = diagnosis.blank(item.name, self.device)
    local _, why, code = fault.catch(attack, self, item, found)
    if OF_ALL[code] then fault.raise(code, "%s", why) end
    if why then
        diagnosis.add(found, "task", "bad", why)
        diagnosis.give_code(found, exits.of_code(code))
    end
    if found.code ~= exits.DONE and not (self.evaluator and self.evaluator:is_there()) then drop_evaluator(self) end
    return found
end

-- Whether anything is wrong with it.
local function merge(found, of)
    local is_good = true
    for _, finding in ipairs(of.checks) do
        if finding.state ~= "ok" then
            diagnosis.add(found, of.task, finding.state, finding.text, finding.advice)
            is_good = false
        end
    end
    table.move(of.weak, 1, #of.weak, #found.weak + 1, found.weak)
    found.refused = found.refused or of.refused
    diagnosis.give_code(found, of.code)
    return is_good
end

local function examine_all(self, found, items)
    local good = 0
    for i, item in ipairs(items) do
        host.refill()
        self.progress:note(("doctor      [%d/%d] %s"):format(i, #items, item.name))
        if merge(found, examine(self, item)) then good = good + 1 end
    end
    if good == 0 then return end
    diagnosis.add(found, "problems", "ok", ("%d of %d run and have no weakness"):format(good, #items))
end

--- Starts an evaluator for the problems of the folder that is the task (ako.suite_pairs); ctx as for ako.start. What is
--- returned is to be closed. Raises faults.
function doctor_folder.start(ctx)
    local self = setmetatable({ ctx = ctx, policy = ctx.policy, opt = ctx.opt,
        progress = progress.new { quiet = ctx.host.quiet, color = ctx.host.color, console = ctx.console } }, Folder)
    self.python = python.facts(ctx.host.python)
    start_evaluator(self)
    self.device = self.evaluator.device
    return self
end

--- Examines the problems, the interpreter and the machine. Returns the account (ako.diagnosis). Raises faults.
function doctor_folder.examine(started)
    local given = started.ctx.host
    local facts = machine.look { device = started.device, versions = started.evaluator.versions,
        folder = fs.user_dir("state") }
    local found = diagnosis.blank(format.utf8(fs.basename(given.task)), started.device)
    examine_all(started, found, suite_pairs.problems(given.task))
    doctor.add_interpreter(found, given.python)
    doctor.add_machine(found, facts)
    return found
end

return doctor_folder
