-- Screening: many candidates are ranked in rounds against the best (docs/protocol.md, "screen"), and only the first few
-- of that ranking get a decision of their own, on fresh data: the best of many is always flattered by chance. What is
-- dropped is recorded as a trial as well.

local format = require "ako.format"
local plan = require "ako.plan"

local screen = {}

--- Whether the policy wants so many candidates screened.
function screen.is_wanted(policy, count)
    local numbers = policy.timing.screen
    return numbers and count >= numbers.least or false
end

-- { candidate, unit } for those that can run; the others, whose trials end before anything runs.
local function split(loop, candidates)
    local entrants, others = {}, {}
    for _, candidate in ipairs(candidates) do
        local given = loop:unit_of_candidate(candidate)
        if given then
            entrants[#entrants + 1] = { candidate = candidate, unit = given }
        else
            others[#others + 1] = candidate
        end
    end
    return entrants, others
end

local function one_by_one(loop, entrants)
    local i = 0
    return loop:run(function()
        i = i + 1
        return entrants[i] and entrants[i].candidate
    end)
end

local function take_results(entrants, answer)
    for i, entrant in ipairs(entrants) do
        local result = answer.candidates[i]
        entrant.result, entrant.number = result, i
        entrant.speedup = type(result.speedup) == "number" and result.speedup or nil
        entrant.same_as = math.type(result.same_as) == "integer" and result.same_as or nil
        entrant.screen = { rounds = result.rounds, speedup = entrant.speedup,
            interval = type(result.interval) == "table" and { result.interval[1], result.interval[2] } or nil }
    end
end

-- How many were timed; what is the same as another, or failed, is no candidate for a decision.
local function count_timed(entrants)
    local count = 0
    for _, entrant in ipairs(entrants) do
        if entrant.result.left ~= "same" and entrant.result.left ~= "failed" then count = count + 1 end
    end
    return count
end

-- It stayed to the end, and its interval does not say that it is slower.
local function may_be_faster(entrant)
    local interval = entrant.screen.interval
    return entrant.result.left == "" and not (interval and interval[2] < 1)
end

-- Those that are to be decided on, best first; and all others in their own order.
local function rank(loop, entrants)
    local finalists, out = {}, {}
    for _, entrant in ipairs(entrants) do
        if may_be_faster(entrant) then finalists[#finalists + 1] = entrant end
    end
    local count = #finalists > 0 and plan.screen(loop.policy, count_timed(entrants)).keep or 0
    table.sort(finalists, function(a, b)
        if a.speedup ~= b.speedup then return a.speedup > b.speedup end
        return a.number < b.number
    end)
    for i = #finalists, count + 1, -1 do finalists[i] = nil end
    local is_finalist = {}
    for _, entrant in ipairs(finalists) do is_finalist[entrant] = true end
    for _, entrant in ipairs(entrants) do
        if not is_finalist[entrant] then out[#out + 1] = entrant end
    end
    return finalists, out
end

-- Of one that is the same as another: as which trial, or as which candidate where that one's trial is still to come.
local function sameness(entrants, entrant, best)
    local other = entrant.same_as >= 0 and entrants[entrant.same_as + 1]
    local number = other and other.trial or not other and best.trial
    local whom = number and ("trial %d"):format(number) or other.candidate.name
    return "same machine code and launches as " .. whom
end

local function reason_of(entrants, entrant, best)
    local result, speedup = entrant.result, entrant.speedup
    if entrant.same_as then return sameness(entrants, entrant, best) end
    if result.status ~= "PASSED" then return result.reason end
    if result.left == "hopeless" or not speedup then return "screened out: " .. result.reason end
    local rounds = format.count(result.rounds, "round")
    if speedup < 1 then return ("screened out: %.2fx slower than the best over %s"):format(1 / speedup, rounds) end
    return ("screened out: %.2fx faster than the best over %s, but others more so"):format(speedup, rounds)
end

local function dismiss_all(loop, entrants, out)
    local best = loop.session.best
    for _, entrant in ipairs(out) do
        local record = loop:dismiss(entrant, reason_of(entrants, entrant, best))
        entrant.trial = record.trial
    end
end

-- Each on fresh data against what is the best by then. The error is divided by the number of those that are still to be
-- decided or were not kept: before the first wrong keep that is never less than the number of candidates that deserve
-- none, so all of them together have no more than the policy's (Holm 1979, in a fixed order).
local function decide(loop, finalists)
    local kept = 0
    for i, entrant in ipairs(finalists) do
        local reason = loop:is_over()
        if reason then return reason end
        entrant.screen.place, entrant.screen.finalists = i, #finalists
        local record, refused = loop:attempt(entrant.candidate, entrant.screen, 1 / (#finalists - kept))
        if refused then loop.progress:note(("     %s not tried: %s"):format(entrant.candidate.name, refused)) end
        if record and record.verdict == "keep" then kept = kept + 1 end
    end
    return loop:is_over() or "no more candidates"
end

-- Trials that end before anything runs: a text that cannot be read, launch lines that are wrong, not admitted.
local function record_others(loop, others)
    for _, candidate in ipairs(others) do
        local reason = loop:is_over()
        if reason then return reason end
        loop:attempt(candidate)
    end
end

--- Screens candidates (a list of { name, text, problem, point }) and tries the best of them. Returns why it ended.
--- The policy's stop is asked before the screening; what has been screened is then decided in any case. A screening
--- that fails as a whole leaves all to be tried one by one.
function screen.run(loop, candidates)
    local reason = loop:stop_reason()
    if reason then return reason end
    local entrants, others = split(loop, candidates)
    reason = record_others(loop, others)
    if reason then return reason end
    if not screen.is_wanted(loop.policy, #entrants) then return one_by_one(loop, entrants) end
    local numbers = plan.screen(loop.policy, #entrants)
    local units = {}
    for i, entrant in ipairs(entrants) do units[i] = entrant.unit end
    loop.progress:note(("screening   %d candidates, then decisions on %d at most"):format(#entrants, numbers.keep))
    local answer, problem = loop:screen(units, numbers)
    if loop.cancelled then return "interrupted" end
    if not answer then
        loop.progress:note(("screening   failed: %s; the candidates are tried one by one"):format(problem))
        return one_by_one(loop, entrants)
    end
    take_results(entrants, answer)
    local finalists, out = rank(loop, entrants)
    dismiss_all(loop, entrants, out)
    return decide(loop, finalists)
end

return screen
