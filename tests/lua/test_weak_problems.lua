-- Problems in Python that a null result passes: what is said of them, the finer tolerance where one helps, and the mark
-- on every trial.
local attack = require "ako.attack"
local exits = require "ako.exits"
local fs = require "ako.fs"
local json = require "ako.json"
local kernelbench = require "policies.kernelbench"
local lane = require "lane"
local program = require "program"
local t = require "ako.tap"
local task_files = require "ako.task"
local tightening = require "ako.tightening"

local function problem(body, inputs, init)
    return ([[
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        %s
    def forward(self, x):
        return %s

def get_inputs():
    return [%s]
]]):format(init or "pass", body, inputs or "torch.randn(64, 100)")
end

local function solution(body)
    return ("import torch\nimport torch.nn as nn\n\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        "
        .. "return %s\n"):format(body)
end

lane.restart "cpu"

local RELU = problem("torch.relu(x)", "torch.rand(64, 100)")
local CONSTANT = problem("torch.clamp(x * 1e-9, -1e-12, 1e-12) * 0 + 1")
local DROPOUT = problem("self.drop(x)", nil, "self.drop = nn.Dropout(0.5)")
local SMALL = problem("torch.softmax(x, 1)", "torch.rand(4, 60000)")

-- Gives the problem to the evaluator and examines it: what was found, the plan, the task.
local function examine(name, text, unwanted)
    local task = assert(lane.task(lane.write(name .. ".py", text)))
    local correctness = kernelbench.correctness
    local plan = { tolerance = task_files.tolerance(task, correctness.predicate, correctness.tolerance),
        steps = { check = { seeds = { 1 } }, limits = { check = 60 * program.second_ns } } }
    local function give() lane.give(task, plan.tolerance) end
    return assert(tightening.examine(lane.evaluator(), task, plan, give, unwanted)), plan, task
end

local function names(weak)
    local list = {}
    for i, entry in ipairs(weak) do list[i] = entry.name end
    return table.concat(list, " ")
end

t.test("a ReLU of numbers that are never negative", function()
    local found, plan = examine("relu", RELU)
    t.eq({ names(found.weak), plan.tightened }, { "copy", nil })
    t.match(found.advice, "let get_inputs give values of 'x' for which it is not %(a ReLU needs both signs")
    t.eq(plan.tolerance.atol, 1e-4, "the policy's is back")
end)

t.test("an output that is always one", function()
    local found = examine("constant", CONSTANT)
    t.match(names(found.weak), "^mean other seed .*input$")
    t.match(found.weak[1].reason, "the mean, passes as 'out'; it is 1 throughout")
    t.match(found.advice, "'out' hardly depends on the inputs: let get_inputs give values for which it varies")
end)

t.test("a dropout", function()
    local found, _, task = examine("dropout", DROPOUT)
    t.eq(names(found.weak), "random")
    t.match(found.advice, "same numbers in the same order")
    t.eq(lane.try(task, solution "nn.functional.dropout(x, 0.5)").status, "PASSED", "one seed on both sides")
    t.eq(names(examine("eval", problem("self.drop(x) * 2", nil, "self.drop = nn.Dropout(0.5).eval()")).weak), "")
end)

t.test("a scalar is no constant", function()
    t.eq(names(examine("scalar", problem "(x * x).mean()").weak), "")
end)

t.test("null results fail where outputs are small, and honest ones do not", function()
    local found, plan, task = examine("small", SMALL)
    t.eq({ names(found.weak), plan.tolerance.atol < 2e-9, plan.tolerance.rtol }, { "", true, 1e-4 })
    t.match(tightening.text(plan), "^judged with atol %S+, rtol 0.0001 instead of the policy's atol 0.0001, "
        .. "rtol 0.0001, under which zeros everywhere pass as 'out'$")
    for _, null in ipairs { "torch.zeros_like(x)", "torch.full_like(x, 1 / 60000)", "x.clone() / 60000",
        "torch.empty_like(x)" } do
        t.eq(lane.try(task, solution(null)).status, "INCORRECT_NUMERICAL", null)
    end
    t.eq(lane.try(task, solution "torch.exp(x) / torch.exp(x).sum(1, keepdim=True)").status, "PASSED")
    t.eq(lane.try(task, solution "torch.softmax(x.half().float(), 1)").status, "INCORRECT_NUMERICAL")
end)

