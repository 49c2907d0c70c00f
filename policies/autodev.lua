-- cuda-kernel-autodev as a policy: a correct baseline, then one planned experiment after the other, kept when it is
-- surely 1 % faster and else taken back, until the budget is spent; then a submission. docs/autodev.md has its rules.
-- Numbers that are not here are kernelbench's.

local discipline = require "policies.autodev.discipline"
local ending = require "policies.autodev.ending"
local evidence = require "policies.autodev.evidence"
local facts = require "policies.autodev.facts"
local gates = require "ako.gates"
local kernelbench = require "policies.kernelbench"
local outside = require "policies.autodev.outside"
local perf_log = require "policies.autodev.perf_log"
local plans = require "policies.autodev.plans"
local policy = require "ako.policy"
local rules = require "ako.rules"
local submission = require "policies.autodev.submission"
local versions = require "policies.autodev.versions"

local number = {
    change = 0.05, puzzling = 0.05, -- gains, and misses of a forecast, that want a profile; less asks for more of them
    search = 3, -- failures in a row after which new ideas come from elsewhere; more polishes dead ends for longer
    crashes = 3, -- of one technique block it; 1 gives up at a typing error
    same_cell = 3, -- failures in a row in one cell force another; fewer leave a cell before it is understood
    high = 70, low = 40, full = 60, -- % of peak that give a profile its class; further apart leave more unclassified
    mid = 10, late = 30, -- experiments from which the matrix's next columns hold; earlier skips what is still cheap
    reverts = 5, polish = 5, polish_share = 0.02, flat = 3, flat_share = 0.01, -- failures in a row, or KEEPs below a
    -- share, are a plateau: fewer of them, or larger shares, give up small moves sooner
    noise = 3, -- experiments within the noise are noise chasing; fewer cry wolf, more let it go on
    blind = 5, -- experiments without a profile's figures are profile blindness; more let guesses go on
    drift = 10, drift_floor = 1e-6, -- times the baseline's error is drift; a lower floor flags mere rounding
    failures = 5, directions = 2, ideas = 2, -- in a row, their cells, the search's of them: fewer end runs too early
}

-- Gains in size that are worth a KEEP at equal speed: two lines are formatting, a branch or a knob is not.
local SIMPLER = { lines = 3, branches = 1, knobs = 1 }
-- Places of the source that one change may touch; 1 refuses a constant and its use, many lose track of what helped.
local PLACES = 6

local checks = discipline.gate({
    gates.hypothesis { candidates = true },
    discipline.profiled(number),
    discipline.searched(number.search),
    discipline.dependencies,
    discipline.merge,
}, {
    discipline.blocked(number.crashes),
    discipline.duplicate,
    discipline.sweep,
    discipline.direction(number.same_cell),
    discipline.plateau(number),
    discipline.sources,
    discipline.warnings(number),
    gates.one_change { hunks = PLACES },
})

-- A result of which nothing can be read is a failure, and so is one workload that is not right.
local every_workload = rules.described(function(trial)
    for _, workload in ipairs(trial.workloads) do
        if workload.status ~= "PASSED" then return "revert", ("%s is %s"):format(workload.id, workload.status) end
    end
    if #trial.workloads == 0 then return "revert", "no workload was parsed from the evaluation" end
    return "keep", ""
end, "every workload is right")

local budget = rules.budget { trials = "experiments", seconds = "seconds" }

local timing = { warmup = 10, launches = 50, -- fewer widen the intervals of the log; KEEP and REVERT look at pairs
    verify = 5, -- runs of the best at the end, of which the submission has the mean; 1 trusts a single one
    screen = { least = 4097 } } -- a screening would skip the plan of every candidate: there is none

return policy.extend {
    correctness = kernelbench.correctness, timing = kernelbench.timing, budget = kernelbench.budget,
}:extend {
    name = "autodev",
    description = "three phases, a plan before each experiment, kept at 1 % and else reverted, a submission at the end",

    options = {
        -- Smaller lets noise win, larger throws real gains away. The machine's measured floor raises it and says so.
        threshold = { 0.01, "share by which an experiment must surely beat the best", { min = 0, max = 0.5 } },
        excessive = { 10.0, "speed-up over the reference that needs a justification", { min = 1, max = 1e6 } },
        justify = { "", "why a speed-up beyond --excessive is real" },
        -- Runs that stop earlier miss what comes after a row of failures, often the best of all.
        experiments = { 50, "after which the run ends", { min = 1, max = 100000 } },
        seconds = { 0.0, "of wall time after which it ends; 0: none", { min = 0, max = 1e7 } },
        target = { 0.0, "speed-up beyond which it may end before; 0: never", { min = 0, max = 1e6 } },
        tools = { "hand-written kernels, no library", "the allowed tooling, for the objective record" },
        allow = { "", "headers beyond the baseline's that are approved, by their beginning: cub, cutlass/" },
        hardware = { "", "what the device does not tell: 'L2=60 MB; HBM=4.8 TB/s @ https://...'" },
        profiler = { "", "'unavailable: why' where no profile can be had; then none is asked for" },
        pack = { "", "command that makes the artefact anew at the end, run in the workspace" },
    },

    timing = timing,
    budget = { factor = 5 }, -- times what the original's steps took is a TIMEOUT; 2 kills slow but honest versions
    protected = { "scripts", "eval", "README.md" }, -- what the task's owner has written: a change voids the trial

    accept = rules.all(every_workload, rules.plausible("excessive", "justify"),
        rules.or_simpler(rules.paired(), SIMPLER)),
    unchanged = rules.simpler(SIMPLER),
    stop = rules.any(budget, ending.early(number)),
    finish = ending.by_hand(budget, number),
    gate = function(run, proposal, opt)
        local missing, plan = checks(run, proposal, opt)
        if missing then return missing end
        return nil, facts.of(run, proposal, opt, plan, number)
    end,

    plan = function(_, opt) return facts.objective(opt) end,
    scaffold = function()
        return { ["plan/TEMPLATE.md"] = plans.TEMPLATE, ["profile/TEMPLATE.md"] = evidence.TEMPLATE }
    end,
    logs = function(run, opt) return perf_log.files(run, opt, number, facts.block(run, opt)) end,
    render = function(run, opt) return perf_log.lines(run, opt, number) end,
    git = {
        branch = "autodev/{session}", paths = { "plan", "profile", "notes", "results" },
        subject = versions.subject,
        final = function(run) return "submission " .. submission.headline(run) end,
        tag = submission.tag,
    },
    submit = outside.pack,
}
