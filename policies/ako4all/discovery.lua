-- What lies in a workspace, whatever its layout: the kernel, the reference, the inputs, knowledge and a benchmark of
-- the user's own. Paths that the options name win; where two files could have a role, the answer is a question.

local fs = require "ako.fs"
local path = require "ako.path"
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
local UNKNOWN = { py = true, hip = true, triton = true } -- kernels that no lane takes yet
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

local function question(list, role, option)
    local more = #list > 2 and (" (and %d more)"):format(#list - 2) or ""
    return ("%s and %s%s could both be the %s; name it with --%s=FILE"):format(list[1], list[2], more, role, option)
end

-- What an option names, as a path from the workspace; nil and why it cannot be.
local function named(folder, file, option)
    local full = fs.absolute(file:sub(1, 1) == "/" and file or fs.join(folder, file)) or fs.absolute(file)
    if not full or not fs.is_file(full) then return nil, ("--%s=%s: no such file"):format(option, file) end
    if full:sub(1, #folder + 1) == folder .. "/" then return full:sub(#folder + 2) end
    return nil, ("--%s=%s lies outside the workspace %s"):format(option, file, folder)
end

-- The one of a list, or the one that the option names. Nil, and a question where there are several.
local function choose(folder, list, opt, option, role)
    if opt[option] ~= "" then return named(folder, opt[option], option) end
    if #list > 1 then return nil, question(list, role, option) end
    return list[1]
end

-- By extension, { cu = file, c = file }: one for each kind of device.
local function choose_forms(folder, list, opt, option, role)
    local forms = {}
    if opt[option] ~= "" then
        local file, problem = named(folder, opt[option], option)
        if not file then return nil, problem end
        forms[path.extension(file)] = file
        return forms
    end
    for extension in pairs(PLACE_OF) do
        local of_kind = select(list, function(file) return path.extension(file) == extension end)
        if #of_kind > 1 then return nil, question(of_kind, role, option) end
        forms[extension] = of_kind[1]
    end
    return forms
end

-- A loop's own copy of a kernel comes before the file that it was made of.
local function kernels_of(files)
    local list = select(files, function(file)
        return PLACE_OF[path.extension(file)] and not is_reference(file) and not NO_KERNELS[top(file)]
    end)
    local own = select(list, function(file) return top(file) == "solution" end)
    return #own > 0 and own or list
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
local function solution_of(files, said)
    local solution, from = { entry = said.entry, args = said.args, options = said.options }, {}
    for i, file in ipairs(files) do
        solution[i] = top(file) == "solution" and file or "solution/" .. fs.basename(file)
        from[i] = file
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
local function programs_for(given, base, extension, kernels, references)
    local place = PLACE_OF[extension]
    local said = rebased(form(given.solution, place), base)
    local reference = rebased(form(given.reference, place), base)
    local files = kernels[extension] and { kernels[extension] }
        or select(said, function(file) return path.extension(file) == extension end)
    if #files == 0 then return nil end
    local other = next(references) and select({ references.cu, references.c }, function(f) return f ~= nil end)[1]
    local golden = references[extension] or reference[1] or other
    if not golden and top(files[1]) == "solution" then
        return nil, ("%s has no reference and may change; name its original with --reference=FILE"):format(files[1])
    end
    for i = 1, #reference do reference[i] = nil end
    reference[1] = golden or files[1] -- the original kernel itself is the golden answer where there is no other
    reference.entry, reference.args = reference.entry or said.entry, reference.args or said.args
    return { solution = solution_of(files, said), reference = reference }
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

local function make(folder, inputs, kernels, references)
    local file = fs.join(folder, inputs)
    local given, problem = task.read(file)
    if not given then return nil, problem end
    local base = fs.dirname(inputs)
    local made, name = { solution = {}, reference = {} }, nil
    for extension, place in pairs(PLACE_OF) do
        local programs
        programs, problem = programs_for(given, base, extension, kernels, references)
        if problem then return nil, problem end
        if programs then
            made.solution[place], made.reference[place] = programs.solution, programs.reference
            name = fs.basename(programs.solution[1]):gsub("%.[^.]+$", "")
        end
    end
    if not name then return nil, ("%s: no kernel (.cu or .c) for it; name one with --kernel=FILE"):format(inputs) end
    if base ~= "." and type(given.tensors) == "table" then rebase_inputs(given.tensors, base) end
    given.solution, given.reference, given.name = made.solution, made.reference, given.name or name
    local definition
    definition, problem = task.define(given, file, folder)
    return definition, problem
end

--- The hook `find_task`: a task of what lies in the workspace. Nil where nothing there looks like one; nil and a
--- question where a role is not clear.
function discovery.find_task(facts, opt)
    local folder = facts.workspace
    local files = files_of(folder)
    local kernels, problem = choose_forms(folder, kernels_of(files), opt, "kernel", "kernel")
    if not kernels then return nil, problem end
    local references
    references, problem = choose_forms(folder, select(files, function(file)
        return PLACE_OF[path.extension(file)] and is_reference(file)
    end), opt, "reference", "reference")
    if not references then return nil, problem end
    local inputs
    inputs, problem = choose(folder, select(files, function(file) return is_inputs(folder, file) end), opt, "inputs",
        "inputs")
    if problem then return nil, problem end
    if inputs then return make(folder, inputs, kernels, references) end
    local kernel = kernels.cu or kernels.c
    local unknown = select(files, function(file)
        return UNKNOWN[path.extension(file)] and not NO_KERNELS[top(file)]
    end)
    if kernel then
        return nil, ("%s looks like a kernel, but nothing says its tensors and shapes; write them into task.lua, or "
            .. "name the file with --inputs=FILE"):format(kernel)
    end
    if unknown[1] and opt.kernel == "" then
        return nil, ("%s: no lane takes .%s kernels yet; known are .cu and .c"):format(unknown[1],
            path.extension(unknown[1]))
    end
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
