-- Builds that take long, for many solutions at once and before anything is timed: a builder is a process that asks its
-- evaluator for builds alone. The workers find them in the cache. What fails here fails there again, and is told there.

local evaluator = require "ako.evaluator"
local exits = require "ako.exits"
local fault = require "ako.fault"
local fs = require "ako.fs"
local host = require "ako.host"
local json = require "ako.json"
local python = require "ako.python"
local suite_claims = require "ako.suite_claims"
local unit = require "ako.unit"

local suite_builder = {}

local must = fault.must

-- A trial needs a task; nothing of this one is ever run.
local SHAPES = { y = { 1 } }
local TASK = { name = "builds", tensors = { { name = "y", dtype = "f32", role = "output" } },
    workloads = { { id = "build", shapes = SHAPES, weight = 1.0 } } }
local TOLERANCE = { predicate = "allclose_ref", atol = 0.0, rtol = 0.0, ratio = 1.0, cap = 0.0, equal_nan = false,
    equal_inf = false }

local function reference()
    local call = { symbol = "none", line = 0, args = json.array { { tensor = "y" } } }
    return { lane = "c", sources = { { name = "none.c", text = "void none(float *y) { *y = 0; }\n" } },
        options = json.array {}, defines = json.array {},
        workloads = { { scratch = json.array {}, calls = { call } } } }
end

local function build(started, ctx, solution)
    local sources = unit.read(fs.dirname(solution), { fs.basename(solution) })
    if not sources then return end
    local limits = { build = math.tointeger(ctx.policy.budget.build * 1000000000 // 1) }
    return started:build(unit.in_python({ place = started.place, workloads = TASK.workloads }, sources),
        { limits = limits })
end

--- Does its share of a job's builds; returns the exit code. Raises faults.
function suite_builder.run(ctx, job)
    local given = must(json.decode(must(fs.read(fs.join(job.folder, "job.json")))))
    local started <close> = must(evaluator.start { device = given.devices[1 + (job.slot - 1) % #given.devices],
        python = python.facts(ctx.host.python) })
    must(started:task(TASK, TOLERANCE, reference()))
    for number, solution in ipairs(given.builds) do
        host.refill()
        local claim <close> = suite_claims.take(fs.join(given.claims, "builds"), number)
        if claim then
            local _, _, code = build(started, ctx, solution)
            if code == "CANCELLED" then return exits.INTERRUPTED end
            claim:finish()
            if code then return exits.of_code(code) end -- the evaluator is gone
        end
    end
    return exits.DONE
end

return suite_builder
