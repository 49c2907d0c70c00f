-- The A/A control: a kernel timed in turn with itself, in two processes. What the machine then takes for a gain is its
-- floor, and no threshold finer than some times that means anything here.

local plan = require "ako.plan"

local control = {}

local function finite(value) return type(value) == "number" and value == value and math.abs(value) < math.huge end

--- The SM clock in MHz at which a result's pairs were taken (or its launches timed), nil where nobody can say.
function control.clock_of(result)
    for _, workload in ipairs(result.workloads or {}) do
        local paired = type(workload.paired) == "table" and workload.paired
        local list = {}
        for _, mhz in ipairs(paired and paired.candidate_mhz or {}) do
            if mhz > 0 then list[#list + 1] = mhz end
        end
        table.sort(list)
        if #list > 0 then return list[(#list + 1) // 2] end
    end
end

--- The numbers for a control: looks up to as many pairs as the policy wants, ended as soon as the floor is too low to
--- raise the threshold. Nil for a policy without.
function control.plan(policy, opt)
    local numbers = plan.pairs(policy, opt)
    local most = numbers and policy.timing.pairs.control or 0
    if most == 0 then return nil end
    local looks = {}
    for _, look in ipairs(numbers.looks) do
        if look < most then looks[#looks + 1] = look end
    end
    looks[#looks + 1] = most
    local factor = policy.timing.pairs.floor_factor or 0
    numbers.looks, numbers.hopeless = looks, 0
    if factor > 0 then numbers.threshold = numbers.threshold / factor end
    return numbers
end

-- The logarithm of a ratio of times, of which `share` is the gain.
local function log_ratio(share) return math.log(1 - share) end

--- What a control's result says: { gain, interval, pairs, floor, clock_mhz }, nil without one. The floor is what a gain
--- must exceed to be more than this: |gain| plus half the interval's width, in logarithms of time, where slower and
--- faster weigh the same; so it is a share of the time below 1, however noisy the machine.
function control.of(result)
    local paired = result.paired
    if type(paired) ~= "table" or not finite(paired.gain) then return nil end
    local interval = type(paired.interval) == "table" and paired.interval
    local half = interval and (log_ratio(interval[1]) - log_ratio(interval[2])) / 2 or 0
    return { gain = paired.gain, interval = interval and { interval[1], interval[2] }, pairs = paired.pairs,
        floor = 1 - math.exp(-math.abs(log_ratio(paired.gain)) - half), clock_mhz = control.clock_of(result) }
end

--- Whether a control was taken at another clock than the last trial's, by more than the policy lets a run vary.
function control.is_outdated(policy, known, clock_mhz)
    local most = policy.timing.pairs.clock_run or 0
    if not known or not known.clock_mhz or not clock_mhz or most <= 0 then return false end
    return math.abs(clock_mhz / known.clock_mhz - 1) > most
end

return control
