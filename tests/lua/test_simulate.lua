-- What a policy keeps of synthetic noise and of a session's trials: the rates that are known for a rule, the same again
-- with the same seed, and a rule that would have decided otherwise.
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local program = require "program"
local replay_of = require "ako.replay"
local rules = require "ako.rules"
local scripted = require "scripted"
local session = require "ako.session"
local simulate = require "ako.simulate"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local PAIRS = { looks = { 12, 24, 48, 96 }, alpha = 0.05, threshold = 0.01, seconds = 4 }

local function by_medians(launches)
    return { timing = { launches = launches, alpha = 0.05, reference = false, statistic = "median" },
        accept = rules.faster_by(0.01) }
end

local function by_pairs(changes)
    local pairs_of = {}
    for name, value in pairs(PAIRS) do pairs_of[name] = value end
    for name, value in pairs(changes or {}) do pairs_of[name] = value end
    return { timing = { launches = 10, alpha = 0.05, reference = false, statistic = "median", pairs = pairs_of },
        accept = rules.paired() }
end

local function context(policy, opt)
    policy = scripted.policy(policy)
    return { policy = policy, opt = opt or {}, console = scripted.console(), host = {},
        hook = function(name, ...) return policy[name](...) end }
end

-- Noise -> the cells.
local function cells(policy, gains, trials, seed, opt)
    local by_noise = {}
    for _, row in ipairs(simulate.synthetic(context(policy, opt), gains, trials, seed or 1)) do
        by_noise[row.noise] = row.cells
    end
    return by_noise
end

local function between(value, low, high)
    t.ok(value >= low and value <= high, ("%g is not in %g..%g"):format(value, low, high))
end

t.test("two medians one after the other keep noise, and more launches do not help", function()
    local few, many = cells(by_medians(10), { 0 }, 500), cells(by_medians(100), { 0 }, 500)
    t.eq(few.quiet[1].false_keep, 0.0)
    between(few.drift[1].false_keep, 0.09, 0.17)
    between(few.shared[1].false_keep, 0.32, 0.44)
    between(few.noisy[1].false_keep, 0.37, 0.50)
    between(many.shared[1].false_keep, 0.32, 0.44)
    between(many.noisy[1].false_keep, 0.37, 0.50)
    t.eq(few.noisy[1].pairs, nil)
end)

t.test("pairs keep no noise and find what is there", function()
    local found = cells(by_pairs(), { -0.02, 0, 0.01, 0.02 }, 300)
    for _, noise in ipairs { "quiet", "drift", "shared", "noisy" } do t.eq(found[noise][1].false_keep, 0.0, noise) end
    t.eq({ found.quiet[2].keep, found.drift[2].keep }, { 0, 0 })
    between(found.shared[2].false_keep, 0, 0.01)
    between(found.noisy[2].false_keep, 0, 0.02)
    between(found.noisy[2].pairs, 78, 88)
    between(found.shared[3].kept, 0.64, 0.80)
    between(found.shared[3].pairs, 40, 56)
    t.eq({ found.quiet[4].missed_win, found.shared[4].missed_win }, { 0.0, 0.0 })
    between(found.noisy[4].missed_win, 0, 0.04)
    t.eq(found.quiet[4].pairs, 12.0)
end)

t.test("a cell counts every candidate once", function()
    local found = cells(by_pairs(), { 0.01 }, 50)
    for _, row in pairs(found) do
        t.eq(row[1].keep + row[1].revert + row[1].inconclusive, 50)
        t.eq(row[1].kept, row[1].keep / 50)
        t.eq(row[1].false_keep, nil)
    end
    t.ok(found.noisy[1].inconclusive > 0, "some are open at the last look")
end)

t.test("the same seed gives the same, another one others; a gain changes nothing else", function()
    local once = cells(by_medians(10), { 0, 0.01 }, 100, 7)
    t.eq(cells(by_medians(10), { 0, 0.01 }, 100, 7), once)
    t.eq(cells(by_medians(10), { 0.01 }, 100, 7).noisy[1].keep, once.noisy[2].keep)
    t.ok(cells(by_medians(10), { 0, 0.01 }, 100, 8).noisy[1].keep ~= once.noisy[1].keep)
    t.ok(once.noisy[2].keep >= once.noisy[1].keep)
end)

