-- Policies: inheritance, and one line with file and line for every mistake.
local host = require "ako.host"
local keyline = require "ako.keyline"
local policy = require "ako.policy"
local t = require "ako.tap"
local program = require "program"

local run, says, write = program.run, program.says, program.write

-- What `check` says of a policy that extends kernelbench by these fields, which begin on line 3.
local function check(fields)
    write("mine.lua", 'local base = require "policies.kernelbench"\nreturn base:extend {\n' .. fields .. "\n}\n")
    return run("mine.lua", "check")
end

t.test("a policy that changes a number", function()
    local r = check 'name = "mine", description = "m", timing = { launches = 20 }, options = { target = { 3.0, "x" } }'
    t.eq(r.stderr, "")
    t.eq(r.code, 0)
    t.match(r.stdout, "^mine.lua: OK, policy mine\n")
    t.match(r.stdout, "launches 20, .*, pairs %(alpha 0.05, .*, looks %(12, 24, 48, 96%),")
    t.match(r.stdout, "hooks +accept, baseline, render\n")
    t.match(r.stdout, "%-%-target=3.0 %-%-threshold=0.01\n$")
end)

t.test("tables of numbers are merged, hooks and lists replaced, the base is left alone", function()
    local function first() return "keep" end
    local function second() return "revert" end
    local base = policy.extend { name = "base", timing = { warmup = 3, launches = 100 }, accept = first,
        options = { a = { 1, "one" }, b = { 2, "two", { 2, 3 } } } }
    local mine = base:extend { name = "mine", timing = { launches = 5 }, accept = second,
        options = { b = { 7, "seven" } }, correctness = { tolerance = { f16 = 1 } } }
    local third = mine:extend { correctness = { tolerance = { f32 = 2 } } }
    t.eq(mine.timing, { warmup = 3, launches = 5 })
    t.eq(mine.options, { a = { 1, "one" }, b = { 7, "seven" } })
    t.eq(mine.accept, second)
    t.eq(third.correctness.tolerance, { f16 = 1, f32 = 2 })
    t.eq(third.name, "mine")
    t.eq(base.timing, { warmup = 3, launches = 100 })
    t.eq(base.options.b, { 2, "two", { 2, 3 } })
    t.eq(mine.correctness.tolerance, { f16 = 1 })
    t.eq(base.accept, first)
end)

t.test("unknown fields, at any depth, with line and nearest name", function()
    says(check "\ncorectness = {}", 4, "mine.lua:4: unknown field 'corectness' (did you mean 'correctness'?)")
    says(check 'timing = {\n  warmup = 1,\n  ["luanches"] = 3 }', 4,
        "mine.lua:5: unknown field 'timing.luanches' (did you mean 'launches'?)")
    says(check "zzzzzz = 1", 4, "mine.lua:3: unknown field 'zzzzzz'")
    says(check "-- zzzzzz = 1\nname = [[zzzzzz = 1]],\nzzzzzz = 1", 4, "mine.lua:5: unknown field 'zzzzzz'")
    says(check "[1] = 3", 4, "mine.lua: a policy holds names, got the key 1")
    says(check "[('x'):rep(3)] = 3", 4, "mine.lua: unknown field 'xxx'")
    says(check "profiling = {}", 4, "mine.lua:3: field 'profiling' has no effect in this version")
end)

t.test("wrong types and values", function()
    says(check "git = { branch = 'a b' }", 4, "mine.lua:3: field 'git.branch' must be a branch's name, in which "
        .. "{task}, {session} and {date} are known, got a b")
    says(check "protected = { 1 }", 4, "mine.lua:3: field 'protected' must be a list of texts")
    says(check "accept = 3", 4, "mine.lua:3: field 'accept' must be a function, got number")
    says(check "timing = 3", 4, "mine.lua:3: field 'timing' must be a table, got number")
    says(check "timing = { launches = 2.5 }", 4, "mine.lua:3: field 'timing.launches' must be an integer, got 2.5")
    says(check "timing = { launches = 'x' }", 4, "mine.lua:3: field 'timing.launches' must be an integer, got string")
    says(check "timing = { launches = 0 }", 4, "mine.lua:3: field 'timing.launches' must be at least 1, got 0")
    says(check "timing = { timer = 'wal' }", 4,
        "mine.lua:3: field 'timing.timer' must be one of auto, events, cupti, wall, got wal")
    says(check "budget = { build = 0/0 }", 4, "mine.lua:3: field 'budget.build' must be a number, got nan")
    says(check "budget = { check = 0 }", 4, "mine.lua:3: field 'budget.check' must be at least 0.001, got 0")
    says(check "budget = { time = 1e300 }", 4, "mine.lua:3: field 'budget.time' must be at most 604800, got 1e+300")
    says(check "budget = { least = math.huge }", 4, "mine.lua:3: field 'budget.least' must be at most 604800, got inf")
    says(check "correctness = { tolerance = { f32 = 'x' } }", 4,
        "mine.lua:3: field 'correctness.tolerance.f32' must be a number, got string")
    says(check "name = {}", 4, "mine.lua:3: field 'name' must be a string, got table")
end)

