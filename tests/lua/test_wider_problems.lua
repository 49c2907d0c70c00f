-- Problems in Python that say too little: one whose inputs show half of what the model does is tried on wider ones, and
-- one whose reference is imprecise is no measure for a solution that is better. And how often long calls are made.
local exits = require "ako.exits"
local json = require "ako.json"
local lane = require "lane"
local program = require "program"
local t = require "ako.tap"
local task_files = require "ako.task"

local function problem(body, inputs)
    return ("import torch\nimport torch.nn as nn\n\nclass Model(nn.Module):\n    def forward(self, x):\n        return "
        .. "%s\n\ndef get_inputs():\n    return [%s]\n"):format(body, inputs)
end

local function solution(body)
    return ("import torch\nimport torch.nn as nn\n\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        "
        .. "return %s\n"):format(body)
end

local POLICY = [[
return require("policies.kernelbench"):extend { name = "light", correctness = { trials = 2, %s },
    options = { excessive = { 1e6, "the speed is not what is tested" } },
    timing = { warmup = 1, launches = 3, pairs = { looks = { 4 }, control = 4, headline = 4 } } }
]]

local function run(...)
    return program.run("--device=cpu", "--task", "p.py", "--solution", "mine.py", "light.lua", ...)
end

-- A fresh session about a problem, whose first trial is the solution's body.
local function begin(text, body, changes, ...)
    lane.need()
    program.fresh()
    program.write("light.lua", POLICY:format(changes or ""))
    program.write("p.py", text)
    program.write("mine.py", solution(body))
    return json.decode(run("--json", "try", ...).stdout)
end

-- The record of the next trial, in a process of its own.
local function try(body, ...)
    program.write("mine.py", solution(body))
    return json.decode(run("--json", "try", ...).stdout)
end

-- Calls that take long

local TWICE = problem("x * 2", "torch.randn(512, 512)")

t.test("calls that take long are fewer, and all of them where the original's answers are wanted", function()
    local early = "tolerance = { f32 = 1e-4 } }, timing = { long = { seconds = 0.001, launches = 7 } }"
    local function counts(...)
        lane.need()
        program.fresh()
        program.write("light.lua", ('return require("policies.kernelbench"):extend { name = "light", correctness = '
            .. "{ trials = 1, %s, }:extend { timing = { warmup = 1, launches = 60, "
            .. "pairs = { looks = { 4 }, control = 4 } } }\n"):format(early))
        program.write("p.py", TWICE)
        program.write("mine.py", solution "x * 2")
        local record = json.decode(run("--json", "try", ...).stdout)
        t.eq(record.status, "PASSED", record.reason)
        return record.workloads[1].time_ns.n, record.workloads[1].reference_ns.n
    end
    local mine, reference = counts()
    t.ok(mine >= 7 and mine < 60, mine)
    t.eq(reference, 7)
    mine, reference = counts "--faithful"
    t.ok(mine >= 60, mine)
    t.eq(reference, 60)
end)

-- Wider inputs

local RELU = problem("torch.relu(x)", "torch.rand(64, 100)")

t.test("a copy is no ReLU, whatever the problem's own inputs say", function()
    local first = begin(RELU, "torch.relu(x)")
    t.eq(first.status, "PASSED", first.reason)
    t.eq({ first.wider[1].name, first.wider[2].name, #first.wider }, { "of both signs",
        "of both signs, 8 times as large", 2 })
    local copy = try "x.clone()"
    t.eq({ copy.status, copy.code }, { "INCORRECT_NUMERICAL", "wider" })
    t.match(copy.reason, "^right for the problem's own inputs, wrong for wider ones %(of both signs%): %d+ of 6400 ele")
    local narrow = try "x.clamp(0, 2)"
    t.match(narrow.reason, "wrong for wider ones %(of both signs, 8 times as large%): ")
    t.eq(try("x.clamp(min=0)").status, "PASSED")
    t.match(program.run("light.lua", "show", "1").stdout,
        "\ninputs      beside the problem's own, inputs of both signs; and of both signs, 8 times as large\n")
end)

