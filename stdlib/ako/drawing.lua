-- How a policy has the inputs of a problem in Python drawn when it is run once.

local tightening = require "ako.tightening"

local drawing = {}

--- `how` of ako.problem_task's resolve for a policy and the values of its options; `seed` (from the command line)
--- replaces the policy's.
function drawing.how(policy, opt, seed)
    local faithful = tightening.is_unwanted(policy, opt)
    return { seed = seed or policy.correctness.seed, faithful = faithful, seconds = policy.budget.build,
        trials = faithful and policy.correctness.trials or nil }
end

return drawing
