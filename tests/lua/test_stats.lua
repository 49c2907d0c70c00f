-- ako.stats: summaries, quantiles and exact rank intervals.
local t = require "ako.tap"
local stats = require "ako.stats"

t.test("a summary has its numbers and an exact interval", function()
    local s = stats.summary { 30, 10, 20, 50, 40, 70, 60, 80 }
    t.eq(s.n, 8)
    t.eq(s.min, 10)
    t.eq(s.max, 80)
    t.eq(s.mean, 45.0)
    t.eq(s.median, 45.0)
    t.ok(math.abs(s.p95 - 76.5) < 1e-9, "p95 interpolates")
    t.ok(math.abs(s.std - math.sqrt(600)) < 1e-9, "the deviation is that of a sample")
    t.eq(s.ci, { 10, 80 })
    t.eq(math.type(s.min), "integer")
end)

t.test("too few samples have no interval", function()
    t.eq(stats.summary({ 1, 2, 3, 4, 5 }).ci, nil)
    t.eq(stats.summary({ 1, 2, 3, 4, 5 }, 0.1).ci, { 1, 5 })
    t.eq(stats.summary({ 7 }).std, 0.0)
end)

t.test("ranks are those of the binomial distribution", function()
    local rank, wrong = stats.rank(96, 0.0125)
    t.eq(rank, 36)
    t.ok(wrong > 0.0102 and wrong < 0.0104, "the true error comes with it")
    t.eq(stats.rank(96), 38)
    t.eq({ stats.rank(5) }, { 0, 0.0 })
end)

t.test("quantiles need no order and change nothing", function()
    local values = { 8, 1, 4, 2 }
    t.eq(stats.quantile(values, 0.5), 3.0)
    t.eq(stats.quantile(values, 0), 1.0)
    t.eq(stats.quantile(values, 1), 8.0)
    t.eq(values, { 8, 1, 4, 2 })
end)

t.test("the geometric mean", function()
    t.ok(math.abs(stats.geomean { 0.5, 2, 8 } - 2) < 1e-12, "of 0.5, 2 and 8 is 2")
end)

t.test("wrong arguments raise", function()
    t.err("no samples", stats.summary, {})
    t.err("sample 2 is not an integer", stats.summary, { 1, 1.5 })
    t.err("alpha", stats.summary, { 1 }, 0)
    t.err("table expected", stats.summary, 7)
    t.err("from 0 to 1", stats.quantile, { 1 }, 1.1)
    t.err("value 1 is not a number", stats.quantile, { 0 / 0 }, 0.5)
    t.err("value 2 is not positive", stats.geomean, { 1, 0 })
    t.err("not negative", stats.rank, -1)
end)
