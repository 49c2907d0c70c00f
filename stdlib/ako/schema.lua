-- What a policy may hold. Validation, help and `check` all read this one table.
--
-- A rule is { type, text, required, check, fields, items, keys, off }:
--   type    "string", "integer", "number", "boolean", "function", "table" (then `fields`), "map" (names to `items`),
--           "options" (name = { default, text [, check] })
--   check   as in ako.options: list, { min, max } or function
--   keys    function(name) -> true | false, message, for the names of a map
--   off     false is allowed: what the policy that is extended has is switched off
-- `reserved` fields belong to the contract, but this version does nothing with them.

local dtypes = require "ako.dtypes"
local fault = require "ako.fault"
local rules = require "ako.rules"

local function reserved(text) return { reserved = true, text = text } end

local WEEK = 7 * 24 * 3600 -- a longer limit is none

local function seconds(text)
    return { type = "number", text = text, required = true, check = { min = 0.001, max = WEEK } }
end

local function share(text, most) return { type = "number", check = { min = 0, max = most or 1 }, text = text } end

local function is_dtype(name)
    local known, problem = fault.catch(dtypes.check, name)
    return known ~= nil, problem
end

local function ascending(looks)
    for i, pairs_of in ipairs(looks) do
        local good = math.type(pairs_of) == "integer" and pairs_of >= 1 and (i == 1 or pairs_of > looks[i - 1])
        if not good then return false, "must be whole numbers of pairs, each more than the one before" end
    end
    return #looks >= 1 and #looks <= 8, "must have one to eight looks"
end

-- A number; the option that holds one is checked with the whole policy.
local function is_threshold(value)
    if type(value) == "string" then return true end
    return rules.is_share(value)
end

local function is_form(form)
    if type(form) ~= "table" then return false end
    for name in pairs(form) do
        if name ~= "signed" and name ~= "times" then return false end
    end
    local times = form.times == nil or (type(form.times) == "number" and form.times > 0 and form.times < 1e30)
    local is_wider = form.signed == true or (form.times or 1) ~= 1
    return times and is_wider and (form.signed == nil or type(form.signed) == "boolean")
end

local function is_forms(list)
    for _, form in ipairs(list) do
        if not is_form(form) then return false, "must be tables like { signed = true, times = 8 }" end
    end
    return #list >= 1 and #list <= 16, "must have one to sixteen forms"
end

-- core/paired.h explains the numbers.
local pairs_rule = { type = "table", off = true, text = "candidate and best timed in turn", fields = {
    looks = { type = "list", required = true, check = ascending, text = "pairs after which a decision is tried" },
    alpha = { type = "number", required = true, check = { min = 1e-9, max = 0.5 },
        text = "error of all looks together" },
    threshold = { type = "figure", required = true, check = is_threshold,
        text = "least gain to keep, or the option that holds it" },
    strict = { type = "boolean", text = "keep only when the whole interval is beyond the threshold" },
    score = { type = "string", check = { "geomean", "total", "worst" }, text = "how workloads become one figure" },
    clock_pair = share("by which the SM clocks of a pair may differ"),
    clock_run = share("by which they may differ from the run's"),
    most_dropped = share("of the pairs that may be dropped for that"),
    one_sided = share("of dropped pairs with one sign, from which the candidate itself moves the clock"),
    order_effect = share("between the two orders that is worth saying"),
    correlation = share("between neighbouring pairs from which twice as many are needed"),
    hopeless = { type = "number", check = { min = 0, max = 1e6 },
        text = "times slower at its first launches: dropped at once; 0: never" },
    seconds = { type = "number", required = true, check = { min = 0.01, max = WEEK },
        text = "wall time for all pairs" },
    control = { type = "integer", check = { min = 0, max = 10000 },
        text = "pairs of the best against itself, from which the machine's floor follows; 0: none" },
    floor_factor = { type = "number", check = { min = 0, max = 100 },
        text = "the threshold is at least this many times the floor" },
    headline = { type = "integer", check = { min = 1, max = 10000 },
        text = "pairs of the original against the final best, for the session's speed-up" },
} }

local function is_count(value)
    return type(value) == "string" or (math.type(value) == "integer" and value >= 1), "must be a whole number"
end

local signal_rule = { type = "table", off = true, fields = {
    trials = { type = "figure", required = true, check = is_count, text = "correctness trials" },
    launches = { type = "figure", required = true, check = is_count, text = "timed launches" },
    no_reference = { type = "string", text = "the option that leaves the reference untimed" },
}, text = "a cheaper first look at a candidate; what it would keep is measured in full before it is kept" }

local function ascending_rounds(rounds)
    for i, count in ipairs(rounds) do
        local good = math.type(count) == "integer" and count >= 1 and (i == 1 or count > rounds[i - 1])
        if not good then return false, "must be whole numbers of rounds, each more than the one before" end
    end
    return #rounds >= 1 and #rounds <= 8, "must have one to eight numbers"
