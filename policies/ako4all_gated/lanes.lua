-- Implementation lanes: the lane of every trial is a fact of its record, and another one than the best's is a switch,
-- for which its author gives a reason beforehand.

local gates = require "ako.gates"

local lanes = {}

-- Patterns of sources; the first lane that has one is it.
local MARKS = {
    { "cute-dsl", "cutlass%.cute", "import%s+cute%f[%W]" },
    { "triton", "@triton%.jit", "import%s+triton" },
    { "cutlass", '#%s*include%s*[<"]cutlass/', '#%s*include%s*[<"]cute/' },
    { "cuda", "__global__", "load_inline" },
}
local BY_EXTENSION = { cu = "cuda", cuh = "cuda", c = "c", h = "c", py = "python" }

--- All lanes. The four of GPUs, then what else a solution may be written in.
lanes.NAMES = { "triton", "cuda", "cutlass", "cute-dsl", "c", "python" }

--- "cuda+cutlass" -> { "cuda", "cutlass" }
function lanes.split(text)
    local list = {}
    for name in text:gmatch("[^+]+") do list[#list + 1] = name end
    return list
end

--- The check of the option: "auto", or lanes with "+" between them.
function lanes.is_lane(value)
    for _, name in ipairs(lanes.split(value)) do
        local known = value == "auto"
        for _, lane in ipairs(lanes.NAMES) do known = known or name == lane end
        if not known then return false, "must be auto, or one of " .. table.concat(lanes.NAMES, ", ") end
    end
    return value ~= "", "must name a lane, or be auto"
end

local function has_mark(text, marks)
    for i = 2, #marks do
        if text:find(marks[i]) then return true end
    end
end

--- The lane of sources { { name, text }, ... } under the option --lane; nil where they do not show it.
function lanes.of(sources, opt)
    if opt.lane ~= "auto" then return opt.lane end
    for _, marks in ipairs(MARKS) do
        for _, source in ipairs(sources) do
            if has_mark(source.text, marks) then return marks[1] end
        end
    end
    return sources[1] and BY_EXTENSION[sources[1].name:match("%.(%w+)$") or ""]
end

--- The lane of a record; nil where none was recorded.
function lanes.of_record(record) return record and record.facts and record.facts.lane end

--- The lane that a proposal would be in; the best's where nothing is proposed.
function lanes.proposed(run, proposal, opt)
    if gates.is_question(proposal) then return lanes.of_record(run.best) or lanes.of({}, opt) end
    return lanes.of(proposal.sources, opt)
end

-- Why the lane is switched to this one, by the newest note about it since the best was kept.
local function reason_of(run, lane)
    for i = #run.notes, 1, -1 do
        local note = run.notes[i]
        local named, why = (note.text or ""):match("^%s*([%w+-]+)%s*:%s*(%S.*)$")
        if note.topic == "lane" and named == lane and (note.trial or -1) >= run.best.trial then return why end
    end
end

--- A gate: the lane is known, and a switch has its reason. Both become facts of the trial: lane; lane_from, lane_why.
function lanes.gate()
    return function(run, proposal, opt)
        if gates.is_question(proposal) then return nil end
        local lane, before = lanes.of(proposal.sources, opt), lanes.of_record(run.best)
        if not lane then return "the lane cannot be seen from the sources: name it with --lane=NAME" end
        if not before or before == lane then return nil, { lane = lane } end
        local why = reason_of(run, lane)
        if not why then
            return ("a switch of the lane, from %s to %s, needs its reason beforehand: "
                .. "note --topic=lane -m '%s: WHY'"):format(before, lane, lane)
        end
        return nil, { lane = lane, lane_from = before, lane_why = why }
    end
end

return lanes