t.test("the original's answers, and a policy that wants them, know of no wider inputs", function()
    begin(RELU, "torch.relu(x)", nil, "--faithful")
    t.eq(try("x.clone()", "--faithful").status, "PASSED")
    local first = begin(RELU, "torch.relu(x)", "wider = false")
    t.eq(first.wider, nil)
    t.eq(try("x.clone()").status, "PASSED")
end)

t.test("--faithful holds for a session from its baseline on, or not at all", function()
    local relu = problem("torch.relu(x)", "torch.rand(64, 128)")
    begin(relu, "x.clamp(min=0)", nil, "--faithful")
    local copied = try("x.clone()")
    t.eq({ copied.status, copied.options, copied.wider }, { "PASSED", { faithful = true } })
    begin(relu, "x.clamp(min=0)")
    local refused = run("try", "--faithful")
    t.eq({ refused.code, refused.stdout }, { 13, "" })
    t.match(refused.stderr, "was begun with the options none, not with %-%-faithful: go on with that one, or begin")
    t.eq(try("x.clone()").status, "INCORRECT_NUMERICAL")
end)

t.test("inputs that the reference has no answer for are not tried", function()
    local first = begin(problem("torch.sqrt(x) * 0 + 1", "torch.rand(64, 100)"), "torch.ones_like(x)")
    t.eq({ first.status, first.wider }, { "PASSED", nil })
    t.match(first.weakness, "the mean, passes as 'out'")
    first = begin(problem("torch.bernoulli(x.clamp(max=1)) * 0 + 1", "torch.rand(64, 100)"), "torch.ones_like(x)",
        "wider = { { signed = true }, { times = 3 } }")
    t.eq({ first.status, #first.wider, first.wider[1].name }, { "PASSED", 1, "3 times as large" })
end)

t.test("what counts or indexes something stays as it is, and a task that is not weak is not tried", function()
    local first = begin(problem("torch.full((64,), 1.0).index_add(0, x, torch.zeros(64))",
        "torch.randint(0, 64, (64,))"), "torch.ones(64)")
    t.eq({ first.status, #first.wider }, { "PASSED", 2 }, first.reason)
    t.eq(begin(problem("torch.relu(x)", "torch.randn(64, 100)"), "torch.relu(x)").wider, nil)
end)

t.test("a policy's mistake about wider inputs is one line", function()
    lane.need()
    for text, why in pairs {
        ["wider = { { sign = true } }"] = "must be tables like { signed = true, times = 8 }",
        ["wider = { { times = -1 } }"] = "must be tables like { signed = true, times = 8 }",
        ["wider = { { signed = false, times = 1 } }"] = "must be tables like { signed = true, times = 8 }",
        ["exact = -1"] = "",
    } do
        program.write("light.lua", POLICY:format(text))
        local r = program.run("light.lua", "check")
        t.eq(r.code, exits.POLICY, text)
        t.ok(r.stderr:find("correctness." .. text:match "%w+", 1, true) and r.stderr:find(why, 1, true), r.stderr)
    end
end)

-- An imprecise reference

-- The variance of numbers near 100, as the difference of two large numbers of f32.
local CANCELS = problem("(x * x).mean(1) - x.mean(1) ** 2", "torch.randn(256, 4096) + 100")
local EXACT = "x.double().var(1, unbiased=False).float()"

t.test("a solution that is more exact than the reference is right, and the record says by which measure", function()
    local first = begin(CANCELS, "(x * x).mean(1) - x.mean(1) ** 2")
    t.eq(first.status, "PASSED", first.reason)
    local exact = try(EXACT)
    t.eq(exact.status, "PASSED", exact.reason)
    local found = exact.workloads[1].exact
    t.ok(found.max_abs < 1e-6 and found.reference_max_abs > 1e-4, json.encode(found))
    t.ok(exact.workloads[1].max_abs > 1e-4, "off the reference's answer all the same")
    t.match(program.run("light.lua", "show", "1").stdout, "against fp64 %S+, the reference's own %S+")
    local as_bad = try "(x * x).view(256, 64, 64).sum(1).sum(1) / 4096 - x.mean(1) ** 2"
    t.eq(as_bad.status, "PASSED", as_bad.reason)
    local wrong = try "x.double().var(1, unbiased=False).float() * 1.01"
    t.eq({ wrong.status, wrong.code }, { "INCORRECT_NUMERICAL", "numerical" }, wrong.reason)
    for _, null in ipairs { "torch.ones(256)", "torch.zeros(256)", "x.bfloat16().float().var(1)" } do
        t.eq(try(null).status, "INCORRECT_NUMERICAL", null)
    end
end)

t.test("the original's answers, and a policy without it, know of no other measure", function()
    begin(CANCELS, "(x * x).mean(1) - x.mean(1) ** 2", nil, "--faithful")
    t.eq(try(EXACT, "--faithful").status, "INCORRECT_NUMERICAL")
    begin(CANCELS, "(x * x).mean(1) - x.mean(1) ** 2", "exact = 0.0")
    t.eq(try(EXACT).status, "INCORRECT_NUMERICAL")
end)

t.test("a model that cannot run in fp64 is its own measure", function()
    local text = problem("(x * x).mean(1) - x.mean(1) ** {torch.float32: 2}[x.dtype]",
        "torch.randn(256, 4096) + 100")
    begin(text, "(x * x).mean(1) - x.mean(1) ** 2")
    local record = try(EXACT)
    t.eq(record.status, "INCORRECT_NUMERICAL")
    t.match(record.workloads[1].exact.unavailable, "^the reference failed: .*p%.py:6: ")
end)

t.test("weights and buffers are those of the model, and a half-precision one is judged in its own dtype", function()
    local text = [[
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4096, dtype=torch.float16))
        self.register_buffer("seen", torch.zeros(1, dtype=torch.float16))
    def forward(self, x):
        self.seen += 1
        total = torch.zeros(x.shape[0], dtype=x.dtype)
        for i in range(0, 4096, 64):
            total = total + (x[:, i:i + 64] * self.weight[i:i + 64]).sum(1)
        return total * self.seen

def get_inputs():
    return [torch.randn(16, 4096).half()]
]]
    local mine = [[
import torch
import torch.nn as nn

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4096, dtype=torch.float16))
    def forward(self, x):
        return (x.double() @ self.weight.double()).half()
]]
    lane.need()
    program.fresh()
    program.write("light.lua", POLICY:format "tolerance = { f16 = 1e-3 }")
    program.write("p.py", text)
    program.write("mine.py", (text:gsub("def get_inputs.*", "")))
    t.eq(json.decode(run("--json", "try").stdout).status, "PASSED")
    program.write("mine.py", mine)
    local record = json.decode(run("--json", "try").stdout)
    t.eq(record.status, "PASSED", record.reason)
    t.ok(record.workloads[1].exact.max_abs < record.workloads[1].exact.reference_max_abs)
end)

