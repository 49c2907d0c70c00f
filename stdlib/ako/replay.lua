-- What a policy would have kept of a session's trials, and where it would have stopped: they are judged once more,
-- nothing is measured or written.

local ending = require "ako.ending"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local git = require "ako.git"
local intact = require "ako.intact"
local json = require "ako.json"
local paired = require "ako.paired"
local plan = require "ako.plan"
local report = require "ako.report"
local session = require "ako.session"
local trial = require "ako.trial"
local view = require "ako.view"

local replay = {}

local copy = view.copy

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

-- What an evaluator must have answered when it became this record. Pairs are of the best at that time only: they count
-- where `decided` says what is thought of them now.
local function answered(record, decided, samples)
    local result = { status = decided and "PASSED" or record.status, step = record.step or "", reason = record.reason,
        code = record.code, workloads = {}, paired = decided,
        build = { hash = record.machine_code, error = record.build_error } }
    for name, value in pairs(record.resources or {}) do result.build[name] = value end
    for i, workload in ipairs(record.workloads) do
        local given = copy(workload)
        given.time, given.reference = workload.time_ns, workload.reference_ns
        given.paired = decided and samples[workload.id].paired
        result.workloads[i] = given
    end
    return result
end

-- What is known of a trial whatever it is compared with.
local UNCHANGED = { "timer", "timer_note", "launches", "lane", "floor_share", "size", "facts", "predict", "label",
    "bench", "weakness", "tightened", "wider", "python" }

-- The record as it would be if it had been compared with these.
local function compared(ctx, record, original, best, decided, samples)
    local timing = ctx.policy.timing
    local fresh = trial.record(answered(record, decided, samples), { session = record.session, trial = record.trial,
        candidate = record.candidate, hypothesis = record.hypothesis, task = { workloads = record.workloads },
        original = original, best = best, statistic = timing.statistic, flush = record.flush })
    for _, name in ipairs(UNCHANGED) do fresh[name] = record[name] end
    return fresh
end

local function list_of(value) return type(value) == "table" and value or nil end

-- The pairs of all workloads as ako.paired takes them; nil when not all were kept.
local function pairs_of(record, samples)
    local list, weights = {}, {}
    for i, workload in ipairs(record.workloads) do
        local given = list_of(samples[workload.id])
        given = given and list_of(given.paired)
        if not given or not list_of(given.candidate_ns) or not list_of(given.incumbent_ns) then return nil end
        list[i] = { candidate_ns = given.candidate_ns, incumbent_ns = given.incumbent_ns,
            candidate_mhz = list_of(given.candidate_mhz), incumbent_mhz = list_of(given.incumbent_mhz) }
        weights[i] = workload.weight
    end
    return #list > 0 and list or nil, weights
end

local function describe(decided)
    if decided.verdict == "unstable" then
        return ("%d of %d pairs were taken at clocks that differ"):format(decided.dropped, decided.pairs)
    end
    local interval = decided.interval
    local faster = trial.faster
    return ("%.2f %% %s%s, %d pairs"):format(math.abs(faster(decided.gain)), decided.gain >= 0 and "faster" or "slower",
        interval and (", interval %.2f..%.2f %%"):format(faster(interval[1]), faster(interval[2])) or "", decided.pairs)
        .. (decided.verdict == "keep" and "" or ", threshold " .. trial.threshold(decided.threshold))
end

-- Unstable for other policies' numbers are the clocks of pairs, but not strangers on the device.
local function is_measured(record)
    return record.paired ~= nil and (record.status == "PASSED"
        or record.status == "UNSTABLE" and record.paired.verdict == "unstable")
end

