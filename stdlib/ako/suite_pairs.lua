-- A folder of problems in Python and a folder of their solutions: which file belongs to which, and the key under which
-- the result of a pair is known: by all that decides it.

local extension = require "ako.extension"
local fault = require "ako.fault"
local fs = require "ako.fs"
local git = require "ako.git"
local json = require "ako.json"
local matching = require "ako.matching"
local path = require "ako.path"
local problems = require "ako.problem"
local task_files = require "ako.task"
local tightening = require "ako.tightening"
local view = require "ako.view"

local suite_pairs = {}

local IN_A_LANE = { py = true, cu = true, c = true }

-- Files of tools and packages, __init__.py for one, are nobody's problem.
local function files_in(folder, is_wanted)
    local files = {}
    for _, name in ipairs(fs.list(folder) or {}) do
        local file = fs.join(folder, name)
        if not name:find("^[._]") and fs.is_file(file) and is_wanted(file) then files[#files + 1] = file end
    end
    return files
end

-- Those of the folder; where it has none, those of its level1, level2 and so on.
local function files_of(top, is_wanted)
    local files = files_in(top, is_wanted)
    if #files > 0 then return files end
    for _, name in ipairs(fs.list(top) or {}) do
        if name:lower():find("^level_?%d+$") then
            local below = files_in(fs.join(top, name), is_wanted)
            table.move(below, 1, #below, #files + 1, files)
        end
    end
    return files
end

-- By its number, or by what must be in it: helpers may lie beside problems.
local function is_problem(file)
    if not problems.is_problem(file) then return false end
    if fs.basename(file):find("^%d") then return true end
    local text = path.read_source(file)
    return text ~= nil and text:find("get_inputs", 1, true) ~= nil
end

local function is_solution(file) return IN_A_LANE[path.extension(file)] == true end

local function holds_tasks(top)
    if fs.exists(task_files.file_of(top)) then return true end
    for _, name in ipairs(fs.list(top) or {}) do
        if fs.exists(fs.join(top, name .. "/task.lua")) then return true end
    end
    return false
end

--- True when `host.task` is a folder of problems in Python.
function suite_pairs.is_suite(host)
    local top = host.task
    return top ~= nil and fs.is_dir(top) and not holds_tasks(top) and #files_of(top, is_problem) > 0
end

-- Names of files, as short as they are clear

--- A file's path below a folder; as it is where it lies elsewhere.
function suite_pairs.below(top, file) return file:sub(1, #top + 1) == top .. "/" and file:sub(#top + 2) or file end

local function stem(name) return (name:gsub("%.[^./]*$", "")) end

-- Beside others a sample has its number, or else its file's name.
local function sample_name(item, sample, count)
    if count == 1 then return item.name end
    if sample.number then return ("%s #%d"):format(item.name, sample.number) end
    return ("%s (%s)"):format(item.name, fs.basename(sample.solution))
end

local function new_item(found, file)
    local label = matching.label(file)
    local name = stem(suite_pairs.below(found.top, file))
    return { problem = file, name = name, number = label.number, level = label.level, samples = {} }
end

local function add_samples(items, matched)
    for _, pair in ipairs(matched.pairs) do
        table.insert(items[pair.problem].samples, { solution = pair.solution, number = pair.sample })
    end
    for _, item in pairs(items) do
        for _, sample in ipairs(item.samples) do sample.name = sample_name(item, sample, #item.samples) end
    end
end

-- In the order in which they are matched: by level and number.
local function items_of(found, matched)
    local items, list = {}, {}
    local function add(file)
        if items[file] then return end
        items[file] = new_item(found, file)
        list[#list + 1] = items[file]
    end
    for _, pair in ipairs(matched.pairs) do add(pair.problem) end
    for _, file in ipairs(matched.unsolved) do add(file) end
    add_samples(items, matched)
    table.sort(list, function(a, b)
        for _, key in ipairs { "level", "number" } do
            local left, right = a[key] or math.maxinteger, b[key] or math.maxinteger
            if left ~= right then return left < right end
        end
        return a.problem < b.problem
    end)
    return list
end

--- The problems of a folder, { { problem (its file), name, number, level, samples (none) } }, in their order.
function suite_pairs.problems(folder)
    local top = fault.must(fs.absolute(folder))
    return items_of({ top = top }, { pairs = {}, unsolved = files_of(top, is_problem) })
end

--- Raises INVALID when `host.task` is a folder of problems: most verbs are about one.
function suite_pairs.check_single(host)
    if not suite_pairs.is_suite(host) then return end
    local first = files_of(host.task, is_problem)[1]
    fault.raise("INVALID", "%s is a folder of problems: run, plan and doctor take one; name a problem of it, --task %s",
        host.task, first)
end

local function folder_of(name, what, option)
    fault.check(name, "--task %s holds problems; name the folder of their %s with --%s", what, "solutions", option)
    if not fs.is_dir(name) then fault.raise("NOTFOUND", "%s: no folder of solutions (--%s)", name, option) end
    return fault.must(fs.absolute(name))
end

--- The problems of `host.task` and their solutions in `host.solution`: { top, from (the two folders), items = { {
--- problem, name, number, level, samples = { { solution, number, name } } } }, ambiguous, unknown (as ako.matching has
--- them, with paths below the folders) }. Raises faults.
function suite_pairs.find(host)
    local found = { top = fault.must(fs.absolute(host.task)), from = folder_of(host.solution, host.task, "solution") }
    local matched = matching.match(files_of(found.top, is_problem), files_of(found.from, is_solution))
    found.items = items_of(found, matched)
    found.ambiguous, found.unknown = {}, {}
    for i, entry in ipairs(matched.ambiguous) do
        local names = {}
        for k, file in ipairs(entry.problems) do names[k] = stem(suite_pairs.below(found.top, file)) end
        found.ambiguous[i] = { solution = suite_pairs.below(found.from, entry.solution), problems = names }
    end
    for i, file in ipairs(matched.unknown) do found.unknown[i] = suite_pairs.below(found.from, file) end
    return found
end

-- Keys

-- Numbers of a policy that need an incumbent, or change no figure.
local OF_OTHERS = { pairs = true, screen = true, signal = true, claims = true, verify = true }

-- The policy's numbers that decide a result. Options of its own are no part of them, but where a number is one.
local function numbers_of(ctx)
    local policy, timing = ctx.policy, {}
    local correctness = view.copy(policy.correctness)
    for name, value in pairs(policy.timing) do
        if not OF_OTHERS[name] then timing[name] = view.copy(value) end
    end
    correctness.faithful = tightening.is_unwanted(policy, ctx.opt)
    timing.compiled = timing.compiled and ctx.opt[timing.compiled] or false
    correctness.seed = ctx.host.seed or correctness.seed
    local budget = policy.budget
    return { correctness = correctness, timing = timing,
        budget = { build = budget.build, check = budget.check, time = budget.time } }
end

local function hash_of(file)
    local text = path.read_source(file)
    return text and git.hash(text) or "", text or ""
end

--- Gives every item its problem's hash, every sample its solution's and its key. `where`: what else decides a result
--- (device, interpreter, PyTorch). What cannot be read has an empty hash. A sample is `slow` when its build takes long.
function suite_pairs.add_keys(found, ctx, where)
    local common = { numbers = numbers_of(ctx), where = where }
    for _, item in ipairs(found.items) do
        item.hash = hash_of(item.problem)
        for _, sample in ipairs(item.samples) do
            local text
            sample.hash, text = hash_of(sample.solution)
            common.problem, common.solution = item.hash, sample.hash
            common.lane = path.extension(sample.solution)
            sample.key = git.hash(json.encode(common))
            sample.slow = extension.is_asked_for(text)
        end
    end
end

return suite_pairs
