-- Measurements that others disturb: marked, repeated, given up; and what is only worth a remark.
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local quiet = require "ako.quiet"
local scripted = require "scripted"
local session = require "ako.session"
local t = require "ako.tap"
local verbs = require "ako.verbs"

local function history_of(folder)
    return session.newest({ repo = assert(git.open(folder)), folder = fs.absolute(folder) }).history
end

-- `run` over candidates with these scripts and changes to the policy's timing: code, records, requests, console.
local function run(scripts, timing)
    local folder = scripted.task_folder "time=100"
    scripted.candidates(folder, scripts)
    local changed = scripted.policy().timing
    for name, value in pairs(timing or {}) do changed[name] = value end
    local ctx, requests = scripted.context(folder, { policy = { timing = changed } },
        { candidates = folder .. "/candidates" })
    local code = verbs.run(ctx)
    return code, history_of(folder), requests, ctx.console
end

local function measurements(requests, time)
    local n = 0
    for _, request in ipairs(requests) do
        if request.steps == "build check time" and request.script.time == time then n = n + 1 end
    end
    return n
end

t.test("a stranger who leaves costs a repetition", function()
    local code, history, requests, console = run({ ["a.c"] = "time=50 strangers=1,0" }, { repeats = 1 })
    t.eq(code, 0)
    local record = history[2]
    t.eq(record.verdict, "keep")
    t.eq(record.status, "PASSED")
    t.eq(record.disturbed, "a process of somebody else on the device after the timed calls")
    t.eq(record.repeats, 1)
    t.eq(measurements(requests, "50"), 3) -- and the verification
    t.match(console.stderr, "a process of somebody else on the device after the timed calls: measured again\n")
    t.eq(history[1].disturbed, nil)
    t.eq(history[1].timed_at, { 1000, 1500 })
    t.eq(record.timed_at, { 2000, 2500 })
end)

t.test("one who stays makes it inconclusive, and the best is back", function()
    local folder = scripted.task_folder "time=100"
    local timing = scripted.policy().timing
    timing.repeats = 2
    local function try(script)
        if script then fs.write(folder .. "/solution/kernel.c", scripted.source(script)) end
        local ctx, requests = scripted.context(folder, { policy = { timing = timing } })
        return verbs.try(ctx), requests, ctx.console.stdout
    end
    t.eq(try(), 0)
    local code, requests, text = try "time=50 strangers=3"
    t.eq(code, 125)
    t.eq(measurements(requests, "50"), 3)
    t.match(text, "inconclusive: 3 processes of others on the device after the timed calls, also when measured again")
    local record = history_of(folder)[2]
    t.eq(record.status, "UNSTABLE")
    t.eq(record.code, "M7")
    t.eq(record.verdict, "inconclusive")
    t.eq(record.repeats, 2)
    t.eq(record.time_ns.median, 50000) -- evidence, no verdict
end)

t.test("in a run it costs its own trial alone", function()
    local code, history, requests = run({ ["a.c"] = "time=50 strangers=1", ["b.c"] = "time=80" })
    t.eq(code, 0)
    t.eq(history[2].verdict .. history[2].status, "inconclusiveUNSTABLE")
    t.eq(history[2].repeats, nil)
    t.eq(measurements(requests, "50"), 1)
    t.eq(history[3].verdict, "keep")
end)

t.test("unstable pairs are repeated and given up likewise", function()
    local _, history, requests = run({ ["a.c"] = "time=50 unstable=1" }, { repeats = 1 })
    t.eq(measurements(requests, "50"), 2)
    t.eq(history[2].status, "UNSTABLE")
    t.eq(history[2].code, "M7")
    t.eq(history[2].reason, "clocks differ, also when measured again")
    t.eq(history[2].verdict, "inconclusive")
end)

t.test("a policy that shares its device notes strangers and goes on", function()
    local _, history, requests = run({ ["a.c"] = "time=50 strangers=1" }, { repeats = 1, tenants = "note" })
    t.eq(history[2].verdict, "keep")
    t.match(history[2].disturbed, "^a process of somebody else")
    t.eq(measurements(requests, "50"), 2) -- and the verification
end)

