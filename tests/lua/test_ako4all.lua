-- policies/ako4all.lua, criterion by criterion (docs/ako4all.md has the table): the decision, the file and the commit.
local ako4all = require "policies.ako4all"
local attack = require "ako.attack"
local bench = require "policies.ako4all.bench"
local fs = require "ako.fs"
local gates = require "ako.gates"
local git = require "ako.git"
local hints = require "policies.ako4all.hints"
local json = require "ako.json"
local log = require "policies.ako4all.log"
local plan = require "ako.plan"
local policies = require "ako.policy"
local profiler = require "policies.ako4all.profiler"
local process = require "ako.process"
local scripted = require "scripted"
local session = require "ako.session"
local stopping = require "policies.ako4all.stopping"
local t = require "ako.tap"
local task = require "ako.task"
local unit = require "ako.unit"
local verbs = require "ako.verbs"

local BRANCH = "refs/heads/opt/scale"

local function write(path, text)
    assert(fs.mkdirs(fs.dirname(path)))
    assert(fs.write(path, text))
end

local function values(changes) return policies.option_values(ako4all, changes or {}) end

local function context(folder, opt, verb_options, host)
    local ctx, requests = scripted.context(folder, host, verb_options)
    ctx.policy, ctx.opt, ctx.file = ako4all, values(opt), "policies/ako4all.lua"
    return ctx, requests
end

local function edit(folder, script) write(folder .. "/solution/kernel.c", scripted.source(script)) end

-- A trial of the workspace, with this script written there first.
local function try(folder, script, opt, options, host)
    if script then edit(folder, script) end
    local ctx, requests = context(folder, opt, options, host)
    return verbs.try(ctx), ctx.console, requests
end

local function run(folder, scripts, opt, host)
    scripted.candidates(folder, scripts)
    local ctx, requests = context(folder, opt, { candidates = folder .. "/candidates" }, host)
    return verbs.run(ctx), ctx.console, requests
end

local function newest(folder)
    local repo = assert(git.open(folder))
    return session.newest { repo = repo, folder = fs.absolute(folder) }, repo
end

local function opened(folder)
    local state, repo = newest(folder)
    local task_of = { solution = { files = state.header.paths } }
    return assert(session.resume({ repo = repo, folder = fs.absolute(folder), task = task_of }, state))
end

local function note(folder, topic, text, n, file)
    local one = opened(folder)
    assert(one:note { topic = topic, text = text, trial = n, file = file })
    one:close()
end

local function subjects(repo, ref)
    local list = {}
    for i, commit in ipairs(repo:log(ref or BRANCH)) do list[i] = commit.message:match("^[^\n]*") end
    return list
end

local function iterations(folder) return fs.read(folder .. "/ITERATIONS.md") or "" end

local function trajectory(folder, label)
    for _, name in ipairs(fs.list(folder .. "/trajectory") or {}) do
        if name:match("^%d+_%d+_(.*)$") == label then return folder .. "/trajectory/" .. name end
    end
end

local function row_of(text, n) return text:match("\n| " .. n .. " | ([^\n]*)") end

-- A1, A2. Layouts without a task.lua.

local INPUTS = [[
return {
  tensors = { x = { "f32", { "N" } }, y = { "f32", { "N" }, role = "output" } },
  workloads = { { N = 64 } },
  solution = { entry = "scale", args = { "x", "y", "N" } },
}
]]

local function layout(files)
    local folder = t.tmpdir()
    for name, text in pairs(files) do write(folder .. "/" .. name, text) end
    return folder
end

local function plan_of(folder, opt)
    local ctx = context(folder, opt, {}, { json = true })
    local code = verbs.plan(ctx)
    return code, code == 0 and json.decode(ctx.console.stdout).resolved or ctx.console.stderr
end

t.test("A1: kernel, reference, inputs and knowledge are found in any layout, and left there", function()
    for _, files in ipairs {
        { "source/scale.c", "source/reference.c", "source/inputs.lua" }, { "scale.c", "golden_scale.c", "shapes.lua" },
        { "input/scale.c", "input/ref_scale.c", "bench/cases.lua" },
    } do
        local folder = layout { [files[1]] = scripted.source "time=100", [files[2]] = "void scale(void);\n",
            [files[3]] = INPUTS, ["knowledge/notes.md"] = "notes\n", ["tests/check.c"] = "int main(void);\n" }
        local code, resolved = plan_of(folder)
        t.eq({ code, resolved.Kernel, resolved.Reference, resolved.Knowledge }, { 0,
            "solution/scale.c (first content: " .. files[1] .. ", left as it is)", files[2], "knowledge" })
        t.match(resolved["Input data"], files[3]:gsub("%p", "%%%0"))
        t.eq(fs.exists(folder .. "/solution"), false)
        t.eq(try(folder), 0)
        t.eq(fs.read(folder .. "/solution/scale.c"), scripted.source "time=100")
        t.eq(fs.read(folder .. "/" .. files[1]), scripted.source "time=100")
    end
end)

t.test("A1: without a reference the original kernel is the golden answer", function()
    local folder = layout { ["kernel/scale.c"] = scripted.source "time=100", ["inputs.lua"] = INPUTS }
    local code, resolved = plan_of(folder)
    t.eq({ code, resolved.Reference }, { 0, "kernel/scale.c (the original kernel)" })
    t.eq(try(folder), 0)
    write(folder .. "/solution/scale.c", scripted.source "time=50")
    t.eq(try(folder), 0)
    local state = newest(folder)
    t.eq({ state.best.trial, state.header.task }, { 1, "scale" })
    note(folder, "floor", "0.05 ms is all that it takes")
    local ctx = context(folder, nil, { message = "at the floor" })
    t.eq(verbs.finish(ctx), 0, ctx.console.stderr)
    t.match(json.encode(state.header.protected), "kernel/scale.c")
    t.match(json.encode(state.header.protected), "inputs.lua")
end)

t.test("A1: input files are found beside the inputs that name them", function()
    local folder = layout { ["scale.c"] = scripted.source "time=100", ["data/x.raw"] = ("\0"):rep(256),
        ["data/inputs.lua"] = INPUTS:gsub('{ "f32", { "N" } }', '{ "f32", { "N" }, init = "x.raw" }') }
    local code, resolved = plan_of(folder)
    t.eq({ code, resolved["Input data"] }, { 0, "data/inputs.lua, data/x.raw" })
    t.eq(try(folder), 0)
    write(folder .. "/data/x.raw", ("\1"):rep(256))
    write(folder .. "/solution/scale.c", scripted.source "time=50")
    t.eq(try(folder), 13)
end)

