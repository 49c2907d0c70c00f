-- Task files: what they may say, and one line for what they may not.
local fs = require "ako.fs"
local inputs = require "ako.inputs"
local t = require "ako.tap"
local task = require "ako.task"
local tensor = require "ako.tensor"

local GOOD = [[
return {
  name = "rmsnorm",
  tensors = {
    x = { "f32", { "B", "D" }, init = "normal" },
    w = { "f32", { "D" }, init = { "uniform", 0.5, 1.5 } },
    y = { "f32", { "B", "D" }, role = "output" },
  },
  scalars = { eps = { "f32", 1e-6 } },
  workloads = { { B = 2048, D = 4096 }, { B = 7, D = 4095, weight = 0.2 } },
  reference = { "reference.c", entry = "rmsnorm", args = { "x", "w", "y", "B", "D", "eps" } },
  solution = { "solution/kernel.cu" },
  tolerance = { "allclose", atol = 1e-4, rtol = 1e-4 },
  bytes = function(a) return 4 * (2 * a.B * a.D + a.D) end,
}
]]

local WORKLOADS = "workloads = { { B = 2048, D = 4096 }, { B = 7, D = 4095, weight = 0.2 } }"

local folder = t.tmpdir()

-- Loads GOOD with `from` replaced by `to`.
local function load_with(from, to)
    local at, last = 1, 0
    if from then at, last = GOOD:find(from, 1, true) end
    local file = folder .. "/task.lua"
    fs.write(file, GOOD:sub(1, at - 1) .. (to or "") .. GOOD:sub(last + 1))
    return task.load(file)
end

local function resolve_with(from, to, place)
    local definition, problem, code = load_with(from, to)
    if not definition then return nil, problem, code end
    return task.resolve(definition, place or "gpu")
end

