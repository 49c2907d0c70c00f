-- The verb `bench` through the real program, with problems and solutions in Python on the CPU.
local fs = require "ako.fs"
local json = require "ako.json"
local lane = require "lane"
local program = require "program"
local python = require "ako.python"
local t = require "ako.tap"

if not pcall(python.find) then
    t.test("the verb bench", function() t.skip "no Python with PyTorch" end)
    return
end

local PROBLEM = [[
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.linear, self.scale = nn.Linear(16, 16), scale

    def forward(self, x, index):
        return self.linear(x)[index] * self.scale

def get_inputs():
    return [torch.randn(8, 16), torch.randperm(8)]

def get_init_inputs():
    return [2.0]
]]

-- A solution to it, with another body of forward, and more behind the class.
local function solution(body, behind)
    return ("import torch\nimport torch.nn as nn\n\nclass ModelNew(nn.Module):\n    def __init__(self, scale):\n"
        .. "        super().__init__()\n        self.linear, self.scale = nn.Linear(16, 16), scale\n\n"
        .. "    def forward(self, x, index):\n        %s\n\n%s"):format(body, behind or "")
end

local RIGHT = solution("return scaled(self.linear(x[index]), self.scale)",
    "def scaled(x, scale):\n    return x * scale\n")

program.write("ref.py", PROBLEM)
program.write("right.py", RIGHT)
program.write("sub/wrong.py", solution "return self.linear(x)[index] * self.scale + 1e-2")

local FAST = { "--num-correct-trials", "2", "--num-perf-trials", "3", "--device", "cpu", "--quiet" }

