-- The building blocks of policies, each asked with literals.
local rules = require "ako.rules"
local seeds = require "ako.seeds"
local t = require "ako.tap"

local function trial(speedup, low, high, reference)
    return { speedup = { best = speedup, reference = reference }, interval = { best = low and { low, high } } }
end

local function answer(rule, ...) return table.pack(rule(...))[1], (select(2, rule(...))) end

t.test("faster_by is strict and says why", function()
    local rule = rules.faster_by(0.01)
    t.eq(answer(rule, trial(1.02, 1.01, 1.03)), "keep")
    t.eq(answer(rule, trial(1.01)), "revert")
    t.eq(answer(rule, trial(0.9)), "revert")
    t.eq(answer(rule, { speedup = {} }), "inconclusive")
    t.match(select(2, rule(trial(1.021, 1.014, 1.028))), "^2.1 %% faster, interval 1.4..2.8 %%$")
    t.match(select(2, rule(trial(1.005))), "0.5 %% faster, not more than 1 %%")
    t.match(select(2, rule(trial(0.5))), "50.0 %% slower")
end)

t.test("numbers can be options", function()
    local rule = rules.faster_by "threshold"
    t.eq(answer(rule, trial(1.02), nil, { threshold = 0.01 }), "keep")
    t.eq(answer(rule, trial(1.02), nil, { threshold = 0.05 }), "revert")
    t.err("no number 'threshold' among its options", rule, trial(1.02), nil, {})
end)

t.test("intervals_apart", function()
    local rule = rules.intervals_apart "inconclusive"
    t.eq(answer(rule, trial(1.02, 1.001, 1.03)), "keep")
    t.eq(answer(rule, trial(0.9, 0.8, 0.99)), "revert")
    t.eq(answer(rule, trial(1.02, 0.99, 1.05)), "inconclusive")
    t.match(select(2, rule(trial(1.02, 0.99, 1.05))), "inconclusive: intervals overlap, interval %-1.0..5.0 %%")
    t.eq(answer(rule, trial(1.02)), "inconclusive")
end)

t.test("plausible wants a justification beyond its limit", function()
    local rule = rules.plausible(10, "justify")
    t.eq(answer(rule, trial(2, 1, 3, 9.99), nil, { justify = "" }), "keep")
    t.eq(answer(rule, trial(2, 1, 3, 10.0), nil, { justify = "" }), "keep")
    t.eq(answer(rule, trial(2, 1, 3, 10.01), nil, { justify = "" }), "revert")
    t.eq(answer(rule, trial(2, 1, 3, 12), nil, { justify = "the reference is naive" }), "keep")
    t.match(select(2, rule(trial(2, 1, 3, 12), nil, { justify = "naive" })), "12.00x, justified: naive")
    t.eq(answer(rule, trial(2), nil, {}), "keep")
end)

-- A trial of this gain, surely not below `low`, with code of this size.
local function sized(verdict, low, lines, branches, knobs)
    return { paired = { verdict = verdict, reason = "the pairs", threshold = 0.01, interval = { low, low + 0.01 } },
        size = { lines = lines, branches = branches, knobs = knobs } }
end

t.test("or_simpler keeps what is no slower and measurably simpler, by numbers alone", function()
    local best = sized("keep", 0, 50, 5, 2)
    local rule = rules.or_simpler(rules.paired(), { lines = "few", branches = 1, knobs = 1 })
    local function ask(...) return answer(rule, sized(...), best, { few = 3 }) end
    t.eq(ask("keep", 0.05, 90, 9, 9), "keep")
    local verdict, reason = ask("revert", -0.005, 46, 5, 2)
    t.eq(verdict, "keep")
    t.eq(reason, "simpler and no slower: 46 lines instead of 50 (the pairs)")
    t.eq(ask("inconclusive", -0.01, 50, 4, 2), "keep")
    t.eq(ask("inconclusive", -0.011, 46, 4, 1), "inconclusive", "it may be more than the threshold slower")
    t.eq(ask("revert", 0, 48, 5, 2), "revert", "two lines are not three")
    t.eq(ask("revert", 0, 40, 6, 2), "revert", "fewer lines, but more branches")
    t.eq(ask("revert", 0, 50, 5, 2), "revert")
    t.eq(answer(rule, { paired = sized("revert", 0).paired, size = {} }, best, { few = 3 }), "revert")
    t.eq(answer(rule, { speedup = {}, size = sized("revert", 0, 1, 1, 1).size }, best, { few = 3 }), "inconclusive")
    t.match(rules.words(rule), "or what is no slower and measurably simpler$")
    local is_simpler = rules.simpler { lines = 3 }
    t.ok(is_simpler({ size = { lines = 47, branches = 5, knobs = 2 }, best = best }))
    t.ok(not is_simpler { size = { lines = 48, branches = 5, knobs = 2 }, best = best })
end)

