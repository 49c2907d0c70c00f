-- A benchmark command of the user's own: run as it stands, its lines claims, forged ones refused. The evaluator is
-- scripted, the commands are real processes.
local bench = require "ako.bench"
local claims = require "ako.claims"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local process = require "ako.process"
local program = require "program"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local task = require "ako.task"
local verbs = require "ako.verbs"

local CLAIMS = [[claims = { correct = { "^CORRECT: (\\w+)$", yes = "True" }, speedup = "^SPEEDUP: (\\S+)x$",
    time = { "^RUNTIME: (\\S+)$", unit = "ms" } }]]
local HONEST = "echo CORRECT: True\necho RUNTIME: 0.0950\necho SPEEDUP: 2.1x\n"

local UNTRUSTED = { "UNTRUSTED_TIMING", "T6" }

-- Shell for the command lines of processes that sleep.
local SLEEPERS = "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null | grep '^sleep'"

-- A folder whose task has this bench (Lua text), and its script.
local function folder_with(given, script, solution)
    local folder = scripted.task_folder(solution or "time=100")
    local text = assert(fs.read(folder .. "/task.lua"))
    assert(fs.write(folder .. "/task.lua", text:sub(1, -3) .. "  bench = " .. given .. ",\n}\n"))
    assert(fs.write(folder .. "/bench.sh", script))
    return folder
end

local function with_script(script, more)
    return folder_with(('{ "sh", "bench.sh", %s%s }'):format(more or "", CLAIMS), script)
end

local function try(folder, policy, host)
    local given = host or {}
    given.policy = policy
    local ctx = scripted.context(folder, given)
    return verbs.try(ctx), ctx.console
end

local function history(folder)
    local repo = assert(git.open(folder))
    return session.newest({ repo = repo, folder = fs.absolute(folder) }).history, repo
end

local edit = scripted.edit

local function refused(script, status, reason, policy, more)
    local folder = with_script(script, more)
    local code = try(folder, policy)
    local record = history(folder)[1]
    t.eq({ record.status, record.code }, status, script)
    t.match(record.reason, reason)
    t.ok(code ~= 0, "exit code")
    return record, code, folder
end

t.test("claims stand beside our own figures and change none of them", function()
    local folder = with_script(HONEST)
    t.eq(try(folder), 0)
    edit(folder, "time=50")
    local code, console = try(folder)
    t.eq(code, 0)
    t.match(console.stderr, "bench: exit 0 after %d+%.%d s; claims correct true, speedup 2.1, time 95.00 us\n")
    local record = history(folder)[2]
    t.eq(record.bench.claimed, { correct = true, speedup = 2.1, time_ns = 95000 })
    t.eq({ record.status, record.verdict, record.time_ns.median }, { "PASSED", "keep", 50000 })
    t.eq(record.bench.how, "exit 0")
    t.ok(record.bench.seconds >= 0 and record.bench.refused == nil)
    local log = assert(fs.read(folder .. "/" .. record.files .. "/bench.log"))
    t.match(log, "^sh bench.sh\nexit 0 after [%d.]+ s\n\nCORRECT: True\n")
end)

t.test("a claim of more speed keeps nothing that our own figures do not", function()
    local folder = folder_with([[{ "sh", "bench.sh", claims = { speedup = "^SPEEDUP: (\\S+)x$" } }]],
        "grep -q time=100 solution/kernel.c && echo SPEEDUP: 1x || echo SPEEDUP: 50x\n")
    t.eq(try(folder), 0)
    edit(folder, "time=120")
    t.eq(try(folder), 1)
    local record = history(folder)[2]
    t.eq({ record.verdict, record.bench.claimed.speedup }, { "revert", 50.0 })
end)

local ADDED = "_|AKO_BENCH|AKO_LOCK_TOKEN|PYTHONDONTWRITEBYTECODE|SHLVL|OLDPWD|PWD"
local NAMES = ([[env | cut -d= -f1 | grep -Ev '^(%s)$' | sort | tr '\n' ' ']]):format(ADDED)

