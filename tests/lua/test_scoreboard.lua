-- fast_p, geometric means and the table over many problems.
local json = require "ako.json"
local scoreboard = require "ako.scoreboard"
local t = require "ako.tap"

local function result(name, speedup, changes)
    local found = { name = name, correct = true, speedup = speedup }
    for key, value in pairs(changes or {}) do found[key] = value end
    return found
end

local WRONG = { correct = false, status = "INCORRECT_NUMERICAL", reason = "3 of 4\nwrong" }
local RESULTS = { result("a", 2.0), result("b", 0.5), result("c", 8.0), result("d", 9.0, WRONG) }

local function shares(results, ps)
    local list = {}
    for i, entry in ipairs(scoreboard.score(results, ps).fast) do list[i] = entry.share end
    return list
end

t.test("fast_p is strict, and what is wrong is never fast", function()
    t.eq(shares(RESULTS, { 0, 0.5, 1, 2, 7.9, 8 }), { 0.75, 0.5, 0.5, 0.25, 0.25, 0 })
    t.eq(shares({ result("a", 1.0) }, { 1 }), { 0 })
    t.eq(shares({ result("a", 1.0, { correct = "yes" }) }, { 0 }), { 0 }, "only true is correct")
    t.eq(shares({}, { 0, 1 }), {})
end)

t.test("what is no speed-up is not a large one", function()
    for _, value in ipairs { 0, -1, 0 / 0, math.huge, "nan", "inf", false } do
        local scores = scoreboard.score({ result("a", value), result("b", 2.0) }, { 0, 1 })
        t.eq({ scores.fast[1].share, scores.fast[2].share, #scores.unknown }, { 0.5, 0.5, 1 })
    end
end)

t.test("geometric means, from logarithms", function()
    local function mean(...)
        local list = {}
        for i, value in ipairs { ... } do list[i] = { name = "p" .. i, speedup = value } end
        return scoreboard.geomean(list)
    end
    t.ok(math.abs(mean(2, 8) - 4) < 1e-12)
    t.ok(math.abs(mean(0.5, 2) - 1) < 1e-12)
    t.eq(mean(3.0), 3.0)
    local many = {}
    for i = 1, 5000 do many[i] = { name = i, speedup = 1e-300 } end
    t.ok(math.abs(scoreboard.geomean(many) / 1e-300 - 1) < 1e-9, "products would have ended at zero")
    for i = 1, 5000 do many[i].speedup = 1e300 end
    t.ok(math.abs(scoreboard.geomean(many) / 1e300 - 1) < 1e-9, "or at infinity")
end)

t.test("a geometric mean with a hole is none, and says which", function()
    t.eq({ scoreboard.geomean {} }, { nil, "there is none" })
    t.eq({ scoreboard.geomean { { name = "a", speedup = 1 }, { name = "b" } } },
        { nil, "the speed-up of b is not known" })
    t.eq({ scoreboard.geomean { { name = "a", speedup = 0 } } }, { nil, "the speed-up of a is 0" })
    t.eq({ scoreboard.geomean { { name = "a", speedup = -2 } } }, { nil, "the speed-up of a is -2" })
    t.match(select(2, scoreboard.geomean { { name = "a", speedup = 0 / 0 } }), "^the speed%-up of a is %-?nan$")
end)

t.test("scores", function()
    local scores = scoreboard.score(RESULTS, { 1 })
    t.eq({ scores.problems, scores.correct, #scores.unknown }, { 4, 3, 0 })
    t.ok(math.abs(scores.geomean.correct.value - 2) < 1e-12)
    t.ok(math.abs(scores.geomean.faster.value - 4) < 1e-12)
    t.eq({ scores.geomean.correct.count, scores.geomean.faster.count }, { 3, 2 })
    scores = scoreboard.score({ result("a", 2.0), result("b") }, { 1 })
    t.eq({ scores.geomean.correct.value, scores.geomean.correct.why }, { nil, "the speed-up of b is not known" })
    t.eq({ scores.geomean.faster.value, scores.unknown[1].name }, { 2.0, "b" })
    t.eq(scoreboard.score({ result("a", 1.0) }, {}).geomean.faster.why, "there is none")
end)

t.test("thresholds", function()
    t.eq(scoreboard.thresholds "0,1,2", { 0, 1, 2 })
    t.eq(scoreboard.thresholds " 0.5, 1.5 ", { 0.5, 1.5 })
    for _, text in ipairs { "", ",", "x", "1,,x", "-1", "1e3", "1.2.3", "0x10", "nan" } do
        local list, problem, code = scoreboard.thresholds(text)
        t.fails("no threshold p: wanted are numbers such as 0,1,2$", list, problem, code, "INVALID")
    end
end)

t.test("the table", function()
    t.eq(scoreboard.lines(RESULTS, { 0, 1, 1.5 }), {
        "problem  status               speed-up",
        "a        correct                 2.00x",
        "b        correct                0.500x",
        "c        correct                 8.00x",
        "d        INCORRECT_NUMERICAL         -  3 of 4 wrong",
        "3 of 4 problems correct  fast_0: 0.7500  fast_1: 0.5000  fast_1.5: 0.5000",
        "geometric mean: of the correct ones 2.00x (3), of the faster ones 4.00x (2)",
    })
end)

t.test("the table says what is not known", function()
    t.eq(scoreboard.lines({ result("a\27b"), result("c", nil, { correct = false }) }, { 1 }), {
        "problem  status   speed-up",
        "a\\x1Bb   correct         -",
        "c        wrong           -",
        "1 of 2 problems correct  fast_1: 0.0000",
        "geometric mean: of the correct ones none: the speed-up of a\\x1Bb is not known, of the faster ones none: "
            .. "there is none",
        "correct, of no known speed-up, counted as slow: a\\x1Bb",
    })
    t.eq(scoreboard.lines({}, { 1 })[2], "0 of 0 problems correct  fast_1: -")
    t.eq(#scoreboard.lines({}, {}), 3)
end)

t.test("as JSON", function()
    local object = assert(json.decode(json.encode(scoreboard.object(RESULTS, { 0, 1, 1.5 }))))
    t.eq(object.fast_p, { fast_0 = 0.75, fast_1 = 0.5, ["fast_1.5"] = 0.5 })
    local near = scoreboard.object(RESULTS, { 1.0000001, 1, 10, 0.1 }).fast_p
    t.eq(near, { ["fast_1.0000001"] = 0.5, fast_1 = 0.5, fast_10 = 0.0, ["fast_0.1"] = 0.75 })
    t.eq({ object.total, object.correct, object.unknown }, { 4, 3, {} })
    t.eq(object.problems[4], { name = "d", correct = false, speedup = json.null, status = "INCORRECT_NUMERICAL",
        reason = "3 of 4\nwrong" })
    t.ok(math.abs(object.geomean.correct - 2) < 1e-12)
    local text = json.encode(scoreboard.object({ result "a" }, { 1 }))
    t.match(text, '"geomean":{"correct":null,"faster":null}')
    t.match(text, '"correct":"the speed%-up of a is not known"')
    t.match(text, '"unknown":%["a"%]')
    t.match(json.encode(scoreboard.object({}, { 1 })), '"fast_p":{"fast_1":null}.*"problems":%[%]')
end)
