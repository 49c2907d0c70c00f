-- A folder of problems against a folder of solutions: who belongs to whom, what becomes of each, and that nothing is
-- lost or done twice, however a run ends. The program is the real one, on the CPU, with very small problems.
local fs = require "ako.fs"
local journal = require "ako.journal"
local json = require "ako.json"
local lane = require "lane"
local program = require "program"
local suite_claims = require "ako.suite_claims"
local suite_pairs = require "ako.suite_pairs"
local suite_records = require "ako.suite_records"
local suite_table = require "ako.suite_table"
local t = require "ako.tap"

local PROBLEM = [[
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(8, 16)]

def get_init_inputs():
    return []
]]

local SOLUTION = [[
import os
import time
import torch
import torch.nn as nn

class ModelNew(nn.Module):
    def forward(self, x):
        %s
]]

local RIGHT, WRONG, CRASH = "return x.clamp(min=0.0)", "return x.clamp(min=0.0) + 1", "os.abort()"
local HANG = "while True: time.sleep(1)"

-- Ends the evaluator that runs it.
local KILLER = [[
import os

def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])

def is_host(pid):
    return open(f"/proc/{pid}/comm").read() == "ako-lua\n"

pid = os.getpid()
while not is_host(parent(pid)):
    pid = parent(pid)
os.kill(pid, 9)
]]

local POLICY = [[
local kernelbench = require "policies.kernelbench"

return kernelbench:extend {
    name = "small", description = "little of everything",
    correctness = { trials = 1 },
    timing = { warmup = 1, launches = 3, repeats = 0 },
    budget = { build = 30, check = 3, time = 10 },
    baseline = function() return "keep", "" end, -- of so few launches any figure may come
}
]]

local NAMES = { "1_One", "2_Two", "3_Three", "4_Four", "5_Five", "6_Six" }

-- Problems with the same text would have the same results.
local function problem(i) return ("# %s\n"):format(NAMES[i]) .. PROBLEM end

-- A scratch folder with so many problems and these solutions, by their files' names.
local function folders(count, solutions)
    program.fresh()
    program.write("small.lua", POLICY)
    for i = 1, count do program.write(("p/%s.py"):format(NAMES[i]), problem(i)) end
    for name, body in pairs(solutions) do program.write("q/" .. name, SOLUTION:format(body)) end
end

local function three_right() folders(3, { ["1.py"] = RIGHT, ["2.py"] = RIGHT, ["3.py"] = RIGHT }) end

local COMMAND = { "--device", "cpu", "--task", "p", "--solution", "q", "small.lua", "--results", "r" }

