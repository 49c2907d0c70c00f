-- The //! lines of kernel files.
local launch = require "ako.launch"
local t = require "ako.tap"

local task = {
    tensor = { x = { dtype = "f32" }, y = { dtype = "f32" } },
    scalars = { eps = { name = "eps", dtype = "f32", value = 1e-6 } },
    axes = { B = { dtype = "i32" }, N = { dtype = "i64" }, D = { dtype = "i32" } },
}
local workload = { id = "B=7,D=4095,N=3", axes = { B = 7, D = 4095, N = 3 } }

local function bind(lines, point)
    local spec, problem = launch.parse(lines, "kernel.cu")
    if not spec then return nil, problem end
    return launch.bind(spec, task, workload, point)
end

t.test("a plain launch", function()
    local bound = bind("//! launch norm<<<(B), (256), 0>>>(x, y, B, D, eps)\n")
    t.eq(bound.scratch, {})
    t.eq(bound.calls, { { symbol = "norm", line = 1, grid = { 7, 1, 1 }, block = { 256, 1, 1 }, cluster = { 1, 1, 1 },
        shared = 0, args = { { tensor = "x" }, { tensor = "y" }, { i32 = 7, name = "B" }, { i32 = 4095, name = "D" },
        { scalar = 1e-6, dtype = "f32", name = "eps" } } } })
end)

t.test("templates, sizes without parentheses, no shared memory, clusters", function()
    local bound = bind("\n//! launch ns::norm<4, float><<<B * 2, (32, 4)>>>(x) cluster=(2)\r\n")
    local call = bound.calls[1]
    t.eq(call.symbol, "ns::norm<4, float>")
    t.eq(call.line, 2)
    t.eq(call.grid, { 14, 1, 1 })
    t.eq(call.block, { 32, 4, 1 })
    t.eq(call.cluster, { 2, 1, 1 })
    t.eq(call.shared, 0)
end)

t.test("arguments: i64 axes, expressions, literals", function()
    local args = bind("//! launch k<<<1, 1>>>(N, N + B, D / 2, 1.5, -3)").calls[1].args
    t.eq(args, { { i64 = 3, name = "N" }, { i64 = 10, name = "N + B" }, { i32 = 2047, name = "D / 2" },
        { scalar = 1.5, dtype = "f32", name = "1.5" }, { i32 = -3, name = "-3" } })
end)

t.test("scratch and tunables", function()
    local lines = "//! tune BLOCK = 128, 256\n//! scratch partial f32 (B, ceil_div(D, BLOCK))\n"
        .. "//! launch a<BLOCK><<<B, BLOCK, 4 * BLOCK>>>(x, partial, BLOCK)\n"
    local bound = bind(lines)
    t.eq(bound.scratch, { { name = "partial", dtype = "f32", shape = { 7, 32 } } })
    t.eq(bound.calls[1].symbol, "a<128>")
    t.eq(bound.calls[1].shared, 512)
    t.eq(bound.calls[1].args[2], { tensor = "partial" })
    t.eq(bound.calls[1].args[3], { i32 = 128, name = "BLOCK" })
    local other = bind(lines, { BLOCK = "256" })
    t.eq(other.calls[1].symbol, "a<256>")
    t.eq(other.scratch[1].shape, { 7, 16 })
end)

t.test("a source without lines, and comments that are none of ours", function()
    local spec = launch.parse("//! \\brief computes\n// launch x\nint a;\n", "kernel.cu")
    t.eq(#spec.launch, 0)
end)

t.test("faults name file, line and word", function()
    t.fails("^kernel.cu:3: launch: unknown name 'Bs' %(did you mean 'B'%?%)$",
        bind("\n\n//! launch k<<<(B), (256), 0>>>(x, Bs)"))
    t.fails("^kernel.cu:1: launch: unknown name 'Q'$", bind("//! launch k<<<Q, 256>>>(x)"))
    t.fails("^kernel.cu:1: launch: expected kernel<<<", bind("//! launch k(x)"))
    t.fails("^kernel.cu:1: launch: 'k k' names no kernel", bind("//! launch k k<<<1, 1>>>(x)"))
    t.fails("expected ',' and the block size before '>>>%(x%)'", bind("//! launch k<<<1>>>(x)"))
    t.fails("more than three sizes between", bind("//! launch k<<<1, 2, 3, 4>>>(x)"))
    t.fails("expected ',' or '%)' before the end of the line", bind("//! launch k<<<1, 2>>>(x"))
    t.fails("unexpected 'clutser=%(2%)' after", bind("//! launch k<<<1, 2>>>(x) clutser=(2)"))
    t.fails("unknown line '//! lanch' %(did you mean 'launch'%?%)", bind("//! lanch k<<<1, 2>>>(x)"))
    t.fails("kernel.cu:1: scratch: unknown dtype 'float32' %(did you mean 'f32'%?%)", bind("//! scratch p float32 (B)"))
    t.fails("kernel.cu:1: tune: expected NAME", bind("//! tune 1, 2"))
    t.fails("kernel.cu:1: tune: an empty value", bind("//! tune A = 1,, 2"))
    t.fails("kernel.cu:2: tune: 'A' is declared twice", bind("//! tune A = 1\n//! tune A = 2"))
    t.fails("kernel.cu:1: scratch: 'x' is already tensor of the task", bind("//! scratch x f32 (B)"))
end)

t.test("sizes that no device takes", function()
    t.fails("^kernel.cu:1: launch: grid 'B %- 7' is 0 for workload B=7,D=4095,N=3",
        bind("//! launch k<<<B - 7, 1>>>(x)"))
    t.fails("grid 'B %* 70000' is 490000 .* at most 65535", bind("//! launch k<<<(1, B * 70000), 1>>>(x)"))
    t.fails("a block of 2048 threads; at most 1024", bind("//! launch k<<<1, (64, 32)>>>(x)"))
    t.fails("block 'D' is 4095", bind("//! launch k<<<1, D>>>(x)"))
    t.fails("shared memory '%-1' is %-1 bytes", bind("//! launch k<<<1, 1, -1>>>(x)"))
    t.fails("^kernel.cu:1: launch: shared memory '2147483648' is 2147483648 bytes",
        bind("//! launch k<<<1, 1, 2147483648>>>(x)"))
    t.fails("^kernel.cu:1: scratch: 3.6e%+16 bytes for workload B=7,D=4095,N=3; no device has so many",
        bind("//! scratch p f32 (9000000000000000)"))
    t.fails("^kernel.cu:1: scratch: a shape of 9 dimensions; at most 8", bind("//! scratch p f32 (1,1,1,1,1,1,1,1,1)"))
    t.fails("grid 7 is no multiple of cluster 2", bind("//! launch k<<<B, 1>>>(x) cluster=(2)"))
    t.fails("a cluster of 32 blocks", bind("//! launch k<<<(16, 16), 1>>>(x) cluster=(8, 4)"))
    t.fails("'eps' is 1e%-06, not an integer", bind("//! launch k<<<eps, 1>>>(x)"))
    t.fails("dimension 'B %- 7' is 0", bind("//! scratch p f32 (B - 7)"))
    t.fails("does not fit an int; declare its axis i64", bind("//! launch k<<<1, 1>>>(D * D * D)"))
end)
