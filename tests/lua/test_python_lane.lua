-- What can be wrong with a problem in Python, with a solution and with the interpreter: one line, the right status and
-- exit code, and the next trial is unharmed.
local clock = require "ako.clock"
local drawing = require "ako.drawing"
local exits = require "ako.exits"
local fault = require "ako.fault"
local fs = require "ako.fs"
local lane = require "lane"
local plan = require "ako.plan"
local process = require "ako.process"
local program = require "program"
local python = require "ako.python"
local t = require "ako.tap"
local toolkit = require "ako.toolkit"

local HEAD = "import torch\nimport torch.nn as nn\n\n" -- three lines
local INPUTS = "def get_inputs():\n    return [torch.randn(8, 16)]\n\ndef get_init_inputs():\n    return []\n"

-- A module whose class has this body of forward, from line 6 on.
local function class(name, body)
    return ("%sclass %s(nn.Module):\n    def forward(self, x):\n        %s\n\n"):format(HEAD, name, body)
end

local function problem(body) return class("Model", body) .. INPUTS end
local function solution(body) return class("ModelNew", body) end

-- An exception that raises others wherever it is looked at.
local UNTOLD = HEAD .. [[
import sys
def fail(*args): raise ValueError
class Meta(type):
    __name__ = property(fail)
class Untold(Exception, metaclass=Meta):
    __class__ = __traceback__ = __context__ = property(fail)
    __str__ = __repr__ = __getattribute__ = fail
sys.unraisablehook = fail

]]

lane.restart "cpu" -- messages of a card are others

local MODEL = class("Model", "return x * 2")
local RIGHT = solution "return x + x"

-- Problems

local function refused(name, text, line, seconds)
    local file = lane.write(name .. ".py", text)
    local task, why, code = lane.task(file, { seed = 1, seconds = seconds })
    t.eq(task, nil, name)
    why = why:gsub("^.*/", "")
    if why:find("out of memory", 1, true) then why = why:match "^.*out of memory" end -- PyTorch's words vary
    why = why:gsub("Module%.__init__", "Model.__init__") -- and so do Python's on whose function it is
    t.eq(why, line, name)
    return code
end

lane.test("tensors of more dimensions than a shape has room for are passed with all of them", function()
    local text = class("Model", "return x.sum(9)") .. INPUTS:gsub("8, 16", "2, 1, 2, 1, 2, 1, 2, 1, 2, 3")
    local task = assert(lane.task(lane.write("many_dims.py", text)))
    t.eq(lane.try(task, solution "return x[..., 0] + x[..., 1] + x[..., 2]").status, "PASSED")
    t.eq(lane.try(task, solution "return x.sum(9).flatten()").status, "INCORRECT_SHAPE")
end)

lane.test("numbers drawn in forward are the same on both sides, whoever draws them, and that is known", function()
    local draws = { "random.random()", "random.gauss(0, 1)" }
    if process.run({ lane.need().program, "-c", "import numpy" }).ok then
        table.move({ "numpy.random.rand()", "numpy.random.randn()" }, 1, 2, 3, draws)
    end
    local head = "import random\ntry:\n    import numpy\nexcept ImportError:\n    pass\n"
    for i, draw in ipairs(draws) do
        local body = ("return x + %s"):format(draw)
        local task = assert(lane.task(lane.write(("draws_%d.py"):format(i), head .. problem(body))))
        t.eq(task.facts.random, true, draw)
        local result = lane.try(task, head .. solution(body), { seeds = 3, launches = 5 })
        t.eq(result.status, "PASSED", ("%s: %s"):format(draw, result.reason))
        local later = head .. solution(("%s; return x + %s"):format(draw, draw))
        t.eq(lane.try(task, later).status, "INCORRECT_NUMERICAL", draw)
    end
    local task = assert(lane.task(lane.write("draws_none.py", head .. problem "return x * 2")))
    t.eq(task.facts.random, false)
end)

-- Name, text, and the line from the file's name on.
local BAD_PROBLEMS = {
    { "empty", "", "empty.py: defines no class Model" },
    { "no_model", HEAD .. INPUTS, "no_model.py: defines no class Model" },
    { "no_module", HEAD .. "class Model:\n    pass\n\n" .. INPUTS, "no_module.py: class Model is no torch.nn.Module" },
    { "no_inputs", MODEL, "no_inputs.py: has no get_inputs" },
    { "syntax", HEAD .. "class Model(nn.Module:\n    pass\n", "syntax.py:4: invalid syntax" },
    { "at_import", HEAD .. "raise ValueError('no luck')\n", "at_import.py:4: ValueError: no luck" },
    { "at_init", HEAD .. "class Model(nn.Module):\n    def __init__(self):\n        raise KeyError('w')\n\n" .. INPUTS,
        "at_init.py:6: KeyError: 'w'" },
    { "init_count", MODEL .. (INPUTS:gsub("return %[%]", "return [1, 2]")),
        "init_count.py: TypeError: Model.__init__() takes 1 positional argument but 3 were given" },
    { "in_inputs", MODEL .. "def get_inputs():\n    return [torch.randn(n)]\n",
        "in_inputs.py:9: NameError: name 'n' is not defined" },
    { "in_forward", problem "raise RuntimeError('broken')", "in_forward.py:6: RuntimeError: broken" },
    { "untold", UNTOLD .. problem "raise Untold", "untold.py: Untold, of which nothing more can be said" },
    { "one_tensor", MODEL .. "def get_inputs():\n    return torch.randn(8)\n",
        "one_tensor.py: get_inputs gives a Tensor, not a list" },
    { "changing", MODEL .. "n = 0\ndef get_inputs():\n    global n\n    n += 1\n    return [torch.randn(n)]\n",
        "changing.py: get_inputs gives 'x' another shape, layout or dtype in each call ([1], then [2])" },
    { "exit", problem "import sys; sys.exit(3)", "exit.py:6: called sys.exit(3)" },
    { "exit_at_import", HEAD .. "import sys\nsys.exit()\n", "exit_at_import.py:5: called sys.exit(None)" },
    { "quit", problem "import os; os._exit(3)", "quit.py: its process ended: exit 3" },
    { "segv", problem "import os; os.kill(os.getpid(), 11)",
        "segv.py: its process ended: killed by SIGSEGV (segmentation fault)" },
    { "tensor_memory", problem "return torch.empty(1 << 50)", "tensor_memory.py:6: out of memory" },
    { "memory", problem "return bytearray(1 << 62)", "memory.py:6: out of memory" },
    { "nothing", problem "return None", "nothing.py: forward returns no tensor with an element in it" },
    { "object", problem "return object()", "object.py: the result is of type object; tensors, numbers, strings, None, "
        .. "lists, tuples and dicts of them can be passed" },
    { "sparse", problem "return x.to_sparse()",
        "sparse.py: the result is sparse (sparse_coo); a dense tensor is wanted" },
    { "quantized", problem "return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)",
        "quantized.py: the result is quantized (torch.qint8); dequantize it" },
    { "complex", problem "return torch.complex(x, x)",
        "complex.py: the result has dtype complex64, which no lane knows" },
    { "sparse_input", MODEL .. "def get_inputs():\n    return [torch.randn(8).to_sparse()]\n",
        "sparse_input.py: an input[0] is sparse (sparse_coo); a dense tensor is wanted" },
    { "init_none", MODEL .. (INPUTS:gsub("return %[%]", "return None")),
        "init_none.py: get_init_inputs gives a NoneType, not a list" },
    { "init_int", MODEL .. (INPUTS:gsub("return %[%]", "return 3")),
        "init_int.py: get_init_inputs gives an int, not a list" },
    { "init_dict", MODEL .. (INPUTS:gsub("return %[%]", "return {}")),
        "init_dict.py: get_init_inputs gives a dict, not a list" },
    { "keys", problem "return {0: x}",
        "keys.py: the result is a dict with a key that is an int; its keys must be strings" },
    { "keyword", HEAD .. "class Model(nn.Module):\n    def forward(self, x, *, k):\n        return x\n\n" .. INPUTS,
        "keyword.py: TypeError: Model.forward() missing 1 required keyword-only argument: 'k'" },
    { "mute", HEAD .. "class Mute(Exception):\n    def __str__(self):\n        raise SystemExit(3)\nraise Mute\n",
        "mute.py:7: Mute, of which nothing more can be said" },
    { "interrupt", HEAD .. "raise KeyboardInterrupt\n", "interrupt.py:4: KeyboardInterrupt" },
    { "fork", HEAD .. "import os\nos.fork()\n\n" .. MODEL .. INPUTS, "fork.py: forks while it is imported, and the "
        .. "copy goes on as this process does: let it end (os._exit), or fork nothing" },
    { "killed", problem "import os; os.abort()", "killed.py: its process ended: killed by SIGABRT (aborted)" },
    { "in_place", problem "x += 1; return x", "in_place.py: forward changes its input 'x': every call is to find the "
        .. "same one, so let it work on a copy (clone)" },
}

