-- What the command line means: ako-lua [host options] POLICY.lua [verb] [--option=value ...]

local bench_flags = require "ako.bench_flags"
local bundled = require "ako.bundled"
local clock = require "ako.clock"
local console = require "ako.console"
local exits = require "ako.exits"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local help = require "ako.help"
local host = require "ako.host"
local options = require "ako.options"
local paths = require "ako.path"
local policies = require "ako.policy"

local function is_device(text)
    local good = text == "auto" or text == "cpu" or text == "cuda" or text:find("^cuda:%d+$")
    return good, "must be auto, cpu, cuda or cuda:N"
end

local function is_a_few(number) return number >= 0 and number <= 64, "must be from 0 to 64" end

local HOST_OPTIONS = {
    { name = "task", kind = "path", value = "FILE|DIR",
        text = "what must be computed (default: task.lua of the workspace or here, else an example)" },
    { name = "solution", kind = "path", value = "FILE|DIR",
        text = "what candidates of a task in Python change (default: solution.py); of many tasks: a folder" },
    { name = "workspace", kind = "path", value = "DIR", text = "where the solution lies (default: here)" },
    { name = "device", kind = "text", check = is_device, value = "auto|cpu|cuda:N",
        text = "what to run on (default: auto)" },
    { name = "dims", kind = "text", value = "M=N,...",
        text = "sizes of a task in Python that takes them; --M=4096 is short for --dims=M=4096" },
    { name = "python", kind = "text", value = "PATH",
        text = "the interpreter for tasks in Python (default: AKO_PYTHON, an active environment, or found)" },
    { name = "session", kind = "text", value = "NAME", text = "which optimization run (default: the newest)" },
    { name = "seed", kind = "integer", text = "instead of the policy's seed" },
    { name = "json", kind = "flag", text = "the result as one JSON object" },
    { name = "quiet", short = "q", kind = "flag", text = "no progress on stderr" },
    { name = "verbose", short = "v", kind = "flag", text = "also what the core has to say" },
    { name = "color", kind = "text", value = "WHEN", check = { "auto", "always", "never" },
        text = "auto, always or never (default: auto)" },
    { name = "time-limit", kind = "number", value = "SECONDS", check = { min = 0, max = 1000000000 },
        text = "of Lua's own running time, anew after each hook (default: 10; 0: none)" },
    { name = "memory-limit", kind = "size", text = "of Lua (default: 256M)" },
    { name = "list", kind = "flag", text = "names the bundled policies" },
    { name = "version", kind = "flag", text = "what this program is made of" },
    { name = "help", short = "h", kind = "flag", text = "this text, or that of a policy" },
}

-- Where candidates come from.
local SOURCES = {
    { name = "candidates", kind = "text", value = "DIR", text = "a trial for each file in it" },
    { name = "propose", kind = "text", value = "COMMAND", text = "a trial for each edit of this shell command" },
    { name = "propose-seconds", key = "propose_seconds", kind = "number", value = "SECONDS",
        check = { min = 0.001, max = 604800 }, text = "that one edit may take (default: the policy's budget.propose)" },
}

-- And what a folder of problems needs.
local OF_RUN = table.move(SOURCES, 1, #SOURCES, 1, {
    [#SOURCES + 1] = { name = "results", kind = "text", value = "DIR",
        text = "of a folder of problems: where results are kept (default: in the user's state folder)" },
    [#SOURCES + 2] = { name = "devices", kind = "text", value = "LIST",
        text = "of a folder of problems: a worker on each, cuda:0,cuda:1 (default: every GPU, else the CPU)" },
    [#SOURCES + 3] = { name = "builders", kind = "integer", check = is_a_few,
        text = "of a folder of problems: how many build load_inline ahead (default: by the cores; 0: none)" },
})

-- What is done by hand says why.
local REASON = { name = "message", short = "m", kind = "text", value = "TEXT", text = "why" }
local BY_HAND = { REASON, { name = "force", kind = "flag", text = "also a trial that has not passed" } }

