-- What the tests of cheats share: the folder tests/cheats with a task, an incumbent and a file for each cheat. The
-- first line of a file says which threats of the list in docs/threats.md it stands for and how its trial must end:
--   // T9 W2 -> REWARD_HACK W2 | REWARD_HACK T11: words

local evaluator = require "ako.evaluator"
local fs = require "ako.fs"
local plan = require "ako.plan"
local t = require "ako.tap"
local task_files = require "ako.task"
local unit = require "ako.unit"

local cheats = {}

local FOLDER = "tests/cheats"
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

-- "T9 W2 -> REWARD_HACK W2 | PASSED: words" as { threats, expected = { "REWARD_HACK W2", "PASSED" }, words }
local function read_claim(text, file)
    local threats, expected, words = text:match("^// ([TWM%d ]+) %-> ([%u_%w |]+): ([^\n]+)")
    assert(threats, file .. ": the first line does not say what is expected")
    local list = {}
    for one in expected:gmatch("[^|]+") do list[#list + 1] = one:match("^%s*(.-)%s*$") end
    return { threats = threats, expected = list, words = words }
end

local SUPPORT = { ["reference.c"] = true, ["incumbent.c"] = true, ["reference.cu"] = true, ["incumbent.cu"] = true }

--- The cheats for a place ("gpu" or "cpu"), by name: { name, file, threats, expected, words }.
function cheats.list(place)
    local list = {}
    for _, name in ipairs(assert(fs.list(FOLDER))) do
        if name:match("%." .. unit.extension(place) .. "$") and not SUPPORT[name] then
            local claim = read_claim(assert(fs.read(fs.join(FOLDER, name))), name)
            claim.name, claim.file = name, name
            list[#list + 1] = claim
        end
    end
    table.sort(list, function(a, b) return a.name < b.name end)
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

--- An evaluator on a device with a task: { evaluator, task, plan, incumbent (a unit) }. `edit(task)` may change the
--- resolved task before the evaluator is given it.
function cheats.open(device, folder, edit)
    local self = setmetatable({ evaluator = assert(evaluator.start { device = device }) }, Stand)
    self.task = assert(task_files.resolve(assert(task_files.load(folder or FOLDER)), self.evaluator.place))
    if edit then edit(self.task) end
    self.plan = assert(plan.resolve(POLICY, self.task))
    self.plan.steps.time.pairs = PAIRS
    assert(self.evaluator:task(self.task, self.plan.tolerance, self.plan.reference))
    self.incumbent = self:unit(self.task.solution.files[1])
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

--- What a result comes to: "REWARD_HACK W2", and the verdict of the pairs or "none".
function cheats.outcome(result)
    local code = result.code or ""
    local verdict = result.paired and result.paired.verdict or "none"
    return code == "" and result.status or result.status .. " " .. code, verdict
end

return cheats
