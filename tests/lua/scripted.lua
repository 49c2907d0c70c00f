-- An evaluator that reads its answers from the candidate's source: one line
--   // script: time=100 hash=a status=PASSED reason=... strangers=1,0 throttle=sw_power_cap unstable=1
-- with time in us (of several workloads: 100,30), and the strangers on the device at its first measurement, its second
-- and so on; and what a loop test needs round it: a task in a folder, a console that keeps what is said.

local fs = require "ako.fs"
local json = require "ako.json"
local t = require "ako.tap"

local scripted = {}

local TASK = [[
return {
  name = "scale",
  tensors = { x = { "f32", { "N" } }, y = { "f32", { "N" }, role = "output" } },
  workloads = { { N = 64 } },
  reference = { "reference.c", entry = "scale", args = { "x", "y", "N" } },
  solution = { "solution/kernel.c" },
}
]]

--- A source that scripts its own result.
function scripted.source(script) return "// script: " .. script .. "\nvoid scale(void);\n" end

--- Makes that the solution of such a folder.
function scripted.edit(folder, script)
    assert(fs.write(folder .. "/solution/kernel.c", scripted.source(script)))
end

--- The text of a folder's solution.
function scripted.present(folder) return fs.read(folder .. "/solution/kernel.c") end

--- A folder with a task whose solution is scripted so.
function scripted.task_folder(script)
    local folder = t.tmpdir()
    assert(fs.mkdirs(folder .. "/solution"))
    assert(fs.mkdirs(folder .. "/candidates"))
    assert(fs.write(folder .. "/task.lua", TASK))
    assert(fs.write(folder .. "/reference.c", "void scale(void);\n"))
    assert(fs.write(folder .. "/solution/kernel.c", scripted.source(script)))
    return folder
end

function scripted.candidates(folder, scripts)
    for name, script in pairs(scripts) do
        assert(fs.write(folder .. "/candidates/" .. name, scripted.source(script)))
    end
end

local function read_line(script, line)
    for key, value in (line or ""):gmatch("(%w+)=(%S+)") do script[key] = value end
end

-- The script of a unit; a line "// with BLOCK=128: time=50" holds where that is defined.
local function read_script(unit)
    local text, script = unit.sources[1].text, {}
    read_line(script, text:match("// script: ([^\n]*)"))
    for i = 1, #(unit.defines or {}), 2 do
        local point = unit.defines[i] .. "=" .. unit.defines[i + 1]
        read_line(script, text:match("// with " .. point .. ": ([^\n]*)"))
    end
    return script
end