-- operands: numbers of trials behind the verb, in brackets those that may be left out.
local VERBS = {
    { name = "run", text = "the loop: baseline, then trials until the policy or the candidates end",
        options = OF_RUN },
    { name = "init", text = "makes the workspace ready, what is there stays; measures nothing", options = {} },
    { name = "plan", text = "what run would do", options = OF_RUN },
    { name = "doctor", text = "attacks the task and looks at the machine, before any optimizing", options = {} },
    { name = "try", text = "one trial of the tree as it is", options = {
        { name = "hypothesis", short = "m", key = "message", kind = "text", value = "TEXT", text = "why it is faster" },
        { name = "predict", kind = "number", value = "PERCENT", check = { min = -100, max = 1000000 },
            text = "by how much you expect it to be" },
        { name = "label", kind = "text", value = "TEXT", text = "a name of your own for the trial" },
    } },
    { name = "bench", text = "one evaluation, with the flags and lines of AKO4ALL's bench.py: bench --help",
        options = {} },
    { name = "status", text = "where the session stands", options = {} },
    { name = "brief", text = "all that somebody without a memory needs to go on, in 2 KB", options = {} },
    { name = "log", text = "a line for each trial, the newest last", options = {
        { name = "last", kind = "integer", check = { min = 1 }, text = "only so many of the newest" },
        { name = "notes", kind = "flag", text = "the notes, too, behind the trials that they are about" },
    } },
    { name = "show", operands = "N", text = "all that is known of trial N", options = {
        { name = "source", kind = "flag", text = "its source texts, too" },
    } },
    { name = "diff", operands = "N [M]", text = "the patch from what trial N was judged against, or from trial M, to N",
        options = { { name = "stat", kind = "flag", text = "which files and how many lines, instead" } } },
    { name = "report", text = "the account of the whole session", options = {
        { name = "markdown", kind = "flag", text = "in Markdown" } } },
    { name = "note", operands = "[N]", text = "adds words, or a file, about trial N or the last one", options = {
        { name = "message", short = "m", kind = "text", value = "TEXT", text = "the words" },
        { name = "topic", kind = "text", value = "TOPIC",
            text = "what they are: idea, next, or what a policy asks for" },
        { name = "file", kind = "text", value = "FILE", text = "that they are about; its hash is kept" },
    } },
    { name = "keep", operands = "N", text = "by hand: trial N counts as kept and is the best", options = BY_HAND },
    { name = "revert", operands = "N", text = "by hand: trial N does not count, the one kept before it is the best",
        options = { REASON } },
    { name = "resume", text = "goes on with a run that was interrupted", options = SOURCES },
    { name = "finish", text = "the best restored and verified, the session closed", options = { REASON } },
    { name = "simulate", text = "what the policy keeps of synthetic noise, or of a --session's trials", options = {
        { name = "trials", kind = "integer", check = { min = 1, max = 1000000 },
            text = "candidates for each noise and gain (default: 1000)" },
        { name = "gains", kind = "text", value = "LIST", text = "true gains in % (default: -2,0,0.5,1,1.5,2,3,5)" },
        { name = "floor", kind = "flag", text = "raise the pairs' threshold by each machine's floor, as a run does" },
    } },
    { name = "check", text = "validates the policy", options = {} },
    { name = "help", text = "describes the policy", options = {} },
}

local cli = {}

local function leave(code, text, ...) error(host.leave(code, format.line(text:format(...))), 0) end

-- f(...), whose faults end the program. Nothing that calls user code goes through here: it has tracebacks of its own.
local function must(f, ...)
    local results = table.pack(fault.catch(f, ...))
    if results[1] == nil then leave(exits.of_code(results[3]), "%s", results[2]) end
    return table.unpack(results, 1, results.n)
end

local function print(text)
    local written, problem = console.out(text)
    if not written then leave(exits.LACKING, "%s", problem) end
    return exits.DONE
end

local function apply(values)
    host.limit(values.time_limit, values.memory_limit)
    if values.verbose then host.log_level("debug") elseif values.quiet then host.log_level("error") end
    if values.seed then math.randomseed(values.seed) end
end

-- Running a user's file

local function folder_of(path) return path:find("/") and fs.dirname(path) or "." end

