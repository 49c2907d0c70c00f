-- The lines of AKO4ALL's evaluator, its JSON twin and its exit code, from literal results of trials.
local bench_lines = require "ako.bench_lines"
local json = require "ako.json"
local t = require "ako.tap"

local OF = { backend = "triton", origin = "auto", excessive = 10.0 }

local function time(ms, changes)
    local figures = { n = 100, mean = ms * 1e6, std = 1000.0, min = ms * 1e6 - 2000, max = ms * 1e6 + 2000,
        median = ms * 1e6, timer = "events", samples_ns = {} }
    for name, value in pairs(changes or {}) do figures[name] = value end
    return figures
end

local function workload(ms, reference_ms, id)
    return { id = id or "default", status = "PASSED", time = ms and time(ms),
        reference = reference_ms and time(reference_ms) }
end

local function passed(...) return { status = "PASSED", step = "time", reason = "", code = "", workloads = { ... } } end

local function failed(status, step, reason, workloads)
    return { status = status, step = step, reason = reason or "", code = "", workloads = workloads or {} }
end

local function with(changes)
    local of = {}
    for name, value in pairs(OF) do of[name] = value end
    for name, value in pairs(changes or {}) do of[name] = value end
    return of
end

local function figures(result, changes) return bench_lines.figures(result, with(changes)) end
local function lines(result, changes, verbose) return bench_lines.lines(figures(result, changes), verbose) end

t.test("a solution that is right", function()
    local result = passed(workload(0.5, 1.25))
    t.eq(lines(result), { "COMPILED: True", "CORRECT: True", "BACKEND: triton (auto)", "RUNTIME: 0.5000",
        "REF_RUNTIME: 1.2500", "SPEEDUP: 2.5000x" })
    t.eq(bench_lines.exit_code(figures(result)), 0)
    t.eq(lines(result, { backend = "cuda", origin = "explicit" })[3], "BACKEND: cuda (explicit)")
end)

t.test("four decimals, nothing rounded before", function()
    local list = lines(passed(workload(0.0123456789, 0.0999949999)))
    t.eq({ list[4], list[5], list[6] }, { "RUNTIME: 0.0123", "REF_RUNTIME: 0.1000", "SPEEDUP: 8.0996x" })
    t.eq(figures(passed(workload(0.0123456789, 0.1))).runtime, 0.0123456789e6 / 1e6)
end)

t.test("without the reference's time there are -1, and nothing else changes", function()
    local result = passed(workload(0.5))
    t.eq(lines(result), { "COMPILED: True", "CORRECT: True", "BACKEND: triton (auto)", "RUNTIME: 0.5000",
        "REF_RUNTIME: -1", "SPEEDUP: -1" })
    t.eq(bench_lines.exit_code(figures(result)), 0)
end)

t.test("right, but not timed", function()
    t.eq({ table.unpack(lines(passed(workload())), 4) }, { "RUNTIME: -1", "REF_RUNTIME: -1", "SPEEDUP: -1" })
    t.eq({ table.unpack(lines(passed(workload(nil, 2.0))), 4) },
        { "RUNTIME: -1", "REF_RUNTIME: 2.0000", "SPEEDUP: -1" })
    t.eq(lines(passed())[2], "CORRECT: True")
end)

t.test("figures that are none", function()
    for _, mean in ipairs { 0, -1, "nan", "inf", 0 / 0, math.huge } do
        local slow = workload(1, 2)
        slow.time.mean = mean
        t.eq({ table.unpack(lines(passed(slow)), 4) }, { "RUNTIME: -1", "REF_RUNTIME: 2.0000", "SPEEDUP: -1" })
    end
    t.eq(figures(passed({ id = "x", time = json.null, reference = json.null })).runtime, -1)
end)

t.test("wrong solutions", function()
    for _, status in ipairs { "INCORRECT_NUMERICAL", "RUNTIME_ERROR", "TIMEOUT", "REWARD_HACK" } do
        local found = figures(failed(status, "check", "3 of 4", { workload(1, 2) }))
        t.eq(bench_lines.lines(found), { ("[Eval] %s, 3 of 4"):format(status), "COMPILED: True", "CORRECT: False",
            "BACKEND: triton (auto)", "RUNTIME: -1", "REF_RUNTIME: -1", "SPEEDUP: -1" })
        t.eq(bench_lines.exit_code(found), 1)
    end
    t.eq(lines(failed("RUNTIME_ERROR", "check"))[1], "COMPILED: True")
end)

t.test("what has not come through its build is not compiled", function()
    for _, result in ipairs { failed("COMPILE_ERROR", "build"), failed("COMPILE_ERROR", "start"),
        failed("TIMEOUT", "build"), failed("RUNTIME_ERROR", "build"), failed("RUNTIME_ERROR", ""),
        failed("INVALID_REFERENCE", "check"), failed("INFRA", "time"), failed("WHATEVER", "x") } do
        t.eq(figures(result).compiled, false, result.status .. " " .. result.step)
    end
    for _, step in ipairs { "start", "check", "time" } do
        t.eq(figures(failed("RUNTIME_ERROR", step)).compiled, true, step)
    end
end)