t.test("a good task", function()
    local resolved = resolve_with()
    t.eq(resolved.name, "rmsnorm")
    t.eq(#resolved.tensors, 3)
    t.eq(resolved.tensors[1].name, "w")
    t.eq(resolved.tensor.w.init, { kind = "uniform", a = 0.5, b = 1.5 })
    t.eq(resolved.tensor.x.init, { kind = "normal", a = 0, b = 1 })
    t.eq(resolved.workloads[1].id, "B=2048,D=4096")
    t.eq(resolved.workloads[1].shapes.x, { 2048, 4096 })
    t.eq(resolved.workloads[1].elements.x, 2048 * 4096)
    t.eq(resolved.workloads[1].bytes, 4 * (2 * 2048 * 4096 + 4096))
    t.eq(resolved.workloads[2].weight, 0.2)
    t.eq(resolved.axes, { B = { dtype = "i32" }, D = { dtype = "i32" } })
    t.eq(resolved.tolerance.predicate, "allclose_ref")
    t.eq(resolved.reference.args[6], "eps")
end)

t.test("forms for a place", function()
    local forms = 'solution = { gpu = { "a.cu" }, cpu = { "a.c" } }'
    t.eq(resolve_with('solution = { "solution/kernel.cu" }', forms).solution.files, { "a.cu" })
    t.eq(resolve_with('solution = { "solution/kernel.cu" }', forms, "cpu").solution.files, { "a.c" })
    t.fails("task.lua: reference.c is the solution and the reference; give the reference a copy", resolve_with(
        'solution = { "solution/kernel.cu" }', 'solution = { "reference.c" }', "cpu"))
    t.fails("solution has no form for the CPU", resolve_with('solution = { "solution/kernel.cu" }',
        'solution = { gpu = { "a.cu" } }', "cpu"))
    local small = "workloads = { gpu = { { B = 8, D = 8 } }, cpu = { { B = 2, D = 2 } } }"
    t.eq(resolve_with(WORKLOADS, small, "cpu").workloads[1].id, "B=2,D=2")
end)

t.test("the tolerance comes from the policy where the task has none", function()
    local resolved = resolve_with('tolerance = { "allclose", atol = 1e-4, rtol = 1e-4 },', "")
    t.eq(resolved.tolerance, nil)
    local given = task.tolerance(resolved, "allclose_out", { f32 = 1e-4, bf16 = 1e-2 })
    t.eq(given.predicate, "allclose_out")
    t.eq(given.atol, 1e-4)
    t.eq(given.rtol, 1e-4)
end)

t.test("inputs from files", function()
    local resolved = resolve_with('init = "normal"', 'init = "data/x.npy"')
    t.eq(resolved.tensor.x.init, { file = "data/x.npy", format = "npy", member = "x" })
    resolved = resolve_with('init = "normal"', 'init = "data/x.bin"')
    t.eq(resolved.tensor.x.init.format, "raw")
    t.fails("task.lua:4: tensor x: x.pt can be read by Python alone: save its tensors as .safetensors or .npy",
        load_with('"normal"', '"x.pt"'))
    resolved = resolve_with('init = "normal"', 'init = { "m.safetensors", key = "h.0" }')
    t.eq(resolved.tensor.x.init.member, "h.0")
end)

t.test("input files are checked before anything runs", function()
    local function check(init)
        local resolved = resolve_with(WORKLOADS, "workloads = { { B = 2, D = 3 } }")
        resolved.tensor.x.init = init
        return inputs.check(resolved)
    end
    local function npy(name, member) return { file = name, format = name:match("%w+$"), member = member } end
    local six = { 1, 2, 3, 4, 5, 6 }
    assert(tensor.write(folder .. "/x.npy", "f32", { 2, 3 }, six))
    assert(tensor.write(folder .. "/flat.npy", "f32", { 6 }, six))
    assert(tensor.write(folder .. "/wide.npy", "f64", { 2, 3 }, six))
    assert(tensor.write(folder .. "/x.npz", "f32", { 2, 3 }, six, "h0"))
    assert(fs.write(folder .. "/x.raw", ("\0"):rep(24)))
    assert(fs.write(folder .. "/short.raw", ("\0"):rep(20)))
    assert(fs.write(folder .. "/lies.npy", (fs.read(folder .. "/x.npy"):gsub("%(2, 3%)", "(9, 3)"))))
    t.eq(check(npy "x.npy"), true)
    t.eq(check(npy("x.npz", "h0")), true)
    t.eq(check(npy "x.raw"), true)
    t.fails("tensor x: flat.npy holds 6, workload B=2,D=3 wants 2 x 3", check(npy "flat.npy"))
    t.fails("wide.npy holds f64, not f32", check(npy "wide.npy"))
    t.fails("short.raw", check(npy "short.raw"))
    t.fails("lies.npy", check(npy "lies.npy"))
    t.fails("none.npy", check(npy "none.npy"))
    t.fails("x.npz", check(npy("x.npz", "h1")))
end)

t.test("integers and bools by default", function()
    local resolved = resolve_with('x = { "f32", { "B", "D" }, init = "normal" }', 'x = { "i32", { "B" } }')
    t.eq(resolved.tensor.x.init, { kind = "uniform", a = 0, b = 9 })
end)

t.test("mistakes: file, line and the nearest name", function()
    t.fails("task.lua:8: task: unknown key 'scalers' %(did you mean 'scalars'%?%)", load_with("scalars", "scalers"))
    t.fails("task.lua:4: tensor x: unknown dtype 'float32' %(did you mean 'f32'%?%)",
        load_with('x = { "f32"', 'x = { "float32"'))
    t.fails("tensor x: unknown key 'int' %(did you mean 'init'%?%)", load_with('init = "normal"', 'int = "normal"'))
    t.fails("tensor x: unknown init 'nornal' %(did you mean 'normal'%?%)", load_with('"normal"', '"nornal"'))
    t.fails("tensor y: unknown role 'outptu' %(did you mean 'output'%?%)", load_with('"output"', '"outptu"'))
    t.fails("tensor y: an output has no init", load_with('role = "output"', 'role = "output", init = "zeros"'))
    t.fails("no tensor has role 'output'", load_with('role = "output"', 'role = "input"'))
    t.fails("reference: argument 6: unknown name 'epz' %(did you mean 'eps'%?%)", load_with('"eps" }', '"epz" }'))
    t.fails("tolerance: unknown predicate 'allcloze'", load_with('"allclose"', '"allcloze"'))
    t.fails("tolerance: atol must be a number", load_with("atol = 1e-4", 'atol = "x"'))
    t.fails("task.lua:8: scalar eps: the second field must be its value", load_with('{ "f32", 1e-6 }', '{ "f32" }'))
    t.fails("scalar eps: 1.5 is no i32", load_with('{ "f32", 1e-6 }', '{ "i32", 1.5 }'))
    t.fails("task.lua: lacks 'workloads'", load_with(WORKLOADS .. ",", ""))
    t.fails("task.lua:6: tensor y: a shape of 9 dimensions; at most 8",
        load_with('{ "B", "D" }, role', '{ 1, 1, 1, 1, 1, 1, 1, 1, 1 }, role'))
    t.fails("scalar eps: 300 is no u8", load_with('{ "f32", 1e-6 }', '{ "u8", 300 }'))
end)

t.test("mistakes in workloads", function()
    t.fails("task.lua:9: workload 2 lacks axis D %(used by tensor w%)", load_with("D = 4095, ", ""))
    t.fails("workload 2: axis B is 0, must be at least 1", load_with("B = 7", "B = 0"))
    t.fails("workload 2: axis B is %-7, must be at least 1", load_with("B = 7", "B = -7"))
    t.fails("workload 2: axis B must be an integer", load_with("B = 7", "B = 7.5"))
    t.fails("workload 1 lacks axis Q %(given by workload 2%)", load_with("B = 7", "B = 7, Q = 1"))
    t.fails("workload 2: its name must be a string of UTF%-8", load_with("B = 7", "name = 'caf\\xE9', B = 7"))
    t.fails("workload 2: its name must be a string of UTF%-8", load_with("B = 7", "name = 'a\\n', B = 7"))
    t.fails("workload 2: its name must be a string of UTF%-8", load_with("B = 7", "name = 7, B = 7"))
    t.fails("workload 2: weight must be positive", load_with("weight = 0.2", "weight = -1"))
    t.fails("workload 2 repeats B=7,D=4095", load_with("B = 2048, D = 4096", "B = 7, D = 4095"))
    t.fails("workload 1: tensor w: its size overflows 64 bits", load_with("D = 4096", "D = 1 << 62"))
    t.fails("bytes%(B=2048,D=4096%) must return a positive number", load_with("return 4", "return -4"))
    t.fails("bytes%(B=2048,D=4096%): .*task.lua:13", load_with("a.B", "a.B.c"))
end)

t.test("a task file reaches nothing", function()
    t.fails("task.lua:1: unknown name 'os' in a task file", load_with("return {", "local _ = os.time() return {"))
    t.fails("task.lua:%d+: .*near", load_with("return {", "return {{"))
    t.fails("must return a table, returned nil", load_with(GOOD, "local a"))
    t.fails("task.lua:10: reference: the name of file 1 must be UTF%-8", load_with('"reference.c"', '"r\\xE9f.c"'))
    t.fails("task.lua:4: tensor x: init: the name of the file must be UTF", load_with('"normal"', '"\\xE9.npy"'))
    t.fails("must be a relative path inside the task's folder, or an absolute one",
        load_with('"reference.c"', '"../reference.c"'))
    t.fails("solution: file 1 must be a relative path inside the task's folder$",
        load_with('"solution/kernel.cu"', '"/kernel.cu"'))
    t.eq(assert(load_with('"reference.c"', '"/tmp/reference.c"')).reference.cpu.files, { "/tmp/reference.c" })
    assert(fs.write(folder .. "/x.py", ""))
    t.fails("x.py: a task is a Lua file", task.load(folder .. "/x.py"))
    t.fails("no task in .*nowhere.lua: no such file", task.load(folder .. "/nowhere.lua"))
end)
