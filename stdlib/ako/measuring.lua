-- From the workspace's files to a record without a verdict: admitted, built, checked and timed by the evaluator,
-- against the best where there is one. `loop` is of ako.loop.

local attack = require "ako.attack"
local backend = require "ako.backend"
local bench = require "ako.bench"
local codesize = require "ako.codesize"
local control = require "ako.control"
local fault = require "ako.fault"
local format = require "ako.format"
local git = require "ako.git"
local plan = require "ako.plan"
local protect = require "ako.protect"
local problem_task = require "ako.problem_task"
local problems = require "ako.problem"
local quiet = require "ako.quiet"
local tightening = require "ako.tightening"
local trial = require "ako.trial"
local unit = require "ako.unit"
local widening = require "ako.widening"
local view = require "ako.view"

local measuring = {}

local copy, words = view.copy, view.words
local must = fault.must

local MOST_NAMED = 3 -- of the weaknesses of a task

measuring.ALL_STEPS = { "build", "check", "time" }

--- What a record says beside the result (ako.trial). `info` stands for the open trial where none is open.
function measuring.context(loop, info)
    local session = loop.session
    local open, original = session.open or info, session.original
    if original and original.status ~= "PASSED" then original = nil end -- a start that has still to pass is its own
    return { session = session.name, trial = open.trial, candidate = open.candidate, hypothesis = open.hypothesis,
        predict = open.predict, label = open.label, facts = open.facts, task = loop.task,
        statistic = loop.policy.timing.statistic, flush = loop.policy.timing.flush, original = original,
        best = session.best }
end

--- The name of a protected file that is not what it was when the session began, or, at the first look, was written to
--- since it was read; nil when there is none.
function measuring.changed_protected(loop)
    local hashes, marks = loop.protected()
    local written = loop.read_marks and marks and protect.difference(loop.read_marks, marks)
    loop.read_marks, loop.marks = nil, marks
    return protect.difference(loop.session.header.protected or {}, hashes) or written
end

--- Why sources are not tried and a code for it; nil when they are.
function measuring.admit(loop, info, sources)
    local name = measuring.changed_protected(loop)
    if name then return ("protected file %s changed since the session began"):format(name), "PROTECTED" end
    local refused, rule = problems.refusal(loop.task, sources)
    if refused then return refused, rule end
    if not loop.policy.admit then return nil end
    local admitted, reason = loop.hook("admit", { candidate = info.candidate, hypothesis = info.hypothesis,
        sources = copy(sources), best = copy(loop.session.best) }, loop.opt)
    if not admitted then return words("admit", reason) or "the policy does not admit it", "POLICY" end
end

--- The plan's steps with the limits of a candidate.
function measuring.steps(loop)
    local original, steps = loop.session.original, loop.plan.steps
    if loop.signal then steps = plan.with_signal(steps, loop.signal) end
    if not original or original.status ~= "PASSED" then return steps end
    return plan.for_candidate(steps, loop.policy.budget, original.costs_ms)
end

--- The unit of a record's sources, with which others are timed in turn.
function measuring.unit_of(loop, record)
    if loop.unit_of_commit ~= record.commit then
        loop.unit_kept = must(unit.make(loop.task, loop.task.solution, must(loop.session:sources(record)),
            loop.task.reference))
        loop.unit_of_commit = record.commit
    end
    return loop.unit_kept
end

--- An evaluator that has died is started again, so that the next trial finds a good one.
function measuring.lost(loop, code)
    if code == "CANCELLED" then loop.cancelled = true end
    if code == "CHILD" and loop.restart then loop.evaluator = must(loop.restart()) end
end

--- Says in a record what a unit is written for and how it runs.
function measuring.name_unit(record, given)
    record.lane, record.backend = given.lane, backend.detect(given.sources[1].text, given.sources[1].name)
end

-- Asks the evaluator. A failure of the machine is a result too: INFRA. `pairs_plan` are the numbers of a decision
-- against `incumbent`, both absent without one.
local function ask_once(loop, given, steps, pairs_plan, incumbent)
    local numbers = measuring.steps(loop)
    if pairs_plan then
        numbers = { check = numbers.check, limits = numbers.limits, time = copy(numbers.time) }
        numbers.time.pairs = pairs_plan
    end
    local result, problem, code = loop.evaluator:trial(given, steps, numbers, incumbent)
    if result then return result end
    measuring.lost(loop, code)
    return { status = "INFRA", step = "", reason = problem, code = code, workloads = {} }
end

