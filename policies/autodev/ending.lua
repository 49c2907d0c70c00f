-- When the run may end before its budget, and what is missing for that.

local evidence = require "policies.autodev.evidence"
local matrix = require "policies.autodev.matrix"
local rules = require "ako.rules"
local versions = require "policies.autodev.versions"

local ending = {}

-- Reasons for which a large idea may stay untried.
local REASONS = { "prerequisite", "template", "hardware" }

--- The large ideas that were not tried, by notes of the topic heavy-lift, "IDEA: REASON: why": { text, reason (nil for
--- one that does not count) }.
function ending.heavy_lifts(run)
    local list = {}
    for _, note in ipairs(run.notes or {}) do
        local given = note.topic == "heavy-lift" and versions.plain(note.text:match(":%s*(.*)$"))
        local reason
        for _, name in ipairs(given and REASONS or {}) do
            if given:find("^" .. name .. " ") or given:find("^missing " .. name .. " ") then reason = name end
        end
        if given then list[#list + 1] = { text = note.text, reason = reason } end
    end
    return list
end

local function directions_of(failures)
    local seen, count = {}, 0
    for _, record in ipairs(failures) do
        local direction = versions.plan(record).direction
        if direction and not seen[direction] then seen[direction], count = true, count + 1 end
    end
    return count
end

-- Experiments with ideas of the streak's search, all of which have failed.
local function failed_ideas(run, failures)
    local search, count = evidence.search_of_streak(run), 0
    for _, record in ipairs(failures) do
        if search and record.trial > search.trial and versions.plan(record).sources then count = count + 1 end
    end
    return count
end

local function has_accepted(lifts)
    for _, lift in ipairs(lifts) do
        if lift.reason then return true end
    end
end

--- What is missing for an early end, a list of words; empty when nothing is.
function ending.missing(run, opt, number)
    local list, failures = {}, versions.failures(run.history)
    local function want(holds, text, ...)
        if not holds then list[#list + 1] = text:format(...) end
    end
    local reached = run.best and run.best.speedup[versions.yardstick(run.history)] or 0
    local directions, ideas, left = directions_of(failures), failed_ideas(run, failures), matrix.left(run)
    want(opt.target > 0 and reached > opt.target, opt.target > 0 and "the target of %.2fx (now %.2fx)"
        or "a target (--target)", opt.target, reached)
    want(#failures >= number.failures and directions >= number.directions,
        "%d failures in a row in %d directions (now %d in %d)", number.failures, number.directions, #failures,
        directions)
    want(ideas >= number.ideas, "a search of which %d ideas have failed (now %d)", number.ideas, ideas)
    want(#left == 0, "the tactical sweep (next: %s)", left[1])
    want(has_accepted(ending.heavy_lifts(run)),
        "the untried heavy lifts (`note --topic=heavy-lift -m 'IDEA: %s: why'`)", table.concat(REASONS, "|"))
    return list
end

--- The stop rule for an early end: all conditions at once.
function ending.early(number)
    return rules.described(function(run, opt)
        if opt.target <= 0 or not run.best or #ending.missing(run, opt, number) > 0 then return nil end
        return ("%.2fx is beyond the target, %d failures in a row, and nothing of search and sweep is left"):format(
            run.best.speedup[versions.yardstick(run.history)], #versions.failures(run.history))
    end, function(opt)
        if opt.target <= 0 then return nil end
        return ("when all hold: beyond %.2fx, %d failures in a row in %d directions, a search that failed, the sweep "
            .. "done"):format(opt.target, number.failures, number.directions)
    end)
end

--- Why the session may not be ended by hand now, nil once the budget (a stop rule) is spent, nothing is missing for an
--- early end, or the user says so: "user: ...".
function ending.by_hand(budget, number)
    return function(run, why, opt)
        local missing = ending.missing(run, opt, number)
        if #missing == 0 or budget(run, opt) or (why or ""):lower():find("^%s*user:%s*%S") then return nil end
        return ("the budget is not spent, and an early end lacks %s; only the user may end it before: "
            .. "`finish -m 'user: why'`"):format(table.concat(missing, "; "))
    end
end

return ending
