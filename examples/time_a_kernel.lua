-- Times a task's solution with no loop and no policy's verdict: ako-lua examples/time_a_kernel.lua [FOLDER OF TASK]
local evaluator, plans, tasks = require "ako.evaluator", require "ako.plan", require "ako.task"
local unit = require "ako.unit"

local e <close> = assert(evaluator.start { device = "auto" })
local task = assert(tasks.resolve(assert(tasks.load(... or "examples/rmsnorm")), e.place))
local plan = assert(plans.resolve(require "policies.kernelbench", task))
assert(e:task(task, plan.tolerance, plan.reference))

local sources = assert(unit.read(task.folder, task.solution.files))
local result = assert(e:time(assert(unit.make(task, task.solution, sources, task.reference)), plan.steps))
for i, workload in ipairs(result.workloads) do
  local ns = workload.time.median
  print(("%-20s %12.1f us %8.1f GB/s"):format(workload.id, ns / 1e3, task.workloads[i].bytes / ns))
end
