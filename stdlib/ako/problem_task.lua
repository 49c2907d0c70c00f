-- The task that a problem in Python poses (ako.problem): what it asks for is found out by running it once, in the
-- referee's process.

local fault = require "ako.fault"
local path = require "ako.path"
local problem_cases = require "ako.problem_cases"
local problems = require "ako.problem"
local unit = require "ako.unit"

local problem_task = {}

local REFUSED = { UNAVAILABLE = true, TIMEOUT = true, CANCELLED = true, NOMEM = true }

-- Its files and where they lie travel as JSON.
local function check(loaded, question)
    unit.check(loaded.sources)
    local places = { question.cwd }
    for _, place in pairs(question.origins) do places[#places + 1] = place end
    for _, place in ipairs(places) do
        local wrong = path.fault_of_text(place)
        fault.check(not wrong, "%s: this path %s: rename the folder", place, wrong)
    end
end

-- The evaluator's words about the problem; what is wrong with it is a mistake in its file.
local function describe(evaluator, loaded, question, seconds)
    check(loaded, question)
    local files = { lane = unit.python_lane(evaluator.place), sources = loaded.sources }
    local answer, why, code = evaluator:describe(files, question, seconds)
    if answer then return answer.description end
    if code == "TIMEOUT" then
        fault.raise(code, "%s: did not run once within %g s: its import, get_inputs, Model and forward together",
            loaded.file, seconds)
    end
    if REFUSED[code] then fault.raise(code, "%s", why) end
    if code == "KILLED" or code == "CHILD" and not evaluator:is_there() then -- no doing of the problem's
        fault.raise(code, "%s: not described: %s", loaded.file, why)
    end
    if code == "CHILD" then why = "its process ended: " .. why end
    local named
    for _, source in ipairs(loaded.sources) do named = named or why:find(source.name, 1, true) end
    fault.raise("INVALID", "%s%s", named and "" or loaded.file .. ": ", why)
end

-- What is asked of the file: what the caller wants, and what is known of the file.
local function question_of(loaded, how)
    local question = { faithful = false }
    for _, more in ipairs { loaded.question, how } do
        for name, value in pairs(more) do question[name] = value end
    end
    return question
end

local function add_findings(facts, cases)
    for _, case in ipairs(cases) do
        for _, name in ipairs { "random", "same_inputs" } do facts[name] = facts[name] or case[name] end
    end
    return facts
end

--- The resolved task (as ako.task gives it) of a loaded problem: runs it once on the evaluator. `how` is { seed,
--- faithful, seconds, dtype, ... } for stdlib/python: with `faithful` its inputs and weights are drawn on the CPU,
--- whose bits the original has, and those of the first `trials` seeds that the original takes, in .facts.seeds of the
--- task, ahead; `seconds` is how long the run may take (nil: no
--- limit); `dtype` is what floating-point tensors are cast to (nil: they stay what they are); `inputs_ignored`: a
--- solution may have get_inputs, which nobody calls; `cwd`: the folder in which the problem's files are run (nil: that
--- of the first of them). Raises faults: INVALID for a mistake in the problem, with file and line where they are known.
function problem_task.resolve(evaluator, loaded, how)
    local described = describe(evaluator, loaded, question_of(loaded, how), how.seconds)
    local task = problem_cases.read(described.cases, loaded.file)
    task.name, task.file, task.folder, task.place = loaded.name, loaded.file, loaded.folder, evaluator.place
    task.reference, task.solution, task.python = loaded.reference, loaded.solution, described.spec
    task.facts = add_findings(described.facts, described.cases)
    task.closeness = described.cases[1].tolerance
    task.is_declared = loaded.question.arguments ~= nil
    task.is_chosen = loaded.question.format == "robust-kbench"
    local in_python = problems.is_problem(task.solution.files[1])
    if in_python and not loaded.solution.from then task.solution.texts = { described.starter } end
    return task
end

--- What is to be said of a problem before anything is measured, a line each.
function problem_task.notes(task)
    local notes = {}
    if task.facts.same_inputs then
        notes[#notes + 1] = "get_inputs gives the same data every time: a solution may know the answer by heart"
    end
    return notes
end

local function switch(on) return on and "on" or "off" end

--- Interpreter, versions and what else decides a problem's figures, in one line; nil for another task.
function problem_task.facts_text(task)
    local facts = task.facts
    if not facts then return nil end
    local cuda = type(facts.torch_cuda) == "string" and " for CUDA " .. facts.torch_cuda or " without CUDA"
    return ("Python %s (%s), PyTorch %s%s; tf32: products %s, cuDNN %s; inputs drawn %s"):format(facts.python,
        facts.interpreter, facts.torch, cuda,
        switch(facts.precision.tf32_matmul), switch(facts.precision.tf32_cudnn), facts.drawn)
end

return problem_task