end

local function is_finalists(value)
    local good = value == "sqrt" or (math.type(value) == "integer" and value >= 1)
    return good, 'must be "sqrt" or a whole number'
end

local screen_rule = { type = "table", off = true, text = "many candidates ranked, then a few decided on", fields = {
    rounds = { type = "list", required = true, check = ascending_rounds, text = "after which the slower ones leave" },
    hopeless = { type = "number", check = { min = 0, max = 1e6 },
        text = "times slower at its first launches: leaves at once; 0: never" },
    share = { type = "number", check = { min = 0.01, max = 0.99 },
        text = "of those in it that stay after a cut (0.5)" },
    finalists = { type = "figure", required = true, check = is_finalists,
        text = "how many get a decision of their own: a number, or \"sqrt\" of the candidates" },
    most_finalists = { type = "integer", check = { min = 1, max = 1000 }, text = "of them at most" },
    least = { type = "integer", required = true, check = { min = 1 }, text = "fewer candidates are tried one by one" },
    most = { type = "integer", check = { min = 2, max = 32 }, text = "processes of candidates at once (16)" },
    points = { type = "integer", required = true, check = { min = 1, max = 4096 },
        text = "of a tune space at most; of a larger one so many are drawn" },
} }

local function texts(list)
    for _, item in ipairs(list) do
        if type(item) ~= "string" or item == "" then return false, "must be a list of texts" end
    end
    return true
end

local function is_branch(name)
    local known = name:gsub("{task}", "t"):gsub("{session}", "s"):gsub("{date}", "d")
    return known:match("^[%w_./-]+$") ~= nil, "must be a branch's name, in which {task}, {session} and {date} are known"
end

local git_rule = { type = "table", text = "the session's branch", fields = {
    branch = { type = "string", check = is_branch, text = "its name; {task}, {session} and {date} stand for those" },
    every = { type = "boolean", text = "reverted trials are commits on it too, not only the kept ones" },
    paths = { type = "list", check = texts, text = "what is committed beside the solution and the rendered files" },
    subject = { type = "function", text = "(trial, run, opt) -> first line of its commit's message" },
    final = { type = "function", text = "(run, opt) -> that of a commit of the best at the end, or nil" },
    tag = { type = "function", text = "(run, opt) -> the tag that the end is given, or nil" },
} }

