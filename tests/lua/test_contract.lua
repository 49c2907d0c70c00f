-- The contract of the roofline optimizer: declarations read off C, sizes, and whole evaluations on the CPU.
local contract = require "ako.contract"
local entry = require "ako.entry"
local lane = require "lane"
local program = require "program"
local python = require "ako.python"
local t = require "ako.tap"

local function parse(text, name) return entry.parse { name = name or "k.cu", text = text } end

local function params(list)
    local found = {}
    for i, one in ipairs(parse('extern "C" void solve(' .. list .. ") {}").params) do
        found[i] = ("%s %s%s%s"):format(one.name, one.const and "const " or "", one.dtype or "void",
            one.pointer and "*" or "")
    end
    return found
end

t.test("types of parameters", function()
    t.eq(params "const float* A, float *B, int n", { "A const f32*", "B f32*", "n i32" })
    t.eq(params "const float* __restrict__ A, float const *B, float *const C, const int n",
        { "A const f32*", "B const f32*", "C f32*", "n i32" })
    t.eq(params "const half *a, const __half *b, __nv_bfloat16 *c, const __nv_fp8_e4m3 *d, __nv_fp8_e5m2* e",
        { "a const f16*", "b const f16*", "c bf16*", "d const f8e4m3*", "e f8e5m2*" })
    t.eq(params "const unsigned char *a, long long n, unsigned int m, std::int64_t k, size_t s, float alpha, double b",
        { "a const u8*", "n i64", "m u32", "k i64", "s u64", "alpha f32", "b f64" })
    t.eq(params "const float a[], float b[16], const void *p", { "a const f32*", "b f32*", "p const void*" })
    t.eq(params "void", {})
    t.eq(params "", {})
end)

-- The arguments of solve for a task with an input and an output of this dtype.
local function arguments(type, dtype)
    local x, y = { name = "x", dtype = dtype, role = "input" }, { name = "y", dtype = dtype, role = "output" }
    local text = ('extern "C" void solve(const %s *x, %s *y) {}'):format(type, type)
    return entry.arguments(parse(text), { tensors = { x, y }, tensor = { x = x, y = y }, scalars = {} }, { axes = {} })
end

t.test("a tensor is written as its type, or as its bits where plain C has none", function()
    for dtype, types in pairs { bool = { "bool", "_Bool", "uint8_t", "unsigned char" }, f16 = { "half", "uint16_t" },
        bf16 = { "__nv_bfloat16", "unsigned short" }, f8e4m3 = { "uint8_t" }, f8e5m2 = { "__nv_fp8_e5m2", "uint8_t" },
        u8 = { "uint8_t" }, f32 = { "float", "void" } } do
        for _, type in ipairs(types) do t.eq(arguments(type, dtype), { { tensor = "x" }, { tensor = "y" } }, type) end
    end
    t.err("^k.cu: solve: 'x' points to i8, and x is bool: write _Bool, bool, uint8_t or unsigned char$", arguments,
        "char", "bool")
    t.err("'x' points to bool, and x is u8: write uint8_t or unsigned char$", arguments, "bool", "u8")
    t.err("'x' points to u8, and x is f16: write __half, half, uint16_t or unsigned short$", arguments, "uint8_t",
        "f16")
    t.err("'x' points to f64, and x is f32: write float$", arguments, "double", "f32")
end)

t.test("what cannot be given is named", function()
    t.err("^k.cu: solve: parameter 's': the type 'cudaStream_t' is none that can be given$", params, "cudaStream_t s")
    t.err("^k.cu: solve: 'float %*%*x': a pointer to pointers cannot be given$", params, "float **x")
    t.err("^k.cu: solve: 'float': a parameter needs a type and a name$", params, "float")
end)

t.test("which function it is", function()
    local text = "/* void solve(int a) {} */\n// extern \"C\" void solve(int b) {}\n__global__ void k(int *x) { }\n"
        .. "static void helper(int y) { }\nextern \"C\" void %s(\n    const float *x,\n"
        .. "    float *y) {\n  k<<<1, 1>>>(0); }\n"
    t.eq({ parse(text:format "solve").name, parse(text:format "run").name }, { "solve", "run" })
    t.eq(parse("void solve(float *x) { }", "k.c").name, "solve")
    t.eq(parse('extern "C" {\nvoid solve(float *x) { }\n}').name, "solve")
    t.eq(parse('#include <a.h>\n\n\nextern "C"\nvoid solve(float *x) { }').line, 5)
    t.eq(parse('extern "C" __attribute__((visibility("default"))) void solve(float *x) noexcept { }').name, "solve")
    t.err('^k.cu: solve must be extern "C"$', parse, "void solve(float *x) { }")
    t.err("^k.cu: has no '//! launch' line and no extern \"C\" void solve%(...%)$", parse, "__global__ void k() { }")
    t.err("several functions", parse, 'extern "C" void a(int x) {}\nextern "C" void b(int x) {}')
end)

