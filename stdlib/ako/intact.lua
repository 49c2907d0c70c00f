-- Whether what was read back from a session's files has the shape that it was written with. Files can be edited, cut or
-- overwritten between two runs; whoever reads them must not fall over that, nor believe it.

local fault = require "ako.fault"

local intact = {}

-- A rule is a function(value) that returns nil, or what is wrong: the path of the member and words for it.

local function got(value, wanted)
    if value == nil then return "is missing" end
    local kind = math.type(value) == "float" and "number with a fraction" or type(value)
    return ("is a %s instead of %s"):format(kind == "userdata" and "null" or kind, wanted)
end

local function of_type(kind, wanted)
    return function(value)
        if type(value) ~= kind then return "", got(value, wanted) end
    end
end

local text, number, object = of_type("string", "a text"), of_type("number", "a number"), of_type("table", "an object")
local flag = of_type("boolean", "true or false")

local function integer(value)
    if math.type(value) ~= "integer" then return "", got(value, "a whole number") end
end

local function at_least(least, rule)
    return function(value)
        local where, problem = rule(value)
        if not where and value < least then return "", ("is %s, less than %s"):format(value, least) end
        return where, problem
    end
end

local function one_of(...)
    local allowed, list = {}, { ... }
    for _, name in ipairs(list) do allowed[name] = true end
    return function(value)
        if type(value) ~= "string" then return text(value) end
        if not allowed[value] then return "", ("is '%s', none of %s"):format(value, table.concat(list, ", ")) end
    end
end

local function maybe(rule)
    return function(value)
        if value ~= nil then return rule(value) end
    end
end

-- Of each member under its key. JSON's empty list and empty object are the same to who looks for members.
local function each(rule)
    return function(value)
        if type(value) ~= "table" then return object(value) end
        for key, item in pairs(value) do
            local where, problem = rule(item)
            if where then return math.type(key) and ("[%d]%s"):format(key, where) or "." .. key .. where, problem end
        end
    end
end

local function list(rule)
    local items = each(rule)
    return function(value)
        if type(value) ~= "table" then return "", got(value, "a list") end
        for key in pairs(value) do
            if not math.type(key) then return "", "is an object instead of a list" end
        end
        return items(value)
    end
end