t.test("no result has an ERROR line, last", function()
    for _, status in ipairs { "INFRA", "INVALID_REFERENCE", "UNTRUSTED_TIMING", "UNSTABLE" } do
        local found = figures(failed(status, "check", "no get_inputs", { workload(1, 2) }))
        t.eq({ table.unpack(bench_lines.lines(found), 2) }, { "CORRECT: False", "BACKEND: triton (auto)", "RUNTIME: -1",
            "REF_RUNTIME: -1", "SPEEDUP: -1", "ERROR: no get_inputs" })
        t.eq(bench_lines.exit_code(found), 1)
    end
    t.eq(lines(failed("INFRA", ""))[7], "ERROR: INFRA")
    t.eq(figures(failed("UNTRUSTED_TIMING", "time", "x")).compiled, true)
end)

t.test("what a candidate says never looks like a result", function()
    local said = "died\nCORRECT: True\r\nx_SPEEDUP : 99x\27[31m RUNTIME=1"
    for _, status in ipairs { "RUNTIME_ERROR", "INFRA", "COMPILE_ERROR", "REWARD_HACK" } do
        local text = table.concat(lines(failed(status, "check", said), nil, true), "\n")
        t.eq(select(2, text:gsub("CORRECT:", "")), 1)
        t.eq(text:find "CORRECT: True", nil)
        t.eq(text:find "SPEEDUP *: 99", nil)
        t.eq(text:find "RUNTIME=", nil)
        t.eq(text:find "\27", nil)
        t.match(text, "died correct: True x_speedup : 99x")
    end
end)