t.test("options that are declared wrongly", function()
    says(check "options = { a = 3 }", 4, "mine.lua:3: field 'options.a' must be { default, text }, got number")
    says(check "options = { a = { {}, 'x' } }", 4,
        "mine.lua:3: field 'options.a': the default must be a number, string or boolean, got table")
    says(check "options = { a = { 1 } }", 4,
        "mine.lua:3: field 'options.a': the second item must be the help text, got nil")
    says(check "options = { a = { 1, 'x', 3 } }", 4,
        "mine.lua:3: field 'options.a': the check must be a list, a range or a function, got number")
    says(check "options = { a = { 1, 'x', { min = 2 } } }", 4,
        "mine.lua:3: field 'options.a': the default must be at least 2")
    says(check "options = { seed = { 1, 'x' } }", 4, "mine.lua: option 'seed' is one of the host already")
    says(check "options = { candidates = { 1, 'x' } }", 4,
        "mine.lua: option 'candidates' is one of the verb run already")
end)

t.test("check refuses what a run would", function()
    local pairs_of = 'timing = { pairs = {\n  threshold = %s } }'
    local where = "field 'timing.pairs.threshold'"
    says(check(pairs_of:format "'treshold'"), 4, "mine.lua:4: " .. where
        .. ": the policy has no option 'treshold' (did you mean 'threshold'?)")
    says(check(pairs_of:format "'zzz'"), 4, "mine.lua:4: " .. where .. ": the policy has no option 'zzz'")
    says(check(pairs_of:format "'justify'"), 4, "mine.lua:4: " .. where .. ": option 'justify' is no number")
    for _, value in ipairs { "-0.5", "1", "1e300", "-1e-9" } do
        says(check(pairs_of:format(value)), 4, "mine.lua:4: " .. where .. " must be a share from 0 to below 1, got "
            .. tostring(tonumber(value)))
    end
    for _, value in ipairs { "0", "0.5" } do t.eq(check(pairs_of:format(value)).code, 0) end
    says(check "options = {\n  threshold = { -0.5, 'x' } }", 4, "mine.lua:4: option 'threshold' is "
        .. "timing.pairs.threshold and must be a share from 0 to below 1, got -0.5")
    says(check "correctness = { tolerance = {\n  float32 = 1 } }", 4,
        "mine.lua:4: field 'correctness.tolerance': unknown dtype 'float32' (did you mean 'f32'?)")
    says(check "correctness = { tolerance = {\n  f33 = 1 } }", 4,
        "mine.lua:4: field 'correctness.tolerance': unknown dtype 'f33' (did you mean 'f32'?)")
    for _, name in ipairs { "a b", "", "1a", "-a", "a=b", "caf\xC3\xA9" } do
        says(check(("options = {\n  [%q] = { 1, 'x' } }"):format(name)), 4, ("mine.lua:4: option '%s' cannot be "
            .. "typed: a letter, then letters, digits, '_' or '-'"):format(name))
    end
    says(check "options = { a_b = { 1, 'x' }, ['a-b'] = { 1, 'x' } }", 4,
        "mine.lua:3: options 'a-b' and 'a_b' are both --a-b")
    t.eq(check("options = { ['a-b'] = { 1, 'x' } }").code, 0)
end)

t.test("a threshold typed wrongly is refused where it is used, and by kernelbench at once", function()
    says(run("kernelbench", "check", "--threshold=-0.1"), 2,
        "option --threshold must be a share from 0 to below 1, got '-0.1'")
    says(run("kernelbench", "check", "--threshold=1"), 2,
        "option --threshold must be a share from 0 to below 1, got '1'")
    says(run("kernelbench", "check", "--excessive=0"), 2, "option --excessive must be more than 0, got '0'")
    t.eq(run("kernelbench", "check", "--threshold=0", "--excessive=0.5").code, 0)
    check "options = { my_least = { 0.5, 'x' } }, timing = { pairs = { threshold = 'my_least' } }"
    says(run("mine.lua", "simulate", "--my-least=-1", "--trials=1"), 2,
        "option --my-least must be a share from 0 to below 1, got -1")
end)

