-- Problems in the format of KernelBench: a Python file with `class Model`, `get_inputs` and `get_init_inputs` is a task
-- as it is. What it asks for is found out by running it once, in the referee's process. Other formats in Python
-- (ako.contract, ako.robust_kbench) are put as questions of their own.

local axes = require "ako.axes"
local contract = require "ako.contract"
local fault = require "ako.fault"
local fs = require "ako.fs"
local json = require "ako.json"
local path = require "ako.path"
local python_source = require "ako.python_source"
local robust_kbench = require "ako.robust_kbench"

local problem = {}

local SOLUTION = "solution.py"
local DESCRIBE_SECONDS = 300

--- True where a file is such a problem by its name.
function problem.is_problem(file) return path.extension(file) == "py" end

-- Where the solution lies in the workspace, and where its first content comes from (nil: it lies there).
local function place_solution(given)
    if not given then return SOLUTION, nil end
    if path.is_inside(given) then return given, nil end
    return fs.basename(given), fs.absolute(given) or given
end

--- A file as a source of a unit, { name, text }: by its last name, or below `folder` where that name is `taken`.
function problem.source(file, taken, folder)
    local text, why, code = path.read_source(file)
    if not text then fault.raise(code, "%s", why) end
    local name = fs.basename(file)
    return { name = name == taken and folder .. "/" .. name or name, text = text }
end

-- The problem's files: its own, and that which gives its inputs in its place (nil: none does).
local function sources_of(file, inputs)
    local sources = { problem.source(file) }
    if inputs and problem.is_problem(inputs) then
        sources[2] = problem.source(inputs, sources[1].name, "inputs")
    end
    return sources, sources[2] and sources[2].name
end

-- What is known of a problem by its text. A kernel that is compiled says itself what it takes; where another file is
-- named for the inputs, that one says it.
local function question_for(sources, solution, given)
    if not contract.is_reference(sources[1].text) then
        fault.check(not next(given.dims or {}), "%s takes no sizes on the command line", sources[1].name)
        return {}
    end
    fault.check(solution, "%s is a reference alone: name the kernel with --solution", sources[1].name)
    local named = given.inputs and not problem.is_problem(given.inputs) and given.inputs or solution
    return contract.question(given.dims or {}, problem.source(named))
end

-- Sources, question and name of a problem.
local function read(file, solution, given)
    if robust_kbench.is_task(file) then
        fault.check(not given.inputs, "%s: the inputs of a robust-kbench task are its own", file)
        fault.check(not next(given.dims or {}), "%s: the sizes of a robust-kbench task are those of its configuration",
            file)
        local config = problem.source(robust_kbench.config_of(file))
        local question = robust_kbench.question(config, given.multi)
        return { problem.source(file), config }, question, fs.basename(fs.absolute(fs.dirname(file)))
    end
    local sources, inputs_file = sources_of(file, given.inputs)
    local question = question_for(sources, solution, given)
    question.inputs_file = inputs_file
    return sources, question, (fs.basename(file):gsub("%.py$", ""))
end

--- What can be said of a problem before it has run: enough to find its workspace. `solution` is the file named on the
--- command line, or nil; `given` may have inputs, a file whose inputs count instead of the problem's own; dims, the
--- sizes of a problem that takes them (ako.contract); and multi { init, input }, which of the settings of a
--- robust-kbench task are tried (ako.case_product).
function problem.load(file, solution, given)
    given = given or {}
    local sources, question, called = read(file, solution, given)
    local name, from = place_solution(solution)
    local files = {}
    for i, source in ipairs(sources) do files[i] = source.name end
    question.origins = { [files[1]] = fs.absolute(file),
        [question.inputs_file or files[1]] = fs.absolute(question.inputs_file and given.inputs or file) }
    question.cwd = fs.absolute(fs.dirname(file))
    called = called:gsub("[^%w_.-]", "_")
    question.cases = question.cases or { { workload = called } }
    return { problem = true, file = file, folder = fs.dirname(file), sources = sources, question = question,
        name = called, reference = { files = question.inputs_file and { files[1] } or files, options = {},
            sources = sources },
        solution = { files = { name }, from = from and { from }, options = {} } }
end

-- The lane that runs Python where the evaluator is: "gpu" or "cpu".
local function lane_of(place) return place == "gpu" and "python" or "python-cpu" end

local REFUSED = { UNAVAILABLE = true, TIMEOUT = true, CANCELLED = true, NOMEM = true }