-- What the policy's numbers make of the pairs that were measured, nil where there are none.
local function decide(ctx, record, samples, floor)
    local measured = is_measured(record)
    local numbers, raised_from = plan.pairs(ctx.policy, ctx.opt, floor)
    if not measured or not numbers or not samples then return nil end
    local list, weights = pairs_of(record, samples)
    if not list then return nil end
    local decided = paired.decide { plan = numbers, weights = weights, pairs = list }
    decided.threshold, decided.raised_from, decided.timer = numbers.threshold, raised_from, record.paired.timer
    decided.reason = describe(decided)
    return decided
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
    local measured = ctx.policy.unchanged and record.paired
    if has_no_effect(record, best) and not measured then
        return "revert", "no effect: same machine code and launches as the best"
    end
    if record.screen and record.screen.left then return record.verdict, record.reason end -- no policy was asked
    return replay.ask(ctx, copy(record), copy(best))
end

local function comes_first(best, record) return record.verdict == "keep" or (not best and record.status == "PASSED") end

-- The record as the policy would have seen it. `same`: its best was the recorded one, so that the pairs count; a policy
-- that asks for none would have seen figures alone.
local function seen(ctx, record, state, same, samples)
    if not state.best then return copy(record) end
    local has_other_pairs = record.paired and not ctx.policy.timing.pairs
    if not same or has_other_pairs then return compared(ctx, record, state.original, state.best) end
    local decided = decide(ctx, record, samples, state.floor)
    return decided and compared(ctx, record, state.original, state.best, decided, samples) or copy(record)
end

-- One record by the policy, which thereby becomes the best or does not.
local function judge(ctx, record, state, samples)
    local recorded_best = state.recorded_best
    local same = state.best and recorded_best and state.best.trial == recorded_best.trial
    local now = seen(ctx, record, state, same, samples and samples(record))
    now.verdict, now.reason = verdict_of(ctx, now, state.best)
    now.override, now.override_reason = nil, nil -- what a person said was said of another verdict
    state.original = state.original or now
    state.floor = record.control and record.control.floor or state.floor
    if comes_first(state.best, now) then state.best = now end
    if comes_first(recorded_best, record) then state.recorded_best = record end
    return now
end

-- Gives `asked` the notes that were written before the next record, nil for the end.
local function take_notes(asked, notes, following)
    local until_s = following and following.time_s or math.huge
    for i = #asked.notes + 1, #notes do
        if (notes[i].time_s or 0) > until_s then return end
        asked:note(notes[i])
    end
end

-- Seconds of the session when a record was closed; 0 where the journal does not say.
local function elapsed(header, record)
    return header.time_s and record.time_s and math.max(0, record.time_s - header.time_s) + 0.0 or 0.0
end

-- A screening is tried to its end.
local function is_asked_behind(record, following)
    return not (record.screen and following and following.screen)
end

-- What stays the same of a run, as far as its journal says.
local function facts_of(story, original)
    local header, workloads = story.header or {}, {}
    for i, workload in ipairs(original and original.workloads or {}) do workloads[i] = workload.id end
    return { session = story.name, header = header, device = header.device or {}, workspace = header.workspace,
        task = { name = header.task, file = header.task_file, solution = header.paths or {}, reference = {},
            workloads = workloads } }
end

-- Whether and why the policy ends the run behind record `i`: { trial, reason, trials, seconds } or nil.
local function stop_behind(asked, story, history, i, best)
    local header, record, following, last = story.header or {}, history[i], history[i + 1], history[#history]
    if not best or not is_asked_behind(record, following) then return nil end -- nor is a loop that has not begun
    take_notes(asked, story.notes or {}, following)
    local reason = asked:reason(best, elapsed(header, record))
    return reason and { trial = record.trial, reason = reason, trials = #history - i,
        seconds = elapsed(header, last) - elapsed(header, record) }
end

--- What the policy would have said of a session's trials, one after the other: { trials, best (a record or nil),
--- stop, stalls }, a trial { trial, candidate, hypothesis, verdict, reason, recorded = { verdict, reason } }. Pairs are
--- decided anew, as far as they were measured; a trial whose best would have been another one is compared with that one
--- by its figures. `stop` is { trial, reason, trials, seconds }: behind which trial the policy would have ended the
--- run, and how much of the session came after; those trials have no verdict. `stalls` are { trial, reason }.
--- ctx: policy, opt, hook(name, ...); `history`: the session's records; samples(record): what ako.trial's samples gave,
--- or nil; `story`: the session's header, notes and name, as far as known.
function replay.trials(ctx, history, samples, story)
    story = story or {}
    local trials, state, stop = {}, {}, nil
    local asked = ending.is_asked(ctx.policy) and ending.new(ctx, facts_of(story, history[1]))
    for i, record in ipairs(history) do
        trials[i] = { trial = record.trial, candidate = record.candidate, hypothesis = record.hypothesis,
            recorded = { verdict = record.verdict, reason = record.reason } }
        if not stop then
            local now = judge(ctx, record, state, samples)
            trials[i].verdict, trials[i].reason = now.verdict, now.reason
            if asked then
                asked:take(now)
                stop = stop_behind(asked, story, history, i, state.best)
            end
        end
    end
    return { trials = trials, best = state.best, stop = stop, stalls = asked and asked.stalls or {} }
