-- One of the processes that evaluate a suite, a device each: takes one problem after the other, and writes what becomes
-- of each of its solutions into a journal of its own. No git, no session: a pair is one trial without a best.

local clock = require "ako.clock"
local console = require "ako.console"
local drawing = require "ako.drawing"
local evaluator = require "ako.evaluator"
local exits = require "ako.exits"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local git = require "ako.git"
local host = require "ako.host"
local journal = require "ako.journal"
local json = require "ako.json"
local measuring = require "ako.measuring"
local plan = require "ako.plan"
local problem_task = require "ako.problem_task"
local problems = require "ako.problem"
local progress = require "ako.progress"
local python = require "ako.python"
local quiet = require "ako.quiet"
local suite_claims = require "ako.suite_claims"
local suite_records = require "ako.suite_records"
local trial = require "ako.trial"
local unit = require "ako.unit"
local view = require "ako.view"

local suite_worker = {}

local Worker = {}

local must = fault.must

local NO_TASK = { workloads = {} } -- of a record whose problem could not be read
local JOURNAL_WAIT_NS = 10000000000 -- for the worker of a run that has just been killed
local JOURNAL_SLICE_NS = 50000000

-- Failures that a fresh evaluator does not mend.
local FINAL = { CANCELLED = true, CHANGED = true, UNAVAILABLE = true }

-- An evaluator

local function start_evaluator(self)
    local started = must(evaluator.start { device = self.device, python = self.python })
    self.loop.evaluator = started
end

-- The next pair has a fresh one.
local function drop_evaluator(self)
    if self.loop.evaluator then self.loop.evaluator:close() end
    self.loop.evaluator, self.item = nil, nil
end

Worker.__close = drop_evaluator

-- A problem

-- The solution is another one for each sample.
local function describe(self, item)
    local loop, ctx = self.loop, self.ctx
    if not loop.evaluator then start_evaluator(self) end
    local loaded = problems.load(item.problem)
    if git.hash(loaded.sources[1].text) ~= item.hash then
        fault.raise("CHANGED", "the problem was changed while this ran: start again")
    end
    loop.task = problem_task.resolve(loop.evaluator, loaded, drawing.how(ctx.policy, ctx.opt, ctx.host.seed))
    loop.plan = must(plan.resolve(ctx.policy, loop.task, ctx.host.seed, ctx.opt))
    loop.give_task = function()
        return must(loop.evaluator:task(loop.task, loop.plan.tolerance, loop.plan.reference))
    end
    loop.give_task()
    loop.weakness = nil
    local weak = measuring.examine(loop, function() end) -- a record says the same
    if weak then fault.raise("INVALID", "a weak task: %s", weak) end
end

local OF_FAULT = { INVALID = "INVALID_REFERENCE", TIMEOUT = "INVALID_REFERENCE" }

-- Makes a problem the evaluator's. What is wrong with it, { status, reason, code }, is so for all its solutions; nil
-- for nothing.
local function open_problem(self, item)
    if self.item == item then return self.trouble end
    self.item, self.trouble = item, nil
    local _, problem, code = fault.catch(describe, self, item)
    if not problem then return nil end
    if code == "POLICY" then fault.raise(code, "%s", problem) end
    local status, started = OF_FAULT[code], self.loop.evaluator
    if code == "INVALID" and started and not started:is_there() then -- the problem's process has not ended alone
        status, code = nil, "CHILD"
    end
    self.trouble = { status = status or "INFRA", reason = problem, code = code }
    return self.trouble
end

-- A pair

local function context(self, sample)
    local timing = self.ctx.policy.timing
    return { trial = 0, candidate = format.utf8(fs.basename(sample.solution)), task = self.loop.task or NO_TASK,
        statistic = timing.statistic, flush = timing.flush }
end

local function ended(self, sample, status, reason, code)
    local given = context(self, sample)
    given.task = NO_TASK
    local record = trial.without_result(status, reason, given)
    record.code = code
    return record
end

local function not_admitted(self, sample, sources)
    local loop = self.loop
    if not loop.policy.admit then return nil end
    local change = { candidate = fs.basename(sample.solution), sources = view.copy(sources) }
    local admitted, reason = loop.hook("admit", change, loop.opt)
    return not admitted and (view.words("admit", reason) or "the policy does not admit it") or nil
end

local function measure(self, sample, sources)
    local loop = self.loop
    local given, problem = unit.make(loop.task, loop.task.solution, sources, loop.task.reference)
    if not given then return ended(self, sample, "COMPILE_ERROR", problem) end
    local result = measuring.ask(loop, given, measuring.ALL_STEPS)
    local record = trial.record(result, context(self, sample))
    measuring.name_unit(record, given)
    measuring.note_weakness(loop, record)
    record.tenants = unit.place(given.lane) == "gpu" and quiet.tenants(result) or nil
    return record, result
end

