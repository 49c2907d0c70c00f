-- An evaluator on a device: ours is `ako-worker evaluator`, spoken to in the JSON lines of docs/protocol.md.
--   local e <close> = assert(evaluator.start { device = "auto" })
--   assert(e:task(task, tolerance, reference_unit))
--   local result = assert(e:trial(unit, { "build", "check", "time" }, plan))
-- What goes wrong in a candidate is in the result; nil, message, code mean that the machine could not say.

local fs = require "ako.fs"
local json = require "ako.json"
local worker = require "ako.worker"

local evaluator = {}

local Evaluator = {}
Evaluator.__index = Evaluator

--- Starts an evaluator. options.device: "auto", "cpu" or "cuda:N"; options.python (ako.python's facts): for tasks of
--- Python; options.progress(event): called while a request runs. Returns it with .device (name, uuid, arch, place ...),
--- .versions and .place ("gpu" or "cpu").
function evaluator.start(options)
    local handle, problem, code = worker.start()
    if not handle then return nil, problem, code end
    local self = setmetatable({ handle = handle, progress = options.progress }, Evaluator)
    self.hello = { op = "hello", device = options.device or "auto", protocol = 1, python = options.python }
    local answer
    answer, problem, code = self:request(self.hello)
    if not answer then
        self:close()
        return nil, problem, code
    end
    self.device, self.versions, self.place = answer.device, answer.versions, answer.device.place
    return self
end

function Evaluator:request(message)
    return self.handle:request(message, self.progress)
end

--- Whether it still answers, or has come to an end of its own.
function Evaluator:is_there() return self:request(self.hello) ~= nil end

local function init_message(init, keys)
    if not init then return nil end
    if not init.file then return { kind = init.kind, a = init.a, b = init.b } end
    local member = (init.format == "npz" or init.format == "safetensors") and init.member or nil
    return { file = keys[init.file], format = init.format, member = member }
end

local function upload_inputs(self, task)
    local keys = {}
    for _, tensor in ipairs(task.tensors) do
        local file = tensor.init and tensor.init.file
        if file and not keys[file] then
            local key, problem, code = self.handle:upload(fs.join(task.folder, file))
            if not key then return nil, problem, code end
            keys[file] = key
        end
    end
    return keys
end

local function task_message(task, keys)
    local message = { name = task.name, tensors = {}, workloads = {}, python = task.python }
    for i, tensor in ipairs(task.tensors) do
        message.tensors[i] = { name = tensor.name, dtype = tensor.dtype, role = tensor.role,
            init = init_message(tensor.init, keys) }
    end
    for i, workload in ipairs(task.workloads) do
        local shapes = {}
        for name, shape in pairs(workload.shapes) do shapes[name] = json.array(shape) end
        message.workloads[i] = { id = workload.id, shapes = shapes, weight = workload.weight, bytes = workload.bytes }
    end
    return message
end

--- Gives it what must be computed: a resolved task (ako.task), the tolerance, the unit of the reference. `pairs`: there
--- will be trials with an incumbent, whose process may start now.
function Evaluator:task(task, tolerance, reference, pairs)
    local keys, problem, code = upload_inputs(self, task)
    if not keys then return nil, problem, code end
    local message = task_message(task, keys)
    message.tolerance, message.reference = tolerance, reference
    return self:request { op = "task", task = message, pairs = pairs or nil, lane = task.python and reference.lane }
end

--- What a Python problem asks for: `unit` has its files, `question` is for it (stdlib/python). Returns the answer with
--- .description. nil seconds: no limit.
function Evaluator:describe(unit, question, seconds)
    return self:request { op = "describe", unit = unit, question = question,
        limit = seconds and math.tointeger(seconds * 1000000000 // 1) }
end

--- Runs steps of a trial on a unit (ako.unit): a list out of "build", "check" and "time". `plan` has check, time and
--- limits as docs/protocol.md describes them. With `incumbent`, another unit, and plan.time.pairs the two are timed in
--- turn. Returns the result.
function Evaluator:trial(unit, steps, plan, incumbent)
    return self:request { op = "trial", unit = unit, steps = steps, check = plan.check, time = plan.time,
        limits = plan.limits, incumbent = incumbent }
end

--- Screens units against an incumbent. `plan` has check, limits and time with time.screen. Returns the answer.
function Evaluator:screen(units, incumbent, plan)
    return self:request { op = "screen", units = units, incumbent = incumbent, check = plan.check, time = plan.time,
        limits = plan.limits }
end

--- One step alone.
function Evaluator:build(unit, plan) return self:trial(unit, { "build" }, plan or {}) end
function Evaluator:check(unit, plan) return self:trial(unit, { "build", "check" }, plan or {}) end
function Evaluator:time(unit, plan) return self:trial(unit, { "build", "time" }, plan or {}) end

--- Attacks the task it was given: `request` has seed, other, limit and tolerances as docs/protocol.md describes them.
--- Returns the answer, also when the reference is at fault.
function Evaluator:attack(request)
    return self:request { op = "attack", seed = request.seed, other = request.other, limit = request.limit,
        tolerances = request.tolerances, wider = request.wider }
end

--- Stops it and everything below it; closing twice is fine.
function Evaluator:close()
    if self.handle then self.handle:close() end
    self.handle = nil
end

Evaluator.__close = Evaluator.close
Evaluator.__gc = Evaluator.close

return evaluator