end

local MOST_BYTES = 1 << 30

-- Reads the raw samples of a session's records; without a file there are none.
local function reader(repo, name)
    return function(record)
        if not record.paired then return nil end
        local file = fs.join(repo:commondir(), ("ako/%s/trials/%d/samples.json"):format(name, record.trial))
        if not fs.exists(file) then return nil end
        if not fs.is_file(file) then fault.raise("CORRUPT", "%s is no regular file", file) end
        local text, problem, code = fs.read(file, MOST_BYTES)
        if not text then fault.raise(code, "%s", problem) end
        local samples, wrong = json.decode(text)
        if samples == nil then fault.raise("CORRUPT", "%s: damaged: %s", file, wrong) end
        intact.check_samples(samples, record.workloads, file)
        return samples
    end
end

local function kept_text(trials, verdict_of_trial)
    local numbers = {}
    for _, entry in ipairs(trials) do
        if entry.trial > 0 and verdict_of_trial(entry) == "keep" then numbers[#numbers + 1] = tostring(entry.trial) end
    end
    return #numbers > 0 and table.concat(numbers, " ") or "none"
end

local MOST_DIFFERENCES = 5

local function difference_lines(trials)
    local lines, differences = {}, 0
    for _, entry in ipairs(trials) do
        if entry.verdict and entry.verdict ~= entry.recorded.verdict then
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
    return lines
end

local function ending_lines(policy, replayed)
    local lines, stalls, stop = {}, replayed.stalls, replayed.stop
    if stalls[1] then
        lines[1] = ("stalled after trial %d: %s%s"):format(stalls[1].trial, stalls[1].reason,
            #stalls > 1 and (" (and %s later)"):format(format.count(#stalls - 1, "time")) or "")
    end
    local last = replayed.trials[#replayed.trials]
    if stop then
        local left = stop.trials == 0 and "the last one" or ("the session went on for %s, %d s"):format(
            format.count(stop.trials, "trial"), stop.seconds)
        lines[#lines + 1] = ("stops after trial %d (%s): %s"):format(stop.trial, left, stop.reason)
    elseif policy.stop and last then
        lines[#lines + 1] = ("does not stop: after trial %d, the last one, it would have gone on"):format(last.trial)
    end
    return lines
end

local function replay_lines(policy, state, replayed)
    local lines = { ("session %s: kept then (policy %s): %s; kept by %s: %s"):format(state.name,
        state.header.policy or "unknown",
        kept_text(replayed.trials, function(entry) return entry.recorded.verdict end), policy.name,
        kept_text(replayed.trials, function(entry) return entry.verdict end)) }
    for _, list in ipairs { difference_lines(replayed.trials), ending_lines(policy, replayed) } do
        table.move(list, 1, #list, #lines + 1, lines)
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
    local replayed = replay.trials(ctx, state.history, reader(repo, state.name), state)
    return replay_lines(ctx.policy, state, replayed), { v = 1, policy = ctx.policy.name, session = state.name,
        recorded_policy = state.header.policy, trials = json.array(replayed.trials), stop = replayed.stop or json.null,
        stalls = json.array(replayed.stalls), best = replayed.best and report.object(replayed.best) or json.null }
end

return replay
