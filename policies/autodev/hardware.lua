-- The hardware block: what the kernel is tuned for, each value with where it is from.

local hardware = {}

local function kib(bytes) return bytes and bytes > 0 and ("%g KiB"):format(bytes / 1024) or nil end
local function mib(bytes) return bytes and bytes > 0 and ("%g MiB"):format(bytes / (1 << 20)) or nil end
local function plain(value) return value and value ~= 0 and tostring(value) or nil end

-- What instructions a compute capability has, which no driver tells: NVIDIA's programming guide, by the major number.
local TENSOR_CORES = { [7] = "WMMA", [8] = "MMA", [9] = "WGMMA, TMA", [10] = "tcgen05, TMA", [12] = "MMA, TMA" }

local function of_gpu(device)
    local major, peak = device.cc_major, device.peak_dram_bytes_per_s
    local is_known = major ~= nil
    return {
        { "Target", ("%s (%s, compute capability %s)"):format(device.name, device.arch, major
            and ("%d.%d"):format(major, device.cc_minor or 0) or "unknown"), "detected" },
        { "SMs", plain(device.sm_count), "detected" },
        { "Shared memory per SM", kib(device.shared_per_sm), "detected" },
        { "Shared memory opt-in", kib(device.shared_per_block_optin), "detected" },
        { "Registers per SM", plain(device.registers_per_sm), "detected" },
        { "HBM", peak and peak > 0 and ("%.2f TB/s"):format(peak / 1e12) or nil, "detected" },
        { "L2", mib(device.l2_bytes), "detected" },
        { "TC", is_known and (TENSOR_CORES[major] or "none") or nil, "looked up by compute capability" },
        { "cp.async", is_known and (major >= 8 and "yes" or "no") or nil, "looked up by compute capability" },
    }
end

local function of_cpu(device)
    return {
        { "Target", ("%s (%s)"):format(device.name, device.arch), "detected" },
        { "Cores", plain(device.cores), "detected" },
        { "L1 data", kib(device.l1d_bytes), "detected" },
        { "L2", kib(device.l2_bytes), "detected" },
        { "L3", mib(device.l3_bytes), "detected" },
        { "Vector units", device.features ~= "" and device.features or nil, "detected" },
    }
end

-- "L2=60 MB; HBM=4.8 TB/s @ https://...": what is behind the @ is where the user has looked it up.
local function from_user(text)
    local list, by_name = {}, {}
    for name, given in text:gmatch("([^=;]+)=([^;]+)") do
        local value, source = given:match("^%s*(.-)%s*@%s*(.-)%s*$")
        local line = { name:match("^%s*(.-)%s*$"), value or given:match("^%s*(.-)%s*$"),
            source and "looked up: " .. source or "user" }
        list[#list + 1], by_name[line[1]:lower()] = line, line
    end
    return list, by_name
end

--- The block of a device: { { name, value, source } }. What the user says (--hardware) counts more than what is found;
--- what nobody knows is "unknown".
function hardware.block(device, text)
    local block = device.id == "cpu" and of_cpu(device) or of_gpu(device)
    local given, by_name = from_user(text)
    local found = {}
    for i, line in ipairs(block) do
        found[line[1]:lower()] = true
        block[i] = by_name[line[1]:lower()] or line
        if not block[i][2] then
            block[i] = { line[1], "unknown", ("--hardware='%s=VALUE @ SOURCE'"):format(line[1]) }
        end
    end
    for _, line in ipairs(given) do
        if not found[line[1]:lower()] then block[#block + 1] = line end
    end
    return block
end

return hardware