local schema = {
    name = { type = "string", required = true, text = "what records call the policy" },
    description = { type = "string", required = true, text = "one line for lists and help" },
    options = { type = "options", text = "what the command line may change" },

    correctness = { type = "table", text = "what counts as right", required = true, fields = {
        trials = { type = "integer", required = true, check = { min = 1, max = 1000 },
            text = "number of random inputs for each workload" },
        seed = { type = "integer", required = true, text = "from which the seeds of the inputs follow" },
        predicate = { type = "string", required = true, text = "how two values are compared",
            check = { "allclose_ref", "allclose_out", "ratio_cap", "abs_and_rel" } },
        tolerance = { type = "map", required = true, text = "atol = rtol by dtype of the output",
            keys = is_dtype, items = { type = "number", check = { min = 0 } } },
        faithful = { type = "string",
            text = "the option that asks for inputs and weights of a Python problem as a CPU draws them" },
        multi = { type = "table", text = "the options that ask for all settings of a robust-kbench task", fields = {
            init = { type = "string", text = "those of its Model" },
            input = { type = "string", text = "those of its get_inputs" },
        } },
        weak = { type = "string", check = { "refuse", "warn" },
            text = "what is done with a task that results of no honest kernel pass (default: refuse)" },
        weak_problem = { type = "string", check = { "refuse", "warn" },
            text = "the same for a problem in Python (default: what `weak` says)" },
        wider = { type = "list", off = true, check = is_forms,
            text = "inputs that a weak problem in Python is tried on beside its own: of other signs, larger" },
        exact = { type = "number", check = { min = 0, max = 100 },
            text = "times as far from the answer in fp64 as a reference in Python a result may be (default: 0, no such "
                .. "measure)" },
    } },

    timing = { type = "table", text = "how time is taken", required = true, fields = {
        warmup = { type = "integer", required = true, check = { min = 0, max = 4000 },
            text = "launches before the timed ones" },
        launches = { type = "integer", required = true, check = { min = 1 }, text = "timed launches" },
        flush = { type = "boolean", required = true, text = "empty the L2 cache before each launch" },
        timer = { type = "string", required = true, check = { "auto", "events", "cupti", "wall" },
            text = "which clock" },
        python_timer = { type = "string", check = { "auto", "events", "cupti", "wall" },
            text = "which clock for solutions in Python (default: timer)" },
        alpha = { type = "number", required = true, check = { min = 1e-9, max = 0.5 },
            text = "error of the intervals" },
        reference = { type = "boolean", required = true, text = "time the reference with each candidate" },
        compiled = { type = "string", text = "the option that has a Python reference timed under torch.compile too" },
        statistic = { type = "string", required = true, check = { "median", "mean", "min" },
            text = "of which speed-ups are made" },
        most = { type = "integer", check = { min = 1, max = 1000000 }, text = "timed launches at most" },
        seconds = { type = "number", check = { min = 0, max = WEEK },
            text = "wall time for launches beyond `launches`, up to `most`" },
        long = { type = "table", off = true, text = "calls that take so long that fewer launches are enough", fields = {
            seconds = { type = "number", required = true, check = { min = 0.001, max = WEEK },
                text = "wall time after which launches end, of the solution and again of the reference" },
            launches = { type = "integer", required = true, check = { min = 2, max = 100000 },
                text = "that are made all the same" },
        } },
        proof_share = share("of the timing's wall time for comparing outputs of timed calls", 10),
        proof_least = { type = "integer", check = { min = 1, max = 100000 },
            text = "timed calls of each workload that are compared in full in any case" },
        repeats = { type = "integer", check = { min = 0, max = 100 },
            text = "times a disturbed measurement is repeated before it is given up" },
        tenants = { type = "string", check = { "refuse", "note" },
            text = "strangers on the device: what they disturb does not count (as without this), or is only marked" },
        claims = { type = "number", check = { min = 1, max = 1e6 },
            text = "a claim of a task's benchmark that is so many times better than our figure is refused" },
        verify = { type = "integer", check = { min = 1, max = 100 },
            text = "times the best is measured once more at the end, of which the mean is taken (1)" },
        pairs = pairs_rule,
        screen = screen_rule,
        signal = signal_rule,
    } },

    budget = { type = "table", text = "seconds for each step of a trial", required = true, fields = {
        build = seconds("compiling"), check = seconds("all correctness trials"), time = seconds("all launches"),
        factor = { type = "number", check = { min = 1, max = 1e6 },
            text = "a candidate's step ends after this many times what the original's took" },
        propose = { type = "number", check = { min = 0.001, max = WEEK }, text = "a proposer's command" },
        bench = { type = "number", check = { min = 0.001, max = WEEK },
            text = "a task's own benchmark command, where the task does not say it" },
        no_ops = { type = "integer", check = { min = 1, max = 1000 },
            text = "proposals in a row without a change to try, after which a run ends" },
        least = { type = "number", check = { min = 0, max = WEEK }, text = "but not before so many seconds" },
    } },

    accept = { type = "function", required = true,
        text = "(trial, best, opt) -> 'keep' | 'revert' | 'inconclusive', reason" },
    baseline = { type = "function",
        text = "(trial, nil, opt) -> 'keep' or 'inconclusive', reason: what is thought of the figure to start from" },
    unchanged = { type = "function",
        text = "(change, opt) -> true to measure what has the best's machine code all the same (else: reverted)" },
    admit = { type = "function", text = "(change, opt) -> true, or false and why a candidate is not tried" },
    stalled = { type = "function", text = "(run, opt) -> why no progress is made, or nil" },
    stop = { type = "function", text = "(run, opt) -> why the run ends, or nil" },
    propose = { type = "function",
        text = "(run, opt) -> the next candidate { name, text or files, hypothesis, predict }, or nil and why not" },
    render = { type = "function", text = "(run, opt) -> lines of the result, members of the JSON object" },

    find_task = { type = "function",
        text = "(facts, opt) -> a task where no task.lua is, or nil and what must be said" },
    bench = { type = "function",
        text = "(facts, opt) -> a benchmark command as a task has it in `bench`; nil: the task's own, false: none" },
    plan = { type = "function", text = "(facts, opt) -> own lines of the resolved plan: { { label, value }, ... }" },
    scaffold = { type = "function", text = "(facts, opt) -> files that the workspace is given where it lacks them" },
    gate = { type = "function",
        text = "(run, proposal, opt) -> what is missing before this trial may begin; or nil and facts for its record" },
    finish = { type = "function",
        text = "(run, why, opt) -> why the session may not be ended by hand now, or nil" },
    logs = { type = "function", text = "(run, opt) -> files of the workspace that are rendered from the history" },
    submit = { type = "function",
        text = "(run, opt) -> what it did itself when all is over, in words, or nil; run.finished is known" },
    git = git_rule,
    protected = { type = "list", check = texts,
        text = "files and folders of the workspace that no candidate may change" },

    profiling = reserved("what is profiled"),
    profile_when = reserved("(trial, opt) -> whether to profile"),
    choose = reserved("(run, opt) -> which branch or method is next"),
    score = reserved("(trial, opt) -> number"),
}

return schema
