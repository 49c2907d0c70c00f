-- What `run` would do with a folder of problems: who belongs to whom, and what is known of it. Nothing is written.

local format = require "ako.format"
local fs = require "ako.fs"
local json = require "ako.json"
local output = require "ako.output"
local suite_pairs = require "ako.suite_pairs"
local suite_table = require "ako.suite_table"
local suite_work = require "ako.suite_work"

local suite_plan = {}

-- The status that is known of an entry, or what there is to do; and whether it is to be evaluated.
local function state_of(entry)
    if not entry.sample then return "no solution", false end
    if suite_work.is_known(entry) then return entry.line.record.status, false end
    return "to evaluate", true
end

local function rows_of(work, entries)
    local rows = { { "problem", "solution", "known" } }
    for _, entry in ipairs(entries) do
        local solution = entry.sample and format.line(suite_pairs.below(work.found.from, entry.sample.solution)) or "-"
        rows[#rows + 1] = { format.line(entry.item.name), solution, (state_of(entry)) }
    end
    return rows
end

local function object_of(work, entries)
    local object = { v = 1, task = work.found.top, solution = work.found.from, folder = work.folder,
        total = work.total, devices = json.array {}, pairs = json.array {},
        ambiguous = json.array(work.found.ambiguous), unknown = json.array(work.found.unknown) }
    for i, one in ipairs(work.devices) do object.devices[i] = one.id end
    for i, entry in ipairs(entries) do
        local sample = entry.sample or {}
        local _, is_to_do = state_of(entry)
        object.pairs[i] = { problem = entry.item.problem, solution = sample.solution or json.null,
            sample = sample.number or json.null, evaluate = is_to_do,
            status = entry.line and entry.line.record.status or json.null }
    end
    return object
end

--- Says it, as a table or as one JSON object. Returns the exit code. Raises faults.
function suite_plan.tell(ctx)
    local work = suite_work.look(ctx)
    suite_work.survey(work)
    local entries, lines = suite_work.entries(work), suite_work.lines(work)
    if not fs.exists(work.folder) then lines[2] = lines[2] .. " (new)" end
    for _, row in ipairs(suite_table.laid_out(rows_of(work, entries))) do lines[#lines + 1] = row end
    return output.either(ctx, object_of(work, entries), table.concat(lines, "\n") .. "\n")
end

return suite_plan