t.test("A1: an explicit path wins; two files for one role are a question, nothing is made", function()
    local folder = layout { ["a.c"] = scripted.source "time=100", ["b.c"] = scripted.source "time=90",
        ["inputs.lua"] = INPUTS }
    t.eq({ plan_of(folder) }, { 2, "ako-lua: a.c and b.c could both be the kernel; name it with --kernel=FILE\n" })
    local code, resolved = plan_of(folder, { kernel = "b.c" })
    t.eq({ code, resolved.Kernel }, { 0, "solution/b.c (first content: b.c, left as it is)" })
    t.eq({ plan_of(folder, { kernel = "c.c" }) }, { 2, "ako-lua: --kernel=c.c: no such file\n" })
    write(folder .. "/more.lua", INPUTS)
    t.match(select(2, plan_of(folder, { kernel = "b.c" })), "inputs.lua and more.lua could both be the inputs; name it "
        .. "with %-%-inputs=FILE")
    t.eq(plan_of(folder, { kernel = "b.c", inputs = "more.lua" }), 0)
    write(folder .. "/more.lua", (INPUTS:gsub("solution = {", 'solution = { "a.c",')))
    code, resolved = plan_of(folder, { inputs = "more.lua" })
    t.eq({ code, resolved.Kernel, resolved.Reference }, { 0, "solution/a.c (first content: a.c, left as it is)",
        "a.c (the original kernel)" })
    t.eq(fs.exists(folder .. "/.git"), false)
end)

t.test("A1: a kernel without inputs, and one that no lane takes, are questions; a benchmark is not guessed", function()
    local folder = layout { ["scale.cu"] = "__global__ void scale() {}\n" }
    t.match(select(2, plan_of(folder)), "^ako%-lua: scale.cu looks like a kernel, but nothing says its tensors")
    t.match(select(2, plan_of(layout { ["scale.hip"] = "" })), "scale.hip: no lane takes .hip kernels yet")
    folder = scripted.task_folder "time=100"
    write(folder .. "/bench/run.sh", "true\n")
    local code, said = plan_of(folder)
    t.eq(code, 2)
    t.match(said, "bench/run.sh looks like a benchmark of yours: %-%-bench='sh bench/run.sh'")
    t.match(select(2, plan_of(folder, { bench = "default" }))["Bench mode"], "^default")
    t.match(select(2, plan_of(folder, { bench = "sh bench/run.sh" }))["Bench mode"], "custom.*: sh bench/run.sh$")
end)

