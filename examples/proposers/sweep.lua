-- Candidates from a function of the policy: the relu example's loop for a CPU, unrolled by other factors.
--
--   ako-lua examples/proposers/sweep.lua --task examples/relu --device cpu
--
-- The function is asked for one candidate after the other; nil and a reason end the run. What it returns is { text or
-- files, name, hypothesis, predict }: the new text of the solution's main file, or texts by the names of its files.

local fs = require "ako.fs"
local kernelbench = require "policies.kernelbench"

-- More factors are more trials, one a factor.
local FACTORS = { 2, 4, 8, 16 }

local LOOP = "( *for %b()\n)"

return kernelbench:extend {
  name = "sweep",
  description = "KernelBench's rules; the policy itself proposes unroll factors",
  propose = function(run)
    local factor = FACTORS[run.next_trial]
    if not factor then return nil, "all factors are tried" end
    local best = fs.read(fs.join(run.workspace, run.task.solution[1])) -- while a function is asked, the best lies there
    local rolled = best:gsub(" *#pragma GCC unroll %d+\n", "")
    local text = rolled:gsub(LOOP, ("    #pragma GCC unroll %d\n%%1"):format(factor), 1)
    return { name = "unroll " .. factor, text = text, hypothesis = ("%d elements a round of the loop"):format(factor) }
  end,
}