t.test("all: the first that does not keep decides; the last reason stays", function()
    local rule = rules.all(rules.plausible(10, "justify"), rules.faster_by(0.01), rules.intervals_apart "revert")
    t.eq(answer(rule, trial(1.5, 1.4, 1.6, 3), nil, {}), "keep")
    t.match(select(2, rule(trial(1.5, 1.4, 1.6, 3), nil, {})), "50.0 %% faster")
    t.eq(answer(rule, trial(1.5, 0.9, 2.5, 3), nil, {}), "revert")
    t.eq(answer(rule, trial(1.5, 1.4, 1.6, 30), nil, { justify = "" }), "revert")
end)

local function history(...)
    local list = { { trial = 0, verdict = "keep", speedup = { best = 1.0 } } }
    for i, gain in ipairs { ... } do
        list[i + 1] = { trial = i, verdict = gain > 0 and "keep" or "revert", speedup = { best = 1 + gain } }
    end
    return { history = list, trials = #list - 1, elapsed_s = 5 }
end

t.test("plateau counts trials without a real gain", function()
    local rule = rules.plateau(3, 0.03)
    t.eq(rule(history(0.5, 0, 0)), nil)
    t.match(rule(history(0.5, 0, 0, 0)), "3 trials without a gain of more than 3 %%")
    t.match(rule(history(0.5, 0.01, 0, 0.02)), "3 trials")
    t.eq(rule(history(0, 0, 0.1)), nil)
    t.match(rule(history(0, 0, 0)), "3 trials")
    t.eq(rules.plateau(0, 0.03)(history(0, 0, 0)), nil)
end)

t.test("budget, floor and any", function()
    t.match(rules.budget { trials = 2 }(history(0, 0)), "budget of 2 trials")
    t.eq(rules.budget { trials = 3 }(history(0, 0)), nil)
    t.match(rules.budget { seconds = 5 }(history(0)), "budget of 5 s")
    t.eq(rules.budget {}(history(0)), nil)
    t.match(rules.floor(0.9)({ best = { floor_share = 0.93 } }), "93 %% of the device's limit")
    t.eq(rules.floor(0.9)({ best = { floor_share = 0.8 } }), nil)
    t.eq(rules.floor(0.9)({ best = {} }), nil)
    t.match(rules.any(rules.budget { trials = 9 }, rules.plateau(1, 0))(history(0)), "1 trials without")
end)

t.test("of several rules, one without words is told of too, and one that is switched off is not", function()
    local function own() end
    local budget = rules.budget { trials = "trials" }
    t.eq(rules.words(rules.any(budget, own), { trials = 9 }), "after 9 trials, or a rule of the policy's own")
    t.eq(rules.words(rules.any(budget, own), { trials = 0 }), nil, "the only one left has no words")
    t.eq(rules.words(rules.any(budget, rules.floor(0.9)), { trials = 0 }),
        "when the best runs at 90 % of the device's limit")
    t.eq(rules.words(rules.any(budget), { trials = 0 }), false)
    t.eq(rules.words(rules.any(own, own)), nil)
end)

t.test("fast_p is strict and counts wrong ones as slow", function()
    local entries = { { correct = true, speedup = 1.0 }, { correct = true, speedup = 2.5 },
        { correct = false, speedup = 9.0 }, { correct = true } }
    t.eq(rules.fast_p(entries, 0), 0.5)
    t.eq(rules.fast_p(entries, 1), 0.25)
    t.eq(rules.fast_p(entries, 2.5), 0.0)
    t.eq(rules.fast_p({}, 1), nil)
end)

t.test("seeds: splitmix64, without its lowest bit", function()
    -- The first outputs of splitmix64 for seed 0 are e220a8397b1dcdaf and 6e789e6aa1b965f4 (Vigna's splitmix64.c).
    t.eq(seeds.expand(0, 2), { 0xe220a8397b1dcdaf >> 1, 0x6e789e6aa1b965f4 >> 1 })
    t.eq(#seeds.expand(42, 5), 5)
    t.eq(seeds.expand(42, 5)[3], seeds.expand(42, 9)[3])
    for _, seed in ipairs(seeds.expand(-1, 100)) do t.ok(seed >= 0) end
end)
