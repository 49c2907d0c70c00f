-- What a workspace is given where it lacks it: the contract to fill in, copies of the trusted reference and of the
-- kernel as it was, and a bench to call. (ITERATIONS.md, the fourth, is rendered from the first trial on.)

local contract = require "policies.ako4all_gated.contract"
local fs = require "ako.fs"

local templates = {}

local BENCH = [[
#!/bin/sh
# One trial of %s: right first, then timed shape by shape against the best so far. Another exit code than 0: wrong (11),
# not better (1), refused (13) ... Arguments go to `try`: -m "why it is faster", --lane=NAME.
cd "$(dirname "$0")/.." || exit 2
exec "${AKO_LUA:-ako-lua}" "${AKO_POLICY:-%s}" try "$@"
]]

local function kernel_of(task) return (fs.basename(task.solution[1]):gsub("%.[^.]+$", "")) end
local function extension_of(name) return name:match("(%.[^./]+)$") or "" end

--- { [path] = text } for the facts of a workspace (ako.Facts).
function templates.files(facts)
    local task = facts.task
    local files, kernel = {}, kernel_of(task)
    files[contract.path { task = task }] = contract.template(facts)
    files[("bench/bench_%s.sh"):format(kernel)] = BENCH:format(task.name, facts.policy or "policies/ako4all_gated.lua")
    local original, reference = facts.read(task.solution[1]), task.reference[1]
    if original then files[("input/%s%s"):format(kernel, extension_of(task.solution[1]))] = original end
    local golden = reference and fs.read(fs.join(task.folder, reference))
    if golden then files["input/reference" .. extension_of(reference)] = golden end
    return files
end

--- Where there is no task: what is missing, as a question.
function templates.question()
    return nil, "what is to be made faster? Without a task kernel, shape, dtype, hardware and baseline are missing: "
        .. "write a task.lua (docs/manual.md), or name one with --task"
end

return templates