t.test("a mistake in a problem is one line, with file and line where they are known, and exit 2", function()
    lane.evaluator()
    for _, bad in ipairs(BAD_PROBLEMS) do t.eq(exits.of_code(refused(table.unpack(bad))), exits.USAGE, bad[1]) end
end)

t.test("a problem that hangs ends after its time", function()
    lane.evaluator()
    local line = "hanging.py: did not run once within 1.5 s: its import, get_inputs, Model and forward together"
    t.eq(exits.of_code(refused("hanging", problem "while True: pass", line, 1.5 + 1e-10)), exits.TIMEOUT)
end)

t.test("what may look wrong and is not: a byte order mark, megabytes printed, a view of an input, an empty tensor",
    function()
    local marked = assert(lane.task(lane.write("marked.py", "\xEF\xBB\xBF" .. MODEL .. INPUTS)))
    t.eq(lane.try(marked, marked.solution.texts[1]).status, "PASSED")
    local task = assert(lane.task(lane.write("loud.py", problem "print('x' * (8 << 20)); return x * 2")))
    t.eq(lane.try(task, RIGHT).status, "PASSED")
    task = assert(lane.task(lane.write("view.py", problem "return x[1:]")))
    t.eq(lane.try(task, solution "return x[1:].clone()").status, "PASSED")
    t.eq(lane.try(task, solution "return x[1:]").status, "PASSED", "the reference gives a view, too")
    t.eq(lane.try(task, solution "return x[:-1]").status, "INCORRECT_NUMERICAL")
    task = assert(lane.task(lane.write("part.py", class("Model", "return x * 2, x[:0]")
        .. "def get_inputs():\n    return [torch.randn(8)]\n")))
    t.eq(lane.try(task, solution "return x * 2, x[:0]").status, "PASSED")
    t.match(lane.try(task, solution "return x * 2, x[:1]").reason, "shape %[1%], the reference gives shape %[0%]")
end)

t.test("a process that forks between questions answers them once", function()
    lane.evaluator()
    local forks = "import os; os.fork(); "
    local inputs = "def get_inputs():\n    " .. forks .. "return [torch.randn(8)]\n"
    local task = assert(lane.task(lane.write("forks.py", class("Model", forks .. "return x * 2") .. inputs)))
    for _ = 1, 2 do t.eq(lane.try(task, solution(forks .. "return x * 2")).status, "PASSED") end
    t.eq(lane.try(task, solution(forks .. "return x * 3")).status, "INCORRECT_NUMERICAL")
end)

-- Notes which seeds the referee draws inputs for, and whether they are the check's. %s: the file for that.
local WATCHING = [[
import sys
Referee = sys.modules["ako.referee"].Referee
drawn = Referee.drawn

def noted(self, seed, known):
    with open("%s", "a") as file:
        file.write(f"{seed} {known}\n")
    return drawn(self, seed, known)

Referee.drawn = noted

]]