t.test("the command is run as it stands: words, folder, environment, input", function()
    local folder = folder_with([[{ "./bench.sh", "--trials", "a  b'c$HOME", "", "-n" }]], "")
    assert(fs.write(folder .. "/bench.sh", ([[#!/bin/sh
for word in "$0" "$@"; do printf '<%%s>' "$word"; done
printf '\n%%s\n%%s\n' "$(pwd -P)" "$(%s)"
wc -c
]]):format(NAMES)))
    assert(process.run { "chmod", "+x", folder .. "/bench.sh" })
    t.eq(try(folder), 0)
    local record = history(folder)[1]
    local log = assert(fs.read(folder .. "/" .. record.files .. "/bench.log"))
    local lines = {}
    for line in log:gmatch("[^\n]*") do lines[#lines + 1] = line end
    t.eq(lines[4], "<./bench.sh><--trials><a  b'c$HOME><><-n>")
    t.eq(lines[5], fs.absolute(folder))
    local plain = assert(process.run { "sh", "-c", NAMES })
    t.eq(lines[6], plain.stdout:match("^[^\n]*"))
    t.eq(lines[7], "0")
    t.eq(record.bench.claimed, {})
end)

t.test("a benchmark in Python leaves nothing in a folder that the policy protects", function()
    local folder = folder_with('{ "sh", "bench.sh" }', "mkdir -p eval\n"
        .. "[ -n \"$PYTHONDONTWRITEBYTECODE\" ] || echo >eval/module.pyc # as Python does\n")
    assert(fs.mkdirs(folder .. "/eval"))
    t.eq(try(folder, { protected = { "eval" } }), 0)
end)

t.test("it has the device for itself", function()
    local folder = folder_with('{ "sh", "bench.sh" }', "echo \"[$AKO_LOCK_TOKEN]\"\n")
    t.eq(try(folder), 0)
    local record = history(folder)[1]
    t.match(fs.read(folder .. "/" .. record.files .. "/bench.log"), "%[CPU%-0:%d+%]")
    t.eq(os.getenv "AKO_LOCK_TOKEN", nil)
end)

-- Forged lines

t.test("a line that is printed twice is no claim, whichever comes first", function()
    refused(HONEST .. "echo SPEEDUP: 99x\n", UNTRUSTED, "^bench: it prints 'speedup' more than once$")
    refused("echo CORRECT: False\n" .. HONEST, UNTRUSTED, "it prints 'correct' more than once")
    refused("echo RUNTIME: 0.0950\n" .. HONEST, UNTRUSTED, "it prints 'time' more than once")
end)

t.test("a kernel that prints them itself, in a benchmark that runs it", function()
    -- The benchmark runs the candidate, which prints a line of its own.
    local folder = with_script("grep -o 'print: .*' solution/kernel.c | sed 's/print: //'\n" .. HONEST)
    t.eq(try(folder), 0)
    assert(fs.write(folder .. "/solution/kernel.c", scripted.source "time=50" .. "// print: SPEEDUP: 9.0x\n"))
    t.eq(try(folder), 125)
    local record = history(folder)[2]
    t.eq({ record.status, record.code, record.verdict }, { "UNTRUSTED_TIMING", "T6", "inconclusive" })
    t.eq(record.bench.claimed, nil)
    t.eq(history(folder)[1].verdict, "keep")
end)

t.test("a kernel that holds the words of a line, though only one is seen", function()
    local folder = with_script(HONEST)
    t.eq(try(folder), 0)
    local printing = "void f(void) { puts(\"SPEEDUP: 9x\"); }\n"
    assert(fs.write(folder .. "/solution/kernel.c", scripted.source "time=50" .. printing))
    t.eq(try(folder), 125)
    local record = history(folder)[2]
    t.eq({ record.status, record.code }, UNTRUSTED)
    t.match(record.reason, "^bench: kernel.c holds the words of its 'speedup' %(SPEEDUP:%) and may print them$")
    t.match(record.bench.refused, "^kernel.c holds")
    t.match(record.next, "stay as they are; see to it that the benchmark alone prints such a line, and once$")
end)

t.test("figures that are none", function()
    for value, why in pairs { nan = "is no number: nan", ["-1"] = "is %-1, not above 0", ["0"] = "is 0, not above 0",
        inf = "is no number", ["1e999"] = "is no number", ["0x10"] = "is no number", ["1,5"] = "is no number",
        ["1.2.3"] = "is no number" } do
        refused("echo CORRECT: True\necho SPEEDUP: 2x\necho RUNTIME: " .. value .. "\n", UNTRUSTED, why)
    end
end)

t.test("a line that is missing", function()
    refused("echo CORRECT: True\necho SPEEDUP: 2x\n", UNTRUSTED, "^bench: it prints no 'time'$")
    refused("", UNTRUSTED, "it prints no 'correct'")
end)

t.test("absurd ones, by the policy's number", function()
    local policy = { timing = scripted.policy().timing }
    policy.timing.claims = 3
    local function script(time, speedup)
        return ("echo CORRECT: True\necho RUNTIME: %s\necho SPEEDUP: %sx\n"):format(time, speedup)
    end
    refused(script(0.001, 2), UNTRUSTED, "it claims 1.000 us where 100.0 us was measured", policy)
    refused(script(0.1, 6.1), UNTRUSTED,
        "it claims 6.10x over the reference where 2.00x was measured", policy)
    t.eq(try(with_script(script(0.034, 5.9)), policy), 0)
    t.eq(try(with_script(script(9, 0.01)), policy), 0, "worse than ours is nobody's advantage")
    policy.timing.claims = nil
    t.eq(try(with_script(script(0.001, 99)), policy), 0)
end)

t.test("one that contradicts its own exit", function()
    refused(HONEST .. "exit 3\n", UNTRUSTED,
        "^bench: it says that the result is right and ends with exit 3$")
end)

t.test("more than can be read", function()
    refused("yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | head -c 9000000\n" .. HONEST, UNTRUSTED,
        "it prints more than can be read")
end)

-- A command that is against the candidate

t.test("a command that fails, or says that the result is wrong, takes a candidate back", function()
    local folder = with_script("grep -q time=50 solution/kernel.c && { echo off by one; exit 2; }\n" .. HONEST)
    t.eq(try(folder), 0)
    edit(folder, "time=50")
    t.eq(try(folder), 13)
    local record = history(folder)[2]
    t.eq({ record.status, record.code, record.verdict, record.reason }, { "REJECTED", "BENCH", "revert",
        "bench: exit 2: off by one" })
    t.match(fs.read(folder .. "/solution/kernel.c"), "time=100")
    refused("echo CORRECT: False\necho RUNTIME: 1\necho SPEEDUP: 1x\n", { "REJECTED", "BENCH" },
        "^bench: it says that the result is wrong$")
end)

t.test("late: killed with all that it has started", function()
    local record, code = refused("trap '' TERM\nsleep 98765 &\nwait\n", { "TIMEOUT" },
        "^bench: not done within 0.3 s$", nil, "seconds = 0.3, ")
    t.eq({ code, record.bench.how, record.bench.refused }, { 124, "out of time", "not done within 0.3 s" })
    t.eq(assert(process.run { "sh", "-c", SLEEPERS }).stdout:find("98765"), nil)
end)

t.test("what is left of a killed run's is ended, and nothing else", function()
    program.write("stop.lua", 'require("ako.bench").stop_leftovers("/session", 3)\n')
    local result = program.shell(([[
        AKO_BENCH=/session:3 sh -c 'sleep 7001 & wait' & ours=$!
        AKO_BENCH=/session:33 sleep 7002 & other=$!
        $ako stop.lua; echo "exit $?"; wait $ours; echo "ours $?"; { SLEEPERS; } | grep 7001
        kill $other; wait $other; echo "other $?"
        AKO_BENCH=/session:3 $ako stop.lua]]):gsub("SLEEPERS", function() return SLEEPERS end))
    t.match(result.stdout, "exit 0\n[^\n]*ours 137\n[^\n]*other 143\n$")
    t.match(result.stderr, "ako%-lua: [^\n]*this shell belongs to a benchmark whose run has been killed; end it, then ")
end)

t.test("a run that is killed while the benchmark works: the next one ends that and goes on", function()
    program.write("task.lua", [[
return { name = "twice", tensors = { x = { "f32", { "N" } }, y = { "f32", { "N" }, role = "output" } },
  workloads = { { N = 64 } }, reference = { "reference.c", entry = "twice", args = { "x", "y", "N" } },
  solution = { "solution/kernel.c" },
  bench = { "sh", "-c", "test -e once && exit 0; touch once; sleep 7003 & kill -9 $PPID; wait" } }
]])
    local code = "void twice(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\n"
    for _, name in ipairs { "reference.c", "solution/kernel.c" } do program.write(name, code) end
    program.write("quick.lua", [[
return { name = "quick", description = "for tests", accept = function() return "keep", "" end,
  correctness = { trials = 1, seed = 1, predicate = "allclose_ref", tolerance = { f32 = 1e-4 } },
  timing = { warmup = 1, launches = 3, flush = false, timer = "wall", alpha = 0.05, reference = false,
    statistic = "median" }, budget = { build = 60, check = 60, time = 60 } }
]])
    local result = program.shell(([[
        try() { $ako --device=cpu --quiet quick.lua try 2>/dev/null; echo "exit $?"; { SLEEPERS; } | grep 7003; }
        try; try; $ako --session="$(ls .git/ako | head -n 1)" quick.lua log]])
        :gsub("SLEEPERS", function() return SLEEPERS end))
    t.match(result.stdout, "^exit 137\nsleep 7003 *\n.*exit 0\n"
        .. "trial [^\n]*\n +0  inconclusive  INFRA [^\n]*interrupted\n$")
    t.eq(select(2, result.stdout:gsub("sleep 7003", "")), 1)
end)

t.test("one that is not there is nobody's fault", function()
    local folder = folder_with('{ "no-such-benchmark" }', "")
    t.eq(try(folder), 125)
    local record = history(folder)[1]
    t.eq({ record.status, record.verdict }, { "INFRA", "inconclusive" })
    t.match(record.reason, "^bench: no such program: no%-such%-benchmark")
end)

t.test("it is not run for what has failed already, or has no effect", function()
    local folder = with_script("echo x >> runs\n" .. HONEST)
    t.eq(try(folder), 0)
    edit(folder, "time=50 status=INCORRECT_NUMERICAL reason=off")
    t.eq(try(folder), 11)
    edit(folder, "time=100 ")
    t.eq(try(folder), 1)
    t.eq(fs.read(folder .. "/runs"), "x\n")
end)

t.test("a first look leaves it out, the full measurement behind that does not", function()
    local folder = with_script("echo x >> runs\n" .. HONEST)
    local policy = { timing = scripted.policy().timing }
    policy.timing.signal = { trials = 1, launches = 2 }
    t.eq(try(folder, policy), 0)
    edit(folder, "time=120")
    t.eq(try(folder, policy), 1)
    t.eq({ fs.read(folder .. "/runs"), history(folder)[2].bench }, { "x\n" })
    edit(folder, "time=50")
    t.eq(try(folder, policy), 0)
    t.eq({ fs.read(folder .. "/runs"), history(folder)[3].bench.how }, { "x\nx\n", "exit 0" })
end)

-- What nobody may change

t.test("neither the command nor a file that it names may change in a session", function()
    local folder = with_script(HONEST)
    t.eq(try(folder), 0)
    local header = session.read(select(2, history(folder)), history(folder)[1].session).header
    t.eq(header.protected["bench (the command)"]:match("^%x+$") ~= nil, true)
    t.eq(header.protected["solution/kernel.c"], nil)
    edit(folder, "time=50")
    assert(fs.write(folder .. "/bench.sh", HONEST .. "\n"))
    t.eq(try(folder), 13)
    local record = history(folder)[2]
    t.eq({ record.status, record.code }, { "REJECTED", "PROTECTED" })
    t.match(record.reason, "^protected file bench.sh changed since the session began$")
end)

t.test("what the command writes may be one of its words", function()
    local folder = folder_with('{ "sh", "./bench.sh", "results.txt" }', "date +%N >$1\n")
    t.eq(try(folder), 0)
    edit(folder, "time=50")
    t.eq(try(folder), 0)
end)

t.test("the files that belong to it", function()
    local folder = folder_with("{ 'a' }", "")
    local function files(given) return bench.files(bench.read(given, "bench"), folder, { "solution/kernel.c" }) end
    t.eq(files { "sh", "./bench.sh", "task.lua" }, { "bench.sh" })
    t.eq(files { "./bench.sh" }, { "bench.sh" })
    t.eq(files { "cc", "solution/kernel.c", "task.lua" }, {})
    t.eq(files { "python3", "-m", "bench", "/etc/passwd", "../x" }, {})
    t.eq(files { "make", "bench", files = { "Makefile", "bench.sh" } }, { "Makefile", "bench.sh" })
    t.err("bench.files must be relative paths", files, { "a", files = { "/etc/passwd" } })
    t.err("bench.files must be a list", files, { "a", files = "b" })
end)

t.test("a benchmark during which a protected file changes", function()
    local folder = with_script("grep -q time=50 solution/kernel.c && echo '# edited' >> bench.sh\n" .. HONEST)
    t.eq(try(folder), 0)
    edit(folder, "time=50")
    t.eq(try(folder), 13)
    t.match(history(folder)[2].reason, "^protected file bench.sh changed while this ran$")
end)

t.test("a benchmark that edits the journal is found out", function()
    local folder = with_script(
        "grep -q time=50 solution/kernel.c && sed -i s/100000/1/g .git/ako/*/journal.jsonl\n" .. HONEST)
    t.eq(try(folder), 0)
    edit(folder, "time=50")
    local code, console = try(folder)
    t.eq(code, 125)
    t.match(console.stderr, "journal.jsonl was changed while")
end)

t.test("a hash of a command is that of its words, patterns and limit", function()
    local function hash(given) return bench.hash(bench.read(given, "bench")) end
    local one = hash { "a", "b" }
    t.eq(hash { "a", "b" }, one)
    for _, other in ipairs { { "a b" }, { "a", "b", "c" }, { "a", "b", seconds = 5 },
        { "a", "b", claims = { speedup = "x" } } } do
        t.ok(hash(other) ~= one)
    end
end)

-- The task

t.test("mistakes in a task are named with their line", function()
    local function says(given, wanted)
        local folder = folder_with(given, "")
        local loaded, problem, code = task.load(folder)
        t.eq({ loaded, code }, { nil, "INVALID" }, given)
        t.match(problem, wanted)
    end
    says("{}", "task.lua:%d+: bench must be a table like")
    says("'make bench'", "task.lua:%d+: bench must be a table like")
    says("{ 'a', 5 }", "bench: word 2 must be a text")
    says("{ 'a', second = 5 }", "bench: unknown key 'second'[^\n]*seconds")
    says("{ 'a', seconds = 0 }", "bench: seconds must be above 0")
    says("{ 'a', claims = {} }", "bench.claims must be a table like")
    says("{ 'a', claims = { 'x' } }", "bench.claims: give patterns by name")
    says("{ 'a', claims = { speedup = '(' } }", "bench.claims.speedup: [^\n]*parenthesis")
    says("{ 'a', claims = { time = '(.)' } }", "bench.claims.time needs a unit")
    says("{ 'a', claims = { time = { '(.)', unit = 'h' } } }", "bench.claims.time: unit must be s, ms, us or ns")
    says("{ 'a', claims = { correct = '(.)' } }", "bench.claims.correct: yes = ")
    says("{ 'a', claims = { speedup = { '(.)', yes = 'x' } } }", "bench.claims.speedup: yes = ")
    local loaded = assert(task.load(folder_with("{ cpu = { 'a' } }", "")))
    t.eq({ task.resolve(loaded, "cpu").bench.argv, task.resolve(loaded, "gpu").bench }, { { "a" }, nil })
end)

t.test("the plan names it, with the limit in force", function()
    local folder = with_script(HONEST)
    local ctx = scripted.context(folder, { policy = { budget = { build = 1, check = 1, time = 7, bench = 60 } } })
    t.eq(verbs.plan(ctx), 0)
    t.match(ctx.console.stdout, "\nbench       sh bench.sh; 60 s at most, what it says is a claim\n")
    t.eq(bench.seconds({ seconds = 5.0 }, { budget = { bench = 60, time = 7 } }), 5.0)
    t.eq(bench.seconds({}, { budget = { time = 7 } }), 7)
end)

t.test("claims in an output", function()
    local list = claims.read({ time = { "^time (\\S+)", unit = "us" }, tflops = "([\\d.]+) TFLOPS" }, "claims")
    local found, labels = claims.find(list, "warm-up\ntime 1.5e1 us, 3.25 TFLOPS\n")
    t.eq({ found, labels }, { { time_ns = 15000, tflops = 3.25 }, { time = "time" } })
    t.eq({ claims.find(list, "\xff\0\ntime 5\n3 TFLOPS") }, { { time_ns = 5000, tflops = 3 }, { time = "time" } })
    list = claims.read({ speedup = "((a+)+)+$" }, "claims")
    t.eq(select(2, claims.find(list, ("a"):rep(60) .. "b")) ~= nil, true)
end)

t.test("a record with claims is what --json prints, and show", function()
    local folder = with_script(HONEST)
    local _, console = try(folder, nil, { json = true })
    t.eq(json.decode(console.stdout).bench.claimed.speedup, 2.1)
    local ctx = scripted.context(folder)
    ctx.operands = { 0 }
    t.eq(verbs.show(ctx), 0)
    t.match(ctx.console.stdout, "\nbench +exit 0 after [%d.]+ s; claims correct true, speedup 2.1, time 95.00 us\n")
    t.eq(bench.account { how = "exit 1", seconds = 2.04, refused = "why" }, "exit 1 after 2.0 s; why")
end)
