-- The ways in which such runs go wrong, seen in the history: each is a warning that the next plan must name.

local evidence = require "policies.autodev.evidence"
local matrix = require "policies.autodev.matrix"
local trial = require "ako.trial"
local versions = require "policies.autodev.versions"

local watch = {}

-- The last experiments that were measured, newest first; points of a tune space are meant to be close.
local function measured(history, most)
    local list = {}
    for i = #history, 1, -1 do
        if #list == most or history[i].trial == 0 then break end
        if versions.outcome(history[i]) ~= "UNMEASURED" and not history[i].point then list[#list + 1] = history[i] end
    end
    return list
end

local function threshold_of(record, opt) return record.paired and record.paired.threshold or opt.threshold end

--- The workloads that a version made slower than the best before it, beyond the noise: { workload, loss (a share) }.
function watch.losers(record, opt)
    local list, noise = {}, threshold_of(record, opt)
    for _, workload in ipairs(record.workloads or {}) do
        local speedup = workload.speedup and workload.speedup.best
        local interval = workload.interval and workload.interval.best
        local high = interval and interval[2] or speedup
        if high and high < 1 - noise then list[#list + 1] = { workload = workload, loss = 1 - speedup } end
    end
    return list
end

--- The workloads whose greatest absolute error is `factor` times the baseline's or more, { workload, before }; errors
--- below `floor` are all alike.
function watch.drifted(record, baseline, factor, floor)
    local list, before = {}, {}
    for _, workload in ipairs(baseline and baseline.workloads or {}) do before[workload.id] = workload.max_abs end
    for _, workload in ipairs(record.workloads or {}) do
        local old = before[workload.id]
        if old and workload.max_abs and workload.max_abs >= factor * math.max(old, floor) then
            list[#list + 1] = { workload = workload, before = old }
        end
    end
    return list
end

local DETECTORS = {}

DETECTORS["noise chasing"] = function(run, opt, number)
    local last = measured(run.history, number.noise)
    if #last < number.noise then return nil end
    for _, record in ipairs(last) do
        local gain = trial.gain(record)
        if not gain or math.abs(gain) > threshold_of(record, opt) * 100 then return nil end
    end
    return last[1].trial, ("the last %d experiments are within the noise: aim higher, or average more"):format(#last)
end

DETECTORS["local-optimum polish"] = function(run, _, number)
    local kept = versions.kept(run.history)
    local phase, why = matrix.phase(run, number)
    if phase ~= "plateau" or not why:find("KEEP") then return nil end
    return kept[#kept].trial, why .. ": nothing structural; take a technique of the plateau"
end

DETECTORS["attribution loss"] = function(run)
    local kept = versions.kept(run.history)
    local last = kept[#kept]
    local design = last and (last.hypothesis or ""):match("^%s*[Rr][Ee][Ww][Rr][Ii][Tt][Ee]:%s*(.*)$")
    if not design then return nil end
    return last.trial, ("%s is a rewrite (%s): which part gained is not known; take them back one by one"):format(
        versions.name(last.trial), design)
end

DETECTORS["profile blindness"] = function(run, opt, number)
    if evidence.unavailable(run, opt) then return nil end
    local profile = evidence.profile(run, number)
    local since = #run.history - 1 - (profile and profile.trial or 0)
    if since < number.blind then return nil end
    return #run.history - 1, ("%d experiments without a profile that has figures"):format(since)
end

DETECTORS["per-workload hiding"] = function(run, opt)
    local kept = versions.kept(run.history)
    local last = kept[#kept]
    local losers = last and watch.losers(last, opt) or {}
    if #losers == 0 then return nil end
    local worst = losers[1]
    for _, loser in ipairs(losers) do worst = loser.loss > worst.loss and loser or worst end
    return last.trial, ("%s was kept, but %s lost %.1f %%"):format(versions.name(last.trial), worst.workload.id,
        worst.loss * 100)
end

DETECTORS["correctness drift"] = function(run, _, number)
    local baseline = versions.baseline(run.history)
    local best = run.best
    local first = best and watch.drifted(best, baseline, number.drift, number.drift_floor)[1]
    if not first then return nil end
    return best.trial, ("%s has an error of %.3g on %s, the baseline %.3g"):format(versions.name(best.trial),
        first.workload.max_abs, first.workload.id, first.before)
end

watch.NAMES = { "noise chasing", "local-optimum polish", "attribution loss", "profile blindness",
    "per-workload hiding", "correctness drift" }

-- A plan of an experiment after trial `since` has named it.
local function is_answered(run, name, since)
    for i = #run.history, 1, -1 do
        local record = run.history[i]
        if record.trial <= since then break end
        if versions.plain(versions.plan(record).warnings):find(versions.plain(name), 1, true) then return true end
    end
end

--- The warnings that no plan has answered yet: { name, text }.
function watch.active(run, opt, number)
    local list = {}
    if not versions.baseline(run.history) then return list end
    for _, name in ipairs(watch.NAMES) do
        local since, text = DETECTORS[name](run, opt, number)
        if since and not is_answered(run, name, since) then list[#list + 1] = { name = name, text = text } end
    end
    return list
end

return watch
