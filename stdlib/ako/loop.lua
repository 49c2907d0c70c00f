-- The loop: baseline, then a trial for each candidate until the policy or the candidates end, then the best restored
-- and verified again. It knows the order of things and no number: those are the policy's.

local advice = require "ako.advice"
local clock = require "ako.clock"
local codesize = require "ako.codesize"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local judging = require "ako.judging"
local lines = require "ako.lines"
local measuring = require "ako.measuring"
local policies = require "ako.policy"
local publishing = require "ako.publishing"
local quiet = require "ako.quiet"
local report = require "ako.report"
local trial = require "ako.trial"
local unit = require "ako.unit"
local verifying = require "ako.verifying"
local view = require "ako.view"

local loop = {}

local Loop = {}
Loop.__index = Loop

local copy, words = view.copy, view.words
local must = fault.must

--- A loop over a session. `parts`: policy, opt, hook(name, ...) (calls a hook of the policy), session (ako.session),
--- evaluator (ako.evaluator, its task given), task (resolved), plan (ako.plan), progress (ako.progress), protected()
--- (the hashes and marks of ako.protect), read_marks (the marks when the task had been read; nil), restart() (gives a
--- fresh evaluator with the same task when the old one died), worked_s (for how long a run that is resumed was at work
--- before; 0).
function loop.new(parts)
    local self = setmetatable({}, Loop)
    for name, part in pairs(parts) do self[name] = part end
    self.started_ns = clock.now_ns() - math.floor((parts.worked_s or 0) * 1e9)
    self.views = lines.view(self.session.history, copy)
    self.note_views = lines.view(self.session.notes, copy)
    return self
end

--- What hooks see of the run (ako.view).
function Loop:view() return view.of(self) end

--- The name of a protected file that is not what it was when the session began, or nil.
function Loop:changed_protected() return measuring.changed_protected(self) end

--- Renders the policy's logs into the workspace. Returns the paths of those that hold what was rendered.
function Loop:render_logs() return publishing.render_logs(self) end

--- After every change of the history: the policy's logs, and the commits that belong on the session's branch.
function Loop:publish() publishing.publish(self) end

--- Checks that the workspace holds the best's bytes and measures them once more (ako.verifying). Returns the record.
function Loop:verify() return verifying.verify(self) end

-- The record with its verdict, and what is to be kept beside it. A first look keeps nothing: what it would keep is
-- measured in full.
local function examine(self, info)
    local record, evidence = measuring.look(self, info)
    record.size = evidence.sources and codesize.of(evidence.sources)
    local verdict, reason, failure = judging.judge(self, record)
    if record.signal and verdict == "keep" then
        self.progress:note("     worth a full measurement: " .. reason)
        record, evidence = measuring.measure(self, info)
        record.size = evidence.sources and codesize.of(evidence.sources)
        verdict, reason, failure = judging.judge(self, record)
    end
    record.verdict, record.reason = verdict, reason
    return record, evidence, failure
end

-- Closes the open trial; what is not kept is taken out of the workspace again.
local function conclude(self, intent, record, evidence)
    local session = self.session
    local good, subject = pcall(publishing.subject, self, record)
    record.subject = good and subject or nil
    record.options = policies.changed_options(self.policy, self.opt)
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
    if measuring.admit(self, { candidate = candidate.name }, sources) then return nil end
    return (unit.make(self.task, self.task.solution, sources, self.task.reference))
end

--- Screens units against the best, whose files lie in the workspace. Returns the evaluator's answer; or nil and why the
--- screening failed as a whole.
function Loop:screen(units, numbers)
    local steps = measuring.steps(self)
    local sources = must(unit.read(self.session.ws.folder, self.task.solution.files))
    local best = must(unit.make(self.task, self.task.solution, sources, self.task.reference))
    local time = copy(steps.time)
    time.screen = numbers
    self.progress:start(#self.session.history, { candidate = ("screening %d"):format(#units) })
    local timing, tries = self.policy.timing, 0
    while true do
        local answer, problem, code = self.evaluator:screen(units, best, { check = steps.check, limits = steps.limits,
            time = time })
        if not answer then measuring.lost(self, code) end
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
    local record = trial.record(result, measuring.context(self))
    local passed = record.status == "PASSED"
    record.verdict = trial.is_unmeasured(record.status) and "inconclusive" or "revert"
    record.reason = passed and reason or record.reason
    record.launches = git.hash(unit.launches(entrant.unit))
    measuring.name_unit(record, entrant.unit)
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
    publishing.finish(self)
    must(session:finish { ended = ended, status = record.status, verified = verified,
        options = policies.changed_options(self.policy, self.opt) })
    return record
end

return loop