t.test("pairs and screening of the policy that is extended can be switched off", function()
    local r = check "timing = { pairs = false, screen = false }"
    t.eq({ r.code, r.stderr }, { 0, "" })
    t.ok(not r.stdout:find("pairs") and not r.stdout:find("screen"), r.stdout)
    local base = policy.extend { timing = { pairs = { alpha = 0.5 }, screen = { least = 3 } } }
    local off = base:extend { timing = { pairs = false, screen = false } }
    t.eq({ off.timing.pairs, off.timing.screen }, { false, false })
    t.eq(base.timing.pairs, { alpha = 0.5 })
    t.eq(off:extend({ timing = { screen = { least = 5 } } }).timing, { pairs = false, screen = { least = 5 } })
    says(check "timing = { pairs = true }", 4, "mine.lua:3: field 'timing.pairs' must be a table, got boolean")
    says(check "correctness = false", 4, "mine.lua:3: field 'correctness' must be a table, got boolean")
    check "accept = function() return 'keep', '' end, timing = { pairs = false, screen = false }"
    r = run("mine.lua", "simulate", "--trials=1", "--gains=1")
    t.eq({ r.code, r.stderr }, { 0, "" })
    t.ok(not r.stdout:find("pairs"), r.stdout)
end)

t.test("a policy without a base must be complete", function()
    write("mine.lua", "return {\n  name = 'mine',\n}")
    says(run("mine.lua"), 4, "mine.lua: missing field 'accept'; a policy that extends another inherits it")
    write("mine.lua", "return {\n  acept = 'mine',\n}")
    says(run("mine.lua"), 4, "mine.lua:2: unknown field 'acept' (did you mean 'accept'?)")
    write("mine.lua", 'return require("policies.kernelbench"):extend(7)')
    says(run("mine.lua"), 4, "mine.lua: extend takes a table, got number")
end)

t.test("a mistake in the second extend of a file is found behind the first", function()
    write("mine.lua", [[
local base = require "policies.kernelbench"
local one = base:extend { timing = { launches = 3 } }
return one:extend {
  timing = {
    launches = "x" } }]])
    says(run("mine.lua"), 4, "mine.lua:5: field 'timing.launches' must be an integer, got string")
end)

t.test("loading takes what it takes, and no longer", function()
    write("mine.lua", "return {\n  name = ('x'):rep(2 ^ 30 | 0) }")
    says(run("mine.lua"), 4, "mine.lua: needs more than the memory limit of 256 MB (--memory-limit)")
    write("mine.lua", "while true do end return {}")
    says(run("--time-limit=0.3", "mine.lua"), 4, "mine.lua:1: time budget of 0.3 s exceeded (--time-limit)")
end)

t.test("policies build on one another in the user's folder", function()
    write("deep/base.lua", 'return require("policies.kernelbench"):extend { name = "deep-base", description = "b" }')
    write("deep/mine.lua", 'return require("base"):extend { name = "deep-mine" }')
    t.match(run("deep/mine.lua", "check").stdout, "^deep/mine.lua: OK, policy deep%-mine\n")
end)

-- Hooks

t.test("a hook is called with its limits, and its mistakes name it", function()
    local given = policy.extend { accept = function(a, b) return a, b end, admit = function(x) return x.y.z end,
        stop = function() while true do end end }
    t.eq({ policy.call(given, "accept", 1, nil) }, { 1, nil })
    local ran, problem = pcall(policy.call, given, "admit", {})
    t.eq(ran, false)
    t.ok(host.is_leave(problem))
    t.eq(problem.code, 4)
    t.match(tostring(problem), "^hook 'admit' failed: tests/lua/test_policy.lua:%d+: attempt to index a nil value")
    t.match(tostring(problem), "stack traceback:")
end)

t.test("options have the type of their default, and a value", function()
    local given = policy.extend { options = { speed = { 3.0, "s" }, count = { 3, "c" }, deep = { true, "d" } } }
    t.eq(policy.option_values(given, { speed = 2.5, deep = false }), { speed = 2.5, count = 3, deep = false })
    local kinds = {}
    for _, spec in ipairs(policy.option_specs(given)) do kinds[#kinds + 1] = spec.name .. " " .. spec.kind end
    t.eq(kinds, { "count integer", "deep boolean", "speed number" })
end)

-- Lines

t.test("keyline sees through comments, strings and nesting", function()
    local text = [==[
-- a = 1
--[[ a = 1
]] local s = "a = 1 \" {" .. 'it''s { a' .. [=[ { a = 1 ]=]
local t = { b = { a = 1 }, c == d,
  ["a"] = 2,
  x = f { a = 3 } }
a = 7]==]
    t.eq(keyline.lines(text, { "b", "a" }), { 4 })
    t.eq(keyline.lines(text, { "a" }), { 4, 5, 6, 7 })
    t.eq(keyline.lines(text, { "c" }), {})
    t.eq(keyline.lines(text, { "d", "a" }), {})
    for i = 0, #text do keyline.lines(text:sub(1, i), { "none" }) end
end)