local function fields(rules)
    local names = {}
    for name in pairs(rules) do names[#names + 1] = name end
    table.sort(names)
    return function(value)
        if type(value) ~= "table" then return object(value) end
        for _, name in ipairs(names) do
            local where, problem = rules[name](value[name])
            if where then return "." .. name .. where, problem end
        end
    end
end

local function interval(value)
    local where, problem = list(number)(value)
    if not where and #value ~= 2 then return "", "has no two ends" end
    return where, problem
end

local function above_0(value)
    local where, problem = number(value)
    if not where and value <= 0 then return "", ("is %s, not above 0"):format(value) end
    return where, problem
end

local FIGURES = fields { median = above_0, mean = above_0, min = above_0, max = above_0, n = at_least(1, integer),
    ci = maybe(interval) }

local PAIRED = fields { verdict = one_of("keep", "revert", "inconclusive", "unstable"),
    reason = maybe(text), gain = maybe(number), interval = maybe(interval),
    pairs = maybe(integer), dropped = maybe(integer), threshold = maybe(number), raised_from = maybe(number) }

local CONTROL = fields { floor = maybe(number), clock_mhz = maybe(number) }

local WORKLOAD = fields { id = text, weight = above_0, time_ns = maybe(FIGURES),
    reference_ns = maybe(FIGURES), compiled_ns = maybe(FIGURES), compiled_note = maybe(text),
    speedup = maybe(each(number)), interval = maybe(each(interval)) }

local COUNT = at_least(0, integer)

local KINDS = {
    session = fields { workspace = text, place = maybe(text), time_s = number, number = maybe(COUNT),
        task = maybe(text), policy = maybe(text), python = maybe(text), verb = maybe(text), base = maybe(text),
        device = maybe(fields { name = text }), protected = maybe(object),
        fixed = maybe(fields { task = text, policy = maybe(text) }),
        options = maybe(each(flag)),
        proposer = maybe(fields { command = maybe(text), seconds = maybe(number), candidates = maybe(text) }) },
    control = CONTROL,
    place = fields { oid = text, oids = maybe(list(text)) },
    propose = fields { trial = COUNT, proposal = COUNT },
    branch = fields { trial = COUNT, ref = text, oid = text, before = text },
    intent = fields { trial = COUNT, tree = text, commit = text, candidate = maybe(text), hypothesis = maybe(text),
        predict = maybe(number), label = maybe(text), facts = maybe(object) },
    trial = fields { trial = COUNT, status = text, verdict = one_of("keep", "revert", "inconclusive"), reason = text,
        tree = text, commit = text, candidate = maybe(text), hypothesis = maybe(text), files = maybe(text),
        machine_code = maybe(text), launches = maybe(text), speedup = each(number), interval = each(interval),
        time_ns = maybe(fields { median = above_0 }), workloads = list(WORKLOAD), paired = maybe(PAIRED),
        control = maybe(CONTROL), costs_ms = each(number), screen = maybe(object), resources = maybe(object),
        floor_share = maybe(number), predict = maybe(number), label = maybe(text), against = maybe(integer),
        subject = maybe(text), options = maybe(object), size = maybe(each(number)), facts = maybe(object),
        signal = maybe(object), weakness = maybe(text), python = maybe(text),
        tightened = maybe(fields { predicate = text, atol = number, rtol = number, why = text,
            instead = fields { predicate = text, atol = number, rtol = number } }),
        wider = maybe(list(fields { name = text, seed = integer, times = maybe(number) })),
        bench = maybe(object), time_s = maybe(number) },
    note = fields { text = text, trial = maybe(COUNT), topic = maybe(text), file = maybe(text), hash = maybe(text),
        after = maybe(COUNT), time_s = maybe(number) },
    override = fields { trial = COUNT, verdict = one_of("keep", "revert"), reason = text, from = maybe(text) },
    resume = fields { time_s = number, worked_s = number },
    tag = fields { name = text },
    restored = fields {},
    finish = fields { ended = maybe(text), options = maybe(object) },
}

-- A trial that has a figure has one of each workload, as its first line says.
local function whole(line)
    if line.kind ~= "trial" or not line.time_ns then return nil end
    for i, workload in ipairs(line.workloads) do
        if not workload.time_ns then return (".workloads[%d].time_ns"):format(i), "is missing" end
    end
end

local VERSION = 1 -- of lines that this file knows all kinds of

--- What is wrong with a line of a journal (a table), in words; nil when nothing is. Kinds that this version does not
--- know are left alone where a newer one says that it wrote them. `first_timed` is an earlier trial of the session that
--- has figures, nil without: later ones have the same workloads.
function intact.line(line, first_timed)
    local rule = KINDS[line.kind]
    if type(line.kind) ~= "string" then return "'kind' " .. got(line.kind, "a text") end
    if not rule and math.type(line.v) == "integer" and line.v > VERSION then return nil end
    if not rule then return ("'%s' is no kind of line"):format(line.kind) end
    local where, problem = rule(line)
    if not where then where, problem = whole(line) end
    if where then return ("%s: '%s' %s"):format(line.kind, where:sub(2), problem) end
    local other = first_timed and line.time_ns and #first_timed.workloads
    if line.kind == "trial" and other and #line.workloads ~= other then
        return ("trial: %d workloads instead of %d"):format(#line.workloads, other)
    end
end

-- Samples

local DURATIONS, CLOCKS = list(at_least(1, integer)), list(COUNT)

local function is_absent(value) return value == nil or type(value) == "userdata" end -- null

-- The number of pairs of one workload.
local function check_pairs(given)
    local where, problem = fields { candidate_ns = DURATIONS, incumbent_ns = DURATIONS, gain = maybe(number) }(given)
    if where then return where, problem end
    local count = #given.candidate_ns
    for _, name in ipairs { "candidate_ns", "incumbent_ns", "candidate_mhz", "incumbent_mhz" } do
        local column = given[name]
        if not is_absent(column) then
            where, problem = CLOCKS(column)
            if where then return "." .. name .. where, problem end
            if #column ~= count then return "." .. name, ("has %d numbers instead of %d"):format(#column, count) end
        end
    end
    if count == 0 then return ".candidate_ns", "is empty" end
    return nil, count
end

--- Raises CORRUPT, with the file's name, unless `samples` are what ako.trial wrote for these workloads of a record: an
--- object, with as many pairs of each workload as of the others, or none.
function intact.check_samples(samples, workloads, file)
    local function refuse(where, problem) fault.raise("CORRUPT", "%s: damaged: %s %s", file, where, problem) end
    if type(samples) ~= "table" then refuse("it", got(samples, "an object")) end
    local expected
    for _, workload in ipairs(workloads) do
        local given = samples[workload.id]
        if not is_absent(given) and type(given) ~= "table" then
            refuse(("'%s'"):format(workload.id), got(given, "an object"))
        end
        if not is_absent(given) and not is_absent(given.paired) then
            local where, count = check_pairs(given.paired)
            if where then refuse(("'%s.paired%s'"):format(workload.id, where), count) end
            if expected and count ~= expected then
                refuse(("'%s.paired'"):format(workload.id), ("has %d pairs instead of %d"):format(count, expected))
            end
            expected = count
        end
    end
end

return intact
