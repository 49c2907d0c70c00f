-- In which forms policies/ako4all.lua takes what is to be made faster: a raw kernel, data in files, files that lie
-- outside the workspace, problems in Python.
local exits = require "ako.exits"
local fs = require "ako.fs"
local json = require "ako.json"
local lane = require "lane"
local process = require "ako.process"
local program = require "program"
local t = require "ako.tap"

local POLICY = fs.join(t.home, "policies/ako4all.lua")

local SCALE = [[
void scale(const float *x, float *y, int N, float by)
{
    for (int i = 0; i < N; i++)
        y[i] = by * x[i];
}
]]

local INPUTS = [[
return { tensors = { x = { "f32", { "N" }, init = "x.bin" }, y = { "f32", { "N" }, role = "output" } },
  scalars = { by = { "f32", 2 } }, workloads = { { N = 64 } },
  solution = { entry = "scale", args = { "x", "y", "N", "by" } } }
]]

local function ako(...) return program.run("--device=cpu", POLICY, ...) end

-- The resolved plan, or the question.
local function plan(...)
    local result = ako("plan", "--json", ...)
    return result.code == exits.DONE and json.decode(result.stdout).resolved or result.stderr, result.code
end

local function write_all(files)
    program.fresh()
    for name, text in pairs(files) do program.write(name, text) end
end

local DATA = ""
for i = 1, 64 do DATA = DATA .. string.pack("<f", math.sin(i * i)) end

t.test("a raw kernel alone: the question shows what to write, and that is a task", function()
    write_all { ["scale.c"] = SCALE, ["data/x.bin"] = DATA }
    local question, code = plan()
    t.eq(code, exits.USAGE)
    t.match(question, "^ako%-lua: scale.c looks like a kernel, but nothing says its tensors and shapes; write them "
        .. "into task.lua, or name the file with %-%-inputs=FILE; for example: return ")
    local shown = question:match "for example: (.*)\n"
    t.eq(shown, 'return { tensors = { x = { "f32", { "N" }, init = "data/x.bin" }, y = { "f32", { "N" }, '
        .. 'role = "output" } }, scalars = { by = { "f32", 1 } }, workloads = { { N = 1024 } }, solution = { '
        .. 'entry = "scale", args = { "x", "y", "N", "by" } } }')
    program.write("inputs.lua", (shown:gsub("1024", "64"):gsub("1 }", "2 }")))
    local resolved = plan()
    t.eq({ resolved.Kernel, resolved.Reference, resolved["Input data"] }, { "solution/scale.c (first content: scale.c, "
        .. "left as it is)", "scale.c (the original kernel)", "inputs.lua, data/x.bin" })
    t.match(ako("try").stdout, "CORRECT: True\n")
    write_all { ["scale.cu"] = "__global__ void scale(float *x) {}\n" }
    t.match(plan(), "or name the file with %-%-inputs=FILE\n$")
end)

t.test("kernel, inputs and data outside the workspace are taken where they lie, and watched", function()
    write_all { ["mine/empty"] = "", ["yours/scale.c"] = SCALE, ["yours/inputs.lua"] = INPUTS, ["yours/x.bin"] = DATA,
        ["yours/gold.c"] = SCALE }
    local folder = program.folder
    local function at(...)
        return ako("--workspace=mine", ...)
    end
    local where = { "--kernel=../yours/scale.c", "--inputs=" .. folder .. "/yours/inputs.lua" }
    local resolved = json.decode(at("plan", "--json", table.unpack(where)).stdout).resolved
    local yours = fs.absolute(folder) .. "/yours/"
    t.eq({ resolved.Kernel, resolved.Reference, resolved["Input data"] }, { "solution/scale.c (first content: " .. yours
        .. "scale.c, left as it is)", yours .. "scale.c (the original kernel)", yours .. "inputs.lua, " .. yours
        .. "x.bin" })
    where[3] = "--reference=" .. folder .. "/yours/gold.c"
    t.match(at("try", table.unpack(where)).stdout, "CORRECT: True\n")
    t.eq(fs.read(folder .. "/yours/scale.c"), SCALE)
    t.eq(fs.exists(folder .. "/mine/yours"), false)
    t.match(fs.read(folder .. "/mine/scripts/bench.sh"), "%-%-kernel=../yours/scale.c %-%-reference=/")
    program.write("yours/gold.c", SCALE .. "\n")
    t.match(at("try", table.unpack(where)).stdout, "revert: protected file [^\n]*/yours/gold.c changed")
    t.match(at("plan", "--kernel=../yours/scale.c").stderr, "/yours/scale.c looks like a kernel, but nothing says")
    t.match(at("plan", "--kernel=../yours/none.c").stderr, "%-%-kernel=../yours/none.c: no such file\n")
end)

