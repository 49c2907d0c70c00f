-- Every cheat of tests/cheats in a whole trial against an honest incumbent, on the CPU and, if there is one, on the
-- GPU: refused with the status that its first line names, and never kept. An honest kernel passes right after it. And
-- the honest candidates of examples/, of which none is refused.
local cheats = require "cheats"
local console = require "ako.console"
local fs = require "ako.fs"
local t = require "ako.tap"

-- What comes to nothing is slower than the incumbent, most of it by half; a noisy machine may say otherwise up to here.
local SEEMING_GAIN = 0.3

local ledger = cheats.ledger()

local function judge(cheat, result)
    if result.status == "INFRA" and result.code == "UNAVAILABLE" then t.skip(result.reason) end -- no nvcc here
    ledger:judge(cheat, result)
    if result.paired then t.ok(result.paired.gain < SEEMING_GAIN, "it seems to gain: " .. result.paired.reason) end
end

-- Without a flush a sample calls again and again on the same data, which lie in the cache. Keeping outputs is no gain
-- all the same, unless it is a small one: fresh data are no proof then, since they are colder (docs/threats.md). Where
-- an address comes back with new content by chance, the output that was not written is seen first.
local HOT = { ["cache_exact_pointer.c"] = true, ["cache_content.c"] = true, ["cache_exact_pointer.cu"] = true }

local function try_hot(stand, cheat)
    local result = stand:try(stand:unit(cheat.file), false)
    local outcome = ledger:note(cheat.name .. ", hot", cheat.threats, result)
    local expected = { "UNTRUSTED_TIMING T4", "UNTRUSTED_TIMING floor", "REWARD_HACK T11" }
    t.ok(cheats.is_expected(expected, outcome), outcome .. ": " .. result.reason)
end

-- How many processes with code under test stand still at the moment.
local function count_stopped()
    local n = 0
    for _, name in ipairs(assert(fs.list "/proc")) do
        local stat = name:match("^%d+$") and fs.read("/proc/" .. name .. "/stat") or ""
        if stat:find("(ako-candidate) T", 1, true) then n = n + 1 end
    end
    return n
end

-- Between two looks there is always one arm that is not asked; at two pairs nothing can be decided yet.
local function test_turns(stand)
    local stopped
    local few = stand.plan.steps.time.pairs
    stand.plan.steps.time.pairs = { looks = { 2, 12 }, alpha = 0.05, threshold = 0.01 }
    stand.evaluator.progress = function(event)
        if event.step == "pairs" and event.done == 2 then stopped = count_stopped() end
    end
    local result = stand:try(stand.incumbent)
    stand.plan.steps.time.pairs, stand.evaluator.progress = few, nil
    t.eq(result.status, "PASSED", result.reason)
    t.ok(stopped and stopped >= 1, ("%s arms stood still"):format(stopped))
end

-- Bytes that no kernel could move in the time that an honest one takes.
local function test_floor(id)
    local stand <close> = cheats.open(id, nil, function(task)
        for _, workload in ipairs(task.workloads) do workload.bytes = workload.bytes * 100 end
    end)
    t.eq(ledger:note("below the floor", "T7", stand:try(stand.incumbent)), "UNTRUSTED_TIMING floor")
end

for _, id in ipairs(cheats.devices()) do
    local stand = cheats.open(id)
    for _, cheat in ipairs(cheats.list(stand.evaluator.place)) do
        t.test(("%s, %s"):format(cheat.name, cheat.words), function()
            judge(cheat, stand:try(stand:unit(cheat.file)))
            stand:assert_good()
        end)
        if HOT[cheat.file] then
            t.test(cheat.name .. " without a flush", function() try_hot(stand, cheat) end)
        end
    end
    t.test("arms stand still in turn", function() test_turns(stand) end)
    if stand.evaluator.place == "gpu" then
        t.test("a time below the physical floor", function() test_floor(id) end)
    end
    stand:close()
end

-- Everywhere: a mistake in a launch line of a CUDA cheat shows without a GPU.
t.test("all cheats are units", function()
    for _, place in ipairs { "cpu", "gpu" } do
        local units = cheats.units(place)
        t.ok(#units > 20, place)
        for _, given in ipairs(units) do t.ok(#given.workloads == 2, place) end
    end
end)

local PLACES = { "", "tests/cheats/", "tests/core/", "tests/lua/", "core/", "core/worker/", "stdlib/ako/" }

local function is_somewhere(name)
    for _, folder in ipairs(PLACES) do
        if fs.exists(folder .. name) then return true end
    end
    return false
end

t.test("docs/threats.md has a row for each threat, names each cheat, and no file that is not there", function()
    local text = assert(fs.read "docs/threats.md")
    for letter, last in pairs { T = 11, W = 17, M = 10 } do
        for i = 1, last do t.ok(text:find(("\n| %s%d | "):format(letter, i), 1, true), letter .. i) end
    end
    for name in text:gmatch("`([%w_/]+%.[%w.]+)`") do
        local is_file = name:find("%.c$") or name:find("%.cu$") or name:find("%.lua$")
        t.ok(not is_file or is_somewhere(name), name .. " is not there")
    end
    for _, place in ipairs { "cpu", "gpu" } do
        for _, cheat in ipairs(cheats.list(place)) do
            local stem = cheat.name:match("^[^.]+")
            t.ok(text:find(stem, 1, true), cheat.name .. " is not named")
        end
    end
end)

t.test("no cheat was kept", function()
    ledger:print "cheats"
    t.eq(ledger.kept, 0)
end)

-- On the CPU the smallest workload is enough: what is right for others is tested elsewhere, here it is who is refused.
local function last_workload(task)
    if task.place == "cpu" then task.workloads = { task.workloads[#task.workloads] } end
end

local EXAMPLES = { "gemm", "rmsnorm", "rmsnorm_large", "silu_gate", "softmax" }
local honest, refused = 0, 0

local function try_honest(stand, file)
    local result = stand:try(stand:unit(file))
    honest = honest + 1
    if result.status ~= "PASSED" then refused = refused + 1 end
    t.eq(result.status, "PASSED", ("%s: %s %s"):format(file, result.code, result.reason))
end

for _, id in ipairs(cheats.devices()) do
    local place = id == "cpu" and "cpu" or "gpu"
    for _, name in ipairs(EXAMPLES) do
        local folder = "examples/" .. name
        local files = cheats.honest(folder, place)
        local stand = #files > 0 and cheats.open(id, folder, last_workload)
        for _, file in ipairs(files) do
            t.test(("honest on %s: %s, %s"):format(id, name, file), function() try_honest(stand, file) end)
        end
        if stand then stand:close() end
    end
end

t.test("no honest kernel was refused", function()
    console.out(("# %d of %d honest kernels refused\n"):format(refused, honest))
    t.ok(honest >= 20)
    t.eq(refused, 0)
end)