t.test("the plan's numbers and the policy's options count", function()
    local least = cells(by_pairs { threshold = "least" }, { 0.02 }, 20, 1, { least = 0.05 })
    t.eq({ least.quiet[1].keep, least.quiet[1].revert }, { 0, 20 })
    t.eq(cells(by_pairs { looks = { 20 } }, { 0 }, 20).noisy[1].pairs, 20.0)
    local lenient = by_medians(10)
    lenient.accept = rules.faster_by "least"
    t.eq(cells(lenient, { 0 }, 20, 1, { least = -0.5 }).quiet[1].keep, 20)
    t.err("no number 'least'", cells, by_pairs { threshold = "least" }, { 0 }, 1)
end)

t.test("a machine's floor raises the threshold where that is asked for", function()
    local changes = { control = 48, floor_factor = 2 }
    local function rows(with_floor)
        return simulate.synthetic(context(by_pairs(changes)), { 0.015 }, 100, 1, with_floor)
    end
    local plain, raised = rows(false), rows(true)
    t.eq(plain[1].cells[1].keep, 100)
    t.eq(raised[1].cells[1].keep, 100) -- a quiet machine has a floor that does not matter
    between(plain[4].cells[1].kept, 0.75, 0.95)
    between(raised[4].cells[1].kept, 0, 0.15)
    changes.control = 0
    t.eq(rows(true), rows(false))
end)