-- A definition of solve on the last line, and the name and line that are read off it.
local function found_behind(text)
    local spec = parse(text .. '\nextern "C" void solve(const float *x, float *y) { }', "k.cu")
    return { spec.name, #spec.params, spec.line }
end

t.test("what looks like a comment in a literal is none, and what looks like a literal in a comment is none", function()
    t.eq(found_behind 'const char *u = "http://x /*"; const char c = \'"\', d = \'\\\'\';', { "solve", 2, 2 })
    t.eq(found_behind 'auto s = "a\\" // b"; void other(int n) { puts("/*"); }\n', { "solve", 2, 3 })
    t.eq(found_behind "// it's \\\n void solve(int a) { \n/* don't \"\n void solve(int b) { */", { "solve", 2, 5 })
    t.eq(found_behind 'auto s = R"x(\nextern "C" void solve(int a) { })" )x";', { "solve", 2, 3 })
    t.eq(found_behind "int n = 1'000'000, m = 0xFF'FF'A0; // '", { "solve", 2, 2 })
    t.eq(found_behind "#error don't", { "solve", 2, 2 })
    t.eq(parse('extern "C" void solve(const float *x /* "a, */, float y /* int z */) { }').params[2].name, "y")
    t.eq(parse('extern "C" { void solve(float *x) { for (int i = 0; i < 1 / 2; i++) puts("//"); } }').name, "solve")
    t.err("no '//! launch' line", parse, 'const char *s = "\\\nextern \\"C\\" void solve(int a) { }";')
end)

t.test("sizes", function()
    t.eq(contract.dims "M=4096,alpha=0.5, n = 3, EPS=1e-5", { M = 4096, alpha = 0.5, n = 3, EPS = 1e-5 })
    for _, text in ipairs { "M", "M=x", "=3", "M=1e999", "4=M" } do
        t.fails("is no size: wanted is NAME=NUMBER", contract.dims(text))
    end
    for _, text in ipairs { "M=1.5", "M=-4", "M=0" } do
        t.fails(("'%s' is no size: it must be a whole number, at least 1"):format(text):gsub("[-.]", "%%%0"),
            contract.dims(text))
    end
    t.eq(contract.dims "M=1e3,beta=-4", { M = 1000, beta = -4 })
end)

t.test("a buffer of no known size has the product of the two largest", function()
    local source = { name = "k.c", text = "void solve(const float *x, float *y, int M, float alpha) { }" }
    local function size(dims) return contract.arguments(source, dims)[2].shape[1] end
    t.eq(size { M = 3, N = 5, K = 7, alpha = 0.5 }, 35)
    t.eq(size { M = 3, alpha = 0.5 }, 3)
    t.eq(size { M = 1 << 20, N = 1 << 20, alpha = 0.5 }, 1 << 28)
    t.eq(contract.arguments(source, { M = 3, alpha = 0.5 }), {
        { name = "x", dtype = "f32", shape = { 3 }, role = "input" },
        { name = "y", dtype = "f32", shape = { 3 }, role = "output" },
        { name = "M", value = 3 }, { name = "alpha", value = 0.5 } })
    t.err("^k.c: solve: no size 'alpha': give %-%-dims=M=3,alpha=NUMBER$", contract.arguments, source, { M = 3 })
    t.err("^k.c: solve: no size 'M', 'alpha': give %-%-dims=M=NUMBER,alpha=NUMBER$", contract.arguments, source, {})
    t.err("^k.c: solve: 'h' is 1.5, and its type is an integer's$", contract.arguments,
        { name = "k.c", text = "void solve(float *y, int h) { }" }, { h = 1.5 })
end)

t.test("a reference is told from a problem", function()
    t.eq(contract.is_reference "def reference(x):\n    return x\n", true)
    t.eq(contract.is_reference "class Model: pass\ndef reference(x):\n    return x\n", false)
    t.eq(contract.is_reference "def f(x):\n    def reference(y): pass\n", false)
end)

if not pcall(python.find) then return end

local function bench(...)
    return program.run("kernelbench", "bench", "--num-correct-trials=2", "--num-perf-trials=3", "--device=cpu", "-q",
        ...)
end

local function right(...)
    local result = bench(...)
    t.eq({ result.code, result.stderr }, { 0, "" }, result.stdout)
end

local function wrong(pattern, ...)
    local result = bench(...)
    t.eq(result.code, 1)
    t.match(result.stdout, pattern)
end

program.write("ref.py", "atol = 1e-3\n\ndef shapes(M, N, K):\n    return {'A': (M, K), 'B': (K, N), 'C': M * N}\n\n"
    .. "def reference(A, B, C, M, N, K):\n    C.copy_((A @ B).flatten())\n")
program.write("gemm.c", "void solve(const float *A, const float *B, float *C, int M, int N, int K)\n{\n"
    .. "    for (int i = 0; i < M; i++)\n        for (int j = 0; j < N; j++)\n            for (int k = 0; k < K; k++)\n"
    .. "                C[i * N + j] += A[i * K + k] * B[k * N + j];\n}\n")

lane.test("a compiled kernel, of sizes on the command line; what it writes is zeroed before", function()
    right("--ref", "ref.py", "--solution", "gemm.c", "--M=8", "--N=4", "--K=16")
    right("--ref", "ref.py", "--solution", "gemm.c", "--dims", "M=8,N=4", "--K=16")
    program.says(bench("--ref", "ref.py", "--solution", "gemm.c", "--dims"), 2, "option --dims needs a value")
    program.says(bench("--ref", "ref.py", "--solution", "gemm.c", "--dims=M"), 2,
        "'M' is no size: wanted is NAME=NUMBER, and commas between several")
    program.write("late.c", "void solve(const float *A, const float *B, float *C, int M, int N, int K)\n{\n"
        .. "    for (int i = 0; i < M; i++)\n        for (int j = 0; j < N; j++)\n"
        .. "            C[i * N + j] = A[i * K] * B[j];\n}\n")
    wrong("^%[Eval%] INCORRECT_NUMERICAL", "--ref", "ref.py", "--solution", "late.c", "--M=8", "--N=4", "--K=16")
    program.says(bench("--ref", "ref.py", "--solution", "gemm.c", "--M=8", "--N=4"), 2,
        "gemm.c: solve: no size 'K': give --dims=M=8,N=4,K=NUMBER")
end)

lane.test("a size that is none, that is written otherwise, or that nobody knows", function()
    local function says(line, ...) program.says(bench("--ref", "ref.py", "--solution", "gemm.c", ...), 2, line) end
    says("'M=1.5' is no size: it must be a whole number, at least 1", "--M=1.5", "--N=4", "--K=16")
    says("'M=-4' is no size: it must be a whole number, at least 1", "--M=-4", "--N=4", "--K=16")
    says("'--M=x' is no size: wanted is --M=NUMBER", "--M=x", "--N=4", "--K=16")
    says("unknown option '--M'; a size is written with '=': --M=32", "--M", "32", "--N=4", "--K=16")
    wrong("ERROR: ref.py: shapes: there is no size 'Q'; there are M, N, K\n", "--ref", "ref.py", "--solution", "gemm.c",
        "--M=8", "--N=4", "--K=16", "--Q=3")
    for _, words in ipairs { { "--M", "32", "kernelbench", "try" }, { "kernelbench", "--M", "32", "try" } } do
        program.says(program.run(table.unpack(words)), 2, "unknown option '--M'; a size is written with '=': --M=32")
    end
    program.says(program.run("kernelbench", "try", "--M=x"), 2, "'--M=x' is no size: wanted is --M=NUMBER")
    program.says(program.run("kernelbench", "try", "--M"), 2,
        "unknown option '--M'; a size is written with '=': --M=NUMBER")
end)

lane.test("sizes with small letters are given as the message says", function()
    program.write("small.py", "def reference(x, y, h, w):\n    return x * 2\n")
    program.write("small.c", "void solve(const float *x, float *y, int h, int w)\n{\n"
        .. "    for (int i = 0; i < h * w; i++)\n        y[i] = 2 * x[i];\n}\n")
    program.says(bench("--ref", "small.py", "--solution", "small.c", "--dims=h=8"), 2,
        "small.c: solve: no size 'w': give --dims=h=8,w=NUMBER")
    right("--ref", "small.py", "--solution", "small.c", "--dims=h=8,w=32")
end)

lane.test("sizes may stand before the policy, after it, and on both sides", function()
    for _, words in ipairs { "$sizes kernelbench $bench", "--M=8 kernelbench --N=4 $bench --K=16", "--dims M=8,N=4 "
        .. "kernelbench $bench --K=16", "-q --K=16 --device cpu --dims=M=8 kernelbench $bench --dims N=4" } do
        local command = words:gsub("%$(%l+)", { sizes = "--M=8 --N=4 --K=16", bench = "bench --num-correct-trials=2 "
            .. "--num-perf-trials=3 --device=cpu -q --ref ref.py --solution gemm.c" })
        local result = program.shell("$ako " .. command)
        t.eq({ result.code, result.stderr }, { 0, "" }, words)
    end
    program.says(program.run("--M=8", "--m=4", "kernelbench"), 2, "unknown option '--m'; an option of the policy "
        .. "belongs behind it: ako-lua [host options] POLICY.lua [verb] --m")
end)

lane.test("a session's problem, solution and sizes are named once", function()
    program.write("light.lua", [[
return require("policies.kernelbench"):extend { name = "light", correctness = { trials = 1 },
    timing = { warmup = 1, launches = 3, pairs = { looks = { 4 }, control = 4, headline = 4 } } }
]])
    local first = program.run("--task=ref.py", "--solution=gemm.c", "--device=cpu", "light.lua", "try", "--M=8",
        "--N=4", "--K=16", "--justify=no interpreter in it")
    t.eq(first.code, 0, first.stderr)
    local next_one = program.run("--device=cpu", "light.lua", "try", "-m", "the same once more", "--justify=likewise")
    t.match(next_one.stdout, "\ntrial 1 %(the same once more%): PASSED")
    t.match(program.run("--device=cpu", "light.lua", "keep", "1", "-m", "shorter").stdout, "trial 1")
    t.eq(program.run("--device=cpu", "light.lua", "finish", "-m", "done").code, 0)
    local other = program.run("--device=cpu", "--solution=other.c", "light.lua", "try")
    t.eq(other.code, 2)
end)

lane.test("its arguments may be those of another file: it has to take them", function()
    program.write("other.c", "void solve(const double *A, const float *B, float *C, int M, int N, int K) { }\n")
    wrong("COMPILE_ERROR, other.c: solve: 'A' points to f64, and A is f32: write float\n", "--ref",
        "ref.py", "--inputs", "gemm.c", "--solution", "other.c", "--M=8", "--N=4", "--K=16")
end)

lane.test("types of every kind, numbers that are no integers, a result that is returned", function()
    program.write("types.py", "import torch\n\ndef reference(h, n, out, whole, N, alpha, beta):\n"
        .. "    return [h.double() * alpha + beta, n + N]\n")
    program.write("types.c", "#include <stdint.h>\nvoid solve(const double *h, const int64_t *n, double *out,\n"
        .. "           int64_t *whole, long long N, float alpha, double beta)\n{\n"
        .. "    for (int i = 0; i < N; i++) {\n        out[i] = h[i] * alpha + beta;\n        whole[i] = n[i] + N;\n"
        .. "    }\n}\n")
    right("--ref", "types.py", "--solution", "types.c", "--dims", "N=10,alpha=0.5,beta=0.25")
end)

program.write("python.py", "import torch\n\ndef setup(M, N, seed):\n    g = torch.Generator().manual_seed(seed)\n"
    .. "    x, y = torch.randn(M, N, generator=g), torch.empty(M, N)\n"
    .. "    return {'inputs': {'x': x, 'y': y, 'alpha': 0.5}, 'outputs': ['y']}\n\n"
    .. "def reference(x, y, alpha):\n    return x * alpha\n")

lane.test("a kernel in Python: what it writes in place, and what it returns", function()
    program.write("in_place.py", "import torch\n\ndef run_kernel(x, y, alpha):\n    torch.mul(x, alpha, out=y)\n")
    program.write("returned.py", "import torch\n\ndef run_kernel(x, y, alpha):\n    return {'y': x * alpha}\n")
    program.write("wrong.py", "import torch\n\ndef run_kernel(x, y, alpha):\n    y.copy_(x)\n")
    program.write("idle.py", "def run_kernel(x, y, alpha):\n    pass\n")
    right("--ref", "python.py", "--solution", "in_place.py", "--M=8", "--N=4")
    right("--ref", "python.py", "--solution", "returned.py", "--M=8", "--N=4")
    wrong("INCORRECT_NUMERICAL", "--ref", "python.py", "--solution", "wrong.py", "--M=8", "--N=4")
    wrong("INCORRECT_NUMERICAL", "--ref", "python.py", "--solution", "idle.py", "--M=8", "--N=4")
    wrong("COMPILE_ERROR, python.py: has no run_kernel", "--ref", "python.py", "--solution", "python.py", "--M=8",
        "--N=4")
end)

lane.test("what makes its arguments is the reference's, or another file's", function()
    program.write("alone.py", "def reference(x, y, alpha):\n    y.copy_(x * alpha)\n")
    wrong("ERROR: alone.py: has no setup%(%*%*dims, seed%)\n", "--ref", "alone.py", "--solution", "in_place.py",
        "--M=8", "--N=4")
    right("--ref", "alone.py", "--inputs", "python.py", "--solution", "in_place.py", "--M=8", "--N=4")
    wrong("ERROR: python.py: setup: no size 'N': give %-%-dims=M=8,N=NUMBER\n", "--ref", "alone.py", "--inputs",
        "python.py", "--solution", "in_place.py", "--M=8")
    wrong("ERROR: python.py: setup: there is no size 'Q'; there are M, N\n", "--ref", "alone.py", "--inputs",
        "python.py", "--solution", "in_place.py", "--M=8", "--N=4", "--Q=3")
end)

lane.test("a session: a kernel that declares other arguments is refused", function()
    program.fresh()
    program.write("ref.py", "def reference(x, y, N):\n    return x * 2\n")
    local text = "void solve(const %s *x, float *y, int N)\n{\n    for (int i = 0; i < N; i++)\n"
        .. "        y[i] = 2 * x[i];\n}\n"
    program.write("twice.c", text:format "float")
    local words = { "kernelbench", "try", "--task=ref.py", "--solution=twice.c", "--N=4096", "--device=cpu", "-q" }
    local result = program.run(table.unpack(words))
    t.match(result.stdout, "^.*CORRECT: True\nBACKEND: c %(auto%)\n", result.stderr)
    program.write("twice.c", text:format "double")
    result = program.run(table.unpack(words))
    t.eq(result.code, 13)
    t.match(result.stderr, "was begun with the interface x f32%(4096%) %-> y f32%(4096%), not with x f64%(4096%)")
end)

lane.test("init of a task in Python; its bench.sh names the evaluation without a session", function()
    program.fresh()
    program.write("problem.py", "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
        .. "        return x * 2\ndef get_inputs():\n    return [torch.randn(64)]\n")
    local result = program.run("ako4all", "init", "--task=problem.py", "--device=cpu", "-q")
    t.eq({ result.code, result.stderr }, { 0, "" })
    local text = program.shell("cat scripts/bench.sh").stdout
    local words = text:match '\n#   "%$ako" (policies/ako4all.lua bench %-%-ref [^\n]+)\n'
    result = program.shell("$ako " .. words .. " -q --device=cpu --no-ref --num-perf-trials=2")
    t.match(result.stdout, "^COMPILED: True\nCORRECT: True\n", result.stderr)
end)

lane.test("sizes are for tasks that take them", function()
    program.write("kb.py", "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
        .. "def get_inputs():\n    return [torch.randn(4)]\n")
    program.write("ref.py", "def reference(x, y, N):\n    return x * 2\n")
    program.says(bench("--ref", "kb.py", "--solution", "kb.py", "--M=3"), 2, "kb.py takes no sizes on the command line")
    program.says(program.run("kernelbench", "plan", "--M=3", "-q"), 2,
        ("option --dims is for a task in Python; %s/examples/rmsnorm/task.lua has its sizes in its workloads"):format(
            t.home))
    program.says(program.run("kernelbench", "plan", "--task=ref.py", "--M=3", "-q"), 2,
        "ref.py is a reference alone: name the kernel with --solution")
end)