-- One attempt: the record, and the evaluator's result where there is one.
local function attempt(self, item, sample)
    local trouble = open_problem(self, item)
    if trouble then return ended(self, sample, trouble.status, trouble.reason, trouble.code) end
    local sources, problem = unit.read(fs.dirname(sample.solution), { fs.basename(sample.solution) })
    if not sources then return ended(self, sample, "REJECTED", problem) end
    if git.hash(sources[1].text) ~= sample.hash then
        return ended(self, sample, "INFRA", "the solution was changed while this ran: start again", "CHANGED")
    end
    local refused = not_admitted(self, sample, sources)
    if refused then return ended(self, sample, "REJECTED", refused, "POLICY") end
    return measure(self, sample, sources)
end

-- What the machine could not say it is asked once more, with nothing left of the first time.
local function evaluate(self, item, sample)
    local record, result = attempt(self, item, sample)
    if record.status ~= "INFRA" then return record, result end
    drop_evaluator(self)
    if FINAL[record.code] then return record, result end
    record, result = attempt(self, item, sample)
    if record.status == "INFRA" then drop_evaluator(self) end
    record.attempts = 2
    return record, result
end

-- Records

-- Comparisons with an incumbent, which there is none of.
local function without_rivals(record)
    for _, one in ipairs { record, table.unpack(record.workloads) } do
        if one.speedup then one.speedup.original, one.speedup.best = nil, nil end
    end
    record.interval = {}
    return record
end

local function keep_log(self, sample, record, result)
    local log = result and result.build and result.build.log or ""
    if record.status == "PASSED" or log == "" then return end
    local name = ("logs/%s.txt"):format(sample.key)
    must(fs.mkdirs(fs.join(self.folder, "logs")))
    must(fs.write(fs.join(self.folder, name), log))
    record.log = name
end

local function append(self, item, sample, record, result)
    keep_log(self, sample, record, result)
    must(self.journal:append { v = 1, kind = "result", key = sample.key, problem = format.utf8(item.name),
        solution = format.utf8(sample.solution), sample = sample.number, time_ns = clock.wall_ns(),
        device = self.facts, slot = self.slot, record = without_rivals(record),
        samples = result and trial.samples(result) or json.null })
end

-- One line for people.
local function say(self, sample, record)
    if self.ctx.host.quiet then return end
    local speedup = record.speedup.reference
    local text = ("[%d/%d] %s: %s%s%s"):format(sample.at, self.job.total, sample.name, record.status,
        speedup and ", " .. format.ratio(speedup) .. " over the reference" or "",
        record.status ~= "PASSED" and ": " .. record.reason or "")
    console.err(format.cut(format.line(text), console.columns() or 200) .. "\n")
end

-- A pair whose workers died is recorded without another attempt. False when the user wants to stop.
local function work_on(self, claim, item, sample)
    local times = claim:begin(sample.key)
    if times ~= 1 and suite_records.read(self.folder)[sample.key] then return true end
    local record, result
    if times then
        record, result = evaluate(self, item, sample)
    else
        record = ended(self, sample, "INFRA", "whoever evaluated it was ended, twice", "CHILD")
    end
    if record.code == "CANCELLED" then return false end
    append(self, item, sample, record, result)
    say(self, sample, record)
    return true
end

local function work_through(self)
    for number, item in ipairs(self.job.items) do
        host.refill()
        local claim <close> = suite_claims.take(self.job.claims, number)
        if claim then
            for _, sample in ipairs(item.samples) do
                if not work_on(self, claim, item, sample) then return exits.INTERRUPTED end
            end
            claim:finish()
        end
    end
    return exits.DONE
end

-- A process

local function open_journal(file)
    local until_ns = clock.now_ns() + JOURNAL_WAIT_NS
    while true do
        local opened, problem, code = journal.open(file)
        if opened or code ~= "BUSY" or clock.now_ns() > until_ns then return must(opened, problem, code) end
        clock.sleep_ns(JOURNAL_SLICE_NS)
    end
end

local function new(ctx, folder, slot)
    local job = must(json.decode(must(fs.read(fs.join(folder, "job.json")))))
    local loop = { policy = ctx.policy, opt = ctx.opt, hook = ctx.hook, session = {},
        progress = progress.new { quiet = true } }
    return setmetatable({ ctx = ctx, folder = folder, slot = slot, job = job, device = job.devices[slot],
        loop = loop }, Worker)
end

--- The job that this process has been started for, by ako.suite_run; nil for a process that somebody else has started.
function suite_worker.job()
    local folder, slot = os.getenv "AKO_SUITE", math.tointeger(tonumber(os.getenv "AKO_SUITE_SLOT"))
    return folder and slot and { folder = folder, slot = slot, role = os.getenv "AKO_SUITE_ROLE" } or nil
end

--- Does a job: evaluates what nobody else does, and returns the exit code. Raises faults.
function suite_worker.run(ctx, job)
    local self <close> = new(ctx, job.folder, job.slot)
    local opened <close> = open_journal(suite_records.journal(self.folder, self.slot))
    self.journal = opened
    self.python = python.facts(ctx.host.python)
    start_evaluator(self)
    local known = self.loop.evaluator.device
    self.facts = { id = known.id, name = known.name, uuid = known.uuid, arch = known.arch }
    return work_through(self)
end

return suite_worker
