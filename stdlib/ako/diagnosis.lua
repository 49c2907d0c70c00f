-- The doctor's account of a task and a machine: findings as ako.machine has them, { name, state, text, advice }, and
-- what follows from them.

local exits = require "ako.exits"
local json = require "ako.json"

local diagnosis = {}

local MOST = 7 -- of at most ten lines; heading, the good ones and "more" take the others

--- An account with nothing in it yet: { code (for the exit), task (its name), device, checks (findings), weak and
--- tolerance as ako.attack has them, refused, lacking }.
function diagnosis.blank(task, device)
    return { code = exits.DONE, task = task, device = device, checks = {}, weak = {}, refused = false, lacking = false }
end

--- Adds a finding to an account.
function diagnosis.put(found, finding) found.checks[#found.checks + 1] = finding end

--- The same, of its members; `advice` may be nil.
function diagnosis.add(found, name, state, text, advice)
    diagnosis.put(found, { name = name, state = state, text = text, advice = advice })
end

--- The first reason not to go on is the one that the exit code gives.
function diagnosis.give_code(found, code)
    if found.code == exits.DONE then found.code = code end
end

local function verdict_of(found)
    if found.refused then return "refused" end
    if found.code == exits.DONE then return "fine" end
    return found.lacking and "the machine lacks something" or "not fit to start from"
end

--- The JSON form of an account.
function diagnosis.object(found)
    return { v = 1, task = found.task, device = found.device.id, verdict = verdict_of(found), exit = found.code,
        checks = json.array(found.checks), weak = json.array(found.weak), tolerance = found.tolerance or json.null }
end

local function finding_line(finding)
    local advice = finding.advice and "; " .. finding.advice or ""
    return ("%-8s %s: %s%s"):format(finding.state, finding.name, finding.text, advice)
end

local function of_state(found, state)
    local list = {}
    for _, finding in ipairs(found.checks) do
        if finding.state == state then list[#list + 1] = finding end
    end
    return list
end

local function good_line(found)
    local parts = {}
    for _, finding in ipairs(of_state(found, "ok")) do parts[#parts + 1] = finding.name .. ": " .. finding.text end
    return ("%-8s %s"):format("ok", table.concat(parts, "; "))
end

--- At most ten lines for people, the worst first.
function diagnosis.lines(found)
    local lines, more = {}, 0
    for _, state in ipairs { "bad", "warning", "unknown" } do
        for _, finding in ipairs(of_state(found, state)) do
            if #lines < MOST then lines[#lines + 1] = finding_line(finding) else more = more + 1 end
        end
    end
    if more > 0 then lines[#lines + 1] = ("and %d more: --json has them all"):format(more) end
    if #of_state(found, "ok") > 0 then lines[#lines + 1] = good_line(found) end
    table.insert(lines, 1, ("task %s on %s, %s: %s"):format(found.task, found.device.id, found.device.name,
        verdict_of(found)))
    return lines
end

return diagnosis
