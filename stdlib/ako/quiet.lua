-- Whether a measurement was left alone: who else was on the device, whether the pairs were steady, what its clock did.
-- The evaluator sees strangers before and after the timed calls and the clock after each sample (docs/protocol.md).

local quiet = {}

-- Throttle reasons that are no trouble: nothing runs at the moment, or somebody has chosen the clocks.
local HARMLESS = { gpu_idle = true, applications_clocks = true, display_clocks = true, sync_boost = true }

local function integer(value) return math.type(value) == "integer" and value or nil end

--- The reasons in a text of NVML's ("gpu_idle sw_power_cap") for which a device runs slower than it could.
function quiet.throttled(text)
    local list = {}
    for reason in (text or ""):gmatch("%S+") do
        if not HARMLESS[reason] then list[#list + 1] = reason end
    end
    return list
end

--- The strangers that a result counts, { before, after, note }: numbers, absent where unknown. Nil when nobody looked.
function quiet.tenants(result)
    local given = type(result.tenants) == "table" and result.tenants
    return given and { before = integer(given.before), after = integer(given.after), note = given.note } or nil
end

--- Text on the processes of others that a result says were on the device, nil where there were none or nobody can say.
function quiet.strangers(result)
    local tenants = quiet.tenants(result) or {}
    local before, after = tenants.before, tenants.after
    local most = math.max(before or 0, after or 0)
    if most == 0 then return nil end
    local when = before == after and "before and after" or (before or 0) < most and "after" or "before"
    local who = most == 1 and "a process of somebody else" or ("%d processes of others"):format(most)
    return ("%s on the device %s the timed calls"):format(who, when)
end

--- What spoils a measurement, nil for nothing: strangers (unless they are `tolerated`), or pairs at clocks that differ.
--- A candidate that failed has done that by itself.
function quiet.disturbance(result, tolerated)
    if result.status ~= "PASSED" and result.status ~= "UNTRUSTED_TIMING" then return nil end
    local strangers = not tolerated and quiet.strangers(result)
    if strangers then return strangers end
    local paired = type(result.paired) == "table" and result.paired
    if paired and paired.verdict == "unstable" then return paired.reason end
end

local SERIES = { "time", "paired" }

-- Calls f on each of a result's series for which the evaluator has looked at the clock.
local function each_series(result, f)
    for _, workload in ipairs(result.workloads or {}) do
        for _, name in ipairs(SERIES) do
            if type(workload[name]) == "table" then f(workload[name]) end
        end
    end
end

local function clock_change(result, most)
    local low, high
    each_series(result, function(series)
        local least, greatest = integer(series.sm_clock_min_mhz), integer(series.sm_clock_max_mhz)
        local changed = least and greatest and greatest - least > most * greatest
        if changed and not low then low, high = least, greatest end
    end)
    return low and ("the clock went from %d to %d MHz"):format(low, high)
end

--- What is worth knowing about a measurement that counts all the same, nil for nothing: tolerated strangers,
--- throttling, and a clock that changed by more than the share `clock_run` (nil or 0: not looked at).
function quiet.remarks(result, clock_run)
    local list, seen = { quiet.strangers(result) }, {}
    local reasons = {}
    each_series(result, function(series)
        for _, reason in ipairs(quiet.throttled(series.throttle)) do
            if not seen[reason] then reasons[#reasons + 1] = reason end
            seen[reason] = true
        end
    end)
    if #reasons > 0 then list[#list + 1] = "throttled: " .. table.concat(reasons, ", ") end
    if (clock_run or 0) > 0 then list[#list + 1] = clock_change(result, clock_run) end
    return #list > 0 and table.concat(list, "; ") or nil
end

return quiet