-- The evaluator's words about the problem; what is wrong with it is a mistake in its file.
local function describe(evaluator, loaded, question, seconds)
    local unit = { lane = lane_of(evaluator.place), sources = loaded.sources }
    local answer, why, code = evaluator:describe(unit, question, seconds)
    if answer then return answer.description end
    if code == "TIMEOUT" then
        fault.raise(code, "%s: did not run once within %g s: its import, get_inputs, Model and forward together",
            loaded.file, seconds)
    end
    if REFUSED[code] then fault.raise(code, "%s", why) end
    if code == "CHILD" then why = "its process ended: " .. why end
    local named
    for _, source in ipairs(loaded.sources) do named = named or why:find(source.name, 1, true) end
    fault.raise("INVALID", "%s%s", named and "" or loaded.file .. ": ", why)
end

--- True for what `load` gives.
function problem.is_loaded(value) return type(value) == "table" and value.problem == true end

local MOST_DIMS = 8 -- that a shape of a task has room for

-- Contiguous tensors have their shape; others are what lies in memory, from their first element to the last.
local function shape_of(facts)
    local elements, dense = 1, #facts.shape <= MOST_DIMS
    for i = #facts.shape, 1, -1 do
        dense = dense and (facts.stride[i] == elements or facts.shape[i] == 1)
        elements = elements * facts.shape[i]
    end
    return dense and facts.shape or { facts.elements }
end

-- What a call writes in place is zeroed before.
local INITS = { input = { kind = "problem" }, inout = { kind = "constant", a = 0.0, b = 0.0 } }

local function is_everywhere(sizes, value_in)
    for i, size in ipairs(sizes) do
        if value_in(i) ~= size then return false end
    end
    return true
end

-- A dimension with these sizes in the cases: its size, or the first of the settings that it follows.
local function dim_of(sizes, cases)
    if is_everywhere(sizes, function() return sizes[1] end) then return axes.parse(sizes[1]) end
    local found
    for name in pairs(cases[1].sizes or {}) do
        local follows = is_everywhere(sizes, function(i) return cases[i].sizes[name] end)
        if follows and (not found or name < found) then found = name end
    end
    return axes.parse(found or sizes[1])
end

local function dims_of(shapes, cases)
    local dims = {}
    for k in ipairs(shapes[1]) do
        local sizes = {}
        for i, shape in ipairs(shapes) do sizes[i] = shape[k] or 0 end
        dims[k] = dim_of(sizes, cases)
    end
    return dims
end