t.test("accept sees a record as a run would give it", function()
    local seen, seen_best
    local policy = { timing = { launches = 20, alpha = 0.05, reference = true, statistic = "median" },
        accept = function(trial, best) seen, seen_best = trial, best; return "inconclusive", "" end }
    local found = cells(policy, { 0.5 }, 3)
    t.eq(found.quiet[1].inconclusive, 3)
    t.eq({ seen.status, #seen.workloads, seen.time_ns.n, seen_best.verdict }, { "PASSED", 1, 20, "keep" })
    t.ok(seen.speedup.best > 1.5 and seen.speedup.reference > 3 and seen.interval.best[1] > 1.5)
    t.ok(seen.machine_code ~= seen_best.machine_code)
end)

t.test("an answer that is none is the policy's mistake", function()
    local policy = by_medians(10)
    policy.accept = function() return "maybe" end
    t.err("hook 'accept' must return 'keep', 'revert' or 'inconclusive'", cells, policy, { 0 }, 1)
end)

local function said(ctx)
    t.eq(verbs.simulate(ctx), 0)
    return ctx.console.stdout
end

t.test("simulate prints a table, or one object", function()
    local ctx = context(by_pairs())
    ctx.verb_options = { trials = 20, gains = "0,2.5" }
    ctx.host.seed = 3
    local lines = {}
    for line in said(ctx):gmatch("[^\n]+") do lines[#lines + 1] = line end
    t.eq(#lines, 7)
    t.eq(lines[1], "policy plain, seed 3: kept of 20 candidates with this true gain, in % (pairs, in the mean)")
    t.eq(lines[2], "gain         0 %    2.5 %")
    t.eq(lines[3], "quiet     0 (12) 100 (12)")
    ctx = context(by_pairs())
    ctx.verb_options, ctx.host = { trials = 20, gains = "0,2.5" }, { seed = 3, json = true }
    local object = json.decode(said(ctx))
    t.eq({ object.v, object.policy, object.trials, object.seed, #object.noise }, { 1, "plain", 20, 3, 4 })
    local quiet = object.noise[1]
    t.eq({ quiet.noise, quiet.cells[2].gain, quiet.cells[2].keep }, { "quiet", 0.025, 20 })
end)

t.test("gains that are none are refused", function()
    for _, gains in ipairs { "", "1,", "a", "100", "nan", "1 2", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1" } do
        local ctx = context(by_pairs())
        ctx.verb_options = { trials = 1, gains = gains }
        t.eq(verbs.simulate(ctx), 2)
        t.match(ctx.console.stderr, "^ako%-lua: %-%-gains: ")
    end
end)

-- Replays

-- A workspace with a session "s" whose trials were judged at 1 %.
local function recorded(scripts, policy)
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, scripts)
    local ctx = scripted.context(folder, { session = "s", seed = 1, policy = policy },
        { candidates = folder .. "/candidates" })
    t.eq(verbs.run(ctx), 0)
    return folder
end

local function replay(folder, changes, host)
    local ctx = context(changes)
    ctx.host = { workspace = folder, session = "s" }
    for name, value in pairs(host or {}) do ctx.host[name] = value end
    return said(ctx)
end

local SCRIPTS = { ["1_small.c"] = "time=97", ["2_same.c"] = "time=97 hash=97", ["3_more.c"] = "time=93",
    ["4_wrong.c"] = "time=10 status=INCORRECT_NUMERICAL reason=off" }

t.test("the same rule says the same again", function()
    local folder = recorded(SCRIPTS)
    local text = replay(folder)
    t.match(text, "^session s: kept then %(policy plain%): 1 3; kept by plain: 1 3\nbest: trial 3 ")
    t.eq(select(2, text:gsub("\n", "")), 2)
end)

t.test("another rule has other bests to compare with", function()
    local folder = recorded(SCRIPTS)
    local stricter = { name = "stricter", accept = rules.faster_by(0.05) }
    local text = replay(folder, stricter)
    t.match(text, "kept then %(policy plain%): 1 3; kept by stricter: 3\n")
    t.match(text, "trial 1 %(1_small.c%): revert %(3.1 %% faster, [^\n]*more than 5 %%%), then keep %(3.1 %% faster")
    local object = json.decode(replay(folder, stricter, { json = true }))
    local trials = object.trials
    t.eq(#trials, 5)
    t.match(trials[4].reason, "7.5 %% faster") -- over the baseline; over trial 1 it was 4.3
    t.match(trials[4].recorded.reason, "4.3 %% faster")
    -- A twin of what is no best now was never timed.
    t.eq({ trials[3].verdict, trials[5].verdict }, { "inconclusive", "revert" })
    t.eq({ object.best.trial, object.recorded_policy, object.session }, { 3, "plain", "s" })
end)

-- A history of a baseline and one candidate of which 24 pairs were taken, with samples; `share`: what it took.
local function with_pairs(share)
    local figures = { median = 1000, min = 1000, max = 1000, mean = 1000.0, n = 10, ci = { 1000, 1000 } }
    local function record(number, verdict)
        return { trial = number, status = "PASSED", verdict = verdict, reason = "then", speedup = {}, interval = {},
            machine_code = tostring(number), time_ns = figures,
            workloads = { { id = "w", status = "PASSED", weight = 1, time_ns = figures } } }
    end
    local candidate = record(1, "revert")
    candidate.paired = { verdict = "revert", reason = "by pairs, then", gain = 0, pairs = 24 }
    local kept = { candidate_ns = {}, incumbent_ns = {}, candidate_mhz = json.null, incumbent_mhz = json.null }
    for i = 1, 24 do kept.candidate_ns[i], kept.incumbent_ns[i] = math.floor(100000 * share), 100000 end
    local samples = { w = { paired = kept } }
    return { record(0, "keep"), candidate }, function(given) return given.paired and samples end
end

t.test("pairs are decided anew by the policy's numbers", function()
    local history, samples = with_pairs(0.98)
    local function last(changes, given)
        local replayed = replay_of.trials(context(by_pairs(changes)), history, given)
        return replayed.trials[2]
    end
    local found = last({}, samples)
    t.eq({ found.verdict, found.reason }, { "keep", "2.04 % faster, interval 2.04..2.04 %, 12 pairs" })
    t.eq({ found.recorded.verdict, found.recorded.reason }, { "revert", "then" })
    found = last({ threshold = 0.05 }, samples)
    t.eq({ found.verdict, found.reason },
        { "revert", "2.04 % faster, interval 2.04..2.04 %, 12 pairs, threshold 5.3 %" })
    found = last({ looks = { 48 } }, samples)
    t.eq({ found.verdict, found.reason:match("%d+ pairs") }, { "inconclusive", "24 pairs" })
    found = last({}, nil)
    t.eq({ found.verdict, found.reason }, { "revert", "by pairs, then" })
    history[1].control = { floor = 0.02 }
    found = last({ floor_factor = 2 }, samples)
    t.eq(found.verdict, "revert")
    t.match(found.reason, "threshold 4.1 %%; threshold raised from 1 %% by the machine's floor")
end)

t.test("a policy without pairs sees figures alone", function()
    local history, samples = with_pairs(0.5)
    history[2].speedup.best = 2.0
    local replayed = replay_of.trials(context(by_medians(10)), history, samples)
    t.eq({ replayed.trials[2].verdict, replayed.trials[2].reason:match("^[^,]*") }, { "revert", "0.0 % faster" })
end)

t.test("pairs against another best do not count", function()
    local history, samples = with_pairs(0.98)
    table.insert(history, 2, with_pairs(0.98)[1])
    history[2] = { trial = 5, status = "PASSED", verdict = "keep", reason = "then", speedup = {}, interval = {},
        workloads = history[1].workloads, time_ns = history[1].time_ns }
    local replayed = replay_of.trials(context(by_pairs()), history, samples)
    t.eq({ replayed.trials[2].verdict, replayed.trials[3].verdict }, { "inconclusive", "inconclusive" })
    t.match(replayed.trials[3].reason, "no pairs")
end)

t.test("a replay changes nothing", function()
    local folder = recorded(SCRIPTS)
    local repo = assert(git.open(folder))
    local before, refs = session.read(repo, "s"), repo:refs "refs/*"
    replay(folder, { accept = rules.faster_by(0.5) })
    t.eq(session.read(repo, "s"), before)
    t.eq(repo:refs "refs/*", refs)
end)

t.test("samples that nobody wrote so are said in one line, with their file", function()
    local policy = by_pairs()
    policy.timing.warmup, policy.timing.flush, policy.timing.timer = 1, true, "auto"
    local folder = recorded(SCRIPTS, policy)
    local file = folder .. "/.git/ako/s/trials/1/samples.json"
    local whole = assert(fs.read(file))
    local function says(text, wanted)
        assert(fs.write(file, text))
        local ctx = context(by_pairs())
        ctx.host = { workspace = folder, session = "s" }
        t.eq(verbs.simulate(ctx), 125, text)
        t.match(ctx.console.stderr, "^ako%-lua: [^\n]*/trials/1/samples.json: damaged: [^\n]*\n$")
        t.match(ctx.console.stderr, wanted)
    end
    local function column(candidate, incumbent)
        return ('{"N=64":{"paired":{"candidate_ns":%s,"incumbent_ns":%s}}}'):format(candidate, incumbent)
    end
    says("", "damaged: ")
    says("[1, 2", "damaged: ")
    says("7", "it is a number instead of an object")
    says('{"N=64":7}', "'N=64' is a number instead of an object")
    says('{"N=64":{"paired":[1]}}', "'N=64.paired.candidate_ns' is missing")
    says('{"N=64":{"paired":"x"}}', "'N=64.paired' is a string instead of an object")
    says(column("[0, 5]", "[5, 5]"), "candidate_ns%[1%]' is 0, less than 1")
    says(column("[5, 5]", "[5, -5]"), "incumbent_ns%[2%]' is %-5, less than 1")
    says(column("[5, 5]", "[5]"), "'N=64.paired.incumbent_ns' has 1 numbers instead of 2")
    says(column("[]", "[]"), "'N=64.paired.candidate_ns' is empty")
    says(column('["5"]', "[5]"), "candidate_ns%[1%]' is a string instead of a whole number")
    says(column("[5.5]", "[5]"), "candidate_ns%[1%]' is a number with a fraction")
    says(column('{"a":5}', "[5]"), "candidate_ns' is an object instead of a list")
    says(column("[5]", '[5],"candidate_mhz":[1,2]'), "candidate_mhz' has 2 numbers instead of 1")
    says(column("[5]", '[5],"gain":"x"'), "gain' is a string")
    assert(fs.write(file, whole))
    t.match(replay(folder, by_pairs()), "^session s: kept then %(policy plain%): 1 3; kept by plain: 1 3\n")
end)

-- Calls f(key) once for each value in a JSON tree, which is `other` meanwhile.
local function with_each_changed(tree, other, f)
    for key, value in pairs(tree) do
        tree[key] = other
        f(key)
        tree[key] = value
        if type(value) == "table" then with_each_changed(value, other, f) end
    end
end

local function damaged_in_one_line(verb, folder, what)
    local ctx = context(by_pairs())
    ctx.host = { workspace = folder, session = "s" }
    local code = verbs[verb](ctx) -- a traceback would be raised
    t.ok(code == 0 or code == 125, what)
    if code == 125 then t.match(ctx.console.stderr, "^ako%-lua: [^\n]*json[l:][^\n]*\n$") end
end

-- A recorded session of pairs: its folder, the lines of its journal and the samples of trial 1, the lists cut short.
local function recorded_pairs()
    local policy = by_pairs()
    policy.timing.warmup, policy.timing.flush, policy.timing.timer = 1, true, "auto"
    local folder, lines = recorded({ ["1.c"] = "time=97", ["2.c"] = "time=93" }, policy), {}
    for line in fs.read(folder .. "/.git/ako/s/journal.jsonl"):gmatch("[^\n]+") do lines[#lines + 1] = line end
    local samples = json.decode(fs.read(folder .. "/.git/ako/s/trials/1/samples.json"))
    for _, list in pairs(samples["N=64"].paired) do
        if type(list) == "table" then
            for i = #list, 3, -1 do list[i] = nil end
        end
    end
    return folder, lines, samples
end

local function stumbles_over_nothing(other)
    local folder, lines, samples = recorded_pairs()
    local told = " = " .. json.encode(other)
    local file = folder .. "/.git/ako/s/trials/1/samples.json"
    with_each_changed(samples, other, function(key)
        assert(fs.write(file, json.encode(samples)))
        damaged_in_one_line("simulate", folder, key .. told)
    end)
    assert(fs.remove_tree(file))
    file = folder .. "/.git/ako/s/journal.jsonl"
    for i, line in ipairs(lines) do
        local object, changed = json.decode(line), table.move(lines, 1, #lines, 1, {})
        with_each_changed(object, other, function(key)
            changed[i] = json.encode(object)
            assert(fs.write(file, table.concat(changed, "\n") .. "\n"))
            for _, verb in ipairs { "status", "simulate" } do damaged_in_one_line(verb, folder, key .. told) end
        end)
    end
end

for _, other in ipairs { json.null, "x", -1, 0, 0.5, 1e300, true, json.array(), { a = 1 }, { 1, 2, 3 } } do
    t.test("any value of a journal or of samples may be " .. json.encode(other), function()
        stumbles_over_nothing(other)
    end)
end

t.test("a session that is not there is said in one line", function()
    local ctx = context()
    ctx.host = { workspace = recorded(SCRIPTS), session = "other" }
    t.eq(verbs.simulate(ctx), 2)
    t.eq(ctx.console.stderr, "ako-lua: there is no session 'other' here\n")
end)

t.test("the program: no task, no workspace, no device", function()
    local result = program.run("policies/kernelbench.lua", "simulate", "--trials=20", "--gains=0,5", "--seed=1")
    t.eq({ result.code, result.stderr }, { 0, "" })
    t.match(result.stdout, "^policy kernelbench, seed 1: kept of 20 candidates")
    t.match(result.stdout, "\nquiet +0[^\n]* 100")
    t.eq(program.run("policies/kernelbench.lua", "simulate", "--trials=0").code, 2)
end)

t.test("Ctrl-C ends it, also between many short calls of a hook", function()
    local result = program.shell(
        "timeout --foreground -s INT 1 $ako policies/kernelbench.lua simulate --trials=100000")
    t.eq({ result.code, result.stderr:match("interrupted") }, { 124, "interrupted" })
end)
