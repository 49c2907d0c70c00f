-- ako.tensor: files, element types, fills and comparisons as Lua sees them.
local t = require "ako.tap"
local tensor = require "ako.tensor"

t.test("what is written is read back", function()
    local folder = t.tmpdir()
    for _, file in ipairs { "x.npy", "x.npz", "x.safetensors" } do
        local path = folder .. "/" .. file
        assert(tensor.write(path, "f32", { 2, 3 }, { 1, 2.5, -3, 4, 5, 6 }))
        t.eq(assert(tensor.read(path)),
            { dtype = "f32", shape = { 2, 3 }, bytes = 24, values = { 1.0, 2.5, -3.0, 4.0, 5.0, 6.0 } })
        t.eq(#assert(tensor.read(path, nil, 2)).values, 2)
    end
end)

t.test("members have names", function()
    local path = t.tmpdir() .. "/x.safetensors"
    assert(tensor.write(path, "bf16", {}, { 1.5 }, "scale"))
    t.eq(assert(tensor.read(path, "scale")), { dtype = "bf16", shape = {}, bytes = 2, values = { 1.5 } })
    t.fails("no tensor \"shift\"", tensor.read(path, "shift"))
end)

t.test("integers are exact", function()
    local path = t.tmpdir() .. "/x.npy"
    local values = { math.mininteger, math.maxinteger, 9007199254740993 }
    assert(tensor.write(path, "i64", { 3 }, values))
    t.eq(assert(tensor.read(path)).values, values)
end)

t.test("a file is described without its elements, and a lie is found", function()
    local folder = t.tmpdir()
    assert(tensor.write(folder .. "/x.npz", "i16", { 5 }, { 1, 2, 3, 4, 5 }, "ids"))
    t.eq(assert(tensor.describe(folder .. "/x.npz", "npz", "ids")), { dtype = "i16", shape = { 5 }, bytes = 10 })
    assert(tensor.write(folder .. "/x.raw", "i16", { 5 }, { 1, 2, 3, 4, 5 }))
    t.eq(assert(tensor.describe(folder .. "/x.raw", "raw", nil, "i16", { 5 })).bytes, 10)
    t.fails("has 10 bytes", tensor.describe(folder .. "/x.raw", "raw", nil, "i32", { 5 }))
    local _, _, code = tensor.describe(folder .. "/x.raw", "npy")
    t.eq(code, "CORRUPT")
end)

t.test("the outside world fails with nil, a message and a code", function()
    local got, message, code = tensor.read(t.tmpdir() .. "/none.npy")
    t.fails("cannot read", got, message, code)
    t.eq(code, "NOTFOUND")
    t.fails("must end in", tensor.read "x.txt")
    t.fails("no name for bf16", tensor.write(t.tmpdir() .. "/x.npy", "bf16", { 1 }, { 1 }))
end)

t.test("conversions give the bits and what they stand for", function()
    t.eq({ tensor.convert("f16", 1) }, { 0x3c00, 1.0 })
    t.eq({ tensor.convert("bf16", 1.00390625) }, { 0x3f80, 1.0 })
    t.eq({ tensor.convert("f8e4m3", 1e9) }, { 0x7e, 448.0 })
    t.eq({ tensor.convert("f8e5m2", -0.3) }, { 0xb5, -0.3125 })
    t.eq({ tensor.convert("u8", 300) }, { 255, 255 })
    t.eq({ tensor.convert("i8", -2.5) }, { 0xfe, -2 })
    t.eq({ tensor.convert("bool", true) }, { 1, 1 })
    t.eq({ tensor.convert("u64", -1) }, { 0, 0 })
end)

t.test("fills are those of the evaluator", function()
    t.eq(tensor.fill("i32", 4, { kind = "arange", a = 2, b = 3 }), { 2, 5, 8, 11 })
    t.eq(tensor.fill("f32", 2, { kind = "constant", a = 0.5 }), { 0.5, 0.5 })
    local long, short = tensor.fill("f32", 100, { seed = 7 }), tensor.fill("f32", 10, { seed = 7 })
    t.eq({ table.unpack(long, 1, 10) }, short)
    t.ok(tensor.fill("f32", 1, { seed = 8 })[1] ~= long[1], "another seed, other values")
    t.ok(tensor.fill("f32", 1, { seed = 7, stream = 1 })[1] ~= long[1], "another stream, other values")
    for _, value in ipairs(tensor.fill("u8", 100, { kind = "uniform", a = 3, b = 5 })) do
        t.ok(value >= 3 and value <= 5 and math.type(value) == "integer", "inside")
    end
end)

t.test("comparisons tell what differs", function()
    local c = tensor.compare("f32", { 1, 2, 3, 4 }, { 1, 2.5, 3, 4 }, { atol = 0.1 })
    t.eq(c.passed, false)
    t.eq(c.mismatch, 1)
    t.eq(c.ratio, 0.75)
    t.eq(c.max_abs, 0.5)
    t.eq(c.max_rel, 0.2)
    t.eq(c.first, { { index = 1, expected = 2.5, got = 2.0 } })
    t.ok(tensor.compare("f32", { 1 }, { 1.1 }, { predicate = "allclose_out", rtol = 0.2 }).passed, "close enough")
    local nan = 0 / 0
    t.eq(tensor.compare("f64", { nan }, { nan }, {}).passed, false)
    t.eq(tensor.compare("f64", { nan }, { nan }, { equal_nan = true }).passed, true)
end)

t.test("wrong arguments raise", function()
    t.err("did you mean \"f16\"", tensor.convert, "float16", 1)
    t.err("element 2 is a string", tensor.compare, "f32", { 1, "x" }, { 1, 2 }, {})
    t.err("another number of elements", tensor.compare, "f32", { 1 }, { 1, 2 }, {})
    t.err("unknown predicate", tensor.compare, "f32", { 1 }, { 1 }, { predicate = "close" })
    t.err("negative or NaN", tensor.compare, "f32", { 1 }, { 1 }, { atol = -1 })
    t.err("another number of elements", tensor.write, "x.npy", "f32", { 3 }, { 1 })
    t.err("invalid option 'gauss'", tensor.fill, "f32", 1, { kind = "gauss" })
    t.err("it is empty", tensor.fill, "f32", 1, { kind = "uniform", a = 1, b = 1 })
    t.err("NUL", tensor.read, "x\0.npy")
    t.err("unknown format", tensor.describe, "x", "hdf5")
end)
