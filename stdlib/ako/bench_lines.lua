-- What AKO4ALL's evaluator (bench/kernelbench/bench.py) prints of a result, line by line: COMPILED, CORRECT, BACKEND,
-- RUNTIME, REF_RUNTIME, SPEEDUP, its JSON twin and its exit code. Durations are ms and means, as there; unlike there
-- nothing is rounded before it is printed, and what a candidate says never looks like a result.

local format = require "ako.format"
local json = require "ako.json"
local trial = require "ako.trial"

local bench_lines = {}

local NONE = -1 -- a duration or a ratio that there is none of

-- Figures

local function milliseconds(ns)
    if type(ns) ~= "number" or not (ns >= 0 and ns < math.huge) then return nil end
    return ns / 1e6
end

local function stats_of(time)
    if type(time) ~= "table" or (milliseconds(time.mean) or 0) <= 0 then return nil end
    local stats = { num_trials = time.n }
    for _, name in ipairs { "mean", "std", "min", "max", "median" } do stats[name] = milliseconds(time[name]) end
    return stats
end

local function shape_of(workload)
    local stats, ref_stats = stats_of(workload.time), stats_of(workload.reference)
    return { id = workload.id, stats = stats, ref_stats = ref_stats, compile_stats = stats_of(workload.compiled),
        compile_note = workload.compiled and workload.compiled.unavailable,
        speedup = stats and ref_stats and ref_stats.mean / stats.mean or nil }
end

-- That which gains least; where nothing is known of that, that which takes longest.
local function is_worse(a, b)
    if a.speedup and b.speedup then return a.speedup < b.speedup end
    return (a.stats and a.stats.mean or math.huge) > (b.stats and b.stats.mean or math.huge)
end

local function shapes_of(result)
    local shapes, worst = {}, nil
    for i, workload in ipairs(result.workloads or {}) do
        shapes[i] = shape_of(workload)
        if not worst or is_worse(shapes[i], worst) then worst = shapes[i] end
    end
    return shapes, worst or {}
end

