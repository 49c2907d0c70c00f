-- The command line of AKO4ALL's evaluator (bench/kernelbench/bench.py), flag by flag, and what it means in a policy's
-- terms. A number that is not given is absent and the policy's own holds: those of kernelbench.lua are the evaluator's.

local backend = require "ako.backend"
local fault = require "ako.fault"
local help = require "ako.help"
local options = require "ako.options"
local schema = require "ako.schema"

local bench_flags = {}

local TIMERS = { cuda_event = "events", host_time = "wall" }
local DTYPES = { float32 = "f32", float16 = "f16", bfloat16 = "bf16" }

local function is_path(text) return text ~= "", "must name a file" end

-- In the order of the evaluator's own help; --baseline is an extension that is in use.
local SPECS = {
    { name = "ref", kind = "text", value = "FILE", check = is_path, text = "the reference, with class Model" },
    { name = "solution", kind = "text", value = "FILE", check = is_path,
        text = "what is evaluated, with class Model or ModelNew" },
    { name = "inputs", kind = "text", value = "FILE", check = is_path,
        text = "get_inputs, and get_init_inputs where there is one, in place of the reference's" },
    { name = "baseline", kind = "text", value = "FILE", check = is_path,
        text = "the original kernel, which is timed too" },
    { name = "timing-method", kind = "text", check = { "cuda_event", "host_time" }, text = "the clock" },
    { name = "precision", kind = "text", check = { "float32", "float16", "bfloat16" }, default = "float32",
        text = "what floating-point tensors are cast to" },
    { name = "backend", kind = "text", check = backend.NAMES, text = "instead of what the solution's text says" },
    { name = "num-correct-trials", kind = "decimal", check = schema.correctness.fields.trials.check,
        text = "random inputs that are compared" },
    { name = "num-perf-trials", kind = "decimal", check = schema.timing.fields.launches.check, text = "timed calls" },
    { name = "no-ref", kind = "flag", text = "the reference is not timed: REF_RUNTIME and SPEEDUP are -1" },
    { name = "verbose", kind = "flag", text = "details behind the result" },
    { name = "self-test", kind = "flag", text = "the reading of solutions is tested, nothing is evaluated" },
    { name = "help", short = "h", kind = "flag", text = "this text" },
}

local function key_of(spec) return spec.key or (spec.name:gsub("-", "_")) end

-- Specs by "--name" and "-x".
local function index(specs, entries)
    for _, spec in ipairs(specs) do
        local entry = { spec = spec, is_own = specs == SPECS }
        entries["--" .. spec.name] = entry
        if spec.short then entries["-" .. spec.short] = entry end
    end
    return entries
end

-- As in Python's argparse, the beginning of a name is enough where it is that of no other.
local function find(name, entries, unknown)
    if entries[name] then return entries[name] end
    local near = {}
    for _, spec in ipairs(SPECS) do
        if #name > 2 and ("--" .. spec.name):sub(1, #name) == name then near[#near + 1] = "--" .. spec.name end
    end
    if #near > 1 then fault.raise("INVALID", "option '%s' may be %s", name, table.concat(near, " or ")) end
    if near[1] then return entries[near[1]] end
    unknown(entries)
end

-- The value for a spec and the index of the last argument that was read for it.
local function value_of(spec, text, args, i)
    if spec.kind == "flag" then
        if text then fault.raise("INVALID", "option --%s takes no value", spec.name) end
        return true, i
    end
    if text then return options.read(spec, text), i end
    if spec.kind == "boolean" then return true, i end
    text = args[i + 1]
    if not text or text:find "^%-." and not tonumber(text) then
        fault.raise("INVALID", "option --%s needs a value", spec.name)
    end
    return options.read(spec, text), i + 1
end

local function defaults()
    local flags = {}
    for _, spec in ipairs(SPECS) do
        if spec.kind == "flag" then flags[key_of(spec)] = false else flags[key_of(spec)] = spec.default end
    end
    return flags
end

local function check_needed(flags)
    if flags.help or flags.self_test then return end
    for _, name in ipairs { "ref", "solution" } do
        if not flags[name] then fault.raise("INVALID", "option --%s is needed, but for --self-test", name) end
    end
end

--- Reads a command line (a list of words): --name value and --name=value, the last one counts. `others`: specs of
--- ako.options that may stand among them, the evaluator's own going first; `explain` as there. Returns { ref,
--- solution, inputs, baseline (paths), timing_method, precision, backend (as given), num_correct_trials,
--- num_perf_trials, no_ref, verbose, self_test, help (booleans) }, in which only precision and the booleans have
--- defaults, and a table of the others' values; or nil, one line, and INVALID (exit 2).
bench_flags.parse = fault.returns(function(args, others, explain)
    local entries = index(SPECS, index(others or {}, {}))
    local flags, rest, i = defaults(), {}, 1
    while i <= #args do
        local name, text = args[i]:match "^(%-%-[^=]+)=(.*)$"
        name = name or args[i]
        if not name:find "^%-" then fault.raise("INVALID", "unexpected argument '%s'", name) end
        local following = args[i + 1]
        local entry = find(name, entries, function(known) options.unknown(name, text, following, known, explain) end)
        local values = entry.is_own and flags or rest
        values[key_of(entry.spec)], i = value_of(entry.spec, text, args, i)
        i = i + 1
    end
    check_needed(flags)
    return flags, rest
end)

--- What the flags change of a policy, as `policy:extend` takes it: only what was given is in it. The tolerance is not:
--- the policy has one for each dtype of an output, and --precision says which that is.
function bench_flags.overrides(flags)
    local timing = { launches = flags.num_perf_trials, timer = TIMERS[flags.timing_method] }
    if flags.no_ref then timing.reference = false end
    return { correctness = { trials = flags.num_correct_trials }, timing = timing }
end

--- What the flags say of the task and the lane, in ako-lua's words: { reference, solution, inputs, original (paths),
--- dtype ("f32", "f16", "bf16"), backend (nil: by the solution's text) }.
function bench_flags.lane(flags)
    return { reference = flags.ref, solution = flags.solution, inputs = flags.inputs, original = flags.baseline,
        dtype = DTYPES[flags.precision], backend = flags.backend }
end

local function name_of(timer)
    for name, meant in pairs(TIMERS) do
        if meant == timer then return name end
    end
end

--- The text of --help; the defaults are those of `policy`, whose numbers hold where a flag is not given.
function bench_flags.help(policy)
    local held = { timing_method = name_of(policy.timing.timer), num_correct_trials = policy.correctness.trials,
        num_perf_trials = policy.timing.launches }
    local specs = {}
    for i, spec in ipairs(SPECS) do
        specs[i] = setmetatable({ default = held[key_of(spec)] }, { __index = spec })
    end
    return "usage: bench --ref FILE --solution FILE [--option=value ...]\n\n" .. help.options(specs)
end

return bench_flags
