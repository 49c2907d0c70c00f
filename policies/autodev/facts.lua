-- What is recorded before a trial begins: with the baseline what the run is about, with an experiment its plan and the
-- warnings that it answers.

local discipline = require "policies.autodev.discipline"
local evidence = require "policies.autodev.evidence"
local hardware = require "policies.autodev.hardware"
local watch = require "policies.autodev.watch"

local facts = {}

--- What user and policy have agreed on: { { name, text } }.
function facts.objective(opt)
    return {
        { "Metric", "geometric mean over the workloads of the speed-up over the reference (over the original kernel "
            .. "where the reference gives no time)" },
        { "Correctness gate", "every workload in every correctness trial; no exception" },
        { "Stop", ("after %d experiments%s; %s; failures alone never stop it"):format(opt.experiments,
            opt.seconds > 0 and (" or %g s"):format(opt.seconds) or "", opt.target > 0
            and ("before that only beyond %.2fx with the search and the sweep done"):format(opt.target)
            or "not before that, as no --target is given") },
        { "Allowed tools", opt.tools .. (opt.allow ~= "" and "; headers: " .. opt.allow or "") },
        { "Git", "KEEPs as commits on autodev/SESSION, every attempt under refs/ako/SESSION/; nothing is pushed" },
    }
end

--- The objective and the hardware block.
function facts.block(run, opt)
    return { objective = facts.objective(opt), hardware = hardware.block(run.device, opt.hardware) }
end

--- For the record of a trial; `plan` is nil before there is a baseline.
function facts.of(run, proposal, opt, plan, number)
    local unavailable = evidence.unavailable(run, opt)
    if plan then return { plan = plan, warnings = watch.active(run, opt, number), unavailable = unavailable } end
    local block = facts.block(run, opt)
    block.headers, block.unavailable = discipline.headers(proposal.sources), unavailable
    return block
end

return facts