--- Asks the evaluator for a trial: a unit, the names of the steps, and numbers of pairs with an incumbent or nothing.
--- While somebody disturbs the measurement it asks again, as often as the policy says; then it is given up: no verdict
--- can come of it. Returns the result; what was seen, that of the earlier tries first, is in `disturbed`, for figures
--- that count too.
function measuring.ask(loop, ...)
    local timing, tries, seen = loop.policy.timing, 0, {}
    local clock_run = timing.pairs and timing.pairs.clock_run
    while true do
        local result = ask_once(loop, ...)
        local problem = quiet.disturbance(result, timing.tenants == "note")
        local remark = problem or quiet.remarks(result, clock_run)
        if remark ~= seen[#seen] then seen[#seen + 1] = remark end
        result.disturbed = #seen > 0 and table.concat(seen, "; ") or nil
        result.repeats = tries > 0 and tries or nil
        if not problem then return result end
        if tries >= (timing.repeats or 0) then
            result.status, result.code = "UNSTABLE", "M7"
            result.reason = tries > 0 and ("%s, also when measured again"):format(problem) or problem
            return result
        end
        tries = tries + 1
        loop.progress:note(("     %s: measured again"):format(problem))
    end
end

local function has_no_effect(loop, launches, build)
    local best = loop.session.best
    return best and build and build.hash and build.hash == best.machine_code and launches == best.launches
end

-- The first trial is timed against itself: what the machine makes of that is its floor.
local function evaluate_first(loop, given)
    local numbers = control.plan(loop.policy, loop.opt)
    return measuring.ask(loop, given, measuring.ALL_STEPS, numbers, numbers and given)
end

-- The best against itself again when the clock is not what it was: the floor belongs to a clock.
local function renew_control(loop)
    local known = loop.control or loop.session.control
    if not control.is_outdated(loop.policy, known, loop.clock_mhz) then return known end
    local given = measuring.unit_of(loop, loop.session.best)
    local result = measuring.ask(loop, given, { "build", "time" }, control.plan(loop.policy, loop.opt), given)
    loop.control = result.status == "PASSED" and control.of(result) or known
    if loop.control then must(loop.session:note_control(loop.control)) end
    return loop.control
end

local function evaluate_against_best(loop, given)
    local known = loop.policy.timing.pairs and renew_control(loop)
    local numbers, raised_from = plan.pairs(loop.policy, loop.opt, known and known.floor)
    if numbers and loop.error_share then numbers.alpha = numbers.alpha * loop.error_share end
    local incumbent = numbers and measuring.unit_of(loop, loop.session.best)
    local result = measuring.ask(loop, given, measuring.ALL_STEPS, numbers, incumbent)
    if type(result.paired) == "table" then result.paired.raised_from = raised_from end
    loop.clock_mhz = control.clock_of(result) or loop.clock_mhz
    return result
end

-- Equal machine code needs no measurement, unless the policy wants one: code can be simpler and do the same.
local function is_measured_all_the_same(loop, given)
    if not loop.policy.unchanged then return false end
    local change = { sources = copy(given.sources), size = codesize.of(given.sources), best = copy(loop.session.best) }
    return loop.hook("unchanged", change, loop.opt) == true
end

-- Builds first, for the sake of equal machine code; the second request finds the build in the cache. Equal files in
-- Python are checked all the same: what they load beside them, a module, a header, may have changed.
local function evaluate(loop, given)
    local launches = git.hash(unit.launches(given))
    if not loop.session.best then return evaluate_first(loop, given), launches, false end
    local built = measuring.ask(loop, given, { "build" })
    if built.status ~= "PASSED" then return built, launches, false end
    if has_no_effect(loop, launches, built.build) and not is_measured_all_the_same(loop, given) then
        if given.lane ~= unit.python_lane(unit.place(given.lane)) then return built, launches, true end
        local checked = measuring.ask(loop, given, { "build", "check" })
        return checked, launches, checked.status == "PASSED"
    end
    return evaluate_against_best(loop, given), launches, false
end

-- Shares of the physical floor: bytes over peak bandwidth against the median, weighted over the workloads.
local function floor_share(loop, record)
    local peak = loop.evaluator.device.peak_dram_bytes_per_s
    if not record.time_ns or not peak or peak <= 0 then return nil end
    local floor, taken = 0.0, 0.0
    for i, workload in ipairs(loop.task.workloads) do
        if not workload.bytes then return nil end
        floor = floor + workload.weight * workload.bytes / peak * 1e9
        taken = taken + workload.weight * record.workloads[i].time_ns.median
    end
    return floor / taken
end

-- A weakness that the policy only warns of, and what follows from it for the checks.
local function accept_weakness(loop, found, text, remark)
    loop.weakness = text
    remark(nil, "a weak task: " .. text)
    widening.adopt(loop.plan, found.wider)
    local tried = widening.text(found)
    if tried then remark("inputs", tried) end
end

--- Before there is anything to build on: a task that a null kernel passes proves nothing about any other. Returns why
--- it is refused, or nil; a weakness that the policy only warns of (loop.weakness) goes with every record of a session.
--- `remark(topic, text)` is told what is to be said; the topic is nil where the text says it itself.
function measuring.examine(loop, remark)
    if loop.session.best or not loop.evaluator.attack then return nil end
    local found, problem = tightening.examine(loop.evaluator, loop.task, loop.plan, loop.give_task,
        tightening.is_unwanted(loop.policy, loop.opt))
    local tightened = tightening.text(loop.plan)
    if tightened then remark("tolerance", tightened) end
    if not found then remark(nil, "the task could not be examined: " .. problem) end
    if not found or #found.weak == 0 then return nil end
    local text = ("%s; %s"):format(attack.summary(found.weak, MOST_NAMED), found.advice)
    if attack.is_refused(found.weak, loop.policy, loop.task) then return text end
    accept_weakness(loop, found, text, remark)
end

--- Says in a record (or in an evaluator's result) what the task's weakness has changed: .weakness, .tightened, .wider,
--- and in its reason that the policy's own tolerance would have let it pass.
function measuring.note_weakness(loop, record)
    record.weakness = loop.weakness or (loop.session.original and loop.session.original.weakness)
    record.tightened, record.wider = loop.plan.tightened, loop.plan.steps.check.wider
    local differs = tightening.differs(loop.plan, record)
    if differs then record.reason = ("%s; %s"):format(record.reason, differs) end
end

-- On stderr, with the topics in one column.
local function noting(loop)
    return function(topic, text)
        loop.progress:note(topic and format.pad(topic, 11) .. " " .. text or text)
    end
end

-- The name of a file of the solution whose text is not what the open trial's commit has: somebody writes to it. What is
-- measured is what was announced, or nothing.
local function changed_since_announced(loop, sources)
    local session = loop.session
    for i, name in ipairs(loop.task.solution.files) do
        if session.repo:read(session.open.commit, name) ~= sources[i].text then return name end
    end
end

-- The same behind a benchmark of the user's, which has read the files itself: a fault of the record's.
local function check_unmoved(loop, record)
    if not record.bench then return end
    local now = unit.read(loop.session.ws.folder, loop.task.solution.files)
    local moved = not now and "the solution" or changed_since_announced(loop, now)
    if not moved then return end
    record.status, record.code = "INFRA", "CHANGED"
    record.reason = moved .. " was changed while the benchmark ran: try again"
end

-- The workspace's files as a unit; nil and a record that says why there is nothing to evaluate. What is known by then
-- goes into `evidence`.
local function admitted_unit(loop, info, context, evidence)
    local function ended(status, reason) return nil, trial.without_result(status, reason, context) end
    if info.problem then return ended("REJECTED", info.problem) end
    evidence.proposer_log = info.log
    local sources, problem = unit.read(loop.session.ws.folder, loop.task.solution.files)
    if not sources then return ended("REJECTED", problem) end
    evidence.sources, loop.last_sources = sources, sources
    local moved = changed_since_announced(loop, sources)
    if moved then return ended("INFRA", moved .. " was changed while the trial began: try again") end
    local refused, code = measuring.admit(loop, info, sources)
    if refused then
        local _, record = ended("REJECTED", refused)
        record.code = code
        return nil, record
    end
    local weakness = measuring.examine(loop, noting(loop))
    if weakness then return ended("INVALID_REFERENCE", "a weak task: " .. weakness) end
    local given
    given, problem = unit.make(loop.task, loop.task.solution, sources, loop.task.reference)
    if not given then return ended("COMPILE_ERROR", problem) end
    return given
end

-- What the loop knows of a result beside what the evaluator says.
local function describe(loop, record, given, result)
    if not loop.session.best then record.control, record.paired = control.of(result), nil end
    measuring.note_weakness(loop, record)
    record.python = problem_task.facts_text(loop.task)
    record.floor_share = floor_share(loop, record)
    measuring.name_unit(record, given)
    record.tenants = unit.place(given.lane) == "gpu" and quiet.tenants(result) or nil
end

-- `marks` as they were when it began.
local function check_protected(loop, record, marks)
    local changed = measuring.changed_protected(loop) or protect.difference(marks, loop.marks or {})
    if not changed then return end
    record.status, record.code = "REJECTED", "PROTECTED"
    record.reason = ("protected file %s changed while this ran"):format(changed)
end

--- The record of the workspace's present files, without a verdict; and what is to be kept beside it: sources, samples,
--- build_log, bench_log, proposer_log, as far as there are any. info: as for Loop:try.
function measuring.measure(loop, info)
    local context, evidence = measuring.context(loop, info), {}
    local given, ended = admitted_unit(loop, info, context, evidence)
    if not given then return ended, evidence end
    loop.lane = given.lane
    local marks = loop.marks or {}
    local result, launches, no_effect = evaluate(loop, given)
    if not loop.session.best then context.against = false end
    local record = trial.record(result, context)
    record.launches, record.no_effect = launches, no_effect or nil
    describe(loop, record, given, result)
    evidence.bench_log = not loop.signal and bench.run(loop, record, evidence.sources) or nil
    check_unmoved(loop, record)
    check_protected(loop, record, marks)
    evidence.samples, evidence.build_log = trial.samples(result), result.build and result.build.log
    return record, evidence
end

--- The same with what a first look costs, where the policy and its options want one; then .signal says so.
function measuring.look(loop, info)
    loop.signal = loop.session.best and plan.signal(loop.policy, loop.plan.steps, loop.opt)
    local record, evidence = measuring.measure(loop, info)
    record.signal, loop.signal = record.time_ns and loop.signal or nil, nil
    return record, evidence
end

return measuring
