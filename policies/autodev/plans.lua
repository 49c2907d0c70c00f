-- The plan of an experiment: a file that is written before it, so that a forecast can be held against what came of it.

local format = require "ako.format"
local fs = require "ako.fs"
local gates = require "ako.gates"
local git = require "ako.git"
local matrix = require "policies.autodev.matrix"
local versions = require "policies.autodev.versions"

local plans = {}

plans.FIELDS = { "Bottleneck", "Change", "Mechanism", "Magnitude", "Disproof", "Fallback", "Cell" }

local OPTIONAL = { "Sources", "Difference", "Warnings" }

local LONGEST = 1000 -- characters of a field in the record; the file has the rest

plans.TEMPLATE = [[
# Plan of an experiment

Copy this to plan_vN.md, N being the version that comes next (for a file of --candidates: to NAME.md, for a tune space:
to tune.md), and fill it in before you edit. What is left in <> counts as missing.

- Bottleneck: <what binds the kernel now, with the figure that says so>
- Change: <the one change>
- Mechanism: <why it should help>
- Magnitude: <how much faster, in per cent>
- Disproof: <what measurement would show that the idea is wrong>
- Fallback: <what to try if it fails>
- Cell: <CLASS / PHASE: TECHNIQUE of the strategy matrix, or sweep: ITEM>

Only where they apply:

- Sources: <after a search: where the idea comes from, and why this one>
- Difference: <for a technique that was tried before: what is different now>
- Warnings: <the warnings that perf_log.md names, and what changes because of them>
]]

-- Where the plan of a proposal must be: by its version, or by the name of a file that has been there before it.
local function path_of(run, proposal)
    local by_version = gates.path("plan/plan_v{v}.md", run)
    if proposal.point then return "plan/tune.md" end
    local name = proposal.candidate and fs.basename(proposal.candidate)
    local by_name = name and ("plan/%s.md"):format(name)
    local is_there = fs.exists(fs.join(run.workspace, by_version))
    if by_name and not is_there and fs.exists(fs.join(run.workspace, by_name)) then return by_name end
    return by_version
end

local function recorded(text) return text and format.cut(format.utf8(text), LONGEST) end

--- The plan of a proposal: { file, hash, technique, direction, class, phase, item } and its fields in lower case; nil
--- and what is missing.
function plans.read(run, proposal)
    local path = path_of(run, proposal)
    local missing = gates.file { path = path, fields = plans.FIELDS, text = "the plan (as plan/TEMPLATE.md)" }(run)
    if missing then return nil, missing end
    local text = fs.read(fs.join(run.workspace, path))
    local fields = gates.fields(text)
    local plan, problem = matrix.cell(fields.cell:match("[^\n]*"))
    if not plan then return nil, ("the plan: %s: %s"):format(path, problem) end
    for _, list in ipairs { plans.FIELDS, OPTIONAL } do
        for _, name in ipairs(list) do plan[name:lower()] = recorded(fields[name:lower()]) end
    end
    plan.technique = recorded(plan.technique)
    plan.file, plan.hash = format.utf8(path), git.hash(text)
    return plan
end

--- The versions whose plan had this technique, oldest first.
function plans.with_technique(history, technique)
    local list, wanted = {}, versions.plain(technique)
    for _, record in ipairs(history) do
        if versions.plain(versions.plan(record).technique) == wanted then list[#list + 1] = record end
    end
    return list
end

return plans
