-- AKO4ALL with gates: nothing is measured before the kernel's contract is written and the harness checkout is clean,
-- nothing is edited before the references are read and a profile lies there, nothing is done before the win has been
-- shown in the operator. docs/ako4all_gated.md says what a user sees. Read it, copy it, change a number.

local checkout = require "policies.ako4all_gated.checkout"
local contract = require "policies.ako4all_gated.contract"
local gates = require "ako.gates"
local handoff = require "policies.ako4all_gated.handoff"
local iterations = require "policies.ako4all_gated.iterations"
local kernelbench = require "policies.kernelbench"
local lanes = require "policies.ako4all_gated.lanes"
local references = require "policies.ako4all_gated.references"
local rules = require "ako.rules"
local shapes = require "policies.ako4all_gated.shapes"
local templates = require "policies.ako4all_gated.templates"
local validation = require "policies.ako4all_gated.validation"

local SHAPES_SHOWN = 5 -- on stdout, hot ones first, which has ten lines in all; ITERATIONS.md and --json have every one

local timing = {
    warmup = 20, -- fewer times the first launches' set-up; more changes nothing
    launches = 100, -- fewer make p95 one or two samples, and so a matter of luck
    long = false, -- and so would ending them early
    flush = true, -- false measures a warm L2, which no kernel inside a model finds
    statistic = "median", -- the mean follows every hiccup of the machine; p95 is reported beside it
    screen = false, -- true would try many ideas at once, without the gates
}

local correctness = {
    predicate = "allclose_ref", -- |r - c| <= atol + rtol |r|: an error counts in the scale of its value, also near zero
    -- atol = rtol by dtype. 1e-2 for f32, too, would pass kernels that compute in half precision.
    tolerance = { f64 = 1e-4, f32 = 1e-4, f16 = 1e-2, bf16 = 1e-2 },
    trials = 5, -- more finds rarer faults and costs time
}

-- Only where the contract suspects gaps between launches.
local function launch_gaps(run, proposal, opt)
    if contract.is_none(contract.read(run)["launch gaps"]) then return nil end
    return gates.notes { topics = { "nsys" }, evidence = { "nsys" }, text = "the contract suspects launch gaps" }(run,
        proposal, opt)
end

return kernelbench:extend {
    name = "ako4all-gated",
    description = "AKO4ALL with gates: contract, references, profile first; done when the operator shows the win",

    options = {
        lane = { "auto", "lane of the solution: triton, cuda, cutlass, cute-dsl, c, python; cuda+cutlass for both; "
            .. "auto: as its text shows", lanes.is_lane },
        -- Fewer ask for a new direction after bad luck; more polish longer what does not move.
        patience = { 3, "trials in a row without a win, then profile, log and direction are wanted", { min = 1 } },
        -- 1 separates ideas best, but a change and its declaration are two places already.
        places = { 4, "places of the solution that one trial may change, unless it is a named rewrite", { min = 1 } },
        -- 0 flags every shape that is surely slower, by however little.
        flag = { 0.02, "share by which a shape or its p95 may get worse before a win is flagged", rules.is_share },
        -- 0 lets any gain of the operator count; 0.01 wants one that others can measure, too.
        transfer = { 0.0, "gain of operator or model up to which a win does not transfer", rules.is_share },
        max_trials = { 0, "trials after which a run ends; 0: no limit", { min = 0 } },
        max_seconds = { 0.0, "wall time after which a run ends; 0: no limit", { min = 0 } },
        checkout = { true, "whether the AKO4ALL checkout must be there, clean and at its upstream" },
        base_dir = { "", "folder that holds the checkout; default: beside the workspace's repository" },
        upstream_url = { "", "what the checkout must be equal to; default: AKO4ALL_UPSTREAM_URL, or TongmingLAIC's" },
        clone_url = { "", "what it is cloned from when missing; default: AKO4ALL_URL, or the upstream" },
        branch = { "", "branch of the upstream; default: AKO4ALL_BRANCH, or the upstream's own" },
        network_seconds = { 60.0, "that each git command of the checkout may take", { min = 1 } },
    },

    timing = timing,
    correctness = correctness,

    find_task = templates.question,
    scaffold = templates.files,
    plan = function(facts, opt)
        return { { "contract", contract.path { task = facts.task } },
            { "lane", opt.lane == "auto" and "as the solution's text shows" or opt.lane },
            { "checkout", opt.checkout and checkout.settings(facts.workspace or ".", opt).folder or "not looked at" } }
    end,

    gate = gates.all(
        checkout.gate(),
        contract.gate(),
        gates.from(1, gates.all(
            references.gate(),
            gates.notes { topics = { "ncu" }, evidence = { "ncu" }, text = "a profile of the baseline" },
            launch_gaps,
            validation.gate "transfer",
            -- The share 0: whatever was kept is beyond noise already.
            gates.stalled { count = "patience", share = 0, needs = { "ncu", "reread", { "direction", "lane" } },
                evidence = { "ncu" } })),
        lanes.gate(),
        gates.hypothesis { candidates = true },
        gates.one_change { hunks = "places" }),

    accept = shapes.judged(kernelbench.accept, "flag"),
    stalled = rules.plateau("patience", 0),
    stop = rules.budget { trials = "max_trials", seconds = "max_seconds" },
    finish = validation.finish "transfer",

    git = {
        branch = "gated/{task}",
        every = true, -- false loses the failed attempts from the branch; they stay under refs/ako/
        paths = { "context", "bench", "input" },
        subject = function(record, run, opt)
            local title = record.trial == 0 and "baseline" or record.hypothesis or record.candidate or "untitled"
            local decision = shapes.decision(run, record, opt.flag):match "^[^:]*"
            return ("[iter %d] %s: %s"):format(record.trial, title, decision)
        end,
        final = function(run, opt)
            if run.best.trial == 0 then return nil end
            local speedup = run.finished.verified.speedup.original
            return ("[final] iter %d (%s): %s"):format(run.best.trial, speedup and ("%.2fx"):format(speedup) or "-",
                validation.missing(run, opt.transfer) or "done")
        end,
        tag = function(run, opt) -- only what is done
            return not validation.missing(run, opt.transfer) and "handoff-" .. run.session or nil
        end,
    },

    logs = function(run, opt)
        local files = { ["ITERATIONS.md"] = iterations.text(run, opt) }
        if run.finished and run.best then
            files["HANDOFF.md"] = handoff.text(run, opt)
        end
        return files
    end,

    render = function(run, opt)
        if run.tasks then return kernelbench.render(run, opt) end
        return shapes.lines(run.last, SHAPES_SHOWN), { shapes = shapes.rows(run.last) }
    end,
}
