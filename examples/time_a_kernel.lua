-- Times a task's solution with no loop and no policy's verdict: ako-lua examples/time_a_kernel.lua FOLDER
-- FOLDER has a task.lua; without it examples/rmsnorm is timed, which lies in the folder of ako-lua's README.
local evaluator, plans, tasks = require "ako.evaluator", require "ako.plan", require "ako.task"
local fault, unit = require "ako.fault", require "ako.unit"

local definition, why, code = tasks.load(... or "examples/rmsnorm")
if not definition then fault.raise(code, "%s; name a folder that has a task.lua: time_a_kernel.lua FOLDER", why) end

local e <close> = assert(evaluator.start { device = "auto" })
local task = assert(tasks.resolve(definition, e.place))
local plan = assert(plans.resolve(require "policies.kernelbench", task))
assert(e:task(task, plan.tolerance, plan.reference))

local sources = assert(unit.read(task.folder, task.solution.files))
local result = assert(e:time(assert(unit.make(task, task.solution, sources, task.reference)), plan.steps))
for i, workload in ipairs(result.workloads) do
  local ns = workload.time.median
  print(("%-20s %12.1f us %8.1f GB/s"):format(workload.id, ns / 1e3, task.workloads[i].bytes / ns))
end