-- A tensor of the task, of which each case has its facts.
local function add_tensor(task, cases, role, list)
    local shapes, name = {}, list[1].name
    for i, facts in ipairs(list) do
        local workload = task.workloads[i]
        shapes[i] = shape_of(facts)
        workload.shapes[name], workload.elements[name] = { table.unpack(shapes[i]) }, facts.elements
        task.moved = task.moved + facts.bytes
    end
    local tensor = { name = name, dtype = list[1].dtype, dims = dims_of(shapes, cases), role = role,
        init = INITS[role] }
    task.tensors[#task.tensors + 1], task.tensor[name] = tensor, tensor
end

local function tensors_text(list)
    local parts = {}
    for i, facts in ipairs(list) do parts[i] = facts.name .. " " .. facts.dtype end
    return table.concat(parts, ", ")
end

-- Cases differ in shapes alone.
local function add_tensors(task, cases, part, role)
    local wanted = tensors_text(cases[1][part])
    for _, case in ipairs(cases) do
        local got = tensors_text(case[part])
        fault.check(got == wanted, "%s: case %s has the %s %s, case %s has %s; they may differ in shape alone",
            task.file, case.workload, part, got, cases[1].workload, wanted)
    end
    for i = 1, #cases[1][part] do
        local list = {}
        for k, case in ipairs(cases) do list[k] = case[part][i] end
        add_tensor(task, cases, role, list)
    end
end

-- The module's own integers, as far as they can be axes: launch lines may use them.
local function axes_of(sizes, tensor)
    local values = {}
    for name, value in pairs(sizes) do
        if not tensor[name] and value >= 1 and name:match("^[%a_][%w_]*$") then values[name] = value end
    end
    return values
end

-- What is asked of the file: what the caller wants, and what is known of the file.
local function question_of(loaded, how)
    local question = { faithful = false }
    for _, more in ipairs { loaded.question, how } do
        for name, value in pairs(more) do question[name] = value end
    end
    return question
end

local function workloads_of(cases)
    local list = {}
    for i, case in ipairs(cases) do
        list[i] = { id = case.workload, axes = {}, weight = 1.0, shapes = {}, elements = {} }
    end
    return list
end

local function add_numbers(task, cases)
    for i, case in ipairs(cases) do
        task.workloads[i].axes = axes_of(case.sizes or {}, task.tensor)
        for name in pairs(task.workloads[i].axes) do task.axes[name] = { dtype = "i32" } end
    end
    for name, value in pairs(cases[1].scalars or {}) do task.scalars[name] = { value = value, dtype = "f32" } end
end

local function add_findings(facts, cases)
    for _, case in ipairs(cases) do
        for _, name in ipairs { "random", "same_inputs" } do facts[name] = facts[name] or case[name] end
    end
    return facts
end

--- The resolved task (as ako.task gives it) of a loaded problem: runs it once on the evaluator. `how` is { seed,
--- faithful, seconds, dtype, ... } for stdlib/python: with `faithful` its inputs and weights are drawn on the CPU,
--- whose bits the original has, and those of the seeds `coming` ahead; `seconds` is how long the run may take; `dtype`
--- is what floating-point tensors are cast to (nil: they stay what they are); `inputs_ignored`: a solution may have
--- get_inputs, which nobody calls; `cwd`: the folder in which the problem's files are run (nil: that of the first of
--- them). Raises faults: INVALID for a mistake in the problem, with file and line where they are known.
function problem.task(evaluator, loaded, how)
    local described = describe(evaluator, loaded, question_of(loaded, how), how.seconds or DESCRIBE_SECONDS)
    local cases = described.cases
    local task = { name = loaded.name, file = loaded.file, folder = loaded.folder, place = evaluator.place,
        tensors = {}, tensor = {}, scalars = {}, axes = {}, workloads = workloads_of(cases), moved = 0,
        reference = loaded.reference, solution = loaded.solution, python = described.spec,
        facts = add_findings(described.facts, cases) }
    add_tensors(task, cases, "inputs", "input")
    add_tensors(task, cases, "outputs", cases[1].in_place and "inout" or "output")
    add_numbers(task, cases)
    task.closeness = cases[1].tolerance
    task.is_declared = loaded.question.arguments ~= nil
    task.is_chosen = loaded.question.format == "robust-kbench"
    local is_python = problem.is_problem(task.solution.files[1])
    if is_python and not loaded.solution.from then task.solution.texts = { described.starter } end
    return task
end

--- What is to be said of a problem before anything is measured, a line each.
function problem.notes(task)
    local notes = {}
    if task.facts.same_inputs then
        notes[#notes + 1] = "get_inputs gives the same data every time: a solution may know the answer by heart"
    end
    return notes
end

--- What no solution of a problem may have: the inputs are the problem's. A line and the rule's name, nil without.
function problem.refusal(task, sources)
    local main = sources[1]
    if not (task.python and problem.is_problem(main.name)) then return nil end
    local line = python_source.facts(main.text).inputs.get_inputs
    if not line then return nil end
    return ("%s:%d: a solution may not define get_inputs: the inputs are the problem's"):format(main.name, line), "A11"
end

local function switch(on) return on and "on" or "off" end

--- Interpreter, versions and what else decides a problem's figures, in one line; nil for another task.
function problem.facts_text(task)
    local facts = task.facts
    if not facts then return nil end
    local cuda = type(facts.torch_cuda) == "string" and " for CUDA " .. facts.torch_cuda or " without CUDA"
    return ("Python %s (%s), PyTorch %s%s; tf32: products %s, cuDNN %s; inputs drawn %s"):format(facts.python,
        facts.interpreter, facts.torch, cuda,
        switch(facts.precision.tf32_matmul), switch(facts.precision.tf32_cudnn), facts.drawn)
end

--- The unit of a problem's or a solution's files: { { name, text }, ... }, the main one first.
function problem.unit(task, sources)
    local workloads = {}
    for i, workload in ipairs(task.workloads) do
        local call = { symbol = workload.id, line = 0, args = json.array {} }
        workloads[i] = { scratch = json.array {}, calls = { call } }
    end
    return { lane = lane_of(task.place), sources = sources, options = json.array {},
        defines = json.array {}, workloads = workloads }
end

return problem