t.test("who asks for the original's answers gets its tolerance", function()
    local found, plan, task = examine("small", SMALL, true)
    t.match(names(found.weak), "^zeros mean cast ")
    t.eq({ plan.tolerance.atol, plan.tightened }, { 1e-4, nil })
    t.match(found.advice, "^the original's tolerance is kept, as was asked; atol %S+, rtol 0.0001 would let nothing of")
    t.eq(lane.try(task, solution "torch.zeros_like(x)").status, "PASSED")
    t.eq({ tightening.is_unwanted(kernelbench, { faithful = true }), tightening.is_unwanted(kernelbench, {}) },
        { true, false })
end)

t.test("a finer tolerance leaves room for what comes near zero", function()
    local outputs = { { tensor = "a", min = -3.0, max = 3.0, rms = 1.0, nan = 0, inf = 0 },
        { tensor = "b", min = 1e-6, max = 1e-5, rms = 2e-6, nan = 0, inf = 0 } }
    local zeros = { name = "zeros", tensor = "b", of = "", passed = true }
    local answer = { workloads = { { id = "p", inputs = {}, outputs = outputs, attacks = { zeros } } } }
    local asked
    local given = { attack = function(_, request)
        asked = request.tolerances
        return { status = "PASSED", workloads = { answer.workloads[1] } }
    end }
    local steps = { check = { seeds = { 1 } }, limits = { check = 1 } }
    local plan = { tolerance = { atol = 1e-4, rtol = 1e-4 }, steps = steps }
    local found = assert(attack.examine(given, { python = "", workloads = { {} } }, plan))
    t.eq({ names(found.weak), found.tolerance, asked }, { "zeros", nil, nil })
end)

t.test("which word of a policy counts", function()
    local weak = { { name = "copy" } }
    local function refused(words, python)
        return attack.is_refused(weak, { correctness = words }, { python = python })
    end
    t.eq({ refused({}, "spec"), refused({ weak = "warn" }, "spec"), refused({ weak_problem = "warn" }, "spec") },
        { true, false, false })
    t.eq({ refused({ weak_problem = "warn" }, nil), refused({ weak = "warn", weak_problem = "refuse" }, "spec") },
        { true, true })
end)

-- Through the program

local POLICY = [[
return require("policies.kernelbench"):extend { name = "light", correctness = { trials = 1, weak_problem = %q },
    options = { excessive = { 1e6, "the speed is not what is tested" } },
    timing = { warmup = 1, launches = 3, pairs = { looks = { 4 }, control = 4, headline = 4 } } }
]]

local function run(host, verb, ...)
    return program.run(host, "--device=cpu", "--task", "p.py", "--solution", "mine.py", "light.lua", verb, ...)
end

t.test("every trial of a weak problem is marked, by one process and the next", function()
    lane.evaluator()
    program.fresh()
    program.write("light.lua", POLICY:format "warn")
    program.write("p.py", RELU)
    program.write("mine.py", solution "torch.relu(x)")
    local first = run("--color=never", "try")
    t.eq(first.code, exits.DONE, first.stderr)
    t.match(first.stderr, "\na weak task: a copy of input 'x' passes as 'out'")
    t.match(first.stdout, "\ntrial 0 %(the tree%): PASSED on a weak task, median")
    program.write("mine.py", solution "x.clamp(min=0)")
    local second = json.decode(run("--json", "try").stdout)
    t.match(second.weakness, "^a copy of input 'x' passes as 'out'")
    t.match(second.python, "^Python %S+ %(/.*PyTorch .*; tf32: products %a+, cuDNN %a+; inputs drawn on the cpu$")
    local report = program.run("light.lua", "report").stdout
    t.match(report, "\nweak task   a copy of input 'x'")
    t.match(report, "\npython      Python ")
    t.match(program.run("light.lua", "show", "1").stdout, "\nweak task   a copy")
    program.fresh()
    program.write("light.lua", POLICY:format "refuse")
    program.write("p.py", RELU)
    program.write("mine.py", solution "torch.relu(x)")
    local refused = json.decode(run("--json", "try").stdout)
    t.eq(refused.status, "INVALID_REFERENCE")
end)

