-- The command line: transcripts of what it prints, and the reading of options.
local json = require "ako.json"
local options = require "ako.options"
local fault = require "ako.fault"
local t = require "ako.tap"
local program = require "program"

local run, says, write = program.run, program.says, program.write

-- Output and exit code of a run that says nothing on stderr.
local function prints(result, text, code)
    t.eq(result.stderr, "")
    t.eq(result.stdout, text)
    t.eq(result.code, code or 0)
end

write("mine.lua", [[
return {
  name = "mine",
  description = "stops early",
  options = {
    target = { 3.0, "speed-up at which to stop", { min = 1 } },
    mode = { "fast", "how", { "fast", "slow" } },
    deep_look = { false, "look deeper" },
  },
  correctness = { trials = 5, seed = 42, predicate = "allclose_out", tolerance = { f32 = 1e-4 } },
  timing = { warmup = 3, launches = 100, flush = true, timer = "auto", alpha = 0.05, reference = true,
    statistic = "mean" },
  budget = { build = 1, check = 2, time = 3 },
  accept = function() return "keep", "" end,
  stop = function() end,
}
]])

local USAGE = [[
usage: ako-lua [host options] POLICY.lua [verb] [--option=value ...]
       ako-lua [host options] SCRIPT.lua [argument ...]
]]

