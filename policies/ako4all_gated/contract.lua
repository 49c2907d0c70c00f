-- The contract of a kernel: a file of the workspace in which its author says, field by field, what must stay true and
-- what it is measured for. Without it nothing is optimized.

local fs = require "ako.fs"
local gates = require "ako.gates"
local git = require "ako.git"
local shapes = require "policies.ako4all_gated.shapes"
local tensors = require "ako.tensors"

local contract = {}

local PATH = "context/{kernel}_notes.md"

-- Name and hint, in the order of the file. All of them are wanted; add one and it is wanted, too.
local FIELDS = {
    { "Kernel", "entry point, launcher, places that call it" },
    { "Shape", "the family of shapes that it must take" },
    { "Dtype", "of inputs, outputs and accumulation" },
    { "Layout", "row or column major, strides, mask" },
    { "Alignment", "in bytes, and of which dimensions" },
    { "Architecture", "all on which it must run, for example sm_90" },
    { "Latency or throughput", "which of the two counts, and why" },
    { "Baseline", "the fastest implementation known, and where it is from" },
    { "Tail shapes", "which workloads they are, or: none, and why" },
    { "Dtype variants", "tasks for other dtypes, or: none, and why" },
    { "Launch gaps", "suspected, or: no, and why" },
    { "Model path", "serving, diffusion or another model that calls it; or: none" },
}

--- Where it lies in the workspace. `run`: what hooks get, or { task = { name, solution } }.
function contract.path(run) return gates.path(PATH, { task = run.task, next_trial = 0 }) end

--- Its filled-in fields by name in lower case (gates.fields); empty where there is none.
function contract.read(run) return gates.fields(fs.read(fs.join(run.workspace, contract.path(run))) or "") end

--- True for a field that says no: "none, because ...".
function contract.is_none(value)
    local said = (value or ""):lower()
    return said:find("^none%f[%W]") ~= nil or said:find("^no%f[%W]") ~= nil
end

-- The shapes and the dtypes alone: what the task says already.
local function known(task)
    local dtypes, seen, has_output = {}, {}, false
    for _, tensor in ipairs(task.tensors or {}) do
        if not seen[tensor.dtype] then dtypes[#dtypes + 1] = tensor.dtype end
        seen[tensor.dtype], has_output = true, has_output or tensor.role ~= "input"
    end
    if not has_output then return {} end
    return { Shape = tensors.text(task.tensors), Dtype = table.concat(dtypes, ", ") }
end

--- The file as it is given to a workspace that lacks it: hints, and what the task says already.
function contract.template(facts)
    local from_task = known(facts.task)
    local lines = { ("# Contract of %s"):format(facts.task.name), "",
        "Replace each <hint>. Nothing is measured while one is left.", "" }
    for _, field in ipairs(FIELDS) do
        lines[#lines + 1] = ("- **%s**: %s"):format(field[1], from_task[field[1]] or "<" .. field[2] .. ">")
    end
    return table.concat(lines, "\n") .. "\n"
end

-- What the file holds, as its hash.
local function hash_of(run)
    local text = fs.read(fs.join(run.workspace, contract.path(run)))
    return text and git.hash(text)
end

-- Of the last trial that has one: the contract's hash, and its number.
local function last_hash(run)
    for i = #run.history, 1, -1 do
        local facts = run.history[i].facts
        if facts and facts.contract then return facts.contract, run.history[i].trial end
    end
end

--- Why a contract that is not what the last trial was measured under does not count yet, or nil: its change needs a
--- reason, in a note that names the file as it is now.
function contract.unexplained(run)
    local before, n = last_hash(run)
    local now = before and hash_of(run)
    if now == before then return nil end
    for _, note in ipairs(run.notes) do
        local has_words = (note.text or ""):find("%S") ~= nil
        if note.topic == "contract" and note.hash == now and now and has_words then return nil end
    end
    local path = contract.path(run)
    return ("%s is not what trial %d was measured under: undo the change, or give its reason (note --topic=contract "
        .. "--file=%s -m WHY)"):format(path, n, path)
end

-- The gate's own facts; none where nothing is proposed.
local function facts_of(run, proposal)
    return not gates.is_question(proposal) and { contract = hash_of(run) } or nil
end

--- A gate: every field is filled in, there are tail shapes or a reason why not, and no change without its reason.
function contract.gate()
    local names = {}
    for i, field in ipairs(FIELDS) do names[i] = field[1] end
    local filled = gates.file { path = PATH, fields = names, text = "the contract" }
    return function(run, proposal, opt)
        local missing = filled(run, proposal, opt) or contract.unexplained(run)
        if missing then return missing end
        local task = run.task or {}
        local has_tails = not task.weights or #shapes.tails(task.weights) > 0
        if has_tails or contract.is_none(contract.read(run)["tail shapes"]) then return nil, facts_of(run, proposal) end
        return ("no tail shape: all workloads of the task weigh the same; give rare ones a smaller weight in task.lua, "
            .. "or write 'Tail shapes: none, because ...' in %s"):format(contract.path(run))
    end
end

return contract
