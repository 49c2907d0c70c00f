-- Whether this machine can build, check, time and profile, what disturbs it, and what to do about each. `look` gathers
-- facts, `judge` makes findings of them: { name, state, text, advice }, state "ok", "warning", "bad" (a trial cannot
-- run) or "unknown" (nothing can be said). Nothing here decides a verdict.

local device_of = require "ako.device"
local format = require "ako.format"
local fs = require "ako.fs"
local process = require "ako.process"
local quiet = require "ako.quiet"

local machine = {}

local MIB = 1024 * 1024
local CACHE_MB = 2048 -- what core/cache.h keeps unless AKO_CACHE_MB says something else
local LOCKS = "/tmp/ako-lua-locks"
local CAP_SYS_ADMIN = 21 -- its bit
local VERSION_LIMIT_NS = 5000000000

-- Facts

local function first_line(path) return (fs.read(path, 65536) or ""):match("^[^\n]+") end

local function compiler(command)
    local ran, problem = process.run { command, "--version", limit_ns = VERSION_LIMIT_NS, output_cap = 65536 }
    if not ran then return { why = problem } end
    local text = ran.stdout:match("release [%d.]+") or ran.stdout:match("^[^\n]+")
    return ran.ok and { version = text or "" } or { why = ("%s --version: %s"):format(command, ran.how) }
end

local function mib_of(name)
    local kib = (fs.read("/proc/meminfo", 65536) or ""):match(name .. ":%s*(%d+) kB")
    return kib and tonumber(kib) // 1024
end

-- The nearest folder above that is there.
local function existing(path)
    while not fs.exists(path) and path ~= "/" and path ~= "." do path = fs.dirname(path) end
    return path
end

local function room(what, path)
    local available, total = fs.space(existing(path))
    return { what = what, path = path, writable = fs.is_writable(existing(path)), available = available,
        total = available and total or nil }
end

local function has_capability(bit)
    local mask = (fs.read("/proc/self/status", 65536) or ""):match("CapEff:%s*(%x+)")
    if not mask then return nil end
    return tonumber(mask, 16) >> bit & 1 == 1
end

local function admin_only()
    local value = (fs.read("/proc/driver/nvidia/params", 65536) or ""):match("RmProfilingAdminOnly:%s*(%d)")
    if not value then return nil end
    return value == "1"
end

local function gpu_facts(facts)
    facts.state, facts.state_problem = device_of.state(facts.device.id)
    facts.admin_only, facts.sys_admin = admin_only(), has_capability(CAP_SYS_ADMIN)
    facts.nvcc = compiler(fs.is_file("/usr/local/cuda/bin/nvcc") and "/usr/local/cuda/bin/nvcc" or "nvcc")
end

--- The facts that `judge` wants. options: device (a table of ako.device), versions (the libraries, as ako.version has
--- them), folder (where the solution lies), needs_bytes (of memory on the device, or nil), wants_gpu (a GPU is needed).
function machine.look(options)
    local facts = { device = options.device, libraries = {}, needs_bytes = options.needs_bytes,
        wants_gpu = options.wants_gpu }
    for _, library in ipairs(options.versions or {}) do facts.libraries[library.name] = library end
    facts.cc = compiler((os.getenv("CC") or ""):match("%S+") or "cc")
    facts.memory_mib = mib_of("MemAvailable")
    facts.load = tonumber((first_line("/proc/loadavg") or ""):match("^%S+"))
    facts.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    facts.smt = first_line("/sys/devices/system/cpu/smt/active") == "1"
    facts.cache_mib = tonumber(os.getenv("AKO_CACHE_MB") or "") or CACHE_MB
    facts.rooms = { room("the cache", fs.user_dir("cache") or "/"),
        room("temporary files", os.getenv("TMPDIR") or "/tmp"), room("the workspace", options.folder or ".") }
    facts.locks = { path = LOCKS, writable = fs.is_writable(existing(LOCKS)) }
    local _, why = device_of.count()
    facts.no_gpu = why
    if facts.device.place == "gpu" then gpu_facts(facts) end
    return facts
end

-- Findings