local function bench(...)
    local words = { "kernelbench", "bench", ... }
    table.move(FAST, 1, #FAST, #words + 1, words)
    return program.run(table.unpack(words))
end

local function lines(result)
    local list = {}
    for line in result.stdout:gmatch "[^\n]+" do list[#list + 1] = line end
    return list
end

local NOTHING = { "RUNTIME: -1", "REF_RUNTIME: -1", "SPEEDUP: -1" }

-- The run ended with 1, nothing on stderr, and exactly these lines before those of the times.
local function failed(result, before, behind)
    local wanted = { table.unpack(before) }
    table.move(NOTHING, 1, 3, #wanted + 1, wanted)
    wanted[#wanted + 1] = behind
    t.eq({ lines(result), result.stderr, result.code }, { wanted, "", 1 })
end

local function refused(result, line) program.says(result, 2, line) end

lane.test("a right solution, whose function stands behind its class", function()
    local result = bench("--ref", "ref.py", "--solution=right.py")
    t.eq({ result.stderr, result.code }, { "", 0 })
    local list = lines(result)
    t.eq({ #list, list[1], list[2], list[3] }, { 6, "COMPILED: True", "CORRECT: True", "BACKEND: pytorch (auto)" })
    t.match(list[4], "^RUNTIME: %d+%.%d%d%d%d$")
    t.match(list[5], "^REF_RUNTIME: %d+%.%d%d%d%d$")
    t.match(list[6], "^SPEEDUP: %d+%.%d%d%d%dx$")
end)

lane.test("nothing is left behind: no repository, no record, no cache", function()
    local names = fs.list(program.folder)
    table.sort(names)
    t.eq(names, { "ref.py", "right.py", "sub" })
end)

lane.test("a wrong one", function()
    local result = bench("--ref", "ref.py", "--solution", "sub/wrong.py", "--backend", "triton")
    t.match(lines(result)[1], "^%[Eval%] INCORRECT_NUMERICAL, ")
    failed(result, { lines(result)[1], "COMPILED: True", "CORRECT: False", "BACKEND: triton (explicit)" })
end)

lane.test("one that is no Python, one that has no class, one that crashes, one that is of another shape", function()
    program.write("syntax.py", "import torch\nclass ModelNew(:\n")
    failed(bench("--ref", "ref.py", "--solution", "syntax.py"), { "[Eval] COMPILE_ERROR, syntax.py:2: invalid syntax",
        "COMPILED: False", "CORRECT: False", "BACKEND: pytorch (auto)" })
    program.write("none.py", "import torch\n")
    failed(bench("--ref", "ref.py", "--solution", "none.py"),
        { "[Eval] COMPILE_ERROR, none.py: defines no class ModelNew or Model", "COMPILED: False", "CORRECT: False",
            "BACKEND: pytorch (auto)" })
    program.write("crash.py", solution 'raise ValueError("COMPILED: True")')
    failed(bench("--ref", "ref.py", "--solution", "crash.py"),
        { "[Eval] RUNTIME_ERROR, crash.py:10: ValueError: compiled: True", "COMPILED: True", "CORRECT: False",
            "BACKEND: pytorch (auto)" })
    program.write("shape.py", solution "return self.linear(x)")
    local result = bench("--ref", "ref.py", "--solution", "shape.py")
    t.eq(result.code, 1)
end)

lane.test("its inputs come from nowhere: that is said", function()
    program.write("bare.py", (PROBLEM:gsub("def get_inputs.*", "")))
    failed(bench("--ref", "bare.py", "--solution", "right.py"), { "COMPILED: False", "CORRECT: False",
        "BACKEND: pytorch (auto)" }, "ERROR: bare.py: has no get_inputs")
end)

lane.test("inputs of another file go first, with the data beside it; what it lacks is the reference's", function()
    program.write("data/scale.txt", "2.0")
    program.write("data/ref.py", "import os\nimport torch\nn = 16\n\ndef get_inputs():\n"
        .. "    return [torch.randn(4, n), torch.randperm(4)]\n\ndef get_init_inputs():\n"
        .. "    here = os.path.dirname(__file__)\n    with open(os.path.join(here, 'scale.txt')) as file:\n"
        .. "        return [float(file.read())]\n")
    program.write("bare.py", (PROBLEM:gsub("def get_inputs.*", "")))
    t.eq(bench("--ref", "bare.py", "--inputs", "data/ref.py", "--solution", "right.py").code, 0)
    t.eq(bench("--ref", "ref.py", "--inputs", "data/ref.py", "--solution", "right.py").code, 0)
    program.write("only.py", "import torch\n\ndef get_inputs():\n    with open('data/scale.txt') as file:\n"
        .. "        file.read()\n    return [torch.randn(3, 16), torch.randperm(3)]\n")
    t.eq(bench("--ref", "ref.py", "--inputs", "only.py", "--solution", "right.py").code, 0)
    program.write("broken.py", "import torch\n\ndef get_inputs():\n    return 1 / 0\n")
    failed(bench("--ref", "ref.py", "--inputs", "broken.py", "--solution", "right.py"), { "COMPILED: False",
        "CORRECT: False", "BACKEND: pytorch (auto)" }, "ERROR: broken.py:4: ZeroDivisionError: division by zero")
end)

lane.test("without get_init_inputs there are none; a solution's own inputs are not used", function()
    local plain = "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n\n"
    program.write("plain.py", plain .. "def get_inputs():\n    return [torch.randn(5)]\n")
    program.write("own.py", (plain:gsub("x %* 2", "x + x"))
        .. "def get_inputs():\n    return [torch.zeros(1)]\n\ndef get_init_inputs():\n    return [1]\n")
    t.eq(bench("--ref", "plain.py", "--solution", "own.py").code, 0)
end)

lane.test("inputs that are always the same are warned of", function()
    program.write("same.py", (PROBLEM:gsub("torch.randn", "torch.ones"):gsub("torch.randperm", "torch.arange")))
    local result = bench("--ref", "same.py", "--solution", "right.py")
    t.eq({ result.code, lines(result)[1] }, { 0,
        "[WARNING] get_inputs gives the same data every time: a solution may know the answer by heart" })
end)

lane.test("--no-ref changes two lines and nothing else", function()
    local list = lines(bench("--ref", "ref.py", "--solution", "right.py", "--no-ref"))
    t.eq({ #list, list[2], list[5], list[6] }, { 6, "CORRECT: True", "REF_RUNTIME: -1", "SPEEDUP: -1" })
    t.match(list[4], "^RUNTIME: %d")
end)

lane.test("--precision casts inputs and weights on both sides, integers stay", function()
    program.write("types.py", solution(
        "return self.linear(x)[index] * self.scale if (x.dtype, self.linear.weight.dtype, index.dtype) == "
        .. "(torch.bfloat16, torch.bfloat16, torch.int64) else x"))
    t.eq(bench("--ref", "ref.py", "--solution", "types.py", "--precision", "bfloat16").code, 0)
    t.eq(bench("--ref", "ref.py", "--solution", "types.py").code, 1)
    -- At the tolerance of bfloat16, 1e-2, and not at that of float32.
    program.write("near.py", solution "return self.linear(x)[index] * self.scale + 1e-3")
    t.eq(bench("--ref", "ref.py", "--solution", "near.py", "--precision", "bfloat16").code, 0)
    t.eq(bench("--ref", "ref.py", "--solution", "near.py").code, 1)
    program.write("copy.py", "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
        .. "        return x.clone()\n")
    program.write("double.py", "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
        .. "        return x * 1 if x.dtype is torch.float16 else x + 1\n"
        .. "def get_inputs():\n    return [torch.randn(5).double()]\n")
    t.eq(bench("--ref", "double.py", "--solution", "copy.py", "--precision=float16").code, 0)
end)

lane.test("a C file whose entry point is called with the reference's tensors and sizes", function()
    program.write("double.py", "import torch\nN = 40\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
        .. "        return x * 2\ndef get_inputs():\n    return [torch.randn(N)]\n")
    program.write("double.c", "void solve(const float *restrict given, float *twice, int N)\n{\n"
        .. "    for (int i = 0; i < N; i++)\n        twice[i] = 2 * given[i];\n}\n")
    local result = bench("--ref", "double.py", "--solution", "double.c")
    t.eq(result.code, 0)
    t.match(result.stdout, "COMPILED: True\nCORRECT: True\nBACKEND: c %(auto%)\n")
    program.write("double.c", "void solve(const float *given, float *twice, int M) { twice[0] = given[0] * M; }\n")
    failed(bench("--ref", "double.py", "--solution", "double.c"),
        { "[Eval] COMPILE_ERROR, double.c: solve: 'M' is no size of the task; it has N",
            "COMPILED: False", "CORRECT: False", "BACKEND: c (auto)" })
end)

lane.test("--baseline adds the original kernel's lines", function()
    local list = lines(bench("--ref", "ref.py", "--solution", "right.py", "--baseline", "right.py"))
    t.match(list[7], "^BASELINE_RUNTIME: %d")
    t.match(list[8], "^BASELINE_SPEEDUP: %d+%.%d%d%d%dx$")
    list = lines(bench("--ref", "ref.py", "--solution", "right.py", "--baseline", "sub/wrong.py"))
    t.eq({ list[8], list[9] }, { "BASELINE_RUNTIME: -1", "BASELINE_SPEEDUP: -1" })
    t.match(list[1], "^%[WARNING%] wrong.py: the original kernel has no time: INCORRECT_NUMERICAL, ")
    local said = json.decode(bench("--ref", "ref.py", "--solution", "right.py", "--baseline", "sub/wrong.py",
        "--json").stdout)
    t.eq({ "[WARNING] " .. said.warnings[1], #said.warnings, said.baseline.runtime }, { list[1], 1, -1 })
end)

-- Weak problems

local function weak(body, inputs)
    return ("import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return %s\n\n"
        .. "def get_inputs():\n    return [%s]\n"):format(body, inputs)
end

local RELU = weak("torch.relu(x)", "torch.rand(64, 100)")
local SOFTMAX = weak("torch.softmax(x, 1)", "torch.rand(4, 60000)")

-- What is said of a solution with this body: lines, exit code and the warnings, which --json has, too. Without the
-- reference's time nothing is too fast to be believed.
local function weak_bench(problem, body, ...)
    program.write("weak.py", problem)
    program.write("null.py", weak(body, "None"))
    local result = bench("--no-ref", "--ref", "weak.py", "--solution", "null.py", ...)
    local warnings = {}
    for _, line in ipairs(lines(result)) do warnings[#warnings + 1] = line:match "^%[WARNING%] (.*)$" end
    local said = json.decode(bench("--no-ref", "--ref", "weak.py", "--solution", "null.py", "--json", ...).stdout)
    t.eq(said.warnings, warnings)
    return lines(result), result.code, warnings
end

lane.test("a copy is no ReLU where only numbers that are not negative come in", function()
    local list, code, warnings = weak_bench(RELU, "x.clone()")
    t.eq({ code, list[4], list[5] }, { 1, "COMPILED: True", "CORRECT: False" })
    t.match(warnings[1], "^a weak task: a copy of input 'x' passes as 'out'; its values lie in ")
    t.match(warnings[2], "^inputs: beside the problem's own, inputs of both signs; and of both signs, 8 times")
    t.match(list[3], "^%[Eval%] INCORRECT_NUMERICAL, right for the problem's own inputs, wrong for wider ones %(of bo")
    list, code, warnings = weak_bench(RELU, "x.clamp(min=0)")
    t.eq({ code, #warnings, list[4] }, { 0, 2, "CORRECT: True" })
end)

lane.test("zeros are no softmax over many columns", function()
    local list, code, warnings = weak_bench(SOFTMAX, "torch.zeros_like(x)")
    t.eq({ code, #warnings, list[#list - 4] }, { 1, 1, "CORRECT: False" })
    t.match(warnings[1], "^tolerance: judged with atol [%d.e-]+, rtol [%d.e-]+ instead of the policy's atol 0.0001, "
        .. "rtol 0.0001, under which zeros everywhere pass as 'out'")
    t.match(list[2], "^%[Eval%] INCORRECT_NUMERICAL, .*; with the policy's own atol 0.0001, rtol 0.0001 this would "
        .. "have passed$")
end)

lane.test("with --faithful the original's answer stays, and what it lets through is said", function()
    local list, code, warnings = weak_bench(RELU, "x.clone()", "--faithful")
    t.eq({ code, #warnings, list[3] }, { 0, 1, "CORRECT: True" })
    t.match(warnings[1], "^a weak task: a copy of input 'x' passes as 'out'")
    list, code, warnings = weak_bench(SOFTMAX, "torch.zeros_like(x)", "--faithful")
    t.eq({ code, #warnings, list[3] }, { 0, 1, "CORRECT: True" })
    t.match(warnings[1], "the original's tolerance is kept, as was asked; atol [%d.e-]+, rtol [%d.e-]+ would let noth")
end)

lane.test("an input that no seed changes is warned of, and a policy may refuse what is weak", function()
    local fixed = weak("x * y", "torch.ones(64, 100) * 3, torch.randn(64, 100)"):gsub("self, x", "self, x, y")
    program.write("partly.py", fixed)
    program.write("product.py", (fixed:gsub("def get_inputs.*", "")))
    local result = bench("--ref", "partly.py", "--solution", "product.py")
    t.eq(result.code, 0)
    t.match(lines(result)[1], "^%[WARNING%] a weak task: .*a new seed gives 'x' the same content")
    program.write("strict.lua", 'return require("policies.kernelbench"):extend { name = "strict", '
        .. 'correctness = { weak_problem = "refuse" } }')
    result = program.run("strict.lua", "bench", "--ref", "partly.py", "--solution", "product.py", table.unpack(FAST))
    t.eq({ result.code, lines(result)[2] }, { 1, "CORRECT: False" })
    t.match(lines(result)[7], "^ERROR: a weak task: .*a new seed gives 'x' the same content")
end)

lane.test("under --faithful the first trial's inputs are those of the original", function()
    program.write("told.py", weak("x * 2", "torch.randn(4, 4)"))
    program.write("tells.py", (weak("x", "None"):gsub("return x", "raise ValueError('first %%.9g' %% x[0, 0].item())")))
    local known = program.shell(python.find() .. [=[ -I -c "
import torch
torch.manual_seed(42)
torch.manual_seed(torch.randint(0, 2**32 - 1, (1,)).item())
print('first %.9g' % torch.randn(4, 4)[0, 0].item())"]=])
    t.match(known.stdout, "^first %-?%d[^\n]+\n$")
    known = known.stdout:match "[^\n]+"
    local said = bench("--ref", "told.py", "--solution", "tells.py", "--faithful").stdout
    t.ok(said:find(known, 1, true), said)
    said = bench("--ref", "told.py", "--solution", "tells.py").stdout
    t.ok(said:find("first ", 1, true) and not said:find(known, 1, true), said)
end)

lane.test("--compiled has a line, here as in try", function()
    program.write("plain.py", weak("x * 2", "torch.randn(64, 64)"))
    program.write("twice.py", weak("x + x", "None"))
    local result = bench("--ref", "plain.py", "--solution", "twice.py", "--compiled")
    t.match(lines(result)[7], "^COMPILE_RUNTIME: ")
    local said = json.decode(bench("--ref", "plain.py", "--solution", "twice.py", "--compiled", "--json").stdout)
    t.ok(type(said.compile_runtime) == "number" or type(said.compile_note) == "string")
    t.eq(#lines(bench("--ref", "plain.py", "--solution", "twice.py")), 6)
end)

lane.test("--json is the twin, --verbose the details", function()
    local said = json.decode(bench("--ref", "ref.py", "--solution", "right.py", "--json").stdout)
    t.eq({ said.compiled, said.correct, said.backend, said.origin, said.status, said.runtime_stats.num_trials },
        { true, true, "pytorch", "auto", "PASSED", 3 })
    t.eq(said.metadata.correctness_trials, "(2 / 2)")
    local text = bench("--ref", "ref.py", "--solution", "right.py", "--verbose").stdout
    t.match(text, "\n\n%-%-%- Details %-%-%-\nRuntime stats: {'mean': ")
    t.match(text, "'device': 'cpu'}\n  hardware: ")
end)

local SESSIONLESS = "option --%s is none of the verb bench, which has no task, workspace or session: --ref and "
    .. "--solution behind it name files"

t.test("a wrong command line is one line and 2", function()
    refused(bench("--ref", "ref.py"), "option --solution is needed, but for --self-test")
    refused(bench("--ref", "ref.py", "--solution", "right.py", "--trials", "3"), "unknown option '--trials'")
    refused(bench("--ref", "absent.py", "--solution", "right.py"), "cannot read absent.py: No such file or directory")
    refused(bench("--ref", "ref.py", "--solution", "absent.py"), "cannot read absent.py: No such file or directory")
    refused(bench("--ref", "ref.py", "--solution", "right.py", "--inputs", "absent.py"),
        "cannot read absent.py: No such file or directory")
    refused(bench("--ref", "right.c", "--solution", "right.py"),
        "right.c: the reference must be a Python file with class Model")
    refused(program.run("--session=a", "kernelbench", "bench", "--self-test"),
        SESSIONLESS:format "session")
    refused(bench("--ref", "ref.py", "--solution", "right.py", "--session", "a"),
        SESSIONLESS:format "session")
    refused(bench("--ref", "ref.py", "--solution", "right.py", "--task=x"), SESSIONLESS:format "task")
    refused(program.run("kernelbench", "--workspace=.", "bench", "--self-test"), SESSIONLESS:format "workspace")
end)

t.test("--self-test and --help evaluate nothing", function()
    local result = program.run("kernelbench", "bench", "--self-test")
    t.eq({ result.code, result.stderr }, { 0, "" })
    t.match(result.stdout, "^Self%-test PASSED: ")
    local said = json.decode(program.run("kernelbench", "bench", "--self-test", "--json").stdout)
    t.eq({ said.v, said.passed, #said.tests, said.tests[1].passed }, { 1, true, 6, true })
    result = program.run("kernelbench", "bench", "--help")
    t.eq({ result.code, result.stderr }, { 0, "" })
    t.match(result.stdout, "^usage: bench %-%-ref FILE")
    t.match(result.stdout, "%-%-device, %-%-json, %-%-quiet%.\n$")
end)

lane.test("another policy's numbers are those of its bench; options in front of the verb, too", function()
    program.write("mine.lua", 'return require("policies.kernelbench"):extend { name = "mine", '
        .. "options = { excessive = { 1e-9, 'never believed' } }, correctness = { trials = 3 } }")
    local result = program.run("mine.lua", "--device=cpu", "-q", "bench", "--ref", "ref.py", "--solution", "right.py",
        "--verbose", "--num-perf-trials=2")
    t.match(result.stdout, "^%[WARNING%] Excessive speedup ")
    t.match(result.stdout, "correctness_trials: %(3 / 3%)")
end)

t.test("a machine without PyTorch is a result with an ERROR line", function()
    program.write("python", "#!/bin/sh\necho 3.11 True False\necho /nowhere/python\n")
    program.shell "chmod +x python"
    local result = bench("--ref", "ref.py", "--solution", "right.py", "--python=./python")
    t.eq({ result.code, lines(result)[1] }, { 1, "COMPILED: False" })
    t.match(lines(result)[7], "^ERROR: /nowhere/python has no PyTorch")
end)
