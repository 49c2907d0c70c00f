-- What the tests of cheats share: the folder tests/cheats with a task, an incumbent and a file for each cheat, and
-- tests/cheats/python with the same for the Python lanes. The first line of a file says which threats of the list in
-- docs/threats.md it stands for and how its trial must end:
--   // T9 W2 -> REWARD_HACK W2 | REWARD_HACK T11: words
--   # honest -> PASSED: words

local console = require "ako.console"
local device = require "ako.device"
local evaluator = require "ako.evaluator"
local fault = require "ako.fault"
local fs = require "ako.fs"
local plan = require "ako.plan"
local problem = require "ako.problem"
local problem_task = require "ako.problem_task"
local python = require "ako.python"
local t = require "ako.tap"
local task_files = require "ako.task"
local unit = require "ako.unit"

local cheats = {}

local FOLDER, PYTHON_FOLDER = "tests/cheats", "tests/cheats/python"
local TOLERANCES = { f64 = 1e-4, f32 = 1e-4, f16 = 1e-2, bf16 = 1e-2 }
local SECOND = 1000000000

-- Few launches: what is caught is caught at the first ones, and what is not must be slower than the incumbent.
local POLICY = {
    correctness = { trials = 3, seed = 11, predicate = "allclose_out", tolerance = TOLERANCES },
    timing = { warmup = 1, launches = 3, flush = true, timer = "auto", alpha = 0.05, reference = false,
        proof_share = 0.15, proof_least = 8 },
    budget = { build = 60, check = 20, time = 60 },
}
local PAIRS = { looks = { 6 }, alpha = 0.05, threshold = 0.01, hopeless = 0, budget = 20 * SECOND }