t.test("what a model computes in fp64 is no measure where that is something else", function()
    local function refused(text, right, wrong, why)
        t.eq(begin(text, right).status, "PASSED", text)
        local record = try(wrong)
        t.eq({ record.status, record.code }, { "INCORRECT_NUMERICAL", "numerical" }, record.reason)
        local exact = record.workloads[1].exact
        t.eq(exact and exact.unavailable, why)
    end
    local x = "torch.randn(64, 100)"
    refused(problem("x + torch.rand(64, 100)", x), "x + torch.rand(64, 100)", "x + 0.5", nil) -- draws others in fp64
    refused(problem("x * (1.0 if x.dtype == torch.float32 else 5.0)", x), "x * 1", "x * 2",
        "in fp64 the model gives another answer, which is no measure for this one")
    refused(problem("x * {torch.float32: 1.0}.get(x.dtype, float('nan'))", x), "x * 1", "x * 2",
        "in fp64 the model gives NaN or infinite values")
    refused(problem("(x * {torch.float32: 1.0}.get(x.dtype, 5.0)).sum()", x), "x.sum()", "x.sum() * 2",
        "in fp64 the model gives another answer, which is no measure for this one")
end)

t.test("a reference that is right in fp64, too, is told with its figures, however alike its answers are", function()
    begin(problem("x.expand(64, 100) + 0", "torch.randn(1, 100)"), "x.expand(64, 100) + 0")
    local record = try "x.expand(64, 100) + 1"
    t.eq({ record.status, record.code }, { "INCORRECT_NUMERICAL", "numerical" }, record.reason)
    t.eq(record.workloads[1].exact.reference_max_abs, 0)
end)

