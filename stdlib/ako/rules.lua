-- Building blocks for policies. Each function takes its numbers and returns a rule; there is no threshold in here.
-- A number may be given as the name of a policy's option ("threshold"), which is then read when the rule is asked.
--
-- accept rules:           rule(trial, best, opt) -> "keep" | "revert" | "inconclusive", reason
-- stalled and stop rules: rule(run, opt)         -> reason | nil

local rules = {}

--- A rule's number: the one given, or that of the option it names. Raises when there is no such option.
function rules.number(given, opt)
    if type(given) ~= "string" then return given end
    local value = opt and opt[given]
    if type(value) ~= "number" then error(("the policy has no number '%s' among its options"):format(given), 3) end
    return value
end

local number = rules.number

--- For an option that is a share: whether it is one, and what it must be.
function rules.is_share(value) return value >= 0 and value < 1, "must be a share from 0 to below 1" end

-- Words

local words_of = setmetatable({}, { __mode = "k" })

--- Gives a rule words with which others are told what is in force: a text, or a function(opt, policy) that returns one
--- (false: under these options there is no such rule). Returns the rule.
function rules.described(rule, words)
    words_of[rule] = words
    return rule
end

--- The words of a rule under these options; nil for a rule that has none, false for one that these options switch off.
function rules.words(rule, opt, policy)
    local words = words_of[rule]
    if type(words) == "function" then words = words(opt or {}, policy) end
    return words
end

local WORDLESS = "a rule of the policy's own"