t.test("inputs are drawn as the original does, and kept, for the seeds of the check alone", function()
    local notes = fs.join(lane.folder, "seeds.txt")
    local task = assert(lane.task(lane.write("watched.py", problem "return x * 2" .. WATCHING:format(notes))))
    assert(fs.remove_tree(notes))
    local result = lane.try(task, RIGHT, { seeds = 3, launches = 3 })
    t.eq(result.status, "PASSED", result.reason)
    local kept, others = {}, 0
    for seed, known in assert(fs.read(notes)):gmatch "(%S+) (%d)\n" do
        if known == "1" then kept[#kept + 1] = seed else others = others + 1 end
    end
    t.eq(kept, { "1", "2", "3" })
    t.ok(others > 0)
end)

-- As on a card, where the check's inputs are drawn on the CPU; %s: the file for notes, what is changed, and what is
-- done where another process draws.
local DRAWN_AHEAD = [[
import os
import sys
draws, Referee = sys.modules["ako.draws"], sys.modules["ako.referee"].Referee
NOTES, REFEREE = "%s", os.getpid()
Referee.keeps = lambda self, faithful: faithful
draws._SLOW_S = -1
%s
drawn = Referee.drawn

def note(*words):
    with open(NOTES, "a") as file:
        print(*words, file=file)

def given(self, seed, known):
    tensors = drawn(self, seed, known)
    if known:
        note("given", seed, tensors[0].double().sum().item())
    return tensors

Referee.drawn = given

class Model(nn.Module):
    def forward(self, x):
        return x * 2

def get_inputs():
    x = torch.randn(8, 16)
    if os.getpid() != REFEREE:
        %s
        note("ahead", torch.initial_seed(), x.double().sum().item())
    else:
        note("here", torch.initial_seed(), x.double().sum().item())
    return [x]

def get_init_inputs():
    return []
]]

-- Seed -> sum of what was drawn, for each kind of note.
local function drawn_with(changes, elsewhere)
    local notes = fs.join(lane.folder, "drawn.txt")
    assert(fs.remove_tree(notes))
    local file = lane.write("ahead.py", HEAD .. DRAWN_AHEAD:format(notes, changes, elsewhere))
    local task = assert(lane.task(file, { seed = 7, faithful = true, coming = { 1, 2 } }))
    local result = lane.try(task, RIGHT, { seeds = 3 })
    t.eq(result.status, "PASSED", result.reason)
    local sums = { ahead = {}, here = {}, given = {} }
    for kind, seed, sum in assert(fs.read(notes)):gmatch "(%a+) (%d+) (%S+)" do sums[kind][tonumber(seed)] = sum end
    return sums
end

t.test("inputs that take long to draw are drawn ahead by other processes, the same as here", function()
    local sums = drawn_with("draws._PATIENCE = 1e9", "pass")
    t.eq({ sums.ahead[1], sums.ahead[2], sums.here[3] }, { sums.given[1], sums.given[2], sums.given[3] })
    t.ok(sums.given[1] and sums.given[2] and sums.given[3])
    t.eq({ sums.ahead[3], sums.here[1], sums.here[2] }, {}, "those named, and not again")
    local task = assert(lane.task(lane.write("plain.py", MODEL .. INPUTS)))
    t.eq(lane.try(task, RIGHT).status, "PASSED")
end)

t.test("ahead come the seeds of the check, where the original's bits are wanted", function()
    local kernelbench = require "policies.kernelbench"
    local how = drawing.how(kernelbench, { faithful = true }, 5)
    t.eq({ how.seed, how.faithful, how.seconds }, { 5, true, kernelbench.budget.build })
    t.eq({ how.trials, drawing.how(kernelbench, { faithful = false }).trials }, { 5, nil })
    local task = assert(lane.task(lane.write("seeds.py", MODEL .. INPUTS), how))
    local wanted = assert(process.run { lane.need().program, "-c", "import torch; torch.manual_seed(5)\n"
        .. "for _ in range(5): print(torch.randint(0, 2**32 - 1, (1,)).item())", limit_ns = 60 * program.second_ns })
    t.eq(table.concat(task.facts.seeds, "\n") .. "\n", wanted.stdout)
    t.eq(assert(plan.resolve(kernelbench, task, 5, { faithful = true })).steps.check.seeds, task.facts.seeds)
end)

t.test("what cannot be drawn ahead is drawn when it is wanted", function()
    for _, elsewhere in ipairs { "raise RuntimeError('not here')", "os.abort()", "x = torch.randn(4)",
        "while True: pass" } do
        local patience = elsewhere:find "while" and 0 or "1e9"
        local sums = drawn_with("draws._PATIENCE = " .. patience, elsewhere)
        t.ok(sums.given[1] and sums.given[2] and sums.given[3], elsewhere)
        t.eq({ sums.here[1], sums.here[2], sums.here[3] }, { sums.given[1], sums.given[2], sums.given[3] }, elsewhere)
    end
end)

-- Solutions

local function given(name, text, status, reason)
    return { name = name, text = text, status = status, reason = reason }
end

-- The reason in full, or nil where there is none.
local SOLUTIONS = {
    given("no class", HEAD, "COMPILE_ERROR", "mine.py: defines no class ModelNew or Model"),
    given("a class of another name", class("Fast", "return x + x"), "COMPILE_ERROR",
        "mine.py: defines no class ModelNew or Model"),
    given("a function", HEAD .. "def ModelNew(): pass\n", "COMPILE_ERROR",
        "mine.py: defines no class ModelNew or Model"),
    given("no module", HEAD .. "class ModelNew:\n    pass\n", "COMPILE_ERROR",
        "mine.py: class ModelNew is no torch.nn.Module"),
    given("no forward", HEAD .. "class ModelNew(nn.Module):\n    pass\n", "RUNTIME_ERROR",
        'NotImplementedError: Module [ModelNew] is missing the required "forward" function'),
    given("several classes", RIGHT .. class("Model", "return x"), "PASSED"),
    given("Model alone", class("Model", "return x + x"), "PASSED"),
    given("super of Model in Model", HEAD .. "class Model(nn.Module):\n    def __init__(self):\n        "
        .. "super(Model, self).__init__()\n    def forward(self, x): return twice(x)\n\n"
        .. "def twice(x):\n    return x + x\n", "PASSED"),
    given("super of Model in ModelNew", HEAD .. "class ModelNew(nn.Module):\n    def __init__(self):\n        "
        .. "super(Model, self).__init__()\n", "COMPILE_ERROR", "mine.py:6: NameError: name 'Model' is not defined"),
    given("helpers behind the last class", solution "return helper(x)" .. "def helper(x):\n    return x + x\n",
        "PASSED"),
    given("inputs of its own, by a way round", RIGHT .. "globals()['get_' + 'inputs'] = list\n", "COMPILE_ERROR",
        "mine.py: a solution may not define get_inputs: the inputs are the problem's"),
    given("syntax", HEAD .. "class ModelNew(nn.Module:\n    pass\n", "COMPILE_ERROR", "mine.py:4: invalid syntax"),
    given("indents", HEAD .. "class ModelNew:\n    a = 1\n   b = 2\n", "COMPILE_ERROR",
        "mine.py:6: unindent does not match any outer indentation level"),
    given("at import", HEAD .. "raise ValueError('no luck')\n", "COMPILE_ERROR", "mine.py:4: ValueError: no luck"),
    given("exit at import", HEAD .. "import sys\nsys.exit(0)\n", "COMPILE_ERROR", "mine.py:5: called sys.exit(0)"),
    given("quit at import", HEAD .. "import os\nos._exit(0)\n", "RUNTIME_ERROR",
        "the process ended during load: exit 0"),
    given("at init", HEAD .. "class ModelNew(nn.Module):\n    def __init__(self, n):\n        pass\n",
        "COMPILE_ERROR", "mine.py: TypeError: ModelNew.__init__() missing 1 required positional argument: 'n'"),
    given("in forward", solution "raise RuntimeError('broken')", "RUNTIME_ERROR", "mine.py:6: RuntimeError: broken"),
    given("in forward, without words", HEAD .. "class Mute(Exception):\n    def __str__(self):\n        return 1 / 0\n"
        .. "\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        raise Mute\n", "RUNTIME_ERROR",
        "mine.py:10: Mute, of which nothing more can be said"),
    given("at import, with an end for its words", HEAD .. "class Mute(Exception):\n    def __str__(self):\n        "
        .. "raise SystemExit(3)\nraise Mute\n", "COMPILE_ERROR", "mine.py:7: Mute, of which nothing more can be said"),
    given("a byte order mark", "\xEF\xBB\xBF" .. RIGHT, "PASSED"),
    given("syntax of a text that is no file", HEAD .. "compile('1 +', '<unknown>', 'exec')\n", "COMPILE_ERROR",
        "mine.py:4: SyntaxError: invalid syntax"),
    given("a keyword that nobody gives", HEAD .. "class ModelNew(nn.Module):\n    def forward(self, x, *, k):\n"
        .. "        return x\n", "RUNTIME_ERROR",
        "mine.py: TypeError: ModelNew.forward() missing 1 required keyword-only argument: 'k'"),
    given("a number", solution "return 3", "INCORRECT_SHAPE", "the result is an int, the reference gives a tensor"),
    given("in forward, of a class that raises", UNTOLD .. class("ModelNew", "raise Untold"), "RUNTIME_ERROR",
        "Untold, of which nothing more can be said"),
    given("at init, of a class that raises", UNTOLD .. "class ModelNew(nn.Module):\n    def __init__(self):\n"
        .. "        raise Untold\n", "COMPILE_ERROR", "mine.py: Untold, of which nothing more can be said"),
    given("at import, of a class that raises", UNTOLD .. "raise Untold\n", "COMPILE_ERROR",
        "mine.py: Untold, of which nothing more can be said"),
    given("a Fault that says it is none", HEAD .. "from ako.hooks import Fault\n"
        .. "class ModelNew(nn.Module):\n    def forward(self, x):\n        raise Fault(0, 'all is well')\n",
        "RUNTIME_ERROR", "all is well"),
    given("exit", solution "import sys; sys.exit(3)", "RUNTIME_ERROR", "mine.py:6: called sys.exit(3)"),
    given("quit", solution "import os; os._exit(0)", "RUNTIME_ERROR", "the process ended during run: exit 0"),
    given("segv", solution "import os; os.kill(os.getpid(), 11)", "RUNTIME_ERROR",
        "the process ended during run: killed by SIGSEGV (segmentation fault)"),
    given("megabytes printed", solution "print('x' * (8 << 20)); return x + x", "PASSED"),
    given("a tensor of petabytes", solution "return torch.empty(1 << 50)", "RUNTIME_ERROR", nil),
    given("host memory", solution "return bytearray(1 << 62)", "RUNTIME_ERROR", "mine.py:6: out of memory"),
    given("nothing", solution "return None", "INCORRECT_SHAPE",
        "the result is a NoneType, the reference gives a tensor"),
    given("a list", solution "return [x + x]", "INCORRECT_SHAPE", "the result is a list, the reference gives a tensor"),
    given("shape", solution "return (x + x).t()", "INCORRECT_SHAPE",
        "the result is of shape [16, 8], the reference gives shape [8, 16]"),
    given("dtype", solution "return (x + x).half()", "INCORRECT_DTYPE", "the result is f16, the reference gives f32"),
    given("device", solution "return torch.empty(8, 16, device='meta')", "INCORRECT_SHAPE", nil),
    given("sparse", solution "return (x + x).to_sparse()", "INCORRECT_SHAPE",
        "the result is sparse (sparse_coo); a dense tensor is wanted"),
    given("quantized", solution "return torch.quantize_per_tensor(x + x, 0.1, 0, torch.qint8)", "INCORRECT_DTYPE",
        "the result is quantized (torch.qint8); dequantize it"),
    given("a view of its input", solution "return x.view(8, 16)", "INCORRECT_SHAPE",
        "out lies in the memory of an input: return a tensor of its own"),
    given("not contiguous", solution "return (x.t().contiguous() * 2).t()", "PASSED"),
    given("wrong", solution "return x * 3", "INCORRECT_NUMERICAL", nil),
}

local function task_of_twice() return assert(lane.task(lane.write("twice.py", MODEL .. INPUTS))) end

t.test("what a solution does wrong is its own status and one line", function()
    local task = task_of_twice()
    for _, case in ipairs(SOLUTIONS) do
        local result = lane.try(task, case.text)
        t.eq(result.status, case.status, ("%s: %s"):format(case.name, result.reason))
        if case.reason then t.eq(result.reason, case.reason, case.name) end
        t.ok(not result.reason:find("\n"), case.name)
    end
    t.eq(lane.try(task, RIGHT).status, "PASSED")
end)

t.test("a missing import is named, with what to install", function()
    local task = task_of_twice()
    local reason = lane.try(task, HEAD .. "import nothing_of.the_kind\n").reason
    t.match(reason, "^mine.py:4: needs the module 'nothing_of', which (%S+) does not have: %1 %-m pip install "
        .. "nothing_of$")
end)

t.test("a solution that hangs, at import or in a call, ends after its time", function()
    local task = task_of_twice()
    for _, text in ipairs { HEAD .. "while True: pass\n", solution "while True: pass" } do
        local result = lane.try(task, text, { seconds = 1.5 })
        t.eq({ result.status, result.reason }, { "TIMEOUT", "check took longer than its limit of 1.5 s" })
    end
    t.eq(lane.try(task, RIGHT).status, "PASSED")
end)

-- Memory of the card, as PyTorch says it.
local NO_MEMORY = 'raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB.\\nMore words.")'
local NO_MEMORY_LINE = "out of memory: CUDA out of memory. Tried to allocate 20 GiB."

t.test("no memory of the card left for a solution: its own status and line, and the next trial is unharmed", function()
    local task = task_of_twice()
    local in_init = "class ModelNew(nn.Module):\n    def __init__(self):\n        "
    local cases = {
        { solution(NO_MEMORY), "RUNTIME_ERROR", "mine.py:6: " },
        { HEAD .. in_init .. NO_MEMORY, "COMPILE_ERROR", "mine.py:6: " },
        { HEAD .. NO_MEMORY, "COMPILE_ERROR", "mine.py:4: " },
    }
    for _, case in ipairs(cases) do
        local result = lane.try(task, case[1])
        t.eq({ result.status, result.reason }, { case[2], case[3] .. NO_MEMORY_LINE })
        t.eq(lane.try(task, RIGHT).status, "PASSED")
    end
end)

-- A problem that has none left where a file says so.
local EXHAUSTED = HEAD .. [[
import os
def need(where):
    if os.path.exists("%s/no_memory_in_" + where):
        %s

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        need("model")

    def forward(self, x):
        need("forward")
        return x * 2

def get_inputs():
    need("get_inputs")
    return [torch.randn(8, 16)]

def get_init_inputs():
    return []
]]

t.test("no memory of the card left for a problem: where it was, and the next trial is unharmed", function()
    local file = lane.write("exhausted.py", EXHAUSTED:format(lane.folder, NO_MEMORY))
    local in_trial = { get_inputs = "INFRA", forward = "INVALID_REFERENCE" }
    for _, where in ipairs { "model", "get_inputs", "forward" } do
        local flag = lane.write("no_memory_in_" .. where, "")
        local _, why, code = lane.task(file)
        t.eq(why, "exhausted.py:7: " .. NO_MEMORY_LINE)
        t.eq(exits.of_code(code), exits.USAGE)
        assert(fs.remove_tree(flag))
        local task = assert(lane.task(file))
        lane.write("no_memory_in_" .. where, "")
        local result = in_trial[where] and lane.try(task, RIGHT)
        if result then
            t.eq(result.status, in_trial[where])
            t.match(result.reason, "^the refere%a+ failed[%a ]*: exhausted.py:7: " .. NO_MEMORY_LINE .. "$")
        end
        assert(fs.remove_tree(flag))
        t.eq(lane.try(task, RIGHT).status, "PASSED")
    end
end)

t.test("a problem whose get_inputs fails in a trial is at fault, not the machine", function()
    local text = MODEL .. "import os\ndef get_inputs():\n    if os.path.exists('%s/no_more'):\n        %s\n"
        .. "    return [torch.randn(8, 16)]\n"
    for what, said in pairs { ["raise ValueError('no more')"] = "ValueError: no more",
        ["raise SystemExit(3)"] = "called sys.exit(3)" } do
        local task = assert(lane.task(lane.write("failing.py", text:format(lane.folder, what))))
        local flag = lane.write("no_more", "")
        local result = lane.try(task, RIGHT)
        assert(fs.remove_tree(flag))
        t.eq({ result.status, result.code }, { "INVALID_REFERENCE", "input" }, result.reason)
        t.ok(result.reason:find("^failing.py:%d+: ") and result.reason:find(said, 1, true), result.reason)
    end
end)

-- A template that fails deep inside the standard library. PyTorch's own header, which takes a minute, is not read.
local LONG_ERROR = [[
from torch.utils.cpp_extension import load_inline
ext = load_inline(name="deep", extra_include_paths=["%s"], cpp_sources="""
#include <algorithm>
#include <list>
int twice(std::list<int> l) {
    std::sort(l.begin(), l.end());
    return 0;
}
""")
]]

t.test("of a long compile error the first real line is shown, and all of it kept", function()
    local headers = fs.dirname(fs.dirname(lane.write("headers/torch/extension.h", "")))
    local result = lane.try(task_of_twice(), HEAD .. LONG_ERROR:format(headers) .. solution "return ext.twice(x)")
    if result.reason:find "Ninja" then t.skip(result.reason) end
    t.eq(result.status, "COMPILE_ERROR")
    t.match(result.reason, "^load_inline%('deep'%): cpp_sources%[0%]:5: no match for .*operator%-.* %(in stl_algo")
    local _, lines = result.build.log:gsub("\n", "")
    t.ok(lines > 20, result.build.log)
end)

-- An extension with a factor in it, without PyTorch's header; %s: a name, where one lies that is empty, more arguments,
-- a number, the name.
local FACTOR = [[
from pathlib import Path
from torch.utils.cpp_extension import load_inline
ext = load_inline(name="%s", extra_include_paths=[Path("%s")], %s cpp_sources="""
#include <Python.h>
static PyObject *factor(PyObject *self, PyObject *none) { return PyFloat_FromDouble(%s); }
static PyMethodDef methods[] = {{"factor", factor, METH_NOARGS, ""}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "x", "", -1, methods};
PyMODINIT_FUNC PyInit_%s(void) { return PyModule_Create(&module); }
""")
]]

-- A solution with such an extension.
local function with_factor(name, factor, more)
    local headers = fs.dirname(fs.dirname(lane.write("headers/torch/extension.h", "")))
    return HEAD .. FACTOR:format(name, headers, more or "", factor, name) .. solution "return x * ext.factor()"
end

-- The extension with the number that make(n) is called with, where a model is made or called.
local function with_factor_of(init, forward)
    local text = with_factor("late", "FACTOR"):gsub("ext = load_inline", "def make(n):\n    return load_inline")
        :gsub('"""%)\n', '""".replace("FACTOR", str(n)))\n'):gsub("class ModelNew.*", "")
    return text .. ("class ModelNew(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        .. "        %s\n    def forward(self, x):\n        return %s\n"):format(init, forward)
end

t.test("an extension that is asked for when the model is made is built as one that the file asks for", function()
    local text = class("Model", "return x * 3"):gsub("def forward", "def __init__(self, n):\n        "
        .. "super().__init__()\n    def forward") .. INPUTS:gsub("return %[%]", "return [3]")
    local task = assert(lane.task(lane.write("thrice.py", HEAD .. text)))
    local result = lane.try(task, with_factor_of("self.ext = make(n)", "x * self.ext.factor()"))
    if result.reason:find "Ninja" then t.skip(result.reason) end
    t.eq(result.status, "PASSED", result.reason)
    result = lane.try(task, with_factor_of("torch.zeros(1).item(); self.ext = make(n)", "x * self.ext.factor()"))
    t.eq(result.status, "PASSED", "what cannot be made without numbers: " .. result.reason)
    result = lane.try(task, with_factor_of("self.ext = make(n); raise ValueError('no more')", "x"))
    t.match(result.reason, "^mine.py:%d+: ValueError: no more$")
    result = lane.try(task, with_factor("early", "3"):gsub("class ModelNew.*", "") .. "import os\n"
        .. "class ModelNew(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        .. "        if os.environ.get('TRITON_CACHE_DIR') is None: os._exit(3)\n"
        .. "    def forward(self, x):\n        return x * ext.factor()\n")
    t.eq(result.status, "PASSED", "what the file asks for is known, whatever ends the process: " .. result.reason)
    result = lane.try(task, with_factor_of("pass", "x * make(3).factor()"))
    t.eq(result.status, "RUNTIME_ERROR")
    t.match(result.reason, "load_inline%('late'%) must be called when the file is imported or the model is made")
end)

t.test("a changed header of the user's own is seen, whoever names it", function()
    local task, header = task_of_twice(), lane.write("factor.h", "#define TWO 2\n")
    local text = with_factor("reads", "TWO"):gsub("#include <Python.h>", '%0\n#include "' .. header .. '"')
    local result = lane.try(task, text)
    if result.reason:find "Ninja" then t.skip(result.reason) end
    t.eq({ result.status, result.reason }, { "PASSED", "" })
    lane.write("factor.h", "#define TWO 3\n")
    t.eq(lane.try(task, text).status, "INCORRECT_NUMERICAL")
    lane.write("factor.h", "#define TWO\n")
    t.eq(lane.try(task, text).status, "COMPILE_ERROR")
    lane.write("factor.h", "#define TWO 2\n")
    t.eq(lane.try(task, text).status, "PASSED")
    lane.write("other.h", "#define TWO 3\n")
    assert(process.run { "ln", "-sf", "other.h", header })
    t.eq(lane.try(task, text).status, "INCORRECT_NUMERICAL", "what a link points to")
    lane.write("right.h", "#define TWO 2\n")
    assert(process.run { "ln", "-sf", "right.h", header })
    t.eq(lane.try(task, text).status, "PASSED", "where it points now")
end)

t.test("what load_inline is asked for and cannot build is the solution's fault, in one line", function()
    local task = task_of_twice()
    for more, reason in pairs {
        ["no_such_thing=3,"] = "load_inline%('asked'%): .*unexpected keyword argument 'no_such_thing'$",
        ["extra_cflags=[object()],"] = "mine%.py:6: load_inline%('asked'%): .*object",
        ["extra_ldflags=[Path('/no/such/object.o')],"] = "load_inline%('asked'%): .*/no/such/object%.o: No such file",
        ["extra_ldflags=['-lno_such_library'],"] = "load_inline%('asked'%): .*cannot find %-lno_such_library",
    } do
        local result = lane.try(task, with_factor("asked", "2", more))
        if result.reason:find "Ninja" then t.skip(result.reason) end
        t.eq(result.status, "COMPILE_ERROR", result.reason)
        t.match(result.reason, "^" .. reason)
    end
    local result = lane.try(task, with_factor("../asked", "2"))
    t.eq({ result.status, result.reason }, { "COMPILE_ERROR",
        "mine.py:6: load_inline('../asked'): that is no name of a module" })
end)

t.test("what a file does while it is asked for its extensions is its own doing, and told when it is loaded", function()
    local task = task_of_twice()
    local asks = "import os\n# load_inline\n"
    local forged = lane.try(task, HEAD .. asks .. "os.write(3, b'no message\\n')\n" .. RIGHT)
    t.eq({ forged.status, forged.code }, { "REWARD_HACK", "T6" }, forged.reason)
    local broken = lane.try(task, HEAD .. asks .. "import ako.extensions\nako.extensions.recorder = None\n" .. RIGHT)
    t.eq(broken.status, "PASSED", broken.reason)
end)

t.test("a flag that has the compiler do something else can write nowhere but where it builds", function()
    local written = fs.join(lane.folder, "by_a_flag")
    local flag = ("extra_cflags=['$$(touch %s; echo -DTWO=2)'],"):format(written)
    local result = lane.try(task_of_twice(), with_factor("flag", "TWO", flag))
    if result.reason:find "Ninja" then t.skip(result.reason) end
    t.eq({ result.status, result.reason }, { "PASSED", "" }, "it has been run")
    if result.confinement.landlock:find "^unavailable" then t.skip(result.confinement.landlock) end
    t.ok(not fs.exists(written))
end)

t.test("extensions are built for a screening, too: of the best and of each candidate", function()
    local candidates = { with_factor("right", "2"), with_factor("right", "wrong"), with_factor("other", "3"), RIGHT }
    local answer = lane.screen(task_of_twice(), candidates, with_factor("best", "1 + 1"))
    if answer.reason:find "Ninja" then t.skip(answer.reason) end
    t.eq({ answer.status, answer.reason }, { "PASSED", "" })
    local told = {}
    for i, one in ipairs(answer.candidates) do told[i] = one.status end
    t.eq(told, { "PASSED", "COMPILE_ERROR", "INCORRECT_NUMERICAL", "PASSED" })
    t.match(answer.candidates[2].reason, "^load_inline%('right'%): cpp_sources%[0%]:3: .*wrong")
    t.match(answer.candidates[2].build.log, "wrong")
end)

-- Kernels that tune themselves

-- Stands for Triton, as far as a choice can be seen from outside.
local TRITON = [[
import sys, types

class Autotuner:
    def __init__(self, *configs):
        self.configs, self.cache = configs, {}

    def run(self, *key):
        self.best_config = self.configs[-1]
        if len(self.configs) > 1:
            self.cache[key] = self.best_config

class Heuristics:
    def __init__(self, fn):
        self.fn = fn

Heuristics.__module__ = "triton.runtime.autotuner"

class Config:
    def __init__(self, kwargs, num_warps=4, num_stages=2, num_ctas=None):
        self.kwargs, self.num_warps, self.num_stages, self.num_ctas = kwargs, num_warps, num_stages, num_ctas

for name in ("triton", "triton.runtime", "triton.runtime.autotuner"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["triton.runtime.autotuner"].Autotuner = Autotuner
]]

local TUNED = HEAD .. TRITON .. [[
tuned = Autotuner(Config({"BLOCK": 64}), Config({"BLOCK": 128}, num_warps=8))
alone = Heuristics(Autotuner(Config({}, num_ctas=2)))
uncalled = Autotuner(Config({"BLOCK": 1}))

class ModelNew(nn.Module):
    def forward(self, x):
        tuned.run(x.shape[0], "float32")
        alone.fn.run()
        return x + x

]]

t.test("what an autotuner has chosen is told once timing begins", function()
    local task = task_of_twice()
    local result = lane.try(task, TUNED, { launches = 3 })
    t.eq(result.status, "PASSED", result.reason)
    t.eq(result.autotuned, {
        { kernel = "tuned", key = "(8, 'float32')", config = "BLOCK=128, num_warps=8, num_stages=2" },
        { kernel = "alone", config = "num_warps=4, num_stages=2, num_ctas=2" } })
    t.eq(lane.try(task, TUNED).autotuned, nil, "nothing was timed")
    t.eq(lane.try(task, RIGHT, { launches = 3 }).autotuned, nil)
end)

t.test("what an autotuner says is cut and cleaned, and one that is broken says nothing", function()
    local task = task_of_twice()
    local many = TUNED .. [[
for i in range(99):
    tuned.cache[f"\x1b[31m{i} " + "k" * 999] = Config({"\n": "c" * 999})
]]
    local result = lane.try(task, many, { launches = 3 })
    t.eq(result.status, "PASSED", result.reason)
    local size = 0
    for _, entry in ipairs(result.autotuned) do
        for _, text in pairs(entry) do
            size = size + #text
            t.ok(not text:find "%c" and #text <= 256, text)
        end
    end
    t.ok(size > 1000 and size <= 4096, size)
    t.match(result.autotuned[1].key, "^%?%[31m0 k+$")
    local forged = RIGHT .. "import sys\nsys.modules['ako.autotuned'].chosen_in = lambda folder: "
        .. "[{'kernel': '', 'config': ''}] * 5000\n"
    result = lane.try(task, forged, { launches = 3 })
    t.eq(result.status, "PASSED", result.reason)
    t.ok(#result.autotuned <= 16, #result.autotuned)
    local broken = TUNED .. "tuned.cache = alone.fn.cache = 7\nuncalled.best_config = uncalled.run\n"
    result = lane.try(task, broken:gsub("tuned%.run[^\n]+", ""), { launches = 3 })
    t.eq({ result.status, result.autotuned }, { "PASSED" }, result.reason)
end)

-- Processes

local function children_of(pid)
    local list = {}
    for _, name in ipairs(assert(fs.list "/proc")) do
        local stat = name:find "^%d+$" and fs.read(("/proc/%s/stat"):format(name))
        if stat and stat:match "^%d+ %b() %a (%d+)" == pid then list[#list + 1] = name end
    end
    return list
end

-- Pids of the Python processes of our evaluator, the oldest first: the one that forks, and what it has forked.
local function python_processes()
    local own = assert(process.run { "sh", "-c", "echo $PPID" }).stdout:match "%d+"
    local found = {}
    for _, worker in ipairs(children_of(own)) do
        for _, pid in ipairs(children_of(worker)) do
            local command = fs.read(("/proc/%s/cmdline"):format(pid)) or ""
            if command:find("nursery.py", 1, true) then found[#found + 1] = pid end
        end
    end
    table.sort(found, function(a, b) return tonumber(a) < tonumber(b) end)
    return found
end

-- Returns when they have ended; who reaps them is not of interest.
local function kill(pids)
    t.eq(assert(process.run { "kill", "-KILL", table.unpack(pids) }).code, 0)
    local limit = clock.now_ns() + 5 * program.second_ns
    for _, pid in ipairs(pids) do
        local stat
        repeat
            stat = fs.read(("/proc/%s/stat"):format(pid))
        until not stat or stat:match "^%d+ %b() [ZX]" or clock.now_ns() > limit
    end
end

t.test("the next trial works when the process with PyTorch, or the referee, has been killed", function()
    local task = task_of_twice()
    t.eq(lane.try(task, RIGHT).status, "PASSED")
    for _, which in ipairs { { 2 }, { 1, 1 }, { 1 } } do -- the forks, the one that forks, all
        local found = python_processes()
        t.ok(#found >= 2, "they are found")
        kill { table.unpack(found, which[1], which[2] or #found) }
        local result = lane.try(task, RIGHT)
        t.eq(result.status, "PASSED", result.reason)
    end
end)

t.test("what lies beside a problem is found by it, also by a referee that takes another one's place", function()
    lane.write("beside/by.txt", "2")
    local task = assert(lane.task(lane.write("beside/problem.py", HEAD .. "by = float(open('by.txt').read())\n"
        .. class("Model", "return x * by") .. INPUTS .. "by = float(open(__file__[:-10] + 'by.txt').read())\n")))
    t.eq(lane.try(task, RIGHT).status, "PASSED")
    kill { table.unpack(python_processes(), 2) }
    local result = lane.try(task, RIGHT)
    t.eq(result.status, "PASSED", result.reason)
end)

-- Interpreters

local function script(name, text)
    local file = lane.write(name, "#!/bin/sh\n" .. text)
    assert(process.run { "chmod", "+x", file }.ok)
    return file
end

local function no_python(name)
    local found, why, code = fault.catch(python.find, name)
    t.eq(found, nil)
    t.eq(exits.of_code(code), exits.LACKING)
    return why
end

t.test("an interpreter that will not do is named, with what to do", function()
    local old = script("old", "echo 3.8 False True\necho /opt/python3.8\n")
    t.eq(no_python(old), "/opt/python3.8 is Python 3.8; 3.10 or newer is wanted: name another one with --python or "
        .. "AKO_PYTHON")
    local bare = script("bare", "echo 3.11 True False\necho /opt/python\n")
    t.eq(no_python(bare), "/opt/python has no PyTorch: /opt/python -m pip install torch (Debian: apt install "
        .. "python3-torch), or name another interpreter with --python or AKO_PYTHON")
    local none = script("none", "echo hello\n")
    t.eq(no_python(none), none .. ": no Python interpreter")
    t.match(no_python "/nowhere/python", "/nowhere/python")
end)

-- An interpreter without site-packages, but with `folder`, in which the file `name` has this text.
local function bare_python(folder, name, text)
    lane.write(folder .. "/torch/__init__.py", "raise ImportError('nobody may import it for its version')\n")
    lane.write(folder .. "/" .. name, text)
    return script(folder .. "/python", ("PYTHONPATH=%s exec %s -S \"$@\"\n"):format(fs.join(lane.folder, folder),
        lane.need().program))
end

local function torch_of(...)
    local _, known = python.find(bare_python(...))
    return { known.torch, known.torch_cuda }
end

t.test("PyTorch's version is asked without importing it: its metadata, its own file, or unknown", function()
    lane.need()
    t.eq(torch_of("packed", "torch-2.9.1.dist-info/METADATA", "Name: torch\nVersion: 2.9.1+cu130\n"),
        { "2.9.1+cu130", "unknown" })
    t.eq(torch_of("built", "torch/version.py", "__version__ = '2.8.0a0+git1234'\ncuda: Optional[str] = '12.8'\n"),
        { "2.8.0a0+git1234", "12.8" })
    t.eq(torch_of("other", "torch/version.py", "debug = False\ncuda = None\nhip = '6'\n"), { "unknown", "None" })
    t.eq(torch_of("silent", "torch/version.txt", "2.8.0\n"), { "unknown", "unknown" })
end)

-- Which interpreter a process with these variables, and no others that choose one, finds; or why none.
local function found_with(variables, option)
    local env = { AKO_HOME = t.home }
    for name, value in pairs(variables) do env[name] = value end
    program.write("find.lua", 'local fault, python = require "ako.fault", require "ako.python"\n'
        .. 'local found, why = fault.catch(python.find, (...))\nprint(found or why)\n')
    local clean = {}
    for _, name in ipairs { "AKO_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX" } do
        if not env[name] then table.move({ "-u", name }, 1, 2, #clean + 1, clean) end
    end
    local command = table.move(clean, 1, #clean, 2, { "env" })
    table.move({ program.path, "find.lua", option }, 1, 3, #command + 1, command)
    command.cwd, command.env = program.folder, env
    return assert(process.run(command)).stdout:gsub("\n$", "")
end

t.test("the interpreter of an active environment is taken, what is named goes before it", function()
    local function environment(name, facts)
        script(name .. "/bin/python", ("echo %s\necho /%s/python\n"):format(facts or "3.11 True True", name))
        return fs.join(lane.folder, name)
    end
    local variables = { CONDA_PREFIX = environment "conda" }
    t.eq(found_with(variables), "/conda/python")
    variables.VIRTUAL_ENV = environment "venv"
    t.eq(found_with(variables), "/venv/python")
    variables.AKO_PYTHON = environment "variable" .. "/bin/python"
    t.eq(found_with(variables), "/variable/python")
    t.eq(found_with(variables, environment "option" .. "/bin/python"), "/option/python")
    local without = environment("without", "3.11 True False")
    t.match(found_with { CONDA_PREFIX = without }, "^/without/python has no PyTorch: ", "it is not passed over")
end)

t.test("which nvcc it would be can be asked from a script", function()
    t.match((toolkit.nvcc()), "^/.*/nvcc$")
end)

t.test("PyTorch's CUDA against that of nvcc, where a solution builds CUDA code", function()
    local text = "load_inline(name='x', cpp_sources='', cuda_sources='')"
    local function advice(cuda, release, of)
        return toolkit.advice({ torch = "2.4.0", torch_cuda = cuda }, of or text, function()
            return "/usr/local/cuda/bin/nvcc", release
        end)
    end
    t.eq(advice("12.4", "12.9"), nil)
    t.eq(advice("12.4", "13.0"), "PyTorch 2.4.0 was built for CUDA 12.4, but /usr/local/cuda/bin/nvcc is of CUDA 13.0, "
        .. "which load_inline refuses: name a toolkit of CUDA 12 with CUDA_HOME, or take a PyTorch for CUDA 13")
    t.eq(advice("12.4", nil), "no nvcc (/usr/local/cuda/bin/nvcc): load_inline cannot compile CUDA code; name a "
        .. "toolkit of CUDA 12 with CUDA_HOME")
    t.eq(advice("12.4", "13.0", "import triton"), nil)
    t.eq(advice("12.4", "13.0", "load_inline('x', ['void f();'], functions=['f'])"), nil)
    t.match(advice("12.4", "13.0", "load_inline('x', [''], ['__global__ void k() {}'])"), "is of CUDA 13%.0")
    t.match(advice("12.4", "13.0", "__global__ void k() {}\nPYBIND11_MODULE(x, m) {}"), "is of CUDA 13%.0")
    t.eq(advice(nil, "13.0"), nil)
end)

t.test("the doctor's words on an interpreter, its PyTorch and the CUDA of both", function()
    local function told(cuda, release, on_cpu)
        local found = toolkit.finding({ program = "/py", version = "3.12", torch = "2.4.0", torch_cuda = cuda },
            not on_cpu and function() return "/nvcc", release end or nil)
        t.eq(found.name, "Python")
        return { found.state, found.text }
    end
    local first = "3.12 (/py), PyTorch 2.4.0"
    t.eq(told("12.4", "12.9"), { "ok", first .. " for CUDA 12.4, nvcc of CUDA 12.9" })
    t.eq(told("12.4", "13.0", true), { "ok", first .. " for CUDA 12.4" })
    t.eq(told("None", "13.0"), { "ok", first .. " without CUDA" })
    t.eq(told("unknown", nil), { "ok", first })
    t.eq(told("12.4", "13.0"), { "warning", first .. " for CUDA 12.4; PyTorch 2.4.0 was built for CUDA 12.4, but "
        .. "/nvcc is of CUDA 13.0, which load_inline refuses: name a toolkit of CUDA 12 with CUDA_HOME, or take a "
        .. "PyTorch for CUDA 13" })
    t.eq(told("12.4", nil), { "warning", first .. " for CUDA 12.4; no nvcc (/nvcc): load_inline cannot compile CUDA "
        .. "code; name a toolkit of CUDA 12 with CUDA_HOME" })
end)

-- What the hook that opens a device says, with a PyTorch that sees none. %s: the CUDA that it was built for.
local BLIND = [[
import torch
torch.cuda.is_available, torch.version.cuda, torch.__version__ = lambda: False, %s, "2.4.0"
from ako.hooks import UNAVAILABLE, Fault
from ako.side import Side
try:
    Side().start(True)
except Fault as fault:
    print(fault.status == UNAVAILABLE, fault)
Side().start(False)
]]

t.test("a PyTorch that sees no GPU is named, with what to do", function()
    local interpreter = lane.need().program
    local function line(cuda)
        local result = assert(process.run { interpreter, "-c", BLIND:format(cuda),
            env = { PYTHONPATH = t.home .. "/stdlib/python", PYTHONDONTWRITEBYTECODE = "1" } })
        t.eq(result.code, 0, result.stderr)
        return result.stdout
    end
    local function wanted(has)
        return ("True PyTorch 2.4.0 of %s was built %s and sees no GPU: install one for this driver, or run with "
            .. "--device=cpu\n"):format(interpreter, has)
    end
    t.eq(line "None", wanted "without CUDA")
    t.eq(line "'12.4'", wanted "for CUDA 12.4")
end)

-- The program

local POLICY = [[
return require("policies.kernelbench"):extend { name = "light", correctness = { trials = 1 }, budget = { check = 5 },
    options = { excessive = { 1e6, "the speed is not what is tested" } },
    timing = { warmup = 1, launches = 3, pairs = { looks = { 4 }, control = 4, headline = 4 } } }
]]

local function try(name, ...)
    return program.run("-q", "--device=cpu", "--task", "twice.py", "--solution", name, "light.lua", "try", ...)
end

-- The program's folder with a policy and a problem, where there is a PyTorch.
local function begin(file)
    lane.evaluator()
    program.write("light.lua", POLICY)
    program.write(file or "twice.py", MODEL .. INPUTS)
end

t.test("exit codes and lines of the program", function()
    begin()
    program.write("broken.py", MODEL)
    local broken = program.run("-q", "--device=cpu", "--task", "broken.py", "light.lua", "try")
    program.says(broken, exits.USAGE, "broken.py: has no get_inputs")
    t.eq(broken.stdout, "")
    local cases = {
        { RIGHT .. INPUTS, exits.REJECTED,
            "mine.py:8: a solution may not define get_inputs: the inputs are the problem's" },
        { HEAD .. "class ModelNew(nn.Module:\n", exits.BUILD, "mine.py:4: invalid syntax" },
        { solution "return x[0]", exits.INCORRECT,
            "the result is of shape %[16%], the reference gives shape %[8, 16%]" },
        { solution "raise ValueError('no')", exits.CRASHED, "mine.py:6: ValueError: no" },
        { solution(NO_MEMORY), exits.CRASHED, "mine.py:6: " .. NO_MEMORY_LINE },
        { RIGHT, exits.DONE, "keep: baseline" },
    }
    for _, case in ipairs(cases) do
        program.write("mine.py", case[1])
        local result = try "mine.py"
        t.eq(result.code, case[2], result.stdout .. result.stderr)
        t.match(result.stdout, case[3]:gsub("[()]", "%%%0"))
    end
end)

t.test("show says what an autotuner has chosen, and whose words that are", function()
    program.fresh()
    begin()
    program.write("mine.py", TUNED)
    t.eq(try("mine.py").code, exits.DONE)
    t.match(program.run("-q", "light.lua", "show", "0").stdout,
        "\nautotuned +tuned %(8, 'float32'%): BLOCK=128, num_warps=8, num_stages=2 %(the solution's own words%)\n"
        .. "autotuned +alone: num_warps=4, ")
end)

t.test("a file that asks for extensions is looked into once, whatever is timed in turn with it", function()
    begin()
    local header = lane.write("own.h", "#define TWO 2\n")
    local with_header = with_factor("own", "TWO"):gsub("#include <Python.h>", '%0\n#include "' .. header .. '"')
    for name, text in pairs { none = RIGHT .. "# load_inline\n", own = with_header } do
        program.write("mine.py", text)
        local result = program.shell(("AKO_LOG=debug $ako -q --device=cpu --session=%s --task=twice.py "):format(name)
            .. "--solution=mine.py light.lua try")
        if result.stdout:find "Ninja" then t.skip(result.stdout) end
        t.eq(result.code, exits.DONE, result.stdout)
        local looks = select(2, result.stderr:gsub("candidate is asked describe", ""))
        t.eq(looks, 2, name .. ": one look: at the file, and at the making of its model")
    end
end)

t.test("a first solution that fails beside itself has failed, and no best so far", function()
    program.fresh()
    begin()
    program.write("mine.py", solution "import subprocess; subprocess.run(['true']); return x * 2")
    local first = try "mine.py"
    t.eq(first.code, exits.CRASHED, first.stdout)
    t.match(first.stdout, "RUNTIME_ERROR\nrevert: mine.py:%d+: ")
end)

t.test("equal files are checked all the same: what they load from elsewhere may have changed", function()
    program.fresh()
    begin()
    local helper = lane.write("elsewhere/helper_of_mine.py", "FACTOR = 2\n")
    program.write("mine.py", ("import sys\nsys.path.append(%q)\nfrom helper_of_mine import FACTOR\n"):format(
        fs.dirname(helper)) .. solution "return x * FACTOR")
    t.eq(try("mine.py").code, exits.DONE)
    local same = try "mine.py"
    t.eq(same.code, exits.NOT_BETTER)
    t.match(same.stdout, "no effect")
    lane.write("elsewhere/helper_of_mine.py", "FACTOR = 3\n")
    local changed = try "mine.py"
    t.eq(changed.code, exits.INCORRECT, changed.stdout)
end)

t.test("a solution that lies elsewhere is edited there; one that does not compile says so in its lines", function()
    begin("problems/twice.py")
    program.write("mine/there.py", RIGHT)
    local function with(...)
        return program.run("-q", "--device=cpu", "--task=problems/twice.py", "--solution=" .. program.folder
            .. "/mine/there.py", "light.lua", ...)
    end
    local tried = with "try"
    t.eq(tried.code, exits.DONE, tried.stdout .. tried.stderr)
    t.ok(not fs.exists(program.folder .. "/problems/there.py"))
    program.write("mine/there.py", HEAD .. "class ModelNew(nn.Module:\n")
    local broken = with("try", "-m", "edited")
    t.eq(broken.code, exits.BUILD)
    t.match(broken.stdout, "^COMPILED: False\n")
    t.match(with("brief").stdout, "%-%-task=problems/twice.py %-%-solution=there.py %-%-workspace=")
end)

t.test("a solution that is not there is made by nobody; one that lies beside its problem is copied", function()
    program.fresh()
    begin("problems/twice.py")
    program.write("problems/beside.py", RIGHT)
    program.write("mine.py", RIGHT)
    local function named(name, ...)
        return program.run("-q", "--device=cpu", "--task=problems/twice.py", "--solution=" .. name, "light.lua", "try",
            ...)
    end
    for name, hint in pairs { ["mien.py"] = " %(did you mean 'mine.py'%?%)", ["sub/new.py"] = "" } do
        local result = named(name)
        t.eq(result.code, exits.USAGE)
        t.match(result.stderr, "^ako%-lua: %-%-solution " .. name .. ": no such file in the current folder" .. hint
            .. "; without %-%-solution it is solution.py, which begins as a copy of the problem's Model\n$")
    end
    t.eq(fs.list(program.folder), { "light.lua", "mine.py", "problems" })
    t.eq(named("beside.py", "--workspace=own").code, exits.DONE)
    t.eq(fs.read(fs.join(program.folder, "own/beside.py")), RIGHT)
end)

t.test("another solution in the same session is refused, and stays where it is", function()
    begin()
    program.write("mine.py", RIGHT)
    program.write("other.py", RIGHT)
    local function with(name)
        return program.run("-q", "--device=cpu", "--session=one", "--task=twice.py", "--solution=" .. name, "light.lua",
            "try")
    end
    t.eq(with("mine.py").code, exits.DONE)
    program.says(with "other.py", exits.USAGE, "session one is about mine.py, not other.py: go on with that, or begin "
        .. "another session with --session=NAME")
    t.eq(fs.read(program.folder .. "/other.py"), RIGHT)
end)

t.test("a try that names nothing goes on with the task and solution of the newest open session", function()
    program.fresh()
    begin("problems/twice.py")
    program.write("mine.py", RIGHT)
    program.write("other.py", RIGHT)
    local function of(...) return program.run("-q", "--device=cpu", ...) end
    for _, name in ipairs { "mine", "other" } do
        local begun = of("--session=" .. name, "--task=problems/twice.py", "--solution", name .. ".py", "light.lua",
            "try")
        t.eq(begun.code, exits.DONE, begun.stderr)
    end
    t.eq(of("--session=other", "light.lua", "finish", "-m", "done").code, exits.DONE)
    program.write("mine.py", solution "return x * 3")
    local result = of("light.lua", "try")
    t.eq(result.code, exits.INCORRECT, result.stderr)
    t.match(result.stdout, "records in .git/ako/mine/trials/1")
end)

t.test("without PyTorch: exit 5, with what to do", function()
    begin()
    local bare = program.folder .. "/bare"
    local made = assert(process.run { "python3", "-m", "venv", "--without-pip", bare })
    if not made.ok then t.skip("python3 -m venv does not work here") end
    local function run(...)
        return assert(process.run { program.path, cwd = program.folder,
            env = { AKO_HOME = t.home, AKO_PYTHON = bare .. "/bin/python" }, ... })
    end
    local line = ("%s/bin/python has no PyTorch: "):format(bare)
    local result = run("-q", "--device=cpu", "--task", "twice.py", "light.lua", "try")
    t.eq({ result.code, result.stderr:sub(10, 9 + #line) }, { exits.LACKING, line })
    t.eq(run("-q", "--device=cpu", "--python", "/bin/true", "--task", "twice.py", "light.lua", "try").stderr,
        "ako-lua: /bin/true: no Python interpreter\n")
    local asked = "import site; print(site.getsitepackages()[0])"
    local folder = assert(process.run { bare .. "/bin/python", "-c", asked }).stdout:match "[^\n]+" .. "/torch"
    assert(fs.mkdirs(folder))
    assert(fs.write(folder .. "/__init__.py", "raise ImportError('libtorch.so: cannot open shared object file')\n"))
    result = run("-q", "--device=cpu", "--task", "twice.py", "light.lua", "try")
    t.eq(result.code, exits.LACKING)
    t.match(result.stderr, "bin/python cannot import PyTorch %(libtorch.so: cannot open shared object file%): ")
end)

lane.restart()
