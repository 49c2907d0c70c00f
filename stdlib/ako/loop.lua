-- The loop: baseline, then a trial for each candidate until the policy or the candidates end, then the best restored
-- and verified again. It knows the order of things and no number: those are the policy's.

local advice = require "ako.advice"
local attack = require "ako.attack"
local bench = require "ako.bench"
local clock = require "ako.clock"
local codesize = require "ako.codesize"
local control = require "ako.control"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local lines = require "ako.lines"
local plan = require "ako.plan"
local protect = require "ako.protect"
local quiet = require "ako.quiet"
local rendering = require "ako.rendering"
local report = require "ako.report"
local trial = require "ako.trial"
local unit = require "ako.unit"

local loop = {}

local Loop = {}
Loop.__index = Loop

local MOST_NAMED = 3 -- of the weaknesses of a task

local ALL_STEPS = { "build", "check", "time" }

local function must(result, problem, code)
    if result == nil then fault.raise(code, "%s", problem) end
    return result
end

local function copy(value)
    if type(value) ~= "table" then return value end
    local result = {}
    for key, item in pairs(value) do result[key] = copy(item) end
    return result
end

--- A loop over a session. `parts`: policy, opt, hook(name, ...) (calls a hook of the policy), session (ako.session),
--- evaluator (ako.evaluator, its task given), task (resolved), plan (ako.plan), progress (ako.progress), protected()
--- (the hashes of ako.protect), restart() (gives a fresh evaluator with the same task when the old one died), worked_s
--- (for how long a run that is resumed was at work before; 0).
function loop.new(parts)
    local self = setmetatable({}, Loop)
    for name, part in pairs(parts) do self[name] = part end
    self.started_ns = clock.now_ns() - math.floor((parts.worked_s or 0) * 1e9)
    self.views = lines.view(self.session.history, copy)
    self.note_views = lines.view(self.session.notes, copy)
    return self
end

local function ids_and_weights(workloads)
    local ids, weights = {}, {}
    for i, workload in ipairs(workloads) do
        ids[i], weights[i] = workload.id or workload.name or tostring(i), workload.weight or 1.0
    end
    return ids, weights
end

local function task_view(task)
    local ids, weights = ids_and_weights(task.workloads or {})
    return { name = task.name, file = task.file, solution = copy(task.solution.files),
        reference = task.reference and copy(task.reference.files) or {}, workloads = ids, weights = weights }
end

