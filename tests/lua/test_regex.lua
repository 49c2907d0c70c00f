local t = require "ako.tap"
local regex = require "ako.regex"

local function all(pattern, text, flags)
    local found = {}
    for a, b in regex.new(pattern, flags):gmatch(text) do found[#found + 1] = b and { a, b } or a end
    return found
end

t.test("match, find and captures", function()
    local re = regex.new [[(?<file>[\w.]+):(\d+)(?::(\d+))?]]
    local text = "in kernel.cu:12 and"
    t.eq({ re:match(text) }, { "kernel.cu", "12", false })
    t.eq({ re:find(text) }, { 4, 15, "kernel.cu", "12", false })
    t.eq(re:captures(text), { [0] = "kernel.cu:12", "kernel.cu", "12", false, file = "kernel.cu" })
    t.eq(re:match "nothing", nil)
    t.eq(re:find "nothing", nil)
    t.eq(re:captures "nothing", nil)
    t.eq(regex.new("b"):match "abc", "b")
    t.eq({ regex.new("b"):find "abc" }, { 2, 2 })
end)

t.test("a start counts as in string.find", function()
    local re = regex.new "a"
    for start, want in pairs { [1] = 1, [2] = 3, [3] = 3, [-1] = 5, [-3] = 3, [-99] = 1, [0] = 1 } do
        t.eq(re:find("ababa", start), want, start)
    end
    t.eq(re:find("ababa", 6), nil)
    t.eq(re:find("ababa", 99), nil)
    t.eq(re:find("", math.mininteger), nil)
    t.eq(re:find("a", math.maxinteger), nil)
    t.eq({ regex.new(""):find("ab", 3) }, { 3, 2 })
end)

t.test("gmatch goes on over empty matches", function()
    t.eq(all([[\w+]], "a bc"), { "a", "bc" })
    t.eq(all([[(\w)=(\w)]], "a=1,b=2"), { { "a", "1" }, { "b", "2" } })
    t.eq(all("x*", "axb"), { "", "x", "", "" })
    t.eq(all(".", "é", "u"), { "é" })
    t.eq(#all(".", "é"), 2)
end)

t.test("gsub takes a template, a table or a function", function()
    local re = regex.new [[(?<k>\w+)=(\w+)]]
    local text = "a=1, b=2"
    t.eq({ re:gsub(text, "$2=${k}$$") }, { "1=a$, 2=b$", 2 })
    t.eq({ re:gsub(text, { a = "A", b = false }) }, { "A, b=2", 2 })
    t.eq({ re:gsub(text, function(k, v) return k == "b" and v * 10 or nil end) }, { "a=1, 20", 2 })
    t.eq({ re:gsub(text, "", 1) }, { ", b=2", 1 })
    t.eq({ re:gsub(text, "x", 0) }, { text, 0 })
    t.eq({ regex.new("x*"):gsub("abc", "-") }, { "-a-b-c-", 4 })
    t.eq({ regex.new("b"):gsub("abc", { b = "\0" }) }, { "a\0c", 1 })
    t.err("the pattern has no group '3'", re.gsub, re, "no match here", "$3")
    t.err("string, table or function expected", re.gsub, re, text, 1)
    t.err("invalid replacement value %(a table%)", re.gsub, re, text, function() return {} end)
end)

t.test("a function in gsub may raise, search and close", function()
    local re = regex.new [[\w]]
    t.err("mine", re.gsub, re, "abc", function() error "mine" end)
    local text = re:gsub("abc", function(c) return "<" .. re:gsub("xy", "$0$0") .. c .. ">" end)
    t.eq(text, "<xxyya><xxyyb><xxyyc>")
    t.err("is closed", re.gsub, re, "abc", function() re:close() end)
    local inner = coroutine.wrap(function() return regex.new("a"):gsub("aa", function() return "b" end) end)
    t.eq(inner(), "bb")
end)

t.test("split gives what is between", function()
    t.eq(regex.new([[,\s*]]):split "a, b,,c", { "a", "b", "", "c" })
    t.eq(regex.new(","):split "", { "" })
    t.eq(regex.new(","):split ",", { "", "" })
    t.eq(regex.new(""):split "abc", { "a", "b", "c" })
    t.eq(regex.new(","):split("a,b,c", 2), { "a", "b,c" })
    t.eq(regex.new(","):split("a,b", 1), { "a,b" })
end)

t.test("a bad pattern names the place", function()
    t.err("bad pattern at offset 4: missing closing parenthesis", regex.new, "ab(c")
    t.err("unknown flag 'q'", regex.new, "a", "q")
    t.err("limit match is out of range", regex.new, "a", "", { match = 0 })
end)

t.test("no pattern runs for ever", function()
    local text = ("a"):rep(60) .. "b"
    t.err("too many steps on this text: match limit exceeded", regex.new("(a+)+$").match, regex.new "(a+)+$", text)
    t.err("too many steps", function() for _ in regex.new("(a+)+$"):gmatch(text) do t.ok(false) end end)
    local small = regex.new("(*NO_JIT)(a|b)*c", "", { match = 10 })
    t.err("match limit", small.find, small, ("ab"):rep(50) .. "c")
    t.eq(regex.limits.match, 5000000)
end)

t.test("a closed regex says so", function()
    local re = regex.new "a"
    t.match(tostring(re), "^ako.regex %(a%)$")
    re:close()
    re:close()
    t.eq(tostring(re), "ako.regex (closed)")
    t.err("is closed", re.match, re, "a")
    t.err("ako.regex expected", re.match, {}, "a")
    do
        local scoped <close> = regex.new "a"
        re = scoped
    end
    t.err("is closed", re.match, re, "a")
end)
