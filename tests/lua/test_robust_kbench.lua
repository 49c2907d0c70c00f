-- Tasks in the format of robust-kbench: a workload for each case of the configuration, and solutions that are a
-- function, a model or a file with a pybind module.
local exits = require "ako.exits"
local fault = require "ako.fault"
local fs = require "ako.fs"
local json = require "ako.json"
local lane = require "lane"
local problem = require "ako.problem"
local problem_task = require "ako.problem_task"
local program = require "program"
local t = require "ako.tap"
local task_files = require "ako.task"

local LINEAR = [[
import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, weight, bias):
    return F.linear(x, weight, bias)


class Model(nn.Module):
    def __init__(self, dim=3, out_dim=2):
        super(Model, self).__init__()
        self.weight = nn.Parameter(torch.randn(out_dim, dim))
        self.bias = nn.Parameter(torch.randn(out_dim))

    def forward(self, given, fn=forward_fn):
        return fn(given, self.weight, self.bias)


def get_inputs(batch=5, dim=3):
    return [torch.randn(batch, dim)]


input_names = ["x"]
]]

local CONFIG = [[{
  "single_init_configs": [{"out_dim": 32}], "multi_init_configs": [{"out_dim": 32}, {"out_dim": 16}],
  "single_input_configs": [{"batch": 8}], "multi_input_configs": [{"batch": 8}, {"batch": 24}],
  "single_shared_configs": [{"dim": 64}], "multi_shared_configs": [{"dim": 64}, {"dim": 48}] }]]

local HEAD = "import torch\nimport torch.nn as nn\n\n"
local FUNCTION = HEAD .. "def forward_fn(x, weight, bias):\n    return torch.addmm(bias, x, weight.t())%s\n"
local RIGHT = FUNCTION:format ""

local function write_task(folder, text, config)
    lane.write(folder .. "/config_forward.json", config or CONFIG)
    return lane.write(folder .. "/func_forward.py", text or LINEAR)
end

-- The task of both multi_ lists, given to the evaluator; nil and why there is none.
local function task_of(folder, text, config, multi)
    local file = write_task(folder, text, config)
    local task, why, code = fault.catch(function()
        local loaded = problem.load(file, nil, { multi = multi or { init = true, input = true } })
        return problem_task.resolve(lane.evaluator(), loaded, { seed = 42 })
    end)
    if not task then return nil, why:gsub("^.*/", ""), code end
    lane.give(task, task_files.tolerance(task, "allclose_ref", { f32 = 1e-3 }))
    return task
end

lane.restart "cpu"