local function run(...)
    local command = table.move(COMMAND, 1, #COMMAND, 1, {})
    return program.run(table.unpack(table.move({ ... }, 1, select("#", ...), #command + 1, command)))
end

local function statuses(results)
    local list = {}
    for i, result in ipairs(results) do list[i] = result.status end
    return list
end

local function in_folder(name) return fs.join(program.folder, name) end

local function lines_of(slot)
    local file = suite_records.journal(in_folder "r", slot)
    return fs.exists(file) and assert(journal.read(file)) or {}
end


-- Without a device

local function found(problems, solutions)
    local top = t.tmpdir()
    for _, name in ipairs(problems) do
        assert(fs.mkdirs(fs.dirname(fs.join(top, "p/" .. name))))
        assert(fs.write(fs.join(top, "p/" .. name), PROBLEM))
    end
    assert(fs.mkdirs(top .. "/q"))
    for _, name in ipairs(solutions) do assert(fs.write(fs.join(top, "q/" .. name), name)) end
    local host = { task = top .. "/p", solution = top .. "/q" }
    return suite_pairs.is_suite(host) and suite_pairs.find(host), host
end

local function names(list)
    local result = {}
    for _, item in ipairs(list.items) do
        for _, sample in ipairs(item.samples) do result[#result + 1] = sample.name end
        if #item.samples == 0 then result[#result + 1] = item.name .. ": none" end
    end
    return result
end

t.test("problems and their solutions", function()
    local got = found({ "10_b.py", "2_a.py", "2_c.py", "3_d.py", "__init__.py" },
        { "10_x.py", "10_problem_10_sample_1.py", "3.cu", "level1_problem_3_sample_4_kernel.py", "2.py", "9.py",
            "notes.txt" })
    t.eq(names(got), { "2_a: none", "2_c: none", "3_d #4", "3_d (3.cu)", "10_b #1", "10_b (10_x.py)" })
    t.eq(got.ambiguous, { { solution = "2.py", problems = { "2_a", "2_c" } } })
    t.eq(got.unknown, { "9.py" })
    t.eq(suite_table.left_out(got), { "left out: 2.py may belong to 2_a, 2_c", "left out: no problem for 9.py" })
    t.eq(names(found({ "level1/1_a.py", "level2/1_a.py" }, { "level2_problem_1.py" })),
        { "level1/1_a: none", "level2/1_a" })
    t.eq(found({}, {}), false)
    local _, host = found({ "1_a.py" }, {})
    assert(fs.mkdirs(host.task .. "/scale"))
    assert(fs.write(host.task .. "/scale/task.lua", ""))
    t.eq(suite_pairs.is_suite(host), false, "a folder of tasks")
end)

t.test("a key is all that decides a result", function()
    local _, host = found({ "1_a.py" }, { "1.py" })
    local function key(changes, where)
        local ctx = { host = host, opt = { faithful = false, fast_p = "1" }, policy = { budget = { build = 1 },
            correctness = { trials = 5, seed = 42, faithful = "faithful" }, timing = { launches = 100, pairs = {} } } }
        changes = changes or function() end
        changes(ctx)
        local list = suite_pairs.find(host)
        suite_pairs.add_keys(list, ctx, where or { name = "GPU" })
        return list.items[1].samples[1].key
    end
    local plain = key()
    t.eq(key(), plain)
    t.eq(key(function(ctx) ctx.opt.fast_p = "2" end), plain, "what is made of the results")
    t.eq(key(function(ctx) ctx.policy.timing.pairs = { seconds = 1 } end), plain, "there is no incumbent")
    t.ok(key(function(ctx) ctx.policy.timing.launches = 10 end) ~= plain)
    t.ok(key(function(ctx) ctx.opt.faithful = true end) ~= plain)
    t.ok(key(function(ctx) ctx.host = { seed = 1 } end) ~= plain)
    t.ok(key(nil, { name = "another GPU" }) ~= plain)
    assert(fs.write(host.solution .. "/1.py", "changed"))
    local changed = key()
    t.ok(changed ~= plain)
    assert(fs.write(host.task .. "/1_a.py", PROBLEM .. "\n"))
    t.ok(key() ~= changed)
end)

t.test("a claim is one worker's until it is done, or its holder is gone", function()
    local folder = t.tmpdir()
    local first = suite_claims.take(folder, 1)
    t.eq(suite_claims.take(folder, 1), nil)
    t.ok(suite_claims.take(folder, 2))
    t.eq({ first:begin "k", first:begin "k", first:begin "k", first:begin "other" }, { 1, 2, nil, 1 })
    first:close()
    local second = suite_claims.take(folder, 1)
    t.ok(second, "it was given back, and is not done")
    second:finish()
    second:close()
    t.eq(suite_claims.take(folder, 1), nil)
end)

local function entry(name, speedup, changes)
    local result = { name = name, at = 1, item = { name = name, number = 1 }, sample = {}, line = { device = {} },
        record = { status = "PASSED", speedup = { reference = speedup }, workloads = {} } }
    for key, value in pairs(changes or {}) do result[key] = value end
    return result
end

t.test("a table fits on a screen, and what failed is in it", function()
    local entries = {}
    for i = 1, 100 do entries[i] = entry("p" .. i, i + 0.0) end
    entries[77].record = { status = "TIMEOUT", reason = ("late "):rep(100), speedup = {}, workloads = {} }
    local lines = suite_table.lines(entries)
    t.eq(#lines, 42)
    t.match(table.concat(lines, "\n"), "\np77 +TIMEOUT .* late late")
    t.match(table.concat(lines, "\n"), "\np39 .*\np77 ")
    t.eq(lines[42], "... and 60 more, which have less to tell: table.txt has them all")
    for _, line in ipairs(lines) do t.ok(utf8.len(line) <= 120, line) end
    t.eq(#suite_table.full(entries), 101)
    t.eq(suite_table.counts_line(entries), "100 results: 99 PASSED, 1 TIMEOUT")
    t.eq(suite_table.counts_line {}, "0 results")
end)

t.test("KernelBench's file: by number, and by level where there are several", function()
    local one, two = entry("a", 2.0), entry("b", 2.0, { item = { name = "b", number = 1, level = 2 } })
    two.record = { status = "COMPILE_ERROR", reason = "no", speedup = {}, workloads = {} }
    local unread = entry("c", 1.0, { line = false, item = { name = "c", number = 3, level = 2 } })
    local results = json.decode(suite_records.eval_results { two, unread })
    t.eq(results, { ["1"] = { { sample_id = 0, compiled = false, correctness = false, runtime = -1, ref_runtime = -1,
        runtime_stats = {}, ref_runtime_stats = {},
        metadata = { status = "COMPILE_ERROR", compilation_error = "no" } } } })
    one.item.level = 1
    results = json.decode(suite_records.eval_results { one, two })
    t.ok(results["level1/1"] and results["level2/1"])
end)

-- With one

t.test("one that is wrong, crashes, hangs, has no solution or ends the evaluator does not end the run", function()
    lane.need()
    folders(5, { ["1.py"] = RIGHT, ["2_Two.py"] = WRONG, ["3.py"] = CRASH, ["4.py"] = HANG, ["6.py"] = RIGHT,
        ["nine.py"] = RIGHT })
    program.write("p/6_Six.py", KILLER .. problem(6))
    local result = run "--json"
    t.eq(result.code, 11, result.stderr)
    local object = assert(json.decode(result.stdout))
    t.eq(statuses(object.results), { "PASSED", "INCORRECT_NUMERICAL", "RUNTIME_ERROR", "TIMEOUT", "NO_SOLUTION",
        "INFRA" })
    t.eq(object.counts.PASSED, 1)
    t.eq({ object.pending, object.unknown }, { 0, { "nine.py" } })
    t.eq(object.results[6].attempts, 2, "with a fresh evaluator")
    t.ok(object.results[1].speedup.reference > 0 and object.results[1].solution_ms > 0)
    t.ok(math.abs(object.small.fast_p.fast_0 - 1 / 6) < 1e-12)
    t.match(result.stderr, "suite +6 problems, 5 solutions: 0 known, 5 to evaluate on ")
    t.match(result.stderr, "%[2/5%] 2_Two: INCORRECT_NUMERICAL: ")
    local written = assert(journal.read(in_folder "r/results.jsonl"))
    t.eq(#written, 5)
    t.eq(json.decode(fs.read(in_folder "r/eval_results.json"))["1"][1].correctness, true)
end)

t.test("a second start does what is new, and what the machine could not say", function()
    lane.need()
    program.write("q/2_Two.py", SOLUTION:format(RIGHT))
    program.write("p/6_Six.py", problem(6))
    local result = run()
    t.match(result.stderr, "5 solutions: 3 known, 2 to evaluate")
    t.eq(result.code, 12)
    t.match(result.stdout, "^problem +status +ref ms +ms +speed%-up +why\n1_One +PASSED +[%d.]+ +[%d.]+ +[%d.]+x")
    t.match(result.stdout, "\n3_Three +RUNTIME_ERROR +%- +%- +%- +%S")
    t.match(result.stdout, "\n6 results: 3 PASSED, 1 NO_SOLUTION, 1 RUNTIME_ERROR, 1 TIMEOUT\n"
        .. "fast_0: 0.5000  fast_1: [%d.]+  fast_2: [%d.]+\ngeometric mean: of the correct ones [%d.]+x %(3%)")
    t.match(result.stdout, "\nleft out: no problem for nine.py\n"
        .. "in .*/r: results.jsonl, eval_results.json, table.txt\n$")
    result = run("--fast_p=0", "-q")
    t.eq({ result.code, result.stderr }, { 12, "" }, "nothing to do, nothing said")
    t.match(result.stdout, "\nfast_0: 0.5000\n")
end)

t.test("another version of PyTorch may say something else", function()
    lane.need()
    folders(1, { ["1.py"] = RIGHT })
    t.match(run().stderr, "1 solution: 0 known, 1 to evaluate")
    t.match(run().stderr, "1 solution: 1 known, 0 to evaluate")
    program.write("newer/torch-99.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 99.0\n")
    local command = "PYTHONPATH=$PWD/newer $ako " .. table.concat(COMMAND, " ")
    t.match(program.shell(command).stderr, "1 solution: 0 known, 1 to evaluate")
    t.match(program.shell(command).stderr, "1 solution: 1 known, 0 to evaluate")
end)

t.test("samples, builds ahead, and an exit code of 0 when all passed", function()
    lane.need()
    folders(1, { ["level1_problem_1_sample_0_kernel.py"] = RIGHT,
        ["level1_problem_1_sample_7_kernel.py"] = RIGHT .. " # load_inline" })
    local result = run("--builders", "2")
    t.eq(result.code, 0, result.stderr)
    t.match(result.stderr, "\nbuilds +1 solution ahead, 1 builder\n%[1/2%] 1_One #0")
    t.match(result.stdout, "\n1_One #0 +PASSED.*\n1_One #7 +PASSED")
    t.match(result.stdout, "\nbest of each problem's samples: fast_0: 1.0000")
    local ids = {}
    for i, one in ipairs(json.decode(fs.read(in_folder "r/eval_results.json"))["1"]) do ids[i] = one.sample_id end
    t.eq(ids, { 0, 7 })
end)

t.test("a weak problem is warned of, and the others go on", function()
    lane.need()
    folders(2, { ["1.py"] = RIGHT, ["2.py"] = RIGHT })
    program.write("p/2_Two.py", (problem(2):gsub("torch%.randn%(8, 16%)", "torch.rand(8, 16)")))
    local result = run "--json"
    t.eq(result.code, 0, result.stderr)
    local object = assert(json.decode(result.stdout))
    t.eq(statuses(object.results), { "PASSED", "PASSED" })
    t.match(result.stdout, "a copy of input 'x' passes")
end)

t.test("a problem that hangs ends after the policy's time for it, and the others go on", function()
    lane.need()
    folders(2, { ["1.py"] = RIGHT, ["2.py"] = RIGHT })
    program.write("small.lua", (POLICY:gsub("build = 30", "build = 5")))
    program.write("p/1_One.py", (problem(1):gsub("return torch.relu", "while True: pass\n        %0")))
    local result = run "--json"
    local object = assert(json.decode(result.stdout))
    t.eq(statuses(object.results), { "INVALID_REFERENCE", "PASSED" })
    t.match(object.results[1].reason, "1_One.py: did not run once within 5 s")
    t.eq({ lines_of(1)[2].record.lane, lines_of(1)[2].record.backend }, { "python-cpu", "pytorch" })
end)

-- Starts it, waits for its first result, does something to it ($pid), and gives what it leaves on stdout and stderr.
local function disturb(what, more)
    local command = table.concat(COMMAND, " ") .. " " .. (more or "")
    return program.shell(("$ako %s >out 2>err & pid=$!; export pid\n"):format(command)
        .. "until [ -s r/journal-1.jsonl ] || ! kill -0 $pid; do sleep 0.02; done\n" .. what
        .. "\nwait $pid; echo $? >code; cat err >&2; cat out")
end

local function code_of() return tonumber(fs.read(in_folder "code")) end

t.test("kill -9 loses what was in flight and nothing else", function()
    lane.need()
    three_right()
    disturb "kill -9 $pid"
    t.eq(code_of(), 137)
    local known = #lines_of(1)
    t.ok(known >= 1 and known < 3, "it was killed in between")
    local result = run()
    t.eq(result.code, 0, result.stderr)
    local more = tonumber(result.stderr:match(" (%d+) known, "))
    t.ok(more >= known and more <= known + 1, "one at most was still written while the kill came")
    t.eq(#lines_of(1), 3, "none was done twice")
    t.match(result.stdout, "\n3 results: 3 PASSED\n")
end)

-- By TERM, which is the same: a shell without a terminal has INT ignored in the background.
t.test("Ctrl-C ends it with the table so far", function()
    lane.need()
    three_right()
    local result = disturb "kill -TERM $pid"
    t.eq(code_of(), 130, result.stderr)
    t.match(result.stdout, "^problem .*\n1_One +PASSED")
    t.match(result.stdout, "\n%d solutions? not evaluated yet: the same command goes on\n")
    t.eq(run().code, 0)
    t.eq(#lines_of(1), 3)
end)

-- Ends one worker by kill -9; where it has finished already, nothing.
local KILL_SECOND = [[
for p in /proc/[0-9]*; do
  tr '\0' '\n' <$p/environ 2>/dev/null | grep -qx AKO_SUITE_SLOT=2 && [ "$(cat $p/comm)" = ako-lua ] &&
    tr '\0' '\n' <$p/environ | grep -qx "AKO_SUITE=$PWD/r" && kill -9 ${p#/proc/}
done
]]

t.test("two workers share the problems, and one that is killed is replaced", function()
    lane.need()
    folders(4, { ["1.py"] = RIGHT, ["2.py"] = RIGHT, ["3.py"] = RIGHT, ["4.py"] = RIGHT })
    local result = disturb(KILL_SECOND, "--devices cpu,cpu")
    t.eq(code_of(), 0, result.stderr)
    t.match(result.stderr, "4 to evaluate on [^\n]+, 2 workers\n")
    t.match(result.stderr, "\nworker 2 +killed by SIGKILL %(killed%): another takes its place\n")
    t.match(result.stdout, "\n4 results: 4 PASSED\n")
    local keys, count = {}, 0
    for slot = 1, 2 do
        for _, line in ipairs(lines_of(slot)) do
            t.ok(not keys[line.key], "none was done twice")
            keys[line.key], count = true, count + 1
        end
    end
    t.eq(count, 4)
end)

t.test("plan says who belongs to whom and what is to be done, and does nothing", function()
    lane.need()
    folders(3, { ["1.py"] = RIGHT, ["2_a.py"] = WRONG, ["9.py"] = RIGHT })
    local function plan(...)
        return program.run("--device", "cpu", "--task", "p", "--solution", "q", "small.lua", "plan", "--results", "r",
            ...)
    end
    local before = plan()
    t.eq({ before.code, before.stderr }, { 0, "" })
    t.match(before.stdout, "^suite       3 problems, 2 solutions: 0 known, 2 to evaluate on .*\n"
        .. "results     /.*/r %(new%)\nleft out: no problem for 9%.py\nproblem  solution  known\n"
        .. "1_One    1%.py      to evaluate\n"
        .. "2_Two    2_a%.py    to evaluate\n3_Three  %-         no solution\n$")
    t.eq(fs.exists(in_folder "r"), false)
    run()
    t.match(plan().stdout, "2 known, 0 to evaluate .*/r\n.*1%.py      PASSED\n.*2_a%.py    INCORRECT_NUMERICAL\n")
    program.write("q/1.py", SOLUTION:format(WRONG))
    local object = assert(json.decode(plan("--json").stdout))
    local states = {}
    for i, pair in ipairs(object.pairs) do
        local solution = pair.solution ~= json.null and fs.basename(pair.solution)
        states[i] = { fs.basename(pair.problem), solution, pair.evaluate }
    end
    t.eq({ object.total, object.unknown, states }, { 1, { "9.py" }, { { "1_One.py", "1.py", true },
        { "2_Two.py", "2_a.py", false }, { "3_Three.py", false, false } } })
    t.eq(object.pairs[2].status, "INCORRECT_NUMERICAL")
end)

t.test("of two solutions with one text each has its own name", function()
    lane.need()
    folders(2, { ["1.py"] = RIGHT, ["2_a.py"] = RIGHT, ["2_b.py"] = RIGHT })
    local object = assert(json.decode(run("--json").stdout))
    local candidates = {}
    for i, result in ipairs(object.results) do candidates[i] = result.candidate end
    t.eq(candidates, { "1.py", "2_a.py", "2_b.py" })
end)

t.test("what cannot be begun", function()
    lane.need()
    three_right()
    local function says(code, pattern, ...)
        local result = program.run(...)
        t.match(result.stderr, "^ako%-lua: " .. pattern .. "\n$")
        t.eq(result.code, code)
    end
    local task = { "--device", "cpu", "--task", "p" }
    local function with(...)
        return table.unpack(table.move({ ... }, 1, select("#", ...), 5, { table.unpack(task) }))
    end
    says(2, "%-%-task p holds problems; name the folder of their solutions with %-%-solution", with "small.lua")
    says(2, "none: no folder of solutions .*", with("--solution", "none", "small.lua"))
    local single = "p is a folder of problems: run, plan and doctor take one; name a problem of it, %-%-task p/1_One.py"
    says(2, single, with("small.lua", "try"))
    says(2, single, with("--solution", "q", "small.lua", "try"))
    says(2, "%-%-task p holds problems; name the folder .*", with("small.lua", "plan"))
    says(2, "%-%-candidates belongs to one task, but p holds problems", with("small.lua", "plan", "--candidates", "q"))
    says(2, "%-%-results is for a folder of problems .*", "small.lua", "plan", "--results", "r")
    says(2, "%-%-candidates belongs to one task, but p holds problems", with("small.lua", "--candidates", "q"))
    says(2, "%-%-results is for a folder of problems .*", "small.lua", "--results", "r")
    says(5, ".*cuda:99.*", with("--solution", "q", "small.lua", "--devices", "cuda:99"))
    assert(fs.mkdirs(in_folder "r"))
    local lock <close> = assert(fs.lock(in_folder "r"))
    t.match(run().stderr, "another run is at work in r; wait for it")
    lock:close()
end)