local function over_shapes(shapes)
    local sum, least, most = 0.0, math.huge, 0.0
    for _, shape in ipairs(shapes) do
        if not shape.speedup then return { count = #shapes } end
        sum, least, most = sum + shape.speedup, math.min(least, shape.speedup), math.max(most, shape.speedup)
    end
    return { count = #shapes, average = sum / #shapes, least = least, most = most }
end

local PAST_BUILD = { start = true, check = true, time = true }

-- The solution was built, loaded and bound. Where nothing is known of it, that is a no.
local function is_compiled(result)
    if result.status == "PASSED" then return true end
    if result.status == "COMPILE_ERROR" or result.status == "INVALID_REFERENCE" or result.status == "INFRA" then
        return false
    end
    return PAST_BUILD[result.step] == true
end

-- Words of a compiler or a candidate, in which nothing reads as one of our lines. One letter is none: a size, "M=8".
local function harmless(text) return (format.line(text):gsub("%u[%u_]+%s*[:=]", string.lower)) end

local ISSUES = { COMPILE_ERROR = "compilation_error", RUNTIME_ERROR = "runtime_error", TIMEOUT = "runtime_error",
    INCORRECT_NUMERICAL = "correctness_issue", INCORRECT_SHAPE = "correctness_issue",
    INCORRECT_DTYPE = "correctness_issue" }

local function largest_difference(result)
    local most
    for _, workload in ipairs(result.workloads or {}) do
        local value = workload.max_abs
        if type(value) == "number" and value == value then most = math.max(most or value, value) end
    end
    return most
end

-- Pairs of names and values, in the order of the lines.
local function metadata_of(result, of, figures)
    local list = {}
    local function add(name, value)
        if value ~= nil then list[#list + 1] = { name, value } end
    end
    local device = of.device or {}
    add("hardware", device.name)
    add("device", device.id)
    add("status", result.status)
    add(ISSUES[result.status] or "reason", figures.reason)
    if ISSUES[result.status] == "correctness_issue" then add("max_difference", largest_difference(result)) end
    if figures.correct and of.trials then add("correctness_trials", ("(%d / %d)"):format(of.trials, of.trials)) end
    if figures.excessive then add("excessive_speedup", true) end
    return list
end

local function baseline_of(time, stats)
    if time == nil then return nil end
    local found = stats_of(time)
    return { runtime = found and found.mean or NONE, speedup = found and stats and found.mean / stats.mean or NONE }
end

local function set_times(figures, shapes, worst)
    figures.runtime, figures.ref_runtime, figures.speedup = NONE, NONE, worst.speedup or NONE
    if worst.stats then figures.runtime = worst.stats.mean end
    if worst.ref_stats then figures.ref_runtime = worst.ref_stats.mean end
    if worst.compile_stats then
        figures.compile_runtime, figures.compile_runtime_stats = worst.compile_stats.mean, worst.compile_stats
        figures.compile_speedup = worst.stats and worst.compile_stats.mean / worst.stats.mean or nil
    end
    figures.compile_note = worst.compile_note and harmless(worst.compile_note)
    figures.runtime_stats, figures.ref_runtime_stats = worst.stats, worst.ref_stats
    if #shapes > 1 then figures.shapes, figures.workload = over_shapes(shapes), worst.id end
end

-- What is said of the task, and of a figure that is hard to believe.
local function add_warnings(figures, of)
    local list = figures.warnings
    for i, warning in ipairs(of.warnings or {}) do list[i] = harmless(warning) end
    if not figures.excessive then return end
    list[#list + 1] = ("Excessive speedup %.2fx over %gx threshold detected"):format(figures.most_speedup, of.excessive)
    list[#list + 1] = "A figure like this mostly means that work was left out: find out what before it is believed."
end

--- The figures of a trial's result (docs/protocol.md). `of`: backend and origin ("auto", "explicit"); excessive, the
--- speed-up beyond which it is flagged (nil: never); trials, how many were compared; device { name, id }; baseline, the
--- figures of the original kernel in ns (as `time` of a workload; false: asked for, but there are none); warnings,
--- lines about the task. All but the first two may be absent. Only a solution that PASSED is correct and has times; of
--- several workloads they are those of the one that gains least. Returns { compiled, correct, backend, origin, runtime,
--- ref_runtime (ms, -1: none), speedup (-1: none), runtime_stats, ref_runtime_stats, compile_runtime,
--- compile_runtime_stats, compile_speedup (the reference under torch.compile, where that was asked for), compile_note
--- (why it has no time), excessive, most_speedup, shapes, workload, baseline, status, reason, error (why there is no
--- result), warnings (a text for each line), metadata }.
function bench_lines.figures(result, of)
    local correct = result.status == "PASSED"
    local shapes, worst = {}, {}
    if correct then shapes, worst = shapes_of(result) end
    local figures = { compiled = is_compiled(result), correct = correct, backend = of.backend, origin = of.origin,
        status = result.status, warnings = {} }
    set_times(figures, shapes, worst)
    if result.reason and result.reason ~= "" then figures.reason = harmless(result.reason) end
    if trial.is_unmeasured(result.status) then figures.error = figures.reason or result.status end
    figures.most_speedup = figures.shapes and figures.shapes.most or worst.speedup
    figures.excessive = of.excessive ~= nil and (figures.most_speedup or 0) > of.excessive
    add_warnings(figures, of)
    figures.baseline = baseline_of(of.baseline, worst.stats)
    figures.metadata = metadata_of(result, of, figures)
    return figures
end

-- Lines

local function python_bool(value) return value and "True" or "False" end

local function decimals(value, unit) return value > 0 and ("%.4f%s"):format(value, unit or "") or "-1" end

-- As Python prints a float: the fewest digits that give it back.
local function python_float(value)
    for digits = 15, 17 do
        local text = ("%." .. digits .. "g"):format(value)
        if tonumber(text) == value then return text:find "[.en]" and text or text .. ".0" end
    end
end

local function python_stats(stats, device)
    local parts = {}
    for _, name in ipairs { "mean", "std", "min", "max" } do
        if stats[name] then parts[#parts + 1] = ("'%s': %s"):format(name, python_float(stats[name])) end
    end
    parts[#parts + 1] = ("'num_trials': %d"):format(stats.num_trials or 0)
    for _, entry in ipairs(device) do parts[#parts + 1] = ("'%s': '%s'"):format(entry[1], entry[2]) end
    return "{" .. table.concat(parts, ", ") .. "}"
end

-- What goes before the result: why it is wrong, or hard to believe.
local function remarks(figures)
    local lines = {}
    for i, warning in ipairs(figures.warnings) do lines[i] = "[WARNING] " .. warning end
    if figures.reason and not figures.correct and not figures.error then
        lines[#lines + 1] = ("[Eval] %s, %s"):format(figures.status, figures.reason)
    end
    return lines
end

local function shape_lines(shapes)
    local lines = { "SHAPES_EVALUATED: " .. shapes.count, "ALL_CORRECT: True" }
    for _, entry in ipairs { { "AVG", shapes.average }, { "MIN", shapes.least }, { "MAX", shapes.most } } do
        if entry[2] then lines[#lines + 1] = ("%s_SPEEDUP: %s"):format(entry[1], decimals(entry[2], "x")) end
    end
    return lines
end

local function compile_lines(figures)
    if figures.compile_runtime then
        return { ("COMPILE_RUNTIME: %s  COMPILE_SPEEDUP: %s"):format(decimals(figures.compile_runtime),
            decimals(figures.compile_speedup or NONE, "x")) }
    end
    return { figures.compile_note and ("COMPILE_RUNTIME: -1 (%s)"):format(figures.compile_note) }
end

local function append(list, more)
    table.move(more, 1, #more, #list + 1, list)
end

local function python_value(value)
    if type(value) == "boolean" then return python_bool(value) end
    return math.type(value) == "float" and python_float(value) or tostring(value)
end

local function details(figures)
    local device = {}
    for _, entry in ipairs(figures.metadata) do
        if entry[1] == "hardware" or entry[1] == "device" then device[#device + 1] = entry end
    end
    local lines = { "", "--- Details ---" }
    for _, entry in ipairs { { "Runtime", figures.runtime_stats }, { "Ref runtime", figures.ref_runtime_stats } } do
        if entry[2] then
            lines[#lines + 1] = ("%s stats: %s"):format(entry[1], python_stats(entry[2], device))
        end
    end
    for _, entry in ipairs(figures.metadata) do
        lines[#lines + 1] = ("  %s: %s"):format(entry[1], python_value(entry[2]))
    end
    return lines
end

--- The lines on stdout for figures, in the evaluator's order: what went wrong or is hard to believe, then COMPILED,
--- CORRECT, BACKEND, RUNTIME, REF_RUNTIME, SPEEDUP; COMPILE_RUNTIME where it was asked for; ERROR
--- where there was no result, and what there is to say of several shapes and of a baseline; with `verbose` the details.
function bench_lines.lines(figures, verbose)
    local lines = remarks(figures)
    append(lines, {
        "COMPILED: " .. python_bool(figures.compiled),
        "CORRECT: " .. python_bool(figures.correct),
        ("BACKEND: %s (%s)"):format(figures.backend, figures.origin),
        "RUNTIME: " .. decimals(figures.runtime),
        "REF_RUNTIME: " .. decimals(figures.ref_runtime),
        "SPEEDUP: " .. decimals(figures.speedup, "x"),
    })
    append(lines, compile_lines(figures))
    if figures.error then append(lines, { "ERROR: " .. figures.error }) end
    if figures.shapes then append(lines, shape_lines(figures.shapes)) end
    if figures.baseline then
        append(lines, { "BASELINE_RUNTIME: " .. decimals(figures.baseline.runtime),
            "BASELINE_SPEEDUP: " .. decimals(figures.baseline.speedup, "x") })
    end
    if verbose then append(lines, details(figures)) end
    return lines
end

local TWIN = { "compiled", "correct", "backend", "origin", "runtime", "ref_runtime", "speedup", "runtime_stats",
    "ref_runtime_stats", "compile_runtime", "compile_runtime_stats", "compile_speedup", "compile_note", "excessive",
    "status", "reason", "error", "workload", "shapes", "baseline" }

--- The same as one object for ako.json, nothing in it rounded: what there is none of is -1 as in the lines, or null.
function bench_lines.object(figures)
    local object = { metadata = {} }
    for _, name in ipairs(TWIN) do
        if figures[name] == nil then object[name] = json.null else object[name] = figures[name] end
    end
    object.warnings = json.array(figures.warnings)
    for _, entry in ipairs(figures.metadata) do object.metadata[entry[1]] = entry[2] end
    return object
end

--- The evaluator's exit code: 0 for a solution that is correct, else 1. (A wrong command line is 2.)
function bench_lines.exit_code(figures) return figures.correct and 0 or 1 end

return bench_lines
