-- The files that a workspace is given once, where it lacks them, and the resolved plan.

local bench = require "policies.ako4all.bench"
local discovery = require "policies.ako4all.discovery"
local fs = require "ako.fs"
local hints = require "policies.ako4all.hints"

local scaffold = {}

local BENCH, IGNORE = "scripts/bench.sh", ".gitignore"

local IGNORED = [[
__pycache__/
*.pyc
_bench_output.txt
]]

local SCRIPT = [=[
#!/bin/bash
# One trial of the tree as it is:
#   bash scripts/bench.sh                    the baseline, before anything is edited
#   bash scripts/bench.sh iter-3 "why"       the next trial, with its hypothesis
#   bash scripts/bench.sh final "why"        the end: the best restored, verified and committed
# Yours to edit (PATH, conda, CUDA_HOME, --device=cpu); leave the part on trajectories as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
label=${1:-}
why=${2:-}

if [ -n "${CUDA_HOME:-}" ] && [ ! -x "$CUDA_HOME/bin/nvcc" ]; then
    echo "bench.sh: CUDA_HOME=$CUDA_HOME has no bin/nvcc; unset it, or name the toolkit that you mean" >&2
fi
ako=${AKO_LUA:-ako-lua}
command -v "$ako" >/dev/null || ako={{program}}
options=({{options}})
{{evaluation}}
bench() {
    if [ "$label" = final ]; then
        "$ako" {{policy}} finish -m "${why:-bench.sh final}" "${options[@]}"
    else
        "$ako" {{policy}} try ${label:+--label="$label"} ${why:+-m "$why"} "${options[@]}"
    fi
}

# The trajectory: a trial saves the solution and its result itself; where none came about, what there is is saved here.
trajectories() { find trajectory -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort; }
set +e
before=$(trajectories)
bench 2>&1 | tee _bench_output.txt
code=${PIPESTATUS[0]}
saved=$(comm -13 <(echo "$before") <(trajectories) | tail -n 1)
set -e
if [ -z "$saved" ] && [ "$label" != final ]; then
    saved=trajectory/$(date -u +%Y%m%d_%H%M%S)${label:+_${label//[^A-Za-z0-9._-]/_}}
    while [ -e "$saved" ]; do saved=$saved+; done
    mkdir -p "$saved"
    if [ -d solution ]; then cp -R solution/. "$saved"; fi
    cp _bench_output.txt "$saved/output.txt"
fi
if [ -n "$saved" ]; then echo "Trajectory saved to: $saved"; fi
exit "$code"
]=]

local function quoted(text)
    if text:find("^[%w_./=:,-]+$") then return text end
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- What the tree itself does not say, so that a trial by hand is of the same task.
local ROLES = { "kernel", "reference", "inputs" }

local function options_of(facts, opt)
    local list, task = {}, facts.task
    local lies_elsewhere = task and fs.absolute(task.folder) ~= facts.workspace
    if lies_elsewhere then list[1] = quoted("--task=" .. (fs.absolute(task.file) or task.file)) end
    for _, name in ipairs(ROLES) do
        if opt[name] ~= "" then list[#list + 1] = quoted(("--%s=%s"):format(name, opt[name])) end
    end
    return table.concat(list, " ")
end

local function is_in_python(task) return task.file:find("%.py$") ~= nil end

-- For who comes from AKO4ALL's evaluator and a reference in Python, whose inputs may be in another file.
local function evaluation(facts)
    local task = facts.task
    if not task or not is_in_python(task) then return "" end
    local inputs = task.reference[2] and task.reference[2]:find "%.py$" and task.reference[2]
    return ("# One evaluation with the flags of AKO4ALL's bench.py, no trial and no record:\n"
        .. "#   \"$ako\" %s bench --ref %s --solution %s%s\n"):format(quoted(facts.policy or "policies/ako4all.lua"),
        quoted(fs.absolute(task.file) or task.file), quoted(task.solution[1]),
        inputs and " --inputs " .. quoted(inputs) or "")
end

local function script(facts, opt)
    local folder = fs.program_dir()
    local values = { program = quoted(folder and fs.join(folder, "ako-lua") or "ako-lua"),
        policy = quoted(facts.policy or "policies/ako4all.lua"), options = options_of(facts, opt),
        evaluation = evaluation(facts) }
    return (SCRIPT:gsub("{{(%a+)}}", values))
end

--- The hook `scaffold`.
function scaffold.files(facts, opt)
    local given = hints.given(opt) or {}
    local text, added = hints.merged(facts.read(hints.FILE), given)
    local merged = #added > 0 and { text = text, merge = true, say = hints.announced(added) } or text
    local files = { [BENCH] = script(facts, opt), [IGNORE] = IGNORED, [hints.FILE] = merged }
    local path, kept = bench.keepsake(facts, opt)
    if path then files[path] = { text = kept, merge = true, say = path .. ": the benchmark of --bench" } end
    return files
end

-- The plan

local function code(list) return table.concat(list, ", ") end

local function missing(facts)
    local list = {}
    for _, name in ipairs { BENCH, hints.FILE, IGNORE } do
        if not facts.exists(name) then list[#list + 1] = name end
    end
    return #list > 0 and code(list) or "none: already present"
end

local function kernel_text(task)
    local from = task.from and code(task.from)
    local files = code(task.solution)
    return from and from ~= files and ("%s (first content: %s, left as it is)"):format(files, from) or files
end

local function reference_text(task)
    if is_in_python(task) then return task.reference[1] end
    local files = code(task.reference)
    if task.from and files == code(task.from) then return files .. " (the original kernel)" end
    return files
end

local function inputs_text(task, folder)
    local text, others = task.file, { table.unpack(task.reference, 2) }
    if is_in_python(task) then return others[1] and code(others) or task.reference[1] .. " (its get_inputs)" end
    if folder and text:sub(1, #folder + 1) == folder .. "/" then text = text:sub(#folder + 2) end
    if #(task.inputs or {}) > 0 then return text .. ", " .. code(task.inputs) end
    return text .. " (drawn at random as it says)"
end

-- Nil and a question where it is not clear whether a benchmark of the user's is to be run.
local function bench_text(facts, opt)
    local command = (bench.chosen(facts, opt) or {}).command or facts.task.bench
    if command then
        local again = opt.bench ~= "" and bench.is_taken(facts)
            and ("; %s is a file of yours, so give --bench with each call"):format(bench.FILE) or ""
        return ("custom, beside ako-lua's own checks and timing, run as it stands: %s%s"):format(command, again)
    end
    local found = opt.bench == "" and not facts.exists(BENCH) and discovery.benchmark(facts)
    if not found then return "default (ako-lua's own)" end
    return nil, ("%s looks like a benchmark of yours: --bench='sh %s' (or how it is called) runs it with each trial, "
        .. "--bench=default leaves it out"):format(found, found)
end

local function directives(facts, opt)
    local given, problem = hints.given(opt)
    if not given then return nil, problem end
    local text = hints.merged(facts.read(hints.FILE), given)
    return nil, hints.contradiction(hints.read(text))
end

--- The hook `plan`: the seven fields of the resolved plan, or nil and a question.
function scaffold.plan(facts, opt)
    local _, problem = directives(facts, opt)
    local mode
    if not problem then mode, problem = bench_text(facts, opt) end
    if problem then return nil, problem end
    local knowledge = discovery.knowledge(facts, opt)
    return {
        { "Workspace", facts.workspace or "a new scratch folder" },
        { "Kernel", kernel_text(facts.task) },
        { "Reference", reference_text(facts.task) },
        { "Input data", inputs_text(facts.task, facts.workspace) },
        { "Knowledge", #knowledge > 0 and code(knowledge) or "none" },
        { "Bench mode", mode },
        { "Scaffold to copy", missing(facts) },
    }
end

return scaffold
