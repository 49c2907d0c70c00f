-- The command line of AKO4ALL's evaluator, and what it means for a policy.
local bench_flags = require "ako.bench_flags"
local bench_selftest = require "ako.bench_selftest"
local exits = require "ako.exits"
local kernelbench = require "policies.kernelbench"
local plan = require "ako.plan"
local t = require "ako.tap"

local function parse(line, others)
    local words = {}
    for word in line:gmatch "%S+" do words[#words + 1] = word end
    return bench_flags.parse(words, others)
end

local NEEDED = "--ref r.py --solution s.py "

local function changed(line)
    local flags = assert(parse(NEEDED .. line))
    local plain = parse(NEEDED)
    local found = {}
    for name, value in pairs(flags) do
        if value ~= plain[name] then found[name] = value end
    end
    return found
end

local function refused(pattern, line, others)
    local flags, problem, code = parse(line, others)
    t.fails(pattern, flags, problem, code, "INVALID")
    t.eq(problem:find "\n", nil)
end

t.test("without flags beside the two that are needed", function()
    t.eq((parse(NEEDED)), { ref = "r.py", solution = "s.py", precision = "float32", no_ref = false, verbose = false,
        self_test = false, help = false })
end)

t.test("every flag, in both spellings", function()
    for flag, want in pairs {
        ["--inputs i.py"] = { inputs = "i.py" }, ["--baseline b.py"] = { baseline = "b.py" },
        ["--timing-method host_time"] = { timing_method = "host_time" },
        ["--timing-method cuda_event"] = { timing_method = "cuda_event" },
        ["--precision float16"] = { precision = "float16" }, ["--precision bfloat16"] = { precision = "bfloat16" },
        ["--backend hip"] = { backend = "hip" }, ["--num-correct-trials 1"] = { num_correct_trials = 1 },
        ["--num-perf-trials 20"] = { num_perf_trials = 20 },
    } do
        t.eq(changed(flag), want, flag)
        t.eq(changed((flag:gsub(" ", "="))), want, flag)
    end
    for flag, name in pairs { ["--no-ref"] = "no_ref", ["--verbose"] = "verbose", ["--self-test"] = "self_test",
        ["--help"] = "help", ["-h"] = "help" } do
        t.eq(changed(flag), { [name] = true }, flag)
    end
    for _, name in ipairs { "cuda", "triton", "tilelang", "cute", "hip" } do
        t.eq(changed("--backend " .. name), { backend = name })
    end
end)

t.test("the last one counts, a value may hold anything", function()
    t.eq(changed "--num-perf-trials 20 --num-perf-trials=30", { num_perf_trials = 30 })
    t.eq(bench_flags.parse { "--ref=a=b", "--solution", "dir with blanks/s.py" }.ref, "a=b")
    t.eq(bench_flags.parse({ "--ref=--x", "--solution", "-" }).solution, "-")
end)

t.test("the beginning of a name is enough, as with argparse", function()
    t.eq(changed "--num-c 3 --prec float16 --back=cute --verb", { num_correct_trials = 3, precision = "float16",
        backend = "cute", verbose = true })
    t.eq(parse("--re r --so s").solution, "s")
    refused("option '%-%-num' may be %-%-num%-correct%-trials or %-%-num%-perf%-trials$", NEEDED .. "--num 3")
    refused("'%-%-b' may be %-%-baseline or %-%-backend$", NEEDED .. "--b cuda")
    refused("unknown option '%-%-'", NEEDED .. "--")
end)

t.test("what is missing", function()
    refused("^option %-%-ref is needed, but for %-%-self%-test$", "")
    refused("^option %-%-solution is needed", "--ref r.py")
    refused("^option %-%-ref is needed", "--solution s.py --no-ref")
    t.eq(parse("--self-test").self_test, true)
    t.eq(parse("--help").help, true)
    refused("^option %-%-ref needs a value$", "--ref --solution s.py")
    refused("^option %-%-solution needs a value$", "--ref r.py --solution")
    refused("^option %-%-ref must name a file, got ''$", "--ref= --solution s.py")
end)

t.test("what is wrong", function()
    refused("^unknown option '%-%-num%-perf%-trails' %(did you mean '%-%-num%-perf%-trials'%?%)$",
        NEEDED .. "--num-perf-trails 3")
    refused("^unknown option '%-x'", NEEDED .. "-x")
    refused("^unexpected argument 'more'$", NEEDED .. "more")
    refused("^option %-%-precision must be one of float32, float16, bfloat16, got 'fp16'$",
        NEEDED .. "--precision fp16")
    refused("^option %-%-timing%-method must be one of cuda_event, host_time, got 'cupti'$",
        NEEDED .. "--timing-method cupti")
    refused("^option %-%-backend must be one of cuda, triton, tilelang, cute, hip, got 'pytorch'$",
        NEEDED .. "--backend pytorch")
    refused("^option %-%-num%-perf%-trials must be a whole number in digits, got 'many'$",
        NEEDED .. "--num-perf-trials many")
    for _, text in ipairs { "1.5", "1e1", "1e2", "0x10", "10.0", "ten", "--" } do
        for _, flag in ipairs { "--num-perf-trials=", "--num-correct-trials=" } do
            refused("must be a whole number in digits, got '", NEEDED .. flag .. text)
        end
    end
    t.eq(changed "--num-perf-trials=+010", { num_perf_trials = 10 })
    refused("must be at least 1, got '0'$", NEEDED .. "--num-perf-trials 0")
    refused("must be at least 1, got '%-3'$", NEEDED .. "--num-correct-trials -3")
    refused("must be at most 1000, got '1001'$", NEEDED .. "--num-correct-trials 1001")
    refused("^option %-%-no%-ref takes no value$", NEEDED .. "--no-ref=true")
    t.eq(exits.of_code "INVALID", 2)
end)

t.test("options of the host may stand among them, the evaluator's own go first", function()
    local host = { { name = "device", kind = "text" }, { name = "json", kind = "flag" },
        { name = "verbose", short = "v", kind = "flag" }, { name = "seed", kind = "integer" } }
    local flags, rest = parse("--device cuda:1 " .. NEEDED .. "--json --verbose --seed=7", host)
    t.eq(rest, { device = "cuda:1", json = true, seed = 7 })
    t.eq({ flags.ref, flags.verbose }, { "r.py", true })
    t.eq({ select(2, parse(NEEDED .. "-v", host)) }, { { verbose = true } })
    refused("unknown option '%-%-device'", NEEDED .. "--device cpu")
    refused("unknown option '%-%-dev'", NEEDED .. "--dev cpu", host)
    refused("%-%-seed must be a whole number", NEEDED .. "--seed x", host)
end)

-- Their meaning

local function overrides(line) return bench_flags.overrides(parse(NEEDED .. line)) end

t.test("what is not given changes nothing of a policy", function()
    t.eq(overrides "", { correctness = {}, timing = {} })
    t.eq(overrides "--verbose --backend cuda --precision float16", { correctness = {}, timing = {} })
end)

t.test("numbers become the policy's", function()
    t.eq(overrides "--num-correct-trials 2 --num-perf-trials 20 --no-ref --timing-method host_time",
        { correctness = { trials = 2 }, timing = { launches = 20, reference = false, timer = "wall" } })
    t.eq(overrides("--timing-method cuda_event").timing, { timer = "events" })
end)

t.test("a policy takes them, and the evaluator is asked so", function()
    local changed_policy = kernelbench:extend(overrides "--num-correct-trials 2 --num-perf-trials 20 --no-ref")
    local steps = plan.steps(changed_policy)
    t.eq({ #steps.check.seeds, steps.time.launches, steps.time.reference }, { 2, 20, false })
    t.eq(changed_policy.correctness.tolerance, kernelbench.correctness.tolerance)
end)

t.test("kernelbench.lua's own numbers are the evaluator's defaults", function()
    local steps = plan.steps(kernelbench)
    t.eq({ #steps.check.seeds, steps.time.launches, steps.time.timer, steps.time.reference, steps.time.warmup },
        { 5, 100, "events", true, 3 })
    t.eq({ kernelbench.correctness.tolerance.f32, kernelbench.correctness.tolerance.f16,
        kernelbench.correctness.tolerance.bf16 }, { 1e-4, 1e-2, 1e-2 })
end)

t.test("files and what is computed in", function()
    t.eq(bench_flags.lane(parse(NEEDED)), { reference = "r.py", solution = "s.py", dtype = "f32" })
    t.eq(bench_flags.lane(parse(NEEDED .. "--precision bfloat16 --backend cute --inputs i.py --baseline o.py")),
        { reference = "r.py", solution = "s.py", dtype = "bf16", backend = "cute", inputs = "i.py", original = "o.py" })
    t.eq(bench_flags.lane(parse(NEEDED .. "--precision float16")).dtype, "f16")
end)

t.test("help names every flag and the defaults that hold", function()
    local text = bench_flags.help(kernelbench)
    for _, name in ipairs { "ref", "solution", "inputs", "timing-method", "precision", "backend", "num-correct-trials",
        "num-perf-trials", "no-ref", "verbose", "self-test", "baseline", "help" } do
        t.match(text, "%-%-" .. name:gsub("%-", "%%-"))
    end
    t.match(text, "%-%-num%-correct%-trials=N[^\n]*\n?[^\n]*%(default 5%)")
    t.match(text, '%-%-timing%-method=TEXT[^\n]*\n?[^\n]*cuda_event, host_time %(default "cuda_event"%)')
    t.match(text, '%(default "float32"%)')
    t.match(bench_flags.help(kernelbench:extend { timing = { launches = 20 } }), "%(default 20%)")
    t.match(bench_flags.help(kernelbench:extend { timing = { timer = "cupti" } }), "cuda_event, host_time\n")
end)

t.test("--self-test", function()
    local passed, tests = bench_selftest.run()
    t.eq({ passed, #tests }, { true, 6 })
    for line in bench_selftest.text(tests):gmatch "[^\n]+" do t.match(line, "^Self%-test PASSED: ") end
    for _, test in ipairs(tests) do t.eq({ test.passed, test.problem }, { true }, test.name) end
    t.eq(bench_selftest.text { { name = "one", passed = false, problem = "why" } }, "Self-test FAILED: one: why\n")
end)