t.test("a finer tolerance holds in the next process, and says what the policy's would have let pass", function()
    lane.evaluator()
    program.fresh()
    program.write("light.lua", POLICY:format "warn")
    program.write("p.py", SMALL)
    program.write("mine.py", solution "torch.softmax(x, 1)")
    local first = run("--json", "try")
    t.match(first.stderr, "tolerance   judged with atol")
    local record = json.decode(first.stdout)
    t.eq({ record.status, record.weakness, record.tightened.instead.atol }, { "PASSED", nil, 1e-4 })
    program.write("mine.py", solution "torch.zeros_like(x)")
    local second = run("-q", "try")
    t.eq(second.code, exits.INCORRECT)
    t.match(second.stdout, "all are zero; with the policy's own atol 0.0001, rtol 0.0001 this would have passed")
end)

t.test("doctor says the same of a problem", function()
    lane.evaluator()
    program.fresh()
    program.write("light.lua", POLICY:format "warn")
    program.write("p.py", SMALL)
    program.write("mine.py", solution "torch.softmax(x, 1)")
    local told = json.decode(run("--json", "doctor").stdout)
    local states = {}
    for _, check in ipairs(told.checks) do states[check.name] = check.state end
    t.eq({ states.task, states.tolerance, states.original }, { "ok", "warning", "ok" })
    t.ok(told.tolerance.atol < 1e-8)
    program.write("p.py", RELU)
    program.write("mine.py", solution "torch.relu(x)")
    t.match(run("-q", "doctor").stdout, "\nwarning  task: a copy of input 'x' passes as 'out'")
end)

local INTERPRETER = "\nok [^\n]*Python: 3%.%d+ %(/%S+%), PyTorch %d+%.%d"

t.test("doctor names the interpreter and its PyTorch, also where the problem does not load", function()
    lane.evaluator()
    t.match(run("-q", "doctor").stdout, INTERPRETER)
    program.write("p.py", "import torch\n\nclass Model(torch.nn.Module:\n")
    local result = run("-q", "doctor")
    t.eq(result.code, exits.USAGE)
    t.match(result.stdout, "\nbad +start: p%.py:3: ")
    t.match(result.stdout, INTERPRETER)
end)

t.test("doctor on a folder of problems says of each what it can, and on one of tasks what to name", function()
    lane.evaluator()
    program.fresh()
    program.write("light.lua", POLICY:format "warn")
    program.write("p/10_Weak.py", RELU)
    program.write("p/2_Fine.py", problem("x * 2", "torch.randn(64, 100)"))
    program.write("p/1_Dies.py", problem("__import__('os')._exit(3)", "torch.randn(64, 100)"))
    program.write("p/3_Lost.py", problem("torch.no_such_thing(x)", "torch.randn(64, 100)"))
    local function doctor(...) return program.run("--device=cpu", "--task", "p", "light.lua", "doctor", ...) end
    local result = doctor()
    t.eq(result.code, exits.USAGE)
    t.match(result.stderr, "^doctor +%[1/4%] 1_Dies\n.*%[4/4%] 10_Weak\n$")
    t.match(result.stdout, "^task p on cpu, [^\n]*: not fit to start from\nbad +1_Dies: [^\n]*exit 3\nbad +3_Lost: "
        .. "3_Lost.py:%d+: AttributeError: [^\n]*\nwarning +10_Weak: a copy of input 'x' passes as 'out'")
    t.match(result.stdout, "\nok +problems: 1 of 4 run and have no weakness; Python: 3%.")
    program.write("light.lua", POLICY:format "refuse")
    for _, name in ipairs { "p/1_Dies.py", "p/3_Lost.py" } do
        assert(fs.remove_tree(fs.join(program.folder, name)))
    end
    local told = json.decode(doctor("-q", "--json").stdout)
    t.eq({ told.verdict, told.exit, told.task }, { "refused", exits.REJECTED, "p" })
    t.eq({ told.checks[1].name, told.checks[1].state, told.weak[1].name }, { "10_Weak", "bad", "copy" })
    program.write("tasks/a/task.lua", "")
    t.match(program.run("light.lua", "doctor", "--task", "tasks").stdout,
        "\nbad +start: tasks holds tasks: name one of them, %-%-task tasks/a\n")
    assert(fs.mkdirs(fs.join(program.folder, "none")))
    t.match(program.run("light.lua", "doctor", "--task", "none").stdout, "\nbad +start: no task in none: neither ")
end)

lane.restart()
