-- What is known of the pairs of a suite: a journal for each worker, in one folder, a line for each pair that has been
-- evaluated, on disk before the next one begins; and what others read, made from them.

local fault = require "ako.fault"
local format = require "ako.format"
local fs = require "ako.fs"
local git = require "ako.git"
local journal = require "ako.journal"
local json = require "ako.json"
local report = require "ako.report"

local suite_records = {}

local must = fault.must

local HASH_DIGITS = 8

local function word(name) return (format.utf8(name):gsub("[^%w_.-]", "_")) end

--- The folder for the results of two folders: `given`, or one of the user's state, named after them.
function suite_records.folder(given, top, from)
    if given then return given end
    local name = ("%s-%s-%s"):format(word(fs.basename(top)), word(fs.basename(from)),
        git.hash(top .. "\0" .. from):sub(1, HASH_DIGITS))
    return fs.join(must(fs.user_dir("state")), "suites/" .. name)
end

--- The journal of a worker.
function suite_records.journal(folder, slot) return fs.join(folder, ("journal-%d.jsonl"):format(slot)) end

local function journals(folder)
    local files = {}
    for _, name in ipairs(fs.list(folder) or {}) do
        if name:find("^journal%-%d+%.jsonl$") then files[#files + 1] = fs.join(folder, name) end
    end
    return files
end

--- The newest line of each key, without its samples, by key. Raises CORRUPT where a journal is damaged.
function suite_records.read(folder)
    local lines = {}
    for _, file in ipairs(journals(folder)) do
        must(journal.read(file, function(line)
            local before = lines[line.key]
            line.samples = nil
            if not before or before.time_ns <= line.time_ns then lines[line.key] = line end
        end))
    end
    return lines
end

--- Bytes of all journals together: whether anything has been added.
function suite_records.size(folder)
    local size = 0
    for _, file in ipairs(journals(folder)) do
        local stat = fs.stat(file)
        size = size + (stat and stat.size or 0)
    end
    return size
end

-- For others. An entry is { item, sample, line (nil: not evaluated), record, name }.

local function milliseconds(figures) return figures and figures.mean and figures.mean / 1e6 end

local function or_null(value)
    if value == nil then return json.null end
    return value
end

--- An entry as JSON has it: the record's members, and to whom they belong.
function suite_records.object(entry)
    local item, sample, line = entry.item, entry.sample or {}, entry.line or {}
    local object = report.object(entry.record)
    object.session, object.trial = nil, nil
    object.problem, object.number, object.level = format.utf8(item.name), or_null(item.number), or_null(item.level)
    object.solution = or_null(sample.solution and format.utf8(sample.solution))
    object.sample, object.key = or_null(sample.number), or_null(sample.key)
    object.device = or_null(line.device)
    object.reference_ms = or_null(milliseconds(entry.record.reference_ns))
    object.solution_ms = or_null(milliseconds(entry.record.time_ns))
    return object
end

local ISSUES = { COMPILE_ERROR = "compilation_error", RUNTIME_ERROR = "runtime_error", TIMEOUT = "runtime_error",
    INCORRECT_NUMERICAL = "correctness_issue", INCORRECT_SHAPE = "correctness_issue",
    INCORRECT_DTYPE = "correctness_issue" }

local function stats_of(figures)
    local stats = {}
    for _, name in ipairs { "mean", "std", "min", "max", "median" } do
        stats[name] = figures and figures[name] and figures[name] / 1e6
    end
    stats.num_trials = figures and figures.n
    return stats
end

-- Milliseconds; -1 is unknown.
local function as_kernelbench(entry)
    local record, device = entry.record, entry.line and entry.line.device or {}
    local metadata = { hardware = device.name, device = device.id, status = record.status }
    if record.status ~= "PASSED" then metadata[ISSUES[record.status] or "error"] = record.reason end
    return { sample_id = entry.sample.number or entry.at - 1, compiled = record.machine_code ~= nil,
        correctness = record.status == "PASSED", metadata = metadata,
        runtime = milliseconds(record.time_ns) or -1, runtime_stats = stats_of(record.time_ns),
        ref_runtime = milliseconds(record.reference_ns) or -1, ref_runtime_stats = stats_of(record.reference_ns) }
end

-- As KernelBench calls a problem: by its number. Several levels have a number each.
local function problem_id(item, several_levels)
    local id = item.number and tostring(item.number) or item.name
    return several_levels and item.level and ("level%d/%s"):format(item.level, id) or id
end

local function has_several_levels(entries)
    for _, entry in ipairs(entries) do
        if entry.item.level ~= entries[1].item.level then return true end
    end
    return false
end

--- The text of KernelBench's eval_results.json: the samples that have been evaluated, by the number of their problem.
function suite_records.eval_results(entries)
    local results, several_levels = {}, has_several_levels(entries)
    for _, entry in ipairs(entries) do
        if entry.line then
            local id = format.utf8(problem_id(entry.item, several_levels))
            results[id] = results[id] or json.array {}
            table.insert(results[id], as_kernelbench(entry))
        end
    end
    return json.encode(results) .. "\n"
end

--- Writes results.jsonl and eval_results.json into the folder. Raises faults.
function suite_records.write(folder, entries)
    local lines = {}
    for _, entry in ipairs(entries) do
        if entry.line then lines[#lines + 1] = json.encode(suite_records.object(entry)) .. "\n" end
    end
    must(fs.write(fs.join(folder, "results.jsonl"), table.concat(lines), true))
    must(fs.write(fs.join(folder, "eval_results.json"), suite_records.eval_results(entries), true))
end

return suite_records