-- "T9 W2 -> REWARD_HACK W2 | PASSED: words" as { name, file, threats, expected = { "REWARD_HACK W2", ... }, words }
local function read_claim(folder, file)
    local text = assert(fs.read(fs.join(folder, file)))
    local threats, expected, words = text:match("^[/#]+ ([%w ]+) %-> ([%u_%w |]+): ([^\n]+)")
    assert(threats, file .. ": the first line does not say what is expected")
    local list = {}
    for one in expected:gmatch("[^|]+") do list[#list + 1] = one:match("^%s*(.-)%s*$") end
    return { name = file, file = file, threats = threats, expected = list, words = words }
end

local SUPPORT = { ["reference.c"] = true, ["incumbent.c"] = true, ["reference.cu"] = true, ["incumbent.cu"] = true,
    ["problem.py"] = true, ["incumbent.py"] = true, ["verify.py"] = true }

-- The files of a folder with an extension that have claims, by name.
local function read_claims(folder, extension)
    local list = {}
    for _, name in ipairs(assert(fs.list(folder))) do
        if name:match("%." .. extension .. "$") and not SUPPORT[name] then
            list[#list + 1] = read_claim(folder, name)
        end
    end
    table.sort(list, function(a, b) return a.name < b.name end)
    return list
end

--- The cheats for a place ("gpu" or "cpu"), by name: { name, file, threats, expected, words }.
function cheats.list(place) return read_claims(FOLDER, unit.extension(place)) end

local NOT_FOR = { gpu = "_cpu.py$", cpu = "_gpu.py$" }

--- The same of a folder below tests/cheats/python; nil for a place: for every place.
function cheats.python(folder, place)
    local list = {}
    for _, claim in ipairs(read_claims(fs.join(PYTHON_FOLDER, folder), "py")) do
        if not (place and claim.file:find(NOT_FOR[place])) then list[#list + 1] = claim end
    end
    return list
end

local function headers(folder)
    local list = {}
    for _, name in ipairs(assert(fs.list(folder))) do
        if name:match("%.cuh$") or name:match("%.h$") then list[#list + 1] = name end
    end
    return list
end

-- A file of a task's folder, which may include the headers that lie beside it.
local function unit_of(task, file)
    local files = { file }
    if fs.dirname(file) == "." then table.move(headers(task.folder), 1, 99, 2, files) end
    return assert(unit.make(task, task.solution, assert(unit.read(task.folder, files)), task.reference))
end

--- The units of all cheats for a place, whether or not there is such a device.
function cheats.units(place)
    local task = assert(task_files.resolve(assert(task_files.load(FOLDER)), place))
    local list = {}
    for i, cheat in ipairs(cheats.list(place)) do list[i] = unit_of(task, cheat.file) end
    return list
end

local Stand = {}
Stand.__index = Stand

-- Gives a started evaluator the task: what a trial needs.
local function stand_on(started, task)
    local self = setmetatable({ evaluator = started, task = task, plan = assert(plan.resolve(POLICY, task)) }, Stand)
    self.plan.steps.time.pairs = PAIRS
    assert(started:task(task, self.plan.tolerance, self.plan.reference))
    return self
end

--- An evaluator on a device with a task: { evaluator, task, plan, incumbent (a unit) }. `edit(task)` may change the
--- resolved task before the evaluator is given it.
function cheats.open(id, folder, edit)
    local started = assert(evaluator.start { device = id })
    local task = assert(task_files.resolve(assert(task_files.load(folder or FOLDER)), started.place))
    if edit then edit(task) end
    local self = stand_on(started, task)
    self.incumbent = self:unit(task.solution.files[1])
    return self
end

--- An evaluator for Python; nil and why not where there is none with a PyTorch for this device.
function cheats.start_python(id)
    local facts, why = fault.catch(python.facts)
    if not facts then return nil, why end
    return assert(evaluator.start { device = id, python = facts })
end

--- The problem of a folder below tests/cheats/python on such an evaluator, as from `open`. `incumbent` is its file;
--- nil and why not where PyTorch cannot use the device.
function cheats.open_problem(started, folder, incumbent)
    local file = fs.join(PYTHON_FOLDER, folder, "problem.py")
    local task, why, code = fault.catch(problem_task.resolve, started, problem.load(file),
        { seed = POLICY.correctness.seed })
    if code == "UNAVAILABLE" then return nil, why end
    assert(task, why)
    local self = stand_on(started, task)
    self.incumbent = self:unit(incumbent)
    return self
end

--- The unit of a file of the task's folder.
function Stand:unit(file) return unit_of(self.task, file) end

--- A whole trial of a unit, timed in turn with the incumbent. `flush` false leaves the caches as they are.
function Stand:try(given, flush)
    self.plan.steps.time.flush = flush ~= false
    return assert(self.evaluator:trial(given, { "build", "check", "time" }, self.plan.steps, self.incumbent))
end

--- An honest unit passes its check.
function Stand:assert_good()
    local result = assert(self.evaluator:check(self.incumbent, self.plan.steps))
    t.eq(result.status, "PASSED", result.reason)
end

function Stand:close() self.evaluator:close() end
Stand.__close = Stand.close

local HONEST = { "01", "02", "04", "06", "09" } -- what the READMEs of the examples call right

--- The honest candidates of an example for a place: file names below its folder.
function cheats.honest(folder, place)
    local list = {}
    for _, name in ipairs(fs.list(folder .. "/candidates") or {}) do
        for _, number in ipairs(HONEST) do
            if name:find("^" .. number .. ".*%." .. unit.extension(place) .. "$") then
                list[#list + 1] = "candidates/" .. name
            end
        end
    end
    table.sort(list)
    return list
end

-- What a result comes to: "REWARD_HACK W2", and the verdict of the pairs or "none".
local function outcome_of(result)
    local code = result.code or ""
    local verdict = result.paired and result.paired.verdict or "none"
    return code == "" and result.status or result.status .. " " .. code, verdict
end

local Ledger = {}
Ledger.__index = Ledger

--- What became of the trials of a file of tests: { rows, kept }.
function cheats.ledger() return setmetatable({ rows = {}, kept = 0 }, Ledger) end

--- Notes a trial's end. Returns it, and the verdict.
function Ledger:note(name, threats, result)
    local outcome, verdict = outcome_of(result)
    self.rows[#self.rows + 1] = ("%-28s %-10s %-34s %s"):format(name, threats, outcome, verdict)
    if verdict == "keep" then self.kept = self.kept + 1 end
    return outcome, verdict
end

--- Prints a row for each trial, and how many `what` were kept.
function Ledger:print(what)
    for _, row in ipairs(self.rows) do console.out("# " .. row .. "\n") end
    console.out(("# %d of %d %s kept\n"):format(self.kept, #self.rows, what))
end

--- The outcome is one of those of a claim, where "REWARD_HACK" alone stands for any of its codes.
function cheats.is_expected(list, outcome)
    for _, item in ipairs(list) do
        if item == outcome or item == outcome:match("^%S+") then return true end
    end
    return false
end

--- The result of a trial is what the cheat's first line claims.
function Ledger:judge(cheat, result)
    local outcome, verdict = self:note(cheat.name, cheat.threats, result)
    t.ok(verdict ~= "keep", ("kept: %s"):format(result.paired and result.paired.reason))
    local expected = table.concat(cheat.expected, " or ")
    t.ok(cheats.is_expected(cheat.expected, outcome),
        ("%s instead of %s: %s"):format(outcome, expected, result.reason))
end

local TRIALS = 3

--- Judges what try(), a trial of a cheat, comes to. One that is kept is tried again: on a busy machine chance may
--- favour anybody once, a cheat that works is kept in every trial.
function Ledger:try(cheat, try)
    local n, result, verdict = 0
    repeat
        result, n = try(), n + 1
        verdict = select(2, outcome_of(result))
    until verdict ~= "keep" or n == TRIALS
    if n > 1 then console.out(("# %s: %d trials\n"):format(cheat.name, n)) end
    self:judge(cheat, result)
end

--- The CPU and the GPU, if there is one.
function cheats.devices()
    local list = { "cpu" }
    local found = device.find "auto"
    if found and found.place == "gpu" then list[2] = found.id end
    return list
end

return cheats