t.test("a file that Python alone can read says what to do instead", function()
    write_all { ["scale.c"] = SCALE, ["inputs.lua"] = (INPUTS:gsub("x.bin", "x.pt")) }
    t.match(plan(), "tensor x: x.pt can be read by Python alone: save its tensors as .safetensors or .npy, or let "
        .. "get_inputs of a problem in Python load it\n$")
end)

-- In Python

local HEAD = "import os\nimport torch\nimport torch.nn as nn\n\n"
local MODEL = "class %s(nn.Module):\n    def forward(self, x):\n        return %s\n\n"
local LOADED = 'def get_inputs():\n    return [torch.load("x.pt") + torch.randn(8)]\n'
local BESIDE = 'FOLDER = os.path.dirname(__file__)\n\ndef get_inputs():\n'
    .. '    return [torch.load(os.path.join(FOLDER, "x.pt")) * torch.randn(8)]\n'

-- What torch.save writes.
local function write_tensor(name)
    local given = lane.need()
    local script = ("import torch; torch.save(torch.ones(8), '%s')"):format(name)
    assert(process.run { given.program, "-c", script, cwd = program.folder }.ok)
end

t.test("a problem and a kernel in Python are found, and data beside the problem's file", function()
    write_all { ["source/ref.py"] = HEAD .. MODEL:format("Model", "x * 2") .. LOADED,
        ["source/twice.py"] = HEAD .. MODEL:format("ModelNew", "x + x"), ["helpers.py"] = "import math\n" }
    write_tensor "source/x.pt"
    local resolved = plan()
    t.eq({ resolved.Kernel, resolved.Reference, resolved["Input data"] }, { "solution/twice.py (first content: "
        .. "source/twice.py, left as it is)", "source/ref.py", "source/ref.py (its get_inputs)" })
    t.match(ako("try").stdout, "CORRECT: True\n")
    t.ok(program.shell("git rev-parse --verify -q opt/twice").ok)
    program.write("solution/twice.py", HEAD .. MODEL:format("ModelNew", "x * 3"))
    t.match(ako("try").stdout, "CORRECT: False\n")
    t.match(ako("log").stdout, "INCORRECT_NUMERICAL")
    program.write("source/more.py", HEAD .. MODEL:format("ModelNew", "x + x"))
    program.write("source/ref.py", HEAD .. MODEL:format("Model", "x * 2") .. BESIDE)
    t.match(ako("try").stdout, "revert: protected file source/ref.py changed")
end)

t.test("inputs in a file of their own, no kernel but the reference, and files outside", function()
    write_all { ["ref.py"] = HEAD .. MODEL:format("Model", "x * 2"), ["data/inputs.py"] = HEAD .. BESIDE }
    write_tensor "data/x.pt"
    local resolved = plan()
    t.eq({ resolved.Kernel, resolved.Reference, resolved["Input data"] }, { "solution/ref.py", "ref.py",
        "data/inputs.py" })
    t.match(ako("try").stdout, "CORRECT: True\n")
    t.match(fs.read(program.folder .. "/solution/ref.py"), "return x %* 2")
    local folder = program.folder
    program.fresh()
    local said = ako("try", "--reference=" .. folder .. "/ref.py", "--inputs=" .. folder .. "/data/inputs.py")
    t.match(said.stdout, "CORRECT: True\n")
    t.match(said.stderr, "Input data +[^\n]*/data/inputs.py\n")
    local words = fs.read(program.folder .. "/scripts/bench.sh"):match '\n#   "%$ako" (%S+ bench %-%-ref [^\n]+)\n'
    t.match(words, " %-%-inputs /[^ ]*/data/inputs.py$")
    said = program.shell("$ako " .. words .. " -q --device=cpu --no-ref --num-perf-trials=2")
    t.match(said.stdout, "COMPILED: True\nCORRECT: True\n", said.stderr)
end)

t.test("what is missing or may be two things is a question", function()
    lane.need()
    write_all { ["k.py"] = "import triton\n" }
    t.match(plan(), "k.py looks like a kernel, but nothing gives its inputs; name a file with class Model and "
        .. "get_inputs with %-%-reference=FILE, or one with get_inputs with %-%-inputs=FILE\n")
    write_all { ["a.py"] = HEAD .. MODEL:format("ModelNew", "x"), ["b.py"] = HEAD .. MODEL:format("ModelNew", "x"),
        ["ref.py"] = HEAD .. MODEL:format("Model", "x * 2") .. LOADED }
    t.match(plan(), "a.py and b.py could both be the kernel; name it with %-%-kernel=FILE\n")
end)