t.test("throttling is a mark and no more; a candidate that fails is not repeated", function()
    local _, history, requests = run({ ["a.c"] = "time=50 throttle=sw_thermal_slowdown",
        ["b.c"] = "time=10 status=RUNTIME_ERROR strangers=1" }, { repeats = 1 })
    t.eq(history[2].verdict, "keep")
    t.eq(history[2].disturbed, "throttled: sw_thermal_slowdown")
    t.eq(history[2].repeats, nil)
    t.eq(history[3].status, "RUNTIME_ERROR")
    t.eq(measurements(requests, "10"), 0) -- it fails in the build request already
end)

t.test("a screening beside strangers is repeated; beside those who stay, each candidate is tried for itself", function()
    for _, staying in ipairs { false, true } do
        local folder = scripted.task_folder "time=100"
        scripted.candidates(folder, { ["a.c"] = "time=50", ["b.c"] = "time=80" })
        local timing, screenings = scripted.policy().timing, 0
        timing.repeats = 1
        timing.screen = { rounds = { 2 }, hopeless = 3, finalists = 1, most_finalists = 1, least = 2 }
        local function on_screen()
            screenings = screenings + 1
            if staying or screenings == 1 then
                return { status = "PASSED", tenants = { before = 2, after = 2, note = "" }, candidates = {} }
            end
        end
        local ctx = scripted.context(folder, { policy = { timing = timing }, on_screen = on_screen },
            { candidates = folder .. "/candidates" })
        t.eq(verbs.run(ctx), 0)
        t.eq(screenings, 2)
        local said = "2 processes of others on the device before and after the timed calls"
        t.match(ctx.console.stderr, said .. ": measured again\n")
        t.eq(ctx.console.stderr:find("failed: " .. said, 1, true) ~= nil, staying)
        t.eq(#history_of(folder), 3)
    end
end)

-- Results as the evaluator gives them

local function result(tenants, time, paired)
    return { status = "PASSED", tenants = tenants, workloads = { { time = time, paired = paired } } }
end

t.test("strangers: before, after, nobody, unknown", function()
    local function text(before, after) return quiet.strangers(result { before = before, after = after, note = "" }) end
    t.eq(text(1, 1), "a process of somebody else on the device before and after the timed calls")
    t.eq(text(2, 0), "2 processes of others on the device before the timed calls")
    t.eq(text(0, 1), "a process of somebody else on the device after the timed calls")
    t.eq(text(nil, 1), "a process of somebody else on the device after the timed calls")
    t.eq(text(0, 0), nil)
    t.eq(text(nil, nil), nil)
    t.eq(quiet.strangers { status = "PASSED" }, nil)
    local unknown = { before = json.null, after = 2, note = "none listed" }
    t.eq(quiet.tenants(result(unknown)), { after = 2, note = "none listed" })
    t.eq(quiet.tenants { status = "PASSED" }, nil)
end)

t.test("an untrusted time beside strangers is theirs; another failure is the candidate's", function()
    local given = result { before = 1, after = 0 }
    for status, disturbed in pairs { PASSED = true, UNTRUSTED_TIMING = true, TIMEOUT = false, REWARD_HACK = false } do
        given.status = status
        t.eq(quiet.disturbance(given, false) ~= nil, disturbed, status)
    end
    t.eq(quiet.disturbance(given, true), nil)
end)

t.test("remarks: throttling of any series, a clock beyond the policy's share", function()
    local time = { throttle = "gpu_idle sw_power_cap", sm_clock_min_mhz = 1900, sm_clock_max_mhz = 1980 }
    local paired = { throttle = "hw_slowdown sw_power_cap", sm_clock_min_mhz = 1980, sm_clock_max_mhz = 1980 }
    t.eq(quiet.remarks(result(nil, time, paired), 0.03),
        "throttled: sw_power_cap, hw_slowdown; the clock went from 1900 to 1980 MHz")
    t.eq(quiet.remarks(result(nil, time, paired), 0.05), "throttled: sw_power_cap, hw_slowdown")
    t.eq(quiet.remarks(result(nil, { throttle = "gpu_idle applications_clocks" }), 0.03), nil)
    t.eq(quiet.remarks({ status = "PASSED" }, nil), nil)
end)