local function time_of(us)
    local ns = math.floor(us * 1000)
    return { timer = "wall", n = 100, samples_ns = { ns, ns }, min = ns, max = ns, mean = ns + 0.5, std = 1.0,
        median = ns, p95 = ns, ci = { ns - ns // 1000, ns + ns // 1000 } }
end

-- The n-th of numbers with commas between; the last one when there are fewer.
local function nth(list, n)
    local found
    for number in list:gmatch("%d+") do
        found, n = math.tointeger(number), n - 1
        if n == 0 then break end
    end
    return found
end

-- The time for the i-th workload, in us.
local function time_at(script, i)
    local found
    for number in script.time:gmatch("[^,]+") do
        found, i = tonumber(number), i - 1
        if i == 0 then break end
    end
    return found
end

local function workload_of(script, id, i)
    local workload = { id = id, status = "PASSED", max_abs = 0.0, max_rel = 0.0, mismatch = 0, count = 64, ratio = 1.0,
        time = time_of(time_at(script, i)), reference = time_of(200) }
    workload.time.throttle = script.throttle
    return workload
end

local function result_of(script, steps, n, ids)
    local status = script.status or (script.time and "PASSED" or "COMPILE_ERROR")
    local hash = status == "COMPILE_ERROR" and "" or script.hash or script.time
    local build = { hash = hash, log = "built", registers = 8, shared = 0, spill = 0 }
    local result = { status = status, step = steps[#steps], reason = script.reason or "", code = "", build = build,
        workloads = {}, costs_ns = { build = 1000000, total = 2000000 } }
    if status == "PASSED" and steps[#steps] == "time" then
        for i, id in ipairs(ids) do result.workloads[i] = workload_of(script, id, i) end
        result.tenants = { before = 0, after = nth(script.strangers or "0", n), note = "" }
        result.timed_at = { n * 1000, n * 1000 + 500 }
        if script.unstable then result.paired = { verdict = "unstable", reason = "clocks differ" } end
    end
    return result
end

-- What pairs of two scripts would give for the k-th workload, a tenth of a per cent sure.
local function columns_of(script, other, numbers, k)
    local columns = { candidate_ns = {}, incumbent_ns = {}, candidate_mhz = {}, incumbent_mhz = {} }
    local mhz, mine, its = tonumber(script.mhz or "0"), time_at(script, k), time_at(other, k)
    for i = 1, numbers.looks[1] do
        columns.candidate_ns[i], columns.incumbent_ns[i] = mine * 1000, its * 1000
        columns.candidate_mhz[i], columns.incumbent_mhz[i] = mhz, mhz
    end
    local gain = 1 - mine / its
    columns.n, columns.gain, columns.interval = numbers.looks[1], gain, { gain - 0.001, gain + 0.001 }
    return columns, mine / its
end

-- Fills in the workloads' pairs and returns what they say together.
local function pair(workloads, script, other, numbers)
    local product = 1
    for k, workload in ipairs(workloads) do
        local ratio
        workload.paired, ratio = columns_of(script, other, numbers, k)
        product = product * ratio
    end
    local gain = 1 - product ^ (1 / #workloads)
    local verdict = gain - 0.001 > numbers.threshold and "keep" or "revert"
    return { verdict = verdict, look = 0, pairs = numbers.looks[1], dropped = 0, gain = gain,
        interval = { gain - 0.001, gain + 0.001 }, threshold = numbers.threshold, order_effect = false,
        clock_coupled = false, correlated = false, lag1 = 0.0, timer = "wall",
        reason = ("%.2f %% %s"):format(math.abs(gain) * 100, gain >= 0 and "faster" or "slower") }
end

--- The answer to the attack on a task on which nothing is weak; `changes` replace members of its workload.
function scripted.attacked(changes)
    local workload = { id = "N=64", holds = {}, again = {}, attacks = {},
        outputs = { { tensor = "y", dtype = "f32", rms = 0.5, mean = 0.0, min = -1.0, max = 1.0, nan = 0, inf = 0 } },
        inputs = { { tensor = "x", init = "drawn", fresh = true, changes = true } } }
    for name, value in pairs(changes or {}) do workload[name] = value end
    return { status = "PASSED", reason = "", code = "", workloads = { workload } }
end

-- What a screening of such scripts answers: equal times are the same, three times slower is hopeless, the fastest
-- `keep` of the others stay.
local function screened(scripts, incumbent, numbers)
    local answer, live, seen = { status = "PASSED", candidates = {} }, {}, { [incumbent.time] = -1 }
    for i, script in ipairs(scripts) do
        local entry = result_of(script, { "build", "check" }, 1, {})
        entry.left, entry.rounds, entry.speedup, entry.interval, entry.same_as = "", 0, json.null, json.null, json.null
        if entry.status ~= "PASSED" then
            entry.left = "failed"
        elseif seen[script.time] then
            entry.left, entry.same_as = "same", seen[script.time]
        else
            seen[script.time] = i - 1
            entry.speedup = tonumber(incumbent.time) / tonumber(script.time)
            if entry.speedup < 1 / 3 then
                entry.left, entry.reason = "hopeless", "far slower at its first launches"
            else
                entry.rounds, live[#live + 1] = numbers.rounds[#numbers.rounds], entry
            end
        end
        answer.candidates[i] = entry
    end
    table.sort(live, function(a, b) return a.speedup > b.speedup end)
    for i = numbers.keep + 1, #live do live[i].left, live[i].rounds = "slower", numbers.rounds[1] end
    return answer
end

--- A function for ctx.start_evaluator, and the list of requests that its evaluators will have had: { steps, script }.
--- on_trial(script, count) may return nil, message, code to fail in the evaluator's stead; on_screen(scripts, count),
--- that or an answer of its own.
function scripted.evaluator(on_trial, on_screen)
    local requests, measured = { starts = 0 }, {}
    local function start()
        requests.starts = requests.starts + 1
        local evaluator = { place = "cpu", versions = {},
            device = { id = "cpu", name = "Scripted CPU", uuid = "CPU-0", arch = "none", place = "cpu" } }
        local ids = { "N=64" }
        function evaluator.task(_, task)
            ids = {}
            for i, workload in ipairs(task.workloads) do ids[i] = workload.id end
            return {}
        end
        function evaluator.close() end
        function evaluator.attack() return scripted.attacked() end
        function evaluator.trial(_, unit, steps, numbers, incumbent)
            local script = read_script(unit)
            requests[#requests + 1] = { steps = table.concat(steps, " "), script = script, numbers = numbers }
            if on_trial then
                local passed, problem, code = on_trial(script, #requests)
                if passed == nil and problem then return nil, problem, code end
            end
            local text = unit.sources[1].text
            if steps[#steps] == "time" then measured[text] = (measured[text] or 0) + 1 end
            local result = result_of(script, steps, measured[text], ids)
            if incumbent and result.workloads[1] and not result.paired then
                local other = read_script(incumbent)
                requests[#requests].incumbent, requests[#requests].pairs = other, numbers.time.pairs
                result.paired = pair(result.workloads, script, other, numbers.time.pairs)
            end
            return result
        end
        function evaluator.screen(_, units, incumbent, numbers)
            local scripts = {}
            for i, unit in ipairs(units) do scripts[i] = read_script(unit) end
            requests[#requests + 1] = { steps = "screen", scripts = scripts, screen = numbers.time.screen,
                script = read_script(incumbent) }
            if on_screen then
                local answer, problem, code = on_screen(scripts, #requests)
                if answer or problem then return answer, problem, code end
            end
            return screened(scripts, requests[#requests].script, numbers.time.screen)
        end
        return evaluator
    end
    return start, requests
end

--- A console that keeps: .stdout, .stderr.
function scripted.console()
    local kept = { stdout = "", stderr = "" }
    function kept.out(text) kept.stdout = kept.stdout .. text; return true end
    function kept.err(text) kept.stderr = kept.stderr .. text; return true end
    function kept.is_terminal() return false end
    return kept
end

--- A policy with kernelbench's numbers and plain rules; `changes` replace members.
function scripted.policy(changes)
    local rules = require "ako.rules"
    local policy = { name = "plain", description = "for tests",
        correctness = { trials = 2, seed = 1, predicate = "allclose_ref", tolerance = { f32 = 1e-4 } },
        timing = { warmup = 1, launches = 10, flush = true, timer = "auto", alpha = 0.05, reference = true,
            statistic = "mean" },
        budget = { build = 10, check = 10, time = 10 },
        accept = rules.all(rules.faster_by(0.01), rules.intervals_apart("revert")) }
    for name, value in pairs(changes or {}) do policy[name] = value end
    return policy
end

--- A context for ako.verbs in a task folder.
function scripted.context(folder, host, verb_options)
    local start, requests = scripted.evaluator(host and host.on_trial, host and host.on_screen)
    local ctx = { policy = scripted.policy(host and host.policy), opt = {}, verb_options = verb_options or {},
        host = { workspace = folder }, home = folder, console = scripted.console(), start_evaluator = start }
    for name, value in pairs(host or {}) do ctx.host[name] = value end
    function ctx.hook(name, ...)
        local hook = ctx.policy
        for part in name:gmatch("[^.]+") do hook = hook[part] end
        return hook(...)
    end
    return ctx, requests
end

--- The log that scripted.logging_context's policy renders of a history.
function scripted.log_of(history)
    local parts = {}
    for i, record in ipairs(history) do
        parts[i] = ("%d %s %s: %s\n"):format(record.trial, record.status, record.verdict, record.reason)
    end
    return table.concat(parts) .. "end\n"
end

--- The same as scripted.context, with a policy that renders LOG.md, takes proposals until one changes nothing, and ends
--- with a commit and a tag.
function scripted.logging_context(folder, host, verb_options)
    local changed = { policy = { budget = { build = 10, check = 10, time = 10, propose = 10, no_ops = 1 },
        git = { final = function() return "[final] the best" end,
            tag = function(run) return "best/" .. run.session end },
        logs = function(run) return { ["LOG.md"] = scripted.log_of(run.history) } end } }
    for name, value in pairs(host or {}) do changed[name] = value end
    return scripted.context(folder, changed, verb_options)
end

return scripted
