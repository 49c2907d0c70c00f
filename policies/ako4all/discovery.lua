-- What lies in a workspace, whatever its layout: the kernel, the reference, the inputs, knowledge and a benchmark of
-- the user's own. Paths that the options name win; where two files could have a role, the answer is a question.

local example = require "policies.ako4all.example"
local fs = require "ako.fs"
local path = require "ako.path"
local python_problem = require "policies.ako4all.python_problem"
local task = require "ako.task"

local discovery = {}

-- Numbers of this search: folders below the workspace, and files in all, beyond which nothing is looked at.
local DEPTH, MOST_FILES = 3, 2000
-- Where nothing of a task's own lies.
local SKIPPED = { [".git"] = true, trajectory = true, candidates = true, node_modules = true, __pycache__ = true,
    build = true }
-- Where files are read by people, or measure.
local NO_KERNELS = { knowledge = true, context = true, docs = true, bench = true, benchmark = true, scripts = true,
    tests = true }
local KNOWLEDGE = { "knowledge", "context", "docs", "TASK.md" }
local UNKNOWN = { hip = true, triton = true } -- kernels that no lane takes yet
local PLACE_OF = { cu = "gpu", c = "cpu" }

-- The files below a folder, as paths from there, in the order of their names.
local function files_of(folder)
    local list = {}
    local function walk(below, depth)
        local names = fs.list(fs.join(folder, below)) or {}
        table.sort(names)
        for _, name in ipairs(names) do
            local file = below == "." and name or below .. "/" .. name
            local full = fs.join(folder, file)
            if #list >= MOST_FILES then return end
            if not fs.is_dir(full) then
                list[#list + 1] = file
            elseif depth < DEPTH and not SKIPPED[name] then
                walk(file, depth + 1)
            end
        end
    end
    walk(".", 0)
    return list
end

local function top(file) return file:match("^([^/]+)/") end

local function is_reference(file)
    local name = fs.basename(file):lower()
    return name:find("^ref") ~= nil or name:find("reference", 1, true) ~= nil or name:find("golden", 1, true) ~= nil
end

local function is_inputs(folder, file)
    if path.extension(file) ~= "lua" then return false end
    local text = path.read_source(fs.join(folder, file)) or ""
    return text:find("tensors%s*=%s*{") ~= nil and text:find("workloads%s*=%s*{") ~= nil
end

local function select(list, wanted)
    local found = {}
    for _, item in ipairs(list) do
        if wanted(item) then found[#found + 1] = item end
    end
    return found
end

local function question(list, role)
    local more = #list > 2 and (" (and %d more)"):format(#list - 2) or ""
    return ("%s and %s%s could both be the %s; name it with --%s=FILE"):format(list[1], list[2], more, role, role)
end

-- What an option names, as a path from the workspace, or an absolute one where it lies elsewhere; nil and why it cannot
-- be.
local function named(folder, file, option)
    local full = fs.absolute(file:sub(1, 1) == "/" and file or fs.join(folder, file)) or fs.absolute(file)
    if not full or not fs.is_file(full) then return nil, ("--%s=%s: no such file"):format(option, file) end
    return full:sub(1, #folder + 1) == folder .. "/" and full:sub(#folder + 2) or full
end

-- The one of a list, or the one that the option names. Nil, and a question where there are several.
local function choose(folder, list, opt, option)
    if opt[option] ~= "" then return named(folder, opt[option], option) end
    if #list > 1 then return nil, question(list, option) end
    return list[1]
end

-- By extension, { cu = file, c = file }: one for each kind of device.
local function choose_forms(folder, list, opt, option)
    local forms = {}
    if opt[option] ~= "" then
        local file, problem = named(folder, opt[option], option)
        if not file then return nil, problem end
        forms[path.extension(file)] = file
        return forms
    end
    for extension in pairs(PLACE_OF) do
        local of_kind = select(list, function(file) return path.extension(file) == extension end)
        if #of_kind > 1 then return nil, question(of_kind, option) end
        forms[extension] = of_kind[1]
    end
    return forms
end

-- A loop's own copy of a kernel comes before the file that it was made of. Also returns the others.
local function kernels_of(files)
    local list = select(files, function(file)
        return PLACE_OF[path.extension(file)] and not is_reference(file) and not NO_KERNELS[top(file)]
    end)
    local own = select(list, function(file) return top(file) == "solution" end)
    local others = select(list, function(file) return top(file) ~= "solution" end)
    return #own > 0 and own or list, others
end

-- Which of the others a file of solution/ was made of: the only one of its name, else itself.
local function origin_of(file, others)
    if top(file) ~= "solution" then return file end
    local same = select(others, function(other) return fs.basename(other) == fs.basename(file) end)
    return #same == 1 and same[1] or file
end

-- Making a task

local function list_of(program)
    return type(program) == "table" and program or type(program) == "string" and { program } or {}
end

-- The files that a program of the inputs' file names, seen from the workspace, and all else that it says.
local function rebased(program, base)
    local result = {}
    for key, value in pairs(list_of(program)) do
        local is_below = type(key) == "number" and type(value) == "string" and base ~= "."
        result[key] = is_below and base .. "/" .. value or value
    end
    return result
end

-- A form of the solution: edited in solution/, whatever lies elsewhere stays there.
local function solution_of(files, origins, said)
    local solution, from = { entry = said.entry, args = said.args, options = said.options }, {}
    for i, file in ipairs(files) do
        solution[i] = top(file) == "solution" and file or "solution/" .. fs.basename(file)
        from[i] = origins[i]
    end
    solution.from = from
    return solution
end

local function form(program, place)
    local split = type(program) == "table" and (program.gpu or program.cpu)
    if split then return program[place] end
    return program
end

-- The programs for one place, { solution, reference }; nil where there is no kernel for it; nil and a question.
local function programs_for(given, base, extension, found)
    local place, kernels, references = PLACE_OF[extension], found.kernels, found.references
    local said = rebased(form(given.solution, place), base)
    local reference = rebased(form(given.reference, place), base)
    local files = kernels[extension] and { kernels[extension] }
        or select(said, function(file) return path.extension(file) == extension end)
    if #files == 0 then return nil end
    local origins = {}
    for i, file in ipairs(files) do origins[i] = origin_of(file, found.others) end
    local golden = references[extension] or reference[1] or references.c -- C proves a GPU kernel, not the reverse
    if not golden and top(origins[1]) == "solution" then
        return nil, ("%s has no reference and may change; name its original with --reference=FILE"):format(files[1])
    end
    for i = #reference, 1, -1 do reference[i] = nil end
    reference[1] = golden or origins[1] -- the original kernel itself is the golden answer where there is no other
    reference.entry, reference.args = reference.entry or said.entry, reference.args or said.args
    return { solution = solution_of(files, origins, said), reference = reference }
end

local function rebase_inputs(tensors, base)
    for _, tensor in pairs(tensors) do
        local init = tensor.init
        local name = type(init) == "table" and init[1] or init
        local is_file = type(name) == "string" and path.extension(name) ~= ""
        if is_file and type(init) == "table" then init[1] = base .. "/" .. name end
        if is_file and type(init) == "string" then tensor.init = base .. "/" .. name end
    end
end

local function make(folder, inputs, given, found)
    local base, name = fs.dirname(inputs), nil
    local made = { solution = {}, reference = {} }
    for extension, place in pairs(PLACE_OF) do
        local programs, problem = programs_for(given, base, extension, found)
        if problem then return nil, problem end
        if programs then
            made.solution[place], made.reference[place] = programs.solution, programs.reference
            name = fs.basename(programs.solution[1]):gsub("%.[^.]+$", "")
        end
    end
    if not name then return nil, ("%s: no kernel (.cu or .c) for it; name one with --kernel=FILE"):format(inputs) end
    if base ~= "." and type(given.tensors) == "table" then rebase_inputs(given.tensors, base) end
    given.solution, given.reference, given.name = made.solution, made.reference, given.name or name
    return task.define(given, fs.join(folder, inputs), folder)
end

local function names_files(program)
    local split = type(program) == "table" and (program.gpu or program.cpu)
    local forms = split and { gpu = program.gpu, cpu = program.cpu } or { program }
    for _, one in pairs(forms) do
        if type(list_of(one)[1]) == "string" then return true end
    end
    return false
end

-- The files of a role by extension: those of the option, else none where the inputs' file names them, else what lies
-- there.
local function role(folder, list, opt, name, program)
    if opt[name] == "" and names_files(program) then return {} end
    return choose_forms(folder, list, opt, name)
end

-- What to say of a workspace with kernels and no inputs; nil where it has neither.
local function without_inputs(folder, files, kernels)
    if kernels[1] then
        local text = example.of(folder, kernels[1], files)
        return ("%s looks like a kernel, but nothing says its tensors and shapes; write them into task.lua, or "
            .. "name the file with --inputs=FILE%s"):format(kernels[1], text and "; for example: " .. text or "")
    end
    local others = select(files, function(file) return not NO_KERNELS[top(file)] end)
    for _, file in ipairs(others) do
        if python_problem.is_kernel(folder, file) then
            return ("%s looks like a kernel, but nothing gives its inputs; name a file with class Model and get_inputs "
                .. "with --reference=FILE, or one with get_inputs with --inputs=FILE"):format(file)
        end
    end
    local unknown = select(others, function(file) return UNKNOWN[path.extension(file)] end)
    if not unknown[1] then return nil end
    return ("%s: no lane takes .%s kernels yet; known are .cu, .c and .py"):format(unknown[1],
        path.extension(unknown[1]))
end

-- Files by what they can be in Python: { reference, inputs, kernel }, lists. A kernel's own copy comes before others.
local function python_roles(folder, files, natives)
    local roles = { reference = {}, inputs = {}, kernel = table.move(natives, 1, #natives, 1, {}) }
    for _, file in ipairs(files) do
        local found = not NO_KERNELS[top(file)] and python_problem.role(folder, file, is_reference(file))
        local is_own = top(file) == "solution"
        if found and (not is_own or found == "kernel") then table.insert(roles[found], file) end
    end
    local own = select(roles.kernel, function(file) return top(file) == "solution" end)
    if own[1] then roles.kernel = own end
    return roles
end

-- A task in Python of what lies there; nil where there is no reference in it; nil and a question.
local function in_python(folder, files, natives, opt)
    local roles, found = python_roles(folder, files, natives), {}
    if not roles.reference[1] and path.extension(opt.reference) ~= "py" then return nil end
    for _, name in ipairs { "reference", "inputs", "kernel" } do
        local problem
        found[name], problem = choose(folder, roles[name], opt, name)
        if problem then return nil, problem end
    end
    return python_problem.load(folder, found)
end

local function in_lua(folder, files, natives, others, inputs, opt)
    local given, kernels, references, problem
    given, problem = task.read(fs.join(folder, inputs))
    if not given then return nil, problem end
    kernels, problem = role(folder, natives, opt, "kernel", given.solution)
    if not kernels then return nil, problem end
    references, problem = role(folder, select(files, function(file)
        return PLACE_OF[path.extension(file)] and is_reference(file)
    end), opt, "reference", given.reference)
    if not references then return nil, problem end
    return make(folder, inputs, given, { kernels = kernels, references = references, others = others })
end

-- What is named and is not there.
local function missing(folder, opt)
    for _, name in ipairs { "kernel", "reference", "inputs" } do
        if opt[name] ~= "" then
            local file, problem = named(folder, opt[name], name)
            if not file then return problem end
        end
    end
end

local function is_python(name) return path.extension(name) == "py" end

--- The hook `find_task`: a task of what lies in the workspace. Nil where nothing there looks like one; nil and a
--- question where a role is not clear.
function discovery.find_task(facts, opt)
    local folder = facts.workspace
    if not folder then return nil end
    local problem = missing(folder, opt)
    if problem then return nil, problem end
    local files = files_of(folder)
    local natives, others = kernels_of(files)
    if PLACE_OF[path.extension(opt.kernel)] then natives = { (named(folder, opt.kernel, "kernel")) } end
    if not (is_python(opt.reference) or is_python(opt.inputs)) then
        local list = select(files, function(file) return is_inputs(folder, file) end)
        local inputs
        inputs, problem = choose(folder, list, opt, "inputs")
        if problem then return nil, problem end
        if inputs then return in_lua(folder, files, natives, others, inputs, opt) end
    end
    local found
    found, problem = in_python(folder, files, natives, opt)
    if found or problem then return found, problem end
    return nil, without_inputs(folder, files, natives)
end

-- What else there is

--- What people have written about the problem: paths of the workspace, or what the option names.
function discovery.knowledge(facts, opt)
    if opt.knowledge ~= "" then return { opt.knowledge } end
    return select(KNOWLEDGE, facts.exists)
end

--- A benchmark of the user's own that lies there; nil without one.
function discovery.benchmark(facts)
    if not facts.workspace then return nil end
    return select(files_of(facts.workspace), function(file)
        local extension, name = path.extension(file), fs.basename(file)
        local is_script = extension == "sh" or extension == "py"
        return is_script and top(file) ~= "scripts" and (name:find("^bench") ~= nil or top(file) == "bench")
            and name ~= "bench-wrapper.sh" and not file:find("^bench/kernelbench/")
    end)[1]
end

return discovery
