-- The Python lane for tests: one evaluator, whose PyTorch is imported once, and problems and solutions put before it.
local evaluator = require "ako.evaluator"
local fault = require "ako.fault"
local fs = require "ako.fs"
local problem = require "ako.problem"
local problem_task = require "ako.problem_task"
local python = require "ako.python"
local t = require "ako.tap"
local task_files = require "ako.task"
local unit = require "ako.unit"

local lane = { folder = t.tmpdir() }

local SECOND = 1000000000
local TOLERANCE = { f64 = 1e-4, f32 = 1e-4, f16 = 1e-2, bf16 = 1e-2 }
local SEED = 42
local PAIRS = { looks = { 4 }, alpha = 0.05, threshold = 0.01, hopeless = 0.0 }
local BUILD = 300 * SECOND -- nvcc takes a minute for an extension of PyTorch

local kept

--- What an evaluator has to know of Python; skips the test where this machine or build has no Python lane.
function lane.need()
    local facts, why = fault.catch(python.facts)
    if not facts then t.skip(why) end
    return facts
end

--- A test that needs it.
function lane.test(name, run)
    t.test(name, function()
        lane.need()
        run()
    end)
end

--- The evaluator; skips the test where there is none.
function lane.evaluator()
    if kept then return kept end
    kept = assert(evaluator.start { python = lane.need(), device = lane.device })
    return kept
end

--- Ends the evaluator; the next one is on this device (nil: whichever there is).
function lane.restart(device)
    if kept then kept:close() end
    kept, lane.device = nil, device
end

--- Writes a file into the scratch folder; returns its path.
function lane.write(name, text)
    local file = fs.join(lane.folder, name)
    assert(fs.mkdirs(fs.dirname(file)))
    assert(fs.write(file, text))
    return file
end

--- Gives the evaluator a problem's task, to be judged with this tolerance.
function lane.give(task, tolerance)
    local name = task.reference.files[1]
    local reference = assert(unit.make(task, task.reference, { { name = name, text = fs.read(task.file) } }))
    assert(lane.evaluator():task(task, tolerance, reference))
end

--- Describes a problem file and gives it to the evaluator: its task; nil, the line and its code where it is refused.
function lane.task(file, how)
    local given = lane.evaluator()
    local task, why, code = fault.catch(problem_task.resolve, given, problem.load(file), how or { seed = SEED })
    if not task then return nil, why, code end
    lane.give(task, task_files.tolerance(task, "allclose_out", TOLERANCE))
    return task
end

local function unit_of(task, text, name)
    return assert(unit.make(task, task.solution, { { name = name or "mine.py", text = text } }))
end

-- The numbers of a check with so many seeds, of a timing with so many launches, and limits of so many seconds each.
local function numbers(given)
    local seeds, limit = {}, math.tointeger((given.seconds or 60) * SECOND)
    for i = 1, given.seeds or 2 do seeds[i] = i end
    return { check = { seeds = seeds }, limits = { build = BUILD, check = limit, time = limit },
        time = { warmup = 1, launches = given.launches or 1, flush = given.incumbent ~= nil, timer = "wall",
            reference = true, alpha = 0.05, proof_share = 0.1, proof_least = 1, pairs = given.incumbent and PAIRS } }
end

--- Tries a solution's text on the task given last. `changes`: seeds (how many, default 2), launches (timed so often;
--- default: not at all), seconds (limit of a check), incumbent (a text to be timed in turn with). Returns the result.
function lane.try(task, text, changes)
    local given, steps = changes or {}, { "build", "check" }
    if given.launches then steps[3] = "time" end
    local incumbent = given.incumbent and unit_of(task, given.incumbent)
    return assert(lane.evaluator():trial(unit_of(task, text, given.name), steps, numbers(given), incumbent))
end

--- Screens solutions' texts against another one's on the task given last. Returns the answer.
function lane.screen(task, texts, incumbent)
    local units, plan = {}, numbers {}
    for i, text in ipairs(texts) do units[i] = unit_of(task, text) end
    plan.time.screen = { rounds = { 2 }, keep = #texts }
    return assert(lane.evaluator():screen(units, unit_of(task, incumbent), plan))
end

return lane
