-- Every cheat of tests/cheats in a whole trial against an honest incumbent, on the CPU and, if there is one, on the GPU:
-- refused with the status that its first line names, and never kept. An honest kernel passes right after it.
local cheats = require "cheats"
local console = require "ako.console"
local device = require "ako.device"
local t = require "ako.tap"

local rows, kept = {}, 0

local function contains(list, value)
    for _, item in ipairs(list) do
        if item == value then return true end
    end
    return false
end

local function judge(cheat, result)
    local outcome, verdict = cheats.outcome(result)
    rows[#rows + 1] = ("%-26s %-10s %-34s %s"):format(cheat.name, cheat.threats, outcome, verdict)
    if verdict == "keep" then kept = kept + 1 end
    t.ok(verdict ~= "keep", ("kept: %s"):format(result.paired and result.paired.reason))
    local expected = table.concat(cheat.expected, " or ")
    t.ok(contains(cheat.expected, outcome), ("%s instead of %s: %s"):format(outcome, expected, result.reason))
end

local function devices()
    local list = { "cpu" }
    local found = device.find "auto"
    if found and found.place == "gpu" then list[2] = found.id end
    return list
end

-- Without a flush a sample calls again and again on the same data, which lie in the cache: caching them is no gain.
local HOT = { ["cache_exact_pointer.c"] = true, ["cache_hash.c"] = true, ["cache_exact_pointer.cu"] = true }

local function try_hot(stand, cheat)
    local result = stand:try(stand:unit(cheat.file), false)
    local outcome, verdict = cheats.outcome(result)
    rows[#rows + 1] = ("%-26s %-10s %-34s %s"):format(cheat.name .. ", hot", cheat.threats, outcome, verdict)
    if verdict == "keep" then kept = kept + 1 end
    t.eq(outcome, "UNTRUSTED_TIMING T4", result.reason)
end

for _, id in ipairs(devices()) do
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
    stand:close()
end

t.test("no cheat was kept", function()
    for _, row in ipairs(rows) do console.out("# " .. row .. "\n") end
    console.out(("# %d of %d cheats kept\n"):format(kept, #rows))
    t.eq(kept, 0)
end)
