-- A record's verdict: the policy's, where there is anything to ask it. `loop` is of ako.loop.

local fault = require "ako.fault"
local format = require "ako.format"
local plan = require "ako.plan"
local trial = require "ako.trial"
local view = require "ako.view"

local judging = {}

local copy, words = view.copy, view.words

local VERDICTS = { keep = true, revert = true, inconclusive = true }

local function ask_policy(loop, record)
    local verdict, reason = loop.hook("accept", copy(record), copy(loop.session.best), loop.opt)
    if not VERDICTS[verdict] then
        fault.raise("POLICY", "hook 'accept' must return 'keep', 'revert' or 'inconclusive' and a reason, returned %s",
            tostring(verdict))
    end
    return verdict, words("accept", reason) or ""
end

-- What a noisy machine means for all that follows.
local function floor_text(loop, record)
    local known = record.control
    local numbers, raised_from = plan.pairs(loop.policy, loop.opt, known and known.floor)
    if not raised_from then return "" end
    return ("; this machine takes %s for a gain when nothing has changed: below %s nothing is kept"):format(
        trial.threshold(known.floor), trial.threshold(numbers.threshold))
end

-- What the others start from must be right, and need not be believed.
local function judge_start(loop, record)
    if not loop.policy.baseline then return "keep", "baseline" .. floor_text(loop, record) end
    local verdict, reason = loop.hook("baseline", copy(record), nil, loop.opt)
    if verdict ~= "keep" and verdict ~= "inconclusive" then
        fault.raise("POLICY", "hook 'baseline' must return 'keep' or 'inconclusive' and a reason, returned %s",
            tostring(verdict))
    end
    reason = words("baseline", reason) or ""
    return verdict, (reason ~= "" and reason or "baseline") .. floor_text(loop, record)
end

local function decide(loop, record)
    if trial.is_unmeasured(record.status) then return "inconclusive", record.reason end
    if record.status ~= "PASSED" then return "revert", record.reason end
    if not loop.session.best then return judge_start(loop, record) end
    if record.no_effect then return "revert", "no effect: same machine code and launches as the best" end
    return ask_policy(loop, record)
end

--- The verdict and its reason; those of a policy that failed, and its fault behind them.
function judging.judge(loop, record)
    local decided, verdict, reason = pcall(decide, loop, record)
    if decided then return verdict, reason end
    return "inconclusive", "the policy failed: " .. format.text(tostring(verdict)), verdict
end

return judging
