-- ako.device: what holds on every machine, with or without a GPU.
local t = require "ako.tap"
local device = require "ako.device"

t.test("the CPU is always there, and last", function()
    local list = assert(device.list())
    t.eq(#list, (device.count()))
    local cpu = list[#list]
    t.eq(cpu.id, "cpu")
    t.eq(cpu.place, "cpu")
    t.ok(#cpu.name > 0, "it has a name")
    t.match(cpu.uuid, "^CPU%-%x+$")
    t.ok(cpu.cores >= 1 and cpu.threads >= 1, "it has cores")
    t.ok(cpu.memory_bytes > 0, "it has memory")
    t.eq(cpu.sm_count, nil)
end)

t.test("auto is the first GPU, else the CPU", function()
    local n, why = device.count()
    local found = assert(device.find "auto")
    t.eq(found.id, n > 1 and "cuda:0" or "cpu")
    t.eq(why == nil, n > 1)
    t.eq(device.find().id, found.id)
end)

t.test("a device that is not there is told from one that is no device", function()
    local got, message, code = device.find "cuda:999"
    t.fails("no device cuda:999", got, message, code, "UNAVAILABLE")
    for _, spec in ipairs { "", "gpu", "cuda:", "cuda:-1", "cuda:1x", "CPU" } do
        got, message, code = device.find(spec)
        t.fails("is no device: use auto, cpu, cuda or cuda:N", got, message, code, "INVALID")
    end
end)

t.test("a GPU has what a roofline needs", function()
    if device.count() == 1 then
        t.skip("no GPU")
    end
    local gpu = assert(device.find "cuda:0")
    t.match(gpu.uuid, "^GPU%-%x+%-%x+%-%x+%-%x+%-%x+$")
    t.match(gpu.arch, "^sm_%d+a?$")
    t.ok(gpu.sm_count > 0 and gpu.l2_bytes > 0 and gpu.memory_bytes > 0, "sizes are known")
    t.ok(gpu.peak_dram_bytes_per_s > 1e10, "the peak bandwidth is known")
end)

t.test("the state of a GPU is read, that of a CPU is not", function()
    local state, message, code = device.state "cpu"
    t.fails("NVML knows GPUs alone", state, message, code)
    if device.count() == 1 then
        t.skip("no GPU")
    end
    state = assert(device.state "cuda:0")
    t.ok(state.temperature_c > 0 and state.sm_clock_mhz > 0, "sensors can be read")
end)