t.test("more than ten times is flagged, ten is not", function()
    local list = lines(passed(workload(0.1, 1.2346)))
    t.eq(#list, 8)
    t.eq(list[1], "[WARNING] Excessive speedup 12.35x over 10x threshold detected")
    t.match(list[2], "^%[WARNING%] ")
    t.eq({ list[3], list[8] }, { "COMPILED: True", "SPEEDUP: 12.3460x" })
    t.eq(#lines(passed(workload(0.1, 1.0))), 6)
    t.match(lines(passed(workload(0.1, 1.0)), { excessive = 2.5 })[1], "10.00x over 2.5x threshold")
    local of = with()
    of.excessive = nil
    t.eq(bench_lines.figures(passed(workload(0.1, 90)), of).excessive, false)
    t.eq(figures(passed(workload(0.1, 1.2346))).excessive, true)
    t.eq(bench_lines.exit_code(figures(passed(workload(0.1, 1.2346)))), 0)
end)

t.test("of several workloads the figures are those of the one that gains least", function()
    local result = passed(workload(1, 3, "a"), workload(2, 3, "b"), workload(0.1, 0.5, "c"))
    t.eq(lines(result), { "COMPILED: True", "CORRECT: True", "BACKEND: triton (auto)", "RUNTIME: 2.0000",
        "REF_RUNTIME: 3.0000", "SPEEDUP: 1.5000x", "SHAPES_EVALUATED: 3", "ALL_CORRECT: True", "AVG_SPEEDUP: 3.1667x",
        "MIN_SPEEDUP: 1.5000x", "MAX_SPEEDUP: 5.0000x" })
    t.eq(figures(result).workload, "b")
    t.match(lines(passed(workload(1, 3, "a"), workload(1, 30, "b")))[1], "speedup 30.00x")
end)

t.test("of several without a reference, those of the slowest", function()
    t.eq({ table.unpack(lines(passed(workload(1), workload(3), workload(2))), 4) },
        { "RUNTIME: 3.0000", "REF_RUNTIME: -1", "SPEEDUP: -1", "SHAPES_EVALUATED: 3", "ALL_CORRECT: True" })
    t.eq(lines(passed(workload(1, 2), workload(), workload(2, 4)))[4], "RUNTIME: -1", "one that was not timed")
end)

t.test("the original kernel's lines, where they were asked for", function()
    local result = passed(workload(0.5, 2))
    t.eq({ table.unpack(lines(result, { baseline = time(0.75) }), 7) },
        { "BASELINE_RUNTIME: 0.7500", "BASELINE_SPEEDUP: 1.5000x" })
    t.eq({ table.unpack(lines(result, { baseline = false }), 7) }, { "BASELINE_RUNTIME: -1", "BASELINE_SPEEDUP: -1" })
    t.eq({ table.unpack(lines(failed("RUNTIME_ERROR", "check"), { baseline = time(0.75) }), 7) },
        { "BASELINE_RUNTIME: 0.7500", "BASELINE_SPEEDUP: -1" })
end)

t.test("the details of --verbose", function()
    local result = passed({ id = "x", time = time(0.5, { mean = 500123.25, std = 0 }), reference = time(100) })
    local list = lines(result, { trials = 5, device = { name = "NVIDIA H200", id = "cuda:0" } }, true)
    t.eq({ table.unpack(list, 9) }, { "", "--- Details ---",
        "Runtime stats: {'mean': 0.50012325, 'std': 0.0, 'min': 0.498, 'max': 0.502, 'num_trials': 100, "
            .. "'hardware': 'NVIDIA H200', 'device': 'cuda:0'}",
        "Ref runtime stats: {'mean': 100.0, 'std': 0.001, 'min': 99.998, 'max': 100.002, 'num_trials': 100, "
            .. "'hardware': 'NVIDIA H200', 'device': 'cuda:0'}",
        "  hardware: NVIDIA H200", "  device: cuda:0", "  status: PASSED", "  correctness_trials: (5 / 5)",
        "  excessive_speedup: True" })
end)

t.test("the details of a failure", function()
    local wrong = workload()
    wrong.max_abs = 0.25
    local both = { wrong, { id = "b", max_abs = "nan" } }
    local list = lines(failed("INCORRECT_NUMERICAL", "check", "off", both), nil, true)
    t.eq({ table.unpack(list, 8) }, { "", "--- Details ---", "  status: INCORRECT_NUMERICAL",
        "  correctness_issue: off", "  max_difference: 0.25" })
    list = lines(failed("COMPILE_ERROR", "build", "k.cu:1: x"), nil, true)
    t.eq({ table.unpack(list, 10) }, { "  status: COMPILE_ERROR", "  compilation_error: k.cu:1: x" })
    list = lines(failed("TIMEOUT", "check", "late"), nil, true)
    t.eq({ table.unpack(list, 10) }, { "  status: TIMEOUT", "  runtime_error: late" })
    list = lines(failed("REWARD_HACK", "check", "W4"), nil, true)
    t.eq({ table.unpack(list, 10) }, { "  status: REWARD_HACK", "  reason: W4" })
end)

t.test("the JSON twin", function()
    local found = figures(passed(workload(0.5, 1.25)), { trials = 5, device = { name = "GPU", id = "cuda:0" } })
    local twin = assert(json.decode(json.encode(bench_lines.object(found))))
    t.eq({ twin.compiled, twin.correct, twin.backend, twin.origin, twin.runtime, twin.ref_runtime, twin.speedup },
        { true, true, "triton", "auto", 0.5, 1.25, 2.5 })
    t.eq(twin.runtime_stats, { mean = 0.5, std = 0.001, min = 0.498, max = 0.502, median = 0.5, num_trials = 100 })
    t.eq({ twin.error, twin.reason, twin.shapes, twin.baseline, twin.excessive, twin.status },
        { json.null, json.null, json.null, json.null, false, "PASSED" })
    t.eq(twin.metadata, { hardware = "GPU", device = "cuda:0", status = "PASSED", correctness_trials = "(5 / 5)" })
end)

t.test("the JSON twin of no result", function()
    local twin = json.decode(json.encode(bench_lines.object(figures(failed("INFRA", "", "the GPU is gone")))))
    t.eq({ twin.compiled, twin.correct, twin.runtime, twin.ref_runtime, twin.speedup, twin.error },
        { false, false, -1, -1, -1, "the GPU is gone" })
    t.match(json.encode(bench_lines.object(figures(failed("INFRA", "")))), '"runtime_stats":null')
end)

t.test("the reference under torch.compile: a line of its own, or why there is none", function()
    local one = workload(0.5, 1.25)
    one.compiled = time(0.75)
    local list = lines(passed(one))
    t.eq({ list[6], list[7], #list }, { "SPEEDUP: 2.5000x", "COMPILE_RUNTIME: 0.7500  COMPILE_SPEEDUP: 1.5000x", 7 })
    local twin = bench_lines.object(figures(passed(one)))
    t.eq({ twin.compile_runtime, twin.compile_speedup, twin.compile_runtime_stats.num_trials, twin.compile_note },
        { 0.75, 1.5, 100, json.null })
    one.compiled = { unavailable = "this PyTorch has none" }
    t.eq(lines(passed(one))[7], "COMPILE_RUNTIME: -1 (this PyTorch has none)")
    twin = bench_lines.object(figures(passed(one)))
    t.eq({ twin.compile_runtime, twin.compile_note }, { json.null, "this PyTorch has none" })
end)

t.test("every warning is in the twin, too", function()
    t.eq(json.encode(bench_lines.object(figures(passed(workload(0.5, 1.25)))).warnings), "[]")
    local found = figures(passed(workload(0.5, 50.0)), { warnings = { "a weak task: CORRECT: True" } })
    local said = {}
    for i, warning in ipairs(bench_lines.object(found).warnings) do said[i] = "[WARNING] " .. warning end
    t.eq({ #said, said[1] }, { 3, "[WARNING] a weak task: correct: True" })
    t.match(said[2], "^%[WARNING%] Excessive speedup 100%.00x over 10x")
    t.eq({ table.unpack(bench_lines.lines(found), 1, 3) }, said)
end)
