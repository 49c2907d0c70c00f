-- What there is to do with a folder of problems and a folder of their solutions: on which devices, and what of it is
-- known already.

local device = require "ako.device"
local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local json = require "ako.json"
local python = require "ako.python"
local suite_pairs = require "ako.suite_pairs"
local suite_records = require "ako.suite_records"
local suite_table = require "ako.suite_table"

local suite_work = {}

local must = fault.must

-- Devices

local function of_ids(ids)
    local list = {}
    for id in ids:gmatch("[^,%s]+") do list[#list + 1] = must(device.find(id)) end
    fault.check(#list > 0, "--devices names no device")
    return list
end

-- Every GPU like the first one: figures of different ones do not belong into one table.
local function all_alike()
    local list = {}
    for _, one in ipairs(must(device.list())) do
        if one.place == "gpu" and (not list[1] or one.name == list[1].name) then list[#list + 1] = one end
    end
    return #list > 0 and list or { must(device.find("cpu")) }
end

local function choose_devices(ctx)
    local given, spec = ctx.verb_options.devices, ctx.host.device
    if not given and (spec == "auto" or not spec) then return all_alike() end
    local list = given and of_ids(given) or { must(device.find(spec)) }
    for _, one in ipairs(list) do
        fault.check(one.name == list[1].name, "--devices: %s is %s and %s is %s: figures of different devices do not "
            .. "belong into one table", list[1].id, list[1].name, one.id, one.name)
    end
    return list
end

-- What is to be done

--- One of an item's samples, or that there is none: { item, sample, at, line (nil: nothing is known of it), name }.
function suite_work.entry(work, item, at)
    local sample = item.samples[at]
    local line = sample and work.known[sample.key]
    return { item = item, sample = sample, at = at, line = line, name = sample and sample.name or item.name }
end

--- Whether it needs no evaluation. A machine that could not say may be able to by now.
function suite_work.is_known(entry) return entry.line ~= nil and entry.line.record.status ~= "INFRA" end

--- All entries, in the order of the problems: one for each sample, and one for a problem without any.
function suite_work.entries(work)
    local list = {}
    for _, item in ipairs(work.found.items) do
        for at = 1, math.max(1, #item.samples) do list[#list + 1] = suite_work.entry(work, item, at) end
    end
    return list
end

local function check_name(file)
    fault.check(utf8.len(file), "%s: the name of a problem or solution must be UTF-8", format.utf8(file))
end

-- They travel as JSON.
local function check_names(found)
    for _, item in ipairs(found.items) do
        check_name(item.problem)
        for _, sample in ipairs(item.samples) do check_name(sample.solution) end
    end
end

--- What is asked for: { ctx, found (ako.suite_pairs), devices, folder (of the results; not made here) }. Raises faults.
function suite_work.look(ctx)
    local work = { ctx = ctx, found = suite_pairs.find(ctx.host) }
    check_names(work.found)
    work.devices = choose_devices(ctx)
    local interpreter, details = python.facts(ctx.host.python)
    suite_pairs.add_keys(work.found, ctx, { name = work.devices[1].name, arch = work.devices[1].arch,
        python = interpreter.program, torch = details.torch })
    local folder = suite_records.folder(ctx.verb_options.results, work.found.top, work.found.from)
    work.folder = folder:find("^/") and folder or fs.join(must(fs.absolute(".")), folder) -- it may be still to be made
    return work
end

--- Reads what is known, and finds the problems with solutions of which nothing is, those numbered as people count them:
--- sets known, items, builds and total.
function suite_work.survey(work)
    work.known = suite_records.read(work.folder)
    local items, builds, total = json.array {}, json.array {}, 0
    for _, item in ipairs(work.found.items) do
        local samples = json.array {}
        for at, sample in ipairs(item.samples) do
            if not suite_work.is_known(suite_work.entry(work, item, at)) then
                total = total + 1
                samples[#samples + 1] = { solution = sample.solution, number = sample.number, key = sample.key,
                    hash = sample.hash, name = sample.name, at = total }
                builds[#builds + 1] = sample.slow and sample.solution or nil
            end
        end
        if #samples > 0 then
            items[#items + 1] = { problem = item.problem, name = item.name, hash = item.hash, samples = samples }
        end
    end
    work.items, work.builds, work.total = items, builds, total
end

local function count_samples(found)
    local count = 0
    for _, item in ipairs(found.items) do count = count + #item.samples end
    return count
end

--- All of that in lines.
function suite_work.lines(work)
    local samples = count_samples(work.found)
    local workers = #work.devices == 1 and "" or (", %d workers"):format(#work.devices)
    local lines = { ("suite       %s, %s: %d known, %d to evaluate on %s%s"):format(
        format.count(#work.found.items, "problem"), format.count(samples, "solution"), samples - work.total,
        work.total, work.devices[1].name, workers), "results     " .. work.folder }
    for _, line in ipairs(suite_table.left_out(work.found)) do lines[#lines + 1] = line end
    return lines
end

return suite_work
