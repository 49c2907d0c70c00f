-- A start without an evaluator where that can be, for verbs that measure nothing: the task, the workspace and, over a
-- session, a loop that renders logs and commits.

local device = require "ako.device"
local fault = require "ako.fault"
local pick = require "ako.pick"
local start = require "ako.start"

local idle = {}

-- Stands where an evaluator would.
local function stand_in(place, facts)
    return function()
        return { place = place, device = facts, versions = {}, task = function() return {} end,
            close = function() end }
    end
end

-- The place of the device that a trial would take first; then the other, for a task that has no form for it.
local function places(ctx, known)
    if known then return { known.id ~= "cpu" and "gpu" or "cpu" } end
    local found, problem, code = device.find(ctx.host.device or "auto")
    if not found then fault.raise(code, "%s", problem) end
    if found.id == "cpu" then return { "cpu", "gpu" } end
    return { "gpu", "cpu" }
end

--- What ako.start.new gives, with nothing that could measure. `known`: the device of the session's first line, nil
--- without a session. Raises faults.
function idle.start(ctx, known)
    ctx = pick.going_on(ctx)
    local problem, code
    for _, place in ipairs(places(ctx, known)) do
        local facts = known or { id = place == "cpu" and "cpu" or "cuda", name = "no device yet" }
        local own = setmetatable({ stand_in = stand_in(place, facts) }, { __index = ctx })
        local started, why, kind = fault.catch(start.new, own)
        if started then return started end
        problem, code = problem or why, code or kind
    end
    fault.raise(code, "%s", problem)
end

return idle
