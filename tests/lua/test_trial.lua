-- A trial's record: which figures a speed-up and its interval are made of.
local t = require "ako.tap"
local trial = require "ako.trial"

local TASK = { workloads = { { id = "N=64", weight = 1.0 } } }

local function figures(median) return { median = median, ci = { median - 1, median + 1 }, mean = median } end

local function of(number, median, paired, context)
    local workload = { id = "N=64", status = "PASSED", time = figures(median), paired = paired }
    local result = { status = "PASSED", step = "time", reason = "", workloads = { workload }, paired = paired }
    local all = { session = "s", trial = number, task = TASK, statistic = "mean" }
    for name, value in pairs(context or {}) do all[name] = value end
    return trial.record(result, all)
end

local BASE = of(0, 1000)

t.test("pairs say how much faster than the best; the medians, than an original that is another one", function()
    local better = of(1, 500, { gain = 0.5, interval = { 0.375, 0.6 } }, { original = BASE, best = BASE })
    local next_one = of(2, 400, { gain = 0.2, interval = { 0.0, 0.5 } }, { original = BASE, best = better })
    t.eq({ next_one.speedup.best, next_one.speedup.original }, { 1.25, 2.5 })
    t.eq({ next_one.interval.best, next_one.workloads[1].interval }, { { 1.0, 2.0 }, { best = { 1.0, 2.0 } } })
end)

t.test("where the best is the original, both are the pairs' one figure", function()
    local record = of(1, 800, { gain = 0.5, interval = { 0.375, 0.6 } }, { original = BASE, best = BASE })
    t.eq(record.speedup, { best = 2.0, original = 2.0 })
    t.eq(record.interval, { best = { 1.6, 2.5 }, original = { 1.6, 2.5 } })
    t.eq(record.workloads[1].interval, { best = { 1.6, 2.5 }, original = { 1.6, 2.5 } })
end)

t.test("pairs without an interval have none: that of the medians is of another figure", function()
    local record = of(1, 90000, { gain = 1 - 75.0, pairs = 2 }, { original = BASE, best = BASE })
    t.eq({ record.speedup.best, record.interval, record.workloads[1].interval }, { 1 / 75, {}, nil })
    t.eq({ trial.gain_interval(record) }, {})
end)