t.test("one element of the reference that is far off excuses no others", function()
    local text = problem("(x * x).mean(1) - x.mean(1) ** 2", "torch.randn(256, 4096) "
        .. "* torch.linspace(1, 4, 256)[:, None] + torch.tensor([2000.0] + [100.0] * 255)[:, None]")
    begin(text, "(x * x).mean(1) - x.mean(1) ** 2")
    t.eq(try(EXACT).status, "PASSED")
    local record = try(EXACT .. " + 0.05 * (torch.arange(256) % 8 == 0)")
    t.eq(record.status, "INCORRECT_NUMERICAL", json.encode(record.workloads[1].exact))
    t.ok(record.workloads[1].exact.reference_max_abs > 0.05, json.encode(record.workloads[1].exact))
end)

t.test("a model that ends its process in fp64, or hangs there, leaves the verdict to the reference", function()
    local text = "x if x.dtype == torch.float32 else __import__(%s)"
    for call, why in pairs {
        ["'os')._exit(3"] = "^in fp64 the model's process ended: exit 3$",
        ["'time').sleep(100"] = "^in fp64 the model took longer than 2 s$",
    } do
        local record = begin(problem(text:format(call), "torch.randn(64, 100)"), "x * 1",
            "}, budget = { check = 2, least = 2")
        t.eq(record.status, "PASSED", record.reason)
        record = try "x * 2"
        t.eq({ record.status, record.code }, { "INCORRECT_NUMERICAL", "numerical" }, record.reason)
        t.match(record.workloads[1].exact.unavailable, why)
        t.eq(try("x * 1.0").status, "PASSED")
    end
end)

t.test("a model that fails in fp64 while two arms disagree is no measure, and harms no later trial", function()
    lane.need()
    local text = "x if x.dtype == torch.float32 else %s"
    for call, why in pairs {
        ["__import__('os')._exit(3)"] = "^in fp64 the model's process ended: exit 3$",
        ["x.no_such_thing"] = "^the reference failed: .*: AttributeError: ",
    } do
        local task = assert(lane.task(lane.write("fails.py", problem(text:format(call), "torch.randn(64, 100)"))))
        local tolerance = task_files.tolerance(task, "allclose_out", { f32 = 1e-4 })
        tolerance.exact = 1.5
        lane.give(task, tolerance)
        local result = lane.try(task, solution "x * 1", { launches = 3, incumbent = solution "x * 1.01" })
        t.eq({ result.status, result.code }, { "UNSTABLE", "M7" }, result.reason)
        t.match(result.workloads[1].exact.unavailable, why)
        result = lane.try(task, solution "x * 1", { launches = 3, incumbent = solution "x / 1" })
        t.eq(result.status, "PASSED", result.reason)
    end
end)

t.test("a model whose copies are itself keeps its precision", function()
    local text = [[
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(100))
    def __deepcopy__(self, memo):
        return self
    def forward(self, x):
        return x * self.weight

def get_inputs():
    return [torch.randn(64, 100)]
]]
    begin(text, "x * 1")
    for _ = 1, 2 do
        local record = try "x * 2"
        t.eq(record.status, "INCORRECT_NUMERICAL", record.reason)
        t.match(record.workloads[1].exact.unavailable, "the model's copies share its tensors")
    end
end)