lane.test("each case is a workload with shapes of its own, and a dimension is called by its setting", function()
    local task = assert(task_of "linear")
    t.eq(task.name, "linear")
    t.eq(#task.workloads, 8)
    local last = task.workloads[8]
    t.eq(last.id, "dim=48,out_dim=16;batch=24")
    t.eq(last.shapes, { x = { 24, 48 }, out = { 24, 16 } })
    t.eq(last.axes, { batch = 24, dim = 48, out_dim = 16 })
    local x, out = task.tensor.x, task.tensor.out
    t.eq({ x.dims[1].text, x.dims[2].text, out.dims[2].text }, { "batch", "dim", "out_dim" })
    task = assert(task_of("linear", nil, nil, {}))
    t.eq(#task.workloads, 1)
    t.eq(task.tensor.x.dims[1].text, "8")
end)

lane.test("a function takes the place of forward_fn in the problem's Model, which has the weights", function()
    local task = assert(task_of "linear")
    local result = lane.try(task, RIGHT, { launches = 3 })
    t.eq(result.status, "PASSED", result.reason)
    t.eq(#result.workloads, 8)
    for _, workload in ipairs(result.workloads) do t.ok(workload.time.mean > 0, workload.id) end
    result = lane.try(task, FUNCTION:format " + (x.shape == (24, 48))")
    t.eq(result.status, "INCORRECT_NUMERICAL")
    for i, workload in ipairs(result.workloads) do
        t.eq(workload.status == "INCORRECT_NUMERICAL", i == 4 or i == 8, workload.id)
    end
end)

lane.test("the problem's text is in a solution's process what it is in its own", function()
    local text = "from __future__ import annotations\nimport dataclasses\nimport os\n" .. LINEAR .. "\n"
        .. "FOLDER = os.path.basename(os.path.dirname(__file__))\nSHAPE = get_inputs()[0].shape\n"
        .. "assert FOLDER == 'telling'\n\n@dataclasses.dataclass\nclass Settings:\n    size: int = 1\n"
    local task = assert(task_of("telling", text))
    local result = lane.try(task, RIGHT)
    t.eq(result.status, "PASSED", result.reason)
end)

lane.test("a model of its own gets the settings; the problem's is where one begins", function()
    local task = assert(task_of "linear")
    local own = (LINEAR:gsub("class Model", "class ModelNew"):gsub("super%(Model, self%)", "super()")
        :gsub("def get_inputs.*$", ""))
    t.eq(lane.try(task, own).status, "PASSED")
    t.eq(lane.try(task, task.solution.texts[1]).status, "PASSED")
    t.ok(not task.solution.texts[1]:find "get_inputs", task.solution.texts[1])
    local result = lane.try(task, (own:gsub("out_dim=2", "outs=2"):gsub("%(out_dim", "(outs")))
    t.eq(result.status, "COMPILE_ERROR")
    t.match(result.reason, "^mine.py: TypeError: .*unexpected keyword argument 'out_dim'")
end)

lane.test("what a solution may not do, and what it lacks", function()
    local task = assert(task_of("linear", nil, nil, {}))
    local result = lane.try(task, RIGHT .. "globals()['get_' + 'inputs'] = list\n")
    t.eq(result.reason, "mine.py: a solution may not define get_inputs: the inputs are the problem's")
    t.eq(lane.try(task, HEAD).reason, "mine.py: defines no class ModelNew or Model")
    result = lane.try(task, HEAD .. "def forward_fn(x, weight, bias):\n    return nothing\n")
    t.eq({ result.status, result.reason }, { "RUNTIME_ERROR", "mine.py:5: NameError: name 'nothing' is not defined" })
end)

lane.test("a mistake in the configuration or the task is one line", function()
    local function refused(text, config)
        local task, why, code = task_of("bad", text, config)
        t.eq(task, nil)
        t.eq(exits.of_code(code), exits.USAGE)
        return why
    end
    t.match(refused(nil, "{"), "^config_forward.json: ")
    t.eq(refused(nil, "{}"), "config_forward.json: the configuration has no 'multi_init_configs'")
    t.eq(refused((LINEAR:gsub("class Model", "class Other"))), "func_forward.py: defines no class Model")
    t.match(refused(nil, (CONFIG:gsub("batch", "size"))), "^func_forward.py: TypeError: .*'size'")
    local of_two_dtypes = LINEAR:gsub("torch.randn%(batch, dim%)", "%0.to(torch.double if batch > 8 else torch.float)")
        :gsub("return fn%(given", "return fn(given.float()")
    t.eq(refused(of_two_dtypes), "func_forward.py: case dim=64,out_dim=32;batch=24 has the inputs x f64, case "
        .. "dim=64,out_dim=32;batch=8 has x f32; they may differ in shape alone")
end)

-- Of the program

local function run(...)
    lane.need()
    program.write("linear/func_forward.py", LINEAR)
    program.write("linear/config_forward.json", CONFIG)
    return program.run("--device=cpu", fs.join(t.home, "policies/robust_kbench.lua"), "--task", "linear", ...)
end

t.test("the folder is the task, and the policy's options choose the settings", function()
    program.write("mine.py", RIGHT)
    local result = run("--solution", "mine.py", "try", "--multi-input-settings")
    t.match(result.stderr, "task        linear: x f32%(batch, 64%) %-> out f32%(batch, 32%); 2 workloads\n")
    t.match(result.stderr, "5 checks, allclose_ref atol 0.001 rtol 0.001\n")
    t.match(result.stderr, "25 warm%-ups, 1000 launches")
    t.match(result.stderr, "products off, cuDNN off")
    t.match(result.stdout, "CORRECT: True\n")
end)

t.test("a session goes on with the cases that it began with", function()
    program.fresh()
    program.write("mine.py", RIGHT)
    t.eq(run("--solution", "mine.py", "--session=one", "try", "--multi-init-settings").code, 0)
    local result = run("--solution", "mine.py", "--session=one", "--json", "try")
    local record = assert(json.decode(result.stdout), result.stderr)
    t.eq({ record.trial, #record.workloads, record.options }, { 1, 2, { multi_init_settings = true } })
    local other = run("--solution", "mine.py", "--session=one", "--quiet", "try", "--multi-input-settings")
    program.says(other, exits.REJECTED, "session one was "
        .. "begun with the options --multi-init-settings, not with --multi-init-settings --multi-input-settings: go on "
        .. "with that one, or begin another session with --session=NAME")
    t.eq(run("--solution", "mine.py", "--quiet", "finish", "-m", "enough").code, 0)
end)

t.test("a reference that ends its process over wider inputs has only its own, in every case", function()
    lane.need()
    program.fresh()
    local exits_below_0 = "return torch.relu(x) if x.min() >= 0 else __import__('os')._exit(4)\n"
    local relu = (LINEAR:gsub("return F.linear.-\n", exits_below_0)
        :gsub("randn%(batch", "rand(batch"))
    program.write("linear/func_forward.py", relu)
    program.write("linear/config_forward.json", CONFIG)
    program.write("mine.py", HEAD .. "def forward_fn(x, weight, bias):\n    return torch.relu(x)\n")
    program.write("light.lua", 'return require("policies.robust_kbench"):extend { name = "light", '
        .. "timing = { launches = 3 } }\n")
    local result = program.run("--device=cpu", "light.lua", "--task", "linear", "--solution", "mine.py", "--json",
        "try", "--multi-input-settings")
    local record = json.decode(result.stdout)
    t.eq({ record.status, #record.workloads, record.wider }, { "PASSED", 2, nil }, record.reason)
    t.match(record.weakness, "a copy of input 'x' passes as 'out'")
end)

t.test("a folder without the configuration, and one with a backward task alone, say what is missing", function()
    lane.need()
    program.fresh()
    local policy = fs.join(t.home, "policies/robust_kbench.lua")
    program.write("task/func_backward.py", LINEAR)
    program.says(program.run(policy, "--task", "task", "try"), exits.USAGE, "task: has func_backward.py alone; of a "
        .. "robust-kbench task the forward part is read (func_forward.py, config_forward.json)")
    program.write("task/func_forward.py", LINEAR)
    program.says(program.run(policy, "--task", "task", "try"), exits.USAGE,
        "task/func_forward.py: lacks the config_forward.json beside it, which has its cases")
end)

-- Extensions. PyTorch's own header takes a minute, where it can be read at all: this one stands for it.
local HEADER = [[
#include <Python.h>
#define JOINED(a, b) a##b
#define INIT(name) JOINED(PyInit_, name)
#define PYBIND11_MODULE(name, m) PyMODINIT_FUNC INIT(name)(void)
]]

local ADDMM = [[
static PyObject *forward(PyObject *self, PyObject *args)
{
    PyObject *x, *weight, *bias;
    if (!PyArg_ParseTuple(args, "OOO", &x, &weight, &bias))
        return NULL;
    PyObject *turned = PyObject_CallMethod(weight, "t", NULL);
    PyObject *result = PyObject_CallMethod(bias, "addmm", "OO", x, turned);
    Py_DECREF(turned);
    return result;
}
static PyMethodDef methods[] = {{"forward", forward, METH_VARARGS, ""}, {NULL, NULL, 0, NULL}};
static PyModuleDef mine = {PyModuleDef_HEAD_INIT, "mine", NULL, -1, methods, NULL, NULL, NULL, NULL};
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    return PyModule_Create(&mine);
}
]]

-- The output of `try` with this solution.
local function try_file(name, text, task)
    lane.need()
    program.fresh()
    program.write("twice.py", HEAD .. "class Model(nn.Module):\n    def forward(self, x):\n        return x * 2\n\n"
        .. "def get_inputs():\n    return [torch.randn(8, 16)]\n")
    program.write("linear/func_forward.py", LINEAR)
    program.write("linear/config_forward.json", CONFIG)
    program.write("stub/torch/extension.h", HEADER)
    program.write("compiler", '#!/bin/sh\nexec c++ -I"$(dirname "$0")/stub" "$@"\n')
    program.write(name, text)
    local result = program.shell(("chmod +x compiler; CXX=$PWD/compiler XDG_CACHE_HOME=$PWD/cache $ako --device=cpu "
        .. "%s/policies/robust_kbench.lua --task %s --solution %s try --multi-init-settings"):format(t.home,
            task or "linear", name))
    if result.stdout:find "Ninja" or result.stdout:find "Python.h" then t.skip(result.stdout) end
    return result.stdout
end

t.test("a file with a pybind module is built before it is loaded, and its forward called in every case", function()
    local said = try_file("mine.cpp", ADDMM)
    t.match(said, "COMPILED: True\nCORRECT: True\nBACKEND: cpp ")
    t.match(said, "WORKLOAD: dim=64,out_dim=")
    t.match(try_file("mine.cpp", (ADDMM:gsub("TORCH_EXTENSION_NAME", "linear_forward"))), "CORRECT: True\n")
end)

t.test("it solves a problem of KernelBench that has no weights, too", function()
    local twice = ADDMM:gsub("{\n    PyObject %*x, .-return result;", "{\n    PyObject *x = PyTuple_GetItem(args, 0);\n"
        .. "    return PyNumber_Add(x, x);")
    t.match(try_file("mine.cpp", twice, "twice.py"), "CORRECT: True\n")
end)

t.test("what is wrong with it is said by its file and line", function()
    t.match(try_file("mine.cpp", (ADDMM:gsub("return result", "return nothing"))), "revert: mine.cpp:9: ")
    t.match(try_file("mine.cpp", (ADDMM:gsub('{"forward"', '{"forwards"'))), "revert: mine.cpp: has no forward\n")
    local said = try_file("mine.cu", ADDMM)
    if said:find "without CUDA" then
        t.match(said, "revert: mine.cu: CUDA code, but PyTorch [^\n]* was built without CUDA\n")
    end
end)
