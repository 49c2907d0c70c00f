-- Expressions over axes: C's meaning, and messages that name what is wrong.
local axes = require "ako.axes"
local fault = require "ako.fault"
local t = require "ako.tap"

local values = { B = 7, D = 4095, N = 1 << 40, eps = 1e-6 }

local function value(text)
    return fault.catch(function() return axes.value(axes.parse(text), values) end)
end

t.test("precedence and parentheses", function()
    t.eq(value("1 + 2 * 3"), 7)
    t.eq(value("(1 + 2) * 3"), 9)
    t.eq(value("2 - 3 - 4"), -5)
    t.eq(value("-B + 8"), 1)
    t.eq(value("- -B"), 7)
    t.eq(value("0x10 * B"), 112)
end)

t.test("division truncates as in C", function()
    t.eq(value("-7 / 2"), -3)
    t.eq(value("7 / -2"), -3)
    t.eq(value("-7 / -2"), 3)
    t.eq(value("-7 % 2"), -1)
    t.eq(value("7 % -2"), 1)
    t.eq(value("D / 2"), 2047)
end)

t.test("functions", function()
    t.eq(value("ceil_div(D, 256)"), 16)
    t.eq(value("ceil_div(-7, 2)"), -3)
    t.eq(value("min(B, 3, 5) + max(B, 9)"), 12)
end)

t.test("floats stay floats", function()
    t.eq(value("1.5 * 2"), 3.0)
    t.eq(math.type(value("eps * 2")), "float")
    t.eq(math.type(value("1e3")), "float")
end)

t.test("faults name what is wrong", function()
    t.fails("unknown name 'Bs' %(did you mean 'B'%?%)", value("Bs"))
    t.fails("unknown function 'ceildiv' %(did you mean 'ceil_div'%?%)", value("ceildiv(1, 2)"))
    t.fails("expected a number, a name or '%(' before the end", value("B *"))
    t.fails("unexpected '3' after '2'", value("2 3"))
    t.fails("malformed number '3x'", value("3x"))
    t.fails("ceil_div takes 2, got 1", value("ceil_div(1)"))
    t.fails("min takes at least one argument", value("min()"))
    t.fails("division by zero in '1 / %(B %- 7%)'", value("1 / (B - 7)"))
    t.fails("division by zero", value("1 % 0"))
    t.fails("overflows 64 bits", value("N * N"))
    t.fails("overflows 64 bits", value("9223372036854775807 + 1"))
    t.fails("nested more than", value(("("):rep(5000)))
    t.fails("nested more than", value(("-"):rep(5000) .. "1"))
end)

t.test("only integers where integers are wanted", function()
    local function integer(text)
        return fault.catch(function() return axes.integer(axes.parse(text), values) end)
    end
    t.eq(integer("B * 2"), 14)
    t.fails("'eps' is 1e%-06, not an integer", integer("eps"))
end)

t.test("names that an expression uses", function()
    t.eq(axes.names(axes.parse("ceil_div(B, 2) * -(D + 1)")), { B = true, D = true })
end)

t.test("distance counts a swap of neighbours as one edit", function()
    t.eq(fault.distance("kernel", "kernle"), 1)
    t.eq(fault.distance("", "abc"), 3)
    t.eq(fault.distance("abc", "abc"), 0)
    t.eq(fault.nearest("xyzzy", { "launch", "tune" }), "")
end)
