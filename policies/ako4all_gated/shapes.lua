-- Hot and tail shapes. The workloads with the greatest weight are hot, all others are tails; each is reported alone,
-- with median and p95.

local rules = require "ako.rules"
local trial = require "ako.trial"

local shapes = {}

--- The positions of the tails in a list of weights.
function shapes.tails(weights)
    local most, list = math.max(0, table.unpack(weights)), {}
    for i, weight in ipairs(weights) do
        if weight < most then list[#list + 1] = i end
    end
    return list
end

-- Position -> true for the tails of a record.
local function tails_of(record)
    local weights, set = {}, {}
    for i, workload in ipairs(record.workloads or {}) do weights[i] = workload.weight or 1.0 end
    for _, i in ipairs(shapes.tails(weights)) do set[i] = true end
    return set
end

local function us(ns) return ns and ns / 1000 end

--- A record's shapes, the hot ones first: { id, role ("hot" or "tail"), weight, status, median_us, p95_us, min_us,
--- max_abs, max_rel }; what is not known is absent.
function shapes.rows(record)
    local hot, tail, is_tail = {}, {}, tails_of(record)
    for i, workload in ipairs(record.workloads or {}) do
        local time, list = workload.time_ns or {}, is_tail[i] and tail or hot
        list[#list + 1] = { id = workload.id, role = is_tail[i] and "tail" or "hot", weight = workload.weight,
            status = workload.status, median_us = us(time.median), p95_us = us(time.p95), min_us = us(time.min),
            max_abs = workload.max_abs, max_rel = workload.max_rel }
    end
    return table.move(tail, 1, #tail, #hot + 1, hot)
end

local function cell(pattern, value) return value and pattern:format(value) or "-" end

local ROW = "%-8s %11s %11s %11s %9s %9s"

--- The rows as lines for a terminal, at most `most` of them and a head.
function shapes.lines(record, most)
    local lines = { ROW:format("shape", "median_us", "p95_us", "min_us", "max_abs", "max_rel") }
    for i, row in ipairs(shapes.rows(record)) do
        if i > most then break end
        if row.status == "PASSED" then
            lines[#lines + 1] = ROW:format(row.id, cell("%.2f", row.median_us), cell("%.2f", row.p95_us),
                cell("%.2f", row.min_us), cell("%.2e", row.max_abs), cell("%.2e", row.max_rel))
        else
            local word = row.status:find("^INCORRECT") and "FAIL" or row.status
            lines[#lines + 1] = ("[%s] %s: max_abs=%s max_rel=%s"):format(word, row.id, cell("%.3e", row.max_abs),
                cell("%.3e", row.max_rel))
        end
    end
    return lines
end

local function gain_of(workload) return workload.speedup and workload.speedup.best end

-- True where all that is known of the hot shapes is that none became faster.
local function is_tail_win(record)
    local is_tail, known = tails_of(record), false
    for i, workload in ipairs(record.workloads or {}) do
        local gain = not is_tail[i] and gain_of(workload)
        if gain and gain > 1 then return false end
        known = known or gain ~= nil
    end
    return known and next(is_tail) ~= nil
end

-- Surely slower: by more than the share, and its whole interval says so.
local function is_slower(workload, share)
    local gain, interval = gain_of(workload), workload.interval and workload.interval.best
    return gain ~= nil and gain < 1 - share and (not interval or interval[2] < 1)
end

-- On a machine that takes more than that for a gain, a loss must be more than what it takes for a gain.
local function believable(record, share)
    local paired = record.paired
    return math.max(share, paired and paired.raised_from and paired.threshold or 0)
end

--- What a win costs, in words: shapes that became slower than the best before it (`before`) by more than `share`, and
--- those whose p95 did. Where the machine's floor has raised the threshold, that counts instead.
function shapes.flags(record, before, share)
    local texts = {}
    share = believable(record, share)
    for i, workload in ipairs(record.workloads or {}) do
        if is_slower(workload, share) then
            texts[#texts + 1] = ("%s is %.1f %% slower"):format(workload.id, (1 - gain_of(workload)) * 100)
        end
        local now, other = workload.time_ns, before and before.workloads[i]
        local then_ = other and other.time_ns
        if now and now.p95 and then_ and then_.p95 and now.p95 > then_.p95 * (1 + share) then
            texts[#texts + 1] = ("p95 of %s is %.1f %% longer"):format(workload.id, (now.p95 / then_.p95 - 1) * 100)
        end
    end
    return texts
end

--- As `rule`; but what it keeps is reverted when it is faster on tail shapes alone, and flagged when a shape or its p95
--- lost more than the option `share` names.
function shapes.judged(rule, share)
    return rules.described(function(record, best, opt)
        local verdict, reason = rule(record, best, opt)
        if verdict ~= "keep" then return verdict, reason end
        if is_tail_win(record) then return "revert", "faster on tail shapes alone: " .. reason end
        local flags = shapes.flags(record, best, rules.number(share, opt))
        if #flags == 0 then return verdict, reason end
        return verdict, ("%s; flagged: %s"):format(reason, table.concat(flags, ", "))
    end, function(opt, policy) return (rules.words(rule, opt, policy) or "") .. ", on a hot shape" end)
end

--- keep, keep-flagged, revert, inconclusive or "not kept" (taken back by hand) with its reason, of a run's record.
function shapes.decision(run, record, share)
    local verdict = trial.verdict(record)
    if record.override then
        local text = verdict == "revert" and "not kept" or verdict
        return ("%s, by hand: %s"):format(text, record.override_reason or "")
    end
    local before = record.against and run.history[record.against + 1]
    local is_flagged = record.trial > 0 and verdict == "keep" and #shapes.flags(record, before, share) > 0
    return ("%s: %s"):format(is_flagged and "keep-flagged" or verdict, record.reason)
end

return shapes