--- What hooks see of the run: { trials (without the baseline), next_trial, history, notes, best, original, last,
--- last_sources, elapsed_s, session, header, device, lane, workspace, task, tolerance, finished }.
function Loop:view()
    local session = self.session
    self.task_view = self.task_view or task_view(self.task)
    return { trials = math.max(0, #session.history - 1), next_trial = #session.history, history = self.views,
        notes = self.note_views, best = copy(session.best), original = copy(session.original),
        last = self.views[#self.views], last_sources = copy(self.last_sources),
        elapsed_s = (clock.now_ns() - self.started_ns) / 1e9, session = session.name, header = copy(session.header),
        device = copy(self.evaluator.device), lane = self.lane, workspace = session.ws.folder,
        task = copy(self.task_view), tolerance = copy(self.plan.tolerance), finished = self.finished or false }
end

-- `info` stands for the open trial where none is open.
local function context_of(self, info)
    local session = self.session
    local open, original = session.open or info, session.original
    if original and original.status ~= "PASSED" then original = nil end -- a start that has still to pass is its own
    return { session = session.name, trial = open.trial, candidate = open.candidate, hypothesis = open.hypothesis,
        predict = open.predict, label = open.label, facts = open.facts, task = self.task,
        statistic = self.policy.timing.statistic, flush = self.policy.timing.flush, original = original,
        best = session.best }
end

-- Admission

-- What a hook gives as its reason, words or nothing; anything else is a mistake in the policy.
local function words(hook, value)
    if value ~= nil and type(value) ~= "string" then
        fault.raise("POLICY", "hook '%s' must give its reason in words, gave a %s value", hook, type(value))
    end
    return value and format.utf8(value)
end

--- The name of a protected file that is not what it was when the session began, or nil.
function Loop:changed_protected()
    return protect.difference(self.session.header.protected or {}, self.protected())
end

local function admit(self, info, sources)
    local name = self:changed_protected()
    if name then return ("protected file %s changed since the session began"):format(name), "PROTECTED" end
    if not self.policy.admit then return nil end
    local admitted, reason = self.hook("admit", { candidate = info.candidate, hypothesis = info.hypothesis,
        sources = copy(sources), best = copy(self.session.best) }, self.opt)
    if not admitted then return words("admit", reason) or "the policy does not admit it", "POLICY" end
end

-- Evaluation

local function steps_of(self)
    local original, steps = self.session.original, self.plan.steps
    if self.signal then steps = plan.with_signal(steps, self.signal) end
    if not original or original.status ~= "PASSED" then return steps end
    return plan.for_candidate(steps, self.policy.budget, original.costs_ms)
end

-- The unit of a record's sources, with which others are timed in turn.
local function unit_of(self, record)
    if self.unit_of_commit ~= record.commit then
        self.unit_kept = must(unit.make(self.task, self.task.solution, must(self.session:sources(record)),
            self.task.reference))
        self.unit_of_commit = record.commit
    end
    return self.unit_kept
end

-- An evaluator that has died is started again, so that the next trial finds a good one.
local function lost(self, code)
    if code == "CANCELLED" then self.cancelled = true end
    if code == "CHILD" and self.restart then self.evaluator = must(self.restart()) end
end

-- Asks the evaluator. A failure of the machine is a result too: INFRA. `pairs_plan` are the numbers of a decision
-- against `incumbent`, both absent without one.
local function ask_once(self, given, steps, pairs_plan, incumbent)
    local numbers = steps_of(self)
    if pairs_plan then
        numbers = { check = numbers.check, limits = numbers.limits, time = copy(numbers.time) }
        numbers.time.pairs = pairs_plan
    end
    local result, problem, code = self.evaluator:trial(given, steps, numbers, incumbent)
    if result then return result end
    lost(self, code)
    return { status = "INFRA", step = "", reason = problem, code = code, workloads = {} }
end

-- Asks again, as often as the policy says, while somebody disturbs the measurement; then it is given up: no verdict can
-- come of it. What was seen, that of the earlier tries first, is in `disturbed`, for figures that count too.
local function ask(self, ...)
    local timing, tries, seen = self.policy.timing, 0, {}
    local clock_run = timing.pairs and timing.pairs.clock_run
    while true do
        local result = ask_once(self, ...)
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
        self.progress:note(("     %s: measured again"):format(problem))
    end
end

local function has_no_effect(self, launches, build)
    local best = self.session.best
    return best and build and build.hash and build.hash == best.machine_code and launches == best.launches
end

-- The first trial is timed against itself: what the machine makes of that is its floor.
local function evaluate_first(self, given)
    local numbers = control.plan(self.policy, self.opt)
    return ask(self, given, ALL_STEPS, numbers, numbers and given)
end

-- The best against itself again when the clock is not what it was: the floor belongs to a clock.
local function renew_control(self)
    local known = self.control or self.session.control
    if not control.is_outdated(self.policy, known, self.clock_mhz) then return known end
    local given = unit_of(self, self.session.best)
    local result = ask(self, given, { "build", "time" }, control.plan(self.policy, self.opt), given)
    self.control = result.status == "PASSED" and control.of(result) or known
    if self.control then must(self.session:note_control(self.control)) end
    return self.control
end

local function evaluate_against_best(self, given)
    local known = self.policy.timing.pairs and renew_control(self)
    local numbers, raised_from = plan.pairs(self.policy, self.opt, known and known.floor)
    if numbers and self.error_share then numbers.alpha = numbers.alpha * self.error_share end
    local result = ask(self, given, ALL_STEPS, numbers, numbers and unit_of(self, self.session.best))
    if type(result.paired) == "table" then result.paired.raised_from = raised_from end
    self.clock_mhz = control.clock_of(result) or self.clock_mhz
    return result
end

-- Equal machine code needs no measurement, unless the policy wants one: code can be simpler and do the same.
local function is_measured_all_the_same(self, given)
    if not self.policy.unchanged then return false end
    local change = { sources = copy(given.sources), size = codesize.of(given.sources), best = copy(self.session.best) }
    return self.hook("unchanged", change, self.opt) == true
end

-- Builds first, for the sake of equal machine code; the second request finds the build in the cache.
local function evaluate(self, given)
    local launches = git.hash(unit.launches(given))
    if not self.session.best then return evaluate_first(self, given), launches, false end
    local built = ask(self, given, { "build" })
    if built.status ~= "PASSED" then return built, launches, false end
    if has_no_effect(self, launches, built.build) and not is_measured_all_the_same(self, given) then
        return built, launches, true
    end
    return evaluate_against_best(self, given), launches, false
end

-- Shares of the physical floor: bytes over peak bandwidth against the median, weighted over the workloads.
local function floor_share(self, record)
    local peak = self.evaluator.device.peak_dram_bytes_per_s
    if not record.time_ns or not peak or peak <= 0 then return nil end
    local floor, taken = 0.0, 0.0
    for i, workload in ipairs(self.task.workloads) do
        if not workload.bytes then return nil end
        floor = floor + workload.weight * workload.bytes / peak * 1e9
        taken = taken + workload.weight * record.workloads[i].time_ns.median
    end
    return floor / taken
end

-- Before there is anything to build on: a task that a null kernel passes proves nothing about any other. Returns why it
-- is refused, or nil; a weakness that the policy only warns of goes with every record of the session.
local function examine_task(self)
    if self.session.best or not self.evaluator.attack then return nil end
    local found, problem = attack.examine(self.evaluator, self.task, self.plan)
    if not found then self.progress:note("the task could not be examined: " .. problem) end
    if not found or #found.weak == 0 then return nil end
    local text = ("%s; %s"):format(attack.summary(found.weak, MOST_NAMED), found.advice)
    if attack.is_refused(found.weak, self.policy) then return text end
    self.weakness = text
    self.progress:note("a weak task: " .. text)
end

-- The record of the workspace's present files, without a verdict; and what is to be kept beside it.
local function measure(self, info)
    local context = context_of(self, info)
    if info.problem then return trial.without_result("REJECTED", info.problem, context), {} end
    local evidence = { proposer_log = info.log }
    local sources, problem = unit.read(self.session.ws.folder, self.task.solution.files)
    if not sources then return trial.without_result("REJECTED", problem, context), evidence end
    evidence.sources, self.last_sources = sources, sources
    local refused, code = admit(self, info, sources)
    if refused then
        local record = trial.without_result("REJECTED", refused, context)
        record.code = code
        return record, evidence
    end
    local weakness = examine_task(self)
    if weakness then
        return trial.without_result("INVALID_REFERENCE", "a weak task: " .. weakness, context), evidence
    end
    local given
    given, problem = unit.make(self.task, self.task.solution, sources, self.task.reference)
    if not given then return trial.without_result("COMPILE_ERROR", problem, context), evidence end
    self.lane = given.lane
    local result, launches, no_effect = evaluate(self, given)
    if not self.session.best then context.against = false end
    local record = trial.record(result, context)
    if not self.session.best then record.control, record.paired = control.of(result), nil end
    record.weakness = self.weakness or (self.session.original and self.session.original.weakness)
    record.launches, record.no_effect, record.lane = launches, no_effect or nil, given.lane
    record.floor_share = floor_share(self, record)
    record.tenants = unit.place(given.lane) == "gpu" and quiet.tenants(result) or nil
    evidence.bench_log = not self.signal and bench.run(self, record, sources) or nil
    local changed = self:changed_protected()
    if changed then
        record.status, record.code = "REJECTED", "PROTECTED"
        record.reason = ("protected file %s changed while this ran"):format(changed)
    end
    evidence.samples, evidence.build_log = trial.samples(result), result.build and result.build.log
    return record, evidence
end

-- The same with what a first look costs, where the policy and its options want one; then .signal says so.
local function look(self, info)
    self.signal = self.session.best and plan.signal(self.policy, self.plan.steps, self.opt)
    local record, evidence = measure(self, info)
    record.signal, self.signal = record.time_ns and self.signal or nil, nil
    return record, evidence
end

-- Verdicts

local VERDICTS = { keep = true, revert = true, inconclusive = true }

local function ask_policy(self, record)
    local verdict, reason = self.hook("accept", copy(record), copy(self.session.best), self.opt)
    if not VERDICTS[verdict] then
        fault.raise("POLICY", "hook 'accept' must return 'keep', 'revert' or 'inconclusive' and a reason, returned %s",
            tostring(verdict))
    end
    return verdict, words("accept", reason) or ""
end

-- What a noisy machine means for all that follows.
local function floor_text(self, record)
    local known = record.control
    local numbers, raised_from = plan.pairs(self.policy, self.opt, known and known.floor)
    if not raised_from then return "" end
    return ("; this machine takes %.2g %% for a gain when nothing has changed: below %.3g %% nothing is kept"):format(
        known.floor * 100, numbers.threshold * 100)
end

-- What the others start from must be right, and need not be believed.
local function judge_start(self, record)
    if not self.policy.baseline then return "keep", "baseline" .. floor_text(self, record) end
    local verdict, reason = self.hook("baseline", copy(record), nil, self.opt)
    if verdict ~= "keep" and verdict ~= "inconclusive" then
        fault.raise("POLICY", "hook 'baseline' must return 'keep' or 'inconclusive' and a reason, returned %s",
            tostring(verdict))
    end
    reason = words("baseline", reason) or ""
    return verdict, (reason ~= "" and reason or "baseline") .. floor_text(self, record)
end

local function decide(self, record)
    if trial.is_unmeasured(record.status) then return "inconclusive", record.reason end
    if record.status ~= "PASSED" then return "revert", record.reason end
    if not self.session.best then return judge_start(self, record) end
    if record.no_effect then return "revert", "no effect: same machine code and launches as the best" end
    return ask_policy(self, record)
end

-- The verdict and its reason; those of a policy that failed, and its fault behind them.
local function judge(self, record)
    local decided, verdict, reason = pcall(decide, self, record)
    if decided then return verdict, reason end
    return "inconclusive", "the policy failed: " .. tostring(verdict), verdict
end

-- The record with its verdict, and what is to be kept beside it. A first look keeps nothing: what it would keep is
-- measured in full.
local function examine(self, info)
    local record, evidence = look(self, info)
    record.size = evidence.sources and codesize.of(evidence.sources)
    local verdict, reason, failure = judge(self, record)
    if record.signal and verdict == "keep" then
        self.progress:note("     worth a full measurement: " .. reason)
        record, evidence = measure(self, info)
        record.size = evidence.sources and codesize.of(evidence.sources)
        verdict, reason, failure = judge(self, record)
    end
    record.verdict, record.reason = verdict, reason
    return record, evidence, failure
end

-- Logs and branch

local function report_left_alone(self, paths)
    self.told = self.told or {}
    for _, path in ipairs(paths) do
        if not self.told[path] then
            self.progress:note(("%s holds what somebody else has written: left alone, not rendered"):format(path))
        end
        self.told[path] = true
    end
end

--- Renders the policy's logs into the workspace. Returns the paths of those that hold what was rendered.
function Loop:render_logs()
    if not self.policy.logs then return {} end
    local files = self.hook("logs", self:view(), self.opt)
    local written, left_alone = rendering.write(self.session.ws, self.session.name, files, self.task.solution.files)
    report_left_alone(self, left_alone)
    return written
end

local function with_git_paths(self, paths)
    local own = self.policy.git and self.policy.git.paths or {}
    return table.move(paths, 1, #paths, #own + 1, table.move(own, 1, #own, 1, {}))
end

--- After every change of the history: the policy's logs, and the commits that belong on the session's branch.
function Loop:publish()
    local before = self.session.branch
    must(self.session:publish(with_git_paths(self, self:render_logs())))
    local now = self.session.branch
    if now and (not before or before.ref ~= now.ref) then
        self.progress:note("branch      " .. now.ref:gsub("^refs/heads/", ""))
    end
end

-- The first line of the trial's commit, where the policy wants its own.
local function subject_of(self, record)
    local git_of = self.policy.git
    if not git_of or not git_of.subject or not (git_of.every or record.verdict == "keep") then return nil end
    local text = words("git.subject", self.hook("git.subject", copy(record), self:view(), self.opt))
    return text and format.line(text)
end

-- Closes the open trial; what is not kept is taken out of the workspace again.
local function conclude(self, intent, record, evidence)
    local session = self.session
    local good, subject = pcall(subject_of, self, record)
    record.subject = good and subject or nil
    local has_log = evidence.build_log and evidence.build_log ~= ""
    record.next = advice.next(record, session.best, has_log and session:files_of(record.trial) .. "/build.log" or nil)
    must(session:close_trial(record, evidence))
    if record.verdict ~= "keep" and session.best and not advice.is_unjudged_edit(record) then
        local restored, problem = session:restore(intent.commit)
        if not restored then record.left_alone = problem end
    end
    self.progress:trial(record)
    if not good then error(subject, 0) end
    self:publish()
    return record
end

-- The policy's gate

local function changed_files(self, sources)
    local best, changed = self.session.best, {}
    local kept = best and must(self.session:sources(best)) or {}
    for i, name in ipairs(self.task.solution.files) do
        if not kept[i] or not sources[i] or kept[i].text ~= sources[i].text then changed[#changed + 1] = name end
    end
    return changed
end

--- Why the policy lets no trial begin now, nil when it does. info: as for `try`. Nothing is recorded; the facts that
--- the gate gives about a proposal that may begin go into info.facts, and with that into the trial's record.
function Loop:refusal(info)
    if not self.policy.gate then return nil end
    local sources = unit.read(self.session.ws.folder, self.task.solution.files) or {}
    local proposal = { trial = #self.session.history, candidate = info.candidate, hypothesis = info.hypothesis,
        predict = info.predict, label = info.label, point = copy(info.point), sources = copy(sources),
        changed = changed_files(self, sources) }
    local reason, facts = self.hook("gate", self:view(), proposal, self.opt)
    if reason ~= nil then return words("gate", reason) end
    if facts ~= nil and (type(facts) ~= "table" or not pcall(json.encode, facts)) then
        fault.raise("POLICY", "hook 'gate' must give facts that JSON can say, gave a %s value", type(facts))
    end
    info.facts = facts
end

--- Why the policy does not let the session be ended by hand now, with `why` in words, or nil.
function Loop:finish_refusal(why)
    return self.policy.finish and words("finish", self.hook("finish", self:view(), why, self.opt))
end

--- One trial of the workspace's present files. info: candidate (its name), hypothesis, predict (by how many per cent
--- its author expects it to be faster), label, facts (what the gate gave), problem (why there is nothing to try: it is
--- REJECTED for that); point (of a tune space) and screen (what a screening said of it), for the record; log, what its
--- proposer printed. Returns its record; a candidate that is not kept is taken out of the workspace again, unless its
--- files were changed meanwhile (.left_alone says so).
function Loop:try(info)
    local session = self.session
    local intent = must(session:begin(info))
    self.progress:start(intent.trial, info)
    local record, evidence, failure = examine(self, info)
    record.point, record.screen = info.point, info.screen
    conclude(self, intent, record, evidence)
    if failure ~= nil then error(failure, 0) end
    return record
end

--- Raises BUSY unless the solution is what the loop left there, the best.
function Loop:check_best()
    local session = self.session
    for _, source in ipairs(must(session:sources(session.best))) do
        if fs.read(fs.join(session.ws.folder, source.name)) ~= source.text then
            fault.raise("BUSY", "%s was changed by somebody else; the loop stops and leaves it as it is", source.name)
        end
    end
end

-- Puts a candidate in the place of the best.
local function place(self, candidate)
    self:check_best()
    must(self.session:place(candidate.files or candidate.text))
end

--- Why nothing can be tried any more, whatever the policy thinks, or nil.
function Loop:is_over()
    if self.cancelled then return "interrupted" end
    local last = self.session.history[#self.session.history]
    if last and last.code == "PROTECTED" then return last.reason end
end

--- Why the loop is to end now, or nil.
function Loop:stop_reason()
    local over = self:is_over()
    if over then return over end
    local run = self:view()
    local stalled = self.policy.stalled and words("stalled", self.hook("stalled", run, self.opt))
    if stalled then self.progress:note("stalled: " .. stalled) end
    return self.policy.stop and words("stop", self.hook("stop", run, self.opt))
end

-- Why the policy's gate lets no trial of the workspace's files begin; they are the best's again then.
local function refused_by_gate(self, info)
    local reason = not self:changed_protected() and self:refusal(info) -- else the trial itself is to say so
    if not reason then return nil end
    local kept = must(self.session:withdraw(reason))
    return kept and ("%s (this edit is kept: %s)"):format(reason, kept) or reason
end

--- A trial of a candidate (ako.proposer), which is put in the place of the best unless its proposer has done so.
--- `screen` is what a screening said of it; `error_share`, the share of the policy's error that a decision on it may
--- have (1). Returns its record; or nil and why the policy's gate refuses it: then the best is back, nothing recorded.
function Loop:attempt(candidate, screen, error_share)
    local is_there = candidate.text or candidate.files or candidate.in_place
    if is_there and not candidate.in_place then place(self, candidate) end
    local info = { candidate = candidate.name, hypothesis = candidate.hypothesis, predict = candidate.predict,
        problem = candidate.problem, point = candidate.point, screen = screen, log = candidate.log }
    local refused = is_there and refused_by_gate(self, info)
    if refused then return nil, refused end
    self.error_share = error_share
    local record = self:try(info)
    self.error_share = nil
    return record
end

--- The unit of a candidate, nil for one whose trial would end before anything runs.
function Loop:unit_of_candidate(candidate)
    if not candidate.text and not candidate.files then return nil end
    local sources = must(unit.read(self.session.ws.folder, self.task.solution.files))
    local files = candidate.files or { [sources[1].name] = candidate.text }
    for i, source in ipairs(sources) do
        sources[i] = { name = source.name, text = files[source.name] or source.text }
    end
    if admit(self, { candidate = candidate.name }, sources) then return nil end
    return (unit.make(self.task, self.task.solution, sources, self.task.reference))
end

--- Screens units against the best, whose files lie in the workspace. Returns the evaluator's answer; or nil and why the
--- screening failed as a whole.
function Loop:screen(units, numbers)
    local steps = steps_of(self)
    local sources = must(unit.read(self.session.ws.folder, self.task.solution.files))
    local best = must(unit.make(self.task, self.task.solution, sources, self.task.reference))
    local time = copy(steps.time)
    time.screen = numbers
    self.progress:start(#self.session.history, { candidate = ("screening %d"):format(#units) })
    local timing, tries = self.policy.timing, 0
    while true do
        local answer, problem, code = self.evaluator:screen(units, best, { check = steps.check, limits = steps.limits,
            time = time })
        if not answer then lost(self, code) end
        if not answer or answer.status ~= "PASSED" then
            return nil, answer and ("%s: %s"):format(answer.status, answer.reason) or problem
        end
        local disturbed = quiet.disturbance(answer, timing.tenants == "note")
        if not disturbed then return answer end
        if tries >= (timing.repeats or 0) then return nil, disturbed end
        tries = tries + 1
        self.progress:note(("     %s: measured again"):format(disturbed))
    end
end

--- Records a candidate that a screening has dropped, { candidate, unit, result (the screening's), screen }, as a trial
--- of its own. Returns the record.
function Loop:dismiss(entrant, reason)
    local candidate, result = entrant.candidate, entrant.result
    place(self, candidate)
    local intent = must(self.session:begin { candidate = candidate.name })
    local record = trial.record(result, context_of(self))
    local passed = record.status == "PASSED"
    record.verdict = trial.is_unmeasured(record.status) and "inconclusive" or "revert"
    record.reason = passed and reason or record.reason
    record.launches, record.lane = git.hash(unit.launches(entrant.unit)), entrant.unit.lane
    record.point, record.screen, record.size = candidate.point, entrant.screen, codesize.of(entrant.unit.sources)
    record.screen.left = result.left ~= "" and result.left or "slower"
    record.no_effect = result.same_as == -1 or nil
    local samples = {}
    for _, workload in ipairs(result.workloads) do samples[workload.id] = { screen = workload.screen } end
    return conclude(self, intent, record, { sources = entrant.unit.sources, samples = samples,
        build_log = result.build and result.build.log })
end

-- Counts proposals of which no trial came. Returns why that ends the run, or nil.
local function note_refusal(self, reason)
    local before, most = self.refused, self.policy.budget.no_ops
    local count = before and before.count + 1 or 1
    self.refused = { reason = reason, count = count, most = most }
    self.progress:note(("     not tried%s: %s"):format(most and (" (%d of %d in a row)"):format(count, most) or "",
        reason))
    if not most or count < most then return nil end
    return ("%s in a row without a change to try, the last one: %s"):format(format.count(count, "proposal"), reason)
end

--- A trial for each candidate that propose(self) gives (ako.proposer). Returns why it ended. Meanwhile .refused says
--- why no trial came of the last proposal, and of how many in a row: { reason, count, most }, nil after a trial.
function Loop:run(propose)
    while true do
        local reason = self:stop_reason()
        if reason then return reason end
        local candidate, ended = propose(self)
        if not candidate then return self:is_over() or ended or "no more candidates" end
        local refused = candidate.nothing or select(2, self:attempt(candidate))
        local over = refused and note_refusal(self, refused)
        if over then return over end
        if not refused then self.refused = nil end
    end
end

-- One fresh run of the original against the final best: steps' gains multiplied would multiply their errors too.
local function headline_plan(self)
    local session = self.session
    local comparable = session.original and session.original.status == "PASSED" and session.best ~= session.original
    local numbers = comparable and plan.pairs(self.policy, self.opt)
    if not numbers then return nil end
    numbers.looks, numbers.hopeless = { self.policy.timing.pairs.headline or numbers.looks[#numbers.looks] }, 0
    return numbers
end

-- The workspace's files are the best's, byte for byte, or nothing is said about them. What the last trial could not
-- judge and left there is in its record.
local function restore_best(self)
    local session, best = self.session, self.session.best
    must(session:restore(session.history[#session.history].commit))
    for _, source in ipairs(must(session:sources(best))) do
        local same = fs.read(fs.join(session.ws.folder, source.name)) == source.text
        fault.check(same, "%s is not what trial %d had", source.name, best.trial)
    end
end

local function measure_best(self)
    local session, best = self.session, self.session.best
    self.progress:start(best.trial, { candidate = "best, verified" })
    local given = must(unit.make(self.task, self.task.solution,
        must(unit.read(session.ws.folder, self.task.solution.files)), self.task.reference))
    local context = context_of(self, best)
    local numbers = headline_plan(self)
    local incumbent = numbers and unit_of(self, session.original)
    context.against = "original"
    local record = trial.record(ask(self, given, ALL_STEPS, numbers, incumbent), context)
    for _, name in ipairs { "verdict", "override", "override_reason", "tree", "commit", "files" } do
        record[name] = best[name]
    end
    if record.status == "PASSED" then record.reason = best.reason end
    record.lane = given.lane
    self.progress:verified(record)
    return record
end

--- Checks that the workspace holds the best's bytes and measures them once more, as often as the policy's timing.verify
--- says. Returns the record of that (of several their mean, ako.trial), with .trial the best's number; it changes
--- nothing that was decided.
function Loop:verify()
    restore_best(self)
    local records = {}
    for i = 1, self.policy.timing.verify or 1 do
        records[i] = measure_best(self)
        if records[i].status ~= "PASSED" then return records[i] end
    end
    return trial.mean(records)
end

-- What the policy does itself when all is over; its logs can tell of it.
local function submit(self)
    if not self.policy.submit then return end
    local said = words("submit", self.hook("submit", self:view(), self.opt))
    if said then self.progress:note("submit      " .. said) end
    self.finished.said = said
end

-- The policy's last commit and its tag.
local function publish_end(self)
    local git_of, session = self.policy.git, self.session
    local paths = with_git_paths(self, self:render_logs())
    if not git_of or not session.best then return end
    local message = git_of.final and words("git.final", self.hook("git.final", self:view(), self.opt))
    local oid = message and must(session:publish_final(message, paths)) or session.branch and session.branch.oid
    local tag = oid and git_of.tag and words("git.tag", self.hook("git.tag", self:view(), self.opt))
    if not tag then return end
    local made, problem = session:publish_tag(tag, oid, message or tag)
    self.progress:note(made and "tag         " .. tag or ("no tag %s: %s"):format(tag, problem))
end

--- The end of a session: the best verified (when there was anything to choose from), the policy's own end, the logs
--- rendered, the policy's last commit and tag, the last line written. An interrupted one stays open. Returns the record
--- to report on.
function Loop:finish(ended)
    local session = self.session
    local record = session.best or session.original
    if not self.cancelled and #session.history > 1 and session.best then record = self:verify() end
    if self.cancelled then
        must(session:settle())
        return record
    end
    local verified = session.best and report.object(record) or nil
    self.finished = { ended = ended, verified = copy(record) }
    submit(self)
    publish_end(self)
    must(session:finish { ended = ended, status = record.status, verified = verified })
    return record
end

return loop
