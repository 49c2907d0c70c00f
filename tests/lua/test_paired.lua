-- ako.paired and ako.noise: decisions between two that are timed in turn, and launches to try them on.
local noise = require "ako.noise"
local paired = require "ako.paired"
local stats = require "ako.stats"
local t = require "ako.tap"

local function plan(changes)
    local made = { looks = { 12, 24, 48, 96 }, alpha = 0.05, threshold = 0.01 }
    for name, value in pairs(changes or {}) do made[name] = value end
    return made
end

-- n pairs in which the candidate takes factors[1], factors[2], ... times as long, over and over.
local function workload(n, factors, changes)
    local made = { candidate_ns = {}, incumbent_ns = {} }
    for i = 1, n do
        made.incumbent_ns[i] = 1000000
        made.candidate_ns[i] = math.floor(1000000 * factors[(i - 1) % #factors + 1] + 0.5)
    end
    for name, value in pairs(changes or {}) do made[name] = value end
    return made
end

local function near(got, want) t.ok(math.abs(got - want) < 1e-9, ("%g is not %g"):format(got, want)) end

t.test("decide ends at the first look that decides", function()
    local kept = paired.decide { plan = plan(), pairs = { workload(96, { 0.97 }) } }
    t.eq(kept.verdict, "keep")
    t.eq({ kept.look, kept.pairs, kept.dropped }, { 0, 12, 0 })
    near(kept.gain, 0.03)
    near(kept.interval[1], 0.03)
    t.eq({ kept.order_effect, kept.clock_coupled, kept.correlated, kept.lag1 }, { false, false, false, 0.0 })
    t.eq(paired.decide({ plan = plan(), pairs = { workload(96, { 1 }) } }).verdict, "revert")
    local open = paired.decide { plan = plan(), pairs = { workload(96, { 0.97, 1.01, 1.01, 0.97 }) } }
    t.eq({ open.verdict, open.look, open.pairs }, { "inconclusive", 3, 96 })
    near(open.interval[1], -0.01)
    near(open.interval[2], 0.03)
end)

t.test("decide takes what there is for all", function()
    local few = paired.decide { plan = plan(), pairs = { workload(7, { 0.9 }) } }
    t.eq({ few.verdict, few.look, few.pairs, few.interval }, { "inconclusive", -1, 7, nil })
    t.eq(paired.decide({ plan = plan(), pairs = { workload(20, { 0.9 }) } }).pairs, 12)
    local late = plan { looks = { 10, 15, 200 } }
    t.eq(paired.decide({ plan = late, pairs = { workload(40, { 0.97, 1.01, 1.01, 0.97 }) } }).pairs, 40)
end)

t.test("the plan's rules reach the decision", function()
    local two = { workload(12, { 0.9 }), workload(12, { 1 }) }
    near(paired.decide({ plan = plan(), pairs = two }).gain, 1 - math.sqrt(0.9))
    near(paired.decide({ plan = plan(), pairs = two, weights = { 3, 1 } }).gain, 1 - 0.9 ^ 0.75)
    near(paired.decide({ plan = plan { score = "total" }, pairs = two, weights = { 1, 3 } }).gain, 0.025)
    t.eq(paired.decide({ plan = plan { score = "worst" }, pairs = two }).verdict, "revert")
    t.eq(paired.decide({ plan = plan { threshold = 0.2 }, pairs = { workload(12, { 0.9 }) } }).verdict, "revert")
    local wide = { workload(12, { 0.97, 0.97, 0.97, 0.97, 0.97, 0.995 }) }
    t.eq(paired.decide({ plan = plan(), pairs = wide }).verdict, "keep")
    t.eq(paired.decide({ plan = plan { strict = true }, pairs = wide }).verdict, "inconclusive")
    local order = plan { order_effect = 0.005 }
    t.eq(paired.decide({ plan = order, pairs = { workload(12, { 0.97, 0.96 }) } }).order_effect, true)
    local blocks = { workload(24, { 0.97, 0.97, 0.97, 0.97, 0.97, 0.97, 0.96, 0.96, 0.96, 0.96, 0.96, 0.96 }) }
    local correlated = paired.decide { plan = plan { correlation = 0.2 }, pairs = blocks }
    t.eq({ correlated.verdict, correlated.pairs, correlated.correlated }, { "keep", 24, true })
end)

t.test("clocks drop pairs", function()
    local incumbent, candidate = {}, {}
    for i = 1, 12 do incumbent[i], candidate[i] = 1980, i <= 2 and (i == 1 and 1900 or 2060) or 1980 end
    local pairs_of = { workload(12, { 0.97 }, { incumbent_mhz = incumbent, candidate_mhz = candidate }) }
    t.eq(paired.decide({ plan = plan { clock_pair = 0.015 }, pairs = pairs_of }).dropped, 2)
    t.eq(paired.decide({ plan = plan { clock_run = 0.03 }, pairs = pairs_of }).dropped, 2)
    t.eq(paired.decide({ plan = plan(), pairs = pairs_of }).dropped, 0)
    local unstable = plan { clock_pair = 0.015, most_dropped = 0.1 }
    t.eq(paired.decide({ plan = unstable, pairs = pairs_of }).verdict, "unstable")
    for i = 1, 12 do candidate[i] = 1900 end
    local coupled = paired.decide { plan = plan { clock_pair = 0.015, one_sided = 0.8 }, pairs = pairs_of }
    t.eq({ coupled.clock_coupled, coupled.dropped, coupled.verdict }, { true, 0, "keep" })
end)

t.test("wrong arguments raise", function()
    local good = { workload(12, { 1 }) }
    local function refused(why, given) t.err(why, paired.decide, given) end
    refused("there is no plan", { pairs = good })
    refused("plan.looks is not a list", { plan = { alpha = 0.05 }, pairs = good })
    refused("more than 8", { plan = plan { looks = { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, pairs = good })
    refused("plan.looks: look 2", { plan = plan { looks = { 12, 2.5 } }, pairs = good })
    refused("plan: looks: 12 pairs at look 2", { plan = plan { looks = { 12, 12 } }, pairs = good })
    refused("plan: alpha", { plan = plan { alpha = 2 }, pairs = good })
    refused("plan.alpha is not a number", { plan = plan { alpha = "low" }, pairs = good })
    refused("plan: threshold", { plan = { looks = { 12 }, alpha = 0.05 }, pairs = good })
    refused("plan.score: unknown score 'mean'", { plan = plan { score = "mean" }, pairs = good })
    refused("pairs is not a list", { plan = plan() })
    refused("pairs is not a list", { plan = plan(), pairs = {} })
    refused("no list incumbent_ns", { plan = plan(), pairs = { { candidate_ns = { 1 } } } })
    refused("no pairs", { plan = plan(), pairs = { { candidate_ns = {}, incumbent_ns = {} } } })
    refused("incumbent_ns of workload 2 has 9 numbers instead of 12", { plan = plan(),
        pairs = { good[1], workload(9, { 1 }) } })
    refused("number 1 is not an integer", { plan = plan(),
        pairs = { { candidate_ns = { 1.5 }, incumbent_ns = { 1 } } } })
    refused("not above 0", { plan = plan(), pairs = { { candidate_ns = { 0 }, incumbent_ns = { 1 } } } })
    refused("none for workload 2", { plan = plan(), pairs = { good[1], good[1] }, weights = { 1 } })
    refused("weight of workload 1", { plan = plan(), pairs = good, weights = { -1 } })
end)

t.test("noise follows its seed and stream", function()
    t.eq(noise.models(), { "quiet", "drift", "shared", "noisy" })
    local launches = noise.launches("noisy", 42, 0, 1000000, 50)
    t.eq(noise.launches("noisy", 42, 0, 1000000, 50), launches)
    t.ok(noise.launches("noisy", 42, 1, 1000000, 50)[1] ~= launches[1])
    t.ok(noise.launches("noisy", 43, 0, 1000000, 50)[1] ~= launches[1])
    local quiet = stats.summary(noise.launches("quiet", 42, 0, 1000000, 1000))
    t.ok(math.abs(quiet.median - 1000000) < 1000 and quiet.std < 8000)
end)

t.test("pairs share their machine's noise", function()
    local made = noise.pairs("drift", 42, 0, 1000000, 24, 5)
    t.eq({ #made.candidate_ns, #made.incumbent_ns }, { 24, 24 })
    local launches = noise.launches("drift", 42, 0, 1000000, 10)
    t.eq(made.incumbent_ns[1], math.tointeger(stats.summary({ table.unpack(launches, 1, 5) }).median))
    t.eq(made.candidate_ns[1], math.tointeger(stats.summary({ table.unpack(launches, 6, 10) }).median))
    t.eq(paired.decide({ plan = plan(), pairs = { made } }).verdict, "revert")
end)

t.test("noise refuses machines and sizes that there are not", function()
    t.err("unknown noise 'loud'", noise.launches, "loud", 1, 0, 1000, 5)
    t.err("32 bits", noise.launches, "quiet", 1, -1, 1000, 5)
    t.err("at least 1 ns", noise.launches, "quiet", 1, 0, 0, 5)
    t.err("1 to 1000000", noise.launches, "quiet", 1, 0, 1000, 0)
    t.err("1 to 64", noise.pairs, "quiet", 1, 0, 1000, 5, 65)
end)
