-- What a policy would have kept of a session's trials: they are judged once more, nothing is measured or written.

local fault = require "ako.fault"
local git = require "ako.git"
local json = require "ako.json"
local report = require "ako.report"
local session = require "ako.session"
local trial = require "ako.trial"

local replay = {}

local function copy(value)
    if type(value) ~= "table" then return value end
    local result = {}
    for key, item in pairs(value) do result[key] = copy(item) end
    return result
end

local VERDICTS = { keep = true, revert = true, inconclusive = true }

--- What the policy's `accept` says of a record against a best one: verdict, reason. Another answer is the policy's
--- mistake.
function replay.ask(ctx, record, best)
    local verdict, reason = ctx.hook("accept", record, best, ctx.opt)
    if not VERDICTS[verdict] then
        fault.raise("POLICY", "hook 'accept' must return 'keep', 'revert' or 'inconclusive' and a reason, returned %s",
            tostring(verdict))
    end
    return verdict, reason or ""
end

-- What an evaluator must have answered when it became this record. Pairs are of the best at that time only.
local function answered(record)
    local result = { status = record.status, step = record.step or "", reason = record.reason, code = record.code,
        workloads = {}, build = { hash = record.machine_code, error = record.build_error } }
    for name, value in pairs(record.resources or {}) do result.build[name] = value end
    for i, workload in ipairs(record.workloads) do
        local given = copy(workload)
        given.time, given.reference, given.paired = workload.time_ns, workload.reference_ns, nil
        result.workloads[i] = given
    end
    return result
end

-- The record as it would be if it had been compared with these.
local function compared(ctx, record, original, best)
    local timing = ctx.policy.timing
    local fresh = trial.record(answered(record), { session = record.session, trial = record.trial,
        candidate = record.candidate, hypothesis = record.hypothesis, task = { workloads = record.workloads },
        original = original, best = best, statistic = timing.statistic, flush = record.flush })
    for _, name in ipairs { "timer", "timer_note", "launches", "lane", "floor_share" } do fresh[name] = record[name] end
    return fresh
end

local function has_no_effect(record, best)
    return record.machine_code ~= nil and record.machine_code == best.machine_code and record.launches == best.launches
end

-- In the order in which the loop decides.
local function verdict_of(ctx, record, best)
    if trial.is_unmeasured(record.status) then return "inconclusive", record.reason end
    if record.status ~= "PASSED" then return "revert", record.reason end
    if not best then
        if not ctx.policy.baseline then return "keep", "baseline" end
        return ctx.hook("baseline", copy(record), nil, ctx.opt)
    end
    if has_no_effect(record, best) then return "revert", "no effect: same machine code and launches as the best" end
    return replay.ask(ctx, copy(record), copy(best))
end

local function comes_first(best, record) return record.verdict == "keep" or (not best and record.status == "PASSED") end

--- What the policy would have said of a session's trials, one after the other: { trials, best (a record or nil) }, a
--- trial { trial, candidate, hypothesis, verdict, reason, recorded = { verdict, reason } }. A trial whose best would
--- have been another one is compared with that one by its figures. ctx: policy, opt, hook(name, ...); `history`: the
--- session's records.
function replay.trials(ctx, history)
    local trials = {}
    local original, best, recorded_best
    for i, record in ipairs(history) do
        local now = copy(record)
        local other = best and recorded_best and best.trial ~= recorded_best.trial
        if other then now = compared(ctx, record, original, best) end
        now.verdict, now.reason = verdict_of(ctx, now, best)
        trials[i] = { trial = record.trial, candidate = record.candidate, hypothesis = record.hypothesis,
            verdict = now.verdict, reason = now.reason,
            recorded = { verdict = record.verdict, reason = record.reason } }
        original = original or now
        if comes_first(best, now) then best = now end
        if comes_first(recorded_best, record) then recorded_best = record end
    end
    return { trials = trials, best = best }
end

local function kept_text(trials, verdict_of_trial)
    local numbers = {}
    for _, entry in ipairs(trials) do
        if entry.trial > 0 and verdict_of_trial(entry) == "keep" then numbers[#numbers + 1] = tostring(entry.trial) end
    end
    return #numbers > 0 and table.concat(numbers, " ") or "none"
end

local MOST_DIFFERENCES = 7

local function replay_lines(policy, state, replayed)
    local lines = { ("session %s: kept then (policy %s): %s; kept by %s: %s"):format(state.name, state.header.policy,
        kept_text(replayed.trials, function(entry) return entry.recorded.verdict end), policy.name,
        kept_text(replayed.trials, function(entry) return entry.verdict end)) }
    local differences = 0
    for _, entry in ipairs(replayed.trials) do
        if entry.verdict ~= entry.recorded.verdict then
            differences = differences + 1
            local name = entry.candidate or entry.hypothesis or "the tree"
            if differences <= MOST_DIFFERENCES then
                lines[#lines + 1] = ("trial %d (%s): %s (%s), then %s (%s)"):format(entry.trial, name, entry.verdict,
                    entry.reason, entry.recorded.verdict, entry.recorded.reason)
            end
        end
    end
    if differences > MOST_DIFFERENCES then
        lines[#lines + 1] = ("%d more verdicts differ; --json has them"):format(differences - MOST_DIFFERENCES)
    end
    lines[#lines + 1] = replayed.best and "best: " .. report.line(replayed.best) or nil
    return lines
end

--- The lines and the JSON object for the session that ctx.host.session names.
function replay.answer(ctx)
    session.check_name(ctx.host.session)
    local repo, problem, code = git.open(ctx.host.workspace or ".")
    local state
    if repo then state, problem, code = session.read(repo, ctx.host.session) end
    if not state then fault.raise(code, "%s", problem) end
    local replayed = replay.trials(ctx, state.history)
    return replay_lines(ctx.policy, state, replayed), { v = 1, policy = ctx.policy.name, session = state.name,
        recorded_policy = state.header.policy, trials = json.array(replayed.trials),
        best = replayed.best and report.object(replayed.best) or json.null }
end

return replay