-- The words of several rules in one sentence; nil where none of them has any.
local function joined(list, between)
    return function(opt, policy)
        local texts, all_off, any = {}, true, false
        for _, rule in ipairs(list) do
            local text = rules.words(rule, opt, policy)
            all_off, any = all_off and text == false, any or text
            if text ~= false then texts[#texts + 1] = text or WORDLESS end
        end
        if all_off then return false end
        return any and table.concat(texts, between) or nil
    end
end

local function percent(speedup) return (speedup - 1) * 100 end

local function change(speedup)
    local faster = percent(speedup)
    return ("%.1f %% %s"):format(math.abs(faster), faster >= 0 and "faster" or "slower")
end

local function with_interval(trial, text)
    local interval = trial.interval and trial.interval.best
    if not interval then return text end
    return ("%s, interval %.1f..%.1f %%"):format(text, percent(interval[1]), percent(interval[2]))
end

--- Keep when the median is more than `share` (0.01 is one per cent) faster than the best's.
function rules.faster_by(share)
    return rules.described(function(trial, _, opt)
        local speedup = trial.speedup.best
        if not speedup then return "inconclusive", "no timing to compare with" end
        local verdict = speedup > 1 + number(share, opt) and "keep" or "revert"
        local text = with_interval(trial, change(speedup))
        if verdict == "revert" and speedup > 1 then
            text = ("%s, not more than %.3g %%"):format(text, number(share, opt) * 100)
        end
        return verdict, text
    end, function(opt)
        return ("what is more than %.3g %% faster than the best"):format(number(share, opt) * 100)
    end)
end

local function notes(paired)
    local list = {}
    if paired.raised_from and paired.threshold then
        list[#list + 1] = ("threshold raised from %.3g %% by the machine's floor"):format(paired.raised_from * 100)
    end
    if paired.clock_coupled then list[#list + 1] = "it moves the clock itself" end
    return #list > 0 and "; " .. table.concat(list, "; ") or ""
end

--- The verdict of the pairs (timing.pairs): candidate and best timed in turn.
function rules.paired()
    return rules.described(function(trial)
        local paired = trial.paired
        if not paired then return "inconclusive", "no pairs to compare with the best" end
        return paired.verdict, paired.reason .. notes(paired)
    end, function(opt, policy)
        local pairs_of = policy and policy.timing and policy.timing.pairs
        local least = pairs_of and number(pairs_of.threshold, opt)
        if not least then return "what pairs with the best show to be faster" end
        local text = "what is at least %.3g %% faster than the best, timed in turn with it, and surely so"
        return text:format(least * 100)
    end)
end

--- Keep when even the slow end of the candidate's interval beats the fast end of the best's; `otherwise` (a verdict)
--- when the two intervals meet.
function rules.intervals_apart(otherwise)
    return rules.described(function(trial)
        local interval = trial.interval and trial.interval.best
        if not interval then return "inconclusive", "too few samples for an interval" end
        if interval[1] > 1 then return "keep", with_interval(trial, change(trial.speedup.best)) end
        if interval[2] < 1 then return "revert", with_interval(trial, change(trial.speedup.best)) end
        return otherwise, with_interval(trial, "inconclusive: intervals overlap")
    end, "what is faster than the best by more than both intervals leave open")
end

--- `otherwise` (default "revert") for what is more than `limit` times faster than the reference, unless the option
--- named `justification` holds a text: such figures are nearly always a mistake in the measurement or a shortcut in the
--- kernel. The justification is said beside whatever else is said.
function rules.plausible(limit, justification, otherwise)
    return rules.described(function(trial, _, opt)
        local speedup, most = trial.speedup.reference, number(limit, opt)
        if not speedup or speedup <= most then return "keep", "" end
        local text = opt[justification]
        if text and text ~= "" then return "keep", ("%.2fx, justified: %s"):format(speedup, text), true end
        return otherwise or "revert", ("%.2fx over the reference is more than %gx and not justified (--%s)"):format(
            speedup, most, justification)
    end, function(opt)
        return ("more than %gx over the reference needs --%s=TEXT"):format(number(limit, opt), justification)
    end)
end

local SIZES = { "lines", "branches", "knobs" }

-- What has become less by at least `least` (numbers, or options' names), in words; nil when nothing has, or when
-- anything has become more.
local function simpler(size, before, least, opt)
    local texts = {}
    for _, name in ipairs(SIZES) do
        local now, then_ = size and size[name], before and before[name]
        if not now or not then_ or now > then_ then return nil end
        local wanted = number(least[name], opt)
        if wanted and then_ - now >= wanted then
            texts[#texts + 1] = ("%d %s instead of %d"):format(now, name, then_)
        end
    end
    return #texts > 0 and table.concat(texts, ", ") or nil
end

--- For a policy's `unchanged`: what is measurably simpler than the best, as in `or_simpler`, is measured even where it
--- is the same machine code.
function rules.simpler(least)
    return function(given, opt) return simpler(given.size, given.best.size, least, opt) ~= nil end
end

-- No slower than the threshold of the pairs, over the whole interval.
local function is_no_slower(trial)
    local paired = trial.paired
    return paired ~= nil and paired.interval ~= nil and paired.interval[1] >= -(paired.threshold or 0)
end

--- As `rule`; but what it does not keep is kept all the same when it is surely no slower than the threshold of its
--- pairs and measurably simpler: at least one of `least` = { lines, branches, knobs } fewer by so many, none of the
--- others more.
function rules.or_simpler(rule, least)
    return rules.described(function(trial, best, opt)
        local verdict, reason = rule(trial, best, opt)
        local text = verdict ~= "keep" and is_no_slower(trial) and simpler(trial.size, best and best.size, least, opt)
        if not text then return verdict, reason end
        return "keep", ("simpler and no slower: %s (%s)"):format(text, reason)
    end, function(opt, policy)
        local words = rules.words(rule, opt, policy)
        return (words and words .. ", or " or "") .. "what is no slower and measurably simpler"
    end)
end

--- All of these rules must say keep: the first other answer counts. The reason of a keep is the last one given, with
--- those behind it whose rules return true behind their reason.
function rules.all(...)
    local list = { ... }
    return rules.described(function(trial, best, opt)
        local last, beside = nil, {}
        for _, rule in ipairs(list) do
            local verdict, reason, is_beside = rule(trial, best, opt)
            if verdict ~= "keep" then return verdict, reason end
            if is_beside then beside[#beside + 1] = reason elseif reason ~= "" then last = reason end
        end
        table.insert(beside, 1, last)
        return "keep", table.concat(beside, "; ")
    end, joined(list, "; "))
end

--- The first of these stop rules that has a reason.
function rules.any(...)
    local list = { ... }
    return rules.described(function(run, opt)
        for _, rule in ipairs(list) do
            local reason = rule(run, opt)
            if reason then return reason end
        end
    end, joined(list, ", or "))
end

--- `count` trials in a row of which none was kept with a gain of more than `share` over the best before it.
function rules.plateau(count, share)
    return rules.described(function(run, opt)
        local most, least = number(count, opt), number(share, opt)
        local without = 0
        for i = #run.history, 1, -1 do
            local record = run.history[i]
            local gain = (record.override or record.verdict) == "keep" and (record.speedup.best or 1) or 1
            if record.trial == 0 or gain > 1 + least then break end
            without = without + 1
        end
        if most > 0 and without >= most then
            return ("%d trials without a gain of more than %.3g %%"):format(without, least * 100)
        end
    end, function(opt)
        local most, least = number(count, opt), number(share, opt)
        if most <= 0 then return false end
        return ("after %d trials without a gain of more than %.3g %%"):format(most, least * 100)
    end)
end

--- After `limits.trials` trials (the baseline not counted) or `limits.seconds` of wall time; 0 is no limit.
function rules.budget(limits)
    return rules.described(function(run, opt)
        local trials, seconds = number(limits.trials, opt) or 0, number(limits.seconds, opt) or 0
        if trials > 0 and run.trials >= trials then return ("the budget of %d trials is spent"):format(trials) end
        if seconds > 0 and run.elapsed_s >= seconds then return ("the budget of %g s is spent"):format(seconds) end
    end, function(opt)
        local trials, seconds = number(limits.trials, opt) or 0, number(limits.seconds, opt) or 0
        local texts = {}
        if trials > 0 then texts[1] = ("after %d trials"):format(trials) end
        if seconds > 0 then texts[#texts + 1] = ("after %g s"):format(seconds) end
        return #texts > 0 and table.concat(texts, " or ")
    end)
end

--- When the best takes at most 1/share of the physical floor (the task's bytes over the device's peak bandwidth):
--- share = 0.95 stops at 95 % of what the device can do. Never without a known floor.
function rules.floor(share)
    return rules.described(function(run, opt)
        local best, wanted = run.best, number(share, opt)
        local reached = best and best.floor_share
        if wanted > 0 and reached and reached >= wanted then
            return ("the best runs at %.0f %% of the device's limit"):format(reached * 100)
        end
    end, function(opt)
        local wanted = number(share, opt)
        if wanted <= 0 then return false end
        return ("when the best runs at %.0f %% of the device's limit"):format(wanted * 100)
    end)
end

--- The share of the entries that are correct and more than p times (strictly) faster than their reference:
--- fast_p = count(correct and speedup > p) / n. Entries are { correct, speedup }; nil when there is none.
function rules.fast_p(entries, p)
    if #entries == 0 then return nil end
    local fast = 0
    for _, entry in ipairs(entries) do
        if entry.correct and entry.speedup and entry.speedup > p then fast = fast + 1 end
    end
    return fast / #entries
end

return rules
