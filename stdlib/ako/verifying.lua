-- The end of a session: the best restored byte for byte and measured once more. `loop` is of ako.loop.

local fault = require "ako.fault"
local fs = require "ako.fs"
local measuring = require "ako.measuring"
local plan = require "ako.plan"
local trial = require "ako.trial"
local unit = require "ako.unit"

local verifying = {}

local must = fault.must

-- One fresh run of the original against the final best: steps' gains multiplied would multiply their errors too.
local function headline_plan(loop)
    local session = loop.session
    local comparable = session.original and session.original.status == "PASSED" and session.best ~= session.original
    local numbers = comparable and plan.pairs(loop.policy, loop.opt)
    if not numbers then return nil end
    numbers.looks, numbers.hopeless = { loop.policy.timing.pairs.headline or numbers.looks[#numbers.looks] }, 0
    return numbers
end

-- Where the bytes of a file may lie that nobody loses: the user's own commit, and those of all trials.
local function held(session)
    local head, commits = session.repo:head(), {}
    commits[1] = head and head.oid
    for _, record in ipairs(session.history) do commits[#commits + 1] = record.commit end
    return commits
end

-- The workspace's files are the best's, byte for byte, or nothing is said about them. What the last trial could not
-- judge and left there is in its record.
local function restore_best(loop)
    local session, best = loop.session, loop.session.best
    local done, problem, code = session:restore(session.history[#session.history].commit)
    if not done and code == "BUSY" then done, problem, code = session:restore(held(session)) end
    must(done, problem, code)
    for _, source in ipairs(must(session:sources(best))) do
        local same = fs.read(fs.join(session.ws.folder, source.name)) == source.text
        fault.check(same, "%s is not what trial %d had", source.name, best.trial)
    end
end

local function measure_best(loop)
    local session, best = loop.session, loop.session.best
    loop.progress:start(best.trial, { candidate = "best, verified" })
    local given = must(unit.make(loop.task, loop.task.solution,
        must(unit.read(session.ws.folder, loop.task.solution.files)), loop.task.reference))
    local context = measuring.context(loop, best)
    local numbers = headline_plan(loop)
    local incumbent = numbers and measuring.unit_of(loop, session.original)
    context.against = "original"
    local record = trial.record(measuring.ask(loop, given, measuring.ALL_STEPS, numbers, incumbent), context)
    for _, name in ipairs { "verdict", "override", "override_reason", "tree", "commit", "files" } do
        record[name] = best[name]
    end
    if record.status == "PASSED" then record.reason = best.reason end
    measuring.name_unit(record, given)
    loop.progress:verified(record)
    return record
end

--- Checks that the workspace holds the best's bytes and measures them once more, as often as the policy's timing.verify
--- says. Returns the record of that (of several their mean, ako.trial), with .trial the best's number; it changes
--- nothing that was decided.
function verifying.verify(loop)
    restore_best(loop)
    local records = {}
    for i = 1, loop.policy.timing.verify or 1 do
        records[i] = measure_best(loop)
        if records[i].status ~= "PASSED" then return records[i] end
    end
    return trial.mean(records)
end

return verifying
