-- What an experiment needs before it may begin: each a function(run, proposal, opt, plan) that returns nil or what is
-- missing. The numbers come from the policy.

local evidence = require "policies.autodev.evidence"
local format = require "ako.format"
local git = require "ako.git"
local json = require "ako.json"
local matrix = require "policies.autodev.matrix"
local plans = require "policies.autodev.plans"
local session = require "ako.session"
local versions = require "policies.autodev.versions"
local watch = require "policies.autodev.watch"

local discipline = {}

-- Headers

-- What comes with the compilers is no dependency.
local STANDARD = { "^std%a+%.h$", "^math%.h$", "^float%.h$", "^limits%.h$", "^string%.h$", "^assert%.h$",
    "^%a*intrin%.h$", "^cuda[%w_]*%.h$", "^cuda/", "^cooperative_groups", "^mma%.h$", "^c%a+$", "^type_traits$",
    "^vector_types%.h$", "^pthread%.h$", "^unistd%.h$", "^omp%.h$" }

local function is_standard(header)
    for _, pattern in ipairs(STANDARD) do
        if header:find(pattern) then return true end
    end
end

--- The headers that sources include from elsewhere, sorted: { "cub/cub.cuh" }.
function discipline.headers(sources)
    local set, list = {}, json.array {}
    for _, source in ipairs(sources) do
        for header in ("\n" .. source.text):gmatch("\n%s*#%s*include%s*[<\"]([^>\"\n]+)[>\"]") do
            header = format.utf8(header)
            if not is_standard(header) and not set[header] then list[#list + 1] = header end
            set[header] = true
        end
    end
    table.sort(list)
    return list
end

-- "cub, cutlass/" allows all whose path begins so.
local function is_allowed(header, opt, known)
    for _, name in ipairs(known or {}) do
        if name == header then return true end
    end
    for name in opt.allow:gmatch("[^%s,]+") do
        if header:sub(1, #name) == name then return true end
    end
end

--- No header that the baseline did not have, unless the user allows it.
function discipline.dependencies(run, proposal, opt)
    local baseline = versions.baseline(run.history)
    local known = baseline and baseline.facts and baseline.facts.headers
    for _, header in ipairs(baseline and discipline.headers(proposal.sources) or {}) do
        if not is_allowed(header, opt, known) then
            return ("%s is a new dependency: ask for it, or allow it with --allow=%s"):format(header,
                header:match("^[^/.]+"))
        end
    end
end

-- The plan's idea

--- An approach that has crashed `count` times is left alone.
function discipline.blocked(count)
    return function(run, _, _, plan)
        local names = {}
        for _, record in ipairs(plans.with_technique(run.history, plan.technique)) do
            if versions.outcome(record) == "CRASH" then names[#names + 1] = versions.name(record.trial) end
        end
        if #names < count then return nil end
        return ("'%s' is blocked: it has crashed %d times (%s); try something else"):format(plan.technique, #names,
            table.concat(names, ", "))
    end
end

--- A technique is tried once, unless the plan says what is different now. What could not be measured may be repeated.
function discipline.duplicate(run, _, _, plan)
    local before = plans.with_technique(run.history, plan.technique)
    local last = before[#before]
    if not last or plan.item or plan.difference then return nil end
    if versions.outcome(last) == "UNMEASURED" then return nil end
    return ("'%s' was tried in %s (%s); name in the plan's Difference what is new"):format(plan.technique,
        versions.name(last.trial), versions.outcome(last))
end

--- The sweep's items go in order, each once; the points of a tune space are one experiment.
function discipline.sweep(run, proposal, _, plan)
    local next_item = matrix.left(run)[1]
    if not plan.item or plan.item == next_item then return nil end
    local done = matrix.swept(run)[plan.item]
    if done and proposal.point then return nil end
    if done then
        local instead = next_item and ("next is '%s'"):format(next_item)
            or "so are all of its items: take a cell of the matrix"
        return ("the sweep's '%s' is done (%s); %s"):format(plan.item, done, instead)
    end
    return ("the sweep goes in order, next is '%s' (an item that cannot apply: `note --topic=sweep -m '%s: not "
        .. "applicable: why'`)"):format(next_item, next_item)
end

--- After `count` failures in a row in one cell another one is wanted; the sweep has an order of its own.
function discipline.direction(count)
    return function(run, _, _, plan)
        local failures = versions.failures(run.history)
        if plan.item or #failures < count then return nil end
        for i = #failures - count + 1, #failures do
            if versions.plan(failures[i]).direction ~= plan.direction then return nil end
        end
        return ("%d failures in a row in %s: change to another cell of the matrix, or to the sweep"):format(count,
            plan.direction)
    end
end

--- On a plateau small moves are over.
function discipline.plateau(number)
    return function(run, _, _, plan)
        local phase, why = matrix.phase(run, number)
        if phase ~= "plateau" or plan.item or plan.phase == "plateau" then return nil end
        return ("a plateau (%s): take a cell CLASS / plateau, or the sweep"):format(why)
    end
end

--- The plan that follows a search says where its idea comes from; an item of the sweep comes from nowhere.
function discipline.sources(run, _, _, plan)
    if plan.item or plan.sources or not evidence.search(run, #run.history - 1) then return nil end
    return "a search came before this plan: say in its Sources where the idea comes from, and why this one"
end

--- A plan names the warnings that are open.
function discipline.warnings(number)
    return function(run, _, opt, plan)
        for _, warning in ipairs(watch.active(run, opt, number)) do
            if not versions.plain(plan.warnings):find(versions.plain(warning.name), 1, true) then
                return ("%s: %s; answer it in the plan: 'Warnings: %s, so ...'"):format(warning.name, warning.text,
                    warning.name)
            end
        end
    end
end

-- Workers

local function is_same(repo, record, paths, sources)
    for i, path in ipairs(paths) do
        if not sources[i] or repo:read(record.commit, path) ~= sources[i].text then return false end
    end
    return true
end

-- Whether another session of the repository has kept these very bytes; nil and why that is not known.
local function has_kept(run, name, sources)
    if not session.is_name(name) then return nil, "that is no name" end
    local repo, problem = git.open(run.workspace)
    if not repo then return nil, problem end
    local state
    state, problem = session.read(repo, name)
    local found = false
    for _, record in ipairs(state and versions.kept(state.history) or {}) do
        found = found or is_same(repo, record, run.task.solution, sources)
    end
    repo:close()
    return state and found or nil, problem or "it has not kept them"
end

--- "merge: SESSION" joins what two workers have found: the other one's session must have kept these bytes too, so that
--- they have been measured against both parents.
function discipline.merge(run, proposal)
    local name = (proposal.hypothesis or ""):match("^%s*merge:%s*(%S+)")
    if not name then return nil end
    local kept, problem = has_kept(run, name, proposal.sources)
    if kept then return nil end
    return ("a merge is measured against both parents, but session %s: %s; try these sources there first"):format(name,
        problem)
end

-- All of it

local function first_missing(checks, ...)
    for _, check in ipairs(checks) do
        local missing = check(...)
        if missing then return missing end
    end
end

--- A gate of the checks that need no plan, and of those that need one; it also returns the plan. The points of a tune
--- space are one experiment, with one plan: there is nothing else to ask before each.
function discipline.gate(without_plan, with_plan)
    return function(run, proposal, opt)
        if not versions.baseline(run.history) then return nil end
        local missing = not proposal.point and first_missing(without_plan, run, proposal, opt)
        if missing then return missing end
        local plan, problem = plans.read(run, proposal)
        if not plan then return problem end
        missing = first_missing(proposal.point and { discipline.sweep } or with_plan, run, proposal, opt, plan)
        if missing then return missing end
        return nil, plan
    end
end

--- As checks without a plan.
function discipline.profiled(number)
    return function(run, _, opt) return evidence.missing_profile(run, opt, number) end
end

function discipline.searched(count)
    return function(run) return evidence.missing_search(run, count) end
end

return discipline
