-- The user's own benchmark: run as it stands before each trial, on the files that are to be tried. Its output is kept
-- and a figure read from it, which is shown; no line of it decides anything, for any program can print "CORRECT: True".
-- What decides is its exit code: where it fails, the trial is not kept.

local fs = require "ako.fs"
local gates = require "ako.gates"
local process = require "ako.process"
local regex = require "ako.regex"
local rules = require "ako.rules"

local bench = {}

--- For the option that holds the pattern.
function bench.is_pattern(text)
    local good, problem = pcall(regex.new, text)
    return good, good and "" or "is no regular expression: " .. tostring(problem)
end

--- The user's command, as the options or else the baseline of this session have it; nil without one.
function bench.command(run, opt)
    if opt.bench == "default" then return nil end
    if opt.bench ~= "" then return opt.bench end
    local first = run.history[1]
    return first and first.facts and first.facts.bench and first.facts.bench.command or nil
end

--- Where the output of a trial's benchmark lies, in the workspace.
function bench.output_path(n)
    return n == 0 and "trajectory/bench-baseline.txt" or ("trajectory/bench-iter-%d.txt"):format(n)
end

local function figure_of(output, pattern)
    local value = tonumber((regex.new(pattern):match(output)) or "")
    return value and value >= 0 and value or nil -- -1 is how such benchmarks say that they do not know
end

local function changed_source(run, sources)
    for i, source in ipairs(sources) do
        local name = run.task.solution[i]
        if fs.read(fs.join(run.workspace, name)) ~= source.text then return name end
    end
end

local function keep_output(run, text)
    local path = bench.output_path(run.next_trial)
    local file = fs.join(run.workspace, path)
    local made, problem = fs.mkdirs(fs.dirname(file))
    if made then made, problem = fs.write(file, text) end
    return made and path, problem
end

--- A gate that runs it. Its facts: { bench = { command, how, ok, seconds, output (path), figure } }.
function bench.gate(run, proposal, opt)
    local command = bench.command(run, opt)
    if not command or gates.is_question(proposal) then return nil end
    local result, problem = process.run { "sh", "-c", command, cwd = run.workspace,
        limit_ns = math.floor(opt.bench_seconds * 1e9) }
    if not result then return "the bench command cannot be run: " .. problem end
    local path
    path, problem = keep_output(run, result.stdout .. result.stderr)
    if not path then return "the bench command's output cannot be kept: " .. problem end
    local changed = changed_source(run, proposal.sources)
    if changed then
        return ("the bench command has changed %s; a benchmark must leave the solution alone"):format(changed)
    end
    if run.next_trial == 0 and not result.ok then
        return ("the bench command fails on the original (%s); see %s"):format(result.how, path)
    end
    return nil, { bench = { command = command, how = result.how, ok = result.ok, seconds = result.wall_ns / 1e9,
        output = path, figure = figure_of(result.stdout, opt.bench_pattern) } }
end

--- An accept rule: nothing is kept for which the user's own benchmark failed.
bench.passed = rules.described(function(trial)
    local own = trial.facts and trial.facts.bench
    if own and not own.ok then
        return "revert", ("the bench command failed (%s); see %s"):format(own.how, own.output)
    end
    return "keep", ""
end, function(opt) return opt.bench ~= "" and opt.bench ~= "default" and "the bench command must pass" or nil end)

return bench
