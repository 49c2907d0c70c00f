-- A stop rule of one's own: kernelbench with an end. docs/writing-a-stop-rule.md shows how it came about.
local kernelbench = require "policies.kernelbench"

return kernelbench:extend {
    name = "until-target",
    description = "KernelBench's rules, until the best is so many times as fast as the original kernel",
    -- Lower ends a run while gains are still cheap; one that is out of reach leaves the end to the candidates.
    options = { target = { 3.0, "speedup over the original kernel at which to stop" } },
    stop = function(run, opt)
        local reached = run.best and run.best.speedup.original
        if reached and reached >= opt.target then return ("%.2fx over the original"):format(reached) end
    end,
}
