-- AKO4ALL: profile, change, measure, log, commit, until a cap, a floor or the end of the ideas. KernelBench's checks
-- and timing, and the discipline round them. docs/ako4all.md says what it does for you; its parts are in ako4all/.

local bench = require "policies.ako4all.bench"
local discovery = require "policies.ako4all.discovery"
local fs = require "ako.fs"
local gates = require "ako.gates"
local hints = require "policies.ako4all.hints"
local kernelbench = require "policies.kernelbench"
local log = require "policies.ako4all.log"
local profiler = require "policies.ako4all.profiler"
local rules = require "ako.rules"
local scaffold = require "policies.ako4all.scaffold"
local stopping = require "policies.ako4all.stopping"

-- What a trial is called by its author must be what it is: iter-N with N the next one.
local function label_gate(run, proposal)
    local label = proposal.label
    if not label then return nil end
    local wanted = run.next_trial == 0 and "baseline" or ("iter-%d"):format(run.next_trial)
    if label == wanted then return nil end
    if label == "final" then
        return "final is no trial: `finish -m WHY` restores the best, verifies and commits it"
    end
    return ("label '%s': this one is %s, or give none"):format(label, wanted)
end

-- HINTS.md may be edited at any time.
local function hints_gate(run)
    return hints.contradiction(hints.read(fs.read(fs.join(run.workspace, hints.FILE))))
end

-- A stall is thought through on record before the next trial: what the profiler or the statistics say, what others do,
-- and what the log shows. Where ncu cannot be used, "unavailable: why" or a note on the statistics is enough.
local reassessed = gates.stalled { count = "stall_count", share = "stall_share",
    needs = { { "profile", "statistics" }, "search", "review" } }

local function lines_of(opt)
    return function(record) return (kernelbench.render({ last = record }, opt)) end
end

return kernelbench:extend {
    name = "ako4all",
    description = "AKO4ALL: discovery, plan, hints, one logged commit a trial, re-assessment at a stall, verified end",

    options = {
        -- Where things are; what is not given is looked for, and two answers are a question.
        kernel = { "", "the kernel to optimize; it is copied to solution/ and left where it is" },
        reference = { "", "the golden answer; not given: what looks like one, else the original kernel" },
        inputs = { "", "the Lua file with tensors and workloads, a task.lua by any name; or a .py with get_inputs" },
        knowledge = { "", "what to read first: a file or folder" },
        bench = { "", "a benchmark command of your own, run as it stands with each trial; 'default': none" },
        -- Its figure is recorded as a claim. With a pattern that is not found exactly once, nothing is kept.
        bench_pattern = { "", "regular expression whose group is the figure in its output", bench.is_pattern },
        hint = { "", "directives for HINTS.md, ';' between several" },
        hints = { "", "a file with directives, one a line" },

        -- 0: no cap but that of HINTS.md. Every other end needs evidence.
        iterations = { 0, "trials after which to stop", { min = 0 } },
        -- Three trials without 3 % open a re-assessment. Fewer trials or a larger share: more thinking, fewer trials;
        -- 0 trials: never, and an agent may polish one idea for ever.
        stall_count = { 3, "trials in a row without such a gain that make a stall; 0: never", { min = 0 } },
        stall_share = { 0.03, "gain over the best below which a trial counts for a stall", rules.is_share },
        -- With fewer it is easy to give up early; a stop one step early is the dearest mistake there is.
        directions = { 3, "distinct documented directions after which a session may be called exhausted", { min = 1 } },
        -- Of bytes over peak bandwidth. 1 is out of reach, so it never stops; 0.8 stops with a fifth left. 0: never.
        floor_share = { 0.95, "share of the device's limit at which nothing is left to gain", rules.is_share },

        -- The signal: a cheaper first look. What it would keep is measured in full all the same, so fewer of these only
        -- let more losers through to a full measurement, or winners be missed.
        no_ref = { false, "first look without timing the reference" },
        num_correct_trials = { 5, "correctness trials of the first look", { min = 1 } },
        num_perf_trials = { 100, "timed launches of the first look", { min = 1 } },
    },

    timing = { long = false, -- all launches of the verdict, however long they take
        signal = { trials = "num_correct_trials", launches = "num_perf_trials", no_reference = "no_ref" } },

    find_task = discovery.find_task,
    bench = bench.given,
    plan = scaffold.plan,
    scaffold = scaffold.files,

    gate = gates.all(hints_gate, label_gate, stopping.gate, reassessed, profiler.gate),

    stop = stopping.stop,
    finish = stopping.not_yet,

    logs = function(run, opt) return log.files(run, lines_of(opt)) end,

    git = {
        branch = "opt/{task}",
        every = true, -- false: only what was kept is on the branch, and the log there has gaps
        -- What is left out lies only in the workspace; a whole scripts/ would take in what is yours.
        paths = { "scripts/bench.sh", bench.FILE, "trajectory", hints.FILE, ".gitignore" },
        subject = log.subject,
        final = log.final,
    },
}
