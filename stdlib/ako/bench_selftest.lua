-- What `bench --self-test` does: the reading of solutions, which comes before anything runs, tried on texts whose facts
-- are known. It needs neither a device nor a Python.

local backend = require "ako.backend"
local json = require "ako.json"
local python_source = require "ako.python_source"

local bench_selftest = {}

local USUAL = [[
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return helper(x)

def helper(x):
    return x * 3

N = 4096

def get_inputs():
    return [N]

def get_init_inputs():
    return []
]]

-- name, text, what must be seen in it
local CASES = {
    { "one class, inputs and a helper behind it", USUAL,
        { model = "Model", inputs = "get_init_inputs get_inputs", helpers = "helper", super = 1 } },
    { "no class", "import torch\nN = 1\n", { inputs = "", helpers = "", super = 0 } },
    { "several classes", "class A: pass\ndef f(): pass\nclass ModelNew(A):\n    pass\nclass B: pass\ndef g(): pass\n",
        { model = "ModelNew", inputs = "", helpers = "g", super = 0 } },
    { "inputs by another way", "class Model: pass\nif 1:\n    from x import f as get_inputs\nget_init_inputs = list\n",
        { model = "Model", inputs = "get_init_inputs get_inputs", helpers = "", super = 0 } },
    { "words in strings and comments", "'''\nclass Model:\n'''\n# def get_inputs():\ns = 'super(Model, self)'\n",
        { inputs = "", helpers = "", super = 0 } },
}

local BACKENDS = {
    { "import triton.language as tl\n", "triton" }, { "import tilelang\n", "tilelang" },
    { "import cutlass.cute as cute\n", "cute" }, { "from cutlass import (\n    cute,\n)\n", "cute" },
    { "m = load_inline(name='m', cuda_sources='__global__ void f() {}')\n", "cuda" },
    { "m = load_inline(name='m', cuda_sources='#include <hip/hip_runtime.h>')\n", "hip" },
    { "@triton.jit\ndef kernel(x): pass\n", "triton" }, { "# import triton\nimport torch\n", "pytorch" },
}

local function seen(text)
    local facts, inputs = python_source.facts(text), {}
    for name in pairs(facts.inputs) do inputs[#inputs + 1] = name end
    table.sort(inputs)
    return { model = facts.model, inputs = table.concat(inputs, " "), helpers = table.concat(facts.helpers, " "),
        super = #facts.super_model }
end

local function difference(got, want)
    for _, name in ipairs { "model", "inputs", "helpers", "super" } do
        if got[name] ~= want[name] then
            return ("%s is '%s' instead of '%s'"):format(name, tostring(got[name]), tostring(want[name]))
        end
    end
end

local function backend_difference()
    for _, case in ipairs(BACKENDS) do
        local found = backend.detect(case[1])
        if found ~= case[2] then return ("%s instead of %s for %q"):format(found, case[2], case[1]) end
    end
end

--- Runs all of it. Returns whether everything is as it must be, and the tests { name, passed, problem }.
function bench_selftest.run()
    local passed, tests = true, json.array()
    local function add(name, problem)
        passed = passed and not problem
        tests[#tests + 1] = { name = name, passed = not problem, problem = problem }
    end
    for _, case in ipairs(CASES) do add(case[1], difference(seen(case[2]), case[3])) end
    add("backends", backend_difference())
    return passed, tests
end

--- A line for each test.
function bench_selftest.text(tests)
    local lines = {}
    for i, test in ipairs(tests) do
        lines[i] = ("Self-test %s: %s%s\n"):format(test.passed and "PASSED" or "FAILED", test.name,
            test.problem and ": " .. test.problem or "")
    end
    return table.concat(lines)
end

return bench_selftest
