-- What is read off Python sources without a Python, and the backend that follows from it.
local backend = require "ako.backend"
local python_source = require "ako.python_source"
local t = require "ako.tap"

local facts = python_source.facts

local function codes(text)
    local list = {}
    for i, statement in ipairs(python_source.statements(text)) do list[i] = statement.code end
    return list
end

local function names(list)
    local found = {}
    for i, entry in ipairs(list) do found[i] = entry.name end
    return found
end

-- Statements

t.test("a statement a line, comments and blank lines gone", function()
    t.eq(codes "a = 1\n\n  # nothing\nb = 2 # said\n", { "a = 1", "b = 2" })
    t.eq(codes "", {})
    t.eq(codes "\n\n", {})
    t.eq(codes "a", { "a" })
    t.eq(codes "a = 1; b = 2;\nc", { "a = 1", "b = 2", "c" })
end)

t.test("strings of all kinds become empty ones", function()
    t.eq(codes [[a = 'x # y' + "it's" + r"\" + b'\\']], { [[a = "" + "" + r""]] })
    t.eq(codes [[a = '\'' + "\""]], { [[a = "" + ""]] })
    t.eq(codes 'a = """one\n"two" \'three\'\n# four""" + x', { 'a = "" + x' })
    t.eq(codes "a = '''x\\''' y''' + z", { 'a = "" + z' })
    t.eq(codes [[a = "" + '' + """"""]], { [[a = "" + "" + ""]] })
    t.eq(codes 'a = f"{d["k"]}" + b', { 'a = f""k"" + b' })
end)

t.test("the contents of strings are kept", function()
    t.eq(python_source.statements([[f("a\"b", '''c
d''')]])[1].strings, { [[a\"b]], "c\nd" })
end)

t.test("a string that is not closed ends with its line, a long one with the text", function()
    t.eq(codes "a = 'x\nb = 1", { 'a = ""', "b = 1" })
    t.eq(codes "a = 'x\\\ny'\nb = 1", { 'a = ""', "b = 1" })
    t.eq(codes 'a = """x\nb = 1', { 'a = ""' })
    t.eq(codes "a = '\\", { 'a = ""' })
end)

t.test("brackets and backslashes continue lines", function()
    local list = python_source.statements "f(a,\n  [1, # one\n   2],\n  {3: 4})\nx = 1 + \\\n    2\ny"
    t.eq({ list[1].line, list[2].line, list[3].line }, { 1, 5, 7 })
    t.match(list[1].code, "^f%(a,   %[1,     2%],   {3: 4}%)$")
    t.eq(list[1].flat, "f()")
    t.match(list[2].code, "^x = 1 %+ +2$")
    t.eq(codes "a)\nb(\nc", { "a)", "b( c" })
end)

t.test("lines are counted through strings and line ends of all systems", function()
    local list = python_source.statements "a = '''\n\n'''\r\nb = 1\rc = 2\n\fd = 3"
    local lines = {}
    for i, statement in ipairs(list) do lines[i] = statement.line end
    t.eq(lines, { 1, 4, 5, 6 })
end)

t.test("indents are columns", function()
    local list = python_source.statements "\xEF\xBB\xBFa\n  b\n\tc\n  \td\n    \te; f"
    local indents = {}
    for i, statement in ipairs(list) do indents[i] = statement.indent end
    t.eq(indents, { 0, 2, 8, 8, 8, 8 })
    t.eq({ list[5].joined, list[6].joined }, { nil, true })
end)

t.test("any bytes are read to their end", function()
    for _, text in ipairs { "\0\1\2", ("("):rep(5000), ("'"):rep(5001), ("\\"):rep(300), '"""' .. ("\n"):rep(5000),
        "\xff\xfe = 'x'", ("[({"):rep(999) .. ("'\n"):rep(999) } do
        t.ok(#python_source.statements(text) >= 0)
        t.ok(facts(text))
    end
end)

-- Definitions

local USUAL = [[
import torch.nn as nn

class Helper(nn.Module):
    def forward(self, x):
        def inner(): pass
        return x

def before(): return 1

@decorated
class Model(
    nn.Module, # a base
):
    def __init__(self):
        super(Model, self).__init__()
    def get_inputs(self): return []

async def behind(x):
    return x

def get_inputs():
    return [N]
]]

t.test("classes and functions of the module, in order, with their lines", function()
    local found = facts(USUAL)
    t.eq(names(found.classes), { "Helper", "Model" })
    t.eq({ found.classes[1].line, found.classes[2].line }, { 3, 11 })
    t.eq(found.classes[1].bases, "nn.Module")
    t.match(found.classes[2].bases, "^%s*nn.Module,%s*$")
    t.eq(names(found.functions), { "before", "behind", "get_inputs" })
    t.eq(found.helpers, { "behind" })
    t.eq(found.model, "Model")
    t.eq(found.inputs, { get_inputs = 21 })
    t.eq(found.super_model, { 15 })
end)

t.test("the model", function()
    t.eq(facts("class Model: pass\nclass ModelNew: pass").model, "ModelNew")
    t.eq(facts("class ModelNew: pass\nclass Model: pass").model, "ModelNew")
    t.eq(facts("class Models: pass\nclass MyModel: pass").model, nil)
    t.eq(facts("def f():\n    class Model: pass").model, nil)
    t.eq(facts("try:\n    import x\n    class Model: pass\nexcept ImportError: pass").model, "Model")
    t.eq(facts("class Outer:\n    class Model: pass").model, nil)
    t.eq(facts("class  Model [T] (Base) :\n  pass").model, "Model")
    t.eq(facts("").model, nil)
end)

t.test("functions behind the last class are helpers, wherever other classes stand", function()
    t.eq(facts("def f(): pass\nclass A: pass\ndef g(): pass\nclass B: pass\ndef h(): pass\ndef get_inputs(): pass")
        .helpers, { "h" })
    t.eq(facts("def f(): pass").helpers, {})
    t.eq(facts("class A: pass\nif x:\n    def f(): pass").helpers, { "f" })
    t.eq(facts("class A: pass\nif x:\n    class B: pass\n").helpers, {})
end)

t.test("a one-line definition holds what stands behind its semicolon", function()
    t.eq(facts("class A: x = 1; get_inputs = 2\ny = 1").inputs, {})
    t.eq(facts("def f(): x = 1; get_inputs = 2\nget_inputs = 3").inputs, { get_inputs = 2 })
end)

t.test("inputs that a module gives itself, in every way", function()
    for _, text in ipairs {
        "def get_inputs(): pass", "async def get_inputs(): pass", "class get_inputs: pass", "get_inputs = f",
        "get_inputs = lambda: []", "get_inputs: Callable = f", "a = get_inputs = f", "a, get_inputs = f, g",
        "import m as get_inputs", "from m import get_inputs", "from m import f as get_inputs",
        "from m import (\n  f,\n  f as get_inputs,\n)", "import get_inputs", "import get_inputs.x",
        "for get_inputs in [f]: pass", "with m as get_inputs: pass", "x = 1; get_inputs = f",
        "if True:\n    def get_inputs(): pass", "if True: get_inputs = f",
        "try:\n    pass\nfinally:\n    get_inputs = f", "while 1:\n  if 2:\n    get_inputs = f",
        "def f():\n    global x, get_inputs\n    get_inputs = g",
    } do
        t.ok(facts(text).inputs.get_inputs, text)
    end
    t.eq(facts("if (get_inputs := f): pass").inputs, {}, "inside brackets nothing is sought")
    t.eq(facts("if get_inputs := f: pass").inputs, { get_inputs = 1 })
    t.eq(facts("x = 1\ndef get_init_inputs(): pass\nget_init_inputs = 2").inputs, { get_init_inputs = 2 })
end)

t.test("what gives none", function()
    for _, text in ipairs {
        "def get_inputs_of(): pass", "class M:\n    def get_inputs(self): pass", "def f():\n    get_inputs = 1",
        "get_inputs()", "x = get_inputs()", "m.get_inputs = 1", "f(get_inputs=1)", "x[get_inputs] = 1",
        "# def get_inputs(): pass", "'''\ndef get_inputs(): pass\n'''", "s = 'get_inputs = 1'",
        "if get_inputs == 1: x = 2", "get_inputs == 1", "get_inputs <= 1", "f = lambda get_inputs=1: 2",
        "x: get_inputs = 1", "get_inputs: int",
        "from get_inputs import x", "import m.get_inputs", "while get_inputs != 3: y = 1", "def f(get_inputs=1): pass",
    } do
        t.eq(facts(text).inputs, {}, text)
    end
end)

t.test("super(Model, in code, over several lines, not in strings", function()
    t.eq(facts("class Model:\n    def f(self):\n        super(Model, self).f()\n        super( Model ,\n  self).g()\n")
        .super_model, { 3, 4 })
    t.eq(facts("super(ModelNew, self)\nsuper()\n# super(Model, self)\n'super(Model, self)'\nmysuper(Model, x)")
        .super_model, {})
end)

t.test("imports at any depth", function()
    local text = "import a.b as c, d\ndef f():\n    from e.f import (\n        g as h,\n        i,\n    )\n"
        .. "from . import j"
    t.eq(facts(text).imports, {
        { module = "a.b", as = "c", line = 1 }, { module = "d", as = "d", line = 1 },
        { module = "e.f", name = "g", as = "h", line = 3 }, { module = "e.f", name = "i", as = "i", line = 3 },
        { module = ".", name = "j", as = "j", line = 7 } })
    t.eq(facts("if x[1:2]: import y\ntry: from a import b; import c\nfinally: pass").imports, {
        { module = "y", as = "y", line = 1 }, { module = "a", name = "b", as = "b", line = 2 },
        { module = "c", as = "c", line = 2 } })
    t.eq(facts("import a.b\nfrom a import *\nimportant = 1\nfrom_x = 2").imports, {
        { module = "a.b", as = "a", line = 1 }, { module = "a", name = "*", as = "*", line = 2 } })
end)

-- Backends

local function detects(want, ...)
    for _, text in ipairs { ... } do t.eq(backend.detect(text), want, text) end
end

t.test("languages inside Python, by their imports", function()
    detects("triton", "import triton\n", "import triton.language as tl", "from triton import jit",
        "import torch, triton", "def f():\n    import triton", "try:\n    import triton\nexcept ImportError:\n    pass")
    detects("tilelang", "import tilelang", "import tilelang.language as T", "from tilelang import language")
    detects("cute", "import cutlass.cute as cute", "from cutlass import cute", "from cutlass import (\n    cute,\n)",
        "from cutlass.cute.runtime import from_dlpack", "import cute", "import cutlass\nx = cutlass.cute.kernel",
        "from cute_dsl import x")
    detects("triton", "import tilelang\nimport triton")
end)

t.test("languages inside Python whose import is out of sight, by the decorators of their kernels", function()
    detects("triton", "@triton.jit\ndef f(): pass", "triton = load('triton')\n@triton.autotune(\n    configs=[],\n)\n"
        .. "@triton.jit\ndef f(): pass", "class A:\n    @triton.jit\n    def f(): pass")
    detects("tilelang", "@tilelang.jit\ndef f(): pass")
    detects("cute", "@cute.kernel\ndef f(): pass")
    detects("pytorch", "s = '@triton.jit'", "# @triton.jit\n", "@tritonx.jit\ndef f(): pass")
end)

t.test("CUDA, by what compiles it", function()
    detects("cuda", "from torch.utils.cpp_extension import load_inline", "m = load_inline(name='x')",
        "import torch.utils.cpp_extension as ext\next.load(name='x')", "from torch.utils import cpp_extension",
        "k = cupy.RawKernel(code, 'f')", "from numba import cuda\n@cuda.jit\ndef f(): pass",
        "import pycuda.driver", "from cuda import nvrtc", "k = torch.cuda._compile_kernel(s, 'f')")
    detects("cuda", "__global__ void f(float *x) {}\n")
end)

t.test("HIP, by its header inside what is compiled", function()
    detects("hip", "m = load_inline(name='x', cuda_sources='''\n#include <hip/hip_runtime.h>\n''')",
        "from torch.utils.cpp_extension import load_inline\ns = 'hipLaunchKernelGGL(f)'", "from hip import hip")
    detects("pytorch", "'''hip/hip_runtime.h'''\nimport torch")
end)

t.test("everything else is PyTorch", function()
    detects("pytorch", "", "import torch\nclass Model: pass", "# import triton\n", "'''\nimport triton\n'''",
        "s = 'import tilelang'", "x = torch.compile(f)", "import tritonx", "import cutlass", "import cupy",
        "doc = '__global__ void f()'", "x = torch.cuda.synchronize()", "# load_inline\n")
end)

t.test("of two the one that has a kernel", function()
    local compiled = "from torch.utils.cpp_extension import load_inline\n"
    detects("cuda", "import triton\n" .. compiled .. "g = triton.cdiv(8, 2)",
        "import triton\n" .. compiled .. "@torch.jit.script\ndef f(): pass", "import triton\n" .. compiled
        .. "s = '@triton.jit'")
    detects("triton", "import triton\n" .. compiled .. "@triton.jit\ndef f(): pass",
        "import triton\n" .. compiled .. "@triton.autotune(\n  configs=[],\n)\n@triton.jit\ndef f(): pass")
    detects("cute", "import cutlass.cute as cute\n" .. compiled .. "@cute.kernel\ndef f(): pass")
    detects("tilelang", "import tilelang.language as T\n" .. compiled .. "@T.prim_func\ndef f(): pass")
end)

t.test("sources that are no Python, by their names", function()
    t.eq(backend.detect("it's", "solution/kernel.cu"), "cuda")
    t.eq(backend.detect("", "k.CUH"), "cuda")
    t.eq(backend.detect("#include <hip/hip_runtime.h>", "k.cu"), "hip")
    t.eq(backend.detect("", "k.hip"), "hip")
    t.eq(backend.detect("import triton", "k.py"), "triton")
end)

t.test("what is given by hand goes first", function()
    t.eq({ backend.choose(nil, "import triton") }, { "triton", "auto" })
    t.eq({ backend.choose("cuda", "import triton") }, { "cuda", "explicit" })
    t.eq({ backend.choose(nil, "", "x.cu") }, { "cuda", "auto" })
end)
