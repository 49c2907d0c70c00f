-- Problems in the format of KernelBench: a Python file with `class Model`, `get_inputs` and `get_init_inputs` is a task
-- as it is. Here is what can be told before it has run; ako.problem_task runs it. Other formats in Python
-- (ako.contract, ako.robust_kbench) are put as questions of their own.

local contract = require "ako.contract"
local fault = require "ako.fault"
local fs = require "ako.fs"
local path = require "ako.path"
local python_source = require "ako.python_source"
local robust_kbench = require "ako.robust_kbench"

local problem = {}

--- The file of a solution that nobody has named.
problem.FIRST_SOLUTION = "solution.py"

--- True where a file is such a problem by its name.
function problem.is_problem(file) return path.extension(file) == "py" end

-- Where the solution lies in the workspace, and where its first content comes from (nil: it lies there).
local function place_solution(given)
    if not given then return problem.FIRST_SOLUTION, nil end
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

--- True for what `load` gives.
function problem.is_loaded(value) return type(value) == "table" and value.problem == true end

--- What no solution of a problem may have: the inputs are the problem's. A line and the rule's name, nil without.
function problem.refusal(task, sources)
    local main = sources[1]
    if not (task.python and problem.is_problem(main.name)) then return nil end
    local line = python_source.facts(main.text).inputs.get_inputs
    if not line then return nil end
    return ("%s:%d: a solution may not define get_inputs: the inputs are the problem's"):format(main.name, line), "A11"
end

return problem
