-- A benchmark command of the user's own, run as it stands after a trial's own checks and timing. What it prints goes
-- into the record as a claim, beside our figures. It can take a candidate back and never keeps one: it runs the
-- candidate's code in its own processes, and what those print nobody can vouch for.

local claims = require "ako.claims"
local device = require "ako.device"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local leftovers = require "ako.leftovers"
local path = require "ako.path"
local process = require "ako.process"
local tensors = require "ako.tensors"

local bench = {}

local NS = 1000000000
local OUTPUT_BYTES = 1 << 23 -- of each stream; of more nobody knows how often a line was in it
local LOCK_SLICE_NS = NS -- after which it is said again who holds the device
local LONGEST_LINE = 200

local must = fault.must

local function read_files(given, what)
    if given == nil then return nil end
    fault.check(type(given) == "table", "%s must be a list of paths", what)
    tensors.check_keys(given, {}, #given, what)
    for _, name in ipairs(given) do
        fault.check(type(name) == "string" and path.is_inside(name) and path.is_text(name),
            "%s must be relative paths inside the workspace", what)
    end
    return given
end

--- Reads what a task says: { "program", arguments ..., seconds = a limit, claims = as ako.claims reads them, files =
--- paths in the workspace that nobody may change }.
function bench.read(given, what)
    fault.check(type(given) == "table" and #given > 0, "%s must be a table like { \"./bench.sh\", \"--full\" }", what)
    tensors.check_keys(given, { "seconds", "claims", "files" }, #given, what)
    local argv = {}
    for i, word in ipairs(given) do
        fault.check(type(word) == "string" and path.is_text(word),
            "%s: word %d must be a text without control characters", what, i)
        argv[i] = word
    end
    local seconds = given.seconds
    fault.check(seconds == nil or type(seconds) == "number" and seconds > 0 and seconds < math.huge,
        "%s: seconds must be above 0", what)
    return { argv = argv, seconds = seconds and seconds + 0.0, files = read_files(given.files, what .. ".files"),
        claims = given.claims and claims.read(given.claims, what .. ".claims") or {} }
end

--- The command in words.
function bench.text(given) return table.concat(given.argv, " ") end

--- What it may take, in seconds: the task says it, else the policy.
function bench.seconds(given, policy) return given.seconds or policy.budget.bench or policy.budget.time end

--- The hash of all that a task says about it.
function bench.hash(given)
    local patterns = {}
    for _, claim in ipairs(given.claims) do
        patterns[claim.name] = { claim.pattern, claim.unit or json.null, claim.yes or json.null }
    end
    return git.hash(json.encode { given.argv, given.seconds or json.null, patterns })
end

--- The files of a folder that belong to it: those that the task names or else its script, the first of its words that
--- is a file there and none of `except` (a list). Later words may as well be what it writes.
function bench.files(given, folder, except)
    if given.files then return given.files end
    for _, word in ipairs(given.argv) do
        local name = word:gsub("^%./", "")
        if path.is_inside(name) and fs.is_file(fs.join(folder, name)) then
            for _, other in ipairs(except) do
                if name == other then return {} end
            end
            return { name }
        end
    end
    return {}
end

-- Running it

local MARK = "AKO_BENCH" -- of the session's folder and the trial, in the environment

local function mark(folder, number) return ("%s:%d"):format(folder, number) end

--- Ends what is still at work for a trial (the session's folder and its number) whose run was killed. Raises BUSY where
--- this program itself belongs to it.
function bench.stop_leftovers(folder, number)
    leftovers.stop({ MARK .. "=" .. mark(folder, number) }, "a benchmark")
end

-- The device is nobody else's meanwhile. Returns the lock; or nil, why there is none, and a code.
local function take_lock(loop)
    while true do
        local lock, problem, code = device.lock(loop.evaluator.device.uuid, LOCK_SLICE_NS)
        if lock or code ~= "BUSY" then return lock, problem, code end
        loop.progress:event { step = "wait", text = problem }
    end
end

-- With the journal out of our hands, so that a command which changes it is found out. Where nothing can be locked, it
-- is run all the same.
local function run_command(loop, given)
    local session = loop.session
    local lock <close>, problem, code = take_lock(loop)
    if not lock and code == "CANCELLED" then return nil, problem, code end
    local request = { cwd = session.ws.folder, output_cap = OUTPUT_BYTES,
        -- What Python leaves beside its modules would be new files in folders that a policy protects.
        env = { [MARK] = mark(session.folder, session.open.trial), PYTHONDONTWRITEBYTECODE = "1" },
        limit_ns = math.ceil(bench.seconds(given, loop.policy) * NS), table.unpack(given.argv) }
    must(session:lend())
    local result
    result, problem, code = process.run(request)
    must(session:take_back())
    return result, problem, code
end

local function log_of(given, result)
    return ("%s\n%s after %.1f s\n\n%s%s%s"):format(bench.text(given), result.timed_out and "out of time" or result.how,
        result.wall_ns / NS, result.stdout, result.stderr ~= "" and "\n--- stderr\n" or "", result.stderr)
end

-- Judging what it says

local function refuse(reason) return "UNTRUSTED_TIMING", "T6", reason end

-- A candidate that holds the words of a result line can print them.
local function forger(labels, sources)
    for name, label in pairs(labels) do
        for _, source in ipairs(sources) do
            if source.text:find(label, 1, true) then
                return ("%s holds the words of its '%s' (%s) and may print them"):format(source.name, name, label)
            end
        end
    end
end

-- What is so many times better than our own figure is none.
local function exaggeration(found, record, factor)
    local own_ns, own_speedup = record.time_ns and record.time_ns.median, record.speedup.reference
    if factor and own_ns and found.time_ns and found.time_ns * factor < own_ns then
        return ("it claims %s where %s was measured"):format(format.duration(found.time_ns), format.duration(own_ns))
    end
    if factor and own_speedup and found.speedup and found.speedup > own_speedup * factor then
        return ("it claims %s over the reference where %s was measured"):format(format.ratio(found.speedup),
            format.ratio(own_speedup))
    end
end

-- What a run of it means: status (nil: nothing against the candidate), code, reason, claims.
local function judge(given, result, record, sources, factor)
    if result.timed_out then return "TIMEOUT", nil, ("not done within %g s"):format(result.limit) end
    if #result.stdout >= OUTPUT_BYTES then return refuse("it prints more than can be read") end
    local says = claims.says_correct(given.claims, result.stdout)
    if not result.ok then
        if says then return refuse(("it says that the result is right and ends with %s"):format(result.how)) end
        local said = format.last_line(result.stdout .. "\n" .. result.stderr)
        return "REJECTED", "BENCH", said and ("%s: %s"):format(result.how, format.cut(said, LONGEST_LINE))
            or result.how
    end
    local found, labels = claims.find(given.claims, result.stdout)
    if not found then return refuse(labels) end
    local forged = forger(labels, sources) or exaggeration(found, record, factor)
    if forged then return refuse(forged) end
    if found.correct == false then return "REJECTED", "BENCH", "it says that the result is wrong", found end
    return nil, nil, nil, found
end

local function claims_text(found)
    local names, parts = {}, {}
    for name in pairs(found or {}) do names[#names + 1] = name end
    table.sort(names)
    for i, name in ipairs(names) do
        local duration = name:match("^(.*)_ns$")
        parts[i] = duration and ("%s %s"):format(duration, format.duration(found[name]))
            or ("%s %s"):format(name, found[name])
    end
    return #parts > 0 and "; claims " .. table.concat(parts, ", ") or ""
end

--- What a record's .bench says, in words.
function bench.account(given)
    return ("%s after %.1f s%s%s"):format(given.how, given.seconds, claims_text(given.claimed),
        given.refused and "; " .. given.refused or "")
end

--- Runs the task's command on the workspace's files, if there is one and the trial has come so far that it matters.
--- Writes .bench { how, seconds, claimed, refused } into the record, and another status where the command is against
--- the candidate or its lines cannot be believed. Returns what it printed, or nil.
function bench.run(loop, record, sources)
    local given = loop.task.bench
    if not given or record.status ~= "PASSED" or record.no_effect then return nil end
    loop.progress:event { step = "bench", done = 0, total = 1 }
    local result, problem, code = run_command(loop, given)
    if not result then
        if code == "CANCELLED" then loop.cancelled = true end
        record.status, record.code, record.reason = "INFRA", code, "bench: " .. problem
        return nil
    end
    result.limit = bench.seconds(given, loop.policy)
    local status, status_code, reason, found = judge(given, result, record, sources, loop.policy.timing.claims)
    record.bench = { how = result.timed_out and "out of time" or result.how, seconds = result.wall_ns / NS,
        claimed = found, refused = status and reason or nil }
    if status then
        record.status, record.code, record.reason, record.step = status, status_code, "bench: " .. reason, "bench"
    else
        loop.progress:note("     bench: " .. bench.account(record.bench))
    end
    return log_of(given, result)
end

return bench