t.test("A2: the resolved plan has its seven fields before anything runs, for people and as JSON", function()
    local folder = scripted.task_folder "time=100"
    local ctx, requests = context(folder)
    t.eq(verbs.plan(ctx), 0)
    t.match(ctx.console.stdout, "^Workspace +/[^\n]*\nKernel +[^\n]*\nReference +[^\n]*\nInput data +[^\n]*\n"
        .. "Knowledge +[^\n]*\nBench mode +[^\n]*\nScaffold to copy +[^\n]*\ntask ")
    t.eq(#requests, 0)
    local _, resolved = plan_of(folder)
    t.eq(resolved["Scaffold to copy"], "scripts/bench.sh, HINTS.md, .gitignore")
    local console
    _, console, requests = try(folder)
    local shown = console.stderr:find("Bench mode", 1, true)
    t.ok(shown and shown < console.stderr:find("baseline", 1, true), "before the first trial")
    t.eq(requests[1].steps, "build check time")
    _, resolved = plan_of(folder)
    t.eq(resolved["Scaffold to copy"], "none: already present")
end)

-- A3 to A6. What is written, and what is not.

t.test("A3: scaffold is copied only where it is missing; a second session changes no byte of it", function()
    local folder = scripted.task_folder "time=100"
    write(folder .. "/scripts/bench.sh", "mine\n")
    write(folder .. "/ITERATIONS.md", "an older history\n")
    t.eq(try(folder, nil, nil, nil, { session = "one" }), 0)
    write(folder .. "/HINTS.md", fs.read(folder .. "/HINTS.md") .. "- mine\n")
    write(folder .. "/.gitignore", "*.o\n")
    local before = fs.read(folder .. "/HINTS.md")
    local _, console = try(folder, nil, nil, nil, { session = "two" })
    t.eq(console.stderr:find("scaffold", 1, true), nil)
    t.eq({ fs.read(folder .. "/scripts/bench.sh"), fs.read(folder .. "/HINTS.md"), fs.read(folder .. "/.gitignore"),
        iterations(folder) }, { "mine\n", before, "*.o\n", "an older history\n" })
    t.match(fs.read(folder .. "/ITERATIONS.ako.md"), "### Iter 0")
end)

t.test("A3: init makes what is missing and measures nothing; again, it changes nothing", function()
    local folder = layout { ["src/scale.c"] = scripted.source "time=100", ["inputs.lua"] = INPUTS }
    local function init(opt)
        local ctx, requests = context(folder, opt)
        t.eq(verbs.init(ctx), 0, ctx.console.stderr)
        t.eq(#requests, 0)
        return ctx.console.stderr
    end
    init { hint = "at most 3 iterations" }
    local files = {}
    for _, name in ipairs { "scripts/bench.sh", "HINTS.md", ".gitignore", "solution/scale.c" } do
        files[name] = fs.read(folder .. "/" .. name)
        t.ok(files[name], name)
    end
    init { hint = "at most 3 iterations" }
    init()
    for name, text in pairs(files) do t.eq(fs.read(folder .. "/" .. name), text) end
    t.match(init { hint = "no textures" }, "HINTS.md: added 1 directive: 'no textures' from the command line")
end)

t.test("A4: directives are merged into HINTS.md with their source, said so, once, and stay", function()
    local folder = scripted.task_folder "time=100"
    local rules_file = t.tmpdir() .. "/rules.md"
    write(rules_file, "# Rules\n\n- prefer Triton\nkeep it short\n")
    local given = { hint = "avoid shared memory; at most 40 iterations", hints = rules_file }
    local _, console = try(folder, nil, given)
    t.match(console.stderr, "scaffold    HINTS.md: added 4 directives: 'avoid shared memory' from the command line, ")
    t.match(console.stderr, "'prefer Triton' from " .. rules_file:gsub("%p", "%%%0"))
    local text = fs.read(folder .. "/HINTS.md")
    t.match(text, "\n%- avoid shared memory %(from the command line%)\n")
    t.match(text, "\n%- keep it short %(from /[^\n]*/rules.md%)\n")
    given.hint = "Avoid shared memory!"
    _, console = try(folder, "time=50", given)
    t.eq(console.stderr:find("HINTS.md", 1, true), nil)
    try(folder, "time=40")
    t.eq(fs.read(folder .. "/HINTS.md"), text)
    _, console = try(folder, "time=30", { hint = "no textures" })
    t.match(console.stderr, "HINTS.md: added 1 directive: 'no textures' from the command line")
    t.eq(fs.read(folder .. "/HINTS.md"), text .. "- no textures (from the command line)\n")
    local repo = select(2, newest(folder))
    t.eq(repo:read(BRANCH, "HINTS.md"), text .. "- no textures (from the command line)\n")
    t.match(iterations(folder), "\n%- Hint: prefer Triton %(from [^\n]*rules.md%)\n")
end)

t.test("A4: directives that contradict are refused with one line that names both, before and between trials", function()
    local folder = scripted.task_folder "time=100"
    local code, console = try(folder, nil, { hint = "use shared memory; avoid shared memory" })
    t.eq({ code, console.stderr }, { 2, "ako-lua: 'avoid shared memory' (the command line) contradicts 'use shared "
        .. "memory' (the command line): delete one of them from HINTS.md, or leave it out\n" })
    t.eq({ fs.exists(folder .. "/HINTS.md"), fs.exists(folder .. "/.git") }, { false, false })
    t.eq(try(folder, nil, { hint = "at most 9 iterations" }), 0)
    write(folder .. "/HINTS.md", fs.read(folder .. "/HINTS.md") .. "- stop after 12 iterations\n")
    code, console = try(folder, "time=50")
    t.eq({ code, #newest(folder).history }, { 2, 1 })
    t.match(console.stderr, "'stop after 12 iterations' %(HINTS.md%) contradicts 'at most 9 iterations' %(the command "
        .. "line%)")
    local run_of = { workspace = folder, next_trial = 1, history = {}, notes = {}, trials = 0 }
    t.match(ako4all.gate(run_of, { sources = { {} } }, values()), "'stop after 12 iterations' %(HINTS.md%) contradicts")
    local function both(a, b) return hints.contradiction(hints.read(("- %s\n- %s\n"):format(a, b))) end
    t.ok(both("Never use tensor cores.", "prefer tensor cores"))
    t.ok(both("vectorize loads", "do not vectorize the loads" ) == nil, "other words are other directives")
    t.ok(both("don't vectorize loads", "vectorize loads"))
    t.eq(both("no textures", "use shared memory"), nil)
    t.eq(both("at most 9 iterations", "up to 9 iterations, please"), nil)
end)

t.test("A5: a repository is made where none is, the branch is opt/<kernel>, the user's own work stays", function()
    local folder = scripted.task_folder "time=100"
    write(folder .. "/notes.txt", "mine\n")
    write(folder .. "/scripts/mine.sh", "true\n")
    t.eq(try(folder), 0)
    local _, repo = newest(folder)
    t.eq({ (repo:read(BRANCH, "scripts/mine.sh")), (repo:read(BRANCH, "notes.txt")) }, {})
    t.ok(repo:read(BRANCH, "scripts/bench.sh"))
    t.eq(subjects(repo), { "[baseline] Initialize solution and benchmark" })
    t.eq({ repo:head().unborn, fs.read(folder .. "/notes.txt") }, { true, "mine\n" })
    folder = scripted.task_folder "time=100"
    repo = assert(git.init(folder))
    local mine = assert(repo:commit { tree = assert(repo:tree(nil, { "task.lua", "reference.c", "solution" })),
        parents = {}, message = "mine", ref = "refs/heads/main" })
    assert(fs.write(folder .. "/.git/HEAD", "ref: refs/heads/main\n"))
    write(folder .. "/reference.c", "void scale(void); // edited, not committed\n")
    t.eq(try(folder), 0)
    t.eq(try(folder, "time=150"), 1)
    t.eq({ repo:branch(), repo:head().oid }, { "main", mine })
    t.eq(fs.read(folder .. "/reference.c"), "void scale(void); // edited, not committed\n")
    t.eq(repo:read(BRANCH, "reference.c"), "void scale(void);\n")
    t.eq(subjects(repo)[3], "mine")
end)

t.test("A6: only solution/, scripts/, trajectory/ and the logs are written, wherever the user's files lie", function()
    local folder = layout { ["mine/scale.c"] = scripted.source "time=100", ["mine/ref.c"] = "void scale(void);\n",
        ["data/shapes.lua"] = INPUTS }
    t.eq(try(folder), 0)
    write(folder .. "/solution/scale.c", scripted.source "time=50")
    t.eq(try(folder), 0)
    local names = fs.list(folder)
    table.sort(names)
    t.eq(names, { ".git", ".gitignore", "HINTS.md", "ITERATIONS.md", "data", "mine", "scripts", "solution",
        "trajectory" })
    t.eq({ fs.list(folder .. "/data"), fs.read(folder .. "/mine/scale.c") },
        { { "shapes.lua" }, scripted.source "time=100" })
end)

t.test("A6: a scripts/bench.json of the user's own stays, and the plan says what that means", function()
    for _, text in ipairs { '{"shapes":[1,2]}\n', '{"command":"mine","shapes":[1]}\n', "no JSON\n" } do
        local folder = scripted.task_folder "time=100"
        write(folder .. "/scripts/bench.json", text)
        local _, resolved = plan_of(folder, { bench = "true" })
        t.match(resolved["Bench mode"], "custom, .*: true; scripts/bench.json is a file of yours, so give %-%-bench")
        t.eq(try(folder, nil, { bench = "true" }), 0)
        t.eq(fs.read(folder .. "/scripts/bench.json"), text)
        _, resolved = plan_of(folder)
        t.match(resolved["Bench mode"], "^default")
    end
end)

-- A7, A18, A28. The bench script, with a program in ako-lua's place that says what it was asked.

local function with_script(opt, program)
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder, nil, opt), 0)
    write(folder .. "/stub", "#!/bin/sh\n" .. program)
    assert(process.run { "chmod", "+x", folder .. "/stub" }.ok)
    return folder
end

local function bench_sh(folder, label, why, env)
    local given = { AKO_LUA = fs.absolute(folder) .. "/stub", CUDA_HOME = false }
    for name, value in pairs(env or {}) do given[name] = value end
    return assert(process.run { "bash", folder .. "/scripts/bench.sh", label or "", why or "", env = given })
end

t.test("A7: bench.sh hands label and hypothesis on, and passes the exit code and the output through", function()
    local folder = with_script(nil, [[printf '<%s>' "$@"; echo; exit 11]] .. "\n")
    local result = bench_sh(folder, "iter-1", "two loads")
    t.eq(result.code, 11)
    t.match(result.stdout, "^<policies/ako4all.lua><try><%-%-label=iter%-1><%-m><two loads>\n")
    t.match(fs.read(folder .. "/_bench_output.txt"), "^<policies/ako4all.lua><try>")
    t.eq(bench_sh(folder, "final", "floor").stdout, "<policies/ako4all.lua><finish><-m><floor>\n")
    t.eq(bench_sh(folder, "final").stdout, "<policies/ako4all.lua><finish><-m><bench.sh final>\n")
    t.match(bench_sh(folder).stdout, "^<policies/ako4all.lua><try>\n")
end)

t.test("A7: bench.sh calls the policy that the session is run with, a user's own one, too", function()
    local folder = scripted.task_folder "time=100"
    write(folder .. "/my policy.lua", "-- extends ako4all\n")
    local ctx = context(folder)
    ctx.file = folder .. "/my policy.lua"
    ctx.path = ctx.file
    t.eq(verbs.try(ctx), 0)
    local script = fs.read(folder .. "/scripts/bench.sh")
    t.match(script, "\"$ako\" 'my policy.lua' try ")
    t.match(script, "\"$ako\" 'my policy.lua' finish ")
end)

t.test("A7: solution and output are saved where no trial came about, dot-files and an empty solution/ too", function()
    local folder = with_script(nil, "echo refused; exit 13\n")
    write(folder .. "/solution/.hidden", "x\n")
    local result = bench_sh(folder, "iter-1")
    local saved = result.stdout:match("Trajectory saved to: (trajectory/%d+_%d+_iter%-1)\n$")
    t.eq({ result.code, fs.read(("%s/%s/output.txt"):format(folder, saved)) }, { 13, "refused\n" })
    t.eq({ fs.exists(("%s/%s/.hidden"):format(folder, saved)), fs.exists(("%s/%s/kernel.c"):format(folder, saved)) },
        { true, true })
    assert(fs.remove_tree(folder .. "/solution"))
    assert(fs.mkdirs(folder .. "/solution"))
    result = bench_sh(folder, "iter-1")
    local again = result.stdout:match("Trajectory saved to: (trajectory/%S+)\n$")
    t.ok(again ~= saved, "names are unique")
    t.eq({ result.code, fs.read(("%s/%s/output.txt"):format(folder, again)) }, { 13, "refused\n" })
    result = bench_sh(folder, "../../x y")
    t.match(result.stdout, "Trajectory saved to: trajectory/%d+_%d+_%.%._%.%._x_y\n$")
end)

t.test("A7: a trial's own trajectory holds the solution as tried and the output, on success and on failure", function()
    local folder = with_script(nil, [[mkdir trajectory/20990101_000000_iter-1; exit 0]] .. "\n")
    t.match(bench_sh(folder, "iter-1").stdout, "Trajectory saved to: trajectory/20990101_000000_iter%-1\n$")
    t.eq(try(folder, "time=50"), 0)
    t.eq(try(folder, "status=COMPILE_ERROR reason=x"), 10)
    t.eq(fs.read(trajectory(folder, "baseline") .. "/kernel.c"), scripted.source "time=100")
    t.eq(fs.read(trajectory(folder, "iter-2") .. "/kernel.c"), scripted.source "status=COMPILE_ERROR reason=x")
    t.match(fs.read(trajectory(folder, "iter-2") .. "/output.txt"), "^COMPILED: False\nCORRECT: False\n")
    local repo = select(2, newest(folder))
    for _, label in ipairs { "baseline", "iter-1", "iter-2" } do
        local path = trajectory(folder, label):sub(#folder + 2)
        if label ~= "iter-1" then t.ok(repo:read(BRANCH, path .. "/output.txt"), label) end
    end
    t.eq(repo:read(BRANCH, "scripts/bench.sh"), fs.read(folder .. "/scripts/bench.sh"))
end)

t.test("A28: a CUDA_HOME without nvcc is said with advice, and nothing is changed", function()
    local folder = with_script(nil, "echo CUDA_HOME=$CUDA_HOME\n")
    local result = bench_sh(folder, "iter-1", nil, { CUDA_HOME = "/nowhere" })
    t.match(result.stderr, "CUDA_HOME=/nowhere has no bin/nvcc; unset it, or name the toolkit that you mean")
    t.match(result.stdout, "^CUDA_HOME=/nowhere\n")
    write(folder .. "/cuda/bin/nvcc", "#!/bin/sh\n")
    assert(process.run { "chmod", "+x", folder .. "/cuda/bin/nvcc" }.ok)
    t.eq(bench_sh(folder, "iter-1", nil, { CUDA_HOME = fs.absolute(folder) .. "/cuda" }).stderr, "")
    result = bench_sh(folder, "iter-1", nil, { AKO_LUA = "/nowhere/ako-lua" })
    t.ok(not result.stderr:find("unbound"), result.stderr)
end)

-- A8 to A15. The evaluator.

t.test("A8: what the evaluator of old was told by flags, options and the task say, with the same defaults", function()
    local opt = values()
    t.eq({ opt.num_correct_trials, opt.num_perf_trials, opt.no_ref, opt.inputs, opt.reference, opt.kernel },
        { 5, 100, false, "", "", "" })
    t.eq({ ako4all.correctness.trials, ako4all.timing.launches, ako4all.timing.timer }, { 5, 100, "events" })
    t.eq(plan.signal(ako4all, plan.steps(ako4all), opt), nil)
    t.ok(type(verbs.doctor) == "function", "--self-test is the verb doctor")
end)

t.test("A9: the six lines in their order and format, -1 where nothing is known, and the same as JSON", function()
    local folder = scripted.task_folder "time=100"
    local _, console = try(folder)
    t.match(console.stdout, "^COMPILED: True\nCORRECT: True\nBACKEND: c %(auto%)\nRUNTIME: 0.1000\n"
        .. "REF_RUNTIME: 0.2000\nSPEEDUP: 2.0000x\n")
    local code
    code, console = try(folder, "status=INCORRECT_NUMERICAL hash=b")
    t.eq(code, 11)
    t.match(console.stdout, "^COMPILED: True\nCORRECT: False\nBACKEND: c %(auto%)\nRUNTIME: %-1\nREF_RUNTIME: %-1\n"
        .. "SPEEDUP: %-1\n")
    _, console = try(folder, "time=50", nil, nil, { json = true })
    local twin = json.decode(console.stdout).ako4all
    t.eq({ twin.compiled, twin.correct, twin.backend, twin.speedup > 3.99 and twin.speedup < 4.01 },
        { true, true, "c", true })
end)

t.test("A10: inputs come from the inputs file; a task without tensors says so", function()
    local folder = layout { ["scale.c"] = scripted.source "time=100", ["ref.c"] = "void scale(void);\n",
        ["a.lua"] = INPUTS, ["b.lua"] = (INPUTS:gsub("N = 64", "N = 32")) }
    local ctx = context(folder, { inputs = "b.lua" }, {}, { json = true })
    t.eq(verbs.plan(ctx), 0)
    t.match(json.decode(ctx.console.stdout).resolved["Input data"], "b.lua")
    write(folder .. "/b.lua", 'return { workloads = { { N = 1 } }, solution = { entry = "scale", args = {} } }\n')
    ctx = context(folder, { inputs = "b.lua" })
    t.eq(verbs.plan(ctx), 2)
    t.match(ctx.console.stderr, "b.lua: lacks 'tensors'")
end)

t.test("A11: a solution supplies no inputs: all of its text is built, and the task is out of its reach", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    local text = scripted.source "time=50" .. "void get_inputs(void) {}\nvoid helper_after(void) {}\n"
    write(folder .. "/solution/kernel.c", text)
    t.eq(try(folder), 0)
    local state, repo = newest(folder)
    t.eq(repo:read(state.best.commit, "solution/kernel.c"), text)
    write(folder .. "/task.lua", (fs.read(folder .. "/task.lua"):gsub("N = 64", "N = 1")))
    local code, console = try(folder, "time=10")
    t.eq(code, 13)
    t.match(console.stdout, "protected file task.lua changed since the session began")
    t.match(row_of(iterations(folder), 2), "| failed |$")
    t.eq(subjects(repo)[1], "[iter 2] the tree as it was")
end)

t.test("A12: the backend is seen in the source, and no script fixes it", function()
    local task_of = { workloads = {}, tensors = {}, tensor = {}, scalars = {}, axes = {} }
    local function lane(name, text)
        return (unit.make(task_of, { entry = "f", args = {}, options = {} }, { { name = name, text = text } })).lane
    end
    t.eq({ lane("k.cu", "//! launch f<<<1, 1>>>()\n"), lane("k.cu", "void f();\n"), lane("k.c", "void f();\n") },
        { "cuda", "cuda-host", "c" })
    local folder = with_script(nil, "true\n")
    local script = fs.read(folder .. "/scripts/bench.sh"):gsub("\n#[^\n]*", "")
    t.eq({ script:find("backend", 1, true), script:find("--device", 1, true) }, {})
end)

t.test("A13: five fresh seeds; a task with the same inputs for each is refused first, one in Python marked", function()
    local seeds, seen = plan.steps(ako4all).check.seeds, {}
    for _, seed in ipairs(seeds) do seen[seed] = true end
    local count = 0
    for _ in pairs(seen) do count = count + 1 end
    t.eq({ #seeds, count }, { 5, 5 })
    local folder = scripted.task_folder "time=100"
    local ctx, requests = context(folder)
    local start = ctx.start_evaluator
    function ctx.start_evaluator(given)
        local evaluator = start(given)
        function evaluator.attack()
            return scripted.attacked { inputs = { { tensor = "x", init = "drawn", fresh = false, changes = true } } }
        end
        return evaluator
    end
    t.eq({ verbs.try(ctx), #requests }, { 125, 0 })
    t.match(ctx.console.stdout, "a new seed gives 'x' the same content")
    t.eq({ attack.is_refused({ {} }, ako4all, {}), attack.is_refused({ {} }, ako4all, { python = "a problem" }) },
        { true, false })
end)

t.test("A14: 1e-4 for f32, 1e-2 for f16 and bf16, a task's own instead, integers exact, several outputs", function()
    local function tolerance(dtype, own)
        local given = { name = "x", tensors = { x = { dtype, { "N" } }, y = { dtype, { "N" }, role = "output" },
            z = { "i32", { "N" }, role = "output" } }, workloads = { { N = 4 } }, tolerance = own,
            reference = { "r.c", entry = "f", args = { "x", "y", "z" } }, solution = { "s.c" } }
        local resolved = assert(task.resolve(assert(task.define(given, "task.lua", ".")), "cpu"))
        t.eq(resolved.tensor.x.dtype, dtype)
        local found = task.tolerance(resolved, ako4all.correctness.predicate, ako4all.correctness.tolerance)
        return { found.atol, found.rtol }
    end
    t.eq({ tolerance "f32", tolerance "f16", tolerance "bf16", tolerance "i64" },
        { { 1e-4, 1e-4 }, { 1e-2, 1e-2 }, { 1e-2, 1e-2 }, { 0.0, 0.0 } })
    t.eq(tolerance("f16", { "allclose", atol = 0.5, rtol = 0.25 }), { 0.5, 0.25 })
end)

t.test("A15: three warm-ups, 100 launches, a flush before each; raw samples and unrounded figures are kept", function()
    local timing = ako4all.timing
    t.eq({ timing.warmup, timing.launches, timing.flush }, { 3, 100, true })
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    local state, repo = newest(folder)
    local samples = json.decode(fs.read(("%s/ako/%s/trials/0/samples.json"):format(repo:commondir(), state.name)))
    t.eq(samples["N=64"].time, { 100000, 100000 })
    local figures = state.original.time_ns
    t.eq({ figures.mean, figures.std, figures.min, figures.max }, { 100000.5, 1.0, 100000, 100000 })
end)

-- A16, A17. What is too good, and what was measured too little.

t.test("A16: more than 10x is flagged and never final without a recorded justification", function()
    local folder = scripted.task_folder "time=100"
    local code, console = run(folder, { ["a.c"] = "time=10" })
    t.eq({ code, newest(folder).best.trial }, { 0, 0 })
    t.match(iterations(folder), "20.00x over the reference is more than 10x and not justified %(%-%-justify%)")
    t.match(subjects(select(2, newest(folder)))[1], "^%[final%] Restore iter%-0 %(2.00x%)")
    t.eq(console.stdout:find("WARNING", 1, true), nil)
    folder = scripted.task_folder "time=100"
    code, console = run(folder, { ["a.c"] = "time=10" }, { justify = "the original copied twice" })
    t.eq({ code, newest(folder).best.trial }, { 0, 1 })
    t.match(console.stdout, "%[WARNING%] Excessive speedup 20.00x over 10x threshold detected")
    local repo = select(2, newest(folder))
    t.match(repo:log(BRANCH)[2].message, "\nreason: 90.00 %% faster; 20.00x, justified: the original copied twice\n")
end)

t.test("A17: --no-ref leaves the reference out of a first look, whose figure keeps nothing and ends nothing", function()
    local folder = scripted.task_folder "time=100"
    local opt = { no_ref = true, num_perf_trials = 20, num_correct_trials = 1 }
    local function looks(requests)
        local list = {}
        for _, request in ipairs(requests) do
            local numbers = request.numbers
            if request.steps:find("time") then
                list[#list + 1] = { #numbers.check.seeds, numbers.time.launches, numbers.time.reference }
            end
        end
        return list
    end
    local _, _, requests = try(folder, nil, opt)
    t.eq(looks(requests), { { 5, 100, true } })
    local code
    code, _, requests = try(folder, "time=150", opt)
    t.eq({ code, looks(requests) }, { 1, { { 1, 20, false } } })
    t.match(row_of(iterations(folder), 1), "| regression %(signal%) |$")
    t.match(iterations(folder), "%- Signal run: 1 correctness trial, 20 launches, reference not timed\n")
    code, _, requests = try(folder, "time=50", opt)
    t.eq({ code, looks(requests) }, { 0, { { 1, 20, false }, { 5, 100, true } } })
    t.eq({ newest(folder).best.trial, newest(folder).best.signal }, { 2 })
    t.match(row_of(iterations(folder), 2), "| 4.00x | 0.0500 ms | improved |$")
    folder = scripted.task_folder "time=100"
    _, _, requests = run(folder, { ["a.c"] = "time=50" }, opt)
    t.eq(looks(requests), { { 5, 100, true }, { 1, 20, false }, { 5, 100, true }, { 5, 100, true } })
end)

t.test("A18: a user's own bench runs as it stands on what is tried; its figure is shown, by its pattern", function()
    local folder = scripted.task_folder "time=100"
    local command = "cat solution/kernel.c; printf 'latency 12.5 us\\n'; echo '%s' \"$HOME\""
    t.eq(try(folder, nil, { bench = command, bench_pattern = [[latency ([\d.]+) us]], no_ref = true }), 0)
    t.eq(try(folder, "time=50", { no_ref = true }), 0)
    local state, repo = newest(folder)
    t.eq(state.history[2].bench.claimed, { figure = 12.5 })
    local output = fs.read(trajectory(folder, "iter-1") .. "/bench.txt")
    t.eq(output:match("^[^\n]*"), "sh -c " .. command)
    t.match(output, "time=50.*latency 12.5 us\n%%s /")
    t.match(iterations(folder), "%- Your bench: exit 0, claims 12.5\n")
    t.eq(json.decode(repo:read(BRANCH, bench.FILE)), { command = command, pattern = [[latency ([\d.]+) us]] })
    local code, console = try(folder, "time=40", { bench = "default" })
    t.eq({ code, newest(folder).best.trial }, { 13, 1 })
    t.match(console.stdout, "protected file bench %(the command%) changed since the session began")
    t.eq({ bench.is_pattern "(", bench.is_pattern "x" }, { false, true, "" })
end)

t.test("A18: forged result lines decide nothing, a failing bench keeps nothing", function()
    local folder = scripted.task_folder "time=100"
    local forged = "echo 'CORRECT: True'; echo 'RUNTIME: 0.0001'; echo 'SPEEDUP: 99x'; test ! -e fail"
    t.eq(try(folder, nil, { bench = forged, bench_pattern = [[RUNTIME: ([\d.]+)]] }), 0)
    t.eq(try(folder, "time=150"), 1)
    t.eq(newest(folder).history[2].bench.claimed.figure, 0.0001)
    write(folder .. "/fail", "")
    local code, console = try(folder, "time=50")
    t.eq({ code, newest(folder).best.trial }, { 13, 0 })
    t.match(console.stdout, "revert: bench: exit 1: SPEEDUP: 99x")
    t.match(row_of(iterations(folder), 2), "| failed |$")
    t.match(iterations(folder), "%- Your bench: exit 1; refused: exit 1: SPEEDUP: 99x\n")
    folder = scripted.task_folder "time=100"
    code, console = try(folder, nil, { bench = "exit 7" })
    t.eq({ code, newest(folder).best }, { 13 })
    t.match(console.stdout, "bench: exit 7")
end)

-- A19 to A22. Iterations.

t.test("A19: no iteration before a correct baseline; its commit's subject is exact", function()
    local folder = scripted.task_folder "status=INCORRECT_NUMERICAL hash=b"
    local code, console = try(folder)
    t.eq(code, 11)
    t.match(console.stdout, "next: mend the result before its speed")
    local _, repo = newest(folder)
    t.eq(subjects(repo), { "[baseline] failed: INCORRECT_NUMERICAL" })
    t.eq(try(folder, "time=100"), 0)
    local state = newest(folder)
    t.eq({ #state.history, state.best.trial }, { 1, 0 })
    t.eq(subjects(repo, "refs/heads/" .. session.branch_name(state)),
        { "[baseline] Initialize solution and benchmark" })
    t.eq(run(scripted.task_folder "status=COMPILE_ERROR", { ["a.c"] = "time=50" }), 10)
end)

t.test("A20: a label is iter-N with the next N, or none; anything else is refused, no number burned", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder, nil, nil, { label = "baseline" }), 0)
    for label, said in pairs { ["iter-2"] = "label 'iter%-2': this one is iter%-1, or give none",
        ["iter1"] = "label 'iter1': this one is iter%-1", [""] = "label '': this one is iter%-1",
        baseline = "label 'baseline': this one is iter%-1",
        final = "final is no trial: `finish %-m WHY` restores" } do
        local code, console, requests = try(folder, "time=50", nil, { label = label })
        t.eq({ code, #requests, #newest(folder).history }, { 13, 0, 1 }, label)
        t.match(console.stdout, "^trial 1 may not begin: " .. said)
    end
    t.eq(try(folder, "time=50", nil, { label = "iter-1" }), 0)
    t.eq(try(folder, "time=40"), 0)
    t.eq(try(folder, "time=30", nil, { label = "iter-3" }), 0)
    t.eq(newest(folder).history[4].label, "iter-3")
end)

t.test("A21: an iteration is measured, logged and committed as one, failed ones too", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    local attempts = { { "time=50", "half the loads" }, { "status=COMPILE_ERROR reason=line", "templates" },
        { "time=80", "unrolled" } }
    for i, attempt in ipairs(attempts) do
        try(folder, attempt[1], nil, { message = attempt[2] })
        local state, repo = newest(folder)
        t.eq(#state.history, i + 1)
        t.eq(subjects(repo)[1], ("[iter %d] %s"):format(i, attempt[2]))
        t.eq(repo:read(BRANCH, "solution/kernel.c"), scripted.source(attempt[1]))
        t.eq(repo:read(BRANCH, "ITERATIONS.md"), iterations(folder))
        t.match(iterations(folder), ("\n### Iter %d — %s\n"):format(i, attempt[2]))
    end
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=50")
end)

t.test("A21: the next one is refused while one is open", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    edit(folder, "time=50")
    local one = opened(folder)
    assert(one:begin { hypothesis = "open" })
    local code, console = try(folder)
    t.eq(code, 125, console.stderr)
    t.eq(console.stderr:find("\n[^\n]*\n"), nil)
    one:close()
    t.eq(try(folder, "time=40"), 0)
    t.eq(newest(folder).best.trial, 2)
end)

t.test("A22: ITERATIONS.md has a summary row and a full entry for each, the status computed", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    try(folder, "time=50", nil, { message = "half | the loads", predict = 40.0 })
    note(folder, "analysis", "bandwidth is the limit now", 1)
    note(folder, "next", "wider loads", 1)
    try(folder, "time=50 hash=c")
    try(folder, "time=75")
    try(folder, "status=TIMEOUT")
    note(folder, "profile", "unavailable: no rights", 4)
    note(folder, "search", "two papers", 4)
    note(folder, "review", "loads win", 4)
    try(folder, "time=50 hash=50")
    local text = iterations(folder)
    t.match(text, "\n| Iter | Title | Speedup%(mean%) | Runtime%(mean%) | Status |\n")
    t.eq({ row_of(text, 0), row_of(text, 1) }, { "the original kernel | 2.00x | 0.1000 ms | baseline |",
        "half \\| the loads | 4.00x | 0.0500 ms | improved |" })
    local statuses = {}
    for n = 2, 5 do statuses[#statuses + 1] = row_of(text, n):match("| ([%w-]+) |$") end
    t.eq(statuses, { "no-change", "regression", "failed", "no-change" })
    local entry = text:match("\n(### Iter 1 — .-)\n### Iter 2")
    for _, line in ipairs { "%*%*Hypothesis%*%*: half | the loads\n", "%*%*Changes%*%*: solution/kernel.c; %+0 lines",
        "%*%*Bench%*%*:\n%- Compiled: True\n%- Correct: True\n",
        "%- Runtime mean: 0.0500 ms %(0.0500 ms ~ 0.0500 ms%)\n",
        "%- Speedup mean: 4.00x %(4.00x ~ 4.00x%) over the reference\n",
        "%- Against iter 0: 2.00x; against the original: 2.00x\n", "%*%*Profiler%*%*: ncu unavailable",
        "%*%*Analysis%*%*: keep: 50.00 %% faster; predicted %+40.0 %%, measured %+100.0 %%; bandwidth is the limit",
        "%*%*Next%*%*: wider loads\n" } do t.match(entry, line) end
    t.match(text, "### Iter 4 — the tree as it was\n.-%- Runtime mean: unknown\n%- Speedup mean: unknown over")
    t.match(text, "### Iter 4 .-%*%*Profiler%*%*: unavailable: no rights\n")
    t.match(text, "\n## Re%-assessments\n\n%- after iter 4, re%-profiled: unavailable: no rights\n")
end)

-- A23 to A25. Stall, stop, end.

local function stalled_folder()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    t.eq(try(folder, "time=50"), 0)
    for i, script in ipairs { "time=49", "time=60", "status=COMPILE_ERROR" } do
        t.ok(try(folder, script) ~= 13, "trial " .. i)
    end
    return folder
end

t.test("A23: three in a row below 3 % wait for a re-assessment on record, kept gains below it count", function()
    local folder = stalled_folder()
    t.eq(newest(folder).best.trial, 2)
    local code, console, requests = try(folder, "time=30")
    t.eq({ code, #requests, #newest(folder).history }, { 13, 0, 5 })
    t.match(console.stdout, "3 trials up to trial 4 without a gain of more than 3 %%: wanted before the next one: "
        .. "profile or statistics .-, search .-, review ")
    note(folder, "statistics", "min and mean differ by 20 %")
    note(folder, "search", "two papers on this shape")
    code, console = try(folder, "time=30")
    t.eq(code, 13)
    t.match(console.stdout, "wanted before the next one: review ")
    note(folder, "review", "only loads were tried")
    t.eq(try(folder, "time=30"), 0)
    local text = iterations(folder)
    t.match(text, "%- after iter 4, statistics read again: min and mean differ by 20 %%\n%- after iter 4, searched: "
        .. "two papers on this shape\n%- after iter 4, log reviewed: only loads were tried\n")
    t.eq(try(stalled_folder(), "time=30", { stall_count = 0 }), 0)
    t.eq(try(stalled_folder(), "time=30", { stall_share = 0.01 }), 0)
end)

t.test("A23: trials that could not be measured do not count, and brief says what is wanted", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    for _ = 1, 4 do t.eq(try(folder, "time=90", nil, nil, { on_trial = function(_, count)
        if count == 2 then return nil, "the device fell off", "CUDA" end
        return true
    end }), 125) end
    t.eq(try(folder, "time=90"), 0)
    folder = stalled_folder()
    local ctx = context(folder)
    t.eq(verbs.brief(ctx), 0)
    t.match(ctx.console.stdout, "a trial is refused now: 3 trials up to trial 4 without a gain of more than 3 %%")
end)

t.test("A24: the cap ends it, of the option or of HINTS.md; nothing may begin behind it", function()
    local folder = scripted.task_folder "time=100"
    local code = run(folder, { ["a.c"] = "time=50", ["b.c"] = "time=40", ["c.c"] = "time=30" }, { iterations = 2 })
    t.eq({ code, #newest(folder).history, newest(folder).finished.ended },
        { 0, 3, "the cap of 2 iterations (--iterations) is reached" })
    folder = scripted.task_folder "time=100"
    t.eq(try(folder, nil, { hint = "stop after 1 iterations" }), 0)
    t.eq(try(folder, "time=50"), 0)
    local console
    code, console = try(folder, "time=40")
    t.eq({ code, #newest(folder).history }, { 13, 2 })
    t.match(console.stdout, "the cap of 1 iterations %(HINTS.md%) is reached; `finish %-m WHY`")
end)

local function finished_by(notes, history, changes)
    local run_of = { history = history or { { trial = 0 }, { trial = 1 }, { trial = 2 }, { trial = 3 } }, notes = notes,
        trials = 3, next_trial = 4, elapsed_s = 1.0, workspace = t.tmpdir(), best = { trial = 0 } }
    return stopping.stop(run_of, values(changes)), ako4all.finish(run_of, nil, values(changes)), run_of
end

t.test("A24: finish is refused before that, and ends the session then; the next one is another session", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    t.eq(try(folder, "time=50"), 0)
    local function finish(why)
        local ctx = context(folder, nil, { message = why })
        return verbs.finish(ctx), ctx.console.stdout .. ctx.console.stderr
    end
    local code, said = finish "ncu is not installed"
    t.eq({ code, newest(folder).finished }, { 13 })
    t.match(said, "a missing tool is no reason to stop; it ends at an iteration cap")
    note(folder, "floor", "0.05 ms is 97 % of the copy bandwidth")
    code, said = finish "at the floor"
    t.eq({ code, newest(folder).finished.ended }, { 0, "at the floor" }, said)
    local repo = select(2, newest(folder))
    t.match(subjects(repo)[1], "^%[final%] Restore iter%-1 %(4.00x%) — fastest of 1, 2.00x over the original")
    t.eq(fs.read(folder .. "/solution/kernel.c"), scripted.source "time=50")
end)

t.test("A24: a floor needs cited evidence, a missing tool is none", function()
    local cited = "min 3.1 us at the timer's step of 0.5 us"
    local stop, refused = finished_by { { topic = "floor", text = cited, trial = 3 } }
    t.eq({ stop, refused }, { "at a floor: " .. cited })
    stop = finished_by { { topic = "floor", text = "see the roofline", file = "roofline.txt", trial = 3 } }
    t.eq(stop, "at a floor: see the roofline [roofline.txt]")
    for _, text in ipairs { "it cannot get faster", "1", "3.1 us", "unavailable: ncu 2024.1 has no rights",
        "ncu is not installed, 3 tries" } do
        stop, refused = finished_by { { topic = "floor", text = text, trial = 3 } }
        t.eq(stop, nil, text)
        t.match(refused, "^it ends at an iteration cap %(%-%-iterations or HINTS.md%), with evidence of a floor")
    end
    local _, _, run_of = finished_by {}
    t.match(ako4all.finish(run_of, "ncu is not available here", values()), "^a missing tool is no reason to stop; ")
    run_of.best.floor_share = 0.96
    t.eq(stopping.stop(run_of, values()), "the best runs at 96 % of the device's limit")
end)

t.test("A24: three distinct documented directions with their iterations, and the word that no more are left", function()
    local function direction(text, n) return { topic = "direction", text = text, trial = n } end
    local exhausted = { topic = "exhausted", text = "nothing left", trial = 3 }
    local stop, refused = finished_by { direction("wider loads", 1), direction("tiling", 2), direction("Tiling!", 3),
        exhausted }
    t.eq(stop, nil)
    t.match(refused, "or with 3 directions on record, 2 now %(note N %-%-topic=direction %-m WHAT")
    t.eq(finished_by { direction("wider loads", 1), direction("tiling", 2), direction("shuffles", 2), exhausted }, nil)
    t.eq(finished_by { direction("wider loads", 1), direction("tiling", 2), direction("shuffles", 9), exhausted }, nil)
    t.eq(finished_by { direction("wider loads", 1), direction("tiling", 2), direction("shuffles", 3) }, nil)
    stop, refused = finished_by { direction("wider loads", 1), direction("tiling", 2),
        direction("shuffles", 3), exhausted }
    t.eq({ stop, refused }, { "3 directions tried: wider loads (iter 1), tiling (iter 2), shuffles (iter 3)" })
    t.match(select(2, finished_by({ direction("wider loads", 1) }, nil, { directions = 2 })), "with 2 directions")
end)

t.test("A25: the end restores the best from its own commit, byte for byte, measures it again and commits it", function()
    local folder = scripted.task_folder "time=100"
    local code, console, requests = run(folder, { ["a.c"] = "time=50", ["b.c"] = "time=80" })
    t.eq(code, 0)
    local state, repo = newest(folder)
    t.eq({ state.best.trial, state.finished.best, state.finished.verified.status }, { 1, 1, "PASSED" })
    t.eq(subjects(repo), { "[final] Restore iter-1 (4.00x) — fastest of 2, 2.00x over the original, mean 0.0500 ms, "
        .. "min 0.0500 ms, std 0.0000 ms", "[iter 2] b.c", "[iter 1] a.c",
        "[baseline] Initialize solution and benchmark" })
    local best = scripted.source "time=50"
    t.eq({ fs.read(folder .. "/solution/kernel.c"), repo:read(BRANCH, "solution/kernel.c"),
        repo:read(state.best.commit, "solution/kernel.c") }, { best, best, best })
    local last = requests[#requests]
    t.eq({ last.steps, last.script.time, last.incumbent.time }, { "build check time", "50", "100" })
    t.eq(fs.read(trajectory(folder, "final") .. "/kernel.c"), best)
    t.match(iterations(folder), "\n%- Best: iter 1, 2.00x over the original, verified at the end\n")
    t.match(iterations(folder), "\n%- Ended: no more candidates\n")
    t.match(console.stdout, "measured again")
end)

t.test("A25: the best by mean, min, std and CORRECT, and what its verification did not bear out is said", function()
    local verified = { status = "UNSTABLE", speedup = { original = 1.5 },
        time_ns = { mean = 2e6, min = 1e6, std = 1e5, max = 3e6 } }
    local run_of = { history = { {}, {} }, trials = 1, best = { trial = 1 }, finished = { verified = verified } }
    t.eq(log.final(run_of), "[final] Restore iter-1 (1.50x) — fastest of 1, 1.50x over the original, mean 2.0000 ms, "
        .. "min 1.0000 ms, std 0.1000 ms; its verification: UNSTABLE")
    run_of.finished.verified = { status = "INCORRECT_NUMERICAL", speedup = {} }
    t.eq(log.final(run_of), "[final] Restore iter-1 (-) — fastest of 1, - over the original; its verification: "
        .. "INCORRECT_NUMERICAL")
    run_of.history = { {} }
    t.eq(log.final(run_of), nil)
end)

t.test("A25: an override behind the end is not given the figures of another trial's verification", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    t.eq(try(folder, "time=50"), 0)
    t.eq(try(folder, "time=25"), 0)
    t.eq(verbs.finish((context(folder, { iterations = 2 }, { message = "cap" }))), 0)
    t.match(iterations(folder), "\n%- Best: iter 2, 4.00x over the original, verified at the end\n")
    local ctx = context(folder, nil, { message = "unreadable" })
    ctx.operands = { 2 }
    t.eq(verbs.revert(ctx), 0)
    t.match(iterations(folder), "\n%- Best: iter 1, 2.00x over the original, by hand after the end, not verified\n")
end)

-- A26, A27.

t.test("A26: ncu is looked for once and remembered, nothing waits for it, HINTS.md can leave it out", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    t.eq(try(folder, "time=50"), 0)
    t.eq(try(folder, "time=40"), 0)
    local history = newest(folder).history
    t.eq({ history[2].facts.ncu, history[3].facts }, { "unavailable: the device is a CPU" })
    t.match(iterations(folder), "### Iter 2 .-%*%*Profiler%*%*: ncu unavailable: the device is a CPU\n")
    folder = scripted.task_folder "time=100"
    t.eq(try(folder, nil, { hint = "do not use ncu" }), 0)
    t.eq(try(folder, "time=50"), 0)
    t.eq(newest(folder).history[2].facts.ncu, "left out (HINTS.md)")
    local run_of = { next_trial = 1, workspace = folder, device = { id = "cuda:0" } }
    local function probed(text)
        write(folder .. "/HINTS.md", text)
        local _, facts = profiler.gate(run_of, { sources = { {} } })
        return facts.ncu
    end
    t.eq({ probed "- skip ncu\n", probed "- no profiling please\n" }, { "left out (HINTS.md)", "left out (HINTS.md)" })
    t.match(probed "- prefer Triton\n", "^[%w]") -- its version, or why there is none
    t.eq({ profiler.gate(run_of, { sources = {} }) }, {})
end)

t.test("A27: a session goes on from its records after a kill: nothing lost, doubled or renumbered", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    t.eq(try(folder, "time=50", nil, { message = "half" }), 0)
    edit(folder, "time=40")
    local one = opened(folder)
    assert(one:begin { hypothesis = "cut off" })
    one:close() -- and the process is gone
    assert(fs.remove_tree(folder .. "/trajectory"))
    assert(fs.remove_tree(folder .. "/ITERATIONS.md"))
    t.eq(try(folder, "time=30", nil, { label = "iter-3" }), 0)
    local state, repo = newest(folder)
    t.eq({ #state.history, state.history[3].status, state.best.trial }, { 4, "INFRA", 3 })
    t.eq(subjects(repo), { "[iter 3] the tree as it was", "[trial 2] cut off", "[iter 1] half",
        "[baseline] Initialize solution and benchmark" })
    t.match(row_of(iterations(folder), 2), "^cut off | unknown | unknown | failed |$")
    t.match(row_of(iterations(folder), 1), "improved")
end)

-- X. What holds for all profiles.

t.test("X1: the interval of pairs decides, at the profile's own least effect; a stall's 3 % is another", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    t.eq(try(folder, "time=98.5"), 0)
    t.eq(try(folder, "time=98"), 1)
    local history = newest(folder).history
    t.eq({ history[2].paired.threshold, history[3].paired.verdict, values().stall_share, values().threshold },
        { 0.01, "revert", 0.03, 0.01 })
end)

t.test("X2: the log is a rendering: lost, it comes back the same with the next trial's row", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    local before = iterations(folder):match("\n(### Iter 0.-%*%*Bench%*%*:.-)%*%*Profiler")
    assert(fs.remove_tree(folder .. "/ITERATIONS.md"))
    t.eq(try(folder, "time=50"), 0)
    t.eq(iterations(folder):match("\n(### Iter 0.-%*%*Bench%*%*:.-)%*%*Profiler"), before)
    write(folder .. "/ITERATIONS.md", iterations(folder) .. "typed by hand\n")
    local _, console = try(folder, "time=40")
    t.match(console.stderr, "ITERATIONS.md holds what somebody else has written: left alone")
end)

t.test("X3, X4: device, sources and samples of each figure are on record, and the three speedups by name", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    t.eq(try(folder, "time=50"), 0)
    t.eq(try(folder, "time=40"), 0)
    local state, repo = newest(folder)
    local record = state.best
    t.eq({ state.header.device.uuid, record.against, record.machine_code }, { "CPU-0", 1, "40" })
    t.ok(record.commit and record.tree and repo:resolve(record.commit))
    t.ok(fs.exists(("%s/ako/%s/trials/2/samples.json"):format(repo:commondir(), state.name)))
    local speedup = record.speedup
    t.ok(math.abs(speedup.reference - 5) < 0.01 and speedup.original == 2.5 and speedup.best == 1.25)
end)

t.test("X5, X6: the interface is the task's and frozen; what is not known is never a pass", function()
    local folder = scripted.task_folder "time=100"
    t.eq(try(folder), 0)
    write(folder .. "/task.lua", (fs.read(folder .. "/task.lua"):gsub('y = { "f32"', 'y = { "f16"')))
    t.eq(try(folder, "time=10"), 13)
    local opt = values()
    t.eq(ako4all.accept({ speedup = {}, interval = {} }, {}, opt), "inconclusive")
    t.eq(ako4all.accept({ speedup = { best = 2, reference = 3 }, interval = {} }, {}, opt), "inconclusive")
    t.eq(log.status { trial = 1, status = "PASSED", verdict = "inconclusive", speedup = {} }, "no-change")
    t.eq(gates.find({ notes = { { topic = "floor", text = " " } } }, "floor"), nil)
end)

t.test("the table in docs/ako4all.md has every criterion, and each test of this file", function()
    local docs = fs.read(fs.join(t.home, "docs/ako4all.md"))
    local source = fs.read(fs.join(t.home, "tests/lua/test_ako4all.lua"))
    for criterion, name in source:gmatch('\nt%.test%("([AX]%d[AX%d, ]*): ([^"]*)"') do
        t.ok(docs:find(("\n| %s | %s |\n"):format(criterion, name), 1, true), name)
    end
    for i = 1, 28 do t.ok(docs:find(("\n| A%d | "):format(i), 1, true), "A" .. i) end
end)
