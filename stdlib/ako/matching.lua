-- Which solution belongs to which problem of a folder, by what their files are called: by number (36_RMSNorm_.py with
-- 36.py, 36_mine.py, level1_problem_36_sample_0_kernel.py) or by name (RMSNorm_.py). Nothing is guessed: a file that
-- may belong to several problems is named and belongs to none.

local fs = require "ako.fs"

local matching = {}

local function integer(digits) return digits and math.tointeger(tonumber(digits)) end

local function plain(name) return (name:lower():gsub("[%s_%-%.]+", "")) end

--- What a path says: { path, level, number, sample, name }, each but the first nil where it says nothing.
function matching.label(path)
    local base = fs.basename(path)
    local stem = base:match("^(.+)%.[^.]*$") or base
    local label = { path = path, number = integer(stem:match("%f[%a]problem_?(%d+)")) }
    label.level = integer(stem:match("^level_?(%d+)_") or ("/" .. path):match("^.*/level_?(%d+)/"))
    label.sample = integer(stem:match("%f[%a]sample_?(%d+)"))
    if label.number then return label end
    local digits, rest = stem:match("^(%d+)[_%-. ]+(.*)$")
    label.number = integer(digits or stem:match("^%d+$"))
    local name = plain(rest or label.number and "" or stem)
    label.name = name ~= "" and name or nil
    return label
end

local function one_level(problem, solution)
    return not problem.level or not solution.level or problem.level == solution.level
end

local function found_by(problems, solution, key)
    local found = {}
    if solution[key] == nil then return found end
    for _, problem in ipairs(problems) do
        if problem[key] == solution[key] and one_level(problem, solution) then found[#found + 1] = problem end
    end
    return found
end

local function where(list, holds)
    local found = {}
    for _, problem in ipairs(list) do
        if holds(problem) then found[#found + 1] = problem end
    end
    return found
end

-- A name says nothing that its number does not, unless it is that of another problem: then both may be meant.
local function candidates(problems, solution)
    local by_number, by_name = found_by(problems, solution, "number"), found_by(problems, solution, "name")
    if not solution.number then return by_name end
    if #by_number == 0 then return where(by_name, function(problem) return not problem.number end) end
    local both = where(by_number, function(problem) return problem.name == solution.name end)
    if #both > 0 then return both end
    return table.move(by_name, 1, #by_name, #by_number + 1, by_number)
end

local LAST = math.maxinteger

local function is_before(a, b)
    for _, key in ipairs { "level", "number", "sample" } do
        local left, right = a[key] or LAST, b[key] or LAST
        if left ~= right then return left < right end
    end
    return a.path < b.path
end

local function labels(paths)
    local list = {}
    for i, path in ipairs(paths) do list[i] = matching.label(path) end
    table.sort(list, is_before)
    return list
end

local function paths_of(list)
    local paths = {}
    for i, label in ipairs(list) do paths[i] = label.path end
    return paths
end

-- Enters a problem and what has been found for it.
local function account(result, problem, solutions)
    if #solutions == 0 then table.insert(result.unsolved, problem.path) end
    for _, solution in ipairs(solutions) do
        table.insert(result.pairs, { problem = problem.path, solution = solution.path, sample = solution.sample })
    end
    if #solutions > 1 then
        table.insert(result.several, { problem = problem.path, solutions = paths_of(solutions) })
    end
end

--- Matches two lists of file names (paths; a folder "level1" or a prefix "level1_" tells levels apart). Returns
--- { pairs = { { problem, solution, sample (number or nil) } } by level, number and sample; several = { { problem,
--- solutions } } for problems with more than one; ambiguous = { { solution, problems } }, also where the number is that
--- of one problem and the name that of another; unsolved = problems, unknown = solutions that nothing belongs to }.
function matching.match(problems, solutions)
    local result = { pairs = {}, several = {}, ambiguous = {}, unsolved = {}, unknown = {} }
    local known, taken = labels(problems), {}
    for _, problem in ipairs(known) do taken[problem] = {} end
    for _, solution in ipairs(labels(solutions)) do
        local found = candidates(known, solution)
        if #found == 1 then
            table.insert(taken[found[1]], solution)
        elseif #found > 1 then
            table.insert(result.ambiguous, { solution = solution.path, problems = paths_of(found) })
        else
            table.insert(result.unknown, solution.path)
        end
    end
    for _, problem in ipairs(known) do account(result, problem, taken[problem]) end
    return result
end

return matching