-- What the file's chunk returns. It runs under the limits of the whole program; one that turns out to be a policy has
-- then been loaded, one that returns nothing has been run.
local function run_file(file, path, arguments)
    local chunk, problem, code = host.load(path, file)
    if not chunk then leave(code == "COMPILE" and exits.POLICY or exits.USAGE, "%s", problem) end
    arguments[0] = file
    host.subject(file, folder_of(path), arguments)
    return chunk(table.unpack(arguments))
end

-- Policies

local verbs = {}

local function find_verb(name)
    local known = {}
    for _, verb in ipairs(VERBS) do
        if verb.name == name then return verb end
        known[#known + 1] = verb.name
    end
    local near = fault.nearest(name, known)
    if near == "" then near = "; there are " .. table.concat(known, ", ") end
    fault.raise("INVALID", "unknown verb '%s'%s", name, near)
end

-- Every word and option has one meaning: an option of a policy must not hide one of the host's or of a verb's.
local function check_names(specs, file)
    local taken = {}
    for _, spec in ipairs(HOST_OPTIONS) do taken[spec.name] = "the host" end
    for _, verb in ipairs(VERBS) do
        for _, spec in ipairs(verb.options) do taken[spec.name] = taken[spec.name] or "the verb " .. verb.name end
    end
    for _, spec in ipairs(specs) do
        if taken[spec.name] then
            leave(exits.POLICY, "%s: option '%s' is one of %s already", file, spec.key, taken[spec.name])
        end
    end
end

-- The numbers of trials that stand behind a verb.
local function read_operands(verb, words)
    local trials, wanted = {}, verb.operands or ""
    local _, most = wanted:gsub("%a+", "")
    if words[most + 2] then
        fault.raise("INVALID", "unexpected argument '%s' behind the verb %s", words[most + 2], verb.name)
    end
    for i = 2, #words do
        local number = words[i]:match("^%d+$") and math.tointeger(tonumber(words[i]))
        if not number then fault.raise("INVALID", "%s: '%s' is no number of a trial", verb.name, words[i]) end
        trials[i - 1] = number
    end
    if #trials == 0 and wanted:find("^%a") then
        fault.raise("INVALID", "%s needs the number of a trial: %s %s; `log` lists them", verb.name, verb.name, wanted)
    end
    return trials
end

-- The options of all verbs but those that `verb` has itself, by their names or letters.
local function other_options(verb)
    local others, taken = {}, {}
    for _, spec in ipairs(verb.options) do taken[spec.name], taken[spec.short or ""] = true, true end
    for _, other in ipairs(VERBS) do
        for _, spec in ipairs(other.options) do
            if not taken[spec.name] then
                local short = not taken[spec.short] and spec.short or nil
                others[#others + 1] = { name = spec.name, kind = spec.kind, key = spec.name, short = short }
                taken[spec.name], taken[spec.short or ""] = true, true
            end
        end
    end
    return others
end

local NO_VERB = { options = {} }

-- What is to be said of a size that is not written as one (with_dims takes the others away), nil for other options.
local function explain_size(name, text, following)
    local size = name:match "^%-%-(%u[%w_]*)$"
    if not size then return nil end
    if text then return ("'%s=%s' is no size: wanted is %s=NUMBER"):format(name, text, name) end
    local value = following and tonumber(following) and following or "NUMBER"
    return ("unknown option '%s'; a size is written with '=': %s=%s"):format(name, name, value)
end

-- The verb is the first word that follows, wherever its options stand; which words are values of options, all verbs
-- agree on. Where its help is wanted nothing else is looked at.
local function parse_verb(arguments, groups)
    local _, words = options.parse(arguments, 1, { host = groups.host, policy = groups.policy,
        other = other_options(NO_VERB) }, false, explain_size)
    local verb = find_verb(words[1] or "run")
    groups.verb, groups.other = verb.options, other_options(verb)
    local values = options.parse(arguments, 1, groups)
    if values.host.help then return words[1] and verb or NO_VERB, values, {} end
    local name = next(values.other)
    if name then fault.raise("INVALID", "option --%s is none of the verb %s", name, verb.name) end
    return verb, values, read_operands(verb, words)
end

-- What an evaluation without a task, a workspace and a session has no use for; its --solution is its own.
local NOT_OF_BENCH = { "task", "solution", "workspace", "session" }

-- `given`: tables of the host's values, from wherever they stood.
local function check_of_bench(given)
    for _, name in ipairs(NOT_OF_BENCH) do
        for _, values in ipairs(given) do
            if values[name] then
                fault.raise("INVALID", "option --%s is none of the verb bench, which has no task, workspace or "
                    .. "session: --ref and --solution behind it name files", name)
            end
        end
    end
end

-- Values of a flat table for the specs of a group.
local function values_for(specs, flat)
    local values = {}
    for _, spec in ipairs(specs) do
        local key = spec.key or spec.name:gsub("-", "_")
        values[key] = flat[key]
    end
    return values
end

-- The verb `bench` has a command line of its own, among which options of the host and of the policy may stand. Returns
-- its flags and the others' values as `parse_verb` does; false for another verb.
local function parse_bench(arguments, groups, host_values)
    local before, _, at = fault.catch(options.parse, arguments, 1, { host = groups.host, policy = groups.policy }, true)
    if not before or arguments[at] ~= "bench" then return false end
    local words = table.move(arguments, at + 1, #arguments, 1, {})
    local others = table.move(groups.host, 1, #groups.host, 1, {})
    table.move(groups.policy, 1, #groups.policy, #others + 1, others)
    local flags, rest, code = bench_flags.parse(words, others, explain_size)
    if not flags then fault.raise(code, "%s", rest) end
    check_of_bench { host_values, before.host, rest }
    for group, specs in pairs(groups) do
        for key, value in pairs(values_for(specs, rest)) do before[group][key] = value end
    end
    return flags, before
end

-- A solution that lies elsewhere is edited there.
local function take_workspace_of_solution(host_values)
    local solution = host_values.solution
    if not solution or host_values.workspace or paths.is_inside(solution) or fs.is_dir(solution) then return end
    host_values.workspace, host_values.solution = fs.dirname(solution), fs.basename(solution)
end

local function context(policy, verb, values, operands, host_values)
    for name, value in pairs(values.host) do host_values[name] = value end
    take_workspace_of_solution(host_values)
    apply(host_values)
    host_values.device = host_values.device or "auto"
    host_values.color = host_values.color or "auto"
    return { policy = policy, verb = verb.name, opt = policies.option_values(policy, values.policy),
        given = values.policy, verb_options = values.verb, operands = operands, host = host_values, home = host.home,
        hook = function(name, ...) return policies.call(policy, name, ...) end }
end

-- Answers --help: about the verb that is named, else about the policy.
local function describe(ctx, verb)
    if not verb.name or verb.name == "help" then return verbs.help(ctx) end
    return print(ctx.host.json and help.verb_object(verb) or help.verb(verb, ctx.file))
end

local started_ns -- when the program began, by the wall clock: before any file of the user's was read
local all_arguments -- what it was called with

local function run_policy(value, file, path, arguments, host_values)
    local policy = policies.adopt(value, file)
    local specs = policies.option_specs(policy)
    check_names(specs, file)
    local flags, values = must(parse_bench, arguments, { host = HOST_OPTIONS, policy = specs }, host_values)
    local verb, operands = { name = "bench" }, {}
    if not flags then verb, values, operands = must(parse_verb, arguments, { host = HOST_OPTIONS, policy = specs }) end
    if values.host.version or values.host.list then return cli.answer(values.host) end
    local ctx = context(policy, verb, values, operands, host_values)
    ctx.file, ctx.path, ctx.specs, ctx.started_ns, ctx.arguments = file, path, specs, started_ns, all_arguments
    ctx.flags = flags
    if ctx.host.help then return describe(ctx, verb) end
    host.refill()
    return (verbs[verb.name] or require("ako.verbs")[verb.name])(ctx)
end

function verbs.help(ctx)
    if ctx.host.json then return print(help.policy_object(ctx.policy, ctx.file, ctx.specs, VERBS)) end
    return print(help.policy(ctx.policy, ctx.file, ctx.specs, VERBS))
end

function verbs.check(ctx)
    if ctx.host.json then return print(help.policy_object(ctx.policy, ctx.file, ctx.specs)) end
    return print(help.check(ctx.policy, ctx.file, ctx.specs))
end

-- Options that need no policy

local function describe_bundled(name)
    local file = bundled.file(name)
    local path = fs.join(host.home, file)
    local loaded, policy = host.call(function() return policies.adopt(run_file(file, path, {}), file) end)
    if loaded then return { name = name, description = policy.description } end
    return { name = name, problem = tostring(policy) }
end

local function list(as_json)
    local entries = {}
    for i, name in ipairs(bundled.names()) do entries[i] = describe_bundled(name) end
    return as_json and help.list_object(entries) or help.list(entries)
end

--- Answers --version, --list and --help; nil when none is asked for.
function cli.answer(values)
    if values.version then return print(help.version(values.json)) end
    if values.list then return print(list(values.json)) end
    if values.help then
        return print((values.json and help.program_object or help.program)(VERBS, HOST_OPTIONS))
    end
end

local function is_verb(word)
    for _, verb in ipairs(VERBS) do
        if verb.name == word then return true end
    end
end

local function first_word(arguments)
    for _, argument in ipairs(arguments) do
        if argument:sub(1, 1) ~= "-" then return argument end
    end
end

-- The arguments with --M=4096 --dims=n=64, wherever they stand, as one --dims=M=4096,n=64 before all others: no option
-- of ours begins with a capital letter. And where each of these was among those given.
local function with_dims(arguments)
    local dims, others, origin = {}, {}, {}
    for i, argument in ipairs(arguments) do
        local size = argument:match("^%-%-(%u[%w_]*=[%d.+e-]+)$") or argument:match("^%-%-dims=(.*)$")
            or arguments[i - 1] == "--dims" and argument
        if size then
            dims[#dims + 1] = size
        elseif argument ~= "--dims" or not arguments[i + 1] then
            others[#others + 1], origin[#origin + 1] = argument, i
        end
    end
    if #dims > 0 then
        table.insert(others, 1, "--dims=" .. table.concat(dims, ","))
        table.insert(origin, 1, 0)
    end
    return others, origin
end

local function verb_with(name)
    for _, verb in ipairs(VERBS) do
        for _, spec in ipairs(verb.options) do
            if spec.name == name then return verb.name end
        end
    end
end

-- Sizes apart, what is near to no option of the host's may be the policy's, which is not known yet.
local function explain_before_policy(name, text, following, near)
    if near ~= "" then return explain_size(name, text, following) end
    return explain_size(name, text, following) or ("unknown option '%s'; an option of the policy belongs behind it: "
        .. "ako-lua [host options] POLICY.lua [verb] %s"):format(name, name)
end

-- The options of the host that stand before the policy, and where that is.
local function parse_host(arguments)
    local values, _, index = options.parse(arguments, 1, { host = HOST_OPTIONS, other = other_options(NO_VERB) }, true,
        explain_before_policy)
    local name = next(values.other)
    if name then
        fault.raise("INVALID", "option --%s belongs behind the policy: ako-lua [host options] POLICY.lua %s --%s", name,
            verb_with(name), name)
    end
    return values, index
end

local function behind(arguments, index) return table.move(arguments, index + 1, #arguments, 1, {}) end

--- The whole program: the exit code for the arguments.
return function(arguments)
    started_ns, all_arguments = clock.wall_ns(), arguments
    local sized, origin = with_dims(arguments)
    local values, next_index = must(parse_host, sized)
    apply(values.host)
    local answered = cli.answer(values.host)
    if answered then return answered end
    local typed = sized[next_index]
    if not typed then
        console.err(help.usage())
        return exits.USAGE
    end
    if is_verb(typed) and not fs.exists(typed) then
        leave(exits.USAGE, "the policy comes before the verb: ako-lua POLICY.lua %s", typed)
    end
    local file, path = must(bundled.find, typed)
    local rest = behind(arguments, origin[next_index]) -- a program that is no policy has options of its own
    local result = run_file(file, path, rest)
    if result == nil then
        if is_verb(first_word(rest)) then
            leave(exits.POLICY, "%s returned nothing; a policy ends with return", file)
        end
        return exits.DONE
    end
    if type(result) ~= "table" then
        leave(exits.POLICY, "%s: must return a policy, a table, or nothing, returned a %s", file, type(result))
    end
    return run_policy(result, file, path, behind(sized, next_index), values.host)
end
