-- Every problem of tests/problems with its solutions through the Python lane: each ends as its first line says.
local fs = require "ako.fs"
local lane = require "lane"
local t = require "ako.tap"

local TOP = fs.join(t.home, "tests/problems")

-- Solutions of one problem that can run here, in order.
local function solutions_of(level, name, place)
    local kinds, list = { "right", "wrong" }, {}
    if place == "gpu" then kinds[3], kinds[4] = "triton", "cuda" end
    if place == "cpu" and name == "15_SumDim" then kinds[3] = "cpp" end
    for _, kind in ipairs(kinds) do
        local file = fs.join(TOP, ("%s/solutions/%s.%s.py"):format(level, name, kind))
        if fs.exists(file) then list[#list + 1] = { kind = kind, text = assert(fs.read(file)) } end
    end
    return list
end

local function check(task, solution)
    local expected = solution.text:match("^# expect: ([A-Z_]+)")
    local timed = expected == "PASSED" and 3 or nil
    local result = lane.try(task, solution.text, { launches = timed })
    t.eq(result.status, expected, ("%s: %s"):format(solution.kind, result.reason))
    if timed then
        local workload = result.workloads[1]
        t.ok(workload.time.median > 0 and workload.reference.median > 0, "both are timed")
    end
end

for _, level in ipairs { "level1", "level2", "level3" } do
    for _, entry in ipairs(assert(fs.list(fs.join(TOP, level)))) do
        local name = entry:match("^(.+)%.py$")
        if name then
            t.test(level .. "/" .. name, function()
                local file = fs.join(TOP, level .. "/" .. entry)
                local place = lane.evaluator().place
                local task = assert(lane.task(file))
                for _, solution in ipairs(solutions_of(level, name, place)) do check(task, solution) end
            end)
        end
    end
end

lane.restart()