local VERBS = [[
Verbs
  run                     the loop: baseline, then trials until the policy or the candidates end
    --candidates=DIR      a trial for each file in it
    --propose=COMMAND     a trial for each edit of this shell command
    --propose-seconds=SECONDS
                          that one edit may take (default: the policy's budget.propose)
    --results=DIR         of a folder of problems: where results are kept (default: in the user's state folder)
    --devices=LIST        of a folder of problems: a worker on each, cuda:0,cuda:1 (default: every GPU, else the CPU)
    --builders=N          of a folder of problems: how many build load_inline ahead (default: by the cores; 0: none)
  init                    makes the workspace ready, what is there stays; measures nothing
  plan                    what run would do
    --candidates=DIR      a trial for each file in it
    --propose=COMMAND     a trial for each edit of this shell command
    --propose-seconds=SECONDS
                          that one edit may take (default: the policy's budget.propose)
    --results=DIR         of a folder of problems: where results are kept (default: in the user's state folder)
    --devices=LIST        of a folder of problems: a worker on each, cuda:0,cuda:1 (default: every GPU, else the CPU)
    --builders=N          of a folder of problems: how many build load_inline ahead (default: by the cores; 0: none)
  doctor                  attacks the task and looks at the machine, before any optimizing
  try                     one trial of the tree as it is
    -m, --hypothesis=TEXT
                          why it is faster
    --predict=PERCENT     by how much you expect it to be
    --label=TEXT          a name of your own for the trial
  bench                   one evaluation, with the flags and lines of AKO4ALL's bench.py: bench --help
  status                  where the session stands
  brief                   all that somebody without a memory needs to go on, in 2 KB
  log                     a line for each trial, the newest last
    --last=N              only so many of the newest, at least 1
    --notes               the notes, too, behind the trials that they are about
  show N                  all that is known of trial N
    --source              its source texts, too
  diff N [M]              the patch from what trial N was judged against, or from trial M, to N
    --stat                which files and how many lines, instead
  report                  the account of the whole session
    --markdown            in Markdown
  note [N]                adds words, or a file, about trial N or the last one
    -m, --message=TEXT    the words
    --topic=TOPIC         what they are: idea, next, or what a policy asks for
    --file=FILE           that they are about; its hash is kept
  keep N                  by hand: trial N counts as kept and is the best
    -m, --message=TEXT    why
    --force               also a trial that has not passed
  revert N                by hand: trial N does not count, the one kept before it is the best
    -m, --message=TEXT    why
  resume                  goes on with a run that was interrupted
    --candidates=DIR      a trial for each file in it
    --propose=COMMAND     a trial for each edit of this shell command
    --propose-seconds=SECONDS
                          that one edit may take (default: the policy's budget.propose)
  finish                  the best restored and verified, the session closed
    -m, --message=TEXT    why
  simulate                what the policy keeps of synthetic noise, or of a --session's trials
    --trials=N            candidates for each noise and gain (default: 1000), at least 1, at most 1000000
    --gains=LIST          true gains in % (default: -2,0,0.5,1,1.5,2,3,5)
    --floor               raise the pairs' threshold by each machine's floor, as a run does
  check                   validates the policy
  help                    describes the policy
]]

t.test("nothing typed: short usage, exit 2", function()
    local r = run()
    t.eq(r.stdout, "")
    t.eq(r.stderr, USAGE .. "       ako-lua --help says more; ako-lua --list names the bundled policies\n")
    t.eq(r.code, 2)
end)

t.test("--help", function()
    prints(run("--help"), USAGE .. [[

Compiles, checks and times GPU and CPU kernels, and keeps what a policy says is better.
Without a verb it runs the policy; a script is a Lua file that returns nothing.

]] .. VERBS .. [[

Host options
  --task=FILE|DIR         what must be computed (default: task.lua of the workspace or here, else an example)
  --solution=FILE|DIR     what candidates of a task in Python change (default: solution.py); of many tasks: a folder
  --workspace=DIR         where the solution lies (default: here)
  --device=auto|cpu|cuda:N
                          what to run on (default: auto)
  --dims=M=N,...          sizes of a task in Python that takes them; --M=4096 is short for --dims=M=4096
  --python=PATH           the interpreter for tasks in Python (default: AKO_PYTHON, an active environment, or found)
  --session=NAME          which optimization run (default: the newest)
  --seed=N                instead of the policy's seed
  --json                  the result as one JSON object
  -q, --quiet             no progress on stderr
  -v, --verbose           also what the core has to say
  --color=WHEN            auto, always or never (default: auto)
  --time-limit=SECONDS    of Lua's own running time, anew after each hook (default: 10; 0: none)
  --memory-limit=SIZE     of Lua (default: 256M)
  --list                  names the bundled policies
  --version               what this program is made of
  -h, --help              this text, or that of a policy
]])
    t.eq(run("-h").stdout, run("--help").stdout)
end)

-- The one JSON object on stdout.
local function object_of(...)
    local r = run("--json", ...)
    t.eq({ r.code, r.stderr, select(2, r.stdout:gsub("\n", "")) }, { 0, "", 1 })
    return assert(json.decode(r.stdout))
end

local HELP = [[
mine: stops early

usage: ako-lua mine.lua [verb] [--option=value ...]

Options
  --deep-look=true|false  look deeper (default false)
  --mode=TEXT             how: fast, slow (default "fast")
  --target=X              speed-up at which to stop, at least 1 (default 3.0)

]] .. VERBS .. [[

Hooks it defines
  accept                  (trial, best, opt) -> 'keep' | 'revert' | 'inconclusive', reason
  stop                    (run, opt) -> why the run ends, or nil

ako-lua --help names the host options.
]]

t.test("the help of a policy, by verb and by option", function()
    prints(run("mine.lua", "help"), HELP)
    prints(run("mine.lua", "--help"), HELP)
    prints(run("mine.lua", "-h", "help"), HELP)
end)

t.test("the help of a verb: its own usage, whatever else it needs", function()
    prints(run("mine.lua", "diff", "--help"), [[
usage: ako-lua mine.lua diff N [M] [--option=value ...]

the patch from what trial N was judged against, or from trial M, to N

Operands
  N [M]                   numbers of trials, which `log` lists; what is in brackets may be left out

Options
  --stat                  which files and how many lines, instead

ako-lua mine.lua --help names the options of the policy, ako-lua --help those of the host.
]])
    local verbs = object_of("mine.lua", "help").verbs
    t.ok(#verbs > 15)
    for _, verb in ipairs(verbs) do
        if verb.name ~= "help" then
            local said = run("mine.lua", verb.name, "--help")
            t.eq({ said.code, said.stderr }, { 0, "" }, verb.name)
            local usage = verb.name == "bench" and "usage: bench --ref FILE"
                or ("usage: ako-lua mine.lua %s %s[--option=value ...]\n\n%s\n"):format(verb.name,
                    verb.operands and verb.operands .. " " or "", verb.text)
            t.eq(said.stdout:sub(1, #usage), usage)
            for _, option in ipairs(verb.options) do
                t.match(said.stdout, "[ ,] %-%-" .. option.name:gsub("%-", "%%-"))
            end
            if verb.name ~= "bench" then
                t.eq(object_of("mine.lua", verb.name, "--help").options, verb.options)
            end
        end
    end
    prints(run("mine.lua", "show", "x", "-h"), run("mine.lua", "show", "--help").stdout)
end)

t.test("an option that stands before the policy and belongs behind it", function()
    says(run("--task", "P", "--solution", "S", "--results", "R", "mine.lua"), 2,
        "option --results belongs behind the policy: ako-lua [host options] POLICY.lua run --results")
    says(run("-mwhy", "mine.lua", "try"), 2,
        "option --hypothesis belongs behind the policy: ako-lua [host options] POLICY.lua try --hypothesis")
    says(run("--faithful", "kernelbench", "try"), 2, "unknown option '--faithful'; an option of the policy belongs "
        .. "behind it: ako-lua [host options] POLICY.lua [verb] --faithful")
end)

t.test("--list: bundled policies with their line, from any folder", function()
    local r = run("--list")
    t.match(r.stdout, "\n?  kernelbench +KernelBench's checks and timing[^\n]*\n")
    t.ok(not r.stdout:find("not valid"), r.stdout)
    t.eq(r.code, 0)
    t.eq(run("mine.lua", "--list").stdout, r.stdout)
end)

t.test("--version names what is linked and what is found", function()
    local r = run("--version")
    t.match(r.stdout, "^ako%-lua %d+%.%d+%.%d+\n  Lua 5%.4%.%d+ +linked\n")
    for _, name in ipairs { "libgit2", "PCRE2", "jansson", "CUDA Runtime", "NVRTC", "CUPTI" } do
        t.match(r.stdout, "\n  " .. name .. "[ \n]")
    end
    local object = assert(json.decode(run("--version", "--json").stdout))
    t.eq(object.v, 1)
    t.match(object.lua, "^Lua 5%.4")
    t.ok(#object.libraries > 5)
end)

t.test("--json of check, help, --help and --list", function()
    for _, arguments in ipairs { { "check" }, { "help" }, { "--help" }, { "help", "-h" } } do
        local said = object_of("mine.lua", table.unpack(arguments))
        t.eq({ said.v, said.name, said.description, said.file }, { 1, "mine", "stops early", "mine.lua" })
        t.eq(said.options[1], { name = "deep-look", kind = "boolean", text = "look deeper", default = false })
        t.eq(said.options[2], { name = "mode", kind = "text", text = "how", default = "fast",
            check = { "fast", "slow" } })
        t.eq(said.options[3].default, 3.0)
        t.eq(said.options[3].check, { min = 1 })
        t.eq({ #said.hooks, said.hooks[1].name, said.hooks[2].name }, { 2, "accept", "stop" })
        t.eq({ said.numbers.timing.launches, said.numbers.budget, said.numbers.correctness.tolerance },
            { 100, { build = 1, check = 2, time = 3 }, { f32 = 1e-4 } })
    end
    t.eq(object_of("mine.lua", "help").verbs[1].options[1].name, "candidates")
    local operands = {}
    for _, verb in ipairs(object_of("mine.lua", "help").verbs) do operands[verb.name] = verb.operands end
    t.eq(operands, { show = "N", diff = "N [M]", note = "[N]", keep = "N", revert = "N" })
    t.eq(object_of("kernelbench", "check").numbers.timing.pairs.looks, { 12, 24, 48, 96 })
    local said = object_of "--help"
    t.eq({ said.verbs[1].name, said.options[1].name }, { "run", "task" })
    local listed = {}
    for _, entry in ipairs(object_of("--list").policies) do listed[entry.name] = entry.problem or "good" end
    t.eq(listed.kernelbench, "good")
    write("odd.lua", 'local k = require "policies.kernelbench"\nreturn k:extend { name = "odd", options = { most = '
        .. '{ math.huge, "x" } }, budget = { factor = nil } }')
    local own = object_of("odd.lua", "check").options
    for _, option in ipairs(own) do own[option.name] = option end
    t.eq(own.most.default, "inf")
end)

t.test("a policy that returns nothing is told so by every verb; a script is not", function()
    write("lost.lua", "local p = { name = 'lost' }")
    for _, verb in ipairs { "check", "run", "try", "help", "plan" } do
        says(run("lost.lua", verb, "--json"), 4, "lost.lua returned nothing; a policy ends with return")
    end
    says(run("lost.lua", "--quiet", "check"), 4, "lost.lua returned nothing; a policy ends with return")
    for _, arguments in ipairs { {}, { "file" }, { "--check" }, { "file", "check" } } do
        local r = run("lost.lua", table.unpack(arguments))
        t.eq({ r.code, r.stdout, r.stderr }, { 0, "", "" })
    end
end)

t.test("the example of a script says which folder it wants", function()
    local r = program.run("examples/time_a_kernel.lua")
    t.eq(r.stderr, "ako-lua: no task in examples/rmsnorm: no such file; name a folder that has a task.lua: "
        .. "time_a_kernel.lua FOLDER\n")
    t.eq(r.code, 4)
end)

t.test("a script's options are its own, also those that look like a size", function()
    write("own.lua", "print(arg[0], ...)")
    for _, before in ipairs { {}, { "--M=8" }, { "--dims", "M=8", "-q" } } do
        local behind = { "own.lua", "--N=4", "own.lua", "--dims", "K=2" }
        local words = table.move(behind, 1, #behind, #before + 1, table.move(before, 1, #before, 1, {}))
        local r = run(table.unpack(words))
        t.eq({ r.stderr, r.stdout }, { "", "own.lua\t--N=4\town.lua\t--dims\tK=2\n" })
    end
end)

t.test("a policy is found by its name and by its path, here or among the bundled ones", function()
    for _, typed in ipairs { "kernelbench", "kernelbench.lua", "policies/kernelbench.lua" } do
        t.match(run(typed, "check").stdout, "^policies/kernelbench.lua: OK, policy kernelbench\n")
    end
    write("kernelbench.lua", "print 'mine'")
    t.eq(run("kernelbench.lua").stdout, "mine\n")
    t.match(run("kernelbench", "check").stdout, "OK, policy kernelbench\n")
    says(run("../kernelbench"), 2, "no policy or script '../kernelbench' here or among the bundled ones"
        .. " (did you mean 'kernelbench'?)")
    says(run("run"), 2, "the policy comes before the verb: ako-lua POLICY.lua run")
end)

t.test("options of policies are checked and typed", function()
    t.eq(run("mine.lua", "check", "--target=2.5", "--mode", "slow", "--deep_look", "--deep-look=no").code, 0)
    says(run("mine.lua", "check", "--target=fast"), 2, "option --target must be a number, got 'fast'")
    says(run("mine.lua", "check", "--target=0.5"), 2, "option --target must be at least 1, got '0.5'")
    says(run("mine.lua", "check", "--target=nan"), 2, "option --target must be a number, got 'nan'")
    says(run("mine.lua", "check", "--mode=fats"), 2, "option --mode must be one of fast, slow, got 'fats'")
    says(run("mine.lua", "check", "--deep-look=perhaps"), 2, "option --deep-look must be true or false, got 'perhaps'")
    says(run("mine.lua", "check", "--traget=2"), 2, "unknown option '--traget' (did you mean '--target'?)")
    says(run("mine.lua", "check", "--target"), 2, "option --target needs a value")
end)

t.test("verbs, their options and host options behind them", function()
    says(run("mine.lua", "chekc"), 2, "unknown verb 'chekc' (did you mean 'check'?)")
    says(run("mine.lua", "ablate"), 2,
        "unknown verb 'ablate'; there are run, init, plan, doctor, try, bench, status, brief, log, show, diff, report, "
        .. "note, keep, revert, resume, finish, simulate, check, help")
    says(run("mine.lua", "check", "more"), 2, "unexpected argument 'more' behind the verb check")
    says(run("mine.lua", "check", "--candidates=x"), 2, "option --candidates is none of the verb check")
    says(run("mine.lua", "check", "-mwhy"), 2, "option --hypothesis is none of the verb check")
    says(run("mine.lua", "check", "--seed=1.5"), 2, "option --seed must be a whole number, got '1.5'")
    says(run("mine.lua", "check", "--memory-limit=lots"), 2,
        "option --memory-limit must be a size such as 64M, got 'lots'")
    says(run("mine.lua", "check", "--json=yes"), 2, "option --json takes no value")
    says(run("--time-limit=1e300", "mine.lua", "check"), 2,
        "option --time-limit must be at most 1000000000, got '1e300'")
    says(run("--color=red", "mine.lua"), 2, "option --color must be one of auto, always, never, got 'red'")
    says(run("--device=gpu", "mine.lua", "check"), 2, "option --device must be auto, cpu, cuda or cuda:N, got 'gpu'")
    says(run("--tsk=x", "mine.lua"), 2, "unknown option '--tsk' (did you mean '--task'?)")
    t.eq(run("--quiet", "mine.lua", "check", "--seed", "7", "-v", "--color=never").code, 0)
end)

t.test("whatever was typed, the complaint is one line", function()
    says(run("mine.lua", "--ta\nsk\27[2J\xFF"), 2, "unknown option '--ta sk\\x1B[2J\\xFF'")
    local r = run("mine.lua", "--" .. ("e"):rep(100000))
    t.eq(r.code, 2)
    t.match(r.stderr, "^ako%-lua: unknown option '%-%-e+~\n$")
    t.ok(#r.stderr < 3000)
end)

t.test("a bundled policy that is broken is said by --list", function()
    local r = program.shell("cp -r $AKO_HOME/stdlib . && mkdir policies && echo 'return {' > policies/a.lua"
        .. " && cp $AKO_HOME/policies/kernelbench.lua policies && AKO_HOME=$PWD $ako --list")
    t.match(r.stdout, "^  a +not valid: policies/a.lua:2: unexpected symbol near <eof>\n  kernelbench +KernelBench")
    t.eq(r.code, 0)
end)

-- ako.options

local SPECS = { host = { { name = "dry-run", kind = "flag" }, { name = "count", short = "c", kind = "integer" },
    { name = "size", kind = "size" }, { name = "text", short = "t", kind = "text", key = "words" } } }

local function parse(...) return options.parse({ ... }, 1, SPECS) end

t.test("forms of an option", function()
    local values, words = parse("-c3", "a", "--text=x=y", "--dry-run", "b", "-t", "-")
    t.eq(values, { host = { count = 3, words = "-", dry_run = true } })
    t.eq(words, { "a", "b" })
    t.eq(parse("--text", "--dry-run").host, { words = "--dry-run" })
    t.eq(parse("--text=").host, { words = "" })
    t.eq(select(2, parse("-")), { "-" })
end)

t.test("reading stops at the first word when asked", function()
    local values, words, behind = options.parse({ "-c3", "file", "--dry-run" }, 1, SPECS, true)
    t.eq(values.host, { count = 3 })
    t.eq(words, {})
    t.eq(behind, 2)
end)

t.test("sizes", function()
    t.eq({ parse("--size=64M").host.size, parse("--size=1.5K").host.size, parse("--size=7").host.size,
        parse("--size=2GB").host.size }, { 64 << 20, 1536, 7, 2 << 30 })
    t.fails("must be a size", fault.catch(parse, "--size=-1"))
    t.fails("must be a size", fault.catch(parse, "--size=9999999999999G"))
end)

t.test("random arguments never raise anything but a fault", function()
    math.randomseed(5)
    local pieces = { "-", "--", "=", "c", "count", "text", "3", " ", "\xff", "size", "K" }
    for _ = 1, 2000 do
        local args = {}
        for i = 1, math.random(4) do
            local parts = {}
            for j = 1, math.random(4) do parts[j] = pieces[math.random(#pieces)] end
            args[i] = table.concat(parts)
        end
        local values, problem = fault.catch(options.parse, args, 1, SPECS)
        t.ok(values or type(problem) == "string")
    end
end)