local function add(list, name, state, text, advice)
    list[#list + 1] = { name = name, state = state, text = text, advice = advice }
end

local function judge_libraries(list, facts)
    local function library(name, state, advice)
        local found = facts.libraries[name] or { why = "not looked for" }
        if found.why then
            add(list, name, state, found.why, advice)
        else
            add(list, name, "ok", found.version ~= "" and found.version or found.path)
        end
    end
    library("NVIDIA driver", "bad", "install the driver, or start the container with the GPU (--gpus all)")
    library("CUDA Runtime", "bad", "install the CUDA runtime (12.6 or newer), or name its folder in AKO_LIBRARY_PATH")
    library("NVRTC", "bad", "install NVRTC (12.6 or newer), or name its folder in AKO_LIBRARY_PATH")
    library("CUPTI", "warning", "install CUPTI: without it kernels are timed by events, and there are no counters")
    library("NVML", "warning", "without it clocks, throttling and other tenants are not seen: install libnvidia-ml")
end

local function judge_compilers(list, facts)
    local on_cpu = facts.device.place == "cpu"
    if facts.cc.why then
        add(list, "C compiler", on_cpu and "bad" or "warning", facts.cc.why, on_cpu and "install gcc or set CC"
            or "only a reference or solution in C needs it: install gcc or set CC")
    else
        add(list, "C compiler", "ok", facts.cc.version)
    end
    if facts.nvcc and facts.nvcc.why then
        add(list, "nvcc", "unknown", "not found; only the cuda-host lane needs it")
    elseif facts.nvcc then
        add(list, "nvcc", "ok", facts.nvcc.version)
    end
end

local function mib_text(mib) return mib >= 10240 and ("%d GiB"):format(mib // 1024) or ("%d MiB"):format(mib) end

local function judge_disk(list, facts)
    local good = {} -- mostly they share one file system
    for _, place in ipairs(facts.rooms) do
        local left = place.available and place.available // MIB
        if not place.writable then
            add(list, "disk", place.what == "the cache" and "warning" or "bad",
                ("%s for %s cannot be written"):format(place.path, place.what),
                place.what == "temporary files" and "set TMPDIR to a folder of yours" or "make it writable")
        elseif not left then
            add(list, "disk", "unknown", ("how much room %s has for %s is not known"):format(place.path, place.what))
        elseif place.what == "the cache" and left < facts.cache_mib then
            add(list, "disk", "warning", ("%s has %s left, the cache of builds may grow to %s"):format(place.path,
                mib_text(left), mib_text(facts.cache_mib)), "make room, or lower AKO_CACHE_MB")
        elseif left == 0 then
            add(list, "disk", "bad", ("%s has no room left for %s"):format(place.path, place.what), "make room")
        else
            local size = mib_text(left)
            good[size] = (good[size] and good[size] .. " and " or size .. " for ") .. place.what
        end
    end
    for _, text in pairs(good) do add(list, "disk", "ok", text) end
    if facts.locks.writable then return add(list, "locks", "ok", facts.locks.path) end
    add(list, "locks", "warning", facts.locks.path .. " cannot be written: other users' runs are not waited for",
        "make it a folder that all may write (mode 1777)")
end

local function judge_memory(list, facts)
    local needs = facts.needs_bytes and facts.needs_bytes // MIB + 1
    local gpu = facts.device.place == "gpu"
    local free = facts.memory_mib
    if gpu then
        local used = facts.state and facts.state.memory_used_bytes
        free = used and (facts.device.memory_bytes - used) // MIB
    end
    if not free then
        add(list, "memory", "unknown", "how much memory is free is not known")
    elseif needs and needs > free then
        add(list, "memory", "bad", ("%s are free, the task's buffers and their goldens want %s"):format(mib_text(free),
            mib_text(needs)), gpu and "end other programs on the GPU, or make the workloads smaller"
            or "make the workloads smaller")
    else
        add(list, "memory", "ok", mib_text(free) .. " free")
    end
end

local function judge_cpu(list, facts)
    local device = facts.device
    if device.place ~= "cpu" then return end
    if facts.governor and facts.governor ~= "performance" then
        add(list, "clocks", "warning", ("the frequency governor is '%s': short kernels run before the clock has risen")
            :format(facts.governor), "cpupower frequency-set -g performance")
    elseif not facts.governor then
        add(list, "clocks", "unknown", "the frequency governor cannot be read here")
    else
        add(list, "clocks", "ok", "governor performance")
    end
    local threads = device.threads or 1
    if facts.load and facts.load > threads / 2 then
        add(list, "other load", "warning", ("a load of %.2g on %s: times will be noisy"):format(facts.load,
            format.count(threads, "thread")), "wait for other programs to end")
    elseif facts.load then
        add(list, "other load", "ok", ("%.2g on %s%s"):format(facts.load, format.count(threads, "thread"),
            facts.smt and ", of which pairs share a core" or ""))
    end
end

local function judge_absent_gpu(list, facts)
    if facts.wants_gpu then
        add(list, "GPU", "bad", facts.no_gpu or "not used", "see nvidia-smi; in a container start it with the GPU "
            .. "(--gpus all)")
        return judge_libraries(list, facts)
    end
    add(list, "GPU", "unknown", "not used, so nothing is said about its driver, counters and clocks"
        .. (facts.no_gpu and (" (%s)"):format(facts.no_gpu) or ""))
end

local function judge_clocks(list, state)
    local bad = quiet.throttled(state.throttle)
    local now = state.sm_clock_mhz and ("%d of %s MHz now"):format(state.sm_clock_mhz,
        state.sm_clock_max_mhz and tostring(state.sm_clock_max_mhz) or "?") or "cannot be read"
    if #bad > 0 then
        add(list, "clocks", "warning", ("%s, throttled: %s"):format(now, table.concat(bad, ", ")),
            "let it cool down, check its power limit (nvidia-smi -q -d PERFORMANCE,POWER), or lock lower clocks "
            .. "(nvidia-smi -lgc)")
    else
        add(list, "clocks", state.sm_clock_mhz and "ok" or "unknown", now)
    end
    if state.persistence == 0 then
        add(list, "persistence", "warning", "persistence mode is off: the driver starts anew with each run",
            "nvidia-smi -pm 1, as root")
    end
    if state.mig == 1 then
        add(list, "MIG", "ok", "on: figures are those of the slice; power and clocks are shared with the others")
    end
end

local function judge_tenants(list, state)
    if not state.n_processes then
        add(list, "tenants", "unknown", "other processes on the GPU cannot be seen from inside this container",
            "look from outside, with nvidia-smi")
    elseif state.n_processes > 0 then
        add(list, "tenants", "warning", ("%s on the GPU: %s"):format(state.n_processes == 1 and "another process"
            or state.n_processes .. " other processes", table.concat(state.processes or {}, ", ")),
            "wait for their end, or take another GPU (--device=cuda:N)")
    else
        add(list, "tenants", "ok", "nobody else on the GPU")
    end
end

local function judge_counters(list, facts)
    local advice = "start with CAP_SYS_ADMIN (docker: --cap-add SYS_ADMIN), or load the driver with "
        .. "NVreg_RestrictProfilingToAdminUsers=0"
    if facts.admin_only == nil then
        add(list, "counters", "unknown", "who may read hardware counters cannot be read here; timing needs none")
    elseif facts.admin_only and facts.sys_admin == false then
        add(list, "counters", "warning", "hardware counters are for administrators only; timing needs none", advice)
    elseif facts.admin_only and facts.sys_admin == nil then
        add(list, "counters", "unknown", "hardware counters are for administrators only", advice)
    else
        add(list, "counters", "ok", "hardware counters may be read")
    end
end

local function judge_gpu(list, facts)
    if facts.device.place ~= "gpu" then return judge_absent_gpu(list, facts) end
    judge_libraries(list, facts)
    judge_counters(list, facts)
    if not facts.state then
        return add(list, "clocks", "unknown", facts.state_problem or "clocks and tenants cannot be read")
    end
    judge_clocks(list, facts.state)
    judge_tenants(list, facts.state)
end

--- The findings on these facts, in reading order.
function machine.judge(facts)
    local list = {}
    judge_gpu(list, facts)
    judge_compilers(list, facts)
    judge_cpu(list, facts)
    judge_memory(list, facts)
    judge_disk(list, facts)
    return list
end

return machine
